/* What a run measured of its machine when it began: the costs that `stagger advise` simulates with.
 *
 * The names are those of the simulator's networks (analysis/sim/networks) as far as these have
 * them. A value of 0 was not measured: there was nobody to measure it with, or no time left.
 */
#ifndef SG_CORE_CALIBRATION_H
#define SG_CORE_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>

/* Stored in logs by number: append only. */
enum sg_calibrated {
    SG_CALIBRATED_LATENCY,  /* between nodes: a message, less both overheads */
    SG_CALIBRATED_OVERHEAD, /* ... of its sender, and of its receiver */
    SG_CALIBRATED_GAP,
    SG_CALIBRATED_INSIDE_LATENCY, /* the same between ranks of one node */
    SG_CALIBRATED_INSIDE_OVERHEAD,
    SG_CALIBRATED_INSIDE_GAP,
    SG_CALIBRATED_COPY,
    SG_CALIBRATED_REDUCE,
    SG_CALIBRATED_SIGNAL,     /* a signal to itself, with its handler */
    SG_CALIBRATED_WAKE,       /* of one who sleeps: a switch of context */
    SG_CALIBRATED_LOCAL,      /* one step in memory that ranks of a node share */
    SG_CALIBRATED_SLICE,      /* that the kernel gives to one of several on a processor */
    SG_CALIBRATED_PROCESSORS, /* of rank 0's machine, as far as its ranks may use them */
    SG_CALIBRATED_RANKS,      /* on that machine */
    SG_CALIBRATED_SPREAD,     /* the greatest third quartile to the first one of its samples */
    SG_CALIBRATED_SAMPLES,    /* the fewest that a measurement had the time for */
    SG_CALIBRATED_COUNT
};

#define SG_CALIBRATION_ROOM 32 /* in a log's header */
/* Fewer samples, or a greater spread, tell that the machine was busy with something else. */
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

/* "latency_us=0.61 overhead_us=0.2 ...": what was measured. */
void sg_calibration_print(const struct sg_calibration *calibration,
                          char text[SG_CALIBRATION_BYTES]);
/* Reads such a text; names that are not known, and values that no machine has, are left out. */
void sg_calibration_parse(const char *text, struct sg_calibration *out);

/* Which cores share a cache, as the kernel tells (/sys/devices/system/cpu). */

/* Cores, not their threads, that share the last cache with the first processor: a machine's
 * clusters of cores are taken to be alike. 0: not told. sys: "/sys", in tests another directory.
 * Thread-safe; opens files. */
int sg_caches_cores(const char *sys);

#endif
