/* Tests the drawings of a page, for runs whose figures are worked out by hand. */
#include "page/page_detail.h"
#include "report/known.h"
#include "report/report.h"
#include "trace/export_setup.h"

static void read_known(struct sg_detail *detail, struct sg_report *report)
{
    static struct archive archive;
    static int number;
    char path[256];

    snprintf(path, sizeof path, "%s/known-%d", unit_directory(), number++);
    known_run(&archive);
    archive_write(&archive, path);
    ASSERT(sg_detail_create(detail) == SG_OK);
    struct sg_watch watch = sg_detail_watch(detail);
    ASSERT(sg_report_read(path, false, &watch, report) == SG_OK);
}

static const struct sg_report_site *site_of(const struct sg_report *report, uint32_t id,
                                            enum sg_operation operation)
{
    for (uint32_t i = 0; i < report->sum_count; i++) {
        if (report->sums[i].id == id && report->sums[i].operation == operation)
            return &report->sums[i];
    }
    CU_FAIL_FATAL("the call site is there");
    return NULL;
}

/* A's barriers, by rank: late 0, 1000 + 500 + 6000, 3000 + 1000 + 0, 2000 + 200 + 0. */
TEST("lateness and waits by rank are the sums worked out by hand")
{
    static const uint64_t late_ns[] = {0, 7500, 4000, 2200};
    static const uint64_t wait_ns[] = {10000, 2500, 6000, 7800};
    struct sg_detail detail;
    struct sg_report report;
    const struct sg_detail_row *row;

    read_known(&detail, &report);
    row = sg_detail_row(&detail, site_of(&report, 0x3f2a9c1b, SG_OPERATION_BARRIER)->row);
    ASSERT(row != NULL, row->rank_count == 4);
    for (uint32_t i = 0; i < 4; i++) {
        EXPECT(row->ranks[i].instances == 3, row->ranks[i].calls == 3,
               row->ranks[i].late_ns == late_ns[i], row->ranks[i].wait_ns == wait_ns[i]);
    }
    /* `half` has ranks 2 and 0; its instance counts for D, at which rank 2 called. Rank 3's own on
     * MPI_COMM_SELF are D's as well. */
    row = sg_detail_row(&detail, site_of(&report, 0xd0d, SG_OPERATION_ALLREDUCE)->row);
    EXPECT(row->ranks[0].late_ns == 2000, row->ranks[0].calls == 0, row->ranks[2].wait_ns == 1900,
           row->ranks[2].calls == 1, row->ranks[3].instances == 0);
    sg_report_clear(&report);
    sg_detail_clear(&detail);
}

TEST("distributions of skews, costs, sizes and times are those worked out by hand")
{
    struct sg_detail detail;
    struct sg_report report;
    const struct sg_detail_row *row;
    struct sg_detail_time all = {0};
    uint64_t calls = 0;

    read_known(&detail, &report);
    row = sg_detail_row(&detail, site_of(&report, 0x3f2a9c1b, SG_OPERATION_BARRIER)->row);
    EXPECT(row->skews[sg_detail_skew_bin(1000)] == 1, row->skews[sg_detail_skew_bin(3000)] == 1,
           row->skews[sg_detail_skew_bin(6000)] == 1);
    /* Three calls waited 6000 and were blocked 6100. */
    EXPECT(row->costs[sg_detail_cost_bin(6000)][sg_detail_cost_bin(6100)] == 3);
    for (uint32_t i = 0; i < SG_DETAIL_COSTS; i++) {
        for (uint32_t j = 0; j < SG_DETAIL_COSTS; j++)
            calls += row->costs[i][j];
    }
    EXPECT(calls == 12, row->sizes[0] == 12);
    for (uint32_t i = 0; i < SG_DETAIL_TIMES; i++) {
        all.instances += row->times[i].instances;
        all.skew_sum_ns += row->times[i].skew_sum_ns;
        all.wait_ns += row->times[i].wait_ns;
        all.blocked_ns += row->times[i].blocked_ns;
    }
    EXPECT(all.instances == 3, all.skew_sum_ns == 10000, all.wait_ns == 26300,
           all.blocked_ns == 27750);
    /* The third begins at 20000, in bin 19 of 1024 ns. */
    EXPECT(row->time_width_ns == 1024, row->times[19].skew_max_ns == 6000);
    /* The reduces by bypass are C's: 64 bytes; root 1 counted 1, 2 and 3. */
    row = sg_detail_row(&detail, site_of(&report, 0xc0c, SG_OPERATION_REDUCE)->row);
    EXPECT(row->sizes[7] == 2, row->times[39000 / 1024].early == 1,
           row->times[39000 / 1024].late == 2, row->times[39000 / 1024].signals == 3);
    sg_report_clear(&report);
    sg_detail_clear(&detail);
}

static const struct sg_detail_worst *worst_of(const struct sg_detail *detail, uint32_t row)
{
    for (uint32_t i = 0; i < detail->worst_count; i++) {
        if (detail->worst[i].sum == row)
            return &detail->worst[i];
    }
    return NULL;
}

TEST("the worst instance of each call site is kept complete")
{
    struct sg_detail detail;
    struct sg_report report;

    read_known(&detail, &report);
    EXPECT(detail.worst_count == 3);
    const struct sg_detail_worst *worst =
        worst_of(&detail, site_of(&report, 0x3f2a9c1b, SG_OPERATION_BARRIER)->row);
    ASSERT(worst != NULL);
    EXPECT(worst->seq == 2, worst->skew_ns == 6000);
    ASSERT(worst->size == 4);
    EXPECT(worst->parts[1].begin_ns == 26000, worst->parts[1].wait_ns == 0,
           worst->parts[3].begin_ns == 20000, worst->parts[3].end_ns == 26100,
           worst->parts[3].wait_ns == 6000);
    sg_report_clear(&report);
    sg_detail_clear(&detail);
}

TEST("the page knows each rank's clock")
{
    struct sg_detail detail;
    struct sg_report report;

    read_known(&detail, &report);
    ASSERT(detail.clock_room == 4);
    EXPECT(detail.clocks[1].known, detail.clocks[1].seen.first_offset_ns == 5000000,
           detail.clocks[2].seen.last_offset_ns == -3000000, detail.clocks[2].seen.error_ns == 70,
           detail.clocks[2].seen.between_ns == ARCHIVE_EPOCH_TICKS * 3 / 2);
    sg_report_clear(&report);
    sg_detail_clear(&detail);
}

/* Calls 1 ms apart over ten seconds: the bins' width doubles until 64 of them hold the run. */
TEST("a long run has as many bins of time as a short one")
{
    static struct archive archive;
    char path[256];
    struct sg_detail detail;
    struct sg_report report;
    const struct sg_detail_row *row;
    uint64_t instances = 0, last = 0;

    snprintf(path, sizeof path, "%s/long", unit_directory());
    archive = (struct archive){.ranks = 2, .ticks_per_ns = 1, .half_size = 1, .no_init = true};
    for (int rank = 0; rank < 2; rank++)
        known_add(&archive, (struct archive_call){.rank = rank,
                                                  .operation = SG_OPERATION_BARRIER,
                                                  .begin_ns = 1000 + 100 * (uint64_t)rank,
                                                  .end_ns = 1200,
                                                  .site = KNOWN_A,
                                                  .algorithm = "mpich"});
    archive.repeat = 10000;
    archive.repeat_ns = 1000000;
    archive.repeat_seq = 1;
    archive_write(&archive, path);
    ASSERT(sg_detail_create(&detail) == SG_OK);
    struct sg_watch watch = sg_detail_watch(&detail);
    ASSERT(sg_report_read(path, false, &watch, &report) == SG_OK);
    row = sg_detail_row(&detail, report.sums[0].row);
    for (uint32_t i = 0; i < SG_DETAIL_TIMES; i++) {
        instances += row->times[i].instances;
        last = row->times[i].instances > 0 ? i : last;
    }
    EXPECT(instances == 10000);
    EXPECT(row->time_width_ns == UINT64_C(1024) << 18); /* 268 ms: 38 bins */
    EXPECT(last == UINT64_C(9999000000) / (UINT64_C(1024) << 18));
    sg_report_clear(&report);
    sg_detail_clear(&detail);
}

/* Rank 0's first reduce ends at 2050. What comes for it is handled at 2500, while rank 1 is still
 * in its call, and at 2790, after the instance is complete; another is for a later instance. */
TEST("late contributions belong to their instance, before and after it completes")
{
    const char *directory = setup_directory("late");
    struct sg_detail detail;
    struct sg_report report;

    for (int rank = 0; rank < 2; rank++) {
        static const uint64_t begins[2][2] = {{2000, 4000}, {2100, 4010}};
        static const uint64_t ends[2][2] = {{2050, 4050}, {2760, 4060}};
        static const uint64_t handled[] = {2500, 2790, 4500};
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        fabricate_site(&log, 1, 0xa, "/opt/bin/cg", "", 0x10);
        for (uint32_t seq = 0; seq < 2; seq++) {
            struct sg_record_call *call = fabricate_call(&log, SG_OPERATION_REDUCE, 0, seq,
                                                         begins[rank][seq], ends[rank][seq]);

            call->site = 1;
            call->root = 1;
        }
        for (uint32_t i = 0; rank == 0 && i < 3; i++) {
            struct sg_record_late *record = fabricate_late(&log, handled[i], handled[i] + 10);

            record->site = 1;
            record->seq = i < 2 ? 0 : 1;
            record->child = 1;
        }
        fabricate_finish(&log, directory);
    }
    ASSERT(setup_export(directory) == SG_OK, sg_detail_create(&detail) == SG_OK);
    struct sg_watch watch = sg_detail_watch(&detail);
    ASSERT(sg_report_read(directory, false, &watch, &report) == SG_OK, detail.worst_count == 1);
    EXPECT(detail.worst[0].seq == 0);
    ASSERT(detail.worst[0].late_count == 2);
    EXPECT(detail.worst[0].late[0].rank == 0,
           detail.worst[0].late[0].begin_ns - detail.worst[0].parts[0].begin_ns == 500,
           detail.worst[0].late[1].begin_ns - detail.worst[0].parts[0].begin_ns == 790,
           detail.worst[0].late[1].handler_ns == 10);
    sg_report_clear(&report);
    sg_detail_clear(&detail);
}

TEST("bins begin at powers of two")
{
    EXPECT(sg_detail_skew_bin(0) == 0, sg_detail_skew_bin(1) == 1, sg_detail_skew_bin(2) == 5,
           sg_detail_skew_bin(1024) == 41, sg_detail_skew_bin(1023) == 40,
           sg_detail_skew_bin(UINT64_MAX) == SG_DETAIL_SKEWS - 1, sg_detail_cost_bin(63) == 0,
           sg_detail_cost_bin(64) == 1, sg_detail_cost_bin(128) == 2,
           sg_detail_cost_bin(UINT64_MAX) == SG_DETAIL_COSTS - 1);
}
