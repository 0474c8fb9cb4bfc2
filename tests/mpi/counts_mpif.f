C     Fixed-form Fortran with mpif.h: plain calls, MPI_IN_PLACE, a
C     duplicated communicator, a non-zero root.
      program counts_mpif
      implicit none
      include 'mpif.h'
      integer rank, size, ierr, copy, i
      integer nbar, nred, nall
      double precision mine(4), total(4)
      nbar = 0
      nred = 0
      nall = 0
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
      call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
      do 10 i = 1, 5
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        nbar = nbar + 1
 10   continue
      mine(1) = rank
      mine(2) = 1d0
      call MPI_Allreduce(mine, total, 2, MPI_DOUBLE_PRECISION, MPI_SUM,
     &                   copy, ierr)
      nall = nall + 1
      if (total(2) .ne. size) call fail('allreduce')
      call MPI_Allreduce(MPI_IN_PLACE, mine, 2, MPI_DOUBLE_PRECISION,
     &                   MPI_SUM, MPI_COMM_WORLD, ierr)
      nall = nall + 1
      if (mine(2) .ne. size) call fail('allreduce in place')
      mine(1) = 2d0
      call MPI_Reduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM,
     &                size - 1, copy, ierr)
      nred = nred + 1
      if (rank .eq. size - 1 .and. total(1) .ne. 2d0*size)
     &  call fail('reduce')
      if (rank .eq. 0) then
        call MPI_Reduce(MPI_IN_PLACE, mine, 1, MPI_DOUBLE_PRECISION,
     &                  MPI_SUM, 0, MPI_COMM_WORLD, ierr)
        if (mine(1) .ne. 2d0*size) call fail('reduce in place')
      else
        call MPI_Reduce(mine, total, 1, MPI_DOUBLE_PRECISION,
     &                  MPI_SUM, 0, MPI_COMM_WORLD, ierr)
      end if
      nred = nred + 1
      call MPI_Comm_free(copy, ierr)
      call MPI_Finalize(ierr)
      write (*, 20) rank, nbar, nred, nall
 20   format ('{"rank":', i0, ',"barrier":', i0, ',"reduce":', i0,
     &        ',"allreduce":', i0, '}')
      end

      subroutine fail(what)
      implicit none
      include 'mpif.h'
      character*(*) what
      integer ierr
      print *, 'wrong result: ', what
      call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
      end
