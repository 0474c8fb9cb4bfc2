/* Tests protocols across the wraparound of numbers: the same calls in the same random orders give
 * the same results, marks and actions as from instance 1 on. */
#include "algos/mini_host.h"
#include "lib/unit.h"

#define ROUNDS 24
#define SIZES 7
#define SEEDS 4

/* Behind the end of srm's words, of handoff's tags, of 31 and 32 bits; and the last of 64. */
static const uint64_t ends[] = {1 << 24, 1 << 30, UINT64_C(1) << 31, UINT64_C(1) << 32,
                                UINT64_MAX - ROUNDS};

static struct sg_algo_call call_of(enum sg_operation operation, int size, uint64_t random)
{
    bool has_root = sg_operation_has_root(operation);

    return (struct sg_algo_call){
        .operation = operation,
        .flags = operation == SG_OPERATION_BARRIER ? 0 : SG_CALL_COMMUTATIVE * (random % 2),
        .bytes = operation == SG_OPERATION_BARRIER ? 0
                 : random % 5 == 0                 ? 32
                                                   : 8,
        .root = has_root ? (int32_t)(random / 2 % (uint64_t)size) : -1,
    };
}

/* operation -1: all of the protocol's in turn. */
static void draw(const struct sg_algo *algo, int operation, int size, uint64_t seed,
                 struct sg_algo_call *calls)
{
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t kind = operation < 0 ? seed + i * i : (uint64_t)operation;

        while (!(algo->operations >> kind % SG_OPERATION_COUNT & 1))
            kind++;
        calls[i] = call_of((enum sg_operation)(kind % SG_OPERATION_COUNT), size, seed + 3 * i);
    }
}

static bool gets_result(const struct sg_algo_call *call, int rank)
{
    return call->operation == SG_OPERATION_ALLREDUCE ||
           (call->operation == SG_OPERATION_REDUCE && call->root == rank) ||
           (call->operation == SG_OPERATION_BCAST && call->root != rank);
}

static void compare(const struct mini_setup *setup, const struct sg_algo_call *calls, uint64_t end)
{
    struct mini_setup late_setup = *setup;
    struct mini_host *early = mini_new(setup), *late;

    late_setup.parameters.first = end - ROUNDS / 2;
    late = mini_new(&late_setup);
    mini_drive(early, calls, ROUNDS);
    mini_drive(late, calls, ROUNDS);
    for (int rank = 0; rank < setup->size; rank++) {
        EXPECT(mini_head(late, rank)->seq == late_setup.parameters.first + ROUNDS,
               mini_marks(late, rank) == mini_marks(early, rank));
        for (uint32_t seq = 1; seq <= ROUNDS; seq++) {
            EXPECT(mini_finished(late, rank, seq));
            if (gets_result(&calls[seq - 1], rank))
                EXPECT(mini_result(late, rank, seq, 0) == mini_result(early, rank, seq, 0));
        }
    }
    for (int kind = 0; kind < SG_ACTION_KINDS; kind++)
        EXPECT(mini_actions(late, -1, (enum sg_action_kind)kind) ==
               mini_actions(early, -1, (enum sg_action_kind)kind));
    mini_free(early);
    mini_free(late);
}

static void compare_all(const struct sg_algo *algo, int operation, uint8_t split)
{
    struct sg_algo_call calls[ROUNDS];

    for (int size = 1; size <= SIZES; size += 2) {
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct mini_setup setup = {
                .algo = algo,
                .size = size,
                .parameters = {.credits = (uint8_t)(3 + seed), .split = split, .eager_bytes = 8},
                .seed = seed,
                .loss_percent = seed % 2 ? 20 : 0};

            draw(algo, operation, size, seed, calls);
            for (int i = 0; i < ROUNDS && split; i++)
                calls[i].flags |= SG_CALL_SPLIT;
            for (size_t end = seed % (size_t)unit_step(); end < sizeof ends / sizeof *ends;
                 end += (size_t)unit_step())
                compare(&setup, calls, ends[end]);
        }
    }
}

TEST("sequence numbers wrap around in each operation of each protocol")
{
    for (int i = 0; sg_algos[i] != NULL; i++) {
        for (int operation = 0; operation < SG_OPERATION_COUNT; operation++) {
            if (sg_algos[i]->operations >> operation & 1)
                compare_all(sg_algos[i], operation, 0);
        }
    }
}

TEST("sequence numbers wrap around when operations alternate")
{
    for (int i = 0; sg_algos[i] != NULL; i++)
        compare_all(sg_algos[i], -1, 0);
}

TEST("sequence numbers wrap around in split calls")
{
    for (int i = 0; sg_algos[i] != NULL; i++)
        compare_all(sg_algos[i], -1, 1);
}
