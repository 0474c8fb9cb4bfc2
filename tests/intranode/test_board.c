/* Tests the exchange in shared memory between forked processes, as ranks of one machine or of two
 * whose leaders use sockets. */
#include "intranode/board.h"

#include "lib/exchange_fork.h"
#include "lib/unit.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { RANKS = 5, TIMES = 30, COMBINED = 150 };

/* The machine of each rank. */
static const int one_machine[RANKS] = {0}, two_machines[RANKS] = {0, 1, 1, 0, 1};

struct world {
    const int *machine_of;
    char *segments[2];
    atomic_int *idled; /* calls of idle on rank 0 */
    int (*run)(const struct sg_exchange *exchange, const struct world *world);
};

static const struct world *current;

static void idle(void)
{
    atomic_fetch_add(current->idled, 1);
}

static void *share(size_t size_bytes)
{
    void *memory =
        mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return memory != MAP_FAILED ? memory : NULL;
}

static int run_rank(const struct sg_exchange *sockets, void *context)
{
    const struct world *world = current = context;
    int ranks[RANKS], rank = sockets->rank, machine = world->machine_of[rank];
    struct exchange_fork between = *(const struct exchange_fork *)sockets->context;
    struct sg_board board = {
        .segment = world->segments[machine], .ranks = ranks, .idle = idle, .all = *sockets};
    struct sg_exchange exchange;

    for (int other = 0; other < RANKS; other++) {
        if (world->machine_of[other] != machine)
            continue;
        if (other == rank)
            board.number = board.count;
        ranks[board.count++] = other;
    }
    between.exchange.context = &between;
    between.exchange.size = 2;
    board.between = world->machine_of == one_machine ? sg_exchange_serial : between.exchange;
    sg_board_exchange(&board, &exchange);
    return world->run(&exchange, world);
}

static int runs(const int *machine_of,
                int (*run)(const struct sg_exchange *exchange, const struct world *world))
{
    size_t size_bytes = sg_board_bytes(RANKS);
    struct world world = {
        machine_of, {share(size_bytes), share(size_bytes)}, share(sizeof(atomic_int)), run};
    int good = world.segments[0] != NULL && world.segments[1] != NULL && world.idled != NULL &&
               exchange_fork(RANKS, run_rank, &world);

    munmap(world.segments[0], size_bytes);
    munmap(world.segments[1], size_bytes);
    munmap(world.idled, sizeof(atomic_int));
    return good;
}

static unsigned char byte_of(int rank, size_t at)
{
    return (unsigned char)(at * 31 + (size_t)rank * 7 + (at >> 8));
}

/* No bytes, one piece, a byte more, several pieces. */
static size_t size_of(int rank, int time)
{
    static const size_t sizes[] = {0, 512, 513, 5000, 3};

    return sizes[(rank + time) % 5];
}

static int gather(const struct sg_exchange *exchange, int time)
{
    unsigned char own[5000], *at;
    size_t sizes[RANKS];
    void *all = NULL;
    int wrong = 0;

    for (size_t i = 0; i < sizeof own; i++)
        own[i] = byte_of(exchange->rank, i);
    if (exchange->gather(exchange->context, own, size_of(exchange->rank, time), &all, sizes) !=
        SG_OK)
        return 1;
    at = all;
    for (int rank = 0; rank < RANKS && exchange->rank == 0; rank++) {
        wrong |= sizes[rank] != size_of(rank, time);
        for (size_t i = 0; i < sizes[rank]; i++)
            wrong |= *at++ != byte_of(rank, i);
    }
    free(all);
    return wrong;
}

static int broadcast(const struct sg_exchange *exchange, size_t size_bytes)
{
    unsigned char *data = malloc(size_bytes + 1);
    int wrong = 0;

    for (size_t i = 0; i < size_bytes; i++)
        data[i] = exchange->rank == 0 ? byte_of(0, i) : 0;
    wrong = exchange->broadcast(exchange->context, data, size_bytes) != SG_OK;
    for (size_t i = 0; i < size_bytes; i++)
        wrong |= data[i] != byte_of(0, i);
    free(data);
    return wrong;
}

/* More values than a round takes. */
static int combine(const struct sg_exchange *exchange, enum sg_combination how)
{
    uint64_t values[COMBINED], rank = (uint64_t)exchange->rank;
    int wrong;

    for (uint64_t i = 0; i < COMBINED; i++)
        values[i] = i + (rank + i) % RANKS;
    wrong = sg_exchange_combine(exchange, how, values, COMBINED) != SG_OK;
    for (uint64_t i = 0; i < COMBINED; i++)
        wrong |= values[i] != (how == SG_COMBINE_SUM ? RANKS * i + RANKS * (RANKS - 1) / 2 : i);
    return wrong;
}

static int exchange_all(const struct sg_exchange *exchange, const struct world *world)
{
    for (int time = 0; time < TIMES; time++) {
        int first = 99;

        if (gather(exchange, time) || broadcast(exchange, (size_t)time * 20000) ||
            combine(exchange, SG_COMBINE_LEAST) || combine(exchange, SG_COMBINE_SUM) ||
            sg_exchange_agree(exchange, exchange->rank != time % 7, &first) != SG_OK ||
            first != (time % 7 < RANKS ? time % 7 : -1))
            return 1;
    }
    return 0;
}

TEST("ranks of one machine exchange data of any size in shared memory")
{
    EXPECT(runs(one_machine, exchange_all));
}

TEST("leaders of two machines exchange their ranks' data")
{
    EXPECT(runs(two_machines, exchange_all));
}

static int agree_once(const struct sg_exchange *exchange, const struct world *world)
{
    int first;

    return sg_exchange_agree(exchange, 1, &first) != SG_OK || first != -1 ||
           ((const struct sg_board *)exchange->context)->round != 1;
}

TEST("an agreement takes one round")
{
    EXPECT(runs(one_machine, agree_once));
    EXPECT(runs(two_machines, agree_once));
}

/* The last rank waits until rank 0 has served others several times. */
static int serve(const struct sg_exchange *exchange, const struct world *world)
{
    while (exchange->rank == RANKS - 1 && atomic_load(world->idled) < 3)
        sched_yield();
    return broadcast(exchange, 8);
}

TEST("a rank that waits long for another drives MPICH meanwhile")
{
    EXPECT(runs(one_machine, serve));
}

static int fail(const struct sg_exchange *exchange, const struct world *world)
{
    char own = 1;
    void *all = NULL;
    size_t sizes[RANKS];

    /* The leader of the second machine loses its socket. */
    if (exchange->rank == 1)
        shutdown(((struct exchange_fork *)((struct sg_board *)exchange->context)->all.context)
                     ->sockets[0],
                 SHUT_RDWR);
    return exchange->gather(exchange->context, &own, 1, &all, sizes) == SG_OK;
}

TEST("if leaders cannot reach each other the exchange fails on all ranks of their machines")
{
    EXPECT(runs(two_machines, fail));
}
