/* The reason that the first screen gives for waits, from causes and sampled intervals that are made
 * by hand. */
#include "lib/unit.h"
#include "report/critical_path.h"
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
static struct sg_waitstate_site sites[1];
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
                                          .of = {.waits = 50, .wait_ns = 50000},
                                          .late = {{1, 50000}},
                                          .late_count = 1,
                                          .ranks = 1};
    waits = (struct sg_waitstates){.sites = sites, .site_count = 1};
    report = (struct sg_report){.causes = &causes, .calls = &calls, .waitstates = &waits};
}

static void add_cause(enum sg_cause cause, uint64_t ns)
{
    rows[causes_at.row_count++] = (struct sg_cause_row){
        .at = late, .cause = cause, .rank = 1, .ns = ns, .after = first, .until = late};
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

TEST("fewer samples than there could be give no reason, and a note has the setting that takes more")
{
    setup();
    causes_at.instances = 3;
    add_cause(SG_CAUSE_ASLEEP, 1000);
    expect_reason("few samples (3)");
    EXPECT(sg_waitstate_samples_note(&report, sites, 1) != NULL);
    report.all_sampled = true;
    EXPECT(sg_waitstate_samples_note(&report, sites, 1) == NULL);
}

TEST("samples that are all there can be are the reason if they agree, with their number")
{
    setup();
    causes_at.instances = 3;
    add_cause(SG_CAUSE_ASLEEP, 900);
    report.all_sampled = true;
    expect_reason("asleep fill -> sum, 3 samples");
    rows[0].ns = 600;
    add_cause(SG_CAUSE_COMPUTING, 400);
    expect_reason("few samples (3)");
    report.all_sampled = false;
    sites[0].of.waits = 1;
    causes_at.instances = 1;
    expect_reason("few waits (1)");
    EXPECT(sg_waitstate_samples_note(&report, sites, 1) == NULL);
    rows[0].ns = 1000;
    expect_reason("asleep fill -> sum, once");
}

TEST("few intervals are the reason likewise")
{
    setup();
    causes_at.instances = 0;
    sites[0].of.waits = 1;
    set_interval(1, 900, 100);
    expect_reason("computing fill -> sum, once");
    set_interval(1, 500, 500);
    expect_reason("few waits (1)");
    sites[0].of.waits = 50;
    set_interval(1, 900, 100);
    expect_reason("few samples (1)");
}

TEST("with few samples the path shows between which calls the late rank was late")
{
    static struct sg_path_row on_path;
    static struct sg_path path = {.rows = &on_path, .row_count = 1};

    setup();
    report.critical_path = &path;
    on_path = (struct sg_path_row){
        .after = first, .until = late, .ns = 50000, .times = 50, .ranks = 1, .rank = 1};
    causes_at.instances = 3;
    add_cause(SG_CAUSE_COMPUTING, 1000);
    expect_reason("outside MPI fill -> sum");
    EXPECT(sg_waitstate_samples_note(&report, sites, 1) != NULL);
    on_path.rank = 0;
    expect_reason("few samples (3)");
    on_path.rank = 1;
    on_path.ns = 5000;
    expect_reason("few samples (3)");
    causes_at.instances = 10;
    expect_reason("computing fill -> sum");
    EXPECT(sg_waitstate_samples_note(&report, sites, 1) == NULL);
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

/* Four ranks on two processors, which sleep while they wait. Each of them works for 10 us, and has
 * a processor for part of it. */
static void crowd(uint64_t used_us)
{
    report.waiting =
        (struct sg_run_waiting){.ranks = 4, .processors = 2, .short_ranks = 4, .sleep_ns = 10000};
    report.efficiency = (struct sg_efficiency){.is_known = true,
                                               .work_ns = 40000,
                                               .waiting_ns = 10000,
                                               .on_processor = (double)used_us / 10,
                                               .runnable = 1 - (double)used_us / 10};
}

/* Rank 1 computes, calls at line 10, and then at line 20. */
TEST("a delay before a collective is no reason for one after it; before another call it is")
{
    static const struct sg_waitstate_place start = {
        {.site = 3, .has_id = true, .function = "main", .file = "c.c", .line = 5}, "MPI_Recv"};
    static struct sg_before_row two[2];
    static struct sg_waitstate_pair pair;

    setup();
    set_interval(40, 400, 0);
    two[0] = interval;
    set_interval(40, 39000, 0);
    two[1] = interval;
    two[1].after = &start;
    two[1].until = &first;
    before.rows = two;
    before.row_count = 2;
    expect_reason("computing main -> fill");
    pair = (struct sg_waitstate_pair){
        .at = first, .other = first, .kind = SG_WAITSTATE_BARRIER, .rank = 1};
    waits.pairs = &pair;
    waits.pair_count = 1;
    expect_reason("-");
    pair.rank = 0;
    expect_reason("computing main -> fill");
    pair = (struct sg_waitstate_pair){
        .at = first, .other = first, .kind = SG_WAITSTATE_LATE_SENDER, .rank = 1};
    expect_reason("computing main -> fill");
}

TEST("a processor that the ranks do not use was lost to other processes, however many ranks")
{
    setup();
    causes_at.instances = 20;
    add_cause(SG_CAUSE_PREEMPTED_OTHERS, 900);
    crowd(1);
    expect_reason("preempted by other processes");
    crowd(4);
    expect_reason("preempted: too many ranks");
    report.waiting.short_ranks = 0;
    expect_reason("preempted by other processes");
    rows[0].cause = SG_CAUSE_PREEMPTED;
    expect_reason("preempted");
}

TEST("a wait without sleeping uses the processor that another rank needs")
{
    setup();
    causes_at.instances = 20;
    add_cause(SG_CAUSE_PREEMPTED_OTHERS, 900);
    crowd(1);
    report.efficiency.waiting_ns = 100000;
    expect_reason("preempted: too many ranks");
}

TEST("a processor lost between calls and in calls is one reason")
{
    setup();
    causes_at.instances = 20;
    add_cause(SG_CAUSE_ASLEEP, 400);
    add_cause(SG_CAUSE_PREEMPTED_OTHERS, 300);
    add_cause(SG_CAUSE_CALLS_PREEMPTED_OTHERS, 300);
    expect_reason("preempted by other processes");
    crowd(5);
    expect_reason("preempted: too many ranks");
    rows[1].cause = SG_CAUSE_PREEMPTED_THREADS;
    rows[2].cause = SG_CAUSE_CALLS_PREEMPTED_THREADS;
    EXPECT(sg_waitstate_is_by_threads(&report, &sites[0]));
}

static void expect_rank(json_int_t rank)
{
    json_t *json = sg_waitstate_because_rank(&report, &sites[0]);

    EXPECT(json_is_integer(json) ? json_integer_value(json) == rank : rank < 0);
    json_decref(json);
}

TEST("a reason that began on another rank than the late one names that rank")
{
    setup();
    causes_at.instances = 20;
    add_cause(SG_CAUSE_ASLEEP, 900);
    add_cause(SG_CAUSE_COMPUTING, 100);
    expect_reason("asleep fill -> sum");
    expect_rank(1);
    rows[0].rank = 0;
    expect_reason("rank 0 asleep fill -> sum");
    expect_rank(0);
}

TEST("a reason that began on several other ranks is not that of the late one")
{
    setup();
    causes_at.instances = 20;
    add_cause(SG_CAUSE_ASLEEP, 300);
    add_cause(SG_CAUSE_ASLEEP, 300);
    add_cause(SG_CAUSE_ASLEEP, 300);
    rows[0].rank = 0;
    rows[1].rank = 2;
    rows[2].rank = 3;
    expect_reason("other ranks asleep fill -> sum");
    expect_rank(-1);
}

TEST("late ranks that each have their part of a reason have it themselves")
{
    setup();
    causes_at.instances = 20;
    sites[0].late[0].wait_ns = 15000;
    add_cause(SG_CAUSE_ASLEEP, 400);
    add_cause(SG_CAUSE_ASLEEP, 300);
    rows[0].rank = 0;
    expect_reason("asleep fill -> sum");
    expect_rank(1);
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
