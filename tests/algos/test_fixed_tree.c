/* Tests the non-adaptive tree on the mini host: reduce, allreduce and barrier. */
#include "algos/associations.h"
#include "lib/unit.h"

#define MARK(mark) (UINT64_C(1) << SG_MARK_##mark)

static const struct sg_algo_call barrier = {.operation = SG_OPERATION_BARRIER, .root = -1};

static struct sg_algo_call data_call(enum sg_operation operation, int root, uint32_t flags)
{
    return (struct sg_algo_call){.operation = operation, .flags = flags, .bytes = 16, .root = root};
}

static struct mini_setup setup_of(int size, uint8_t degree, uint64_t seed)
{
    return (struct mini_setup){
        .algo = &sg_algo_tree, .size = size, .parameters = {.degree = degree}, .seed = seed};
}

static uint64_t expected(int size, int degree, uint32_t seq, uint32_t flags, int root)
{
    struct association of = {
        .size = size,
        .origin = root > 0 && (flags & SG_CALL_COMMUTATIVE) ? root : 0,
        .degree = degree == 0 ? 4 : degree,
        .seq = seq,
        .flags = flags,
    };

    return association_tree(&of);
}

TEST("a reduce has its tree's bits at every root")
{
    static const uint32_t flags[] = {0, SG_CALL_COMMUTATIVE};

    for (int size = 1; size <= 17; size++) {
        for (int root = 0; root < size; root++) {
            for (uint8_t degree = 0; degree < 4; degree++) {
                for (int i = 0; i < 2; i++) {
                    struct mini_setup setup = setup_of(size, degree, (uint64_t)root);
                    struct mini_host *host = mini_new(&setup);
                    struct sg_algo_call call = data_call(SG_OPERATION_REDUCE, root, flags[i]);

                    mini_drive(host, &call, 1);
                    EXPECT(mini_result(host, root, 1, 0) ==
                           expected(size, degree, 1, flags[i], root));
                    mini_free(host);
                }
            }
        }
    }
}

/* Changing roots and operations, endpoints far ahead of others, losses. */
TEST("reduces at changing roots, allreduces and barriers mix, with losses")
{
    struct sg_algo_call calls[24];
    uint64_t marks = 0;

    for (uint64_t seed = 0; seed < 400; seed += (uint64_t)unit_step()) {
        int size = seed % 20 == 19 ? 64 : 1 + (int)(seed % 17);
        uint8_t degree = (uint8_t)(seed % 5);
        struct mini_setup setup = setup_of(size, degree, seed);

        for (int i = 0; i < 24; i++) {
            int root = (int)(seed * 7 + (seed % 3 ? (uint64_t)i * i : 0)) % size;
            uint32_t flags = i % 4 < 2 ? 0 : SG_CALL_COMMUTATIVE;

            calls[i] = data_call(SG_OPERATION_REDUCE, root, flags);
            if (seed % 2 && i % 9 == 5)
                calls[i] = barrier;
            else if (seed % 2 && i % 9 == 7)
                calls[i] = data_call(SG_OPERATION_ALLREDUCE, -1, flags);
        }
        setup.parameters.credits = (uint8_t)(seed % 7 + 2);
        setup.loss_percent = seed % 4 == 1 ? 30 : 0;
        setup.repeat_percent = seed % 4 == 3 ? 30 : 0;
        struct mini_host *host = mini_new(&setup);
        mini_drive(host, calls, 24);
        for (int i = 0; i < 24; i++) {
            int first = calls[i].root < 0 ? 0 : calls[i].root;
            int last = calls[i].root < 0 ? size - 1 : calls[i].root;

            for (int rank = first; rank <= last && calls[i].bytes > 0; rank++)
                EXPECT(mini_result(host, rank, (uint32_t)i + 1, 0) ==
                       expected(size, degree, (uint32_t)i + 1, calls[i].flags, calls[i].root));
        }
        marks |= mini_marks(host, -1);
        mini_free(host);
    }
    EXPECT(marks & MARK(EARLY), marks & MARK(CREDIT_OUT), marks & MARK(RELEASE_LOST),
           marks & MARK(RELEASE_ANSWERED), marks & MARK(RELEASE_REPEATED));
}

/* Rank 0 has not come: a leaf leaves `credits` reduces and is held in the next one, and what waits
 * at rank 0 is bounded. */
TEST("a leaf runs ahead by its credits and no further")
{
    for (uint8_t credits = 2; credits <= 9; credits++) {
        struct mini_setup setup = setup_of(2, 1, 1);
        struct sg_algo_call call = data_call(SG_OPERATION_REDUCE, 0, 0);

        setup.parameters.credits = credits;
        struct mini_host *host = mini_new(&setup);
        for (int i = 0; i < credits; i++) {
            mini_call(host, 1, &call);
            ASSERT(mini_completed(host, 1, (uint32_t)i + 1));
        }
        mini_calls(host, &call, "1 .");
        EXPECT(!mini_completed(host, 1, credits + 1u), mini_head(host, 1)->stalls == 1,
               mini_head(host, 0)->early == credits);
        for (uint32_t seq = 1; seq <= credits + 1u; seq++) {
            mini_calls(host, &call, "0 .");
            EXPECT(mini_result(host, 0, seq, 0) == expected(2, 1, seq, 0, 0));
        }
        EXPECT(mini_completed(host, 1, credits + 1u));
        mini_end(host);
    }
}

/* Children are folded in order whatever the order of arrival: rank 4's waits for those of 1 and 2.
 */
TEST("the binomial tree folds its children in order")
{
    struct mini_setup setup = setup_of(8, 1, 1);
    struct mini_host *host = mini_new(&setup);
    struct sg_algo_call call = data_call(SG_OPERATION_REDUCE, 0, 0);

    mini_calls(host, &call, "0 5 6 7 4 .");
    EXPECT(mini_actions(host, 0, SG_ACTION_COPY) == 1, mini_actions(host, 0, SG_ACTION_REDUCE) == 0,
           !mini_completed(host, 0, 1));
    mini_calls(host, &call, "1 2 3 .");
    EXPECT(mini_result(host, 0, 1, 0) == expected(8, 1, 1, 0, 0));
    mini_end(host);
}

/* Synchronising instances raise the floor for nothing: no message but contributions. */
TEST("barriers need no messages but contributions and releases")
{
    struct mini_setup setup = setup_of(17, 2, 1);
    struct mini_host *host = mini_new(&setup);

    for (int i = 0; i < 40; i++) {
        mini_call_all(host, &barrier);
        mini_settle(host);
    }
    EXPECT(mini_actions(host, -1, SG_ACTION_SEND) == 40 * 16,
           mini_actions(host, -1, SG_ACTION_MULTICAST) == 40);
    mini_end(host);
}

TEST("an exact operation is right in arrival order")
{
    struct sg_algo_call call =
        data_call(SG_OPERATION_REDUCE, 3, SG_CALL_EXACT | SG_CALL_COMMUTATIVE);

    for (uint64_t seed = 0; seed < 60; seed += (uint64_t)unit_step()) {
        struct mini_setup setup = setup_of(4 + (int)(seed % 14), (uint8_t)(seed % 4), seed);

        setup.parameters.arrival_order = 1;
        struct mini_host *host = mini_new(&setup);
        mini_drive(host, &call, 1);
        EXPECT(mini_result(host, 3, 1, 0) ==
               expected(setup.size, setup.parameters.degree, 1, call.flags, 3));
        mini_free(host);
    }
}

TEST("the state is small, and a wrong degree or too few credits are refused")
{
    struct sg_algo_setup setup = {.rank = 0, .size = 1 << 20};
    struct sg_algo_needs needs;

    ASSERT(sg_algo_tree.needs(&setup, &needs));
    EXPECT(needs.state_bytes <= 1024);
    setup.parameters.degree = 33;
    EXPECT(!sg_algo_tree.needs(&setup, &needs));
    setup.parameters.degree = 0;
    setup.parameters.credits = 1;
    EXPECT(!sg_algo_tree.needs(&setup, &needs));
}
