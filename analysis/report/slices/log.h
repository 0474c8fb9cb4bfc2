/* The slices of one log, whose communicators are looked for once they have slices: there may be
 * many that have none.
 */
#ifndef SG_REPORT_SLICES_LOG_H
#define SG_REPORT_SLICES_LOG_H

#include "report/map.h"
#include "report/slices/slices.h"
#include "trace/export/clockmap.h"
#include "trace/export/logread.h"

struct sg_slices_log_comm {
    const struct sg_record_comm *record; /* the log's */
    bool is_known;
    uint32_t comm; /* of the set, if it is known */
};

/* Zeroed: empty. */
struct sg_slices_log {
    struct sg_map by_index; /* in the log */
    struct sg_slices_log_comm *comms;
    uint32_t comm_count;
    struct sg_clock_point *clock;
    uint32_t clock_count;
};

enum sg_status sg_slices_log_comm(struct sg_slices_log *own, const struct sg_record_comm *record);

/* What the log knows of its clock, before its slices are taken. */
enum sg_status sg_slices_log_clock(struct sg_slices_log *own, const struct sg_record_clock *record);
/* The time of the log's clock on that of all ranks; a log that knows nothing has that clock. */
uint64_t sg_slices_log_global_ns(const struct sg_slices_log *own, uint64_t local_ns);

/* A SG_RECORD_SLICE or SG_RECORD_SLICE_SUM; one of a communicator that there is not is left out. */
enum sg_status sg_slices_log_take(struct sg_slices_log *own, struct sg_logread *log,
                                  const void *record, enum sg_record_kind kind,
                                  struct sg_slice_set *slices);

void sg_slices_log_clear(struct sg_slices_log *own);

#endif
