/* Calls of all kinds that wait for known ranks, on 4 ranks, for tests/report/test_known_waits.py:
 * known_waits FILES [NAME]: the rows whose name contains NAME.
 *
 * Each row of rows[] describes a function: the ranks that come late to it, by how much and why, and
 * the waits that follow. AT() stamps a call: the time just before it, the first time at which it
 * gives the processor away (by then it has certainly begun, however busy the machine is), and the
 * time just after it. FILES.RANK has the stamps; FILES.0 also has the rows.
 *
 * The late ranks of a row, as "2s20 1c8": rank 2 sleeps for 20 ms, rank 1 computes for 8. Likewise
 * f: page faults; r: it writes a file through to the disk; p: it computes beside a rival on its
 * processor. "@": within the function.
 *
 * The waits of a row, as "late sender: MPI_Recv 1<0 MPI_Send; ...": rank 1 waits in MPI_Recv until
 * rank 0 calls MPI_Send. 0<12: until the last of ranks 1 and 2 does. >12:MPI_Barrier: this wait
 * begins only when the last of ranks 1 and 2 calls MPI_Barrier. -: nobody waits.
 */
#define _GNU_SOURCE
#include "known_stamps.h"

#include <pthread.h>

#define ROUNDS 3
#define LARGE_BYTES (256 << 10) /* more than is sent eagerly */
#define HUGE_BYTES (32 << 20)

/* ---- functions: what each rank does, or all of them ------------------------------------------ */

#define RANKS(name, of_0, of_1, of_2, of_3)                                                        \
    NOINLINE static void name(void)                                                                \
    {                                                                                              \
        switch (rank) {                                                                            \
        case 0: {                                                                                  \
            of_0;                                                                                  \
        } break;                                                                                   \
        case 1: {                                                                                  \
            of_1;                                                                                  \
        } break;                                                                                   \
        case 2: {                                                                                  \
            of_2;                                                                                  \
        } break;                                                                                   \
        default: {                                                                                 \
            of_3;                                                                                  \
        }                                                                                          \
        }                                                                                          \
        STAY;                                                                                      \
    }
#define ALL(name, ...)                                                                             \
    NOINLINE static void name(void)                                                                \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        STAY;                                                                                      \
    }

static int value, values[4], got[4], flag;
static const int ones[4] = {1, 1, 1, 1}, places[4] = {0, 1, 2, 3};
static MPI_Datatype ints[4];
static char *large, *huge, *attached;
static MPI_Message message;
static MPI_Request requests[4];
static MPI_Status statuses[4];

#define ONE &value, 1, MPI_INT
#define LARGE large, LARGE_BYTES, MPI_CHAR
#define HUGE huge, HUGE_BYTES, MPI_CHAR

static void hear(int from)
{
    MUST(PMPI_Recv(NULL, 0, MPI_INT, from, 0, telling, IGNORE));
}

/* ---- messages -------------------------------------------------------------------------------- */

#define SEND(to) AT(MPI_Send(ONE, to, 1, WORLD))
#define RECV(from) AT(MPI_Recv(ONE, from, 1, WORLD, IGNORE))
#define IRECV(number, from)                                                                        \
    MPI_Irecv(values + (number), 1, MPI_INT, from, 1, WORLD, requests + (number))
#define WAIT AT(MPI_Wait(requests, IGNORE))
#define WAITALL(count) AT(MPI_Waitall(count, requests, statuses))

RANKS(recv, SEND(1), RECV(0), , )
RANKS(any_source, , AT(MPI_Recv(ONE, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, IGNORE)), , SEND(1))
RANKS(large_recv, AT(MPI_Send(LARGE, 1, 1, WORLD)), AT(MPI_Recv(LARGE, 0, 1, WORLD, IGNORE)), , )
RANKS(eager_send, SEND(1), RECV(0), , )
RANKS(eager_isend, AT(MPI_Isend(ONE, 1, 1, WORLD, requests)); WAIT, RECV(0), , )
RANKS(ssend, , RECV(3), , AT(MPI_Ssend(ONE, 1, 1, WORLD)))
RANKS(large_send, AT(MPI_Send(LARGE, 1, 1, WORLD)), AT(MPI_Recv(LARGE, 0, 1, WORLD, IGNORE)), , )
RANKS(issend, AT(MPI_Issend(ONE, 1, 1, WORLD, requests)); WAIT, RECV(0), , )
RANKS(detach, AT(MPI_Recv(LARGE, 1, 1, WORLD, IGNORE)), MPI_Buffer_attach(huge, HUGE_BYTES);
      AT(MPI_Bsend(LARGE, 0, 1, WORLD)); AT(MPI_Buffer_detach(&attached, &flag)), , )
RANKS(late_irecv, AT(MPI_Ssend(ONE, 1, 1, WORLD)), AT(MPI_Irecv(ONE, 0, 1, WORLD, requests));
      MPI_Wait(requests, IGNORE), , )
RANKS(irecv, SEND(1), IRECV(0, 0); WAIT, , )
RANKS(cancelled, SEND(1), MPI_Irecv(values, 1, MPI_INT, 0, 9, WORLD, requests); RECV(0);
      MPI_Cancel(requests); MPI_Wait(requests, IGNORE), , )
RANKS(wrong_order, SEND(1), RECV(0); MPI_Recv(ONE, 2, 1, WORLD, IGNORE), SEND(1), )
RANKS(waitall, SEND(1), IRECV(0, 0); IRECV(1, 2); IRECV(2, 3); WAITALL(3), SEND(1), SEND(1))
RANKS(waitall_eager, AT(MPI_Send(HUGE, 1, 1, WORLD)), AT(MPI_Irecv(HUGE, 0, 1, WORLD, requests));
      AT(MPI_Isend(ONE, 2, 1, WORLD, requests + 1)); WAITALL(2), RECV(1), )
/* Rank 2 is late for the second call, and waits until rank 1 is about to make it. */
RANKS(waitany, come_late(); SEND(1), IRECV(0, 0); IRECV(1, 2);
      AT(MPI_Waitany(2, requests, &flag, IGNORE)); tell(2); WAITALL(2), hear(1); come_late();
      SEND(1), )
RANKS(waitsome, come_late(); SEND(1), IRECV(0, 0); IRECV(1, 2);
      AT(MPI_Waitsome(2, requests, &flag, got, statuses)); tell(2); WAITALL(2), hear(1);
      come_late(); SEND(1), )
RANKS(test_loop, SEND(1), IRECV(0, 0); UNTIL(flag, MPI_Test(requests, &flag, IGNORE)), , )
RANKS(testall_loop, SEND(1), IRECV(0, 0); IRECV(1, 2);
      UNTIL(flag, MPI_Testall(2, requests, &flag, statuses)), SEND(1), )
#define UNTIL_COMPLETE(number) UNTIL(flag, MPI_Request_get_status(requests[number], &flag, IGNORE))
RANKS(status_loop, SEND(1), IRECV(0, 0); IRECV(1, 2); UNTIL_COMPLETE(0); UNTIL_COMPLETE(1);
      WAITALL(2), SEND(1), )
RANKS(iprobe_loop, SEND(1), UNTIL(flag, MPI_Iprobe(0, 1, WORLD, &flag, IGNORE));
      MPI_Recv(ONE, 0, 1, WORLD, IGNORE), , )
RANKS(probe, SEND(1), AT(MPI_Probe(MPI_ANY_SOURCE, 1, WORLD, IGNORE));
      MPI_Recv(ONE, 0, 1, WORLD, IGNORE), , )
RANKS(mprobe, SEND(1), AT(MPI_Mprobe(0, 1, WORLD, &message, IGNORE));
      MPI_Mrecv(ONE, &message, IGNORE), , )
ALL(sendrecv,
    AT(MPI_Sendrecv(ONE, (rank + 1) % 4, 1, values, 1, MPI_INT, (rank + 3) % 4, 1, WORLD, IGNORE)))
ALL(replace, AT(MPI_Sendrecv_replace(ONE, (rank + 1) % 4, 1, (rank + 3) % 4, 1, WORLD, IGNORE)))
RANKS(persistent, MPI_Send_init(ONE, 1, 1, WORLD, requests); come_late();
      AT(MPI_Startall(1, requests)); MPI_Wait(requests, IGNORE);
      MPI_Request_free(requests), MPI_Recv_init(ONE, 0, 1, WORLD, requests);
      MPI_Startall(1, requests); WAITALL(1); MPI_Request_free(requests), , )

/* ---- collectives ----------------------------------------------------------------------------- */

#define FOUR values, 1, MPI_INT, got, 1, MPI_INT
#define VARYING values, ones, places, MPI_INT, got, ones, places, MPI_INT

ALL(barrier, AT(MPI_Barrier(WORLD)))
ALL(bcast, AT(MPI_Bcast(ONE, 1, WORLD)))
ALL(scatter, AT(MPI_Scatter(FOUR, 2, WORLD)))
ALL(scatterv, AT(MPI_Scatterv(values, ones, places, MPI_INT, got, 1, MPI_INT, 0, WORLD)))
ALL(reduce, AT(MPI_Reduce(values, got, 1, MPI_INT, MPI_SUM, 0, WORLD)))
ALL(gather, AT(MPI_Gather(FOUR, 1, WORLD)))
ALL(large_gather, AT(MPI_Gather(LARGE, huge, LARGE_BYTES, MPI_CHAR, 2, WORLD)))
ALL(gatherv, AT(MPI_Gatherv(values, 1, MPI_INT, got, ones, places, MPI_INT, 0, WORLD)))
ALL(allreduce, AT(MPI_Allreduce(values, got, 1, MPI_INT, MPI_SUM, WORLD)))
ALL(allgather, AT(MPI_Allgather(FOUR, WORLD)))
ALL(allgatherv, AT(MPI_Allgatherv(values, 1, MPI_INT, got, ones, places, MPI_INT, WORLD)))
ALL(alltoall, AT(MPI_Alltoall(FOUR, WORLD)))
ALL(alltoallv, AT(MPI_Alltoallv(VARYING, WORLD)))
ALL(alltoallw, AT(MPI_Alltoallw(values, ones, places, ints, got, ones, places, ints, WORLD)))
ALL(reduce_scatter, AT(MPI_Reduce_scatter(values, got, ones, MPI_INT, MPI_SUM, WORLD)))
ALL(reduce_block, AT(MPI_Reduce_scatter_block(values, got, 1, MPI_INT, MPI_SUM, WORLD)))
ALL(scan, AT(MPI_Scan(values, got, 1, MPI_INT, MPI_SUM, WORLD)))
ALL(exscan, AT(MPI_Exscan(values, got, 1, MPI_INT, MPI_SUM, WORLD)))
ALL(large_allreduce, AT(MPI_Allreduce(large, huge, LARGE_BYTES / 4, MPI_INT, MPI_SUM, WORLD)))
ALL(large_bcast, AT(MPI_Bcast(LARGE, 3, WORLD)))
ALL(inner_bcast, AT(MPI_Bcast(huge, 100, MPI_CHAR, 0, WORLD)))
ALL(ibarrier, AT(MPI_Ibarrier(WORLD, requests)); WAIT)
ALL(ibcast, AT(MPI_Ibcast(ONE, 1, WORLD, requests)); WAIT)
ALL(iallreduce, AT(MPI_Iallreduce(values, got, 1, MPI_INT, MPI_SUM, WORLD, requests)); WAIT)
ALL(ialltoall, AT(MPI_Ialltoall(FOUR, WORLD, requests)); WAIT)

ALL(persistent_allreduce,
    MPI_Allreduce_init(values, got, 1, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, requests);
    come_late(); AT(MPI_Start(requests)); WAIT; MPI_Request_free(requests))

/* Rank 0 sends rank 1 something, and no other rank another. */
#define SPARSE values, sent, places, MPI_INT, got, received, places, MPI_INT, WORLD

NOINLINE static void sparse_alltoallv(void)
{
    int sent[4] = {0, rank == 0}, received[4] = {rank == 1};

    AT(MPI_Alltoallv(SPARSE));
    STAY;
}

NOINLINE static void sparse_persistent(void)
{
    int sent[4] = {0, rank == 0}, received[4] = {rank == 1};

    MPI_Alltoallv_init(SPARSE, MPI_INFO_NULL, requests);
    come_late();
    AT(MPI_Start(requests));
    WAIT;
    MPI_Request_free(requests);
}

/* Rank 0 gathers from ranks 1 and 3. */
NOINLINE static void sparse_gatherv(void)
{
    const int counts[4] = {0, 1, 0, 1};

    AT(MPI_Gatherv(values, counts[rank], MPI_INT, got, counts, places, MPI_INT, 0, WORLD));
    STAY;
}

/* ---- communicators ------------------------------------------------------------------------------
 * Of ranks 2 and 0, in this order; a line of all ranks; a graph with an edge between ranks 0 and 2;
 * one from rank 0 to rank 3; between even and odd ranks. */

static MPI_Comm pair, line, graph, arrow, half, halves, made;
static MPI_Group group_0_2;

/* A collective's root argument between the halves, whose root is world rank 2. */
static int root_2(void)
{
    return rank == 2 ? MPI_ROOT : rank == 0 ? MPI_PROC_NULL : 1;
}

static void make_communicators(void)
{
    MPI_Group all;

    MUST(MPI_Comm_group(WORLD, &all));
    MUST(MPI_Group_incl(all, 2, (int[]){0, 2}, &group_0_2));
    MUST(MPI_Group_free(&all));
    MUST(MPI_Comm_split(WORLD, rank % 2 ? MPI_UNDEFINED : 0, -rank, &pair));
    MUST(MPI_Cart_create(WORLD, 1, (int[]){4}, (int[]){0}, 0, &line));
    MUST(MPI_Graph_create(WORLD, 4, (int[]){1, 1, 2, 2}, (int[]){2, 0}, 0, &graph));
    MUST(MPI_Dist_graph_create_adjacent(WORLD, rank == 3, (int[]){0}, MPI_UNWEIGHTED, rank == 0,
                                        (int[]){3}, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &arrow));
    MUST(MPI_Comm_split(WORLD, rank % 2, rank, &half));
    MUST(MPI_Intercomm_create(half, 0, WORLD, 1 - rank % 2, 5, &halves));
}

RANKS(pair_allgather, AT(MPI_Allgather(FOUR, pair)), , AT(MPI_Allgather(FOUR, pair)), )
RANKS(pair_barrier, AT(MPI_Barrier(pair)), , AT(MPI_Barrier(pair)), )
ALL(neighbor_allgather, AT(MPI_Neighbor_allgather(FOUR, line)))
ALL(neighbor_alltoallv, AT(MPI_Neighbor_alltoallv(VARYING, line)))
ALL(ineighbor_alltoall, AT(MPI_Ineighbor_alltoall(FOUR, line, requests)); WAIT)
ALL(neighbor_graph, AT(MPI_Neighbor_alltoall(FOUR, graph)))
ALL(neighbor_arrow, AT(MPI_Neighbor_allgather(FOUR, arrow)))
ALL(between_barrier, AT(MPI_Barrier(halves)))
ALL(between_bcast, AT(MPI_Bcast(ONE, root_2(), halves)))
ALL(between_reduce, AT(MPI_Reduce(values, got, 1, MPI_INT, MPI_SUM, root_2(), halves)))
ALL(between_alltoall, AT(MPI_Alltoall(FOUR, halves)))
ALL(between_ialltoall, AT(MPI_Ialltoall(FOUR, halves, requests)); WAIT)
ALL(between_allreduce, AT(MPI_Allreduce(values, got, 1, MPI_INT, MPI_SUM, halves)))
/* Calls before and after the known one are another function's, which may wait, too. */
ALL(free_comm, MPI_Comm_free(&made))
ALL(comm_dup, AT(MPI_Comm_dup(WORLD, &made)); free_comm())
ALL(comm_split, AT(MPI_Comm_split(WORLD, 0, 0, &made)); free_comm())
ALL(use_comm, MPI_Barrier(made); MPI_Comm_free(&made))
#define CREATE_GROUP AT(MPI_Comm_create_group(WORLD, group_0_2, 7, &made))
RANKS(create_group, CREATE_GROUP; use_comm(), , CREATE_GROUP; use_comm(), )
ALL(intercomm_create, AT(MPI_Intercomm_create(half, 0, WORLD, 1 - rank % 2, 5, &made)); use_comm())
ALL(intercomm_merge, AT(MPI_Intercomm_merge(halves, 0, &made)); free_comm())
ALL(make_comm, MPI_Comm_dup(WORLD, &made))
ALL(comm_disconnect, make_comm(); come_late(); AT(MPI_Comm_disconnect(&made)))
ALL(comm_free, make_comm(); come_late(); AT(MPI_Comm_free(&made)))
ALL(cart_create, AT(MPI_Cart_create(WORLD, 1, (int[]){4}, (int[]){1}, 0, &made)); free_comm())

/* ---- windows: rank 0 accesses rank 1's memory ------------------------------------------------ */

static MPI_Win window, made_window;
static MPI_Group group_0, group_1;

#define PUT MPI_Put(ONE, 1, 0, 1, MPI_INT, window)
#define LOCK AT(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window))
#define UNLOCK AT(MPI_Win_unlock(1, window))

static void make_windows(void)
{
    MPI_Group all;

    MUST(MPI_Win_create(got, sizeof got, sizeof *got, MPI_INFO_NULL, WORLD, &window));
    MUST(MPI_Comm_group(WORLD, &all));
    MUST(MPI_Group_incl(all, 1, (int[]){0}, &group_0));
    MUST(MPI_Group_incl(all, 1, (int[]){1}, &group_1));
    MUST(MPI_Group_free(&all));
}

ALL(fence, AT(MPI_Win_fence(0, window)))
ALL(make_window, MPI_Win_create(values, 4, 4, MPI_INFO_NULL, WORLD, &made_window))
ALL(free_window, MPI_Win_free(&made_window))
ALL(win_create, AT(MPI_Win_create(values, 4, 4, MPI_INFO_NULL, WORLD, &made_window)); free_window())
ALL(win_free, make_window(); come_late(); AT(MPI_Win_free(&made_window)))
RANKS(late_post, AT(MPI_Win_start(group_1, 0, window)); PUT;
      AT(MPI_Win_complete(window)), AT(MPI_Win_post(group_0, 0, window));
      AT(MPI_Win_wait(window)), , )
RANKS(late_complete, AT(MPI_Win_start(group_1, 0, window)); PUT; come_late();
      AT(MPI_Win_complete(window)), AT(MPI_Win_post(group_0, 0, window));
      AT(MPI_Win_wait(window)), , )
/* Rank 2 tells rank 0 that it holds the lock. The target makes progress in MPI_Barrier. BEGIN: the
 * target has certainly left the call before. */
#define BEGIN MUST(PMPI_Barrier(telling))
#define HOLD                                                                                       \
    LOCK;                                                                                          \
    PUT;                                                                                           \
    AT(MPI_Win_flush(1, window));                                                                  \
    tell(0);                                                                                       \
    come_late();                                                                                   \
    UNLOCK;                                                                                        \
    MEET
#define MEET AT(MPI_Barrier(WORLD))
RANKS(contention, BEGIN; hear(2); LOCK; PUT; UNLOCK; MEET, BEGIN; MEET, BEGIN; HOLD, BEGIN; MEET)
RANKS(contention_all, BEGIN; hear(2); AT(MPI_Win_lock_all(0, window)); PUT;
      AT(MPI_Win_unlock_all(window)); MEET, BEGIN; MEET, BEGIN; HOLD, BEGIN; MEET)

/* Rank 2 has the lock, and its operation waits for the target, which computes, and then calls
 * MPI_Barrier. */
NOINLINE static void held_up(void)
{
    if (rank == 2) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
        PUT;
        MPI_Win_flush(1, window);
    }
    BEGIN;
    come_late();
    if (rank == 2) {
        PUT;
        AT(MPI_Win_flush(1, window));
        UNLOCK;
    }
    if (rank == 0) {
        LOCK;
        PUT;
        UNLOCK;
    }
    AT(MPI_Barrier(WORLD));
}

/* The target computes, and then calls MPI_Barrier. */
NOINLINE static void passive_lock(void)
{
    if (rank == 0) {
        LOCK;
        PUT;
        UNLOCK;
    }
    AT(MPI_Barrier(WORLD));
}

NOINLINE static void passive_lock_all(void)
{
    if (rank == 0) {
        AT(MPI_Win_lock_all(0, window));
        PUT;
        AT(MPI_Win_unlock_all(window));
    }
    AT(MPI_Barrier(WORLD));
}

NOINLINE static void passive_flush(void)
{
    if (rank == 0)
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    BEGIN;
    come_late();
    if (rank == 0) {
        PUT;
        AT(MPI_Win_flush(1, window));
        UNLOCK;
    }
    AT(MPI_Barrier(WORLD));
}

NOINLINE static void passive_rput(void)
{
    if (rank == 0)
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    BEGIN;
    come_late();
    if (rank == 0) {
        MPI_Rput(ONE, 1, 0, 1, MPI_INT, window, requests);
        WAIT;
        UNLOCK;
    }
    AT(MPI_Barrier(WORLD));
}

/* ---- files ----------------------------------------------------------------------------------- */

static MPI_File file, opened;
static char *file_name;

#define OPENED WORLD, file_name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL
#define BLOCK rank * 4096, large, 4096, MPI_CHAR

ALL(open_file, MPI_File_open(OPENED, &opened))
ALL(close_file, MPI_File_close(&opened))
ALL(file_open, AT(MPI_File_open(OPENED, &opened)); close_file())
ALL(file_close, open_file(); come_late(); AT(MPI_File_close(&opened)))
ALL(write_at_all, AT(MPI_File_write_at_all(file, BLOCK, IGNORE)))
ALL(read_at_all, AT(MPI_File_read_at_all(file, BLOCK, IGNORE)))
ALL(write_ordered, AT(MPI_File_write_ordered(file, large, 4096, MPI_CHAR, IGNORE)))
ALL(split_read, AT(MPI_File_read_at_all_begin(file, BLOCK));
    AT(MPI_File_read_at_all_end(file, large, IGNORE)))

/* ---- causes ---------------------------------------------------------------------------------- */

#define TO_ALL AT(MPI_Allreduce(values, got, 1, MPI_INT, MPI_SUM, WORLD))

ALL(computing, TO_ALL)
ALL(asleep, TO_ALL)
ALL(faults, TO_ALL)
ALL(writes, TO_ALL)
ALL(preempted, TO_ALL)
/* Rank 2 is late because rank 1 is. */
RANKS(chain, TO_ALL, SEND(2); TO_ALL, RECV(1); TO_ALL, TO_ALL)

/* ---- threads --------------------------------------------------------------------------------- */

static void *receive_2(void *unused)
{
    MPI_Request request;

    MPI_Irecv(values, 1, MPI_INT, 2, 2, WORLD, &request);
    AT(MPI_Wait(&request, IGNORE));
    return NULL;
}

static void receive_both(void)
{
    pthread_t other;

    REQUIRE(pthread_create(&other, NULL, receive_2, NULL) == 0);
    RECV(0);
    REQUIRE(pthread_join(other, NULL) == 0);
}

RANKS(threads, SEND(1), receive_both(), AT(MPI_Send(ONE, 1, 2, WORLD)), )

/* ---- the rows -------------------------------------------------------------------------------- */

#define EPOCH                                                                                      \
    "late post: MPI_Win_start|MPI_Win_complete 0<1 MPI_Win_post; "                                 \
    "early wait: MPI_Win_wait 1<0 MPI_Win_complete"
#define MEETING "wait at barrier: MPI_Barrier *<* MPI_Barrier"

static const struct known {
    void (*run)(void);
    const char *name, *late, *waits;
} rows[] = {
#define ROW(name, late, waits)                                                                     \
    {                                                                                              \
        name, #name, late, waits                                                                   \
    }
    ROW(recv, "0s20", "late sender: MPI_Recv 1<0 MPI_Send"),
    ROW(any_source, "3s15", "late sender: MPI_Recv 1<3 MPI_Send"),
    ROW(large_recv, "0c20",
        "late sender: MPI_Recv 1<0 MPI_Send; late receiver: MPI_Send 0<1 MPI_Recv"),
    ROW(eager_send, "1s15", "late sender: MPI_Recv 1<0 MPI_Send"),
    ROW(eager_isend, "1s15", "late sender: MPI_Recv 1<0 MPI_Isend"),
    ROW(ssend, "1s20",
        "late receiver: MPI_Ssend 3<1 MPI_Recv; late sender: MPI_Recv 1<3 MPI_Ssend"),
    ROW(large_send, "1s15",
        "late receiver: MPI_Send 0<1 MPI_Recv; late sender: MPI_Recv 1<0 MPI_Send"),
    ROW(issend, "1c20",
        "late receiver: MPI_Wait 0<1 MPI_Recv; late sender: MPI_Recv 1<0 MPI_Issend"),
    ROW(detach, "0s15",
        "late receiver: MPI_Buffer_detach 1<0 MPI_Recv; late sender: MPI_Recv 0<1 MPI_Bsend"),
    ROW(late_irecv, "1s15", "late receiver: MPI_Ssend 0<1 MPI_Irecv"),
    ROW(irecv, "0s20", "late sender: MPI_Wait 1<0 MPI_Send"),
    ROW(cancelled, "0s15", "late sender: MPI_Recv 1<0 MPI_Send"),
    ROW(wrong_order, "0s15", "late sender: MPI_Recv 1<0 MPI_Send"),
    ROW(waitall, "2s10 3s20", "late sender: MPI_Waitall 1<023 MPI_Send"),
    ROW(waitall_eager, "0s10 2s16",
        "late sender: MPI_Waitall 1<0 MPI_Send; late receiver: MPI_Send 0<1 MPI_Irecv; "
        "late sender: MPI_Recv 2<1 MPI_Isend"),
    ROW(waitany, "@0s10 2s15",
        "late sender: MPI_Waitany 1<0 MPI_Send; late sender: MPI_Waitall 1<2 MPI_Send"),
    ROW(waitsome, "@0s10 2s15",
        "late sender: MPI_Waitsome 1<0 MPI_Send; late sender: MPI_Waitall 1<2 MPI_Send"),
    ROW(test_loop, "0s15", "late sender: MPI_Test 1<0 MPI_Send"),
    ROW(testall_loop, "0s10 2s20", "late sender: MPI_Testall 1<02 MPI_Send"),
    ROW(status_loop, "0s10 2s20", "late sender: MPI_Request_get_status 1<02 MPI_Send"),
    ROW(iprobe_loop, "0s15", "late sender: MPI_Iprobe 1<0 MPI_Send"),
    ROW(probe, "0s15", "late sender: MPI_Probe 1<0 MPI_Send"),
    ROW(mprobe, "0s15", "late sender: MPI_Mprobe 1<0 MPI_Send"),
    ROW(sendrecv, "2s20", "late sender: MPI_Sendrecv 0<3,1<0,2<1,3<2 MPI_Sendrecv"),
    ROW(replace, "1c15", "late sender: MPI_Sendrecv_replace 0<3,1<0,2<1,3<2 MPI_Sendrecv_replace"),
    ROW(persistent, "@0s15", "late sender: MPI_Waitall 1<0 MPI_Startall"),
    ROW(barrier, "2s20 1s10", "wait at barrier: MPI_Barrier *<* MPI_Barrier"),
    ROW(bcast, "1s15", "late broadcast: MPI_Bcast *<* MPI_Bcast"),
    ROW(scatter, "2s15", "late broadcast: MPI_Scatter *<* MPI_Scatter"),
    ROW(scatterv, "0s15", "late broadcast: MPI_Scatterv 0<123,1<0,2<0,3<0 MPI_Scatterv"),
    ROW(reduce, "2s20 3s10", "early reduce: MPI_Reduce *<* MPI_Reduce"),
    ROW(gather, "3s15", "early reduce: MPI_Gather *<* MPI_Gather"),
    ROW(large_gather, "2s15", "early reduce: MPI_Gather *<* MPI_Gather"),
    ROW(gatherv, "1s15 2s20", "early reduce: MPI_Gatherv 0<123,1<0,2<0,3<0 MPI_Gatherv"),
    ROW(allreduce, "3s20", "wait at NxN: MPI_Allreduce *<* MPI_Allreduce"),
    ROW(allgather, "0s15", "wait at NxN: MPI_Allgather *<* MPI_Allgather"),
    ROW(allgatherv, "1s15", "wait at NxN: MPI_Allgatherv *<* MPI_Allgatherv"),
    ROW(alltoall, "2s15", "wait at NxN: MPI_Alltoall *<* MPI_Alltoall"),
    ROW(alltoallv, "3s15", "wait at NxN: MPI_Alltoallv *<* MPI_Alltoallv"),
    ROW(alltoallw, "0s15", "wait at NxN: MPI_Alltoallw *<* MPI_Alltoallw"),
    ROW(reduce_scatter, "1s15", "wait at NxN: MPI_Reduce_scatter *<* MPI_Reduce_scatter"),
    ROW(reduce_block, "2s15", "wait at NxN: MPI_Reduce_scatter_block *<* MPI_Reduce_scatter_block"),
    ROW(scan, "0s15 2s20", "early scan: MPI_Scan *<* MPI_Scan"),
    ROW(exscan, "1s15", "early scan: MPI_Exscan *<* MPI_Exscan"),
    ROW(large_allreduce, "1s20", "wait at NxN: MPI_Allreduce *<* MPI_Allreduce"),
    ROW(large_bcast, "3s20", "late broadcast: MPI_Bcast *<* MPI_Bcast"),
    ROW(inner_bcast, "2s20", "late broadcast: MPI_Bcast *<* MPI_Bcast"),
    ROW(ibarrier, "2s15", "wait at barrier: MPI_Ibarrier|MPI_Wait *<* MPI_Ibarrier"),
    ROW(ibcast, "1s15", "late broadcast: MPI_Wait *<1 MPI_Ibcast"),
    ROW(iallreduce, "3s15", "wait at NxN: MPI_Iallreduce|MPI_Wait *<* MPI_Iallreduce"),
    ROW(ialltoall, "0s15", "wait at NxN: MPI_Wait *<* MPI_Ialltoall"),
    ROW(sparse_alltoallv, "0s10 3s20", "wait at NxN: MPI_Alltoallv 0<1,1<0 MPI_Alltoallv"),
    ROW(persistent_allreduce, "@1s15", "wait at NxN: MPI_Wait *<* MPI_Start"),
    ROW(sparse_persistent, "@0s10 3s20", "wait at NxN: MPI_Wait 0<1,1<0 MPI_Start"),
    ROW(sparse_gatherv, "1s10 2s20", "early reduce: MPI_Gatherv 0<13,1<0,3<0 MPI_Gatherv"),
    ROW(pair_allgather, "0s15", "wait at NxN: MPI_Allgather 0<2,2<0 MPI_Allgather"),
    ROW(pair_barrier, "2s15", "wait at barrier: MPI_Barrier 0<2,2<0 MPI_Barrier"),
    ROW(neighbor_allgather, "0s20 3s10",
        "late neighbor: MPI_Neighbor_allgather 0<1,1<02,2<13,3<2 MPI_Neighbor_allgather"),
    ROW(neighbor_alltoallv, "3s15",
        "late neighbor: MPI_Neighbor_alltoallv 0<1,1<02,2<13,3<2 MPI_Neighbor_alltoallv"),
    ROW(ineighbor_alltoall, "1s15",
        "late neighbor: MPI_Wait 0<1,1<02,2<13,3<2 MPI_Ineighbor_alltoall"),
    ROW(neighbor_graph, "0s15",
        "late neighbor: MPI_Neighbor_alltoall 0<2,2<0 MPI_Neighbor_alltoall"),
    ROW(neighbor_arrow, "0s15",
        "late neighbor: MPI_Neighbor_allgather 0<3,3<0 MPI_Neighbor_allgather"),
    ROW(between_barrier, "3s15", "wait at barrier: MPI_Barrier *<* MPI_Barrier"),
    ROW(between_bcast, "2s15", "late broadcast: MPI_Bcast *<* MPI_Bcast"),
    ROW(between_reduce, "3s15", "early reduce: MPI_Reduce *<* MPI_Reduce"),
    ROW(between_alltoall, "1s15", "wait at NxN: MPI_Alltoall *<* MPI_Alltoall"),
    ROW(between_ialltoall, "2s15", "wait at NxN: MPI_Wait *<* MPI_Ialltoall"),
    ROW(between_allreduce, "0s15", "wait at NxN: MPI_Allreduce *<* MPI_Allreduce"),
    ROW(comm_dup, "1s15", "wait at communicator: MPI_Comm_dup *<* MPI_Comm_dup"),
    ROW(comm_split, "2s15", "wait at communicator: MPI_Comm_split *<* MPI_Comm_split"),
    ROW(create_group, "2s15",
        "wait at communicator: MPI_Comm_create_group 0<2,2<0 MPI_Comm_create_group"),
    ROW(intercomm_create, "1s15",
        "wait at communicator: MPI_Intercomm_create *<* MPI_Intercomm_create"),
    ROW(intercomm_merge, "2s15",
        "wait at communicator: MPI_Intercomm_merge *<* MPI_Intercomm_merge"),
    ROW(comm_disconnect, "@1s15", "-"),
    ROW(comm_free, "@1s15", "-"),
    ROW(cart_create, "3s15", "wait at communicator: MPI_Cart_create *<* MPI_Cart_create"),
    ROW(fence, "1s15", "wait at fence: MPI_Win_fence *<* MPI_Win_fence"),
    ROW(win_create, "2s15", "wait at create: MPI_Win_create *<* MPI_Win_create"),
    ROW(win_free, "@0s15", "wait at free: MPI_Win_free *<* MPI_Win_free"),
    ROW(late_post, "1s15", EPOCH),
    ROW(late_complete, "@0s15", EPOCH),
    ROW(contention, "@2s15",
        "lock contention: MPI_Win_lock|MPI_Win_unlock 0<2 MPI_Win_unlock>1:MPI_Barrier; "
        "late target: MPI_Win_lock|MPI_Win_flush|MPI_Win_unlock 0<1,2<1 MPI_Barrier; " MEETING),
    ROW(contention_all, "@2s15",
        "lock contention: MPI_Win_lock_all|MPI_Win_unlock_all 0<2 MPI_Win_unlock>13:MPI_Barrier; "
        "late target: MPI_Win_lock_all 0<13 MPI_Barrier; "
        "late target: MPI_Win_unlock_all 0<1 MPI_Barrier; "
        "late target: MPI_Win_lock|MPI_Win_flush|MPI_Win_unlock 2<1 MPI_Barrier; " MEETING),
    ROW(held_up, "@1c15",
        "late target: MPI_Win_flush|MPI_Win_lock|MPI_Win_unlock 0<1,2<1 MPI_Barrier; "
        "lock contention: MPI_Win_lock|MPI_Win_unlock 0<2 MPI_Win_unlock>1:MPI_Barrier; " MEETING),
    ROW(passive_lock, "1c15", "late target: MPI_Win_lock|MPI_Win_unlock 0<1 MPI_Barrier; " MEETING),
    ROW(passive_lock_all, "1c15",
        "late target: MPI_Win_lock_all 0<123 MPI_Barrier; "
        "late target: MPI_Win_unlock_all 0<1 MPI_Barrier; " MEETING),
    ROW(passive_flush, "@1c15",
        "late target: MPI_Win_flush|MPI_Win_unlock 0<1 MPI_Barrier; " MEETING),
    ROW(passive_rput, "@1c15", "late target: MPI_Wait|MPI_Win_unlock 0<1 MPI_Barrier; " MEETING),
    ROW(file_open, "1s15", "wait at file: MPI_File_open *<* MPI_File_open"),
    ROW(file_close, "@2s15", "wait at file: MPI_File_close *<* MPI_File_close"),
    ROW(write_at_all, "3s15", "wait at file: MPI_File_write_at_all *<* MPI_File_write_at_all"),
    ROW(write_ordered, "2s15", "wait at file: MPI_File_write_ordered *<* MPI_File_write_ordered"),
    ROW(read_at_all, "0s15", "wait at file: MPI_File_read_at_all *<* MPI_File_read_at_all"),
    ROW(split_read, "1s15",
        "wait at file: MPI_File_read_at_all_begin *<* MPI_File_read_at_all_begin; "
        "wait at file: MPI_File_read_at_all_end *<* MPI_File_read_at_all_end"),
    ROW(computing, "1c20", "wait at NxN: MPI_Allreduce *<* MPI_Allreduce"),
    ROW(asleep, "2s20", "wait at NxN: MPI_Allreduce *<* MPI_Allreduce"),
    ROW(faults, "3f20", "wait at NxN: MPI_Allreduce *<* MPI_Allreduce"),
    ROW(writes, "0r20", "wait at NxN: MPI_Allreduce *<* MPI_Allreduce"),
    ROW(preempted, "1p30", "wait at NxN: MPI_Allreduce *<* MPI_Allreduce"),
    ROW(chain, "1c20",
        "late sender: MPI_Recv 2<1 MPI_Send; wait at NxN: MPI_Allreduce *<* MPI_Allreduce"),
    ROW(threads, "0s10 2s20",
        "late sender: MPI_Recv 1<0 MPI_Send; late sender: MPI_Wait 1<2 MPI_Send"),
};

#define ROWS (sizeof rows / sizeof *rows)

/* ---- the run --------------------------------------------------------------------------------- */

/* Stamps the time when the library was loaded, nearly. */
static void loaded(void)
{
}

NOINLINE static void init(int *argc, char ***argv, int level)
{
    const char *number = getenv("PMI_RANK");
    int provided;

    case_name = "init";
    rank = number == NULL ? 0 : atoi(number);
    AT(loaded());
    if (rank == 3)
        spend('s', 50);
    AT(MPI_Init_thread(argc, argv, level, &provided));
    MUST(MPI_Comm_rank(WORLD, &rank));
    MUST(PMPI_Comm_dup(WORLD, &telling));
}

NOINLINE static void meet(void)
{
    case_name = "meet";
    AT(MPI_Barrier(WORLD));
}

NOINLINE static void finalize(void)
{
    case_name = "finalize";
    if (rank == 2)
        spend('s', 20);
    AT(MPI_Finalize());
}

static const char *only; /* argument; "": all but `threads` */

static bool is_chosen(const struct known *row)
{
    return *only != '\0' ? strstr(row->name, only) != NULL : row->run != threads;
}

static void run_row(const struct known *row)
{
    for (int i = 0; i < ROUNDS; i++) {
        round_number++;
        meet();
        case_name = row->name;
        late_ranks = row->late + (row->late[0] == '@');
        if (row->late[0] != '@')
            come_late();
        row->run();
    }
}

static void write_results(void)
{
    FILE *to = file_of_rank();

    for (size_t i = 0; i < ROWS && rank == 0; i++) {
        if (is_chosen(&rows[i]))
            fprintf(to, "case %s %s: %s\n", rows[i].name, rows[i].late, rows[i].waits);
    }
    write_stamps(to);
    REQUIRE(fclose(to) == 0);
}

/* The report learns that small sends are eager from those that end before their receives begin. */
static void show_eager(void)
{
    MUST(MPI_Send(ONE, (rank + 1) % 4, 1, WORLD));
    MUST(PMPI_Barrier(telling));
    MUST(MPI_Recv(ONE, (rank + 3) % 4, 1, WORLD, IGNORE));
}

int main(int argc, char **argv)
{
    files = argv[1];
    only = argc > 2 ? argv[2] : "";
    init(&argc, &argv, strcmp(only, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    large = calloc(1, LARGE_BYTES);
    huge = calloc(1, HUGE_BYTES);
    REQUIRE(large != NULL && huge != NULL && asprintf(&file_name, "%s.data", files) > 0);
    for (int i = 0; i < 4; i++)
        ints[i] = MPI_INT;
    make_communicators();
    make_windows();
    show_eager();
    MUST(MPI_File_open(OPENED, &file));
    MUST(MPI_File_set_size(file, 65536));
    for (size_t i = 0; i < ROWS; i++) {
        if (is_chosen(&rows[i]))
            run_row(&rows[i]);
    }
    round_number++;
    meet();
    MUST(MPI_File_close(&file));
    case_name = "last";
    AT(MPI_Win_free(&window));
    finalize();
    write_results();
    return 0;
}
