/* Slices of buffered coscheduling, as EMDS recorded them: joined from the logs of all ranks, by
 * communicator and node, with figures of their metrics.
 *
 * Functions that return a status return only SG_OK or SG_ERR_MEMORY (not logged).
 */
#ifndef SG_BCS_RECORDED_SLICES_H
#define SG_BCS_RECORDED_SLICES_H

#include "core/slice.h"
#include "core/status.h"
#include "core/text.h"
#include "report/filter.h"
#include "trace/export/clockmap.h"
#include "trace/export/logread.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stdint.h>

/* Identified by its size, the world rank of its rank 0 and that rank's count of communicators. */
struct sg_slice_comm {
    char *name; /* as recorded; owned */
    uint32_t size;
    uint32_t root_world_rank, root_counter;
};

struct sg_slices_row {
    uint32_t comm, node;
    struct sg_slice slice; /* its member first: seq of the first collective, or UINT32_MAX */
};

/* Sums over the slices that have no row of their own. */
struct sg_slices_sum {
    uint32_t comm, node;
    uint64_t slices;
    uint64_t of[SG_SLICE_METRICS][SG_SLICE_SUMS];
};

/* The slices of a communicator at a node. */
struct sg_slices_place {
    uint32_t comm, node;
    uint32_t row, row_count;
    const struct sg_slices_sum *sum; /* NULL: every slice has a row */
};

struct sg_slice_set {
    struct sg_slice_comm *comms;
    struct sg_slices_row *rows; /* sorted by communicator, node, number */
    struct sg_slices_sum *sums;
    struct sg_slices_place *places;
    uint32_t comm_count, row_count, sum_count, place_count;
};

/* Selects metrics, nodes and slices; zeroed: all. */
struct sg_slices_filter {
    uint32_t metrics; /* a bit for each metric; 0: all */
    bool has_nodes, has_window;
    struct sg_rank_list nodes;
    uint64_t first, last;
};

/* Figures of a metric at a node. */
struct sg_slices_figures {
    uint64_t count; /* slices in which it is known; 0: the rest is undefined */
    uint64_t min, max, p95;
    double mean;
    bool has_p95; /* false: some slices have no row */
};

/* ---- gathering */

enum sg_status sg_slices_comm(struct sg_slice_set *slices, const struct sg_record_comm *record,
                              const char *name, uint32_t *out);
/* begin_ns: begin of the slice on the clock of all ranks. */
enum sg_status sg_slices_add(struct sg_slice_set *slices, uint32_t comm,
                             const struct sg_record_slice *record, uint64_t begin_ns);
enum sg_status sg_slices_add_sum(struct sg_slice_set *slices, uint32_t comm,
                                 const struct sg_record_slice_sum *record);
/* Sorts the rows and lists the places, once everything has been added. */
enum sg_status sg_slices_finish(struct sg_slice_set *slices);
void sg_slices_clear(struct sg_slice_set *slices);

/* ---- figures */

bool sg_slices_takes_metric(const struct sg_slices_filter *filter, enum sg_slice_metric metric);
bool sg_slices_takes_place(const struct sg_slices_filter *filter,
                           const struct sg_slices_place *place);
bool sg_slices_takes(const struct sg_slices_filter *filter, const struct sg_slice *slice);

/* A metric of a communicator at a node: a row of the table, of JSON and of the page. */
struct sg_slices_line {
    enum sg_slice_metric metric;
    const struct sg_slice_comm *comm;
    uint32_t node;
    struct sg_slices_figures figures;
};

/* Lists what the filter selects: by communicator, global metrics before local ones, node, metric.
 * *out is malloc'ed. */
enum sg_status sg_slices_lines(const struct sg_slice_set *slices,
                               const struct sg_slices_filter *filter, struct sg_slices_line **out,
                               uint32_t *count);

/* ---- the slices of one log
 *
 * A communicator is looked up once it has slices, because many may have none.
 */

struct sg_slices_log_comm {
    const struct sg_record_comm *record; /* points into the log */
    bool is_known;
    uint32_t comm; /* index in the set, with is_known */
};

/* Zeroed: an empty log. */
struct sg_slices_log {
    struct sg_map by_index; /* index in comms, by the log's index */
    struct sg_slices_log_comm *comms;
    uint32_t comm_count;
    struct sg_clock_point *clock;
    uint32_t clock_count;
};

enum sg_status sg_slices_log_comm(struct sg_slices_log *own, const struct sg_record_comm *record);
/* Adds a point of the log's clock; before its slices are taken. */
enum sg_status sg_slices_log_clock(struct sg_slices_log *own, const struct sg_record_clock *record);
/* Converts the log's time to the clock of all ranks; without points they are the same. */
uint64_t sg_slices_log_global_ns(const struct sg_slices_log *own, uint64_t local_ns);
/* Adds a SG_RECORD_SLICE or SG_RECORD_SLICE_SUM to the set; ignores unknown communicators. */
enum sg_status sg_slices_log_take(struct sg_slices_log *own, struct sg_logread *log,
                                  const void *record, enum sg_record_kind kind,
                                  struct sg_slice_set *slices);
void sg_slices_log_clear(struct sg_slices_log *own);

#endif
