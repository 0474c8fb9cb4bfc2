/* The git commit this was built from, "unknown" without one. */
#ifndef SG_BENCH_COMMIT_H
#define SG_BENCH_COMMIT_H

extern const char sg_bench_commit[];

#endif
