/* What a run's output says of where it ran, and a line of progress on a terminal. On rank 0.
 */
#ifndef SG_BENCH_DESCRIBE_H
#define SG_BENCH_DESCRIBE_H

#include "bench/bench.h"

/* "environment" and "clock" in the head of the JSON. */
void sg_bench_describe_run(const struct sg_bench_job *job);

/* Which of the operations comes next; on stderr, where that is a terminal. */
void sg_bench_progress(const struct sg_bench_job *job, int operation);
void sg_bench_progress_end(void);

#endif
