/* Tests handoff between endpoints on the mini host: results bit for bit against recursive
 * doubling, and the cost of each arrival, by counts of accesses. */
#include "algos/algo.h"
#include "algos/mini_host.h"
#include "lib/unit.h"

/* Barriers, reduces, allreduces. */
#define OPERATIONS (SG_OPERATION_ALLREDUCE + 1)

#define MARK(name) (UINT64_C(1) << SG_MARK_##name)
#define SIZE_MAX_TESTED 17
#define ROUNDS 12

static struct mini_host *host_of(int size, struct sg_algo_parameters parameters, uint64_t seed)
{
    struct mini_setup setup = {&sg_algo_handoff, size, parameters, seed, 0, 0};

    return mini_new(&setup);
}

static struct sg_algo_call call_of(enum sg_operation operation, uint32_t bytes, int root)
{
    return (struct sg_algo_call){operation, 0, bytes, root, 0};
}

/* Recursive doubling as messages would do it (tests/algos/test_shape.c): extra ranks fold in pairs,
 * then partners at distance 1, 2, 4 ... */
static uint64_t expected(int size, uint32_t flags, uint32_t seq, int element)
{
    uint64_t value[SIZE_MAX_TESTED], next[SIZE_MAX_TESTED];
    int power = 1, extra;

    while (2 * power <= size)
        power *= 2;
    extra = size - power;
    for (int i = 0; i < power; i++) {
        int rank = i < extra ? 2 * i : i + extra;

        value[i] = mini_operand(rank, seq, element);
        if (i < extra)
            value[i] = mini_fold(flags, value[i], mini_operand(rank + 1, seq, element));
    }
    for (int mask = 1; mask < power; mask *= 2) {
        for (int i = 0; i < power; i++)
            next[i] = mini_fold(flags, value[i & ~mask], value[i | mask]);
        memcpy(value, next, sizeof value);
    }
    return value[0];
}

static void check_result(const struct mini_host *host, int size, const struct sg_algo_call *call,
                         uint32_t seq)
{
    for (int rank = 0; rank < size; rank++) {
        if (call->operation == SG_OPERATION_REDUCE && rank != call->root)
            continue;
        for (int element = 0; element < (int)call->bytes / 8; element++)
            ASSERT(mini_result(host, rank, seq, element) ==
                   expected(size, call->flags, seq, element));
    }
}

/* ---- any order of events ---- */

/* operation -1: all of them in turn; root -1: each endpoint in turn. */
static uint64_t run(int size, struct sg_algo_parameters parameters, int operation, int root,
                    uint64_t seed)
{
    struct mini_host *host = host_of(size, parameters, seed);
    struct sg_algo_call calls[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        int kind = operation < 0 ? (int)(seed + (uint64_t)(i * i)) % OPERATIONS : operation;
        int at = root < 0 ? (int)(seed + (uint64_t)i) % size : root;

        calls[i] = call_of((enum sg_operation)kind, kind == SG_OPERATION_BARRIER ? 0 : 16,
                           kind == SG_OPERATION_REDUCE ? at : -1);
    }
    mini_drive(host, calls, ROUNDS);
    for (uint32_t seq = 1; seq <= ROUNDS; seq++)
        check_result(host, size, &calls[seq - 1], seq);
    uint64_t marks = mini_marks(host, -1);
    mini_free(host);
    return marks;
}

static uint64_t run_all(struct sg_algo_parameters parameters, int operation, bool roots)
{
    uint64_t marks = 0;

    for (int size = 1; size <= SIZE_MAX_TESTED; size++) {
        for (int root = -1; root < (roots ? size : 0); root += unit_step()) {
            for (uint64_t seed = 0; seed < (roots ? 2 : 12); seed += (uint64_t)unit_step())
                marks |= run(size, parameters, operation, root, seed);
        }
    }
    return marks;
}

TEST("a reduce has the bits of recursive doubling, at every root and size")
{
    struct sg_algo_parameters parameters = {.credits = 3};
    uint64_t marks = run_all(parameters, SG_OPERATION_REDUCE, true);

    EXPECT(marks == (MARK(SECOND_CLIMBED) | MARK(CREDIT_OUT)));
}

TEST("a split-phase root gets the same bits later")
{
    struct sg_algo_parameters parameters = {.credits = 3, .split = 1};
    uint64_t marks = run_all(parameters, SG_OPERATION_REDUCE, true);

    EXPECT(marks == (MARK(SECOND_CLIMBED) | MARK(CREDIT_OUT) | MARK(SPLIT_FINISHED)));
}

TEST("an allreduce has the bits of recursive doubling on every endpoint")
{
    struct sg_algo_parameters parameters = {.credits = 2};

    EXPECT(run_all(parameters, SG_OPERATION_ALLREDUCE, false) == MARK(SECOND_CLIMBED));
}

TEST("no rank leaves a barrier before the last has entered")
{
    struct sg_algo_parameters parameters = {0};

    EXPECT(run_all(parameters, SG_OPERATION_BARRIER, false) == MARK(SECOND_CLIMBED));
}

TEST("reduces, allreduces and barriers may follow each other")
{
    for (uint8_t credits = 2; credits <= 12; credits += 5) {
        struct sg_algo_parameters parameters = {.credits = credits};

        run_all(parameters, -1, false);
        parameters.split = 1;
        run_all(parameters, -1, false);
    }
}

/* ---- one thing at a time ---- */

TEST("the first arriver of a reduce leaves after one round trip")
{
    struct sg_algo_parameters parameters = {0};
    struct sg_algo_call call = call_of(SG_OPERATION_REDUCE, 8, 0);
    struct mini_host *host = host_of(4, parameters, 1);

    for (uint32_t seq = 1; seq <= 4; seq++) {
        mini_calls(host, &call, "3 .");
        EXPECT(mini_finished(host, 3, seq));
    }
    /* One round trip each: a write, a count and a read that is ignored, side by side. */
    EXPECT(mini_actions(host, 3, SG_ACTION_WRITE) == 4,
           mini_actions(host, 3, SG_ACTION_FETCH_ADD) == 4,
           mini_actions(host, 3, SG_ACTION_READ) == 4, mini_actions(host, 3, SG_ACTION_COPY) == 0,
           mini_head(host, 3)->outstanding == 0);
    for (uint32_t seq = 1; seq <= 4; seq++) {
        mini_calls(host, &call, "2 . 1 . 0 .");
        check_result(host, 4, &call, seq);
    }
    mini_end(host);
}

/* The last one climbs to the top alone; no other endpoint lifts a finger. */
TEST("the last arriver climbs to the top alone")
{
    struct sg_algo_parameters parameters = {0};
    struct sg_algo_call call = call_of(SG_OPERATION_REDUCE, 8, 0);
    struct mini_host *host = host_of(8, parameters, 1);

    for (int rank = 0; rank < 8; rank++) {
        if (rank == 5)
            continue;
        mini_call(host, rank, &call);
        mini_settle(host);
    }
    for (int rank = 0; rank < 8; rank++)
        mini_hold(host, rank, rank != 5);
    mini_calls(host, &call, "5 .");
    EXPECT(mini_finished(host, 5, 1), mini_actions(host, 5, SG_ACTION_READ) == 3,
           mini_actions(host, 5, SG_ACTION_FETCH_ADD) == 3,
           mini_actions(host, 5, SG_ACTION_REDUCE) == 3,
           mini_actions(host, -1, SG_ACTION_SEND) == 0, !mini_completed(host, 0, 1));
    mini_hold(host, 0, false);
    mini_settle(host);
    EXPECT(mini_finished(host, 0, 1));
    check_result(host, 8, &call, 1);
    for (int rank = 0; rank < 8; rank++)
        mini_hold(host, rank, false);
    mini_end(host);
}

/* A root that is last has its result without a message to itself. */
TEST("a root that arrives last folds directly into its result")
{
    struct sg_algo_parameters parameters = {0};
    struct sg_algo_call call = call_of(SG_OPERATION_REDUCE, 8, 2);
    struct mini_host *host = host_of(4, parameters, 1);

    for (int i = 0; i < 4; i++) {
        mini_call(host, i < 2 ? i : 5 - i, &call);
        mini_settle(host);
    }
    EXPECT(mini_finished(host, 2, 1));
    check_result(host, 4, &call, 1);
    EXPECT(mini_actions(host, -1, SG_ACTION_COPY) == 0,
           mini_actions(host, -1, SG_ACTION_WATCH) == 0);
    mini_end(host);
}

TEST("an allreduce is released by one message to each endpoint")
{
    struct sg_algo_parameters parameters = {0};
    struct sg_algo_call call = call_of(SG_OPERATION_ALLREDUCE, 8, -1);
    struct mini_host *host = host_of(8, parameters, 1);

    mini_call_all(host, &call);
    mini_settle(host);
    check_result(host, 8, &call, 1);
    EXPECT(mini_actions(host, -1, SG_ACTION_SEND) == 7,
           mini_actions(host, -1, SG_ACTION_FETCH_ADD) == 14);
    mini_end(host);
}

/* A contribution that costs more than the round trip it saves is read only by the endpoint that
 * needs it. */
TEST("only second arrivers read operands above the eager limit")
{
    struct sg_algo_parameters parameters = {.eager_bytes = 8};
    struct sg_algo_call call = call_of(SG_OPERATION_ALLREDUCE, 16, -1);
    struct mini_host *host = host_of(8, parameters, 1);

    mini_call_all(host, &call);
    mini_settle(host);
    check_result(host, 8, &call, 1);
    EXPECT(mini_actions(host, -1, SG_ACTION_READ) == 7);
    mini_end(host);
    parameters.credits = 2;
    run_all(parameters, SG_OPERATION_REDUCE, false);
}

/* A barrier moves no payload. */
TEST("a barrier moves no payload")
{
    struct sg_algo_parameters parameters = {0};
    struct sg_algo_call call = call_of(SG_OPERATION_BARRIER, 0, -1);
    struct mini_host *host = host_of(8, parameters, 1);

    mini_call_all(host, &call);
    mini_settle(host);
    EXPECT(mini_actions(host, -1, SG_ACTION_WRITE) == 0,
           mini_actions(host, -1, SG_ACTION_READ) == 0,
           mini_actions(host, -1, SG_ACTION_FETCH_ADD) == 14);
    mini_end(host);
}

/* The release may be there before the reply that says "first". */
TEST("a release may overtake the reply of a counter")
{
    struct sg_algo_parameters parameters = {0};
    struct sg_algo_call call = call_of(SG_OPERATION_ALLREDUCE, 8, -1);
    struct mini_host *host = host_of(2, parameters, 1);

    mini_call(host, 0, &call);
    mini_hold(host, 0, true);
    mini_settle(host);
    mini_calls(host, &call, "1 .");
    EXPECT(mini_completed(host, 1, 1), mini_deliver(host, 1, 0), mini_finished(host, 0, 1));
    check_result(host, 2, &call, 1);
    mini_call(host, 0, &call);
    mini_hold(host, 0, false);
    mini_settle(host);
    EXPECT(!mini_completed(host, 0, 2));
    mini_calls(host, &call, "1 .");
    check_result(host, 2, &call, 2);
    mini_end(host);
}

/* The root is missing: others get as far as there are places, and ask half-way. */
TEST("an endpoint waits once it is `credits` instances ahead of the root")
{
    struct sg_algo_parameters parameters = {.credits = 4};
    struct sg_algo_call call = call_of(SG_OPERATION_REDUCE, 8, 0);
    struct mini_host *host = host_of(2, parameters, 1);

    for (uint32_t seq = 1; seq <= 4; seq++) {
        mini_call(host, 1, &call);
        mini_hold(host, 1, false);
        while (!mini_completed(host, 1, seq))
            mini_settle(host);
        EXPECT((mini_actions(host, 1, SG_ACTION_READ_CELLS) > 0) == (seq >= 2));
    }
    mini_hold(host, 1, true);
    mini_call(host, 1, &call);
    EXPECT(!mini_completed(host, 1, 5), mini_marks(host, 1) == MARK(CREDIT_OUT),
           mini_head(host, 1)->stalls == 1);
    mini_calls(host, &call, "0 .");
    EXPECT(mini_finished(host, 0, 1));
    mini_hold(host, 1, false);
    mini_settle(host);
    EXPECT(mini_completed(host, 1, 5));
    for (uint32_t seq = 2; seq <= 5; seq++)
        mini_calls(host, &call, "0 .");
    for (uint32_t seq = 1; seq <= 5; seq++)
        check_result(host, 2, &call, seq);
    mini_end(host);
}

/* If all endpoints keep up, none ever waits for a slot, and barriers read no cells. */
TEST("no endpoint waits for credits if all keep up")
{
    struct sg_algo_parameters parameters = {0};
    struct sg_algo_call reduce = call_of(SG_OPERATION_REDUCE, 8, 1);
    struct sg_algo_call barrier = call_of(SG_OPERATION_BARRIER, 0, -1);
    struct mini_host *host = host_of(4, parameters, 1);

    for (int i = 0; i < 100; i++) {
        mini_call_all(host, &reduce);
        mini_settle(host);
    }
    EXPECT(mini_marks(host, -1) == MARK(SECOND_CLIMBED));
    /* It asks when 4 of 8 places are left, and then knows of all but its own: once in 3 instances.
     */
    EXPECT(mini_actions(host, 3, SG_ACTION_READ_CELLS) <= 34);
    mini_free(host);
    host = host_of(4, parameters, 1);
    for (int i = 0; i < 100; i++) {
        mini_call_all(host, &barrier);
        mini_settle(host);
    }
    EXPECT(mini_marks(host, -1) == MARK(SECOND_CLIMBED),
           mini_actions(host, -1, SG_ACTION_READ_CELLS) == 0);
    mini_end(host);
}

TEST("a split-phase root returns after its climb")
{
    struct sg_algo_parameters parameters = {.split = 1};
    struct sg_algo_call call = call_of(SG_OPERATION_REDUCE, 8, 0);
    struct mini_host *host = host_of(2, parameters, 1);

    for (uint32_t seq = 1; seq <= 3; seq++) {
        mini_calls(host, &call, "0 .");
        EXPECT(mini_completed(host, 0, seq), !mini_finished(host, 0, seq));
    }
    EXPECT(mini_head(host, 0)->outstanding == 3);
    for (uint32_t seq = 1; seq <= 3; seq++) {
        mini_calls(host, &call, "1 .");
        EXPECT(mini_finished(host, 0, seq));
        check_result(host, 2, &call, seq);
    }
    EXPECT(mini_marks(host, 0) & MARK(SPLIT_FINISHED));
    mini_end(host);
}

/* The host gives a call's result its place with the CALL: no earlier one may still be due there. */
TEST("a split-phase root waits rather than share a result buffer")
{
    struct sg_algo_parameters parameters = {.split = 1, .credits = 3};
    struct sg_algo_call call = call_of(SG_OPERATION_REDUCE, 8, 0);
    struct mini_host *host = host_of(2, parameters, 1);

    for (int i = 0; i < 3; i++)
        mini_calls(host, &call, "0 .");
    EXPECT(mini_completed(host, 0, 2), !mini_completed(host, 0, 3),
           mini_marks(host, 0) & MARK(CREDIT_OUT));
    mini_calls(host, &call, "1 .");
    EXPECT(mini_finished(host, 0, 1), mini_completed(host, 0, 3));
    for (int i = 0; i < 2; i++)
        mini_calls(host, &call, "1 .");
    for (uint32_t seq = 1; seq <= 3; seq++)
        check_result(host, 2, &call, seq);
    mini_end(host);
}

TEST("the bounds follow from the parameters")
{
    struct sg_algo_setup setup = {0, 16, {.credits = 4}};
    struct sg_algo_needs needs;

    EXPECT(sg_algo_handoff.needs(&setup, &needs));
    /* Left and right operands, folded values and results, and the operands read, by place. */
    EXPECT(needs.slots == 5 * 4);
    /* Counters, results' numbers, done cells by place. */
    EXPECT(needs.cells == 3 * 4);
    setup.parameters.credits = 65;
    EXPECT(!sg_algo_handoff.needs(&setup, &needs));
    setup.parameters.credits = 1;
    EXPECT(!sg_algo_handoff.needs(&setup, &needs));
}
