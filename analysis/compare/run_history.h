/* The history of a program: a directory with a small JSON file for each run (docs/compare-json.md),
 * and which runs differ from those before them.
 *
 * The noise band of a run is the median of the up to SG_RUN_HISTORY_BAND runs before it at the same
 * level, give or take three standard deviations by the median of their distances from it. The level
 * changes at the first of SG_RUN_HISTORY_STREAK runs in a row that lie beyond their bands on the
 * same side: single runs that a busy machine delayed change nothing.
 *
 * The files may be a stranger's: links and files that are no summary are left out, and sizes and
 * numbers of files are bounded.
 */
#ifndef SG_COMPARE_RUN_HISTORY_H
#define SG_COMPARE_RUN_HISTORY_H

#include "compare/compared_runs.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_RUN_HISTORY_BAND 20u
#define SG_RUN_HISTORY_FEWEST 5u /* with fewer runs before it at its level a run has no band */
#define SG_RUN_HISTORY_STREAK 5u
#define SG_RUN_HISTORY_FILES_MAX 10000u

/* A figure of a run beside those before it. */
struct sg_run_history_mark {
    double value;       /* of SG_WHOLE_RUN in ns, else a share of rank time; NAN: unknown */
    double low, high;   /* the band; NAN: none */
    bool is_changed;    /* the level changes here */
    double before, now; /* medians of both levels, if it does */
};

struct sg_run_history_run {
    int64_t begun_ms;             /* since 1970 */
    char *label, *program, *site; /* NULL: none; owned. site: with the most waiting or MPI time */
    uint32_t ranks;
    bool is_partial;
    struct sg_run_history_mark of[SG_WHOLE_COUNT];
};

struct sg_run_history {
    struct sg_run_history_run
        *runs; /* of the newest run's program and number of ranks, oldest first */
    uint32_t count;
    uint32_t other_count;   /* runs of other programs or numbers of ranks, left out */
    uint32_t refused_count; /* files left out, each with a log line */
    /* The present level of each figure: its median, and its first run; the last change, or count if
     * there is none. */
    double level[SG_WHOLE_COUNT];
    uint32_t first[SG_WHOLE_COUNT], change[SG_WHOLE_COUNT];
};

/* Reads the run and writes its file; a second time it replaces the same file. label: NULL: none.
 * On failure one line has been logged. */
enum sg_status sg_run_history_add(const char *directory, const char *run, const char *label);
/* Adds all run directories in the directory that have no file yet, and reads all files. On failure
 * one line has been logged; there must be a run. */
enum sg_status sg_run_history_read(const char *directory, struct sg_run_history *out);
void sg_run_history_clear(struct sg_run_history *history);

/* Sets the marks and levels from the values of the runs. */
void sg_run_history_judge(struct sg_run_history *history);
/* True if the last change of the run time is so recent that its level has no full band yet. */
bool sg_run_history_has_changed(const struct sg_run_history *history);

#endif
