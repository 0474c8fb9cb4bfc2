/* Tests metrics of slices: names, windows, and values too great for their fields. */
#include "core/capture.h"
#include "core/slice.h"
#include "lib/unit.h"

TEST("a metric is found by its name in any case")
{
    for (int metric = 0; metric < SG_SLICE_METRICS; metric++)
        EXPECT((int)sg_slice_metric_find(sg_slice_metrics[metric].name) == metric);
    EXPECT(sg_slice_metric_find("ltr5") == SG_SLICE_LTR5,
           sg_slice_metric_find("LTR6") == SG_SLICE_METRICS);
}

TEST("an unknown metric of a list is ignored, and the nearest name suggested")
{
    struct capture capture;

    EXPECT(sg_slice_metrics_parse("x", "GETTS, ltts", true) ==
               (1u << SG_SLICE_GETTS | 1u << SG_SLICE_LTTS),
           sg_slice_metrics_parse("x", "", true) == 0);
    capture_begin(&capture);
    EXPECT(sg_slice_metrics_parse("HERE", "NCOLMSM,BPTS", true) == 1u << SG_SLICE_BPTS);
    char *text = capture_end(&capture);
    EXPECT(contains(text, "HERE: metric "), contains(text, "the nearest name is NCOLLMSM\n"));
    free(text);
}

TEST("a window has a first and a last slice")
{
    static const char *const none[] = {"", "7", "7-", "-7", "9-8", "7-x", "7-8-9", "7 - 8"};
    uint64_t first, last;

    EXPECT(sg_slice_window_parse("7500-12500", &first, &last), first == 7500, last == 12500,
           sg_slice_window_parse("7-7", &first, &last));
    for (unsigned i = 0; i < sizeof none / sizeof *none; i++)
        EXPECT(!sg_slice_window_parse(none[i], &first, &last));
}

/* Each has its own place; the times since the slice before share one, and have 64 bits. */
TEST("a value too large for its field is stored as the largest one")
{
    struct sg_slice slice = {0};

    for (int metric = 0; metric < SG_SLICE_METRICS; metric++)
        sg_slice_put(&slice, (enum sg_slice_metric)metric, 100 + (uint64_t)metric);
    EXPECT(slice.known == (1u << SG_SLICE_METRICS) - 1);
    for (int metric = SG_SLICE_GTDEM; metric < SG_SLICE_METRICS; metric++) {
        EXPECT(sg_slice_value(&slice, (enum sg_slice_metric)metric) == 100 + (uint64_t)metric);
    }
    sg_slice_put(&slice, SG_SLICE_GETTS, UINT64_C(1) << 40);
    EXPECT(sg_slice_value(&slice, SG_SLICE_GETTS) == UINT64_C(1) << 40);
    sg_slice_put(&slice, SG_SLICE_GTTS, UINT64_C(1) << 40);
    EXPECT(sg_slice_value(&slice, SG_SLICE_GTTS) == UINT32_MAX);
}
