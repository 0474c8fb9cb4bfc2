/* Tests the dissemination barrier on the mini host, which checks that no endpoint leaves too
 * early. */
#include "algos/mini_host.h"
#include "lib/unit.h"

static const struct sg_algo_call barrier = {.operation = SG_OPERATION_BARRIER, .root = -1};

TEST("barriers complete in every order")
{
    struct sg_algo_call calls[10];
    uint64_t marks = 0;

    for (int i = 0; i < 10; i++)
        calls[i] = barrier;
    for (uint64_t seed = 0; seed < 180; seed++) {
        struct mini_setup setup = {.algo = &sg_algo_dissemination,
                                   .size = seed % 18 == 17 ? 64 : 1 + (int)(seed % 18)};

        setup.seed = seed;
        struct mini_host *host = mini_new(&setup);
        mini_drive(host, calls, 10);
        EXPECT(mini_actions(host, -1, SG_ACTION_FINISH) == 10 * setup.size);
        marks |= mini_marks(host, -1);
        mini_free(host);
    }
    EXPECT(marks & UINT64_C(1) << SG_MARK_EARLY);
}

/* A late endpoint holds up all others. */
TEST("any late rank holds all the others")
{
    for (int size = 2; size <= 17; size++) {
        for (int late = 0; late < size; late++) {
            struct mini_setup setup = {.algo = &sg_algo_dissemination, .size = size};
            struct mini_host *host = mini_new(&setup);

            for (int rank = 0; rank < size; rank++) {
                if (rank != late)
                    mini_call(host, rank, &barrier);
            }
            mini_settle(host);
            EXPECT(mini_actions(host, -1, SG_ACTION_COMPLETE) == 0);
            mini_call(host, late, &barrier);
            mini_settle(host);
            EXPECT(mini_actions(host, -1, SG_ACTION_COMPLETE) == size);
            mini_free(host);
        }
    }
}

/* ceil(log2(size)) messages each. */
TEST("the number of messages is the algorithm's")
{
    static const struct {
        int size, rounds;
    } cases[] = {{1, 0}, {2, 1}, {3, 2}, {8, 3}, {9, 4}, {64, 6}};

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mini_setup setup = {.algo = &sg_algo_dissemination, .size = cases[i].size};
        struct mini_host *host = mini_new(&setup);

        mini_call_all(host, &barrier);
        mini_settle(host);
        EXPECT(mini_actions(host, -1, SG_ACTION_SEND) == cases[i].rounds * cases[i].size);
        mini_free(host);
    }
}
