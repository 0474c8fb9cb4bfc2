/* Tests the account of a call: the parts of paths that are worked out by hand. */
#include "bench/call_account.h"
#include "lib/unit.h"

#include <math.h>

#define CALLS 4

static sg_bench_marks marks[SG_BENCH_ACCOUNT_RANKS][CALLS];
static const sg_bench_marks *const ranks[] = {marks[0], marks[1]};

/* One call of a rank: the steps that it marks, each so many counts after the one before. */
static uint64_t put(int rank, size_t call, uint64_t now, int step, uint64_t takes)
{
    marks[rank][call][step] = now + takes;
    return now + takes;
}

/* Two ranks alike: 10 for the wrapper, 20 for the plan, 5 to publish; a line is seen after 100, and
 * 7 remain. Rank 1 begins 3 later than rank 0, and so each is late in turn. */
static void fill_alike(void)
{
    uint64_t now[] = {1000, 1003};

    memset(marks, 0, sizeof marks);
    for (size_t call = 0; call < CALLS; call++) {
        uint64_t published[2];

        for (int rank = 0; rank < 2; rank++) {
            now[rank] = put(rank, call, now[rank], SG_ACCOUNT_ENTERED, 10);
            now[rank] = put(rank, call, now[rank], SG_ACCOUNT_PLAN, 20);
            published[rank] = now[rank] = put(rank, call, now[rank], SG_ACCOUNT_PUBLISH, 5);
        }
        for (int rank = 0; rank < 2; rank++) {
            now[rank] = put(rank, call, published[!rank], SG_ACCOUNT_SEE, 100);
            now[rank] = put(rank, call, now[rank], SG_ACCOUNT_RETURN, 7);
        }
    }
}

TEST("the path goes through the rank whose cache line arrives last")
{
    struct sg_bench_account account;

    fill_alike();
    EXPECT(sg_bench_account_walk(ranks, 1, CALLS, 0, 80, &account),
           is_near(account.parts[SG_BENCH_PART_WRAPPER], 10 + 7, 1e-9),
           is_near(account.parts[SG_BENCH_PART_PLAN], 20, 1e-9),
           is_near(account.parts[SG_BENCH_PART_PUBLISH], 5, 1e-9),
           is_near(account.parts[SG_BENCH_PART_TRANSFER], 80, 1e-9),
           is_near(account.parts[SG_BENCH_PART_SEE], 20, 1e-9), is_near(account.sum, 142, 1e-9));
}

TEST("the account excludes the time that marks take")
{
    struct sg_bench_account account;

    fill_alike();
    EXPECT(sg_bench_account_walk(ranks, 1, CALLS, 2, 80, &account),
           is_near(account.parts[SG_BENCH_PART_PLAN], 18, 1e-9),
           is_near(account.parts[SG_BENCH_PART_TRANSFER], 80, 1e-9),
           is_near(account.sum, 142 - 4 * 2, 1e-9));
}

/* A reduce with a slow root, rank 1. Rank 0 runs ahead and gets its last slot 60 after the root
 * has left the call before. */
TEST("a rank that waits for a slot has the path of the rank that leaves it")
{
    struct sg_bench_account account;
    uint64_t root = 1000, now = 1000, left = 0;

    memset(marks, 0, sizeof marks);
    for (size_t call = 0; call < CALLS; call++) {
        now = put(0, call, now, SG_ACCOUNT_ENTERED, 10);
        if (call == CALLS - 1)
            now = put(0, call, left, SG_ACCOUNT_SLOT, 60);
        now = put(0, call, now, SG_ACCOUNT_PUBLISH, 5);
        now = put(0, call, now, SG_ACCOUNT_RETURN, 2);
        root = put(1, call, root, SG_ACCOUNT_ENTERED, 10);
        root = put(1, call, root, SG_ACCOUNT_PUBLISH, 300);
        root = put(1, call, root, SG_ACCOUNT_SEE, 4);
        left = root = put(1, call, root, SG_ACCOUNT_LEAVE, 50);
        root = put(1, call, root, SG_ACCOUNT_RETURN, 1);
    }
    /* To the root's end: all that it takes, and nothing of the other rank. */
    EXPECT(sg_bench_account_walk(ranks, 1, CALLS, 0, 80, &account), is_near(account.sum, 365, 1e-9),
           is_near(account.parts[SG_BENCH_PART_TRANSFER], 0, 1e-9),
           is_near(account.parts[SG_BENCH_PART_SEE], 4, 1e-9));
    /* To the other rank's end. */
    put(0, CALLS - 1, root, SG_ACCOUNT_RETURN, 2);
    EXPECT(sg_bench_account_walk(ranks, CALLS - 1, CALLS, 0, 80, &account),
           is_near(account.parts[SG_BENCH_PART_SLOT], 60, 1e-9),
           is_near(account.parts[SG_BENCH_PART_PUBLISH], 5, 1e-9),
           is_near(account.parts[SG_BENCH_PART_LEAVE], 0, 1e-9));
}

TEST("missing marks give no account")
{
    struct sg_bench_account account;

    fill_alike();
    marks[1][2][SG_ACCOUNT_PUBLISH] = 0;
    EXPECT(!sg_bench_account_walk(ranks, 1, CALLS, 0, 80, &account));
}

TEST("a call of one rank has the time from mark to mark, whatever steps it skips")
{
    struct sg_bench_account account = {.sum = 0};
    sg_bench_marks call = {
        [SG_ACCOUNT_ENTERED] = 100,  [SG_ACCOUNT_SITE] = 104,    [SG_ACCOUNT_CALLED] = 154,
        [SG_ACCOUNT_FOLLOWED] = 163, [SG_ACCOUNT_AWAITED] = 170, [SG_ACCOUNT_RETURN] = 173};
    sg_bench_marks none = {0};

    EXPECT(sg_bench_account_add(&call, 1, &account),
           is_near(account.parts[SG_BENCH_PART_SITE], 3, 1e-9),
           is_near(account.parts[SG_BENCH_PART_MPI], 49, 1e-9),
           is_near(account.parts[SG_BENCH_PART_REQUESTS], 8 + 6, 1e-9),
           is_near(account.sum, 73 - 5, 1e-9), !sg_bench_account_add(&none, 1, &account));
}

TEST("the account is the mean of the quicker half of the blocks")
{
    struct sg_bench_account accounts[5] = {
        {.sum = 9}, {.sum = 2}, {.sum = 700}, {.sum = 4}, {.sum = 3}};

    for (int i = 0; i < 5; i++)
        accounts[i].parts[SG_BENCH_PART_SEE] = accounts[i].sum / 2;
    struct sg_bench_account mean = sg_bench_account_of_all(accounts, 5);
    EXPECT(is_near(mean.sum, 3, 1e-9), is_near(mean.parts[SG_BENCH_PART_SEE], 1.5, 1e-9));
}
