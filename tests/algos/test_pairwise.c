/* Tests recursive doubling on the mini host. */
#include "algos/associations.h"
#include "lib/unit.h"

#define INSTANCES 8

static void run(int size, uint64_t seed, uint64_t *marks)
{
    struct mini_setup setup = {.algo = &sg_algo_pairwise, .size = size, .seed = seed};
    struct sg_algo_call calls[INSTANCES];
    struct mini_host *host = mini_new(&setup);

    for (int i = 0; i < INSTANCES; i++) {
        calls[i] =
            (struct sg_algo_call){.operation = SG_OPERATION_ALLREDUCE, .bytes = 16, .root = -1};
        if (i % 4 == 3)
            calls[i] = (struct sg_algo_call){.operation = SG_OPERATION_BARRIER, .root = -1};
    }
    mini_drive(host, calls, INSTANCES);
    for (uint32_t seq = 1; seq <= INSTANCES; seq++) {
        struct association of = {.size = size, .seq = seq};

        for (int rank = 0; rank < size && seq % 4 != 0; rank++)
            EXPECT(mini_result(host, rank, seq, 0) == association_doubling(&of));
    }
    *marks |= mini_marks(host, -1);
    mini_free(host);
}

TEST("every endpoint gets recursive doubling's bits in every order")
{
    uint64_t marks = 0;

    for (uint64_t seed = 0; seed < 10; seed++) {
        for (int size = 1; size <= 17; size++)
            run(size, seed, &marks);
        run(64, seed, &marks);
    }
    EXPECT(marks & UINT64_C(1) << SG_MARK_EARLY);
}

/* log2(size) messages each, and two more for each pair that folds. */
TEST("the number of messages is the algorithm's")
{
    static const struct {
        int size, messages;
    } cases[] = {{1, 0}, {2, 2}, {3, 4}, {8, 24}, {11, 30}, {16, 64}};

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mini_setup setup = {.algo = &sg_algo_pairwise, .size = cases[i].size};
        struct sg_algo_call call = {.operation = SG_OPERATION_BARRIER, .root = -1};
        struct mini_host *host = mini_new(&setup);

        mini_call_all(host, &call);
        mini_settle(host);
        EXPECT(mini_actions(host, -1, SG_ACTION_SEND) == cases[i].messages,
               mini_actions(host, -1, SG_ACTION_COMPLETE) == cases[i].size);
        mini_free(host);
    }
}
