/* Tests how figures of the messages of calls get from the record in a log, by way of the archive
 * or of the statistics, to the row of a report. */
#include "report/report.h"
#include "report/report_columns.h"
#include "report/report_print.h"
#include "trace/export_setup.h"

enum { BARRIER, REDUCE, ALLREDUCE };

static const uint64_t counts[SG_COUNT_COUNT] = {
    [SG_COUNT_EARLY] = 1,  [SG_COUNT_LATE] = 2,  [SG_COUNT_SIGNALS] = 3, [SG_COUNT_IGNORED] = 4,
    [SG_COUNT_STALLS] = 5, [SG_COUNT_MOVES] = 6, [SG_COUNT_REPEATS] = 7, [SG_COUNT_OUTSTANDING] = 8,
};

static struct sg_record_call *put_reduce(struct fabricated *log, uint32_t site, uint32_t seq,
                                         uint64_t begin_ns, uint64_t end_ns)
{
    struct sg_record_call *call = fabricate_call(log, REDUCE, 0, seq, begin_ns, end_ns);

    call->site = site;
    call->root = 1;
    call->executed = 1;
    call->bytes = 8;
    return call;
}

static void put_late(struct fabricated *log, uint32_t site, uint32_t seq, uint64_t begin_ns,
                     uint64_t end_ns, uint64_t avoided_ns)
{
    struct sg_record_late *late = fabricate_late(log, begin_ns, end_ns);

    late->site = site;
    late->seq = seq;
    late->child = 1;
    late->avoided_ns = avoided_ns;
}

/* Rank 0 leaves its first reduce at 2050. Contributions to it come at 2500 and 2700, and within
 * the second a third one is handled; rank 1, the root, has waited from 2100 on. */
static void write_logs(const char *directory)
{
    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        fabricate_site(&log, 1, 0xa, "/opt/bin/cg", "", 0x10);
        fabricate_site(&log, 2, 0xb, "/opt/bin/cg", "", 0x20);
        if (rank == 1) {
            put_reduce(&log, 1, 0, 2100, 2760);
            put_reduce(&log, 1, 1, 2800, 2900);
        } else {
            put_reduce(&log, 1, 0, 2000, 2050)->outstanding = 3;
            put_late(&log, 1, 0, 2500, 2540, 450);
            put_late(&log, 1, 0, 2700, 2750, 200);
            put_late(&log, 1, 0, 2710, 2720, 0);
            put_late(&log, 2, 0, 2780, 2790, 5); /* of a call that is in no instance */
            struct sg_record_call *call = put_reduce(&log, 1, 1, 2800, 2850);
            call->early = 1;
            call->late = 2;
            call->signals = 3;
            call->ignored = 4;
            call->stalls = 5;
            call->moves = 6;
            call->repeats = 7;
            call->outstanding = 8;
        }
        fabricate_finish(&log, directory);
    }
}

static void expect_counts(const struct sg_report_site *site)
{
    for (int count = 0; count < SG_COUNT_COUNT; count++)
        EXPECT(site->counts.of[count] == counts[count]);
}

TEST("counts, handler time and the wait that handlers avoided come from events")
{
    const char *directory = setup_directory("events");
    struct sg_report report;

    write_logs(directory);
    ASSERT(setup_export(directory) == SG_OK,
           sg_report_read(directory, false, NULL, &report) == SG_OK, report.site_count == 1);
    EXPECT(report.sites[0].id == 0xa, report.sites[0].calls == 4);
    expect_counts(&report.sites[0]);
    EXPECT(report.sites[0].handler_ns == 40 + 50, report.sites[0].wait_avoided_ns == 450 + 200,
           report.sites[0].wait_ns == 0);
    sg_report_clear(&report);
}

TEST("statistics give counts and handler time")
{
    const char *directory = setup_directory("statistics");
    struct sg_report report;

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        log.header.trace_mode = SG_TRACE_STATS;
        fabricate_site(&log, 1, 0xa, "/opt/bin/cg", "", 0x10);
        struct sg_record_stat *stat = fabricate_stat(&log, REDUCE, 1, 0, 10);
        stat->outstanding_max = rank == 0 ? 8 : 5;
        if (rank == 0) {
            stat->early = 1;
            stat->late = 2;
            stat->signals = 3;
            stat->ignored = 4;
            stat->stalls = 5;
            stat->moves = 6;
            stat->repeats = 7;
        }
        stat->handler_ns = 30;
        fabricate_finish(&log, directory);
    }
    ASSERT(sg_report_read(directory, false, NULL, &report) == SG_OK, report.site_count == 1);
    expect_counts(&report.sites[0]);
    EXPECT(report.sites[0].handler_ns == 60);
    sg_report_clear(&report);
}

/* The text with the table of messages, or without. */
static char *text_of(const struct sg_report *report)
{
    return PRINTED(
        ASSERT(sg_report_print_text(report, &(struct sg_print_options){0}, stream) == SG_OK));
}

TEST("a column is shown if one of its values is not zero")
{
    const char *directory = setup_directory("zero");
    struct sg_report report;

    write_logs(directory);
    ASSERT(setup_export(directory) == SG_OK,
           sg_report_read(directory, false, NULL, &report) == SG_OK);
    char *text = text_of(&report);
    EXPECT(contains(text, " avoided early late handler outstanding signals ignored "
                          "stalls moves repeats ahead\n"),
           contains(text, "   650ns     1    2    90ns           8       3       4      "
                          "5     6       7     1\n"));
    free(text);
    report.sums[0].counts.of[SG_COUNT_MOVES] = 0;
    text = text_of(&report);
    EXPECT(contains(text, "stalls repeats ahead\n"));
    free(text);
    report.sums[0].counts = (struct sg_counts){{0}};
    report.sums[0].handler_ns = report.sums[0].wait_avoided_ns = 0;
    text = text_of(&report);
    EXPECT(!contains(text, "repeats"), !contains(text, "avoided"));
    free(text);
    sg_report_clear(&report);
}
