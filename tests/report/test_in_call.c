/* Tests the account of a part of a call, by hand: a call from 1000 to 2000, and the interval
 * behind it. */
#include "lib/unit.h"
#include "report/cause_intervals.h"

static struct sg_in_call_spent spent;

static void split(int64_t from_ns, int64_t to_ns, struct sg_sampled_interval behind)
{
    const struct sg_in_call call = {
        .begin_ns = 1000, .end_ns = 2000, .from_ns = from_ns, .to_ns = to_ns};

    behind.begin_ns = 2000;
    behind.end_ns = 2100;
    sg_in_call_split(&call, &behind, &spent);
    EXPECT(spent.cpu_ns + spent.ready_ns + spent.throttled_ns + spent.asleep_ns + spent.untold_ns ==
           to_ns - from_ns);
}

static void is(double cpu_ns, double ready_ns, double asleep_ns, double untold_ns)
{
    EXPECT(spent.cpu_ns == cpu_ns, spent.ready_ns == ready_ns, spent.asleep_ns == asleep_ns,
           spent.untold_ns == untold_ns);
}

TEST("without figures nothing is reported")
{
    split(1000, 2000, (struct sg_sampled_interval){0});
    is(0, 0, 0, 1000);
    sg_in_call_split(&(struct sg_in_call){1000, 2000, 1500, 1800}, NULL, &spent);
    is(0, 0, 0, 300);
}

static struct sg_sampled_interval sums(uint64_t cpu_ns, uint64_t runnable_ns)
{
    return (struct sg_sampled_interval){
        .call_cpu_ns = cpu_ns, .call_runnable_ns = runnable_ns, .known = SG_KNOWN_CALL};
}

TEST("the sums of a call describe the whole call")
{
    split(1000, 2000, sums(300, 500));
    is(300, 500, 200, 0);
    /* Readings at both ends of the call are outside of it. */
    split(1000, 2000, sums(1100, 0));
    is(1000, 0, 0, 0);
    split(1000, 2000, sums(400, 700));
    is(400, 600, 0, 0);
}

/* The part lasts 400; up to 600 may fall into the rest of the call. */
TEST("sums describe a part of a call as far as they exceed the rest of the call")
{
    split(1600, 2000, sums(1000, 0));
    is(400, 0, 0, 0);
    split(1600, 2000, sums(0, 1000));
    is(0, 400, 0, 0);
    split(1600, 2000, sums(800, 200));
    is(200, 0, 0, 200);
    split(1600, 2000, sums(500, 500));
    is(0, 0, 0, 400);
    /* Off the processor for 900, of which 100 asleep: 300 are here, 200 of them ready. */
    split(1600, 2000, sums(100, 800));
    is(0, 200, 0, 200);
}

static struct sg_sampled_interval switched(uint64_t resumed_ns, uint64_t away_ns, bool was_ready)
{
    return (struct sg_sampled_interval){.resumed_ns = resumed_ns,
                                        .away_ns = away_ns,
                                        .was_ready = was_ready,
                                        .known = SG_KNOWN_SWITCH};
}

TEST("the last switch describes the last part of a call exactly")
{
    split(1600, 2000, switched(100, 200, true));
    is(100, 200, 0, 100);
    split(1600, 2000, switched(100, 2000, true));
    is(100, 300, 0, 0);
    /* Longer than the call. */
    split(1600, 2000, switched(5000, 100, true));
    is(400, 0, 0, 0);
    /* A thread that was not ready all the time may have slept for any of it. */
    split(1600, 2000, switched(100, 200, false));
    is(100, 0, 0, 300);
    /* A part in the middle. */
    split(1650, 1850, switched(200, 100, true));
    is(50, 100, 0, 50);
}

TEST("sums and the last switch together describe more than either alone")
{
    struct sg_sampled_interval behind = switched(100, 200, true);

    /* Before the last switch there are 700, of which 600 on the processor. */
    behind.known |= SG_KNOWN_CALL;
    behind.call_cpu_ns = 700;
    behind.call_runnable_ns = 300;
    split(1600, 2000, behind);
    is(100, 200, 0, 100);
    split(1200, 2000, behind);
    is(100 + 400, 200, 0, 100);
    /* All of it is asleep. */
    behind.call_cpu_ns = 100;
    behind.call_runnable_ns = 200;
    split(1600, 2000, behind);
    is(100, 200, 100, 0);
    /* All that the call was off the processor. */
    behind = switched(100, 200, false);
    behind.known |= SG_KNOWN_CALL;
    behind.call_cpu_ns = 800;
    behind.call_runnable_ns = 150;
    split(1700, 2000, behind);
    is(100, 150, 50, 0);
}

/* Sums, and who else had a processor. */
static void split_others(int64_t from_ns, uint64_t cpu_ns, uint64_t runnable_ns, uint64_t here_ns,
                         uint64_t elsewhere_ns, uint64_t throttled_ns)
{
    struct sg_sampled_interval behind = sums(cpu_ns, runnable_ns);

    behind.known |= SG_KNOWN_CALL_OTHERS;
    behind.call_threads_here_ns = here_ns;
    behind.call_threads_elsewhere_ns = elsewhere_ns;
    behind.call_throttled_ns = throttled_ns;
    split(from_ns, 2000, behind);
}

static void others_are(double here_ns, double elsewhere_ns, double throttled_ns)
{
    EXPECT(spent.threads_here_ns == here_ns, spent.threads_elsewhere_ns == elsewhere_ns,
           spent.throttled_ns == throttled_ns);
}

TEST("the occupant of the processor is reported as far as it is certain")
{
    /* All that the call was off the processor it was ready. */
    split_others(1000, 300, 700, 500, 40, 0);
    is(300, 700, 0, 0);
    others_are(500, 40, 0);
    split_others(1000, 300, 700, 100, 0, 450);
    is(300, 250, 0, 0);
    others_are(100, 0, 450);
    /* The whole group's: more than the call was held back. */
    split_others(1000, 300, 700, 0, 0, 5000);
    is(300, 0, 0, 0);
    others_are(0, 5000 - 700, 700);
    /* Asleep for 400: there the threads may have had the processor for all of 400. */
    split_others(1000, 300, 300, 500, 0, 0);
    is(300, 300, 400, 0);
    others_are(100, 400, 0);
    split_others(1000, 300, 300, 400, 0, 0);
    others_are(0, 400, 0);
    /* A part only: up to 600 may fall into the rest of the call. */
    split_others(1600, 0, 1000, 700, 0, 0);
    is(0, 400, 0, 0);
    others_are(100, 600, 0);
}

TEST("without the others' figures the occupant of the processor is not reported")
{
    split(1000, 2000, sums(300, 700));
    is(300, 700, 0, 0);
    others_are(0, 700, 0);
    /* The last switch alone tells that it was ready, not who was there. */
    split(1600, 2000, switched(100, 200, true));
    others_are(0, 200, 0);
}

TEST("the interval after a call begins at the end of the call")
{
    struct sg_intervals_kept *kept;

    ASSERT(sg_intervals_kept_create(1, &kept) == SG_OK);
    for (int i = 1; i < 4; i++)
        EXPECT(sg_intervals_kept_add(kept, 0,
                                     &(struct sg_sampled_interval){.begin_ns = i * 1000000,
                                                                   .end_ns = i * 1000000 + 10}) ==
               SG_OK);
    EXPECT(sg_in_call_find(kept, 0, 1999000)->begin_ns == 2000000);
    /* A call that is longer ago has an interval behind it that was not sampled. */
    EXPECT(sg_in_call_find(kept, 0, 1500000) == NULL, sg_in_call_find(kept, 0, 2000005) == NULL,
           sg_in_call_find(kept, 0, 3000010) == NULL);
    sg_intervals_kept_destroy(kept);
}
