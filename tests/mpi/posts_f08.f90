! Nonblocking collectives from Fortran with `use mpi_f08`: MPI_Ibarrier and MPI_Request_get_status
! reach MPICH by symbols of their own.
program posts_f08
  use mpi_f08
  implicit none
  type(MPI_Request) :: requests(3)
  integer :: rank, ranks, i
  logical :: done
  real(kind(1d0)), asynchronous :: mine(3), total(3), reduced(3)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  do i = 1, 10
    mine = [real(rank, kind(1d0)), 1d0, real(i, kind(1d0))]
    total = -1
    reduced = -1
    call MPI_Iallreduce(mine, total, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, requests(1))
    call MPI_Ireduce(mine, reduced, 3, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, &
      requests(2))
    call MPI_Ibarrier(MPI_COMM_WORLD, requests(3))
    if (mod(i, 2) == 0) then
      done = .false.
      do while (.not. done)
        call MPI_Request_get_status(requests(3), done, MPI_STATUS_IGNORE)
      end do
    end if
    call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)
    call require(total(2) == ranks .and. total(3) == ranks * i)
    call require((rank /= 0 .and. reduced(2) == -1) .or. (rank == 0 .and. reduced(3) == ranks * i))
  end do
  call MPI_Finalize()
  write (*, '(a)') 'finished'

contains

  subroutine require(holds)
    logical, intent(in) :: holds

    if (.not. holds) call MPI_Abort(MPI_COMM_WORLD, 3)
  end subroutine
end program
