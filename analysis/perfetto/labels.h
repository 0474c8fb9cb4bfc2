/* What all slices of a row, or of a function at a call site, have in common, as JSON, made once. */
#ifndef SG_PERFETTO_LABELS_H
#define SG_PERFETTO_LABELS_H

#include "core/status.h"
#include "report/aggregate.h"
#include "report/map.h"

#include <stdint.h>

struct sg_label {
    char *name;      /* "allreduce dot cg.c:83", with its quotes; NULL: not yet made */
    char *late_name; /* of what came late for it */
    char *comm;
    char *arguments; /* `"comm":...,"site":...` */
};

struct sg_slice_label {
    char *name; /* "MPI_Recv halo cg.c:40", with its quotes */
    char *site; /* `"site":"..."`, or empty */
};

/* Zero-initialised is empty. */
struct sg_labels {
    struct sg_label *rows;
    uint32_t row_room;
    struct sg_slice_label *calls; /* by number, which call_of has by function and site */
    uint32_t call_count;
    struct sg_map call_of;
    char **comms; /* by index, with quotes */
    uint32_t comm_room;
    char **algorithms; /* by number, with quotes */
    uint32_t algorithm_room;
};

/* A JSON string, with quotes. malloc'ed; NULL when out of memory. */
char *sg_label_quote(const char *text);

/* SG_ERR_MEMORY only (not logged). What they give lives until sg_labels_clear(), a label's address
 * until the next call. */
enum sg_status sg_label_of(struct sg_labels *labels, const struct sg_aggregate *aggregate,
                           uint32_t row, const struct sg_label **out);
enum sg_status sg_label_call(struct sg_labels *labels, const struct sg_aggregate *aggregate,
                             const struct sg_seen_call *call, const struct sg_slice_label **out);
enum sg_status sg_label_comm(struct sg_labels *labels, const struct sg_aggregate *aggregate,
                             uint32_t comm, const char **out);
enum sg_status sg_label_algorithm(struct sg_labels *labels, const struct sg_aggregate *aggregate,
                                  uint32_t algorithm, const char **out);

void sg_labels_clear(struct sg_labels *labels);

#endif
