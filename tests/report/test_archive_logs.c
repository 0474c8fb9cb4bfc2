/* Tests reports of an archive with logs beside it: where the archive leaves out calls, totals are
 * those of the logs' statistics. */
#include "lib/unit.h"
#include "report/logs.h"
#include "report/report_json.h"

/* Site A's barrier: 6 calls a rank, 24 together, of which the archive has 12; site B's reduces: one
 * call, fewer than the 6 in the archive, as after MPI_Pcontrol(2); site E's allreduces on a
 * communicator `half` of the same members: not in the archive at all. */
static void write_logs(const char *directory)
{
    for (int rank = 0; rank < 4; rank++) {
        struct fabricated log;

        log_begin(&log, directory, rank, 4, SG_TRACE_OTF2, SG_LOG_FINALIZED);
        fabricate_comm(&log, 0, 0, 0, 4, 0, "MPI_COMM_WORLD", NULL);
        fabricate_comm(&log, 1, (uint32_t)rank, 0, 1, 0, "MPI_COMM_SELF", NULL);
        if (rank == 0 || rank == 2)
            fabricate_comm(&log, 2, 2, 1, 2, 0, rank == 2 ? "half" : "", NULL);
        fabricate_site(&log, 1, 0x3f2a9c1b, "/opt/cg", "", 0x11c4);
        fabricate_site(&log, 2, 0x0000beef, "/opt/cg", "", 0x2000);
        fabricate_site(&log, 3, 0x00000e0e, "/opt/cg", "", 0x3000);
        log_put_stat(&log, SG_OPERATION_BARRIER, 1, 0, 6, 0, 20000);
        if (rank == 0)
            log_put_stat(&log, SG_OPERATION_REDUCE, 2, 0, 1, 64, 10);
        if (rank == 0 || rank == 2)
            log_put_stat(&log, SG_OPERATION_ALLREDUCE, 3, 2, 10, 80, 500);
        log_end(&log);
    }
}

static const json_t *find_row(const json_t *report, const char *id, const char *op)
{
    const json_t *sites = json_object_get(report, "sites");
    const json_t *row;
    size_t i;

    json_array_foreach(sites, i, row)
    {
        const char *row_id = json_string_value(json_object_get(row, "id"));

        if (row_id != NULL && strcmp(row_id, id) == 0 &&
            strcmp(json_string_value(json_object_get(row, "op")), op) == 0)
            return row;
    }
    CU_FAIL_FATAL("no such row");
    return NULL;
}

static void be_partial(struct archive *archive)
{
    archive->partial = "1";
}

TEST("a partial archive takes its totals from the logs beside it")
{
    const char *directory = write_known(be_partial);

    write_logs(directory);
    json_t *report = report_of(directory);
    expect_text(report, "source", "archive+statistics");
    const json_t *row = find_row(report, "3f2a9c1b", "barrier");
    EXPECT(figure(row, "calls") == 24, figure(row, "event_calls") == 12,
           figure(row, "blocked_ns") == 80000, figure(row, "wait_ns") == 26300,
           figure(json_object_get(row, "skew_ns"), "max") == 6000);
    row = find_row(report, "0000beef", "reduce");
    EXPECT(figure(row, "calls") == 6, figure(row, "bytes") == 384,
           figure(row, "blocked_ns") == 450);
    row = find_row(report, "00000e0e", "allreduce");
    EXPECT(figure(row, "calls") == 20, figure(row, "event_calls") == 0,
           figure(row, "wait_ns") == -1);
    expect_text(row, "comm", "half");
    EXPECT(figure(row, "comm_size") == 2);
    expect_text(row, "module", "cg");
    /* 12 barriers and 20 allreduces. */
    EXPECT(figure(report, "unseen_calls") == 32);
    /* Rank 0: statistics know of 17 calls, the events of 6. */
    EXPECT(figure(json_array_get(json_object_get(report, "per_rank"), 0), "blocked_ns") == 20510);
}

/* A run that was killed: its archive ends with MPI_Init, and its logs know of blocked time. */
static void be_short(struct archive *archive)
{
    archive->partial = "1";
    archive->call_count = 0;
    for (int rank = 0; rank < 4; rank++)
        archive->finalize_ns[rank] = archive->init_ns[rank] + 10;
}

TEST("a run is at least as long as its calls, and waits without instances are unknown")
{
    const char *directory = write_known(be_short);
    struct sg_report report;
    char *text = NULL;
    size_t size_bytes;

    for (int rank = 0; rank < 4; rank++) {
        struct fabricated log;

        log_begin(&log, directory, rank, 4, SG_TRACE_OTF2, SG_LOG_RUNNING);
        fabricate_comm(&log, 0, 0, 0, 4, 0, "MPI_COMM_WORLD", NULL);
        fabricate_site(&log, 1, 0x3f2a9c1b, "/opt/cg", "", 0x11c4);
        log_put_stat(&log, SG_OPERATION_BARRIER, 1, 0, 6, 0, 20000);
        log_end(&log);
    }
    ASSERT(sg_report_read(directory, false, NULL, &report) == SG_OK);
    EXPECT(report.total.blocked_ns == 80000, report.ranks_run_ns >= 80000);
    for (uint32_t rank = 0; rank < 4; rank++)
        EXPECT(report.ranks[rank].run_ns >= report.ranks[rank].blocked_ns);
    FILE *stream = open_memstream(&text, &size_bytes);
    EXPECT(sg_report_print_text(&report, &(struct sg_print_options){0}, stream) == SG_OK);
    fclose(stream);
    EXPECT(contains(text, "It is not known who waits for whom: no instance is complete.\n"),
           !contains(text, "No rank waited"));
    free(text);
    sg_report_clear(&report);
}

TEST("a complete archive does not read the logs beside it")
{
    const char *directory = write_known(NULL);
    json_t *alone = report_of(directory), *report;

    write_logs(directory);
    report = report_of(directory);
    expect_text(report, "source", "archive");
    EXPECT(json_equal(report, alone));
}
