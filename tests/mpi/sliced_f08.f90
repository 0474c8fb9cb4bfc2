! Messages around a ring, from Fortran 2008: what has a buffer reaches the C functions, and waits are
! MPICH's own.
program sliced_f08
  use mpi_f08
  implicit none
  integer :: rank, ranks, next, before, mine(100), got(100), index, count
  logical :: flag
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: statuses(2), status

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  mine = rank
  call MPI_Irecv(got, 100, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(mine, 100, MPI_INTEGER, next, 5, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, statuses)
  call MPI_Get_count(statuses(1), MPI_INTEGER, count)
  if (any(got /= before) .or. statuses(1)%MPI_SOURCE /= before .or. count /= 100) error stop 3
  call MPI_Sendrecv(mine(1::2), 50, MPI_INTEGER, next, 6, got(1::2), 50, MPI_INTEGER, before, 6, MPI_COMM_WORLD, status)
  if (any(got /= before)) error stop 4
  call MPI_Irecv(got, 1, MPI_INTEGER, before, 7, MPI_COMM_WORLD, requests(1))
  call MPI_Send(mine, 1, MPI_INTEGER, next, 7, MPI_COMM_WORLD)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
  call MPI_Irecv(got, 1, MPI_INTEGER, before, 8, MPI_COMM_WORLD, requests(1))
  call MPI_Send(mine, 1, MPI_INTEGER, next, 8, MPI_COMM_WORLD)
  flag = .false.
  do while (.not. flag)
    call MPI_Testany(1, requests, index, flag, status)
  end do
  if (status%MPI_TAG /= 8) error stop 5
  print '(i0, a, i0)', rank, ' received ', sum(got)
  call MPI_Finalize()
end program sliced_f08
