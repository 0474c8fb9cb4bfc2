/* Tests srm between endpoints on the mini host: results bit for bit against recursive doubling,
 * the cost of each call by counts of accesses, and how far endpoints run ahead. */
#include "algos/associations.h"
#include "algos/mini_host.h"
#include "lib/unit.h"

/* Barriers, reduces, allreduces. */
#define OPERATIONS (SG_OPERATION_ALLREDUCE + 1)

#define MARK(name) (UINT64_C(1) << SG_MARK_##name)
#define SIZE_MAX_TESTED 17
#define ROUNDS 14
#define ROOM 4 /* values on their way to one partner */

static struct mini_host *host_of(int size, struct sg_algo_parameters parameters, uint64_t seed)
{
    struct mini_setup setup = {&sg_algo_srm, size, parameters, seed, 0, 0};

    return mini_new(&setup);
}

static struct sg_algo_call call_of(enum sg_operation operation, uint32_t bytes, int root)
{
    return (struct sg_algo_call){operation, 0, bytes, root, 0};
}

static void check_result(const struct mini_host *host, int size, const struct sg_algo_call *call,
                         uint32_t seq)
{
    for (int rank = 0; rank < size && call->bytes > 0; rank++) {
        if (call->operation == SG_OPERATION_REDUCE && rank != call->root)
            continue;
        for (int element = 0; element < (int)call->bytes / 8; element++) {
            struct association of = {
                .size = size, .seq = seq, .flags = call->flags, .element = element};

            ASSERT(mini_result(host, rank, seq, element) == association_doubling(&of));
        }
    }
}

/* ---- any order of events ---- */

/* operation -1: all of them in turn. Roots change; every third call is one of several parts. */
static uint64_t run(int size, struct sg_algo_parameters parameters, int operation, uint64_t seed)
{
    struct mini_host *host = host_of(size, parameters, seed);
    struct sg_algo_call calls[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        int kind = operation < 0 ? (int)(seed + (uint64_t)(i * i)) % OPERATIONS : operation;

        calls[i] = call_of((enum sg_operation)kind, kind == SG_OPERATION_BARRIER ? 0 : 16,
                           kind == SG_OPERATION_REDUCE ? (int)(seed + (uint64_t)i / 2) % size : -1);
        if (i % 3 == 0 && kind != SG_OPERATION_BARRIER)
            calls[i].flags = SG_CALL_LONG;
        if (i % 4 == 0 && kind != SG_OPERATION_BARRIER)
            calls[i].bytes = 32;
    }
    mini_drive(host, calls, ROUNDS);
    for (uint32_t seq = 1; seq <= ROUNDS; seq++)
        check_result(host, size, &calls[seq - 1], seq);
    EXPECT(mini_actions(host, -1, SG_ACTION_SEND) == 0);
    uint64_t marks = mini_marks(host, -1);
    mini_free(host);
    return marks;
}

static uint64_t run_all(struct sg_algo_parameters parameters, int operation)
{
    uint64_t marks = 0;

    for (int size = 1; size <= SIZE_MAX_TESTED; size++) {
        for (uint64_t seed = 0; seed < 6; seed += (uint64_t)unit_step())
            marks |= run(size, parameters, operation, seed);
    }
    return marks;
}

TEST("every operation has the bits of recursive doubling, at every root and size")
{
    struct sg_algo_parameters parameters = {.credits = 3};

    for (int operation = 0; operation < OPERATIONS; operation++)
        run_all(parameters, operation);
}

TEST("reduces, allreduces and barriers may follow each other, chunked or not")
{
    for (uint8_t credits = 2; credits <= 12; credits += 5) {
        struct sg_algo_parameters parameters = {.credits = credits, .chunk_bytes = 16};

        run_all(parameters, -1);
    }
}

TEST("split calls get the same bits later")
{
    for (uint8_t credits = 2; credits <= 12; credits += 5) {
        struct sg_algo_parameters parameters = {.credits = credits, .split = 1, .chunk_bytes = 16};
        uint64_t marks = run_all(parameters, -1);

        EXPECT(marks == (MARK(CREDIT_OUT) | MARK(SPLIT_FINISHED)));
    }
}

/* ---- one thing at a time ---- */

struct cost {
    int size;
    struct sg_algo_call call;
    int writes, results, words, copies;
};

/* copies: of a single endpoint its operand is its result. */
TEST("each step costs one value and one flag word, and results go to their reader")
{
    static const struct cost costs[] = {
        {1, {SG_OPERATION_ALLREDUCE, 0, 8, -1, 0}, 0, 0, 0, 1},
        {2, {SG_OPERATION_BARRIER, 0, 0, -1, 0}, 0, 0, 2, 0},
        {8, {SG_OPERATION_BARRIER, 0, 0, -1, 0}, 0, 0, 24, 0},
        {8, {SG_OPERATION_ALLREDUCE, 0, 8, -1, 0}, 24, 0, 24, 0},
        {8, {SG_OPERATION_ALLREDUCE, SG_CALL_LONG, 8, -1, 0}, 7, 7, 14, 0},
        {8, {SG_OPERATION_REDUCE, 0, 8, 5, 0}, 7, 0, 7, 0},
        /* 0 and 2 fold into 1 and 3; three dimensions fewer than that many positions. */
        {6, {SG_OPERATION_BARRIER, 0, 0, -1, 0}, 0, 0, 12, 0},
        {6, {SG_OPERATION_ALLREDUCE, 0, 8, -1, 0}, 10, 2, 12, 0},
        {6, {SG_OPERATION_REDUCE, 0, 8, 1, 0}, 5, 0, 5, 0},
        {6, {SG_OPERATION_REDUCE, 0, 8, 2, 0}, 5, 1, 6, 0},
    };

    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        struct sg_algo_parameters parameters = {0};
        struct mini_host *host = host_of(costs[i].size, parameters, i);

        mini_call_all(host, &costs[i].call);
        mini_finish(host);
        check_result(host, costs[i].size, &costs[i].call, 1);
        EXPECT(mini_actions(host, -1, SG_ACTION_WRITE) == costs[i].writes,
               mini_actions(host, -1, SG_ACTION_WRITE_RESULT) == costs[i].results,
               mini_actions(host, -1, SG_ACTION_WRITE_CELL) == costs[i].words,
               mini_actions(host, -1, SG_ACTION_COPY) == costs[i].copies);
        mini_free(host);
    }
}

/* A partner that does not come has room for so many. */
TEST("an endpoint that runs ahead stops when its partner's buffers are full")
{
    struct sg_algo_parameters parameters = {.credits = 8};
    struct sg_algo_call call = call_of(SG_OPERATION_REDUCE, 8, 0);
    struct mini_host *host = host_of(2, parameters, 3);

    for (int i = 0; i < ROOM; i++) {
        mini_calls(host, &call, "1 .");
        EXPECT(mini_completed(host, 1, (uint32_t)i + 1));
    }
    mini_calls(host, &call, "1 .");
    EXPECT(!mini_completed(host, 1, ROOM + 1), mini_marks(host, 1) & MARK(CREDIT_OUT));
    /* It hears of two that were taken. */
    mini_calls(host, &call, "0 .");
    EXPECT(!mini_completed(host, 1, ROOM + 1));
    mini_calls(host, &call, "0 .");
    EXPECT(mini_completed(host, 1, ROOM + 1));
    for (int i = 2; i <= ROOM; i++)
        mini_calls(host, &call, "0 .");
    for (uint32_t seq = 1; seq <= ROOM + 1; seq++)
        check_result(host, 2, &call, seq);
    mini_end(host);
}

/* In a split call no endpoint waits for another while slots and result buffers last. */
TEST("chunks of a call are in flight concurrently")
{
    struct sg_algo_parameters parameters = {.credits = 3, .split = 1};
    struct sg_algo_call call = call_of(SG_OPERATION_ALLREDUCE, 8, -1);
    struct mini_host *host = host_of(4, parameters, 1);

    call.flags = SG_CALL_LONG;
    for (uint32_t seq = 1; seq <= 3; seq++) {
        mini_calls(host, &call, "2 .");
        EXPECT(mini_completed(host, 2, seq) == (seq < 3), !mini_finished(host, 2, seq));
    }
    EXPECT(mini_head(host, 2)->outstanding == 3);
    for (int rank = 0; rank < 4; rank++) {
        for (int i = 0; i < 3 && rank != 2; i++) {
            mini_call(host, rank, &call);
            mini_settle(host);
        }
    }
    mini_finish(host);
    for (uint32_t seq = 1; seq <= 3; seq++) {
        EXPECT(mini_finished(host, 2, seq));
        check_result(host, 4, &call, seq);
    }
    EXPECT(mini_head(host, 2)->outstanding == 0);
    mini_free(host);
}

TEST("the bounds follow from the parameters")
{
    struct sg_algo_needs needs;
    struct sg_algo_setup setup = {0, 256, {0}};

    EXPECT(sg_algo_srm.needs(&setup, &needs), needs.slots == 8 * ROOM + 8, needs.cells == 8,
           needs.slot_bytes == 16384);
    setup.size = 257;
    setup.parameters.chunk_bytes = 1024;
    EXPECT(sg_algo_srm.needs(&setup, &needs), needs.slots == 9 * ROOM + 8,
           needs.slot_bytes == 1024);
    setup.parameters.credits = 1;
    EXPECT(!sg_algo_srm.needs(&setup, &needs));
    setup.parameters.credits = 2;
    setup.size = (1 << 16) + 1;
    EXPECT(!sg_algo_srm.needs(&setup, &needs));
}
