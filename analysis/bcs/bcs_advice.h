/* Estimates what nonblocking calls, or buffered coscheduling, would give a program. A recorded run
 * is replayed as a program: as usual, which shows the model's error against the measured run time;
 * with nonblocking calls; and both in time slices. The result is never advice: in slices a call
 * that waits takes at least half a slice. */
#ifndef SG_BCS_BCS_ADVICE_H
#define SG_BCS_BCS_ADVICE_H

#include "advise/replay.h"
#include "options/options.h"
#include "report/report.h"

#include <stdio.h>

#define SG_COSCHEDULING_ROWS (2 + 2 * SG_OPTION_LIST_MAX)

/* One way to run the program. */
struct sg_coscheduling_row {
    const char *messages; /* "as recorded", "nonblocking" */
    double slice_us;      /* 0: as usual, without slices */
    bool ends;            /* false: blocking sends deadlock without buffers; no times below */
    double run_ns;
    double gain_ns;     /* run time saved against the first row: as usual, messages as recorded */
    double gain;        /* its share of that run time; NAN: of the first row, or unknown */
    double in_calls_ns; /* mean over the ranks */
    bool within_error;  /* |gain_ns| is at most the error of the replay */
};

struct sg_coscheduling {
    struct sg_report report;
    struct sg_machine machine;
    bool restart_slice;
    const char *obstacle; /* reason why there are no rows; NULL: there are */
    uint64_t measured_ns, calls;
    bool buffers;    /* the usual runs buffer all sends: they would deadlock otherwise */
    double error_ns; /* |replayed - measured| of the first row */
    struct sg_coscheduling_row rows[SG_COSCHEDULING_ROWS];
    int row_count;
};

struct sg_coscheduling_options {
    const char *network; /* as for the simulator; NULL: the measured costs */
    struct sg_numbers slices_us;
    bool restart_slice; /* calls return with the next slice; false: within their own */
    bool progress;
};

/* Reads and replays the run in path. On failure one line has been logged; clear in either case. */
enum sg_status sg_coscheduling_find(const char *path, const struct sg_coscheduling_options *options,
                                    struct sg_coscheduling *out);
void sg_coscheduling_clear(struct sg_coscheduling *found);
enum sg_status sg_coscheduling_print_text(const struct sg_coscheduling *found, FILE *out);
enum sg_status sg_coscheduling_print_json(const struct sg_coscheduling *found, FILE *out);

#endif
