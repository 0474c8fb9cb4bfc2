/* Tests variants of an archive written by hand against each other, and the memory that a report
 * needs. tests/report/report.sh compares the figures of the known archive with golden files. */
#include "lib/unit.h"
#include "report/known.h"
#include "report/report_json.h"
#include "report/source_otf2.h"

/* The report of the known run, changed or not, without the name of its directory. */
static json_t *report_of_known(void (*change)(struct archive *))
{
    json_t *report = report_of(write_known(change));

    json_object_del(report, "path");
    return report;
}

static void triple_ticks(struct archive *archive)
{
    archive->ticks_per_ns = 3;
    archive->offset_error_ticks[2] = 210;
}

TEST("a clock of three ticks per nanosecond gives the same report")
{
    EXPECT(json_equal(report_of_known(triple_ticks), report_of_known(NULL)));
}

static void remove_init(struct archive *archive)
{
    archive->no_init = true;
}

/* Rank 0's first event is at 2000, its last at 70100; rank 3's at 4000 and 60130. */
TEST("without MPI_Init and MPI_Finalize a rank runs from its first to its last event")
{
    json_t *report = report_of(write_known(remove_init));
    const json_t *ranks = json_object_get(report, "per_rank");

    EXPECT(figure(json_array_get(ranks, 0), "run_ns") == 68100,
           figure(json_array_get(ranks, 3), "run_ns") == 56130);
}

static void be_partial(struct archive *archive)
{
    archive->partial = "1";
    archive->dropped = "5";
}

TEST("a partial archive is reported as such, with the calls it left out")
{
    json_t *report = report_of_known(be_partial), *known = report_of_known(NULL);

    json_object_set(known, "partial", json_true());
    json_object_set_new(known, "dropped_calls", json_integer(7));
    EXPECT(json_equal(report, known));
}

TEST("the path may be the directory or the archive")
{
    const char *directory = write_known(NULL);
    char path[256];

    snprintf(path, sizeof path, "%s/traces.otf2", directory);
    report_of(path);
    snprintf(path, sizeof path, "%s/", directory);
    report_of(path);
}

/* Two ranks, a barrier every 1000 ns in which rank 1 is 100 late. */
static size_t window_of(uint64_t instances)
{
    static struct archive archive;
    static char path[256];
    const char *directory = unit_fresh_directory();
    struct sg_progress_line progress;
    struct sg_report report = {0};
    size_t window_max;

    archive = (struct archive){.ranks = 2,
                               .ticks_per_ns = 1,
                               .half_size = 1,
                               .finalize_ns = {instances * 1000 + 1000, instances * 1000 + 1000},
                               .repeat = instances,
                               .repeat_ns = 1000,
                               .repeat_seq = 1};
    for (int rank = 0; rank < 2; rank++)
        known_add(&archive, (struct archive_call){.rank = rank,
                                                  .begin_ns = 100 + 100 * (uint64_t)rank,
                                                  .end_ns = 210,
                                                  .site = KNOWN_A,
                                                  .algorithm = "mpich"});
    archive_write(&archive, directory);
    snprintf(path, sizeof path, "%s/traces.otf2", directory);
    sg_progress_line_start(&progress, false);
    ASSERT(sg_source_otf2(path, &progress, NULL, &report) == SG_OK);
    EXPECT(report.dropped_calls == 0, sg_aggregate_finish(report.strings, &report) == SG_OK,
           report.sites[0].instances == instances, report.sites[0].wait_ns == 100 * instances,
           report.sites[0].skew_p50_ns == 100);
    window_max = report.window_max;
    sg_report_clear(&report);
    return window_max;
}

TEST("200000 instances need no more memory than 2000")
{
    EXPECT(window_of(2000) == 1, window_of(200000) == 1);
}
