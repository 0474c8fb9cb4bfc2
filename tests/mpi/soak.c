/* A long mixed run of collectives on overlapping communicators, with delays, verified by closed
 * forms:
 *
 *     soak COLLECTIVES SEED THREADS [POSTS]
 *
 * Every thread has its own communicators: two of all ranks, the ranks reversed, halves, overlapping
 * pairs. All ranks draw one script from the seed; non-members skip a step, so ranks run ahead of
 * one another as far as the library lets them. Now and then a step is an allreduce followed by a
 * row of reduces, in which the leaves run ahead of ranks that are still reading. Contributions
 * depend on the step, so that a stale or early operand shows. Each rank delays itself at random, by
 * its own seed. Of a hundred steps POSTS (0) are nonblocking; a few of these are in flight at a
 * time, and each rank completes its own at random times and in random ways.
 */
#include "mpi_test.h"

#include <pthread.h>

#define ROW 12 /* more than a ring has slots by default */
#define ELEMENTS_MAX (64 * 1024 / 8)
#define THREADS_MAX 8
#define POSTED_MAX 6 /* under way at a time, of so many elements at most */
#define POSTED_ELEMENTS 200

enum { WORLD, DUP, REVERSED, HALF, PAIR_EVEN, PAIR_ODD, KINDS };

struct member {
    MPI_Comm comm; /* MPI_COMM_NULL: not one */
    int rank, size;
    uint64_t rank_sum; /* of the members' world ranks */
};

struct posted {
    MPI_Request request; /* MPI_REQUEST_NULL: none */
    const struct member *member;
    long step;
    size_t count; /* 0: no result to come */
    uint64_t send[POSTED_ELEMENTS], receive[POSTED_ELEMENTS];
};

struct worker {
    pthread_t thread;
    int index;
    long steps;
    uint64_t script, delays;
    struct member members[KINDS];
    uint64_t *send, *receive;
    struct posted posted[POSTED_MAX];
    struct own_counts counts;
};

static int world_rank, world_size;
static unsigned posts_of_hundred;

static unsigned draw(uint64_t *random, unsigned below)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(*random >> 33) % below;
}

/* Up to some 20 us of work, rarely a sleep that gives the processor away. */
static void delay(struct worker *worker)
{
    unsigned kind = draw(&worker->delays, 200);
    struct timespec pause = {0, 20000 + (long)draw(&worker->delays, 80000)};
    volatile unsigned work = 0;

    if (kind == 0)
        nanosleep(&pause, NULL);
    else if (kind < 40)
        for (unsigned limit = draw(&worker->delays, 20000); work < limit;)
            work++;
}

/* Contribution i of a world rank; its sum over members follows from size and rank_sum. */
static uint64_t term(long step, size_t i)
{
    return (uint64_t)step * UINT64_C(2654435761) + i;
}

static void contribute(uint64_t *send, long step, size_t count)
{
    for (size_t i = 0; i < count; i++)
        send[i] = term(step, i) + (uint64_t)(world_rank + 1) * (i + 3);
}

static void check_sum(const uint64_t *sum, const struct member *member, long step, size_t count)
{
    for (size_t i = 0; i < count; i++)
        REQUIRE(sum[i] == term(step, i) * (uint64_t)member->size +
                              (member->rank_sum + (uint64_t)member->size) * (i + 3));
}

static void reduce(struct worker *worker, const struct member *member, long step, size_t count,
                   int root)
{
    bool receives = member->rank == root;
    bool in_place = receives && step % 3 == 0;

    contribute(worker->send, step, count);
    if (in_place)
        memcpy(worker->receive, worker->send, count * sizeof *worker->receive);
    COUNTED(worker->counts.reduce,
            MPI_Reduce(in_place ? MPI_IN_PLACE : worker->send, receives ? worker->receive : NULL,
                       (int)count, MPI_UINT64_T, MPI_SUM, root, member->comm));
    /* The call has returned: the buffer is ours again. */
    if (!receives)
        memset(worker->send, 0xa5, count * sizeof *worker->send);
    else
        check_sum(worker->receive, member, step, count);
}

static void allreduce(struct worker *worker, const struct member *member, long step, size_t count)
{
    bool in_place = step % 3 == 0;

    contribute(worker->send, step, count);
    if (in_place)
        memcpy(worker->receive, worker->send, count * sizeof *worker->receive);
    COUNTED(worker->counts.allreduce,
            MPI_Allreduce(in_place ? MPI_IN_PLACE : worker->send, worker->receive, (int)count,
                          MPI_UINT64_T, MPI_SUM, member->comm));
    check_sum(worker->receive, member, step, count);
}

/* One of those under way, by this rank's own lot. */
static void complete(struct worker *worker, struct posted *posted)
{
    int done = 0;

    if (posted->request == MPI_REQUEST_NULL)
        return;
    for (unsigned tests = draw(&worker->delays, 4); tests > 0 && !done; tests--)
        MUST(MPI_Test(&posted->request, &done, MPI_STATUS_IGNORE));
    if (!done)
        MUST(MPI_Wait(&posted->request, MPI_STATUS_IGNORE));
    REQUIRE(posted->request == MPI_REQUEST_NULL);
    check_sum(posted->receive, posted->member, posted->step, posted->count);
}

static void post(struct worker *worker, const struct member *member, long step, unsigned kind,
                 size_t count, int root)
{
    struct posted *posted = &worker->posted[step % POSTED_MAX];
    bool receives = kind < 40 || member->rank == root;

    complete(worker, posted);
    count = count % POSTED_ELEMENTS + 1;
    posted->member = member;
    posted->step = step;
    posted->count = kind < 80 && receives ? count : 0;
    contribute(posted->send, step, count);
    if (kind < 40)
        MUST(MPI_Iallreduce(posted->send, posted->receive, (int)count, MPI_UINT64_T, MPI_SUM,
                            member->comm, &posted->request));
    else if (kind < 80)
        MUST(MPI_Ireduce(posted->send, posted->receive, (int)count, MPI_UINT64_T, MPI_SUM, root,
                         member->comm, &posted->request));
    else
        MUST(MPI_Ibarrier(member->comm, &posted->request));
}

static void complete_all(struct worker *worker)
{
    MPI_Request requests[POSTED_MAX];
    MPI_Status statuses[POSTED_MAX];

    for (int i = 0; i < POSTED_MAX; i++)
        requests[i] = worker->posted[i].request;
    MUST(MPI_Waitall(POSTED_MAX, requests, statuses));
    for (int i = 0; i < POSTED_MAX; i++) {
        struct posted *posted = &worker->posted[i];

        if (posted->request != MPI_REQUEST_NULL)
            check_sum(posted->receive, posted->member, posted->step, posted->count);
        posted->request = MPI_REQUEST_NULL;
    }
}

/* In a line, in a slot, in several, in chunks: small ones most of the time. */
static size_t draw_count(struct worker *worker)
{
    unsigned kind = draw(&worker->script, 100);

    return 1 + draw(&worker->script, kind < 60   ? 6
                                     : kind < 85 ? 128
                                     : kind < 97 ? 1024
                                                 : ELEMENTS_MAX);
}

/* One step of the script; how many collectives it is. All draw alike, members or not. */
static long run_step(struct worker *worker, long step)
{
    const struct member *member = &worker->members[draw(&worker->script, KINDS)];
    unsigned kind = draw(&worker->script, 100);
    unsigned root = draw(&worker->script, 1 << 16);
    size_t count = draw_count(worker);
    int row = kind == 0 ? ROW : 0;
    bool posts = posts_of_hundred > 0 && draw(&worker->script, 100) < posts_of_hundred;

    if (member->comm == MPI_COMM_NULL)
        return 1 + row;
    delay(worker);
    if (draw(&worker->delays, 10) == 0)
        complete(worker, &worker->posted[draw(&worker->delays, POSTED_MAX)]);
    if (posts)
        post(worker, member, step, kind, count, (int)(root % (unsigned)member->size));
    else if (kind < 40)
        allreduce(worker, member, step, count);
    else if (kind < 80)
        reduce(worker, member, step, count, (int)(root % (unsigned)member->size));
    else
        COUNTED(worker->counts.barrier, MPI_Barrier(member->comm));
    for (int i = 0; i < row; i++)
        reduce(worker, member, step + 1 + i, count, (int)(root % (unsigned)member->size));
    return 1 + row;
}

static void *work(void *argument)
{
    struct worker *worker = argument;

    for (long step = 0; step < worker->steps;)
        step += run_step(worker, step);
    complete_all(worker);
    return NULL;
}

static void join(struct member *member, int colour, int key)
{
    uint64_t mine = (uint64_t)world_rank;

    member->comm = MPI_COMM_NULL;
    MUST(MPI_Comm_split(MPI_COMM_WORLD, colour < 0 ? MPI_UNDEFINED : colour, key, &member->comm));
    if (member->comm == MPI_COMM_NULL)
        return;
    MUST(MPI_Comm_rank(member->comm, &member->rank));
    MUST(MPI_Comm_size(member->comm, &member->size));
    MUST(PMPI_Allreduce(&mine, &member->rank_sum, 1, MPI_UINT64_T, MPI_SUM, member->comm));
}

/* The first collective of a communicator is MPICH's own, which crashes in some (4.0.2, a reduce
 * with MPI_IN_PLACE at another root than 0). */
static void first_call(struct worker *worker, const struct member *member)
{
    if (member->comm != MPI_COMM_NULL)
        COUNTED(worker->counts.barrier, MPI_Barrier(member->comm));
}

static void start(struct worker *worker, int index, long steps, uint64_t seed)
{
    int shifted = world_rank + 1;

    worker->index = index;
    worker->steps = steps;
    worker->script = seed + (uint64_t)index;
    worker->delays = seed * 31 + (uint64_t)(index * world_size + world_rank);
    for (int i = 0; i < POSTED_MAX; i++)
        worker->posted[i].request = MPI_REQUEST_NULL;
    worker->send = malloc(ELEMENTS_MAX * sizeof *worker->send);
    worker->receive = malloc(ELEMENTS_MAX * sizeof *worker->receive);
    REQUIRE(worker->send != NULL && worker->receive != NULL);
    join(&worker->members[WORLD], 0, world_rank);
    /* The first thread works on MPI_COMM_WORLD itself. */
    if (index == 0) {
        MUST(MPI_Comm_free(&worker->members[WORLD].comm));
        worker->members[WORLD].comm = MPI_COMM_WORLD;
    }
    join(&worker->members[DUP], 0, world_rank);
    join(&worker->members[REVERSED], 0, -world_rank);
    join(&worker->members[HALF], world_rank < (world_size + 1) / 2, world_rank);
    join(&worker->members[PAIR_EVEN], world_rank / 2, world_rank);
    join(&worker->members[PAIR_ODD], world_rank == 0 ? -1 : shifted / 2, world_rank);
    for (int kind = 0; kind < KINDS; kind++)
        first_call(worker, &worker->members[kind]);
}

static void finish(struct worker *worker, struct own_counts *total)
{
    for (int kind = 0; kind < KINDS; kind++)
        if (worker->members[kind].comm != MPI_COMM_NULL &&
            worker->members[kind].comm != MPI_COMM_WORLD)
            MUST(MPI_Comm_free(&worker->members[kind].comm));
    total->barrier += worker->counts.barrier;
    total->reduce += worker->counts.reduce;
    total->allreduce += worker->counts.allreduce;
    free(worker->send);
    free(worker->receive);
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS_MAX];
    struct own_counts total = {0};
    int threads, provided;

    REQUIRE(argc == 4 || argc == 5);
    threads = atoi(argv[3]);
    posts_of_hundred = argc == 5 ? (unsigned)atoi(argv[4]) : 0;
    REQUIRE(threads >= 1 && threads <= THREADS_MAX);
    MUST(MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                         &provided));
    REQUIRE(threads == 1 || provided == MPI_THREAD_MULTIPLE);
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &world_rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &world_size));
    for (int i = 0; i < threads; i++)
        start(&workers[i], i, atol(argv[1]) / threads, strtoul(argv[2], NULL, 10));
    for (int i = 1; i < threads; i++)
        REQUIRE(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    work(&workers[0]);
    for (int i = 1; i < threads; i++)
        REQUIRE(pthread_join(workers[i].thread, NULL) == 0);
    for (int i = 0; i < threads; i++)
        finish(&workers[i], &total);
    MUST(MPI_Finalize());
    print_counts(world_rank, &total);
    return 0;
}
