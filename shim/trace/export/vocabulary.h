/* The definitions that every archive of stagger has: regions, attributes, metrics and properties,
 * with the numbers that the export uses and the names by which a report finds them. docs/trace.md
 * lists them.
 */
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

/* Exactly one COMM_LOCATIONS group, before any COMM_GROUP, whose members are indices into it; one
 * COMM_SELF without members. Behind them the groups that windows are synchronised with, then others
 * of communicators. */
enum sg_group_ref {
    SG_GROUP_REF_LOCATIONS,
    SG_GROUP_REF_WORLD,
    SG_GROUP_REF_SELF,
    SG_GROUP_REF_OTHERS
};

enum sg_region_ref {
    /* A blocking collective's number is its operation's. */
    SG_REGION_REF_POSTS = SG_OPERATION_COUNT, /* the first nonblocking collective's */
    SG_REGION_REF_INIT = 2 * SG_OPERATION_COUNT,
    SG_REGION_REF_FINALIZE,
    SG_REGION_REF_LATE,
    SG_REGION_REF_PROGRAM, /* by the program's name */
    /* The first of MPI's other functions, which are there as used. Behind them those of paths. */
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
    /* of calls in a trial */
    SG_ATTRIBUTE_TRIAL,
    SG_ATTRIBUTE_ARM,
    /* of nonblocking calls and late contributions */
    SG_ATTRIBUTE_COMM,
    /* of late contributions only */
    SG_ATTRIBUTE_OPERATION,
    SG_ATTRIBUTE_CHILD,
    SG_ATTRIBUTE_AVOIDED,
    SG_ATTRIBUTE_BY_SIGNAL,
    /* of completions only */
    SG_ATTRIBUTE_EXPOSED,
    SG_ATTRIBUTE_HIDDEN,
    SG_ATTRIBUTE_TESTS,
    /* of intervals between calls only */
    SG_ATTRIBUTE_LEFT,
    SG_ATTRIBUTE_ENTERED,
    SG_ATTRIBUTE_STRETCH,
    SG_ATTRIBUTE_BOUNDS,
    /* of messages */
    SG_ATTRIBUTE_GAP,
    /* of collectives that MPICH carried out */
    SG_ATTRIBUTE_NUMBER,
    /* of neighborhood collectives */
    SG_ATTRIBUTE_SOURCES,
    /* of collectives that bcs ran, and of slices */
    SG_ATTRIBUTE_SLICE,
    /* of slices only */
    SG_ATTRIBUTE_NODE,
    SG_ATTRIBUTE_COUNT
};

struct sg_attribute_definition {
    const char *name, *description;
    uint8_t type; /* OTF2_Type */
};

extern const struct sg_attribute_definition sg_attributes[SG_ATTRIBUTE_COUNT];

/* Nonblocking neighborhood collectives: the events have the number of their request. */
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

/* Intervals between calls have metrics of their own: the length, then their figures. */
enum sg_interval_metric_ref {
    SG_METRIC_INTERVAL = SG_METRIC_COUNT,
    SG_METRIC_FIGURES,
    /* ... and slices theirs, by enum sg_slice_metric. */
    SG_METRIC_SLICES = SG_METRIC_FIGURES + SG_FIGURE_COUNT,
    SG_METRIC_ALL = SG_METRIC_SLICES + SG_SLICE_METRICS
};

#define SG_METRIC_NAME_INTERVAL "interval"
/* Metric classes: of collectives, of an interval, of each source of its figures, of a slice at a
 * node, of a slice everywhere. */
#define SG_CLASS_COLLECTIVES 0u
#define SG_CLASS_INTERVAL 1u
#define SG_CLASS_OF_SOURCE(source) (2u + (source))
#define SG_CLASS_SLICE SG_CLASS_OF_SOURCE(SG_SOURCE_COUNT)
#define SG_CLASS_SLICE_GLOBAL (SG_CLASS_SLICE + 1)
/* Properties of the archive. */
#define SG_PROPERTY_PARTIAL "STAGGER::PARTIAL"
#define SG_PROPERTY_DROPPED "STAGGER::DROPPED"
/* Events of calls that there was no room for, by function: "MPI_Isend=12 MPI_Wait=3". */
#define SG_PROPERTY_LEFT_OUT "STAGGER::LEFT_OUT"
#define SG_PROPERTY_UNMANAGED "STAGGER::UNMANAGED"
#define SG_PROPERTY_UNMANAGED_POSTS "STAGGER::UNMANAGED_POSTS"
#define SG_PROPERTY_OVERHEAD_CALLS "STAGGER::OVERHEAD_CALLS"
#define SG_PROPERTY_OVERHEAD_NS "STAGGER::OVERHEAD_NS"
#define SG_PROPERTY_OVERHEAD_LONG_CALLS "STAGGER::OVERHEAD_LONG_CALLS"
#define SG_PROPERTY_TRIAL_BLOCK "STAGGER::TRIAL_BLOCK"
#define SG_MARKER_LEARNED_CATEGORY "learned" /* of a marker: what `auto` has found */
#define SG_PROPERTY_CALIBRATION "STAGGER::CALIBRATION"
/* Where causes were recorded: STAGGER_CAUSES, how many intervals, how many of them are not in the
 * archive, what they cost in how much time of threads; and the sources that ranks lack, each with
 * their number, separated by ";". */
#define SG_PROPERTY_CAUSES "STAGGER::CAUSES"
#define SG_PROPERTY_CAUSES_INTERVALS "STAGGER::CAUSES_INTERVALS"
#define SG_PROPERTY_CAUSES_LEFT_OUT "STAGGER::CAUSES_LEFT_OUT"
#define SG_PROPERTY_CAUSES_COST "STAGGER::CAUSES_COST_NS"
#define SG_PROPERTY_CAUSES_TIME "STAGGER::CAUSES_TIME_NS"
#define SG_PROPERTY_CAUSES_LACKING "STAGGER::CAUSES_LACKING"
/* Of struct sg_run_waiting: its mode, its texts, its numbers. They are there where ranks told. */
#define SG_PROPERTY_WAIT_MODE "STAGGER::WAIT_MODE"

struct sg_wait_text {
    const char *name;
    size_t offset, size_bytes;
};

extern const struct sg_wait_text sg_wait_texts[2];

struct sg_wait_number {
    const char *name;
    size_t offset; /* of a uint64_t */
};

extern const struct sg_wait_number sg_wait_numbers[10];

/* How OTF2 classifies a function of MPI, by its name: the role of its region, and the operation of
 * a collective. The choices are Score-P's, so that readers group regions as they are used to. */

struct sg_mpi_region {
    uint8_t role;          /* OTF2_RegionRole */
    bool is_collective;    /* a collective, blocking or not */
    bool is_nonblocking;   /* of a collective */
    bool is_persistent;    /* it makes a collective */
    bool is_rooted;        /* of a collective, in whatever form */
    bool is_neighborhood;  /* likewise; OTF2 has no operation for it */
    uint8_t collective_op; /* OTF2_CollectiveOp; not of a neighborhood collective */
};

/* name: as in "MPI_Send". What makes a persistent collective is a function like any other: its
 * region is not the collective's. */
struct sg_mpi_region sg_mpi_region_of(const char *name);

#endif
