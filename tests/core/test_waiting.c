/* Tests how ranks' reports of their waiting add up to a run's. */
#include "core/waiting.h"
#include "lib/unit.h"

#include <string.h>

static struct sg_waiting rank_of(int ranks, int processors, int quota)
{
    return (struct sg_waiting){.told = 1,
                               .mode = SG_WAIT_AUTO,
                               .ranks = ranks,
                               .processors = processors,
                               .quota = quota,
                               .hook = "ucx",
                               .yields = 1,
                               .yield_ns = 10,
                               .sleeps = 100,
                               .sleep_ns = 1000};
}

static bool is_short(int ranks, int processors, int quota)
{
    const struct sg_waiting rank = rank_of(ranks, processors, quota);

    return sg_waiting_is_short(&rank);
}

static void which_is_short(void)
{
    CU_ASSERT_FALSE(is_short(2, 2, 0));
    CU_ASSERT_FALSE(is_short(1, 2, 0));
    CU_ASSERT_TRUE(is_short(3, 2, 0));
    CU_ASSERT_TRUE(is_short(2, 64, 1));
    CU_ASSERT_FALSE(is_short(2, 64, 2));
    CU_ASSERT_TRUE(is_short(4, 2, 4));
    CU_ASSERT_FALSE(is_short(0, 0, 0));
    CU_ASSERT_FALSE(is_short(4, 0, 1));
}

static void add_up(void)
{
    struct sg_run_waiting run = {0};
    const struct sg_waiting silent = {0};
    struct sg_waiting rank = rank_of(2, 2, 0);

    sg_waiting_add(&run, &silent, "silent");
    CU_ASSERT_EQUAL(run.told, 0);
    rank.mode = SG_WAIT_SLEEP;
    sg_waiting_add(&run, &rank, "one");
    rank = rank_of(2, 2, 0);
    rank.hook[0] = '\0';
    sg_waiting_add(&run, &rank, "two");
    CU_ASSERT_EQUAL(run.told, 2);
    CU_ASSERT_EQUAL(run.mode, SG_WAIT_SLEEP);
    CU_ASSERT_STRING_EQUAL(run.hook, "ucx");
    CU_ASSERT_EQUAL(run.short_ranks, 0);
    CU_ASSERT_STRING_EQUAL(run.host, "one");
    CU_ASSERT_EQUAL(run.yields, 2);
    CU_ASSERT_EQUAL(run.yield_ns, 20);
    CU_ASSERT_EQUAL(run.sleeps, 200);
    CU_ASSERT_EQUAL(run.sleep_ns, 2000);
}

/* By processors a rank, of several machines. */
static void worst_machine(void)
{
    struct sg_run_waiting run = {0};
    const struct sg_waiting roomy = rank_of(4, 8, 0), full = rank_of(8, 8, 0),
                            tight = rank_of(8, 16, 3), unknown = rank_of(0, 0, 0);

    sg_waiting_add(&run, &unknown, "unknown");
    sg_waiting_add(&run, &roomy, "roomy");
    CU_ASSERT_STRING_EQUAL(run.host, "roomy");
    sg_waiting_add(&run, &full, "full");
    CU_ASSERT_STRING_EQUAL(run.host, "full");
    sg_waiting_add(&run, &tight, "tight");
    sg_waiting_add(&run, &tight, "tight");
    sg_waiting_add(&run, &full, "full");
    CU_ASSERT_STRING_EQUAL(run.host, "tight");
    CU_ASSERT_EQUAL(run.ranks, 8);
    CU_ASSERT_EQUAL(run.processors, 16);
    CU_ASSERT_EQUAL(run.quota, 3);
    CU_ASSERT_EQUAL(run.short_ranks, 2);
    CU_ASSERT_EQUAL(run.told, 6);
}

static void no_mode(void)
{
    struct sg_run_waiting run = {0};
    struct sg_waiting rank = rank_of(4, 2, 0);

    rank.mode = SG_WAIT_MODE_COUNT;
    sg_waiting_add(&run, &rank, "odd");
    CU_ASSERT_EQUAL(run.told, 0);
}

const struct unit_test unit_tests[] = {
    {"a machine is short by processors or by its quota", which_is_short},
    {"times are added up over the ranks that tell", add_up},
    {"the machine with the fewest processors a rank is named", worst_machine},
    {"a rank with a mode that is none does not count", no_mode},
    {NULL, NULL},
};
