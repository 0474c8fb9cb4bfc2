/* The measurements of a calibration that need no messages: those of one process, and those of two
 * processes in shared memory.
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
    int count; /* samples beyond the room are dropped */
};

/* Until there are enough samples, or a millisecond has passed since began_ns (three milliseconds if
 * there are fewer than SG_CALIBRATED_FEW). */
bool sg_calibrate_wants_more(const struct sg_calibrate_samples *samples, uint64_t began_ns,
                             uint64_t now_ns);
void sg_calibrate_add(struct sg_calibrate_samples *samples, double ns);
/* The first quartile: the cost when nothing else interferes. 0 without samples. Sorts them. Writes
 * their number and spread to out if they are worse than those already there. */
double sg_calibrate_typical(struct sg_calibrate_samples *samples, struct sg_calibration *out);

/* Per byte of an operand in cache. Here and below, out gets spread and samples as above. */
double sg_calibrate_copy_ns(struct sg_calibration *out);
double sg_calibrate_reduce_ns(struct sg_calibration *out);

/* A signal to the calling thread, until its handler has returned. 0: the signal is blocked, or has
 * another handler. */
double sg_calibrate_signal_ns(int signal, struct sg_calibration *out);

struct sg_calibrate_steps {
    double step_ns; /* one way, waited for as collectives wait: spinning, then yielding */
    double wake_ns; /* one way, to one who sleeps */
};

/* How long a process that shares a processor keeps it: the kernel's slice, which is checked at its
 * timer ticks. 0: not known. */
double sg_calibrate_slice_ns(void);

/* Sleeps in the segment until it is woken, or for a second. */
void sg_calibrate_sleep(void *segment);
void sg_calibrate_rouse(void *segment);

/* Both sides of a zeroed segment; the asking side gets the figures. A partner that does not answer
 * for a second is given up. */
void sg_calibrate_ask(void *segment, struct sg_calibrate_steps *steps, struct sg_calibration *out);
void sg_calibrate_answer(void *segment);

#endif
