/* Tests reports of trials: from the records in logs by way of the archive, and from statistics.
 * All figures are worked out by hand. */
#include "core/executed.h"
#include "page/page.h"
#include "report/report_json.h"
#include "rule/rule.h"
#include "trace/export_setup.h"

enum { BARRIER, REDUCE, ALLREDUCE };
enum { MPICH, BYPASS }; /* as in setup_algorithms */
enum { BLOCK = 4 };
enum { ARM_MPICH = 1, ARM_BYPASS, ARM_OTHER };
enum { WORLD_INDEX = 0, OTHER_INDEX = 2 };

#define PLACE "allreduce@solve"

/* Two ranks' logs in the making. */
static struct fabricated logs[2];

static void start_logs(void)
{
    for (int rank = 0; rank < 2; rank++) {
        fabricate_start(&logs[rank], rank, 2);
        fabricate_site(&logs[rank], 1, 0xa, "/opt/bin/cg", "", 0x10);
        fabricate_site(&logs[rank], 2, 0xb, "/opt/bin/cg", "", 0x20);
        fabricate_site_name(&logs[rank], 0xa, "solve", "/src/<solver>.c", 88);
        fabricate_arm(&logs[rank], ARM_MPICH, 0, BLOCK, PLACE, "mpich");
        fabricate_arm(&logs[rank], ARM_BYPASS, 0, BLOCK, PLACE, "bypass(linger=auto)");
        fabricate_arm(&logs[rank], ARM_OTHER, 1, BLOCK, "barrier", "mpich");
    }
}

static uint64_t time_of(uint32_t comm, uint64_t seq)
{
    return 20000 + 10000 * (2 * seq + (comm == OTHER_INDEX));
}

static void put_call(int rank, uint32_t comm, uint32_t seq, uint8_t executed, uint64_t begin_ns,
                     uint64_t blocked_ns)
{
    struct sg_record_call *call =
        fabricate_call(&logs[rank], ALLREDUCE, comm, seq, begin_ns, begin_ns + blocked_ns);

    call->site = 1;
    call->bytes = 8;
    call->executed = executed;
}

/* Rank 1 comes 400 late, and both leave `after` later. */
static void put_instance(uint32_t comm, uint32_t seq, uint8_t executed, uint64_t after_ns)
{
    uint64_t begin_ns = time_of(comm, seq);

    put_call(0, comm, seq, executed, begin_ns, 400 + after_ns);
    put_call(1, comm, seq, executed, begin_ns + 400, after_ns);
}

/* Handled by rank 0 so long after its call began. */
static void put_late(uint32_t comm, uint32_t seq, uint64_t after_ns, uint64_t handler_ns)
{
    uint64_t begin_ns = time_of(comm, seq) + after_ns;
    struct sg_record_late *late = fabricate_late(&logs[0], begin_ns, begin_ns + handler_ns);

    late->operation = ALLREDUCE;
    late->site = 1;
    late->comm = comm;
    late->seq = seq;
}

/* A block of the arm whose first instance takes much longer than the others, and is to be left out.
 */
static void put_block(uint32_t comm, uint32_t number, uint8_t executed, uint64_t after_ns)
{
    for (uint32_t i = 0; i < BLOCK; i++)
        put_instance(comm, number * BLOCK + i, executed, i == 0 ? 900 : after_ns);
}

/* The report of what is in the logs; events or, of a directory that is not exported, statistics. */
static json_t *finish(const char *name, bool export)
{
    const char *directory = setup_directory(name);

    for (int rank = 0; rank < 2; rank++) {
        logs[rank].header.trace_mode = export ? SG_TRACE_OTF2 : SG_TRACE_STATS;
        logs[rank].header.finalize_begin_ns = 90000000;
        fabricate_finish(&logs[rank], directory);
    }
    if (export)
        ASSERT(setup_export(directory) == SG_OK);
    return report_of(directory);
}

/* ---- what is asked of a report ---- */

static const json_t *only_trial(const json_t *report)
{
    const json_t *trials = json_object_get(report, "trials");

    ASSERT(json_array_size(trials) == 1);
    return json_array_get(trials, 0);
}

static const json_t *arm_of(const json_t *trial, const char *text)
{
    const json_t *arm;
    size_t i;

    json_array_foreach(json_object_get(trial, "arms"), i, arm)
    {
        if (strcmp(json_string_value(json_object_get(arm, "arm")), text) == 0)
            return arm;
    }
    CU_FAIL_FATAL("no such arm");
    return NULL;
}

static double real(const json_t *object, const char *name, const char *of)
{
    const json_t *value = json_object_get(json_object_get(object, name), of);

    ASSERT(json_is_real(value));
    return json_real_value(value);
}

static void expect_real(const json_t *object, const char *name, const char *of, double low,
                        double high)
{
    double value = real(object, name, of);

    if (value < low || value > high)
        printf("# %s.%s is %g\n", name, of, value);
    EXPECT(value >= low && value <= high);
}

static void expect_calls(const json_t *arm, const json_int_t expected[5])
{
    static const char *const names[] = {"calls", "declined_calls", "blocks", "used_calls",
                                        "used_instances"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (figure(arm, names[i]) != expected[i])
            printf("# %s is %lld\n", names[i], (long long)figure(arm, names[i]));
        EXPECT(figure(arm, names[i]) == expected[i]);
    }
}

/* ---- events ---- */

/* Twelve rounds in changing order. By the two ranks an instance of mpich blocks 500 + v and 100 +
 * v, where v is 0, 60 or 120 in turn of the rounds; one of bypass 450 and 50, and 30 more for what
 * is late. So per call: mpich 300 + v, 360 in the mean; bypass 250, with what is late 265. */
static void put_twelve_rounds(uint32_t comm)
{
    for (uint32_t round = 0; round < 12; round++) {
        uint32_t mpich = 2 * round + round % 2, bypass = 2 * round + (round + 1) % 2;

        put_block(comm, mpich, sg_executed(MPICH, ARM_MPICH), 100 + 60 * (round % 3));
        put_block(comm, bypass, sg_executed(BYPASS, ARM_BYPASS), 50);
        for (uint32_t i = 0; i < BLOCK; i++)
            put_late(comm, bypass * BLOCK + i, 2000, i == 0 ? 500 : 30);
    }
}

TEST("costs, intervals and the winner of a trial are those worked out by hand")
{
    const json_t *mpich, *bypass;

    start_logs();
    put_twelve_rounds(WORLD_INDEX);
    json_t *report = finish("winner", true);
    const json_t *trial = only_trial(report);
    expect_text(trial, "trial", PLACE);
    expect_text(trial, "op", "allreduce");
    expect_text(trial, "id", "0000000a");
    expect_text(trial, "file", "/src/<solver>.c");
    EXPECT(figure(trial, "line") == 88, figure(trial, "block") == BLOCK,
           figure(trial, "rounds") == 12, figure(trial, "first_calls") == 48,
           figure(trial, "loose_calls") == 0, figure(trial, "mixed_calls") == 0);
    mpich = arm_of(trial, "mpich");
    bypass = arm_of(trial, "bypass(linger=auto)");
    EXPECT(json_array_get(json_object_get(trial, "arms"), 0) == bypass);
    expect_calls(mpich, (json_int_t[]){96, 0, 12, 72, 36});
    expect_calls(bypass, (json_int_t[]){96, 0, 12, 72, 36});
    expect_real(mpich, "blocked_ns", "mean", 360, 360);
    expect_real(mpich, "processor_ns", "mean", 360, 360);
    expect_real(mpich, "skew_ns", "mean", 400, 400);
    expect_real(bypass, "blocked_ns", "mean", 250, 250);
    expect_real(bypass, "processor_ns", "mean", 265, 265);
    expect_real(bypass, "skew_ns", "mean", 400, 400);
    expect_real(mpich, "blocked_above_least_ns", "mean", 110, 110);
    expect_real(mpich, "processor_above_least_ns", "mean", 95, 95);
    /* Nothing varies; then v by 49, its mean of twelve by 14.1: 27.7 to each side. */
    expect_real(bypass, "blocked_ns", "low", 250, 250);
    expect_real(bypass, "blocked_ns", "high", 250, 250);
    expect_real(bypass, "processor_ns", "high", 265, 265);
    expect_real(mpich, "blocked_ns", "low", 329, 337);
    expect_real(mpich, "blocked_ns", "high", 383, 391);
    expect_real(mpich, "blocked_above_least_ns", "low", 79, 87);
    expect_real(mpich, "blocked_above_least_ns", "high", 133, 141);
    expect_text(json_object_get(trial, "blocked"), "verdict", "winner");
    expect_text(json_object_get(trial, "blocked"), "winner", "bypass(linger=auto)");
    expect_text(json_object_get(trial, "processor"), "winner", "bypass(linger=auto)");
}

/* Late contributions may cost more than they save. */
TEST("processor time is judged separately")
{
    start_logs();
    put_twelve_rounds(WORLD_INDEX);
    for (uint32_t round = 0; round < 12; round++)
        put_late(WORLD_INDEX, (2 * round + (round + 1) % 2) * BLOCK + 2, 4000, 2000);
    json_t *report = finish("processor", true);
    const json_t *trial = only_trial(report);
    expect_real(arm_of(trial, "bypass(linger=auto)"), "processor_ns", "mean", 598, 599);
    expect_text(json_object_get(trial, "blocked"), "winner", "bypass(linger=auto)");
    expect_text(json_object_get(trial, "processor"), "winner", "mpich");
}

/* One arm is 50 more in even rounds, the other in odd ones: paired they differ by as much in both
 * directions. */
TEST("candidates of equal cost show no difference")
{
    start_logs();
    for (uint32_t round = 0; round < 20; round++) {
        put_block(WORLD_INDEX, 2 * round, sg_executed(MPICH, ARM_MPICH), 100 + 50 * (round % 2));
        put_block(WORLD_INDEX, 2 * round + 1, sg_executed(BYPASS, ARM_BYPASS),
                  150 - 50 * (round % 2));
    }
    json_t *report = finish("none", true);
    const json_t *trial = only_trial(report);
    expect_real(arm_of(trial, "mpich"), "blocked_ns", "mean", 325, 325);
    expect_real(arm_of(trial, "bypass(linger=auto)"), "blocked_ns", "mean", 325, 325);
    expect_text(json_object_get(trial, "blocked"), "verdict", "none");
    expect_text(json_object_get(trial, "blocked"), "winner", NULL);
}

/* Both arms cost 1000 more in every second round. Apart, they vary far more than they differ; in
 * each round they differ alike. */
TEST("candidates are compared round by round")
{
    start_logs();
    for (uint32_t round = 0; round < 20; round++) {
        uint64_t slow_ns = 1000 * (round % 2);

        put_block(WORLD_INDEX, 2 * round, sg_executed(MPICH, ARM_MPICH), 110 + slow_ns);
        put_block(WORLD_INDEX, 2 * round + 1, sg_executed(BYPASS, ARM_BYPASS), 100 + slow_ns);
    }
    json_t *report = finish("paired", true);
    const json_t *trial = only_trial(report);
    expect_real(arm_of(trial, "mpich"), "blocked_above_least_ns", "low", 9.99, 10.01);
    expect_real(arm_of(trial, "mpich"), "blocked_above_least_ns", "high", 9.99, 10.01);
    EXPECT(real(arm_of(trial, "mpich"), "blocked_ns", "low") <
           real(arm_of(trial, "bypass(linger=auto)"), "blocked_ns", "high"));
    expect_text(json_object_get(trial, "blocked"), "winner", "bypass(linger=auto)");
}

TEST("fewer than ten complete rounds have no winner")
{
    const json_t *mpich;

    start_logs();
    for (uint32_t round = 0; round < 9; round++) {
        put_block(WORLD_INDEX, 2 * round, sg_executed(MPICH, ARM_MPICH), 100);
        put_block(WORLD_INDEX, 2 * round + 1, sg_executed(BYPASS, ARM_BYPASS), 50);
    }
    /* Not whole: a block without another, and one that nothing is left of. */
    put_block(WORLD_INDEX, 18, sg_executed(MPICH, ARM_MPICH), 100);
    put_instance(WORLD_INDEX, 19 * BLOCK, sg_executed(BYPASS, ARM_BYPASS), 900);
    json_t *report = finish("few", true);
    const json_t *trial = only_trial(report);
    mpich = arm_of(trial, "mpich");
    EXPECT(figure(trial, "rounds") == 9, figure(trial, "first_calls") == 2 * 20,
           figure(trial, "loose_calls") == 6);
    expect_calls(mpich, (json_int_t[]){80, 0, 10, 54, 27});
    expect_real(mpich, "blocked_ns", "mean", 300, 300);
    EXPECT(json_is_null(json_object_get(json_object_get(mpich, "blocked_ns"), "low")));
    expect_text(json_object_get(trial, "blocked"), "verdict", "few");
    expect_text(json_object_get(trial, "blocked"), "winner", NULL);
}

/* Calls that an arm leaves to MPICH count for the arm; instances whose ranks tell of different
 * arms, or of one and none, for nobody. */
TEST("calls that a candidate declines are counted, mixed instances are left out")
{
    start_logs();
    put_block(WORLD_INDEX, 0, sg_executed(MPICH, ARM_MPICH), 100);
    put_block(WORLD_INDEX, 1, sg_executed(MPICH, ARM_BYPASS), 100);
    put_call(0, WORLD_INDEX, 8, sg_executed(MPICH, ARM_BYPASS), time_of(0, 8), 100);
    put_call(1, WORLD_INDEX, 8, sg_executed(MPICH, ARM_MPICH), time_of(0, 8), 100);
    put_call(0, WORLD_INDEX, 9, sg_executed(MPICH, ARM_MPICH), time_of(0, 9), 100);
    put_call(1, WORLD_INDEX, 9, sg_executed(MPICH, 0), time_of(0, 9), 100);
    put_instance(WORLD_INDEX, 10, sg_executed(MPICH, 0), 100);
    json_t *report = finish("mixed", true);
    const json_t *trial = only_trial(report);
    EXPECT(figure(trial, "mixed_calls") == 4, figure(trial, "rounds") == 1);
    expect_calls(arm_of(trial, "bypass(linger=auto)"), (json_int_t[]){8, 8, 1, 6, 3});
    expect_calls(arm_of(trial, "mpich"), (json_int_t[]){8, 0, 1, 6, 3});
}

/* Blocks are a communicator's own; its rounds are put with those of others where the same arms had
 * turns. */
TEST("rounds of several communicators are pooled")
{
    static const uint32_t members[] = {0, 1};

    start_logs();
    for (int rank = 0; rank < 2; rank++)
        fabricate_comm(&logs[rank], OTHER_INDEX, 0, 1, 2, (uint32_t)rank, "other",
                       rank == 0 ? members : NULL);
    put_twelve_rounds(WORLD_INDEX);
    put_twelve_rounds(OTHER_INDEX);
    json_t *report = finish("communicators", true);
    const json_t *trial = only_trial(report);
    EXPECT(figure(trial, "rounds") == 24);
    expect_calls(arm_of(trial, "mpich"), (json_int_t[]){192, 0, 24, 144, 72});
    expect_real(arm_of(trial, "mpich"), "blocked_ns", "mean", 360, 360);
    expect_real(arm_of(trial, "bypass(linger=auto)"), "processor_ns", "mean", 265, 265);
}

/* As many rounds as are drawn from one by one, and more. */
TEST("many rounds are merged, and means stay the same")
{
    start_logs();
    for (uint32_t round = 0; round < 2501; round++) {
        put_block(WORLD_INDEX, 2 * round, sg_executed(MPICH, ARM_MPICH), 100 + 100 * (round % 2));
        put_block(WORLD_INDEX, 2 * round + 1, sg_executed(BYPASS, ARM_BYPASS), 50);
    }
    json_t *report = finish("many", true);
    const json_t *trial = only_trial(report);
    EXPECT(figure(trial, "rounds") == 2501);
    expect_real(arm_of(trial, "mpich"), "blocked_ns", "mean", 349, 350);
    expect_real(arm_of(trial, "mpich"), "blocked_ns", "low", 345, 350);
    expect_text(json_object_get(trial, "blocked"), "winner", "bypass(linger=auto)");
}

/* The section of the page, malloc'ed. */
static char *page_of(const char *directory)
{
    struct sg_report report;

    ASSERT(sg_report_read(directory, false, NULL, &report) == SG_OK);
    char *text = PRINTED(sg_page_write_trials(&report, stream));
    sg_report_clear(&report);
    return text;
}

/* Names from the program and its user are escaped: they are text. */
TEST("the page has a section for the trial")
{
    char directory[300], *page;

    start_logs();
    put_twelve_rounds(WORLD_INDEX);
    finish("page", true);
    snprintf(directory, sizeof directory, "%s/page", unit_directory());
    page = page_of(directory);
    EXPECT(contains(page, "<code>solve &lt;solver&gt;.c:88</code>"),
           contains(page, "By time blocked <b>bypass(linger=auto)</b> wins."),
           contains(page, "<td>250ns <small>250ns to 250ns</small></td>"
                          "<td>least</td>"),
           contains(page, "<td>360ns <small>"), contains(page, "<td>+110ns <small>+"),
           contains(page, "By 12 rounds; excluded: 48 first calls"));
    free(page);
}

TEST("the report of a run without a trial has none")
{
    start_logs();
    put_instance(WORLD_INDEX, 0, sg_executed(BYPASS, 0), 100);
    json_t *report = finish("silent", true);
    EXPECT(json_array_size(json_object_get(report, "trials")) == 0);
}

/* ---- statistics ---- */

static void put_stat(int rank, uint8_t executed, uint64_t calls, uint64_t blocked_ns)
{
    struct sg_record_stat *stat = fabricate_stat(&logs[rank], ALLREDUCE, 1, WORLD_INDEX, calls);

    stat->executed = executed;
    stat->blocked_ns = blocked_ns;
}

TEST("statistics give calls and means, and no winner")
{
    start_logs();
    for (int rank = 0; rank < 2; rank++) {
        put_stat(rank, sg_executed(MPICH, 0), 7, 700);
        put_stat(rank, sg_executed(MPICH, ARM_MPICH), 10, 3000);
        put_stat(rank, sg_executed(SG_ALGORITHM_BYPASS, ARM_BYPASS), 10, 2000);
        put_stat(rank, sg_executed(MPICH, ARM_BYPASS), 2, 1000);
    }
    json_t *report = finish("statistics", false);
    const json_t *trial = only_trial(report);
    EXPECT(figure(trial, "block") == BLOCK);
    const json_t *arm = arm_of(trial, "mpich");
    expect_calls(arm, (json_int_t[]){20, 0, 0, 0, 0});
    EXPECT(is_near(json_real_value(json_object_get(arm, "mean_blocked_ns")), 300, 1e-6),
           json_is_null(json_object_get(arm, "blocked_ns")));
    arm = arm_of(trial, "bypass(linger=auto)");
    expect_calls(arm, (json_int_t[]){24, 4, 0, 0, 0});
    EXPECT(is_near(json_real_value(json_object_get(arm, "mean_blocked_ns")), 250, 1e-6));
    expect_text(json_object_get(trial, "blocked"), "verdict", "unknown");
}
