/* Tests the adaptive barrier and allreduce on the mini host. The host checks that no call ends
 * before all have begun, and that states, slots and actions stay within bounds. */
#include "algos/associations.h"
#include "lib/unit.h"

#define MARK(mark) (UINT64_C(1) << SG_MARK_##mark)
#define EXACT (SG_CALL_EXACT | SG_CALL_COMMUTATIVE)

static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 64};
#define SIZES ((int)(sizeof sizes / sizeof sizes[0]))

static const struct sg_algo_call barrier = {.operation = SG_OPERATION_BARRIER, .root = -1};

static struct sg_algo_call allreduce(uint32_t flags)
{
    return (struct sg_algo_call){
        .operation = SG_OPERATION_ALLREDUCE, .flags = flags, .bytes = 16, .root = -1};
}

static struct mini_setup setup_of(int size, uint8_t degree, uint8_t tokens, uint64_t seed)
{
    return (struct mini_setup){
        .algo = &sg_algo_adaptive,
        .size = size,
        .parameters = {.degree = degree, .tokens = tokens},
        .seed = seed,
    };
}

static void check_results(const struct mini_host *host, int size, int degree, uint32_t seq,
                          uint32_t flags)
{
    struct association of = {
        .size = size, .degree = degree == 0 ? 4 : degree, .seq = seq, .flags = flags};
    uint64_t expected =
        of.degree == 1 ? association_contiguous(&of, 0, size) : association_tree(&of);

    for (int rank = 0; rank < size; rank++)
        ASSERT(mini_result(host, rank, seq, 0) == expected);
}

/* All but `late` come, everything settles; then these, one after the other. */
static void late_ranks(struct mini_host *host, int size, const struct sg_algo_call *call,
                       const int *late, int count)
{
    for (int rank = 0; rank < size; rank++) {
        bool comes = true;

        for (int i = 0; i < count; i++)
            comes = comes && rank != late[i];
        if (comes)
            mini_call(host, rank, call);
    }
    mini_settle(host);
    for (int i = 0; i < count; i++) {
        mini_call(host, late[i], call);
        if (i % 2 == 0)
            mini_settle(host);
    }
    mini_settle(host);
}

static void late_patterns(uint8_t degree, uint8_t tokens, const struct sg_algo_call *call)
{
    for (int s = 0; s < SIZES; s++) {
        int size = sizes[s];

        /* As deep a chain with several tokens is refused. */
        if (degree == 1 && size == 64)
            continue;
        for (int a = 0; a<size; a += size> 17 ? 9 : 1) {
            for (int b = 0; b<size; b += size> 17 ? 7 : 1) {
                struct mini_setup setup = setup_of(size, degree, tokens, (uint64_t)a);
                struct mini_host *host = mini_new(&setup);
                int late[] = {a, b};

                late_ranks(host, size, call, late, a == b ? 1 : 2);
                for (int rank = 0; rank < size; rank++)
                    ASSERT(mini_finished(host, rank, 1));
                if (call->bytes > 0)
                    check_results(host, size, degree, 1, call->flags);
                mini_end(host);
            }
        }
    }
}

TEST("a barrier completes with any one or two late ranks and one to three tokens")
{
    late_patterns(0, 1, &barrier);
    late_patterns(2, 2, &barrier);
    late_patterns(0, 3, &barrier);
}

TEST("an ordered allreduce has its tree's bits whichever rank is late")
{
    struct sg_algo_call call = allreduce(0);

    for (uint8_t degree = 1; degree <= 4; degree++) {
        late_patterns(degree, 1, &call);
        late_patterns(degree, 2, &call);
    }
    late_patterns(8, 4, &call);
}

TEST("an exact allreduce is right whichever rank is late")
{
    struct sg_algo_call call = allreduce(EXACT);

    for (uint8_t tokens = 1; tokens <= 4; tokens++)
        late_patterns(tokens == 2 ? 2 : 0, tokens, &call);
}

/* The last one releases: all that is left is the multicast. */
TEST("a single last rank only sends the multicast")
{
    for (int late = 0; late < 17; late++) {
        struct mini_setup setup = setup_of(17, 2, 1, 1);
        struct mini_host *host = mini_new(&setup);

        for (int rank = 0; rank < 17; rank++) {
            if (rank != late)
                mini_call(host, rank, &barrier);
        }
        mini_settle(host);
        mini_call(host, late, &barrier);
        EXPECT(mini_completed(host, late, 1), mini_actions(host, late, SG_ACTION_MULTICAST) == 1,
               mini_in_flight(host, -1, -1) == 16,
               ((mini_marks(host, -1) & MARK(TOKEN_MOVED)) != 0) == (late != 0));
        mini_settle(host);
        mini_end(host);
    }
}

/* Two late ones below different children of the root: their tokens wait there for them. */
TEST("two last ranks below different children each release with two tokens")
{
    struct mini_setup setup = setup_of(16, 8, 2, 1);
    struct mini_host *host = mini_new(&setup);
    struct sg_algo_call call = allreduce(0);

    for (int rank = 0; rank < 16; rank++) {
        if (rank != 2 && rank != 15)
            mini_call(host, rank, &call);
    }
    mini_settle(host);
    int before = mini_actions(host, -1, SG_ACTION_SEND);
    mini_calls(host, &call, "2 15");
    EXPECT(mini_actions(host, 2, SG_ACTION_MULTICAST) == 1,
           mini_actions(host, 15, SG_ACTION_MULTICAST) == 1);
    mini_settle(host);
    EXPECT(mini_actions(host, -1, SG_ACTION_SEND) == before,
           mini_marks(host, -1) & MARK(TOKENS_MEET));
    check_results(host, 16, 8, 1, 0);
    mini_end(host);
}

/* Rank 1's ack and rank 0's token are under way together. */
TEST("an endpoint that gets a token after its ack releases, and its parent waits")
{
    struct sg_algo_call calls[] = {barrier, allreduce(0), allreduce(EXACT)};

    for (int i = 0; i < 3; i++) {
        struct mini_setup setup = setup_of(2, 0, 1, 1);
        struct mini_host *host = mini_new(&setup);

        mini_call_all(host, &calls[i]);
        EXPECT(mini_in_flight(host, 0, 1) == 1, mini_in_flight(host, 1, 0) == 1);
        mini_deliver(host, 1, 0);
        EXPECT(!mini_completed(host, 0, 1));
        mini_deliver(host, 0, 1);
        EXPECT(mini_completed(host, 1, 1), mini_marks(host, 1) & MARK(TOKEN_ACK_CROSS),
               mini_actions(host, 0, SG_ACTION_MULTICAST) == 0);
        mini_settle(host);
        EXPECT(mini_completed(host, 0, 1));
        if (calls[i].bytes > 0)
            check_results(host, 2, 4, 1, calls[i].flags);
        mini_end(host);
    }
}

TEST("results have the tree's bits in a thousand orders with losses and duplicates")
{
    struct sg_algo_call calls[6];
    uint64_t marks = 0;

    for (int i = 0; i < 6; i++)
        calls[i] = i % 3 == 2 ? barrier : allreduce(0);
    for (uint64_t seed = 0; seed < 1000 / (uint64_t)unit_step(); seed++) {
        int size = sizes[seed % SIZES];
        uint8_t degree = (uint8_t)(seed / 3 % 6);
        struct mini_setup setup = setup_of(size, degree, (uint8_t)(seed % 5), seed);

        setup.loss_percent = seed % 2 ? 20 : 0;
        setup.repeat_percent = seed % 3 ? 20 : 0;
        setup.parameters.predict = seed % 7 == 0;
        if (size == 64 && degree == 1)
            continue;
        struct mini_host *host = mini_new(&setup);
        mini_drive(host, calls, 6);
        for (uint32_t seq = 1; seq <= 6; seq++) {
            if (seq % 3 != 0)
                check_results(host, size, degree, seq, 0);
        }
        marks |= mini_marks(host, -1);
        mini_free(host);
    }
    EXPECT((marks & MARK(TOKEN_ACK_CROSS)) == MARK(TOKEN_ACK_CROSS),
           (marks & MARK(TOKEN_MOVED)) == MARK(TOKEN_MOVED),
           (marks & MARK(TOKENS_MEET)) == MARK(TOKENS_MEET),
           (marks & MARK(RELEASE_EARLY)) == MARK(RELEASE_EARLY),
           (marks & MARK(RELEASE_LOST)) == MARK(RELEASE_LOST),
           (marks & MARK(RELEASE_ANSWERED)) == MARK(RELEASE_ANSWERED),
           (marks & MARK(RELEASE_FORWARDED)) == MARK(RELEASE_FORWARDED),
           (marks & MARK(RELEASE_REPEATED)) == MARK(RELEASE_REPEATED));
}

/* As they come, which no reference can say: but everywhere the same. */
TEST("with arrival order all endpoints get the same bits")
{
    struct sg_algo_call call = allreduce(SG_CALL_COMMUTATIVE);

    for (uint64_t seed = 0; seed < 300 / (uint64_t)unit_step(); seed++) {
        int size = sizes[seed % SIZES];
        struct mini_setup setup =
            setup_of(size, (uint8_t)(seed % 4 + 2), (uint8_t)(seed % 5), seed);

        setup.parameters.arrival_order = 1;
        struct mini_host *host = mini_new(&setup);
        mini_drive(host, &call, 1);
        for (int rank = 1; rank < size; rank++)
            EXPECT(mini_result(host, rank, 1, 0) == mini_result(host, 0, 1, 0));
        mini_free(host);
    }
}

/* Deterministic although commutative: arrival_order is off. */
TEST("a commutative operation has the tree's bits without arrival order")
{
    struct sg_algo_call call = allreduce(SG_CALL_COMMUTATIVE);

    for (uint64_t seed = 0; seed < 200 / (uint64_t)unit_step(); seed++) {
        struct mini_setup setup = setup_of(17, 3, (uint8_t)(seed % 3), seed);
        struct mini_host *host = mini_new(&setup);

        setup.parameters.predict = 1;
        mini_drive(host, &call, 1);
        check_results(host, 17, 3, 1, SG_CALL_COMMUTATIVE);
        mini_free(host);
    }
}

static void habitually_late(struct mini_host *host, int size, int late, int instances,
                            const struct sg_algo_call *call)
{
    for (int i = 0; i < instances; i++) {
        late_ranks(host, size, call, &late, 1);
        for (int rank = 0; rank < size; rank++)
            ASSERT(mini_head(host, rank)->in_call == 0);
    }
}

TEST("the token starts at the usual last arriver, and moves after a wrong prediction")
{
    struct sg_algo_call calls[] = {barrier, allreduce(EXACT)};

    for (int i = 0; i < 2; i++) {
        struct mini_setup setup = setup_of(17, 2, 1, 1);

        setup.parameters.predict = 1;
        struct mini_host *host = mini_new(&setup);
        habitually_late(host, 17, 13, 3, &calls[i]);
        EXPECT(mini_marks(host, 13) & MARK(PREDICTED),
               !(mini_marks(host, -1) & MARK(PREDICT_WRONG)));
        /* It holds the token from the start: all that is sent are acks. */
        int moved = mini_actions(host, -1, SG_ACTION_SEND);
        habitually_late(host, 17, 13, 1, &calls[i]);
        EXPECT(mini_actions(host, -1, SG_ACTION_SEND) - moved == 16);
        /* Another one is last: the token goes there. */
        habitually_late(host, 17, 5, 1, &calls[i]);
        EXPECT(mini_marks(host, 5) & MARK(PREDICT_WRONG));
        habitually_late(host, 17, 5, 6, &calls[i]);
        EXPECT(mini_marks(host, 5) & MARK(PREDICTED));
        if (calls[i].bytes > 0) {
            for (uint32_t seq = 1; seq <= 11; seq++)
                check_results(host, 17, 2, seq, EXACT);
        }
        mini_end(host);
    }
}

/* Prediction at random, with losses: all endpoints must always agree on the tree. */
TEST("all endpoints agree on predictions in any order and with losses")
{
    struct sg_algo_call calls[12];
    uint64_t marks = 0;

    for (int i = 0; i < 12; i++) {
        calls[i] = i % 4 == 3 ? barrier : allreduce(EXACT);
        calls[i].site = (uint32_t)i % 2;
    }
    for (uint64_t seed = 0; seed < 300 / (uint64_t)unit_step(); seed++) {
        int size = sizes[seed % SIZES];
        struct mini_setup setup =
            setup_of(size, (uint8_t)(2 + seed % 4), (uint8_t)(seed % 4), seed);

        setup.parameters.predict = 1;
        setup.loss_percent = seed % 2 ? 15 : 0;
        struct mini_host *host = mini_new(&setup);
        mini_drive(host, calls, 12);
        for (uint32_t seq = 1; seq <= 12; seq++) {
            if (seq % 4 != 0)
                check_results(host, size, 2 + (int)(seed % 4), seq, EXACT);
        }
        marks |= mini_marks(host, -1);
        mini_free(host);
    }
    EXPECT((marks & MARK(PREDICTED)) == MARK(PREDICTED),
           (marks & MARK(PREDICT_WRONG)) == MARK(PREDICT_WRONG));
}

/* 2^20 endpoints of a simulator have to fit. */
TEST("the state is small, and setups that a token cannot serve are refused")
{
    struct sg_algo_setup setup = {.rank = 0, .size = 1 << 20};
    struct sg_algo_needs needs;

    ASSERT(sg_algo_adaptive.needs(&setup, &needs));
    EXPECT(needs.state_bytes <= 400);
    setup.parameters.degree = 33;
    EXPECT(!sg_algo_adaptive.needs(&setup, &needs));
    setup.parameters.degree = 1;
    EXPECT(!sg_algo_adaptive.needs(&setup, &needs));
    for (uint8_t degree = 2; degree <= 32; degree++) {
        setup.parameters.degree = degree;
        setup.parameters.tokens = 4;
        setup.size = SG_ENDPOINTS_MAX;
        EXPECT(sg_algo_adaptive.needs(&setup, &needs));
    }
}
