/* Tests the model's figures beside the measured ones: by hand, and none where the model has none.
 */
#include "bench/limits.h"
#include "lib/unit.h"

#include <math.h>

/* Steps of 100 ns, copies of 0.5 ns a byte, folds of 0.25. */
static const struct sg_bench_limits limits = {
    .line_ns = 100, .copy_gbs = 10, .copy_ns = 0.5, .fold_ns = 0.25};

TEST("the model's times are those worked out by hand")
{
    /* Two steps; a store, three folds; three steps, and three quarters brought and fetched. */
    EXPECT(sg_bench_model_ns(&limits, SG_OPERATION_BARRIER, 4, 0) == 200,
           sg_bench_model_ns(&limits, SG_OPERATION_ALLREDUCE, 4, 800) == 200 + 400 + 600,
           sg_bench_model_ns(&limits, SG_OPERATION_ALLREDUCE, 4, 8000) == 300 + 2 * 3000 + 1500);
    /* In and out. */
    EXPECT(sg_bench_model_ns(&limits, SG_OPERATION_BCAST, 4, 800) == 200 + 800);
}

TEST("the model has no value for other collectives, for one rank, or without costs")
{
    struct sg_bench_limits unknown = limits;

    EXPECT(isnan(sg_bench_model_ns(&limits, SG_BENCH_GATHER, 4, 8)),
           isnan(sg_bench_model_ns(&limits, SG_OPERATION_BARRIER, 1, 0)));
    unknown.fold_ns = NAN;
    EXPECT(isnan(sg_bench_model_ns(&unknown, SG_OPERATION_ALLREDUCE, 4, 8)));
}
