/* Tests comparisons of runs that are worked out by hand in pair.h, and their late contributions. */
#include "compare/compare.h"
#include "compare/compared_samples.h"
#include "compare/pair.h"
#include "lib/unit.h"
#include "trace/export_setup.h"

#include <jansson.h>
#include <math.h>

static const char *write_run(const char *name, int run, const char *a_site)
{
    static struct archive archive;
    static char paths[8][256];
    static int number;
    char *path = paths[number++ % 8];

    snprintf(path, sizeof paths[0], "%s/%s-%d", unit_directory(), name, number);
    pair_run(&archive, run, a_site);
    archive_write(&archive, path);
    return path;
}

static void compare_runs(const char *a, const char *b, struct sg_comparison *out)
{
    const struct sg_run_paths sides[2] = {{&a, 1}, {&b, 1}};

    ASSERT(sg_compare(sides, NULL, false, out) == SG_OK);
}

static void expect(const struct sg_compared *row, enum sg_measured measured, double a, double b,
                   enum sg_verdict verdict)
{
    EXPECT(row->side[0].mean_ns[measured] == a, row->side[1].mean_ns[measured] == b,
           row->difference[measured].verdict == verdict);
}

TEST("the comparison of two runs is the one worked out by hand")
{
    struct sg_comparison it;

    compare_runs(write_run("a", 0, PAIR_A), write_run("b", 1, PAIR_A), &it);
    ASSERT(it.row_count == 4);
    EXPECT(it.both_count == 2, it.only_count[0] == 1, it.only_count[1] == 1);

    EXPECT(it.rows[0].site.id == 0xa, it.rows[0].side[0].calls == 32,
           it.rows[0].side[0].ns[SG_MEASURED_BLOCKED] == 16 * 600,
           it.rows[0].side[1].ns[SG_MEASURED_WAIT] == 16 * 100);
    expect(&it.rows[0], SG_MEASURED_BLOCKED, 300, 250, SG_VERDICT_DIFFERS);
    EXPECT(it.rows[0].difference[SG_MEASURED_BLOCKED].low == -50,
           it.rows[0].difference[SG_MEASURED_BLOCKED].high == -50);
    expect(&it.rows[0], SG_MEASURED_WAIT, 200, 50, SG_VERDICT_DIFFERS);
    EXPECT(it.rows[0].difference[SG_MEASURED_WAIT].high == -150);
    expect(&it.rows[0], SG_MEASURED_PROCESSOR, 300, 250, SG_VERDICT_DIFFERS);

    EXPECT(it.rows[1].site.id == 0xb);
    expect(&it.rows[1], SG_MEASURED_BLOCKED, 125, 100, SG_VERDICT_DIFFERS);
    /* 16 draws of 0 or -50 a call: between all the one and all the other. */
    EXPECT(it.rows[1].difference[SG_MEASURED_BLOCKED].low > -50,
           it.rows[1]
                   .difference[SG_MEASURED_BLOCKED]
                   .low<-25, it.rows[1].difference[SG_MEASURED_BLOCKED].high> -
               25);
    expect(&it.rows[1], SG_MEASURED_WAIT, 50, 50, SG_VERDICT_NOISE);

    EXPECT(it.rows[2].site.id == 0xc, it.rows[2].side[0].present && !it.rows[2].side[1].present,
           it.rows[2].side[0].ns[SG_MEASURED_BLOCKED] == 8 * 30, it.rows[3].site.id == 0xd,
           !it.rows[3].side[0].present && it.rows[3].side[1].present,
           it.verdict_count[SG_VERDICT_DIFFERS] == 2);
    sg_comparison_clear(&it);
}

TEST("a run does not differ from itself")
{
    const char *path = write_run("itself", 0, PAIR_A);
    struct sg_comparison it;

    compare_runs(path, path, &it);
    EXPECT(it.both_count == 3, it.only_count[0] + it.only_count[1] == 0,
           it.verdict_count[SG_VERDICT_NOISE] == 2, it.verdict_count[SG_VERDICT_FEW] == 1);
    sg_comparison_clear(&it);
}

TEST("a rebuilt program's call sites are matched by function, file and line")
{
    struct sg_comparison it;

    compare_runs(write_run("old", 0, PAIR_A), write_run("new", 1, PAIR_A_BUILT_ANEW), &it);
    ASSERT(it.both_count == 2);
    EXPECT(it.rows[0].by_place, it.rows[0].site.id == 0xa);
    expect(&it.rows[0], SG_MEASURED_BLOCKED, 300, 250, SG_VERDICT_DIFFERS);
    EXPECT(!it.rows[1].by_place);
    sg_comparison_clear(&it);
}

/* The third of A's three runs has the costs of b: the barrier is blocked 300, 300 and 250 per
 * call against twice 250, the squares sum up to 5000 / 3 and Welch has 2 degrees of freedom. */
TEST("the means and the spread of runs count if a side has several runs")
{
    const char *a[3] = {write_run("a1", 0, PAIR_A), write_run("a2", 0, PAIR_A_BUILT_ANEW),
                        write_run("a3", 1, PAIR_A)};
    const char *b[2] = {write_run("b1", 1, PAIR_A), write_run("b2", 1, PAIR_A)};
    const struct sg_run_paths sides[2] = {{a, 3}, {b, 2}};
    const double margin = 4.303 * sqrt(5000.0 / 3 / 2 / 3);
    const struct sg_difference *difference;
    struct sg_comparison it;

    ASSERT(sg_compare(sides, NULL, false, &it) == SG_OK, it.row_count == 4);
    EXPECT(it.both_count == 3, it.only_count[0] == 1, it.rows[0].site.id == 0xa,
           it.rows[0].by_place, it.rows[0].side[0].run_count == 3,
           it.rows[0].side[1].run_count == 2, it.rows[0].side[0].calls == 32,
           it.rows[0].side[0].ns[SG_MEASURED_BLOCKED] == (2 * 9600 + 8000 + 1) / 3,
           is_near(it.rows[0].side[0].mean_ns[SG_MEASURED_BLOCKED], 850.0 / 3, 1e-9),
           it.rows[0].side[1].mean_ns[SG_MEASURED_BLOCKED] == 250);
    difference = &it.rows[0].difference[SG_MEASURED_BLOCKED];
    EXPECT(difference->verdict == SG_VERDICT_NOISE,
           is_near(difference->low, 250 - 850.0 / 3 - margin, 1e-6),
           is_near(difference->high, 250 - 850.0 / 3 + margin, 1e-6));
    /* D is in one run of A, and in both of B: still told, by the spread of these. */
    EXPECT(it.rows[2].site.id == 0xd, it.rows[2].side[0].run_count == 1,
           it.rows[2].difference[SG_MEASURED_BLOCKED].verdict == SG_VERDICT_NOISE,
           it.rows[3].site.id == 0xc, it.rows[3].side[0].run_count == 2);
    sg_comparison_clear(&it);
}

/* ---- what came late ---------------------------------------------------------------------------
 */

static void put_late(struct fabricated *log, uint64_t begin_ns, uint64_t end_ns)
{
    struct sg_record_late *late = fabricate_late(log, begin_ns, end_ns);

    late->site = 1;
    late->child = 1;
}

/* Two reduces of 100 each on both ranks, blocked 400. Rank 0 handles 40 between its calls and 25
 * within the second, and 7 after it. */
static const char *write_late(void)
{
    const char *directory = setup_directory("late");

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        fabricate_site(&log, 1, 0xa, "/opt/bin/cg", "", 0x10);
        for (uint32_t seq = 0; seq < 2; seq++) {
            struct sg_record_call *call = fabricate_call(&log, SG_OPERATION_REDUCE, 0, seq,
                                                         2000 + 1000 * seq, 2100 + 1000 * seq);

            call->site = 1;
            call->root = 1;
            if (rank == 0 && seq == 0)
                put_late(&log, 2500, 2540);
        }
        if (rank == 0) {
            put_late(&log, 3050, 3075);
            put_late(&log, 3200, 3207);
        }
        fabricate_finish(&log, directory);
    }
    ASSERT(setup_export(directory) == SG_OK);
    return directory;
}

TEST("processor time includes work handled outside of calls, once")
{
    const char *directory = write_late();
    struct sg_collection collection;
    struct sg_report report;

    ASSERT(sg_collect(directory, false, &report, &collection) == SG_OK, report.site_count == 1);
    EXPECT(report.sites[0].handler_ns == 40 + 25 + 7);
    const struct sg_collected *item = sg_collection_find(&collection, &report.sites[0]);
    ASSERT(item != NULL);
    EXPECT(item->series.sum.ns[SG_MEASURED_BLOCKED] == 400,
           item->series.sum.ns[SG_MEASURED_PROCESSOR] == 400 + 40 + 7);
    sg_collection_clear(&collection);
    sg_report_clear(&report);
}

TEST("JSON has the figures worked out by hand")
{
    struct sg_comparison it;
    json_t *blocked;

    compare_runs(write_run("a", 0, PAIR_A), write_run("b", 1, PAIR_A), &it);
    char *text = PRINTED(ASSERT(sg_comparison_print_json(&it, stream) == SG_OK));
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    ASSERT(root != NULL);
    blocked = json_object_get(
        json_object_get(json_array_get(json_object_get(root, "sites"), 0), "per_call"), "blocked");
    EXPECT(json_real_value(json_object_get(blocked, "a_ns")) == 300,
           json_real_value(json_object_get(blocked, "difference_ns")) == -50,
           is_near(json_real_value(json_object_get(blocked, "change")), -1.0 / 6, 1e-9),
           text_is(json_string_value(json_object_get(blocked, "verdict")), "differs"));
    json_decref(root);
    free(text);
    sg_comparison_clear(&it);
}
