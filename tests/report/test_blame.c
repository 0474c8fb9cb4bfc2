/* Tests why ranks come late: each cause, by hand, and time whose cause is not known. */
#include "lib/unit.h"
#include "report/blamed_runs.h"

#include <math.h>

/* ---- one cause ------------------------------------------------------------------------------- */

static void more_on_rank_2(void)
{
    compute(0, 1000);
    compute(1, 1100);
    compute(2, 2000);
}

TEST("a rank that computes longer is named, with the interval")
{
    run(more_on_rank_2);
    EXPECT(found->instances == ROUNDS, found->unsampled == 0, found->late_ns == 1900 * ROUNDS,
           of(SG_CAUSE_COMPUTING, 2) == 1900 * ROUNDS, found->sites[0].row_count == 1);
    const struct sg_cause_row *row = &found->sites[0].rows[0];
    EXPECT(row->instances == ROUNDS, row->steps == 0, row->low_ns == 1900 * ROUNDS,
           row->high_ns == 1900 * ROUNDS, found->sites[0].at.site.line == 10,
           row->after.site.line == 10, row->until.site.line == 40);
    end();
}

static void counted(uint32_t rank, int64_t ns, uint64_t instructions)
{
    spend_interval(rank, ns,
                   (struct sg_sampled_interval){.cpu_ns = (uint64_t)ns,
                                                .user_ns = (uint64_t)ns,
                                                .instructions = instructions,
                                                .known = SG_KNOWN_INSTRUCTIONS});
}

/* Rank 2 takes 1000 more; 500 of them are half as many instructions again. */
static void more_and_slower(void)
{
    counted(0, 1000, 4000);
    counted(1, 1000, 4000);
    counted(2, 2000, 6000);
}

TEST("instructions distinguish more work from slower work")
{
    run(more_and_slower);
    EXPECT(of(SG_CAUSE_WORK, 2) == 2 * 500 * ROUNDS, of(SG_CAUSE_SLOWER, 2) == 2 * 500 * ROUNDS,
           of(SG_CAUSE_COMPUTING, 2) == 0);
    end();
}

static uint64_t faults;

static void in_the_kernel(void)
{
    compute(0, 1000);
    compute(1, 1000);
    spend_interval(2, 3000,
                   (struct sg_sampled_interval){
                       .cpu_ns = 3000, .user_ns = 1000, .system_ns = 2000, .faults = faults});
}

TEST("kernel time is attributed to page faults if there are enough of them")
{
    faults = 1;
    run(in_the_kernel);
    EXPECT(of(SG_CAUSE_FAULTS, 2) == 2 * 2000 * ROUNDS, found->sites[0].row_count == 1);
    end();
    faults = 0;
    run(in_the_kernel);
    EXPECT(of(SG_CAUSE_KERNEL, 2) == 2 * 2000 * ROUNDS, of(SG_CAUSE_FAULTS, 2) == 0);
    end();
}

/* 1000 at work, and so long each runnable, throttled, asleep, and reading. */
static void off_the_processor(void)
{
    compute(1, 1000);
    compute(2, 1000);
    spend_interval(0, 1700,
                   (struct sg_sampled_interval){
                       .cpu_ns = 1000, .user_ns = 1000, .runnable_ns = 300, .throttled_ns = 200});
    spend_interval(0, 300, (struct sg_sampled_interval){.blocks = 1});
}

TEST("time off the processor has its causes")
{
    run(off_the_processor);
    EXPECT(of(SG_CAUSE_PREEMPTED, 0) == 2 * 100 * ROUNDS,
           of(SG_CAUSE_THROTTLED, 0) == 2 * 200 * ROUNDS,
           of(SG_CAUSE_ASLEEP, 0) == 2 * 400 * ROUNDS, of(SG_CAUSE_IO, 0) == 2 * 300 * ROUNDS,
           found->sites[0].row_count == 4, found->sites[0].rows[0].cause == SG_CAUSE_ASLEEP);
    end();
}

/* Rank 2 is runnable for 1000; other threads of the process had 300 of them there, and 200
 * elsewhere. */
static void among_threads(void)
{
    compute(0, 100);
    compute(1, 100);
    spend_interval(2, 1100,
                   (struct sg_sampled_interval){.cpu_ns = 100,
                                                .user_ns = 100,
                                                .runnable_ns = 1000,
                                                .threads_here_ns = 300,
                                                .threads_elsewhere_ns = 200,
                                                .known = SG_KNOWN_THREADS});
}

TEST("other threads of the process are distinguished from other processes")
{
    run(among_threads);
    EXPECT(of(SG_CAUSE_PREEMPTED_THREADS, 2) == 2 * 300 * ROUNDS,
           of(SG_CAUSE_PREEMPTED, 2) == 2 * 200 * ROUNDS,
           of(SG_CAUSE_PREEMPTED_OTHERS, 2) == 2 * 500 * ROUNDS);
    end();
}

/* A shorter part makes up for some of the longer ones. */
static void partly_made_up(void)
{
    compute(0, 1000);
    compute(1, 1000);
    compute(2, 500);
    spend_interval(2, 1500, (struct sg_sampled_interval){.runnable_ns = 1000});
}

TEST("shorter parts of an interval compensate for longer ones")
{
    run(partly_made_up);
    EXPECT(found->late_ns == 2000 * ROUNDS,
           of(SG_CAUSE_PREEMPTED, 2) == (uint64_t)llround(2000 * 1000 / 1500.0 * ROUNDS),
           of(SG_CAUSE_ASLEEP, 2) == (uint64_t)llround(2000 * 500 / 1500.0 * ROUNDS));
    end();
}

/* ---- what is not known ----------------------------------------------------------------------- */

static void without_samples(void)
{
    more_on_rank_2();
    now_ns[1] += 200000;
}

TEST("an instance without samples of all members gets no causes")
{
    run(without_samples);
    EXPECT(found->instances == 0, found->unsampled == ROUNDS, found->site_count == 0);
    end();
}

static void nobody_is_late(void)
{
    for (uint32_t r = 0; r < RANKS; r++)
        compute(r, 1000);
}

TEST("an instance without a late rank has no cause")
{
    run(nobody_is_late);
    EXPECT(found->instances + found->unsampled == 0);
    end();
    begin();
    barrier();
    barrier();
    finish();
    EXPECT(found == NULL);
    end();
}

/* More instances than are remembered one by one: a tenth of them are ten times as late. */
TEST("confidence limits come from a sample of many instances")
{
    begin();
    barrier();
    for (int i = 0; i < 3000; i++) {
        compute(0, 100);
        compute(1, 100);
        compute(2, i % 10 == 0 ? 1100 : 200);
        barrier();
    }
    finish();
    const struct sg_cause_row *row = &found->sites[0].rows[0];
    EXPECT(row->ns == 2 * 3000 * 190, row->low_ns < 6000 * 190 && row->low_ns > 6000 * 130,
           row->high_ns > 6000 * 190 && row->high_ns < 6000 * 250, row->low_share == 1,
           row->high_share == 1);
    end();
}

/* Rank 2 computes in one round and sleeps in the next: half of the lateness, less often in one draw
 * and more often in another, but never more than all of it. */
TEST("the limits of a share are those of the share in each draw")
{
    begin();
    barrier();
    for (int i = 0; i < 40; i++) {
        compute(0, 100);
        compute(1, 100);
        if (i % 2 == 0)
            compute(2, 1100);
        else
            spend_interval(2, 1100, (struct sg_sampled_interval){.cpu_ns = 100, .user_ns = 100});
        barrier();
    }
    finish();
    EXPECT(found->sites[0].row_count == 2);
    for (uint32_t i = 0; i < found->sites[0].row_count; i++) {
        const struct sg_cause_row *row = &found->sites[0].rows[i];

        EXPECT(row->low_share > 0.25 && row->low_share < 0.5,
               row->high_share<0.75, row->high_share> 0.5);
    }
    end();
}

/* ---- roots ----------------------------------------------------------------------------------- */

/* The root has 700 and 1000 more to do than rank 0 and rank 2. */
static void more_on_the_root(void)
{
    compute(0, 1300);
    compute(1, 2000);
    compute(2, 1000);
}

/* Rank 2 has 900 more to do than the root, which has 100 more than rank 0. */
static void more_on_another(void)
{
    compute(0, 1000);
    compute(1, 1100);
    compute(2, 2000);
}

TEST("in an operation with a root only the waiting ranks count")
{
    run_rooted(SG_CAUSE_WAIT_FOR_ROOT, more_on_the_root);
    EXPECT(of(SG_CAUSE_COMPUTING, 1) == 1700 * ROUNDS, found->late_ns == 1700 * ROUNDS);
    end();
    /* Nobody waits for rank 2. */
    run_rooted(SG_CAUSE_WAIT_FOR_ROOT, more_on_another);
    EXPECT(of(SG_CAUSE_COMPUTING, 1) == 100 * ROUNDS, found->late_ns == 100 * ROUNDS);
    end();
    run_rooted(SG_CAUSE_ROOT_WAITS, more_on_the_root);
    EXPECT(found->late_ns == 0);
    end();
    /* In a reduction the root alone waits. */
    run_rooted(SG_CAUSE_ROOT_WAITS, more_on_another);
    EXPECT(of(SG_CAUSE_COMPUTING, 2) == 900 * ROUNDS, found->late_ns == 900 * ROUNDS);
    end();
    /* Nobody knows who waits for whom. */
    told_root = UINT32_MAX;
    run_rooted(SG_CAUSE_WAIT_FOR_ROOT, more_on_the_root);
    EXPECT(found->late_ns == 0);
    end();
    run_rooted(SG_CAUSE_ROOT_WAITS, more_on_another);
    EXPECT(found->late_ns == 0);
    end();
    told_root = 1;
}

/* Rank 2 comes 1000 after rank 0, and 900 after rank 1. */
TEST("a rank that is late by less than the clocks' error is not called late")
{
    clock_errors_ns[0] = 460;
    clock_errors_ns[2] = 460;
    run(more_on_rank_2);
    EXPECT(of(SG_CAUSE_COMPUTING, 2) == 1900 * ROUNDS);
    end();
    clock_errors_ns[1] = 440;
    run(more_on_rank_2);
    EXPECT(of(SG_CAUSE_COMPUTING, 2) == 1000 * ROUNDS, found->late_ns == 1000 * ROUNDS);
    end();
    clock_errors_ns[2] = 1000;
    run(more_on_rank_2);
    EXPECT(found->site_count == 0, found->late_ns == 0, found->unsampled == ROUNDS);
    end();
    memset(clock_errors_ns, 0, sizeof clock_errors_ns);
}

TEST("an instance with contradictory clocks has no causes")
{
    is_contradicted = true;
    run(more_on_rank_2);
    EXPECT(found->site_count == 0, found->unsampled == ROUNDS);
    end();
    is_contradicted = false;
}
