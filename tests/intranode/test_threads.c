/* Tests the node's algorithms with a thread for each rank: the slot ring, the climb, the release,
 * the chunks and the choice as they really run. Under ThreadSanitizer (tests/system/threads.sh)
 * the test shows that the memory orders are enough; the results show it on this machine's
 * processor.
 *
 * A script of instances is drawn from a seed. At some instances the ranks propose different
 * methods and run the one chosen, or skip the instance. The operation is a hash of (left, right),
 * which distinguishes every association and order; its operands follow from instance, rank and
 * index.
 */
#include "intranode/node.h"
#include "lib/reference.h"
#include "lib/unit.h"

#include <pthread.h>
#include <sched.h>

#define RANKS_MAX 4
#define DEPTH 2 /* so that a slot is soon wanted again */
#define SLOT_BYTES 256
#define COUNT_MAX 40000
#define INSTANCES 10000
/* Proposed in place of a method. */
#define SKIP 3u

struct instance {
    enum sg_operation operation;
    struct sg_shape shape;
    int root;
    size_t count;
    bool chooses; /* else all know the method */
    enum sg_node_method method;
};

struct rank {
    pthread_t thread;
    struct sg_node node;
    const struct instance *script;
    uint64_t *send, *receive;
    uint64_t *operands[RANKS_MAX], *expected;
    uint64_t random;
    long wrong, skipped, followed, stalls;
};

static uint64_t mix(uint64_t left, uint64_t right)
{
    uint64_t value = left * UINT64_C(0x9e3779b97f4a7c15) + right;

    return (value ^ value >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + 1;
}

static unsigned draw(uint64_t *random, unsigned below)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(*random >> 33) % below;
}

static void fold(void *context, const void *left, const void *right, void *out, size_t count)
{
    const uint64_t *a = left;
    const uint64_t *b = right;
    uint64_t *c = out;

    for (size_t i = 0; i < count; i++)
        c[i] = mix(a[i], b[i]);
}

static void fold_reference(const void *left, void *right, size_t count, void *context)
{
    fold(NULL, left, right, right, count);
}

static void contribute(int instance, int rank, uint64_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = mix((uint64_t)instance << 8 | (uint64_t)rank, i);
}

static void write_script(struct instance *script, int ranks, uint64_t seed)
{
    uint64_t random = seed;

    for (int i = 0; i < INSTANCES; i++) {
        struct instance *what = &script[i];
        unsigned size = draw(&random, 100);

        /* Mostly reduces, mostly to rank 0: the others run ahead. */
        what->operation = draw(&random, 3) > 0
                              ? SG_OPERATION_REDUCE
                              : (enum sg_operation)draw(&random, SG_OPERATION_COUNT);
        what->method = (enum sg_node_method)draw(&random, 3);
        what->chooses = draw(&random, 4) == 0;
        what->shape.kind = draw(&random, 2) ? SG_SHAPE_DOUBLING : SG_SHAPE_BINOMIAL;
        what->shape.size = ranks;
        what->shape.root =
            what->shape.kind == SG_SHAPE_BINOMIAL ? (int)draw(&random, (unsigned)ranks) : 0;
        what->root = draw(&random, 4) > 0 ? 0 : (int)draw(&random, (unsigned)ranks);
        if (!sg_operation_has_root(what->operation))
            what->root = -1;
        /* In the line, in the slot, in several slots, in several chunks. */
        what->count = 1 + draw(&random, size < 50   ? 6
                                        : size < 80 ? 32
                                        : size < 98 ? 100
                                                    : COUNT_MAX);
        if (what->operation == SG_OPERATION_BCAST)
            what->method = SG_NODE_BROADCAST;
        if (what->operation == SG_OPERATION_BARRIER) {
            what->count = 0;
            if (what->method == SG_NODE_CHUNKS)
                what->method = SG_NODE_HANDOFF;
        }
    }
}

/* Chooses this rank's method together with all ranks. False: the rank skips the instance. */
static bool choose(struct rank *rank, const struct instance *what, enum sg_node_method *method)
{
    bool moves = what->operation != SG_OPERATION_BARRIER;
    uint32_t own = draw(&rank->random, SKIP + 1);
    uint32_t chosen;
    int chooser;

    if (own == SG_NODE_CHUNKS && !moves)
        own = SG_NODE_FLAT;
    while (!sg_node_choose(&rank->node, own, &chosen, &chooser))
        sched_yield();
    rank->followed += chosen != own;
    if (chosen == SKIP) {
        sg_node_skip(&rank->node);
        rank->skipped++;
        return false;
    }
    *method =
        what->operation == SG_OPERATION_BCAST ? SG_NODE_BROADCAST : (enum sg_node_method)chosen;
    return true;
}

static void check(struct rank *rank, const struct instance *what, int index)
{
    const struct reference reference = {fold_reference,   NULL, sizeof(uint64_t),
                                        sizeof(uint64_t), true, true};
    const void *operands[RANKS_MAX];

    if (what->operation == SG_OPERATION_BCAST) {
        contribute(index, what->root, rank->expected, what->count);
        rank->wrong +=
            memcmp(rank->receive, rank->expected, what->count * sizeof *rank->receive) != 0;
        return;
    }
    for (int r = 0; r < what->shape.size; r++) {
        contribute(index, r, rank->operands[r], what->count);
        operands[r] = rank->operands[r];
    }
    if (what->shape.kind == SG_SHAPE_DOUBLING)
        reference_doubling(&reference, what->shape.size, operands, what->count, rank->expected);
    else
        reference_binomial(&reference, what->shape.size, operands, what->count, what->shape.root,
                           rank->expected);
    rank->wrong += memcmp(rank->receive, rank->expected, what->count * sizeof *rank->receive) != 0;
}

static void run_instance(struct rank *rank, int index)
{
    const struct instance *what = &rank->script[index];
    bool is_root = what->root == rank->node.rank;
    bool receives = what->operation == SG_OPERATION_BCAST
                        ? !is_root
                        : what->operation == SG_OPERATION_ALLREDUCE || is_root;
    struct sg_node_call call = {.operation = what->operation,
                                .method = what->method,
                                .shape = what->shape,
                                .root = what->root,
                                .send = rank->send,
                                .receive = receives ? rank->receive : NULL,
                                .count = what->count,
                                .element_bytes = sizeof(uint64_t),
                                .fold = fold,
                                .arrival_ns = (uint64_t)index + 1,
                                .site_module = "module"};
    struct sg_node_op op;
    enum sg_node_step step;

    if (what->chooses && !choose(rank, what, &call.method))
        return;
    contribute(index, rank->node.rank, rank->send, what->count);
    op.call = call;
    sg_node_begin(&op, &rank->node);
    while ((step = sg_node_poll(&op)) == SG_NODE_WAIT) {
        /* Reads what a waiter inspects for its messages, while other ranks write it. */
        rank->wrong += sg_node_disagrees(&op);
        for (unsigned pause = draw(&rank->random, 8); pause > 4; pause--)
            sched_yield();
        sched_yield();
    }
    rank->wrong += step != SG_NODE_DONE;
    rank->stalls += op.stalls;
    if (receives)
        check(rank, what, index);
    /* The call has returned: nobody may look at the operand any more. */
    memset(rank->send, 0xa5, what->count * sizeof *rank->send);
}

static void *run_rank(void *argument)
{
    struct rank *rank = argument;

    for (int i = 0; i < INSTANCES; i++) {
        run_instance(rank, i);
    }
    return NULL;
}

static void *room(size_t size_bytes)
{
    void *memory = aligned_alloc(64, (size_bytes + 63) / 64 * 64);

    ASSERT(memory != NULL);
    memset(memory, 0, size_bytes);
    return memory;
}

static void start_rank(struct rank *rank, void *segment, struct sg_pool_rank **places, int number,
                       const struct instance *script)
{
    ASSERT(sg_node_attach(&rank->node, segment, number, 7));
    rank->node.pool = places;
    rank->script = script;
    rank->random = (uint64_t)number + 100;
    rank->send = room(COUNT_MAX * sizeof(uint64_t));
    rank->receive = room(COUNT_MAX * sizeof(uint64_t));
    rank->expected = room(COUNT_MAX * sizeof(uint64_t));
    for (int i = 0; i < rank->node.ranks; i++)
        rank->operands[i] = room(COUNT_MAX * sizeof(uint64_t));
}

static void finish_rank(struct rank *rank)
{
    for (int i = 0; i < rank->node.ranks; i++)
        free(rank->operands[i]);
    free(rank->send);
    free(rank->receive);
    free(rank->expected);
}

static void run(int ranks)
{
    static struct instance script[INSTANCES];
    struct sg_pool_rank *places[RANKS_MAX];
    struct rank all[RANKS_MAX] = {0};
    struct sg_pool_rank *pool = room((size_t)ranks * sizeof *pool);
    void *segment = room(sg_node_bytes(ranks, DEPTH, SLOT_BYTES));
    long wrong = 0, skipped = 0, followed = 0, stalls = 0;

    write_script(script, ranks, (uint64_t)ranks);
    sg_node_format(segment, ranks, DEPTH, SLOT_BYTES, 7);
    for (int i = 0; i < ranks; i++) {
        places[i] = &pool[i];
        start_rank(&all[i], segment, places, i, script);
    }
    for (int i = 0; i < ranks; i++)
        ASSERT(pthread_create(&all[i].thread, NULL, run_rank, &all[i]) == 0);
    for (int i = 0; i < ranks; i++) {
        ASSERT(pthread_join(all[i].thread, NULL) == 0);
        wrong += all[i].wrong;
        skipped += all[i].skipped;
        followed += all[i].followed;
        stalls += all[i].stalls;
        finish_rank(&all[i]);
    }
    EXPECT(wrong == 0);
    /* All skip the same instances, and the script has come to what it is about. */
    EXPECT(skipped % ranks == 0, skipped > 0 && followed > 0);
    printf("# %d ranks: %ld instances skipped, %ld choices followed, %ld waits for a slot\n", ranks,
           skipped / ranks, followed, stalls);
    free(segment);
    free(pool);
}

TEST("two threads as ranks get the reference's results")
{
    run(2);
}

TEST("three threads as ranks get the reference's results")
{
    run(3);
}

TEST("four threads as ranks get the reference's results")
{
    run(4);
}
