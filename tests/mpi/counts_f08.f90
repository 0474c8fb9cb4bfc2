! Fortran with `use mpi_f08`: the routines without a buffer (init, barrier, comm_free,
! comm_disconnect, pcontrol, finalize, abort) reach MPICH by symbols of their own. The argument
! "thread" starts through MPI_Init_thread, "abort" ends by MPI_Abort with 6.
program counts_f08
  use mpi_f08
  implicit none
  type(MPI_Comm) :: copy, half
  integer :: rank, ranks, provided, i
  integer :: nbar = 0, nred = 0, nall = 0
  real(kind(1d0)) :: mine(3), total(3)
  character(len=16) :: start

  call get_command_argument(1, start)
  if (start == 'thread') then
    call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  else
    call MPI_Init()
  end if
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Comm_dup(MPI_COMM_WORLD, copy)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
  do i = 1, 3
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Barrier(copy)
    call MPI_Barrier(half)
    nbar = nbar + 3
  end do
  mine = [real(rank, kind(1d0)), 1d0, 2d0]
  call MPI_Allreduce(mine, total, 3, MPI_DOUBLE_PRECISION, MPI_SUM, copy)
  nall = nall + 1
  call require(total(2) == ranks)
  call MPI_Allreduce(MPI_IN_PLACE, mine, 3, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
  nall = nall + 1
  call require(mine(1) == ranks - 1)
  do i = 0, ranks - 1
    call MPI_Reduce(mine, total, 3, MPI_DOUBLE_PRECISION, MPI_SUM, i, MPI_COMM_WORLD)
    nred = nred + 1
    if (rank == i) call require(total(2) == ranks)
  end do
  if (start == 'abort') then
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 0) call MPI_Abort(MPI_COMM_WORLD, 6)
    call MPI_Barrier(MPI_COMM_WORLD)
  end if
  call MPI_Pcontrol(0)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Pcontrol(1)
  call MPI_Comm_free(copy)
  call MPI_Comm_disconnect(half)
  call MPI_Finalize()
  write (*, '(a, i0, a, i0, a, i0, a, i0, a)') '{"rank":', rank, ',"barrier":', nbar, &
    ',"reduce":', nred, ',"allreduce":', nall, '}'

contains

  subroutine require(holds)
    logical, intent(in) :: holds

    if (.not. holds) call MPI_Abort(MPI_COMM_WORLD, 3)
  end subroutine
end program
