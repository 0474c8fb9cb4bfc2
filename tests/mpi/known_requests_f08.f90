! Requests in Fortran 2008 whose completions and bytes tests/profile/test_request_counts.py knows, on 2 ranks: rank 0
! sends messages of 40 bytes, rank 1 receives them.
program known_requests_f08
  use mpi_f08
  implicit none
  integer :: rank, i, done, which(3)
  integer :: data(10, 3)
  logical :: flag
  type(MPI_Request) :: requests(3)
  type(MPI_Status) :: status, statuses(3)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  data = rank
  ! 2 and 2 messages, by waits for one
  do i = 1, 2
    call post(1)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call post(1)
    call MPI_Wait(requests(1), status)
  end do
  ! 3 and 3, by waits for all
  call post(3)
  call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)
  call post(3)
  call MPI_Waitall(3, requests, statuses)
  ! 3, one by one
  call post(3)
  do i = 1, 3
    call MPI_Waitany(3, requests, which(1), MPI_STATUS_IGNORE)
  end do
  ! 3, by some
  call post(3)
  i = 3
  do while (i > 0)
    call MPI_Waitsome(3, requests, done, which, MPI_STATUSES_IGNORE)
    i = i - done
  end do
  ! 1, by tests
  call post(1)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE)
  end do
  call MPI_Finalize()

contains

  subroutine post(count)
    integer, intent(in) :: count
    integer :: k

    do k = 1, count
      if (rank == 0) then
        call MPI_Isend(data(:, k), 10, MPI_INTEGER, 1, k, MPI_COMM_WORLD, requests(k))
      else
        call MPI_Irecv(data(:, k), 10, MPI_INTEGER, 0, k, MPI_COMM_WORLD, requests(k))
      end if
    end do
  end subroutine post
end program known_requests_f08
