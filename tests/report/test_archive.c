/* Tests reports of archives written by hand, through the JSON that programs read. */
#include "lib/unit.h"
#include "report/known.h"
#include "report/report_json.h"
#include "report/source_otf2.h"

/* Figures of a row; -1 is null. */
struct expected {
    const char *id, *op, *comm;
    json_int_t comm_size;
    const char *algorithm;
    json_int_t calls, bytes, p50, p95, max, wait, avoided, completion, blocked;
    json_int_t last_rank, last_count, instances, early, late, signals, worst_seq, worst_time;
};

/* In the order of wait, then of time blocked: worked out in known.h. */
static const struct expected known_rows[] = {
    {"3f2a9c1b", "barrier", "MPI_COMM_WORLD",
     4,          "mpich",   12,
     0,          3000,      6000,
     6000,       26300,     0,
     450,        27750,     2,
     2,          3,         0,
     0,          0,         2,
     20000},
    {"00000c0c",
     "reduce",
     "MPI_COMM_WORLD",
     4,
     "mpich+bypass",
     2,
     128,
     -1,
     -1,
     -1,
     2500,
     2500,
     0,
     2700,
     -1,
     -1,
     0,
     1,
     2,
     3,
     -1,
     -1},
    {"00000d0d", "allreduce", "half", 2, "mpich", 1, 8, 2000, 2000, 2000, 1900,
     0,          0,           1900,   0, 1,       1, 0, 0,    0,    0,    50000},
    {"0000beef",
     "reduce",
     "MPI_COMM_WORLD",
     4,
     "mpich+bypass",
     6,
     384,
     2000,
     3000,
     3000,
     0,
     0,
     0,
     450,
     2,
     2,
     2,
     0,
     0,
     0,
     4,
     39000},
    {"3f2a9c1b", "allreduce", "half", 2,  "mpich", 1, 8, -1, -1, -1, 0,
     0,          100,         100,    -1, -1,      0, 0, 0,  0,  -1, -1},
    {"00000d0d", "allreduce", "MPI_COMM_SELF",
     1,          "mpich",     2,
     32,         0,           0,
     0,          0,           0,
     0,          40,          -1,
     -1,         2,           0,
     0,          0,           0,
     60000},
};

/* Without attributes there are no sites: rows of a communicator and operation fall together. */
static const struct expected foreign_rows[] = {
    {NULL, "barrier", "MPI_COMM_WORLD",
     4,    NULL,      12,
     0,    3000,      6000,
     6000, 26300,     0,
     450,  27750,     2,
     2,    3,         0,
     0,    0,         2,
     20000},
    {NULL, "reduce", "MPI_COMM_WORLD",
     4,    NULL,     8,
     512,  2000,     3000,
     3000, 2500,     2500,
     0,    3150,     2,
     2,    2,        1,
     2,    3,        4,
     39000},
    {NULL, "allreduce", "half", 2, NULL, 2, 16, 2000, 2000, 2000, 1900,
     0,    100,         2000,   0, 1,    1, 0,  0,    0,    0,    50000},
    {NULL, "allreduce", "MPI_COMM_SELF", 1, NULL, 2, 32, 0, 0, 0, 0, 0, 0, 40, -1, -1, 2, 0, 0, 0,
     0,    60000},
};

static void expect_row(const json_t *row, const struct expected *expected)
{
    const json_t *skew = json_object_get(row, "skew_ns");
    const json_t *worst = json_object_get(row, "worst");
    const json_t *share = json_object_get(row, "last_rank_share");

    expect_text(row, "id", expected->id);
    expect_text(row, "op", expected->op);
    expect_text(row, "comm", expected->comm);
    expect_text(row, "algorithm", expected->algorithm);
    EXPECT(figure(row, "comm_size") == expected->comm_size, figure(row, "calls") == expected->calls,
           figure(row, "event_calls") == expected->calls, figure(row, "bytes") == expected->bytes,
           figure(skew, "p50") == expected->p50, figure(skew, "p95") == expected->p95,
           figure(skew, "max") == expected->max, figure(row, "wait_ns") == expected->wait,
           figure(row, "wait_avoided_ns") == expected->avoided,
           figure(row, "completion_ns") == expected->completion,
           figure(row, "blocked_ns") == expected->blocked,
           figure(row, "last_rank") == expected->last_rank,
           figure(row, "instances") == expected->instances, figure(row, "early") == expected->early,
           figure(row, "late") == expected->late, figure(row, "signals") == expected->signals);
    if (expected->last_count < 0)
        EXPECT(json_is_null(share));
    else
        EXPECT(is_near(json_real_value(share),
                       (double)expected->last_count / (double)expected->instances, 1e-8));
    if (expected->worst_seq < 0) {
        EXPECT(json_is_null(worst));
        return;
    }
    EXPECT(figure(worst, "seq") == expected->worst_seq,
           figure(worst, "time_ns") == expected->worst_time,
           figure(worst, "skew_ns") == expected->max);
}

static void expect_rows(const json_t *report, const struct expected *rows, size_t count)
{
    const json_t *sites = json_object_get(report, "sites");

    ASSERT(json_array_size(sites) == count);
    for (size_t i = 0; i < count; i++)
        expect_row(json_array_get(sites, i), &rows[i]);
}

static void expect_known(const json_t *report)
{
    expect_rows(report, known_rows, sizeof known_rows / sizeof known_rows[0]);
}

/* ---- one archive, all its figures -------------------------------------------------------------
 */

TEST("rows of a hand-built archive have the figures worked out by hand")
{
    json_t *report = report_of(write_known(NULL));

    expect_known(report);
    EXPECT(is_near(json_real_value(json_object_get(
                       json_array_get(json_object_get(report, "sites"), 0), "run_share")),
                   27750.0 / 500000.0, 1e-9));
}

TEST("names of call sites are printed complete and never break JSON")
{
    json_t *report = report_of(write_known(NULL));
    const json_t *sites = json_object_get(report, "sites");

    expect_text(json_array_get(sites, 0), "function", "solve_the_system");
    expect_text(json_array_get(sites, 0), "file", "/home/user/src/solver.c");
    EXPECT(figure(json_array_get(sites, 0), "line") == 88);
    expect_text(json_array_get(sites, 0), "module", "cg");
    EXPECT(figure(json_array_get(sites, 0), "offset") == 0x11c4);
    /* Bytes that are not UTF-8 stand as \xNN; a control character is JSON's to escape. */
    expect_text(json_array_get(sites, 1), "function", "f\\xff\x1b");
    expect_text(json_array_get(sites, 1), "file", "dir/na\\xefme,\"x\".c");
    expect_text(json_array_get(sites, 2), "function", NULL);
    expect_text(json_array_get(sites, 2), "file", NULL);
    EXPECT(figure(json_array_get(sites, 2), "line") == -1);
    expect_text(json_array_get(sites, 2), "module", "lib.so");
}

TEST("ranks, clocks and totals of the hand-built archive are those worked out by hand")
{
    static const json_int_t blocked_ns[] = {10550, 5600, 8300, 8490};
    json_t *report = report_of(write_known(NULL));
    const json_t *ranks = json_object_get(report, "per_rank");
    const json_t *clock = json_object_get(report, "clock");

    EXPECT(figure(report, "version") == 1, figure(report, "ranks") == 4,
           json_is_false(json_object_get(report, "partial")));
    expect_text(report, "program", "cg");
    expect_text(report, "source", "archive");
    EXPECT(figure(report, "run_ns") == 100000, figure(report, "dropped_calls") == 2,
           figure(report, "unseen_calls") == 0, figure(clock, "violations") == 1,
           figure(clock, "largest_violation_ns") == 100, figure(clock, "offset_error_ns") == 70,
           figure(clock, "locations_without_offset") == 0);
    ASSERT(json_array_size(ranks) == 4);
    for (size_t i = 0; i < 4; i++) {
        const json_t *rank = json_array_get(ranks, i);

        EXPECT(figure(rank, "rank") == (json_int_t)i, figure(rank, "run_ns") == 100000,
               figure(rank, "blocked_ns") == blocked_ns[i]);
        /* Rank 0 calls on a second thread as well. */
        EXPECT(figure(rank, "threads") == (i == 0 ? 2 : 1),
               figure(rank, "elsewhere_ns") == (i == 0 ? 200000 : 100000) - blocked_ns[i],
               figure(rank, "compute_ns") == figure(rank, "elsewhere_ns"));
    }
}

/* ---- variants ---------------------------------------------------------------------------------
 */

static void remove_attributes(struct archive *archive)
{
    archive->no_attributes = true;
}

TEST("an archive without stagger's attributes is matched by order")
{
    json_t *report = report_of(write_known(remove_attributes));

    expect_rows(report, foreign_rows, sizeof foreign_rows / sizeof foreign_rows[0]);
    EXPECT(figure(report, "dropped_calls") == 2);
    expect_text(report, "program", NULL);
}

static void triple_ticks(struct archive *archive)
{
    archive->ticks_per_ns = 3;
    archive->offset_error_ticks[2] = 210;
}

TEST("a clock of three ticks per nanosecond gives the same report")
{
    json_t *report = report_of(write_known(triple_ticks));

    expect_known(report);
    EXPECT(figure(json_object_get(report, "clock"), "offset_error_ns") == 70);
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
    json_t *report = report_of(write_known(be_partial));

    expect_known(report);
    EXPECT(json_is_true(json_object_get(report, "partial")), figure(report, "dropped_calls") == 7);
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

/* ---- memory -----------------------------------------------------------------------------------
 */

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
