! Free-form Fortran with `use mpi`.
program counts_usempi
  use mpi
  implicit none
  integer :: rank, ranks, ierr, provided, half, i
  integer :: nbar = 0, nred = 0, nall = 0
  integer :: mine(3), total(3)

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierr)
  do i = 1, 4
    call MPI_Barrier(half, ierr)
    nbar = nbar + 1
  end do
  mine = [rank, 1, 2]
  call MPI_Allreduce(mine, total, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  nall = nall + 1
  call require(all(total(2:3) == [ranks, 2 * ranks]))
  call MPI_Allreduce(MPI_IN_PLACE, mine, 3, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
  nall = nall + 1
  call require(mine(1) == ranks - 1)
  do i = 0, ranks - 1
    call MPI_Reduce(mine, total, 3, MPI_INTEGER, MPI_SUM, i, MPI_COMM_WORLD, ierr)
    nred = nred + 1
    if (rank == i) call require(total(2) == ranks)
  end do
  call MPI_Pcontrol(0)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Pcontrol(1)
  call MPI_Comm_free(half, ierr)
  call MPI_Finalize(ierr)
  write (*, '(a, i0, a, i0, a, i0, a, i0, a)') '{"rank":', rank, ',"barrier":', nbar, &
    ',"reduce":', nred, ',"allreduce":', nall, '}'

contains

  subroutine require(holds)
    logical, intent(in) :: holds

    if (.not. holds) call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
  end subroutine
end program
