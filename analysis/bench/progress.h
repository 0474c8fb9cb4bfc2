/* One line on the user's terminal that says what is being measured, where nothing else does: it
 * stands on standard error's terminal unless the rows of the table come to one as they are
 * measured. On rank 0; on others these do nothing.
 */
#ifndef SG_BENCH_PROGRESS_H
#define SG_BENCH_PROGRESS_H

#include "bench/bench.h"

void sg_bench_progress_open(const struct sg_bench_job *job);

/* What is measured now, the place-th of so many. */
void sg_bench_progress_show(const char *what, int place, int count);

/* Wipes the line. */
void sg_bench_progress_close(void);

#endif
