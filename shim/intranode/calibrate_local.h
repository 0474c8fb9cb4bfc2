/* The measurements of a calibration that need no messages: those of one process, and those of two
 * processes in memory that they share.
 */
#ifndef SG_INTRANODE_CALIBRATE_LOCAL_H
#define SG_INTRANODE_CALIBRATE_LOCAL_H

#include "core/calibration.h"
#include "intranode/segment.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_CALIBRATE_SAMPLES 64
#define SG_CALIBRATE_SEGMENT_BYTES 4096

struct sg_calibrate_samples {
    double ns[SG_CALIBRATE_SAMPLES];
    int count; /* beyond the room the last ones are dropped */
};

/* Until there are samples enough, or a millisecond has passed since began_ns; three where they are
 * fewer than SG_CALIBRATED_FEW. */
bool sg_calibrate_wants_more(const struct sg_calibrate_samples *samples, uint64_t began_ns,
                             uint64_t now_ns);
void sg_calibrate_add(struct sg_calibrate_samples *samples, double ns);
/* The first quartile: what it costs where nothing else is in the way. 0 without samples. Sorts
 * them. Their number and spread go into out where they are worse than what stands there. */
double sg_calibrate_typical(struct sg_calibrate_samples *samples, struct sg_calibration *out);

/* Per byte of an operand in cache. Here and below, out takes spread and samples as above. */
double sg_calibrate_copy_ns(struct sg_calibration *out);
double sg_calibrate_reduce_ns(struct sg_calibration *out);

/* A signal to the calling thread, until its handler has returned. 0: the signal is blocked, or has
 * somebody's handler. */
double sg_calibrate_signal_ns(int signal, struct sg_calibration *out);

struct sg_calibrate_steps {
    double step_ns; /* one way, waited for as collectives wait: spinning, then yielding */
    double wake_ns; /* one way, to one who sleeps */
};

/* How long one of several that share a processor keeps it: the kernel's slice, of which it takes
 * notice at its ticks. 0: not known. */
double sg_calibrate_slice_ns(void);

/* Sleeps in the segment until it is roused, or for a second. */
void sg_calibrate_sleep(void *segment);
void sg_calibrate_rouse(void *segment);

/* Both sides of a zeroed segment; the asking one's figures. A partner that falls silent is given
 * up after a second. */
void sg_calibrate_ask(void *segment, struct sg_calibrate_steps *steps, struct sg_calibration *out);
void sg_calibrate_answer(void *segment);

#endif
