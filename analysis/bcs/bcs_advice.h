/* What would nonblocking calls, or buffered coscheduling, give a program? A recorded run is
 * replayed as a program: as usual, whose run time is held against the measured one, with
 * nonblocking calls, and both in slices of time. It is never advice: in slices a call that waits
 * takes half a slice at least.
 */
#ifndef SG_BCS_BCS_ADVICE_H
#define SG_BCS_BCS_ADVICE_H

#include "advise/replay.h"
#include "options/options.h"
#include "report/report.h"

#include <stdio.h>

#define SG_COSCHEDULING_ROWS (2 + 2 * SG_OPTION_LIST_MAX)

/* A way to run the program. */
struct sg_coscheduling_row {
    const char *messages; /* "as recorded", "nonblocking" */
    double slice_us;      /* 0: as usual */
    bool ends; /* else it waits for ever: its blocking sends need buffers; no figures then */
    double run_ns;
    double gain_ns;     /* against as usual, as recorded */
    double in_calls_ns; /* a rank's mean */
    bool within_error;  /* the gain is less than the replay's error */
};

struct sg_coscheduling {
    struct sg_report report;
    struct sg_machine machine;
    bool restart_slice;
    const char *obstacle; /* why there are no rows; NULL: there are */
    uint64_t measured_ns, calls;
    bool buffers;    /* as usual all sends are buffered: without, it would not end */
    double error_ns; /* of the first row: |replayed - measured| */
    struct sg_coscheduling_row rows[SG_COSCHEDULING_ROWS];
    int row_count;
};

struct sg_coscheduling_options {
    const char *network; /* as the simulator takes it; NULL: the measured costs */
    struct sg_numbers slices_us;
    bool restart_slice; /* calls return with the next slice, else within theirs */
    bool progress;
};

/* On failure one line has been logged; clear in either case. */
enum sg_status sg_coscheduling_find(const char *path, const struct sg_coscheduling_options *options,
                                    struct sg_coscheduling *out);
void sg_coscheduling_clear(struct sg_coscheduling *found);
enum sg_status sg_coscheduling_print_text(const struct sg_coscheduling *found, FILE *out);
enum sg_status sg_coscheduling_print_json(const struct sg_coscheduling *found, FILE *out);

#endif
