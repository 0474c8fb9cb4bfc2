/* The machine's costs, measured when a run begins; `stagger advise` simulates with them. The names
 * are those of the simulator's networks (analysis/sim/networks) where these have them. A value of 0
 * was not measured: there was no peer, or no time left. */
#ifndef SG_CORE_CALIBRATION_H
#define SG_CORE_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>

/* Stored in logs by number: append only. */
enum sg_calibrated {
    SG_CALIBRATED_LATENCY,  /* between nodes: of a message, less both overheads */
    SG_CALIBRATED_OVERHEAD, /* ... of its sender, and of its receiver */
    SG_CALIBRATED_GAP,
    SG_CALIBRATED_INSIDE_LATENCY, /* the same between ranks of one node */
    SG_CALIBRATED_INSIDE_OVERHEAD,
    SG_CALIBRATED_INSIDE_GAP,
    SG_CALIBRATED_COPY,
    SG_CALIBRATED_REDUCE,
    SG_CALIBRATED_SIGNAL,     /* a signal to the calling thread, with its handler */
    SG_CALIBRATED_WAKE,       /* waking a sleeping thread: a context switch */
    SG_CALIBRATED_LOCAL,      /* one step in memory that a node's ranks share */
    SG_CALIBRATED_SLICE,      /* the kernel's time slice when threads share a processor */
    SG_CALIBRATED_PROCESSORS, /* of rank 0's machine that its ranks may use */
    SG_CALIBRATED_RANKS,      /* on that machine */
    SG_CALIBRATED_SPREAD,     /* greatest ratio of third to first quartile of the samples */
    SG_CALIBRATED_SAMPLES,    /* fewest samples that a measurement had time for */
    SG_CALIBRATED_COUNT
};

#define SG_CALIBRATION_ROOM 32 /* capacity in a log's header */
/* With fewer samples, or a greater spread, the machine was busy with something else. */
#define SG_CALIBRATED_FEW 9
#define SG_CALIBRATED_SPREAD_MOST 3

struct sg_calibration {
    double value[SG_CALIBRATED_COUNT];
};

/* "latency_us", ... */
extern const char *const sg_calibrated_names[SG_CALIBRATED_COUNT];

static inline bool sg_calibration_is_empty(const struct sg_calibration *calibration)
{
    for (int i = 0; i < SG_CALIBRATED_COUNT; i++) {
        if (calibration->value[i] > 0)
            return false;
    }
    return true;
}

#define SG_CALIBRATION_BYTES 1024

/* Prints the measured values: "latency_us=0.61 overhead_us=0.2 ...". */
void sg_calibration_print(const struct sg_calibration *calibration,
                          char text[SG_CALIBRATION_BYTES]);
/* Reads such a text; skips unknown names and values that no machine has. */
void sg_calibration_parse(const char *text, struct sg_calibration *out);

#endif
