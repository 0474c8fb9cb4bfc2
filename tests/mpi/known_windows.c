/* One-sided communication with known figures, on 3 ranks, for tests/trace/windows.sh and
 * tests/report/test_known_windows.py.
 *
 *     known_windows          operations of every kind, each function with its own synchronisation
 *     known_windows waits    waits for known others, ROUNDS times; a late rank computes for LATE_S
 *                            when the others are about to call, and is named late_*; early_* waits
 *     known_windows contend  all ranks lock rank 0's memory, each with each other
 *     known_windows leave    ends with a lock held, and an operation begun
 *
 * Each rank contributes N ints of memory to the windows.
 */
#include "known.h"

#define N 64
#define ROUNDS 10
#define CONTENTIONS 300

static int rank, right, left;
static int memory[N], from[N], into[N];
static MPI_Win window;
static MPI_Group of_right, of_left;

/* ---- operations ------------------------------------------------------------------------------ */

/* 4 puts of 8 bytes to the right, a get of 12 from the left. */
NOINLINE static void fenced(void)
{
    MPI_Win_fence(0, window);
    for (int i = 0; i < 4; i++)
        MPI_Put(from, 2, MPI_INT, right, 2 * i, 2, MPI_INT, window);
    MPI_Get(into, 3, MPI_INT, left, 20, 3, MPI_INT, window);
    MPI_Put(from, 2, MPI_INT, MPI_PROC_NULL, 0, 2, MPI_INT, window);
    MPI_Win_fence(0, window);
    STAY;
}

/* A put of 16 bytes to the right. */
NOINLINE static void with_groups(void)
{
    int is_over = 0;

    for (int i = 0; i < 2; i++) {
        MPI_Win_post(of_left, 0, window);
        MPI_Win_start(of_right, 0, window);
        if (i == 0)
            MPI_Put(from, 4, MPI_INT, right, 0, 4, MPI_INT, window);
        MPI_Win_complete(window);
        if (i == 0)
            MPI_Win_wait(window);
        while (i == 1 && !is_over)
            MPI_Win_test(window, &is_over);
    }
    STAY;
}

/* Computes on the right's memory: puts 4 + 8 + 4 + 4 + 4 bytes, gets 8 + 4 + 4 + 4. */
NOINLINE static void locked(void)
{
    int one = 1, other = 2, old;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window);
    MPI_Accumulate(&one, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_flush_local(right, window);
    MPI_Get_accumulate(from, 2, MPI_INT, into, 2, MPI_INT, right, 0, 2, MPI_INT, MPI_MAX, window);
    MPI_Win_flush(right, window);
    MPI_Fetch_and_op(&one, &old, MPI_INT, right, 0, MPI_SUM, window);
    MPI_Win_flush(right, window);
    MPI_Fetch_and_op(&one, &old, MPI_INT, right, 0, MPI_REPLACE, window);
    MPI_Win_flush(right, window);
    MPI_Compare_and_swap(&one, &other, &old, MPI_INT, right, 0, window);
    MPI_Win_unlock(right, window);
    STAY;
}

/* With requests, to the left: puts 4 + 8, 4 and gets 12, 4. */
NOINLINE static void requested(void)
{
    MPI_Request requests[4];
    MPI_Status statuses[4];

    MPI_Win_lock_all(0, window);
    MPI_Rput(from, 1, MPI_INT, left, 0, 1, MPI_INT, window, &requests[0]);
    MPI_Rget(into, 3, MPI_INT, left, 4, 3, MPI_INT, window, &requests[1]);
    MPI_Raccumulate(from, 2, MPI_INT, left, 8, 2, MPI_INT, MPI_SUM, window, &requests[2]);
    MPI_Waitall(3, requests, statuses);
    MPI_Rget_accumulate(from, 1, MPI_INT, into, 1, MPI_INT, left, 8, 1, MPI_INT, MPI_SUM, window,
                        &requests[3]);
    MPI_Win_flush_all(window);
    MPI_Wait(&requests[3], MPI_STATUS_IGNORE);
    MPI_Win_flush_local_all(window);
    MPI_Win_sync(window);
    MPI_Win_unlock_all(window);
    STAY;
}

/* Rank 0 puts 40 bytes into the memory of its own, and of rank 2, the other of the two. */
NOINLINE static void on_others(void)
{
    MPI_Comm pair;
    MPI_Win small;
    int *room;

    MPI_Comm_split(WORLD, rank == 1, 0, &pair);
    MPI_Win_allocate(N * sizeof(int), sizeof(int), MPI_INFO_NULL, pair, &room, &small);
    MPI_Win_set_name(small, "small");
    MPI_Win_fence(0, small);
    if (rank == 0)
        MPI_Put(from, 10, MPI_INT, 1, 0, 10, MPI_INT, small);
    if (rank == 0)
        MPI_Put(from, 10, MPI_INT, 0, 0, 10, MPI_INT, small);
    MPI_Win_fence(0, small);
    MPI_Win_free(&small);
    MPI_Comm_free(&pair);
    STAY;
}

static void operate(void)
{
    fenced();
    with_groups();
    locked();
    MPI_Barrier(WORLD);
    requested();
    MPI_Barrier(WORLD);
    on_others();
}

/* ---- waits ----------------------------------------------------------------------------------- */

SITE(late_fence(void), be_late(2), MPI_Win_fence(0, window))
SITE(early_fence(void), tell(1), MPI_Win_fence(0, window))
SITE(late_post(void), be_late(1), MPI_Win_post(of_left, 0, window), MPI_Win_wait(window))

/* Either the start or the complete waits, as the MPI library chooses. */
SITE(early_start(void), tell(1), MPI_Win_start(of_right, 0, window), MPI_Win_complete(window))
SITE(early_wait(void), MPI_Win_post(of_left, 0, window), tell(0), MPI_Win_wait(window))
SITE(late_complete(void), MPI_Win_start(of_right, 0, window), be_late(1), MPI_Win_complete(window))
SITE(late_create(MPI_Win *made), be_late(2),
     MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, WORLD, made))
SITE(early_create(MPI_Win *made), tell(2),
     MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, WORLD, made))
SITE(late_free(MPI_Win *made), be_late(2), MPI_Win_free(made))
SITE(early_free(MPI_Win *made), tell(0), MPI_Win_free(made))

/* Rank 0 tells that it holds the lock, and keeps it. */
SITE(late_unlock(void), MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window),
     MPI_Put(from, 1, MPI_INT, 2, 0, 1, MPI_INT, window), MPI_Win_flush(2, window),
     MPI_Send(from, 1, MPI_INT, 1, 1, WORLD), be_late(1), MPI_Win_unlock(2, window))
SITE(early_lock(void), MPI_Recv(into, 1, MPI_INT, 0, 1, WORLD, MPI_STATUS_IGNORE), tell(0),
     MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window),
     MPI_Put(from, 1, MPI_INT, 2, 0, 1, MPI_INT, window), MPI_Win_unlock(2, window))

static void wait_for_known(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Win made;

        MPI_Barrier(WORLD);
        rank == 1 ? late_fence() : early_fence();
        MPI_Barrier(WORLD);
        if (rank == 1)
            late_post();
        else if (rank == 0)
            early_start();
        MPI_Barrier(WORLD);
        if (rank == 1)
            early_wait();
        else if (rank == 0)
            late_complete();
        MPI_Barrier(WORLD);
        rank == 2 ? late_create(&made) : early_create(&made);
        MPI_Barrier(WORLD);
        rank == 0 ? late_free(&made) : early_free(&made);
        MPI_Barrier(WORLD);
        if (rank == 0)
            late_unlock();
        else if (rank == 1)
            early_lock();
    }
}

/* ---- contention ------------------------------------------------------------------------------ */

/* In every fifth round shared, in every seventh with one flush more. One rank waits for another's
 * lock, however slow the machine is. */
static void contend(void)
{
    const int one = 1;
    int old, sum = 0;

    if (rank == 0)
        late_unlock();
    else if (rank == 1)
        early_lock();
    for (int i = 0; i < CONTENTIONS; i++) {
        bool shared = i % 5 == rank;

        if (shared)
            MPI_Win_lock_all(0, window);
        else
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_SUM, window);
        if (i % 7 < 3)
            MPI_Win_flush(0, window);
        for (volatile int spin = 0; spin < 3000 * (i % 3); spin++)
            ;
        if (i % 7 == 0)
            MPI_Win_flush_local(0, window);
        if (shared)
            MPI_Win_unlock_all(window);
        else
            MPI_Win_unlock(0, window);
    }
    MPI_Barrier(WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get(&sum, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_unlock(0, window);
    if (sum != 3 * CONTENTIONS)
        MPI_Abort(WORLD, 1);
}

/* ---- others ---------------------------------------------------------------------------------- */

static void leave(void)
{
    fenced();
    MPI_Barrier(WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window);
    MPI_Put(from, 1, MPI_INT, right, 0, 1, MPI_INT, window);
    _exit(9);
}

int main(int argc, char **argv)
{
    MPI_Group all;
    int size;

    known_init(&argc, &argv, &rank);
    MPI_Comm_size(WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    MPI_Comm_group(WORLD, &all);
    MPI_Group_incl(all, 1, &right, &of_right);
    MPI_Group_incl(all, 1, &left, &of_left);
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, WORLD, &window);
    if (argc > 1 && strcmp(argv[1], "waits") == 0)
        wait_for_known();
    else if (argc > 1 && strcmp(argv[1], "contend") == 0)
        contend();
    else if (argc > 1 && strcmp(argv[1], "leave") == 0)
        leave();
    else
        operate();
    MPI_Win_free(&window);
    MPI_Group_free(&all);
    MPI_Group_free(&of_right);
    MPI_Group_free(&of_left);
    known_finalize();
    return 0;
}
