/* A slice of buffered coscheduling as one node saw it, in the metrics of BCS-MPI's EMDS (paper:
 * section 5.2, tables 5.1 and 5.2). The protocol fills it in, live, in the simulator and in the
 * explorer; logs, traces and reports have the same numbers. */
#ifndef SG_CORE_SLICE_H
#define SG_CORE_SLICE_H

#include <stdbool.h>
#include <stdint.h>

enum sg_slice_metric {
    /* Endpoint 0 alone, for the communicator. */
    SG_SLICE_GETTS,
    SG_SLICE_GTDEM,
    SG_SLICE_GTMSM,
    SG_SLICE_GTTS,
    SG_SLICE_USRTS,
    SG_SLICE_USRDEM,
    SG_SLICE_USRMSM,
    /* Every node. */
    SG_SLICE_LETTS,
    SG_SLICE_LTDEM,
    SG_SLICE_LTMSM,
    SG_SLICE_LTTS,
    SG_SLICE_NP2PDEM,
    SG_SLICE_NCOLLDEM,
    SG_SLICE_NP2PMSM,
    SG_SLICE_NCOLLMSM,
    /* ... by the event loop: */
    SG_SLICE_BPTS,
    SG_SLICE_LTR1,
    SG_SLICE_LTR2,
    SG_SLICE_LTR3,
    SG_SLICE_LTR4,
    SG_SLICE_LTR5,
    SG_SLICE_METRICS
};

/* Kinds of a handler's work, for LTR1 to LTR5. */
enum sg_slice_routine {
    SG_ROUTINE_DESCRIPTORS,
    SG_ROUTINE_MATCHING,
    SG_ROUTINE_TRANSFER,
    SG_ROUTINE_BROADCAST,
    SG_ROUTINE_REDUCE,
    SG_ROUTINES
};

/* GETTS and LETTS have 64 bits, because the communicator may have been idle for long. */
#define SG_SLICE_VALUES (SG_SLICE_METRICS - 2)

struct sg_slice {
    uint64_t number;
    uint64_t begin_ns; /* its first strobe was sent, or arrived */
    uint64_t since_ns; /* since the previous slice's begin_ns, as seen here */
    uint64_t first;    /* the first instance that it ran, if any */
    uint32_t known;    /* a bit per metric: metrics that did not occur here are unknown */
    uint32_t value[SG_SLICE_VALUES];
};

struct sg_slice_metric_facts {
    const char *name, *meaning;
    bool is_time;   /* in ns; else a count */
    bool is_global; /* measured at endpoint 0 */
};
extern const struct sg_slice_metric_facts sg_slice_metrics[SG_SLICE_METRICS];

/* Index of a metric's value; -1: it is since_ns. */
static inline int sg_slice_place(enum sg_slice_metric metric)
{
    if (metric == SG_SLICE_GETTS || metric == SG_SLICE_LETTS)
        return -1;
    return (int)metric - (metric > SG_SLICE_LETTS ? 2 : 1);
}

static inline bool sg_slice_knows(const struct sg_slice *slice, enum sg_slice_metric metric)
{
    return slice->known >> metric & 1;
}

/* Valid if sg_slice_knows. */
static inline uint64_t sg_slice_value(const struct sg_slice *slice, enum sg_slice_metric metric)
{
    int place = sg_slice_place(metric);

    return place < 0 ? slice->since_ns : slice->value[place];
}

/* Stores a value; saturates at the greatest value that the field holds. */
static inline void sg_slice_put(struct sg_slice *slice, enum sg_slice_metric metric, uint64_t value)
{
    int place = sg_slice_place(metric);

    slice->known |= UINT32_C(1) << metric;
    if (place < 0)
        slice->since_ns = value;
    else
        slice->value[place] = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static inline void sg_slice_count(struct sg_slice *slice, enum sg_slice_metric metric)
{
    uint64_t before = sg_slice_knows(slice, metric) ? sg_slice_value(slice, metric) : 0;

    sg_slice_put(slice, metric, before + 1);
}

/* Parses "7500-12500". False: the text is no window, or its first slice exceeds its last. */
bool sg_slice_window_parse(const char *text, uint64_t *first, uint64_t *last);

/* Parses metrics separated by commas or blanks into a bit each; 0: none is valid. Ignores an
 * unknown name and, if speak, logs a line that begins with source and has the nearest name. */
uint32_t sg_slice_metrics_parse(const char *source, const char *text, bool speak);

/* Finds a metric by name, in any case; SG_SLICE_METRICS: there is none. */
enum sg_slice_metric sg_slice_metric_find(const char *name);

#endif
