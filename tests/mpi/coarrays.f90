! What images get from one another by assignment and in collectives, and with the argument "atomic"
! by events, locks and critical sections, too. What is printed is the same in every run on as many
! images.
program coarrays
    use, intrinsic :: iso_fortran_env, only: event_type, lock_type
    implicit none
    integer, parameter :: cells = 64, rounds = 20
    integer :: here, images, left, right, round
    integer :: cell(cells)[*], token[*], guarded[*]
    integer :: values(4)
    real(8) :: term, total
    type(event_type) :: arrived[*]
    type(lock_type) :: door[*]
    character(8) :: word

    here = this_image()
    images = num_images()
    left = merge(images, here - 1, here == 1)
    right = merge(1, here + 1, here == images)
    cell = here
    token = 0
    guarded = 0
    sync all

    do round = 1, rounds
        cell(:)[right] = here * 1000 + round
        sync all
        if (any(cell /= left * 1000 + round)) error stop "a put was lost"
        if (cell(cells)[left] /= merge(images, left - 1, left == 1) * 1000 + round) &
            error stop "a get had something else"
        sync all
    end do
    if (here == 1) print '(a,i0)', 'put and get: ', sum(cell)

    total = 0
    do round = 1, rounds
        term = here / 3d0 + round
        call co_sum(term)
        total = total + term
    end do
    term = here * here
    call co_max(term)
    values = here
    call co_min(values)
    if (here == 1 .and. any(values /= 1)) error stop "co_min has another value"
    if (here == 1) values = [7, 8, 9, 10]
    call co_broadcast(values, source_image=1)
    if (here == 1) print '(a,2es25.16)', 'sum and maximum: ', total, term
    if (any(values /= [7, 8, 9, 10])) error stop "co_broadcast lost a value"

    do round = 1, rounds
        if (left == right) then
            sync images (left)
        else
            sync images ([left, right])
        end if
    end do
    if (here == 1) print '(a)', 'neighbours: done'

    call get_command_argument(1, word)
    if (word == 'atomic') then
        do round = 1, rounds
            if (here > 1) event wait (arrived)
            token[right] = token[right] + 1
            event post (arrived[right])
            if (here == 1) event wait (arrived)
        end do
        sync all
        if (here == 1) print '(a,i0)', 'events: ', token

        do round = 1, rounds
            lock (door[1])
            guarded[1] = guarded[1] + here
            unlock (door[1])
        end do
        do round = 1, rounds
            critical
                guarded[images] = guarded[images] + here
            end critical
        end do
        sync all
        if (here == 1) print '(a,i0,1x,i0)', 'guarded: ', guarded, guarded[images]
    end if
    sync all
end program
