/* Vocabulary of stagger's archives: regions, attributes, metrics and properties, with the refs
 * that the export uses and the names by which a report finds them. Also classifies MPI functions
 * for OTF2. The writer and the readers of an archive share this file; docs/trace.md lists the
 * names. */
#ifndef SG_TRACE_EXPORT_VOCABULARY_H
#define SG_TRACE_EXPORT_VOCABULARY_H

#include "core/slice.h"
#include "core/text.h"
#include "core/waiting.h"
#include "trace/figure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_COMM_WORLD_REF 0u
#define SG_COMM_SELF_REF 1u

/* An archive has exactly one COMM_LOCATIONS group, before any COMM_GROUP, whose members are
 * indices into it, and one COMM_SELF group without members. The groups that events name follow,
 * then those of other communicators. */
enum sg_group_ref {
    SG_GROUP_REF_LOCATIONS,
    SG_GROUP_REF_WORLD,
    SG_GROUP_REF_SELF,
    SG_GROUP_REF_OTHERS
};

enum sg_region_ref {
    /* The ref of a blocking collective is its operation. */
    SG_REGION_REF_POSTS = SG_OPERATION_COUNT, /* first nonblocking collective */
    SG_REGION_REF_INIT = 2 * SG_OPERATION_COUNT,
    SG_REGION_REF_FINALIZE,
    SG_REGION_REF_LATE,
    SG_REGION_REF_PROGRAM, /* named after the program */
    /* First of the other MPI functions that the program called. The functions of paths follow. */
    SG_REGION_REF_FUNCTIONS
};

#define SG_REGION_NAME_INIT "MPI_Init"
#define SG_REGION_NAME_FINALIZE "MPI_Finalize"
#define SG_REGION_NAME_LATE "late contribution"

enum sg_attribute_ref {
    SG_ATTRIBUTE_SITE,
    SG_ATTRIBUTE_ALGORITHM,
    SG_ATTRIBUTE_SEQ,
    SG_ATTRIBUTE_BYTES,
    /* calls in a trial */
    SG_ATTRIBUTE_TRIAL,
    SG_ATTRIBUTE_ARM,
    /* nonblocking calls and late contributions */
    SG_ATTRIBUTE_COMM,
    /* late contributions only */
    SG_ATTRIBUTE_OPERATION,
    SG_ATTRIBUTE_CHILD,
    SG_ATTRIBUTE_AVOIDED,
    SG_ATTRIBUTE_BY_SIGNAL,
    /* completions only */
    SG_ATTRIBUTE_EXPOSED,
    SG_ATTRIBUTE_HIDDEN,
    SG_ATTRIBUTE_TESTS,
    /* intervals between calls only */
    SG_ATTRIBUTE_LEFT,
    SG_ATTRIBUTE_ENTERED,
    SG_ATTRIBUTE_STRETCH,
    SG_ATTRIBUTE_BOUNDS,
    /* messages */
    SG_ATTRIBUTE_GAP,
    SG_ATTRIBUTE_EAGER,
    /* tests */
    SG_ATTRIBUTE_POLLED,
    /* collectives that MPICH ran */
    SG_ATTRIBUTE_NUMBER,
    /* neighborhood collectives */
    SG_ATTRIBUTE_SOURCES,
    /* collectives that bcs ran, and slices */
    SG_ATTRIBUTE_SLICE,
    /* slices only */
    SG_ATTRIBUTE_NODE,
    SG_ATTRIBUTE_COUNT
};

struct sg_attribute_definition {
    const char *name, *description;
    uint8_t type; /* OTF2_Type */
};

extern const struct sg_attribute_definition sg_attributes[SG_ATTRIBUTE_COUNT];

/* Parameters of nonblocking collectives for which OTF2 has no operation; the value is the request's
 * number. */
enum sg_parameter_ref { SG_PARAMETER_BEGUN, SG_PARAMETER_COMPLETE, SG_PARAMETER_COUNT };

extern const char *const sg_parameters[SG_PARAMETER_COUNT];

enum sg_metric_ref {
    SG_METRIC_SKEW,
    SG_METRIC_LATE,
    SG_METRIC_EARLY,
    SG_METRIC_SIGNALS,
    SG_METRIC_OUTSTANDING,
    SG_METRIC_STALLS,
    SG_METRIC_COPIES,
    SG_METRIC_IGNORED,
    SG_METRIC_MOVES,
    SG_METRIC_REPEATS,
    SG_METRIC_COUNT
};

struct sg_metric_definition {
    const char *name, *description, *unit;
};

extern const struct sg_metric_definition sg_metrics[SG_METRIC_COUNT];

/* Metrics of intervals between calls: the length, then the figures. */
enum sg_interval_metric_ref {
    SG_METRIC_INTERVAL = SG_METRIC_COUNT,
    SG_METRIC_FIGURES,
    /* Metrics of slices, by enum sg_slice_metric. */
    SG_METRIC_SLICES = SG_METRIC_FIGURES + SG_FIGURE_COUNT,
    SG_METRIC_ALL = SG_METRIC_SLICES + SG_SLICE_METRICS
};

#define SG_METRIC_NAME_INTERVAL "interval"
/* Metric classes: collectives, an interval, each source of its figures, a slice at a node, a
 * slice globally. */
#define SG_CLASS_COLLECTIVES 0u
#define SG_CLASS_INTERVAL 1u
#define SG_CLASS_OF_SOURCE(source) (2u + (source))
#define SG_CLASS_SLICE SG_CLASS_OF_SOURCE(SG_SOURCE_COUNT)
#define SG_CLASS_SLICE_GLOBAL (SG_CLASS_SLICE + 1)
/* Archive properties. */
#define SG_PROPERTY_PARTIAL "STAGGER::PARTIAL"
#define SG_PROPERTY_DROPPED "STAGGER::DROPPED"
/* Time from the first event to the first one that a log had no capacity for, and the
 * STAGGER_TRACE_BYTES that would have been enough; absent if there is none, or it is not known. */
#define SG_PROPERTY_RECORDED "STAGGER::RECORDED_NS"
#define SG_PROPERTY_OFF "STAGGER::OFF_NS"
#define SG_PROPERTY_WANTED_BYTES "STAGGER::WANTED_BYTES"
/* Events dropped for lack of capacity, by function: "MPI_Isend=12 MPI_Wait=3". */
#define SG_PROPERTY_LEFT_OUT "STAGGER::LEFT_OUT"
#define SG_PROPERTY_UNMANAGED "STAGGER::UNMANAGED"
#define SG_PROPERTY_UNMANAGED_POSTS "STAGGER::UNMANAGED_POSTS"
#define SG_PROPERTY_UNMANAGED_FULL "STAGGER::UNMANAGED_FULL"
#define SG_PROPERTY_OVERHEAD_CALLS "STAGGER::OVERHEAD_CALLS"
#define SG_PROPERTY_OVERHEAD_NS "STAGGER::OVERHEAD_NS"
#define SG_PROPERTY_OVERHEAD_LONG_CALLS "STAGGER::OVERHEAD_LONG_CALLS"
#define SG_PROPERTY_TRIAL_BLOCK "STAGGER::TRIAL_BLOCK"
#define SG_MARKER_LEARNED_CATEGORY "learned" /* a marker: findings of `auto` */
#define SG_PROPERTY_CALIBRATION "STAGGER::CALIBRATION"
/* Present if causes were recorded: the run's STAGGER_CAUSES, the sampled intervals, those that
 * are not in the archive, the cost of the readings and the total time of the threads that took
 * them, and the sources that ranks lack, each with the number of ranks, separated by ";". */
#define SG_PROPERTY_CAUSES "STAGGER::CAUSES"
#define SG_PROPERTY_CAUSES_INTERVALS "STAGGER::CAUSES_INTERVALS"
#define SG_PROPERTY_CAUSES_LEFT_OUT "STAGGER::CAUSES_LEFT_OUT"
#define SG_PROPERTY_CAUSES_COST "STAGGER::CAUSES_COST_NS"
#define SG_PROPERTY_CAUSES_TIME "STAGGER::CAUSES_TIME_NS"
#define SG_PROPERTY_CAUSES_LACKING "STAGGER::CAUSES_LACKING"
/* Mode, texts and numbers of struct sg_run_waiting. Present if any rank reported them. */
#define SG_PROPERTY_WAIT_MODE "STAGGER::WAIT_MODE"

struct sg_wait_text {
    const char *name;
    size_t offset, size_bytes;
};

extern const struct sg_wait_text sg_wait_texts[2];

struct sg_wait_number {
    const char *name;
    size_t offset; /* offset of a uint64_t */
};

extern const struct sg_wait_number sg_wait_numbers[11];

/* Calls that all members make, and for which OTF2 has no operation. */
enum sg_without {
    SG_WITHOUT_NONE,
    SG_WITHOUT_NEIGHBORHOOD, /* neighborhood collectives */
    SG_WITHOUT_FILE,         /* on files */
    SG_WITHOUT_COMM,         /* that make communicators */
};

/* OTF2's classification of an MPI function: the role of its region, and the operation of a
 * collective. The roles are those that Score-P chooses, so that readers group regions as usual. */

struct sg_mpi_region {
    uint8_t role;          /* OTF2_RegionRole */
    bool is_collective;    /* a call that all members make, blocking or not */
    bool is_nonblocking;   /* nonblocking form of a collective */
    bool is_persistent;    /* it makes a persistent collective */
    bool is_rooted;        /* form of a rooted collective */
    bool is_of_made;       /* the members of the communicator that it makes call it */
    uint8_t without;       /* enum sg_without */
    uint8_t collective_op; /* OTF2_CollectiveOp, if it has one */
};

/* name: as in "MPI_Send". A function that makes a persistent collective is not itself a
 * collective, and its region is not the collective's. */
struct sg_mpi_region sg_mpi_region_of(const char *name);

/* MPI's one-sided functions and functions on windows, by name: logs and archives hold only the
 * names. */

enum sg_rma {
    SG_RMA_NONE, /* not on a window, or without meaning for the events */
    /* operations */
    SG_RMA_PUT,
    SG_RMA_GET,
    SG_RMA_ACCUMULATE, /* puts */
    SG_RMA_FETCH,      /* puts and gets, as does SG_RMA_COMPARE */
    SG_RMA_COMPARE,
    /* collectives */
    SG_RMA_MAKE,
    SG_RMA_FREE,
    SG_RMA_FENCE,
    /* synchronise with a group */
    SG_RMA_POST,
    SG_RMA_START,
    SG_RMA_COMPLETE,
    SG_RMA_WAIT, /* also MPI_Win_test */
    /* concern one target, or all */
    SG_RMA_LOCK,
    SG_RMA_LOCK_ALL,
    SG_RMA_UNLOCK,
    SG_RMA_UNLOCK_ALL,
    SG_RMA_FLUSH,
    SG_RMA_FLUSH_ALL,
    SG_RMA_FLUSH_LOCAL,
    SG_RMA_FLUSH_LOCAL_ALL,
};

/* name: as in "MPI_Put". */
enum sg_rma sg_rma_of(const char *name);

static inline bool sg_rma_is_operation(enum sg_rma rma)
{
    return rma >= SG_RMA_PUT && rma <= SG_RMA_COMPARE;
}

static inline bool sg_rma_is_collective(enum sg_rma rma)
{
    return rma >= SG_RMA_MAKE && rma <= SG_RMA_FENCE;
}

static inline bool sg_rma_has_group(enum sg_rma rma)
{
    return rma >= SG_RMA_POST && rma <= SG_RMA_WAIT;
}

#endif
