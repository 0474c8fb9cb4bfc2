! One call finds behind a collective what was sent before it, in Fortran with `use mpi_f08`, whose
! routines reach MPICH by symbols of their own:
!
!     behind_f08 ROUNDS
program behind_f08
  use mpi_f08
  implicit none
  integer, parameter :: few = 4
  type(MPI_Request) :: requests(few)
  type(MPI_Message) :: message
  character(16) :: word
  integer :: rank, ranks, asker, rounds, round, i, done, indices(few)
  integer, asynchronous :: values(few)
  logical :: flag
  integer :: found(5)

  call get_command_argument(1, word)
  read (word, *) rounds
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  asker = ranks - 1
  found = 0
  values = 0
  call MPI_Barrier(MPI_COMM_WORLD)
  do round = 1, rounds
    call exchange(.false.)
    if (rank == asker) then
      call MPI_Iprobe(0, 1, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE)
      call count(1, flag)
      do i = 1, few
        call MPI_Recv(values(i), 1, MPI_INTEGER, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      end do
    end if
    call exchange(.false.)
    if (rank == asker) then
      call MPI_Improbe(0, 1, MPI_COMM_WORLD, flag, message, MPI_STATUS_IGNORE)
      call count(2, flag)
      if (flag) call MPI_Mrecv(values(1), 1, MPI_INTEGER, message, MPI_STATUS_IGNORE)
      do i = merge(2, 1, flag), few
        call MPI_Recv(values(i), 1, MPI_INTEGER, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      end do
    end if
    call exchange(.true.)
    if (rank == asker) then
      call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE)
      call count(3, flag)
      call MPI_Waitall(few, requests, MPI_STATUSES_IGNORE)
    end if
    call exchange(.true.)
    if (rank == asker) then
      call MPI_Request_get_status(requests(1), flag, MPI_STATUS_IGNORE)
      call count(4, flag)
      call MPI_Waitall(few, requests, MPI_STATUSES_IGNORE)
    end if
    call exchange(.true.)
    if (rank == asker) then
      call MPI_Testsome(few, requests, done, indices, MPI_STATUSES_IGNORE)
      call count(5, done == few)
      call MPI_Waitall(few, requests, MPI_STATUSES_IGNORE)
    end if
  end do
  if (rank == asker) write (*, '(a,6(1x,i0))') 'found', found, rounds
  call MPI_Finalize()

contains

  ! The last that is posted is sent first.
  subroutine exchange(is_posted)
    logical, intent(in) :: is_posted

    call MPI_Barrier(MPI_COMM_WORLD)
    do i = 1, few
      if (rank == asker .and. is_posted) &
        call MPI_Irecv(values(i), 1, MPI_INTEGER, 0, i, MPI_COMM_WORLD, requests(i))
    end do
    do i = few, 1, -1
      if (rank == 0) call MPI_Send(values(i), 1, MPI_INTEGER, asker, i, MPI_COMM_WORLD)
    end do
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine exchange

  subroutine count(which, is_found)
    integer, intent(in) :: which
    logical, intent(in) :: is_found

    if (is_found) found(which) = found(which) + 1
  end subroutine count
end program behind_f08
