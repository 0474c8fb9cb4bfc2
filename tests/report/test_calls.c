/* Tests all calls of MPI in a report: of damaged logs, of many ranks, and of files beside an
 * archive. tests/report/report.sh compares the figures of logs written by hand with golden files.
 */
#include "core/capture.h"
#include "lib/unit.h"
#include "report/filter.h"
#include "report/known.h"
#include "report/logs.h"
#include "report/profile_calls.h"
#include "report/report.h"

#include <math.h>
#include <unistd.h>

#define WORLD_NAME "MPI_COMM_WORLD"

static void put_profile(struct fabricated *log, struct sg_record_profile record)
{
    log_put(log, &record, sizeof record);
}

#define TIMES(...)                                                                                 \
    sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[])                             \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void read_directory(const char *directory, const struct sg_filter *filter,
                           struct sg_report *report)
{
    const struct sg_watch watch = {.calls = true, .filter = filter};

    ASSERT(sg_report_read(directory, false, &watch, report) == SG_OK);
}

static const struct sg_call_row *find(const struct sg_call_row *rows, uint32_t count,
                                      const char *function)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(rows[i].function, function) == 0)
            return &rows[i];
    }
    CU_FAIL_FATAL("no such function");
    return NULL;
}

TEST("calls of a function in one line are one row of the text, and two functions or lines are two")
{
    static const struct {
        uint32_t site, line;
        const char *function, *comm;
    } made[] = {{1, 10, "MPI_Send", "a"}, {2, 10, "MPI_Send", "a"}, {3, 10, "MPI_Send", "b"},
                {4, 11, "MPI_Send", "a"}, {5, 10, "MPI_Recv", "a"}, {6, 0, "MPI_Recv", "a"},
                {7, 0, "MPI_Recv", "a"}};
    struct sg_call_row rows[7] = {0}, *lines;
    uint32_t count = 7;

    for (uint32_t i = 0; i < count; i++)
        rows[i] = (struct sg_call_row){.place = {.site = made[i].site,
                                                 .file = made[i].line > 0 ? "c.c" : NULL,
                                                 .line = made[i].line,
                                                 .comm = made[i].comm,
                                                 .comm_size = 2,
                                                 .comms = 1},
                                       .function = made[i].function,
                                       .of = {.calls = 1, .time_ns = 10, .min_ns = 10}};
    lines = sg_call_rows_by_line(rows, &count, false);
    ASSERT(lines != NULL, count == 5);
    EXPECT(lines[0].of.calls == 3, lines[0].of.time_ns == 30, lines[0].place.line == 10,
           lines[0].place.comm == NULL, lines[0].mean_ns == 10);
    free(lines);
    count = 7;
    lines = sg_call_rows_by_line(rows, &count, true);
    ASSERT(lines != NULL, count == 6);
    EXPECT(lines[0].of.calls == 2, text_is(lines[0].place.comm, "a"), lines[0].place.comms == 1);
    free(lines);
}

/* Distributions of kinds, functions and bins that do not exist. */
TEST("damaged distributions are left out")
{
    const char *directory = unit_fresh_directory();
    struct sg_record_distribution odd = {
        .kind = SG_RECORD_DISTRIBUTION, .of = SG_DISTRIBUTION_OVERHEAD, .bins = 3, .count = 1};
    struct sg_report report;
    struct fabricated log;

    log_begin(&log, directory, 0, 1, SG_TRACE_STATS, SG_LOG_FINALIZED);
    log.header.counts_calls = 1;
    log_put(&log, &odd, sizeof odd);
    odd.bins = 4;
    log_put(&log, &odd, sizeof odd);
    log_put_distribution(&log, 0, 0, 0, TIMES(1));
    log_put_distribution(&log, 5, 0, 0, TIMES(1));
    log_put_distribution(&log, SG_DISTRIBUTION_LATENCY, 0, 9, TIMES(1));
    log_end(&log);
    read_directory(directory, NULL, &report);
    EXPECT(report.calls->mmds.distribution_count == 0);
    sg_report_clear(&report);
}

/* Functions, communicators and peers that are not there, and figures that are no numbers. */
TEST("damaged records are left out")
{
    const char *directory = unit_fresh_directory();
    struct sg_record_profile odd = log_profile(9, 9, 0, TIMES(100));
    struct sg_report report;
    struct fabricated log;

    log_begin(&log, directory, 0, 2, SG_TRACE_STATS, SG_LOG_FINALIZED);
    fabricate_function(&log, 0, "MPI_Send");
    log_put_profile_comm(&log, 1, 2, WORLD_NAME);
    odd.time_square = NAN;
    put_profile(&log, odd);
    put_profile(&log, log_profile(1, 1, 3, TIMES(100)));
    put_profile(&log, log_profile(1, 1, 0, 0, NULL));
    log_put_peer(&log, 1, 2, 1, 1, 1, 1);
    log_put_peer(&log, 1, -1, 1, 1, 1, 1);
    log_put_peer(&log, 8, 0, 1, 1, 1, 1);
    log_end(&log);
    read_directory(directory, NULL, &report);
    ASSERT(report.calls->row_count == 1);
    EXPECT(report.calls->rows[0].of.calls == 1, report.calls->rows[0].place.comms == 0,
           isnan(report.calls->rows[0].deviation_ns), report.calls->pair_count == 0,
           report.calls->other_messages == 0);
    sg_report_clear(&report);
}

/* Four of five threads are in MPI for half of the run of 100 us. Then a damaged header knows of one
 * thread. */
TEST("no share of processor time exceeds 1")
{
    const uint32_t threads[] = {5, 1};

    for (int i = 0; i < 2; i++) {
        const char *directory = unit_fresh_directory();
        struct sg_report report;
        struct fabricated log;

        log_begin(&log, directory, 0, 1, SG_TRACE_STATS, SG_LOG_FINALIZED);
        log.header.thread_count = threads[i];
        fabricate_function(&log, 0, "MPI_Recv");
        log_put_profile_comm(&log, 1, 1, WORLD_NAME);
        put_profile(&log, log_profile(0, 1, 0, TIMES(50000, 50000, 50000, 50000)));
        log_end(&log);
        read_directory(directory, NULL, &report);
        EXPECT(report.calls->time_ns >= 200000,
               report.calls->processor_ns == report.ranks[0].thread_ns,
               i > 0 || report.ranks[0].threads == 5, report.calls->greatest_share <= 1);
        sg_report_clear(&report);
    }
}

/* ---- many ranks ------------------------------------------------------------------------------ */

enum { RANKS = 1000, SITES = 100 };

/* Every rank calls from 100 sites on a communicator named after its row of ten. */
static void write_many(const char *directory)
{
    static const char module[] = "/opt/cg";

    for (int rank = 0; rank < RANKS; rank++) {
        struct fabricated log;
        char name[16];

        snprintf(name, sizeof name, "row %d", rank / 10);
        log_begin(&log, directory, rank, RANKS, SG_TRACE_STATS, SG_LOG_FINALIZED);
        fabricate_function(&log, 0, "MPI_Send");
        log_put_profile_comm(&log, 1, 10, name);
        log_put_profile_comm(&log, 2, RANKS, WORLD_NAME);
        for (uint32_t site = 1; site <= SITES; site++) {
            fabricate_site(&log, site, 1000 + site, module, "", 16 * site);
            put_profile(&log, log_profile(site, 1, 0, TIMES(site)));
        }
        log_put_peer(&log, 2, (rank + 1) % RANKS, 1, 8, 0, 0);
        log_end(&log);
    }
}

TEST("a thousand ranks are merged by call site")
{
    const char *directory = unit_fresh_directory();
    struct sg_report report;

    write_many(directory);
    read_directory(directory, NULL, &report);
    EXPECT(report.calls->function_count == 1, report.calls->site_count == SITES,
           report.calls->row_count == SITES * RANKS / 10, report.calls->pair_count == RANKS,
           report.calls->functions[0].of.calls == RANKS * SITES,
           report.calls->sites[0].of.calls == RANKS,
           report.calls->sites[0].of.time_ns == RANKS * SITES,
           report.calls->sites[0].place.comms == RANKS / 10,
           report.calls->sites[0].place.comm_size == 10);
    sg_report_clear(&report);
}

/* ---- beside an archive ----------------------------------------------------------------------- */

static const char *calls_path(const char *directory, int rank)
{
    static char path[300];

    snprintf(path, sizeof path, "%s/traces/" SG_CALLS_NAME_FORMAT, directory, rank);
    return path;
}

/* An archive of 4 ranks, and files of the first ones. */
static const char *write_archive(int ranks)
{
    static struct archive archive;
    const char *directory = unit_fresh_directory();

    known_run(&archive);
    archive_write(&archive, directory);
    for (int rank = 0; rank < ranks; rank++) {
        struct fabricated log;

        log_begin_at(&log, calls_path(directory, rank), rank, 4, SG_TRACE_OTF2, SG_LOG_FINALIZED);
        fabricate_site(&log, 1, 0x3f2a9c1b, "", "", 0x11c4);
        fabricate_function(&log, 0, "MPI_Send");
        put_profile(&log, log_profile(1, 0, 0, TIMES(100, 200)));
        log_end(&log);
    }
    return directory;
}

TEST("logs without call statistics give none, and readers who do not ask get none")
{
    const char *directory = unit_fresh_directory();
    struct sg_report report;
    struct fabricated log;

    log_begin(&log, directory, 0, 1, SG_TRACE_STATS, SG_LOG_FINALIZED);
    log_put_stat(&log, SG_OPERATION_BARRIER, 1, 0, 10, 0, 4000);
    log_end(&log);
    read_directory(directory, NULL, &report);
    EXPECT(report.calls == NULL);
    sg_report_clear(&report);

    directory = write_archive(4);
    ASSERT(sg_report_read(directory, false, NULL, &report) == SG_OK);
    EXPECT(report.calls == NULL);
    sg_report_clear(&report);
}

TEST("files beside an archive count, under the archive's names")
{
    const char *directory = write_archive(4);
    struct capture capture;
    struct sg_report report;

    capture_begin(&capture);
    read_directory(directory, NULL, &report);
    char *said = capture_end(&capture);
    EXPECT(text_is(said, ""));
    free(said);
    ASSERT(report.calls != NULL);
    const struct sg_call_row *send =
        find(report.calls->sites, report.calls->site_count, "MPI_Send");
    EXPECT(send->of.calls == 8);
    /* As the archive names it. */
    EXPECT(text_is(send->place.function, "solve_the_system"),
           (find(report.calls->functions, report.calls->function_count, "MPI_Barrier")->of.max_ns >
            0) == true);
    sg_report_clear(&report);
}

TEST("damaged and missing files get one line, and the other files count")
{
    const char *directory = write_archive(4);
    struct capture capture;
    struct sg_report report;

    ASSERT(truncate(calls_path(directory, 1), SG_LOG_HEADER_BYTES + 64) == 0,
           truncate(calls_path(directory, 2), 100) == 0, unlink(calls_path(directory, 3)) == 0);
    capture_begin(&capture);
    read_directory(directory, NULL, &report);
    char *said = capture_end(&capture);
    EXPECT(contains(said, "traces/1.calls: "), strchr(said, '\n') == strrchr(said, '\n'));
    free(said);
    EXPECT(find(report.calls->functions, report.calls->function_count, "MPI_Send")->of.calls == 2,
           report.rank_count == 4);
    sg_report_clear(&report);
}
