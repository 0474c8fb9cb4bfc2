/* Tests reports of statistics alone: STAGGER_TRACE=stats, logs written by hand. */
#include "lib/unit.h"
#include "report/logs.h"
#include "report/report.h"
#include "report/report_columns.h"

/* Two ranks and two communicators named "row", both with rank 0 as their first, made in this order
 * but met by rank 1 in the other; rank 1 does not know their names. Rank 1's log has its statistics
 * before the definitions they need. */
static void write_run(const char *directory, enum sg_log_state state)
{
    static const char module[] = "/opt/cg\0";
    static const char name[] = "solve\0/src/solver.c";
    struct log_writer log;

    log_begin(&log, directory, 0, 2, SG_TRACE_STATS, SG_LOG_FINALIZED);
    log_put_comm(&log, 0, 0, 0, 2, "MPI_COMM_WORLD");
    log_put_comm(&log, 2, 0, 1, 2, "row");
    log_put_comm(&log, 3, 0, 2, 2, "row");
    log_put_comm(&log, 4, 0, 3, 2, "");
    log_put_site(&log, 1, 0xa, 0x11c4, module, sizeof module);
    log_put_name(&log, 0xa, 88, name, sizeof name);
    log_put_stat(&log, SG_OPERATION_BARRIER, 1, 0, 10, 0, 4000);
    log_put_stat(&log, SG_OPERATION_ALLREDUCE, 1, 2, 3, 24, 300);
    log_put_stat(&log, SG_OPERATION_ALLREDUCE, 1, 3, 5, 40, 500);
    log_put_stat(&log, SG_OPERATION_ALLREDUCE, 1, 4, 1, 8, 7);
    log_put_stat(&log, SG_OPERATION_ALLREDUCE, 1, 1, 2, 16, 20);
    log_end(&log);

    log_begin(&log, directory, 1, 2, SG_TRACE_STATS, state);
    log_put_stat(&log, SG_OPERATION_BARRIER, 1, 0, 10, 0, 6000);
    log_put_stat(&log, SG_OPERATION_ALLREDUCE, 1, 3, 3, 24, 300);
    log_put_stat(&log, SG_OPERATION_ALLREDUCE, 1, 2, 5, 40, 500);
    log_put_stat(&log, SG_OPERATION_ALLREDUCE, 1, 4, 1, 8, 7);
    log_put_stat(&log, SG_OPERATION_ALLREDUCE, 1, 1, 2, 16, 20);
    log_put_comm(&log, 0, 0, 0, 2, "");
    log_put_comm(&log, 2, 0, 2, 2, "");
    log_put_comm(&log, 3, 0, 1, 2, "");
    log_put_comm(&log, 4, 0, 3, 2, "");
    log_put_site(&log, 1, 0xa, 0x11c4, module, sizeof module);
    log_end(&log);
}

static void read_run(enum sg_log_state state, struct sg_report *report)
{
    const char *directory = unit_fresh_directory();

    write_run(directory, state);
    ASSERT(sg_report_read(directory, false, NULL, report) == SG_OK,
           sg_report_sort(report, sg_column_find(sg_site_columns, SG_COLUMN_DEFAULT)) == SG_OK);
}

TEST("statistics of all ranks add up to rows")
{
    struct sg_report report;

    read_run(SG_LOG_FINALIZED, &report);
    ASSERT(report.site_count == 5);
    /* Nothing is known of waiting: rows come by time blocked. */
    EXPECT(report.sites[0].operation == SG_OPERATION_BARRIER, report.sites[0].calls == 20,
           report.sites[0].blocked_ns == 10000, report.sites[0].counts.of[SG_COUNT_EARLY] == 20,
           report.sites[0].counts.of[SG_COUNT_SIGNALS] == 40, report.sites[0].event_calls == 0,
           !sg_site_has_wait(&report.sites[0]), !sg_site_has_skew(&report.sites[0]),
           report.sites[0].last_rank == -1, text_is(report.sites[0].algorithm, "mpich"),
           !report.has_events, !report.partial, text_is(report.program, "cg"));
    sg_report_clear(&report);
}

TEST("communicators are distinguished by identity, not by name or index")
{
    struct sg_report report;

    read_run(SG_LOG_FINALIZED, &report);
    ASSERT(report.site_count == 5);
    EXPECT(text_is(report.sites[1].comm, "row"), report.sites[1].calls == 10,
           report.sites[1].blocked_ns == 1000, text_is(report.sites[2].comm, "row"),
           report.sites[2].calls == 6, report.sites[2].bytes == 48,
           text_is(report.sites[3].comm, "MPI_COMM_SELF"), report.sites[3].calls == 4,
           report.sites[3].comm_size == 1, text_is(report.sites[4].comm, "comm 0.3"),
           report.sites[4].calls == 2);
    sg_report_clear(&report);
}

TEST("one rank's names of call sites serve all ranks")
{
    struct sg_report report;

    read_run(SG_LOG_FINALIZED, &report);
    EXPECT(text_is(report.sites[0].function, "solve"),
           text_is(report.sites[0].file, "/src/solver.c"), report.sites[0].line == 88,
           text_is(report.sites[0].module, "cg"), report.sites[0].offset == 0x11c4);
    sg_report_clear(&report);
}

/* From MPI_Init at 1000 to MPI_Finalize at 101000. */
TEST("run times reach from MPI_Init to MPI_Finalize")
{
    struct sg_report report;

    read_run(SG_LOG_FINALIZED, &report);
    ASSERT(report.rank_count == 2);
    EXPECT(report.ranks[0].run_ns == 100000, report.ranks[0].blocked_ns == 4827,
           report.ranks[1].blocked_ns == 6827, report.ranks_run_ns == 200000);
    sg_report_clear(&report);
}

/* A rank that never reached MPI_Finalize ran at least as long as it was blocked. */
TEST("a killed rank makes the report partial")
{
    struct sg_report report;

    read_run(SG_LOG_RUNNING, &report);
    EXPECT(report.partial, report.ranks[0].run_ns == 100000, report.ranks[1].run_ns == 6827);
    sg_report_clear(&report);
}
