/* Tests how ranks' reports of their waiting add up to a run's. */
#include "core/waiting.h"
#include "lib/unit.h"

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

TEST("a machine is oversubscribed by processors or by its quota")
{
    EXPECT(!is_short(2, 2, 0), !is_short(1, 2, 0), is_short(3, 2, 0), is_short(2, 64, 1),
           !is_short(2, 64, 2), is_short(4, 2, 4), !is_short(0, 0, 0), !is_short(4, 0, 1));
}

TEST("times are summed over the ranks that report them")
{
    struct sg_run_waiting run = {0};
    const struct sg_waiting silent = {0};
    struct sg_waiting rank = rank_of(2, 2, 0);

    sg_waiting_add(&run, &silent, "silent");
    EXPECT(run.told == 0);
    rank.mode = SG_WAIT_SLEEP;
    sg_waiting_add(&run, &rank, "one");
    rank = rank_of(2, 2, 0);
    rank.hook[0] = '\0';
    sg_waiting_add(&run, &rank, "two");
    EXPECT(run.told == 2, run.mode == SG_WAIT_SLEEP, text_is(run.hook, "ucx"), run.short_ranks == 0,
           text_is(run.host, "one"), run.yields == 2, run.yield_ns == 20, run.sleeps == 200,
           run.sleep_ns == 2000);
}

/* By processors a rank, of several machines. */
TEST("the machine with the fewest processors per rank is named")
{
    struct sg_run_waiting run = {0};
    const struct sg_waiting roomy = rank_of(4, 8, 0), full = rank_of(8, 8, 0),
                            tight = rank_of(8, 16, 3), unknown = rank_of(0, 0, 0);

    sg_waiting_add(&run, &unknown, "unknown");
    sg_waiting_add(&run, &roomy, "roomy");
    EXPECT(text_is(run.host, "roomy"));
    sg_waiting_add(&run, &full, "full");
    EXPECT(text_is(run.host, "full"));
    sg_waiting_add(&run, &tight, "tight");
    sg_waiting_add(&run, &tight, "tight");
    sg_waiting_add(&run, &full, "full");
    EXPECT(text_is(run.host, "tight"), run.ranks == 8, run.processors == 16, run.quota == 3,
           run.short_ranks == 2, run.told == 6);
}

TEST("a rank with an unknown mode does not count")
{
    struct sg_run_waiting run = {0};
    struct sg_waiting rank = rank_of(4, 2, 0);

    rank.mode = SG_WAIT_MODE_COUNT;
    sg_waiting_add(&run, &rank, "odd");
    EXPECT(run.told == 0);
}
