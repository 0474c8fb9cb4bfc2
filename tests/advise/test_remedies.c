/* Tests the remedies suggested for late ranks, from causes written by hand. */
#include "lib/unit.h"

#include "advise/remedies.h"
#include "report/between_calls_tables.h"
#include "report/cause_table.h"
#include "report/profile_calls.h"

#include <math.h>

#define RANKS 4

static const struct sg_waitstate_place send = {.function = "MPI_Send", .site = {.site = 1}};
static const struct sg_waitstate_place barrier = {.function = "MPI_Barrier", .site = {.site = 2}};

static struct sg_cause_row rows[SG_CAUSES];
static struct sg_cause_site site;
static struct sg_causes_found causes;
static struct sg_before_row befores[RANKS];
static struct sg_before before;
static struct sg_calls calls;
static struct sg_report report;
static struct sg_remedies remedies;

/* A row for each cause, each of less than the one before, on rank 1 between the two places. */
static void begin(void)
{
    for (unsigned i = 0; i < SG_CAUSES; i++)
        rows[i] = (struct sg_cause_row){
            .cause = i, .rank = 1, .ns = 1000 - i, .after = send, .until = barrier};
    site = (struct sg_cause_site){
        .at = barrier, .instances = 20, .late_ns = 12000, .rows = rows, .row_count = SG_CAUSES};
    causes = (struct sg_causes_found){.sites = &site, .site_count = 1, .instances = 20};
    for (uint32_t i = 0; i < RANKS; i++)
        befores[i] = (struct sg_before_row){
            .after = &send, .until = &barrier, .rank = i, .mean_ns = 100 + 10 * i};
    befores[1].mean_ns = 192;
    before = (struct sg_before){.rows = befores, .row_count = RANKS};
    calls = (struct sg_calls){.before = &before};
    report = (struct sg_report){.has_events = true, .causes = &causes, .calls = &calls};
}

static void find(void)
{
    ASSERT(sg_remedies_find(&report, &remedies) == SG_OK);
}

TEST("each cause has its remedy: the program, an algorithm, or unknown")
{
    static const char *const words[SG_CAUSES] = {
        [SG_CAUSE_COMPUTING] = "balance the work",
        [SG_CAUSE_WORK] = "balance the work",
        [SG_CAUSE_SLOWER] = "fewer instructions per cycle",
        [SG_CAUSE_FAULTS] = "page faults",
        [SG_CAUSE_KERNEL] = "system calls",
        [SG_CAUSE_PREEMPTED] = "another process",
        [SG_CAUSE_PREEMPTED_THREADS] = "its own threads",
        [SG_CAUSE_PREEMPTED_OTHERS] = "another process",
        [SG_CAUSE_THROTTLED] = "quota",
        [SG_CAUSE_IO] = "reads or writes",
        [SG_CAUSE_ASLEEP] = "sleeps",
        [SG_CAUSE_CALLS_BUSY] = "another algorithm",
        [SG_CAUSE_CALLS_PREEMPTED] = "another process",
        [SG_CAUSE_CALLS_PREEMPTED_THREADS] = "its own threads",
        [SG_CAUSE_CALLS_PREEMPTED_OTHERS] = "another process",
        [SG_CAUSE_CALLS_THROTTLED] = "quota",
        [SG_CAUSE_CALLS_ASLEEP] = "another algorithm",
        [SG_CAUSE_CALLS] = "another algorithm",
        [SG_CAUSE_LEFT] = "another algorithm",
        [SG_CAUSE_UNKNOWN] = "do not show",
    };

    begin();
    find();
    ASSERT(remedies.row_count == SG_CAUSES);
    EXPECT(remedies.has_events, remedies.instances == 20);
    for (unsigned i = 0; i < SG_CAUSES; i++) {
        EXPECT(remedies.rows[i].cause == i, contains(remedies.rows[i].advice, words[i]),
               remedies.rows[i].remedy == (i == SG_CAUSE_UNKNOWN ? SG_REMEDY_NONE
                                           : strcmp(words[i], "another algorithm") == 0
                                               ? SG_REMEDY_ALGORITHM
                                               : SG_REMEDY_PROGRAM));
    }
    EXPECT(remedies.of_ns[SG_REMEDY_NONE] == 981,
           remedies.of_ns[SG_REMEDY_ALGORITHM] == 989 + 984 + 983 + 982,
           remedies.ns == 20 * 1000 - 190);
    sg_remedies_clear(&remedies);
}

/* The other ranks' means are 100, 120 and 130. */
TEST("a rank's interval is compared with the median of the other ranks' intervals")
{
    begin();
    find();
    EXPECT(is_near(remedies.rows[0].times, 1.6, 1e-9));
    sg_remedies_clear(&remedies);
    befores[3].until = &send;
    find();
    EXPECT(is_near(remedies.rows[0].times, 192 / 110.0, 1e-9));
    sg_remedies_clear(&remedies);
    calls.before = NULL;
    find();
    EXPECT(isnan(remedies.rows[0].times));
    sg_remedies_clear(&remedies);
}

static const char *advice_of_preempted(uint64_t short_ranks, uint64_t mode)
{
    const char *advice;

    begin();
    rows[0].cause = SG_CAUSE_PREEMPTED;
    site.row_count = 1;
    report.waiting = (struct sg_run_waiting){
        .ranks = 4, .processors = 2, .short_ranks = short_ranks, .mode = mode};
    report.efficiency = (struct sg_efficiency){
        .is_known = true, .work_ns = 100, .on_processor = 0.5, .runnable = 0.5};
    find();
    advice = remedies.rows[0].advice;
    sg_remedies_clear(&remedies);
    return advice;
}

TEST("the advice for a preempted rank depends on the number of processors that its ranks use")
{
    EXPECT(contains(advice_of_preempted(0, SG_WAIT_SPIN), "another process"),
           contains(advice_of_preempted(4, SG_WAIT_AUTO), "more ranks than processors"),
           !contains(advice_of_preempted(4, SG_WAIT_AUTO), "STAGGER_WAIT"),
           contains(advice_of_preempted(4, SG_WAIT_SPIN), "STAGGER_WAIT=auto"));
}

TEST("negligible causes are left out")
{
    begin();
    rows[0].ns = 1000000;
    find();
    EXPECT(remedies.row_count == 1);
    sg_remedies_clear(&remedies);
}

/* Without events those that are longer are told, if they end at a call. */
TEST("without events remedies come from the ranks' longer intervals")
{
    begin();
    report.causes = NULL;
    find();
    EXPECT(remedies.row_count == 0);
    sg_remedies_clear(&remedies);
    report.has_events = false;
    befores[1].has_cause = befores[2].has_cause = true;
    befores[1].cause = SG_CAUSE_ASLEEP;
    befores[1].longer_ns = 300;
    befores[2].until = &(struct sg_waitstate_place){0};
    find();
    ASSERT(remedies.row_count == 1);
    EXPECT(!remedies.has_events, remedies.rows[0].cause == SG_CAUSE_ASLEEP,
           remedies.rows[0].ns == 300, remedies.rows[0].rank == 1);
    sg_remedies_clear(&remedies);
    report.calls = NULL;
    find();
    EXPECT(remedies.row_count == 0);
    sg_remedies_clear(&remedies);
}
