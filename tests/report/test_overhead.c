/* Tests how stagger's own cost gets from the logs' headers, by way of the archive or directly, to
 * the report. */
#include "report/report.h"
#include "trace/export_setup.h"

/* Two calls on each of two ranks; timed were 3 calls of 600 ns in all, and a long one. Run times
 * are set by MPI_Init's record and are not of interest here. */
static void write_logs(const char *directory, bool timed, uint32_t mode)
{
    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        log.header.trace_mode = mode;
        if (timed) {
            log.header.overhead_calls = rank == 0 ? 1 : 2;
            log.header.overhead_ns = rank == 0 ? 100 : 500;
            log.header.overhead_long_calls = rank == 0 ? 0 : 1;
        }
        fabricate_site(&log, 1, 0xa, "/opt/bin/cg", "", 0x10);
        for (uint32_t seq = 0; seq < 2 && mode == SG_TRACE_OTF2; seq++)
            fabricate_call(&log, SG_OPERATION_BARRIER, 0, seq, 2000 + 1000 * seq, 2100 + 1000 * seq)
                ->site = 1;
        if (mode == SG_TRACE_STATS)
            fabricate_stat(&log, SG_OPERATION_BARRIER, 1, 0, 2);
        fabricate_finish(&log, directory);
    }
}

static void expect_measured(const char *directory)
{
    struct sg_report report;

    ASSERT(sg_report_read(directory, false, NULL, &report) == SG_OK);
    EXPECT(report.overhead_calls == 3, report.overhead_ns == 600, report.overhead_long_calls == 1,
           sg_report_overhead_ns(&report) == 4 * 200);
    sg_report_clear(&report);
}

TEST("the archive gives stagger's own time")
{
    const char *directory = setup_directory("archive");

    write_logs(directory, true, SG_TRACE_OTF2);
    ASSERT(setup_export(directory) == SG_OK);
    expect_measured(directory);
}

TEST("statistics give stagger's own time")
{
    const char *directory = setup_directory("statistics");

    write_logs(directory, true, SG_TRACE_STATS);
    expect_measured(directory);
}

TEST("no overhead is reported if no call was timed")
{
    const char *directory = setup_directory("untimed");
    struct sg_report report;

    write_logs(directory, false, SG_TRACE_OTF2);
    ASSERT(setup_export(directory) == SG_OK,
           sg_report_read(directory, false, NULL, &report) == SG_OK);
    EXPECT(report.overhead_calls == 0, sg_report_overhead_ns(&report) == 0);
    sg_report_clear(&report);
}
