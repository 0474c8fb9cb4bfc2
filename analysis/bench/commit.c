#include "bench/commit.h"

const char sg_bench_commit[] = SG_COMMIT;
