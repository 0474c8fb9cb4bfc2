/* Tests ranks of a node that learn: driven from one thread, polled in an order drawn from a seed,
 * on costs that are drawn for each rank. In any order, all ranks have the same candidate in the
 * same call, and decide from the same numbers. */
#include "intranode/node.h"
#include "lib/unit.h"

#define RANKS_MAX 7
#define DEPTH 4
#define SLOT_BYTES 64
#define PLACES 3
#define CALLS 900
#define BLOCK 3
#define DECISIONS_MAX 200
enum { FLAT, CLIMB, OTHERS, ARMS }; /* others': a library that does not wait for anybody */

static uint64_t random_state;

static unsigned draw(unsigned below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(random_state >> 33) % below;
}

struct place {
    struct sg_learn learn;
    uint32_t turns;
    uint64_t position; /* told last */
};

struct actor {
    struct sg_node node;
    struct sg_node_op op;
    struct place places[PLACES];
    uint64_t operand, result;
    int at; /* in the script */
    bool inside;
};

/* Record of the first rank at each point, which the other ranks must match. */
struct common {
    int arm[CALLS];
    struct sg_learn_told told[PLACES][DECISIONS_MAX];
    int decisions[PLACES][RANKS_MAX];
};

static struct common common;
static enum sg_operation operations[CALLS];
static int place_of[CALLS];
static int ranks, waits, winners[ARMS];

static void fold(void *context, const void *left, const void *right, void *out, size_t count)
{
    const uint64_t *a = left, *b = right;

    *(uint64_t *)out = *a * 31 + *b;
}

static void decide(struct place *place, int number, int rank, const struct sg_learn_told *told)
{
    int decision = common.decisions[number][rank]++;
    struct sg_learn_told *first = &common.told[number][decision % DECISIONS_MAX];
    bool is_first = true;

    for (int other = 0; other < ranks; other++)
        is_first = is_first && (other == rank || common.decisions[number][other] <= decision);
    if (is_first)
        *first = *told;
    ASSERT(memcmp(first, told, sizeof *told) == 0);
    if (sg_learn_decide(&place->learn, told) && rank == 0)
        winners[place->learn.holds]++;
}

/* False: others have not left yet. */
static bool begin(struct actor *actor, int rank)
{
    int number = place_of[actor->at];
    struct place *place = &actor->places[number];
    struct sg_learn_told told;
    struct sg_learn_step step = sg_learn_step(&place->learn);
    bool reduces = operations[actor->at] == SG_OPERATION_REDUCE;
    struct sg_node_call call = {.operation = operations[actor->at],
                                .shape = {SG_SHAPE_DOUBLING, ranks, 0},
                                .root = reduces ? 0 : -1,
                                .send = &actor->operand,
                                .receive = reduces && rank != 0 ? NULL : &actor->result,
                                .count = operations[actor->at] != SG_OPERATION_BARRIER,
                                .element_bytes = sizeof actor->operand,
                                .fold = fold};

    if (step.decides) {
        if (!sg_node_have_left(&actor->node, place->position)) {
            waits++;
            return false;
        }
        told = sg_tell_get(&actor->node, number, place->turns - 1);
        decide(place, number, rank, &told);
        step = sg_learn_step(&place->learn);
    }
    if (step.tells) {
        told = sg_learn_tell(&place->learn);
        sg_tell_put(&actor->node, number, place->turns++, &told);
        place->position = actor->node.position;
    }
    if (step.counts)
        sg_learn_add(&place->learn, step.arm, 100 + draw(1000));
    if (common.arm[actor->at] < 0)
        common.arm[actor->at] = step.arm;
    ASSERT(step.arm == common.arm[actor->at]);
    if (step.arm == OTHERS) {
        sg_node_skip(&actor->node);
        actor->at++;
        return true;
    }
    call.method = step.arm == FLAT ? SG_NODE_FLAT : SG_NODE_HANDOFF;
    actor->operand = (uint64_t)rank;
    actor->op.call = call;
    sg_node_begin(&actor->op, &actor->node);
    actor->inside = true;
    return true;
}

static void step(struct actor *actor, int rank)
{
    if (!actor->inside && (!begin(actor, rank) || !actor->inside))
        return;
    enum sg_node_step got = sg_node_poll(&actor->op);
    ASSERT(got != SG_NODE_MISMATCH);
    if (got != SG_NODE_DONE)
        return;
    actor->inside = false;
    actor->at++;
}

static void run(int seed)
{
    struct actor *actors = calloc(RANKS_MAX, sizeof *actors);
    size_t size_bytes = sg_node_bytes(ranks, DEPTH, SLOT_BYTES);
    const struct sg_learn_settings settings = {ranks, ARMS, seed % ARMS, BLOCK, 40};
    void *segment = aligned_alloc(64, size_bytes);
    int finished = 0;

    ASSERT(actors != NULL && segment != NULL);
    memset(segment, 0, size_bytes);
    sg_node_format(segment, ranks, DEPTH, SLOT_BYTES, 42);
    for (int rank = 0; rank < ranks; rank++) {
        ASSERT(sg_node_attach(&actors[rank].node, segment, rank, 42));
        for (int i = 0; i < PLACES; i++)
            sg_learn_start(&actors[rank].places[i].learn, &settings);
    }
    while (finished < ranks) {
        int rank = (int)draw((unsigned)ranks);
        /* Bursts: one rank runs while it can, so that others fall behind. */
        int burst = 1 + (int)draw(60);

        for (int i = 0; i < burst && actors[rank].at < CALLS; i++)
            step(&actors[rank], rank);
        finished = 0;
        for (int other = 0; other < ranks; other++)
            finished += actors[other].at == CALLS;
    }
    free(segment);
    free(actors);
}

TEST("all ranks run the same candidate in every order, and decide from the same data")
{
    for (int seed = 0; seed < 120; seed++) {
        random_state = (uint64_t)seed;
        ranks = 2 + seed % (RANKS_MAX - 1);
        memset(&common, 0, sizeof common);
        for (int i = 0; i < CALLS; i++) {
            static const enum sg_operation any[] = {SG_OPERATION_REDUCE, SG_OPERATION_BARRIER,
                                                    SG_OPERATION_ALLREDUCE};

            common.arm[i] = -1;
            place_of[i] = (int)draw(PLACES);
            /* A place of reduces alone, at which ranks run ahead. */
            operations[i] = seed % 2 ? SG_OPERATION_REDUCE : any[place_of[i]];
        }
        run(seed);
    }
    EXPECT(waits > 0);
    for (int arm = 0; arm < ARMS; arm++)
        EXPECT(winners[arm] > 0);
}

/* A report stays for a rank that reads it late, and no longer than needed. */
TEST("reports for one call site and round are separate from all others")
{
    size_t size_bytes = sg_node_bytes(2, DEPTH, SLOT_BYTES);
    void *segment = aligned_alloc(64, size_bytes);
    struct sg_node nodes[2];

    ASSERT(segment != NULL);
    memset(segment, 0, size_bytes);
    sg_node_format(segment, 2, DEPTH, SLOT_BYTES, 42);
    for (int rank = 0; rank < 2; rank++)
        ASSERT(sg_node_attach(&nodes[rank], segment, rank, 42));
    for (uint32_t turn = 0; turn < 2; turn++) {
        for (int rank = 0; rank < 2; rank++) {
            for (int place = 0; place < SG_LEARN_PLACES; place++) {
                const struct sg_learn_told told = {
                    {turn + 1, (uint64_t)rank + 1, (uint64_t)place, UINT64_MAX / 2}};

                sg_tell_put(&nodes[rank], place, turn, &told);
            }
        }
    }
    for (uint32_t turn = 0; turn < 2; turn++) {
        for (int place = 0; place < SG_LEARN_PLACES; place++) {
            struct sg_learn_told all = sg_tell_get(&nodes[1], place, turn);

            EXPECT(all.numbers[0] == 2 * (turn + 1) && all.numbers[1] == 1 + 2 &&
                   all.numbers[2] == 2 * (uint64_t)place && all.numbers[3] == UINT64_MAX / 2 * 2);
        }
    }
    EXPECT(!sg_node_have_left(&nodes[0], 0));
    sg_node_skip(&nodes[0]);
    EXPECT(!sg_node_have_left(&nodes[0], 0));
    sg_node_skip(&nodes[1]);
    EXPECT(sg_node_have_left(&nodes[0], 0), !sg_node_have_left(&nodes[0], 1));
    free(segment);
}
