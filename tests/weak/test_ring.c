/* Tests the ring of a node (shim/intranode) under the memory model: its lines, credits, meetings,
 * stages and choices, with two to four ranks and two slots. Every rank makes the same calls;
 * each gets its expected result, no operand is torn, and no rank waits for ever. */
#include "intranode/node.h"
#include "lib/unit.h"
#include "weak/sleepers.h"
#include "weak/weak.h"

#define RANKS_MAX 4
#define DEPTH 2
#define SLOT_BYTES 64
#define CALLS_MAX 5
#define WORDS_MAX 32
#define SEGMENT_BYTES 8192

struct call {
    enum sg_operation operation;
    enum sg_node_method method;
    int root;
    int count; /* words of 8 bytes */
    int outer; /* ranks of a group of groups of one rank each; 0: groups of two ranks */
};

static _Alignas(64) unsigned char segment[SEGMENT_BYTES];
static struct sg_pool_rank pool[RANKS_MAX];
static struct sg_pool_rank *pools[RANKS_MAX];
static struct sg_node nodes[RANKS_MAX];
static struct sg_node_op ops[RANKS_MAX];
static uint64_t sent[RANKS_MAX][CALLS_MAX][WORDS_MAX], received[RANKS_MAX][CALLS_MAX][WORDS_MAX];
static unsigned char scratch[RANKS_MAX][RANKS_MAX * SG_NODE_READ_BYTES];
static struct sg_node_access accesses[RANKS_MAX];

/* Calls of the scenario under way. */
static const struct call *calls;
static int ranks, call_count;
static int failing; /* the rank that reaches nobody else's memory; -1 */

static bool fails(const void *context)
{
    return failing >= 0 && context == &accesses[failing];
}

static bool read_memory(void *context, int rank, uint64_t address, void *to, size_t bytes)
{
    if (fails(context))
        return false;
    weak_copy(to, (const void *)(uintptr_t)address, bytes);
    return true;
}

static bool write_memory(void *context, int rank, uint64_t address, const void *from, size_t bytes)
{
    if (fails(context))
        return false;
    weak_copy((void *)(uintptr_t)address, from, bytes);
    return true;
}

static uint64_t operand(int call, int rank, int word)
{
    return (uint64_t)(1 + call) << 16 | (uint64_t)(1 + word) << 8 | UINT64_C(1) << rank;
}

static void fold(void *context, const void *left, const void *right, void *out, size_t count)
{
    uint64_t a[WORDS_MAX], b[WORDS_MAX];

    weak_copy(a, left, count * 8);
    weak_copy(b, right, count * 8);
    for (size_t i = 0; i < count; i++)
        a[i] += b[i];
    weak_copy(out, a, count * 8);
}

static void set_up(int ranks_wanted, int count, const struct call *wanted)
{
    ranks = ranks_wanted;
    call_count = count;
    calls = wanted;
    memset(segment, 0, sizeof segment);
    memset(pool, 0, sizeof pool);
    memset(received, 0, sizeof received);
    memset(ops, 0, sizeof ops);
    sg_node_format(segment, ranks, DEPTH, SLOT_BYTES, 1);
    for (int rank = 0; rank < ranks; rank++) {
        pools[rank] = &pool[rank];
        accesses[rank] =
            (struct sg_node_access){read_memory, write_memory, &accesses[rank], scratch[rank]};
        sg_node_attach(&nodes[rank], segment, rank, 1);
        nodes[rank].pool = pools;
        nodes[rank].access = &accesses[rank];
        for (int call = 0; call < count; call++) {
            for (int word = 0; word < WORDS_MAX; word++)
                sent[rank][call][word] = operand(call, rank, word);
        }
    }
}

static bool has_left(void *context)
{
    int rank = (int)(intptr_t)context;
    enum sg_node_step step = sg_node_poll(&ops[rank]);

    WEAK_CHECK(step != SG_NODE_MISMATCH);
    return step == SG_NODE_DONE;
}

static void check_result(int call, int rank)
{
    uint64_t result[WORDS_MAX];

    weak_copy(result, received[rank][call], (size_t)calls[call].count * 8);
    for (int word = 0; word < calls[call].count; word++) {
        uint64_t wanted = 0;

        for (int other = 0; other < ranks; other++) {
            if (calls[call].operation != SG_OPERATION_BCAST || other == calls[call].root)
                wanted += operand(call, other, word);
        }
        WEAK_CHECK(result[word] == wanted);
    }
}

static void run_call(int rank, int number, bool sleeps)
{
    const struct call *each = &calls[number];
    bool receives = each->operation == SG_OPERATION_ALLREDUCE ||
                    (each->operation == SG_OPERATION_BCAST) == (each->root != rank);
    struct sg_node_call call = {.operation = each->operation,
                                .method = each->method,
                                .shape = {SG_SHAPE_DOUBLING, ranks, 0},
                                .sizes = {each->outer > 0 ? 1 : 2, each->outer},
                                .root = each->root,
                                .send = each->count > 0 ? sent[rank][number] : NULL,
                                .receive =
                                    each->count > 0 && receives ? received[rank][number] : NULL,
                                .count = (size_t)each->count,
                                .element_bytes = each->count > 0 ? 8 : 0,
                                .fold = fold,
                                .root_writes = true};

    ops[rank].call = call;
    sg_node_begin(&ops[rank], &nodes[rank]);
    if (sleeps)
        sleepers_complete(&ops[rank]);
    else
        weak_await(has_left, (void *)(intptr_t)rank);
    if (call.receive != NULL)
        check_result(number, rank);
}

static void run(int rank)
{
    for (int number = 0; number < call_count; number++)
        run_call(rank, number, false);
}

/* A rank that cannot go on sleeps until another one wakes it. */
static void run_asleep(int rank)
{
    for (int number = 0; number < call_count; number++)
        run_call(rank, number, true);
}

/* ---- choices ---- */

/* Each rank brings its own number as its choice, and calls by the method chosen; of every other
 * instance no rank makes a call. */
static uint32_t chosen[RANKS_MAX][CALLS_MAX];
static int choosers[RANKS_MAX][CALLS_MAX];

struct choosing {
    int rank, number;
};

static bool has_chosen(void *context)
{
    const struct choosing *choosing = context;
    int rank = choosing->rank, number = choosing->number;

    return sg_node_choose(&nodes[rank], (uint32_t)rank, &chosen[rank][number],
                          &choosers[rank][number]);
}

static void choose_and_run(int rank)
{
    for (int number = 0; number < call_count; number++) {
        struct choosing choosing = {rank, number};

        weak_await(has_chosen, &choosing);
        WEAK_CHECK(chosen[rank][number] == (uint32_t)choosers[rank][number]);
        if (number % 2 == 0)
            run_call(rank, number, false);
        else
            sg_node_skip(&nodes[rank]);
    }
}

static void compare_choices(void)
{
    for (int rank = 1; rank < ranks; rank++) {
        for (int number = 0; number < call_count; number++)
            WEAK_CHECK(choosers[rank][number] == choosers[0][number]);
    }
}

/* ---- disagreement ---- */

static bool is_found_out(void *context)
{
    int rank = (int)(intptr_t)context;

    return sg_node_poll(&ops[rank]) == SG_NODE_MISMATCH || sg_node_disagrees(&ops[rank]);
}

static bool is_told(void *context)
{
    return sg_node_call_info(&nodes[(int)(intptr_t)context], 0, 1 - (int)(intptr_t)context) != NULL;
}

/* Two calls that differ: each rank finds out, and what the other says of its call. */
static void disagree(int rank)
{
    struct sg_node_call call = {.operation = SG_OPERATION_BARRIER,
                                .method = SG_NODE_FLAT,
                                .shape = {SG_SHAPE_DOUBLING, ranks, 0},
                                .root = -1,
                                .site = 7,
                                .site_offset = (uint64_t)rank,
                                .site_module = "program"};
    struct sg_call_info info;

    if (rank == 1) {
        call.operation = SG_OPERATION_REDUCE;
        call.root = 1;
    }
    ops[rank].call = call;
    sg_node_begin(&ops[rank], &nodes[rank]);
    weak_await(is_found_out, (void *)(intptr_t)rank);
    weak_await(is_told, (void *)(intptr_t)rank);
    weak_copy(&info, sg_node_call_info(&nodes[rank], 0, 1 - rank), sizeof info);
    WEAK_CHECK(info.site == 7 && info.offset == (uint64_t)(1 - rank));
    WEAK_CHECK(info.operation == (rank == 0 ? SG_OPERATION_REDUCE : SG_OPERATION_BARRIER));
}

/* A rank that waits for another looks at that one's call. */
static void look_at_other(int rank)
{
    struct sg_call_info info;

    if (rank == 1) {
        weak_await(is_told, (void *)(intptr_t)rank);
        weak_copy(&info, sg_node_call_info(&nodes[rank], 0, 0), sizeof info);
        WEAK_CHECK(info.operation == SG_OPERATION_BARRIER && info.root == -1);
    }
    run(rank);
}

/* ---- scenarios ---- */

#define BARRIER(method)                                                                            \
    {                                                                                              \
        SG_OPERATION_BARRIER, method, -1, 0, 0                                                     \
    }
#define REDUCE(method, root, count)                                                                \
    {                                                                                              \
        SG_OPERATION_REDUCE, method, root, count, 0                                                \
    }
#define ALLREDUCE(method, count)                                                                   \
    {                                                                                              \
        SG_OPERATION_ALLREDUCE, method, -1, count, 0                                               \
    }

#define BCAST(method, root, count)                                                                 \
    {                                                                                              \
        SG_OPERATION_BCAST, method, root, count, 0                                                 \
    }

#define NESTED(operation, root, count)                                                             \
    {                                                                                              \
        SG_OPERATION_##operation, SG_NODE_GROUPS, root, count, 2                                   \
    }

/* name, ranks, its calls */
#define SCENARIO(id, ranks, ...) SCENARIO_OF(id, ranks, -1, run, NULL, 0, __VA_ARGS__)

/* ... the rank that reaches nobody else's memory, what threads do, what is looked at in the end,
 * and how many choices are not the first */
#define SCENARIO_OF(id, ranks, fails, run, finish, deviations, ...)                                \
    static const struct call calls_of_##id[] = {__VA_ARGS__};                                      \
    static void set_up_##id(void)                                                                  \
    {                                                                                              \
        failing = fails;                                                                           \
        set_up(ranks, sizeof calls_of_##id / sizeof *calls_of_##id, calls_of_##id);                \
    }                                                                                              \
    static const struct weak_scenario id = {#id, ranks, set_up_##id, run, finish, 64, deviations}

SCENARIO(flat_allreduces, 2, ALLREDUCE(SG_NODE_FLAT, 2), ALLREDUCE(SG_NODE_FLAT, 8),
         ALLREDUCE(SG_NODE_FLAT, 2), ALLREDUCE(SG_NODE_FLAT, 8));
SCENARIO(flat_barriers, 3, BARRIER(SG_NODE_FLAT), BARRIER(SG_NODE_FLAT));
SCENARIO(flat_allreduce_of_three, 3, ALLREDUCE(SG_NODE_FLAT, 1));
SCENARIO(flat_reduces, 2, REDUCE(SG_NODE_FLAT, 0, 1), REDUCE(SG_NODE_FLAT, 0, 8),
         REDUCE(SG_NODE_FLAT, 0, 1), REDUCE(SG_NODE_FLAT, 0, 8));
SCENARIO(flat_in_chunks, 2, ALLREDUCE(SG_NODE_FLAT, 20));
SCENARIO(handoff_allreduces, 2, ALLREDUCE(SG_NODE_HANDOFF, 1), ALLREDUCE(SG_NODE_HANDOFF, 8),
         ALLREDUCE(SG_NODE_HANDOFF, 1));
SCENARIO(handoff_allreduce_of_three, 3, ALLREDUCE(SG_NODE_HANDOFF, 1));
SCENARIO(handoff_barriers, 2, BARRIER(SG_NODE_HANDOFF), BARRIER(SG_NODE_HANDOFF),
         BARRIER(SG_NODE_HANDOFF));
SCENARIO(handoff_barriers_of_three, 3, BARRIER(SG_NODE_HANDOFF), BARRIER(SG_NODE_HANDOFF));
SCENARIO(handoff_reduces, 2, REDUCE(SG_NODE_HANDOFF, 0, 1), REDUCE(SG_NODE_HANDOFF, 0, 8),
         REDUCE(SG_NODE_HANDOFF, 0, 1));
SCENARIO(handoff_reduces_of_three, 3, REDUCE(SG_NODE_HANDOFF, 1, 1));
SCENARIO(mixed, 2, REDUCE(SG_NODE_FLAT, 0, 1), REDUCE(SG_NODE_HANDOFF, 1, 1),
         ALLREDUCE(SG_NODE_FLAT, 1));
SCENARIO(groups_allreduce, 3, ALLREDUCE(SG_NODE_GROUPS, 1));
SCENARIO(groups_large_allreduce, 3, ALLREDUCE(SG_NODE_GROUPS, 8));
SCENARIO(groups_barriers, 3, BARRIER(SG_NODE_GROUPS), BARRIER(SG_NODE_GROUPS));
SCENARIO(groups_reduces, 3, REDUCE(SG_NODE_GROUPS, 1, 1), REDUCE(SG_NODE_GROUPS, 2, 8));
SCENARIO(nested_allreduce, 3, NESTED(ALLREDUCE, -1, 1));
SCENARIO(nested_large_allreduce, 3, NESTED(ALLREDUCE, -1, 8));
SCENARIO(nested_barriers, 3, NESTED(BARRIER, -1, 0), NESTED(BARRIER, -1, 0));
SCENARIO(nested_reduces, 3, NESTED(REDUCE, 1, 1), NESTED(REDUCE, 2, 8));
SCENARIO(nested_allreduce_of_four, 4, NESTED(ALLREDUCE, -1, 1));
SCENARIO(nested_large_allreduce_of_four, 4, NESTED(ALLREDUCE, -1, 8));
SCENARIO_OF(single_that_fails, 2, 1, run, NULL, 0, ALLREDUCE(SG_NODE_SINGLE, 2));
SCENARIO(broadcasts, 2, BCAST(SG_NODE_BROADCAST, 0, 1), BCAST(SG_NODE_BROADCAST, 0, 8),
         BCAST(SG_NODE_BROADCAST, 0, 1), BCAST(SG_NODE_BROADCAST, 1, 8));
SCENARIO(broadcast_of_three, 3, BCAST(SG_NODE_BROADCAST, 1, 8));
SCENARIO(pulled, 2, BCAST(SG_NODE_PULL, 1, 3));
SCENARIO_OF(pulled_twice, 2, -1, run, NULL, 4, BCAST(SG_NODE_PULL, 0, 2),
            BCAST(SG_NODE_PULL, 1, 2));
SCENARIO_OF(pulled_by_none, 2, 1, run, NULL, 4, BCAST(SG_NODE_PULL, 0, 1));
SCENARIO_OF(pushed_by_none, 2, 0, run, NULL, 4, BCAST(SG_NODE_PULL, 0, 1));
SCENARIO_OF(pulled_by_two, 3, -1, run, NULL, 2, BCAST(SG_NODE_PULL, 0, 1));
SCENARIO_OF(choices, 2, -1, choose_and_run, compare_choices, 0, BARRIER(SG_NODE_FLAT),
            BARRIER(SG_NODE_FLAT), BARRIER(SG_NODE_FLAT));
SCENARIO_OF(other_is_looked_at, 2, -1, look_at_other, NULL, 0, BARRIER(SG_NODE_FLAT));
SCENARIO_OF(disagreement, 2, -1, disagree, NULL, 0, BARRIER(SG_NODE_FLAT));
SCENARIO(chunks, 2, ALLREDUCE(SG_NODE_CHUNKS, 16));
SCENARIO(single, 2, ALLREDUCE(SG_NODE_SINGLE, 4));
SCENARIO(chunks_of_two_calls, 2, ALLREDUCE(SG_NODE_CHUNKS, 8), REDUCE(SG_NODE_CHUNKS, 0, 8));
SCENARIO(single_twice, 2, ALLREDUCE(SG_NODE_SINGLE, 4), ALLREDUCE(SG_NODE_SINGLE, 4));
SCENARIO_OF(three_chunks, 2, -1, run, NULL, 4, ALLREDUCE(SG_NODE_CHUNKS, 24));

SCENARIO_OF(asleep_in_a_flat_barrier, 2, -1, run_asleep, NULL, 4, BARRIER(SG_NODE_FLAT));
SCENARIO_OF(asleep_in_a_barrier, 2, -1, run_asleep, NULL, 0, BARRIER(SG_NODE_HANDOFF));
SCENARIO_OF(asleep_in_a_barrier_of_three, 3, -1, run_asleep, NULL, 3, BARRIER(SG_NODE_HANDOFF));
SCENARIO_OF(asleep_in_groups, 3, -1, run_asleep, NULL, 3, BARRIER(SG_NODE_GROUPS));
SCENARIO_OF(asleep_in_reduces, 2, -1, run_asleep, NULL, 3, REDUCE(SG_NODE_FLAT, 0, 1),
            REDUCE(SG_NODE_FLAT, 0, 1), REDUCE(SG_NODE_FLAT, 0, 1));
SCENARIO_OF(asleep_in_single, 2, -1, run_asleep, NULL, 3, ALLREDUCE(SG_NODE_SINGLE, 4));
SCENARIO_OF(asleep_in_chunks, 2, -1, run_asleep, NULL, 3, ALLREDUCE(SG_NODE_CHUNKS, 16));

static const struct weak_scenario *const asleep[] = {
    &asleep_in_a_flat_barrier,
    &asleep_in_a_barrier,
    &asleep_in_a_barrier_of_three,
    &asleep_in_groups,
    &asleep_in_reduces,
    &asleep_in_single,
    &asleep_in_chunks,
    NULL,
};

static const struct weak_scenario *const scenarios[] = {
    &flat_allreduces,
    &flat_barriers,
    &flat_allreduce_of_three,
    &flat_reduces,
    &flat_in_chunks,
    &handoff_allreduces,
    &handoff_barriers,
    &handoff_allreduce_of_three,
    &handoff_reduces,
    &handoff_reduces_of_three,
    &mixed,
    &groups_allreduce,
    &groups_large_allreduce,
    &groups_barriers,
    &groups_reduces,
    &nested_allreduce,
    &nested_large_allreduce,
    &nested_barriers,
    &nested_reduces,
    &nested_allreduce_of_four,
    &nested_large_allreduce_of_four,
    &broadcasts,
    &broadcast_of_three,
    &pulled,
    &pulled_twice,
    &pulled_by_none,
    &pushed_by_none,
    &pulled_by_two,
    &choices,
    &disagreement,
    &other_is_looked_at,
    &single,
    &single_that_fails,
    &chunks,
    &three_chunks,
    NULL,
};

static const struct weak_scenario *const larger[] = {
    &handoff_barriers_of_three,
    &single_twice,
    &chunks_of_two_calls,
    NULL,
};

TEST("a node's collectives are correct in every execution of the memory model")
{
    EXPECT(weak_holds(scenarios), weak_more() == 0 || weak_holds(larger));
}

TEST("a rank that sleeps in a node's collective is always woken")
{
    EXPECT(weak_holds(asleep));
}

static const char *const functions_of_sleep[] = {
    "announce", "sleep_on", "sg_wait_has_sleepers", "wake", NULL,
};
/* More than is explored. */
#define TOGETHER "for two ranks whose steps together let a third go on"

static const struct weak_unneeded unneeded_asleep[] = {
    {"sg_wait_has_sleepers", "update acq_rel", 1, "release", TOGETHER},
    {"announce", "update acq_rel", 1, "acquire", TOGETHER},
    {NULL, NULL, 0, NULL, NULL},
};

TEST("each memory order of a sleep and of a wake-up is needed")
{
    EXPECT(weak_faults(asleep, functions_of_sleep, unneeded_asleep));
}

/* A rank that waits for a slot announces itself for when it sleeps; here it polls. */
#define SLEEPERS "the order is for ranks that sleep"

static const struct weak_unneeded unneeded[] = {
    {"has_credit", "update acq_rel", 1, "acquire", SLEEPERS},
    {"has_credit", "update acq_rel", 1, "release", SLEEPERS},
    {"has_credit", "update acq_rel", 1, "relaxed", SLEEPERS},
    {NULL, NULL, 0, NULL, NULL},
};

TEST("each memory order in the ring is needed")
{
    EXPECT(weak_faults(scenarios, NULL, unneeded));
}
