/* The reason that the first screen gives for waits, from causes and sampled intervals that are made
 * by hand. */
#include "lib/unit.h"
#include "report/profile_calls.h"
#include "report/wait_print.h"
#include "report/wait_sums.h"

#include <math.h>

/* Ranks wait 1000 ns each time at line 20 of c.c for rank 1, which comes from line 10. */
static const struct sg_waitstate_place first = {
    {.site = 1, .has_id = true, .function = "fill", .file = "c.c", .line = 10}, "MPI_Send"};
static const struct sg_waitstate_place late = {
    {.site = 2, .has_id = true, .function = "sum", .file = "c.c", .line = 20}, "MPI_Allreduce"};

static struct sg_cause_row rows[4];
static struct sg_cause_site causes_at;
static struct sg_causes_found causes;
static struct sg_before_row interval;
static struct sg_before before;
static struct sg_calls calls;
static struct sg_waitstate_site sites[2];
static struct sg_waitstates waits;
static struct sg_report report;

static void setup(void)
{
    const uint32_t mask = 1u << SG_FIGURE_CPU | 1u << SG_FIGURE_RUNNABLE;

    causes_at = (struct sg_cause_site){.at = late, .late_ns = 1000, .rows = rows};
    causes = (struct sg_causes_found){.sites = &causes_at, .site_count = 1};
    interval = (struct sg_before_row){
        .after = &first, .until = &late, .rank = 1, .own = {.mask = mask}, .others_ns = NAN};
    before = (struct sg_before){.rows = &interval, .row_count = 1};
    calls = (struct sg_calls){.before = &before};
    sites[0] = (struct sg_waitstate_site){.at = late,
                                          .other = late,
                                          .other_of = {.waits = 50, .wait_ns = 50000},
                                          .late = {{1, 50000}},
                                          .late_count = 1,
                                          .ranks = 1};
    waits = (struct sg_waitstates){.sites = sites, .site_count = 1};
    report = (struct sg_report){.causes = &causes, .calls = &calls, .waitstates = &waits};
}

static void add_cause(enum sg_cause cause, uint64_t ns)
{
    rows[causes_at.row_count++] =
        (struct sg_cause_row){.at = late, .cause = cause, .ns = ns, .after = first, .until = late};
}

static void set_interval(uint64_t count, uint64_t cpu_ns, uint64_t off_ns)
{
    interval.own.intervals = count;
    interval.own.of[SG_FIGURE_CPU] = cpu_ns;
    interval.own.time_ns = cpu_ns + off_ns;
    interval.mean_ns = (double)interval.own.time_ns / (double)count;
}

static void expect_reason(const char *text)
{
    char *printed = PRINTED(sg_waitstate_put_because(&report, &sites[0], stream));

    EXPECT(text_is(printed, text));
    free(printed);
}

TEST("a cause of ten instances is the reason, with the interval that it is in")
{
    setup();
    causes_at.instances = 10;
    add_cause(SG_CAUSE_WORK, 600);
    add_cause(SG_CAUSE_ASLEEP, 400);
    expect_reason("more work fill -> sum");
}

TEST("fewer samples give no reason, and the setting that takes more")
{
    setup();
    causes_at.instances = 3;
    add_cause(SG_CAUSE_LEFT, 1000);
    expect_reason("few samples (3): STAGGER_CAUSES=all");
}

TEST("the late rank's intervals are the reason where the causes have too few samples")
{
    setup();
    causes_at.instances = 3;
    add_cause(SG_CAUSE_LEFT, 1000);
    set_interval(40, 39000, 1000);
    expect_reason("computing fill -> sum");
    set_interval(40, 1000, 39000);
    expect_reason("asleep fill -> sum");
}

TEST("having left later is no reason, however often")
{
    setup();
    causes_at.instances = 100;
    add_cause(SG_CAUSE_LEFT, 900);
    add_cause(SG_CAUSE_ASLEEP, 100);
    expect_reason("-");
}

static void set_waited(uint32_t site, uint32_t rank, uint64_t ns)
{
    static uint64_t waited_ns[4];

    waits.waited_ns = waited_ns;
    waited_ns[waits.waited_count] = ns;
    ASSERT(sg_map_put(&waits.waited_by_key, (uint64_t)site << 32 | rank, waits.waited_count++) ==
           SG_OK);
}

TEST("intervals much shorter than the wait do not explain it; a wait of the late rank before them "
     "does")
{
    setup();
    report.rank_count = 2;
    set_interval(40, 400, 0);
    expect_reason("-");
    set_waited(first.site.site, 0, 50000);
    set_waited(first.site.site, 1, 1000);
    expect_reason("-");
    set_waited(first.site.site, 1, 20000);
    expect_reason("waited in MPI_Send");
    sg_map_clear(&waits.waited_by_key);
}

/* Rank 1 computes, and then calls often at line 20. */
TEST("short intervals of a loop at the late call lead on to the one before the loop")
{
    static struct sg_before_row loop[2];

    setup();
    set_interval(40, 39000, 0);
    loop[0] = interval;
    set_interval(400, 40000, 0);
    interval.after = &late;
    loop[1] = interval;
    before.rows = loop;
    before.row_count = 2;
    expect_reason("computing fill -> sum");
}

TEST("a processor lost between calls and in calls is one reason")
{
    setup();
    causes_at.instances = 20;
    add_cause(SG_CAUSE_ASLEEP, 400);
    add_cause(SG_CAUSE_PREEMPTED_OTHERS, 300);
    add_cause(SG_CAUSE_CALLS_PREEMPTED_OTHERS, 300);
    expect_reason("preempted by other processes");
    report.waiting.short_ranks = 4;
    expect_reason("preempted: too many ranks");
    rows[1].cause = SG_CAUSE_PREEMPTED_THREADS;
    rows[2].cause = SG_CAUSE_CALLS_PREEMPTED_THREADS;
    EXPECT(sg_waitstate_is_by_threads(&report, &sites[0]));
}

TEST("nothing is known without samples")
{
    setup();
    report.causes = NULL;
    report.calls = NULL;
    expect_reason("-");
}

/* Rank 1 comes 1000 ns later to MPI_Init than the others, which come at 500. */
static void wait_in_init(uint64_t time_ns, uint64_t cpu_ns)
{
    static const struct sg_waitstate_place init = {{0}, "MPI_Init_thread"}, none;
    static struct sg_before starts;

    setup();
    set_interval(1, cpu_ns, time_ns - cpu_ns);
    interval.after = interval.until = &none;
    interval.others = interval.own;
    interval.longer_ns = (double)time_ns - 500;
    starts = before;
    calls = (struct sg_calls){.starts = &starts};
    sites[0].at = sites[0].other = init;
}

TEST("a rank is late in MPI_Init for what it does before, or because it started later")
{
    wait_in_init(1500, 1200);
    expect_reason("computing start -> MPI_Init_thread");
    wait_in_init(1500, 200);
    expect_reason("asleep start -> MPI_Init_thread");
    wait_in_init(600, 600);
    expect_reason("started later");
    interval.others.intervals = 0;
    expect_reason("-");
}

TEST("one interval before MPI_Finalize is all that there are")
{
    static const struct sg_waitstate_place finalize = {{0}, "MPI_Finalize"}, none;

    setup();
    set_interval(1, 0, 1000);
    interval.until = &none;
    sites[0].at = sites[0].other = causes_at.at = finalize;
    expect_reason("asleep fill -> MPI_Finalize");
    causes_at.instances = 1;
    add_cause(SG_CAUSE_WORK, 1000);
    expect_reason("more work fill -> sum");
}
