/* Tests why ranks come late, by hand: lateness that began with another rank, and in calls of MPI.
 */
#include "lib/unit.h"
#include "report/blamed_runs.h"

/* ---- back along messages --------------------------------------------------------------------- */

/* Rank 0 sleeps; rank 1 waits for its message, and rank 2 for that of rank 1. Rank 2 has more to do
 * than they afterwards: it is late for that alone, as the sleep was in everybody's way. */
static void sleep_for_all(void)
{
    compute(0, 100);
    spend_interval(0, 5000, (struct sg_sampled_interval){0});
    compute(1, 100);
    message(0, 1);
    compute(2, 100);
    message(1, 2);
    compute(2, 200);
}

TEST("a delay of all ranks makes no rank late")
{
    run(sleep_for_all);
    /* They came at 5105, 5110 and 5310. */
    EXPECT(found->late_ns == (205 + 200) * ROUNDS, of(SG_CAUSE_COMPUTING, 2) >= 395 * ROUNDS,
           of(SG_CAUSE_ASLEEP, 0) + of(SG_CAUSE_ASLEEP, 1) + of(SG_CAUSE_ASLEEP, 2) == 0,
           of(SG_CAUSE_COMPUTING, 2) + of(SG_CAUSE_CALLS, 1) + of(SG_CAUSE_CALLS, 2) ==
               found->late_ns);
    end();
}

/* Rank 2 is last because of rank 0, which has a short time left when it has sent. */
static void sleep_for_two(void)
{
    spend_interval(0, 4000, (struct sg_sampled_interval){0});
    compute(0, 100);
    compute(2, 100);
    message(0, 2);
    compute(2, 3900);
    compute(0, 100);
    compute(1, 4000);
}

TEST("a late message leads to the origin of the delay")
{
    run(sleep_for_two);
    /* Rank 2 came at 8005. Its path: 3900 of its own, 5 in the call, 100 and 4000 of rank 0. That
     * of rank 1, which came at 4000: 4000; and that of rank 0, which came at 4205: 100 and 5 there,
     * 100 and 4000 as on that of rank 2. */
    EXPECT(found->late_ns == (4005 + 3800) * ROUNDS, of(SG_CAUSE_ASLEEP, 0) == 4000 * ROUNDS,
           of(SG_CAUSE_COMPUTING, 2) == 3800 * ROUNDS, of(SG_CAUSE_CALLS, 2) == 5 * ROUNDS,
           found->sites[0].row_count == 3);
    const struct sg_cause_row *row = &found->sites[0].rows[0];
    EXPECT(row->cause == SG_CAUSE_ASLEEP, row->steps == 1, row->after.site.line == 10,
           row->until.site.line == 40);
    end();
}

/* Two steps back, and half of it on the way. */
static void two_steps(void)
{
    compute(0, 2100);
    compute(1, 100);
    message(0, 1);
    spend_interval(1, 2000, (struct sg_sampled_interval){.runnable_ns = 2000});
    compute(2, 100);
    message(1, 2);
    compute(2, 100);
}

TEST("a late message leads two steps back to the origin of the delay")
{
    run(two_steps);
    /* They came at 2105, 4110 and 4210; rank 2 has nothing more than rank 1 but 100. */
    EXPECT(found->late_ns == (2105 + 100) * ROUNDS, of(SG_CAUSE_PREEMPTED, 1) >= 1990 * ROUNDS,
           of(SG_CAUSE_PREEMPTED, 2) + of(SG_CAUSE_COMPUTING, 0) == 0);
    end();
}

/* The instances are alike; kept is the first, whose barrier before ended at 10. */
TEST("the latest instance has its chain, back to the origin of the delay")
{
    static const struct {
        uint32_t rank;
        int64_t from_ns, to_ns;
        enum sg_cause cause;
        double cause_ns, calls_ns;
    } links[] = {{2, 4115, 4220, SG_CAUSE_COMPUTING, 100, 5},
                 {1, 2110, 4115, SG_CAUSE_PREEMPTED, 2000, 5},
                 {0, 10, 2110, SG_CAUSE_COMPUTING, 2100, 0}};

    run(two_steps);
    EXPECT(found->chain_count == 1);
    const struct sg_cause_chain *chain = &found->chains[0];
    EXPECT(chain->at.site.line == 10, chain->late_ns == 2105 + 100, chain->first_rank == 0,
           chain->first_ns == 10 + 2105, chain->cause == SG_CAUSE_PREEMPTED, chain->cause_rank == 1,
           chain->cause_ns == 2000, chain->link_count == 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct sg_cause_link *link = &chain->links[i];

        EXPECT(link->rank == links[i].rank, link->from_ns == links[i].from_ns,
               link->to_ns == links[i].to_ns, link->ns[links[i].cause] == links[i].cause_ns,
               link->ns[SG_CAUSE_CALLS] == links[i].calls_ns,
               (link->waited.function != NULL) == (i > 0));
    }
    EXPECT(chain->links[1].until.site.line == 40);
    end();
}

/* A later instance at the same place is kept if it is later. */
TEST("a call site shows the chain of its latest instance")
{
    begin();
    barrier();
    for (int i = 0; i < 20; i++) {
        compute(2, i == 7 ? 500 : 100 + i);
        barrier();
    }
    finish();
    EXPECT(found->chain_count == 1, found->chains[0].late_ns == 2 * 500,
           found->chains[0].links[0].to_ns - found->chains[0].links[0].from_ns == 500);
    end();
}

/* ---- in calls -------------------------------------------------------------------------------- */

/* A call that waits for nobody, as the interval behind it tells. */
static void spend_call(uint32_t rank, int64_t ns, struct sg_sampled_interval behind)
{
    call(rank, RECV, 30, now_ns[rank] + ns);
    behind.cpu_ns = 10;
    spend_interval(rank, 10, behind);
}

/* The call before came to its last part by 100 on the processor, behind 400 without one. */
static void long_calls(void)
{
    compute(0, 20);
    compute(1, 20);
    spend_call(2, 1000,
               (struct sg_sampled_interval){.call_cpu_ns = 300,
                                            .call_runnable_ns = 400,
                                            .resumed_ns = 100,
                                            .away_ns = 400,
                                            .was_ready = 1,
                                            .known = SG_KNOWN_CALL | SG_KNOWN_SWITCH});
    compute(2, 10);
}

TEST("time in calls that wait for no other rank is reported separately")
{
    run(long_calls);
    EXPECT(found->late_ns == 2 * 1000 * ROUNDS, of(SG_CAUSE_CALLS_PREEMPTED, 2) == 2 * 400 * ROUNDS,
           of(SG_CAUSE_CALLS_BUSY, 2) == 2 * 300 * ROUNDS,
           of(SG_CAUSE_CALLS_ASLEEP, 2) == 2 * 300 * ROUNDS, found->sites[0].row_count == 3);
    const struct sg_cause_row *row = &found->sites[0].rows[0];
    EXPECT(row->cause == SG_CAUSE_CALLS_PREEMPTED, row->after.function == NULL,
           row->until.site.line == 30);
    end();
}

/* Without a processor for 1000: threads of its own had it for 300, and for 200 they may have had
 * it; for 400 a quota was used up. */
static void crowded_calls(void)
{
    compute(0, 20);
    compute(1, 20);
    spend_call(2, 1000,
               (struct sg_sampled_interval){.call_runnable_ns = 1000,
                                            .call_threads_here_ns = 300,
                                            .call_threads_elsewhere_ns = 200,
                                            .call_throttled_ns = 400,
                                            .known = SG_KNOWN_CALL | SG_KNOWN_CALL_OTHERS});
    compute(2, 10);
}

TEST("the occupant of the processor is reported for calls as for intervals")
{
    run(crowded_calls);
    EXPECT(of(SG_CAUSE_CALLS_PREEMPTED_THREADS, 2) == 2 * 300 * ROUNDS,
           of(SG_CAUSE_CALLS_PREEMPTED, 2) == 2 * 200 * ROUNDS,
           of(SG_CAUSE_CALLS_PREEMPTED_OTHERS, 2) == 2 * 100 * ROUNDS,
           of(SG_CAUSE_CALLS_THROTTLED, 2) == 2 * 400 * ROUNDS, found->sites[0].row_count == 4);
    end();
}

/* Rank 2 leaves the barrier 500 after the others: until the last 20 it had no processor. */
static bool is_told;

static void leave_later(void)
{
    compute(0, 100);
    compute(1, 100);
    spend_interval(2, 100,
                   (struct sg_sampled_interval){.cpu_ns = 100,
                                                .user_ns = 100,
                                                .resumed_ns = 20,
                                                .away_ns = 900,
                                                .was_ready = 1,
                                                .known = is_told ? SG_KNOWN_SWITCH : 0});
}

TEST("a late leave is attributed to its causes if known, else reported as a late leave")
{
    leaves_later_ns[2] = 500;
    is_told = true;
    run(leave_later);
    EXPECT(of(SG_CAUSE_CALLS_PREEMPTED, 2) == 2 * 480 * ROUNDS,
           of(SG_CAUSE_CALLS_BUSY, 2) == 2 * 20 * ROUNDS, found->sites[0].row_count == 2);
    const struct sg_cause_row *row = &found->sites[0].rows[0];
    EXPECT(row->after.function == NULL, text_is(row->until.function, "MPI_Barrier"));
    end();
    is_told = false;
    run(leave_later);
    EXPECT(of(SG_CAUSE_LEFT, 2) == 2 * 500 * ROUNDS, found->sites[0].row_count == 1);
    end();
    leaves_later_ns[2] = 0;
}

/* The root of a reduction leaves it when rank 0 has come, who slept; rank 2 left long before. */
static void hold_up_before(void)
{
    spend_interval(0, 4000, (struct sg_sampled_interval){0});
    compute(1, 100);
    compute(2, 100);
    now_ns[1]++; /* it waits in this call, and not in the one that ends now */
    waiting = SG_CAUSE_ROOT_WAITS;
    rooted();
    compute(0, 1000);
    compute(1, 1100);
    compute(2, 1000);
}

TEST("a delay before a rank left the preceding call is followed too")
{
    run(hold_up_before);
    /* In the reduction the root waits 3899. At the barrier rank 2 waits 4000 for the root: 3890 of
     * the sleep, 100 of more to do, and 10 to leave the reduction; and rank 0 waits 100. */
    EXPECT(found->late_ns == (3899 + 4000 + 100) * ROUNDS,
           of(SG_CAUSE_ASLEEP, 0) == (3899 + 3890) * ROUNDS,
           of(SG_CAUSE_COMPUTING, 1) == 200 * ROUNDS, of(SG_CAUSE_LEFT, 1) == 10 * ROUNDS,
           found->sites[0].rows[0].steps == 1);
    end();
}
