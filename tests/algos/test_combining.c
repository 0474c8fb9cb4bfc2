/* Tests the node level against direct emulation: ranks arrive in random orders, each as often as
 * it may. */
#include "algos/associations.h"
#include "algos/partial_results.h"
#include "lib/unit.h"

#define INSTANCES 20
#define RANKS_MAX 17

struct node {
    struct sg_combining *combining;
    uint32_t ranks, depth;
    uint64_t slots[RANKS_MAX * SG_COMBINING_DEPTH_MAX];
    uint32_t arrived[RANKS_MAX]; /* instances */
    uint32_t waits[RANKS_MAX];   /* for the end of this one; 0: does not */
    uint64_t contribution[INSTANCES + 1];
    uint32_t calling, completed; /* the CALL under way, 0 for none; the last complete */
    uint64_t random;
    int full;
};

static uint32_t draw(struct node *node, uint32_t limit)
{
    node->random = node->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((node->random >> 33) % limit);
}

static void open_node(struct node *node, uint32_t ranks, uint32_t depth, uint64_t seed)
{
    memset(node, 0, sizeof *node);
    node->ranks = ranks;
    node->depth = depth;
    node->random = seed;
    node->combining = malloc(sg_combining_bytes(ranks, depth));
    ASSERT(node->combining != NULL);
    sg_combining_init(node->combining, ranks, depth);
}

/* Carries a step out; the endpoint's contribution, should it be the last. */
static uint64_t carry_out(struct node *node, uint32_t rank, const struct sg_combining_step *step)
{
    uint64_t own = mini_operand((int)rank, step->seq, 0);

    for (uint32_t i = 0; i < step->folds; i++) {
        uint64_t partner = node->slots[step->fold[i].partner];

        own = step->fold[i].right ? mini_fold(0, partner, own) : mini_fold(0, own, partner);
        node->slots[step->slot] = own;
    }
    if (step->store)
        node->slots[step->slot] = own;
    return own;
}

static void start_call(struct node *node, uint32_t seq)
{
    ASSERT(node->calling == 0, seq == node->completed + 1);
    for (uint32_t rank = 0; rank < node->ranks; rank++)
        ASSERT(node->arrived[rank] >= seq);
    node->calling = seq;
}

static void arrive(struct node *node, uint32_t rank, enum sg_operation operation, int root)
{
    struct sg_combining_step step;
    bool last = true;

    sg_combining_arrive(node->combining, rank, operation, root, &step);
    ASSERT(step.seq == node->arrived[rank] + 1,
           (step.result == SG_COMBINING_FULL) == (step.seq - node->completed > node->depth));
    if (step.result == SG_COMBINING_FULL) {
        node->full++;
        return;
    }
    node->arrived[rank]++;
    uint64_t own = carry_out(node, rank, &step);
    for (uint32_t other = 0; other < node->ranks; other++)
        last = last && node->arrived[other] >= step.seq;
    if (last)
        node->contribution[step.seq] = own;
    ASSERT((step.result == SG_COMBINING_LEAVES) ==
           (!last && operation == SG_OPERATION_REDUCE && root != (int)rank));
    if (step.result != SG_COMBINING_LEAVES)
        node->waits[rank] = step.seq;
    ASSERT((step.result == SG_COMBINING_CALLS) == last);
    if (last)
        start_call(node, step.seq);
}

/* The first rank, or the root, makes the call; a rank that arrives after the end leaves at once. */
static void arrive_at_broadcast(struct node *node, uint32_t rank, int root)
{
    uint32_t seq = node->arrived[rank] + 1, least = seq;
    struct sg_combining_step step;
    bool first = true, calls;

    for (uint32_t other = 0; other < node->ranks; other++) {
        first = first && node->arrived[other] < seq;
        least = node->arrived[other] < least ? node->arrived[other] : least;
    }
    calls = root >= 0 ? root == (int)rank : first;
    sg_combining_arrive(node->combining, rank, SG_OPERATION_BCAST, root, &step);
    ASSERT(step.seq == seq);
    EXPECT(step.folds == 0);
    ASSERT((step.result == SG_COMBINING_FULL) == (seq - least > node->depth));
    if (step.result == SG_COMBINING_FULL) {
        node->full++;
        return;
    }
    node->arrived[rank] = seq;
    ASSERT((step.result == SG_COMBINING_LEAVES) == (seq <= node->completed),
           (step.result == SG_COMBINING_CALLS) == (seq > node->completed && calls));
    if (step.result != SG_COMBINING_LEAVES)
        node->waits[rank] = seq;
    if (step.result != SG_COMBINING_CALLS)
        return;
    ASSERT(node->calling == 0, seq == node->completed + 1);
    node->calling = seq;
}

static void complete(struct node *node)
{
    for (uint32_t rank = 0; rank < node->ranks; rank++) {
        if (node->waits[rank] == node->calling)
            node->waits[rank] = 0;
    }
    node->completed = node->calling;
    node->calling = 0;
    sg_combining_complete(node->combining);
}

static void run(struct node *node, enum sg_operation operation, int root)
{
    while (node->completed < INSTANCES) {
        uint32_t rank = draw(node, node->ranks + 1);

        if (rank == node->ranks) {
            if (node->calling != 0 && draw(node, 4) == 0)
                complete(node);
        } else if (node->waits[rank] == 0 && node->arrived[rank] < INSTANCES) {
            if (operation == SG_OPERATION_BCAST)
                arrive_at_broadcast(node, rank, root);
            else
                arrive(node, rank, operation, root);
        }
    }
    for (uint32_t seq = 1; operation != SG_OPERATION_BCAST && seq <= INSTANCES; seq++) {
        struct association of = {.size = (int)node->ranks, .seq = seq};

        ASSERT(node->contribution[seq] == association_doubling(&of));
    }
    free(node->combining);
}

TEST("reduces keep their association in every order, and their first arrivers leave")
{
    int full = 0;

    for (uint32_t ranks = 1; ranks <= RANKS_MAX; ranks++) {
        for (uint64_t seed = 0; seed < 60; seed++) {
            struct node node;

            open_node(&node, ranks, 1 + (uint32_t)(seed % 8), seed);
            run(&node, SG_OPERATION_REDUCE, seed % 2 ? -1 : (int)(seed % ranks));
            full += node.full;
        }
    }
    EXPECT(full > 0);
}

TEST("allreduces keep their association in every order, and all ranks wait")
{
    for (uint32_t ranks = 1; ranks <= RANKS_MAX; ranks++) {
        for (uint64_t seed = 0; seed < 60; seed++) {
            struct node node;

            open_node(&node, ranks, 1 + (uint32_t)(seed % 8), seed);
            run(&node, SG_OPERATION_ALLREDUCE, -1);
        }
    }
}

TEST("the root or the first arriver feeds a broadcast; late ranks find its data")
{
    int full = 0;

    for (uint32_t ranks = 1; ranks <= RANKS_MAX; ranks++) {
        for (uint64_t seed = 0; seed < 60; seed++) {
            struct node node;

            open_node(&node, ranks, 1 + (uint32_t)(seed % 8), seed);
            run(&node, SG_OPERATION_BCAST, seed % 2 ? -1 : (int)(seed % ranks));
            full += node.full;
        }
    }
    EXPECT(full > 0);
}

TEST("a node without ranks or memory, or with too many ranks, is refused")
{
    EXPECT(sg_combining_bytes(0, 1) == 0, sg_combining_bytes(1, 0) == 0,
           sg_combining_bytes(SG_COMBINING_RANKS_MAX + 1, 1) == 0,
           sg_combining_bytes(1, SG_COMBINING_DEPTH_MAX + 1) == 0,
           sg_combining_bytes(SG_COMBINING_RANKS_MAX, SG_COMBINING_DEPTH_MAX) > 0);
}

/* The deepest climb there may be writes within its step. */
TEST("the deepest climb fits in one step")
{
    uint32_t ranks = SG_COMBINING_RANKS_MAX - 1, folds = 0;
    struct sg_combining *combining = malloc(sg_combining_bytes(ranks, 1));
    struct sg_combining_step step;

    ASSERT(combining != NULL);
    sg_combining_init(combining, ranks, 1);
    for (uint32_t rank = ranks; rank-- > 0;) {
        sg_combining_arrive(combining, rank, SG_OPERATION_BARRIER, -1, &step);
        folds += step.folds;
        ASSERT(step.folds <= SG_COMBINING_FOLDS_MAX);
    }
    EXPECT(step.result == SG_COMBINING_CALLS, folds == ranks - 1);
    free(combining);
}
