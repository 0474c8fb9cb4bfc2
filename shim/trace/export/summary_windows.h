/* The windows of one log, with the collectives on them that events tell of; and the groups of ranks
 * that they are synchronised with, or whose data neighborhood collectives bring. */
#ifndef SG_TRACE_SUMMARY_WINDOWS_H
#define SG_TRACE_SUMMARY_WINDOWS_H

#include "core/status.h"
#include "trace/export/intervals.h"
#include "trace/export/pack.h"
#include "trace/export/rma_function.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_window_entry {
    uint32_t index; /* of the log */
    uint32_t comm;  /* as the events of all calls number them; 0: not known */
    uint32_t ordinal;
    bool is_used; /* by an event */
    const char *name;
    uint64_t events; /* that tell of it, besides collectives */
    struct sg_intervals recorded;
};

struct sg_group_entry {
    uint32_t index; /* of the log */
    bool is_used;
    uint32_t size;
    uint32_t *members; /* world ranks; NULL: not known */
};

struct sg_summary_windows {          /* zeroed at first */
    struct sg_window_entry *windows; /* by index */
    struct sg_group_entry *groups;   /* by index */
    uint32_t window_count, group_count;
};

/* text: of the record; it is to live as long as the table. */
enum sg_status sg_summary_windows_add(struct sg_summary_windows *windows,
                                      const struct sg_record_window *record, const char *text);
enum sg_status sg_summary_windows_add_group(struct sg_summary_windows *windows, int32_t world_size,
                                            const struct sg_record_group *record, const char *text);
/* When all are added: sorts the tables. */
void sg_summary_windows_sort(struct sg_summary_windows *windows);

/* A call on a window: the event's window, now in use; NULL: it is not known. */
enum sg_status sg_summary_windows_read(struct sg_summary_windows *windows,
                                       const struct sg_record_event *event, enum sg_rma rma,
                                       const struct sg_window_entry **out);
/* A group by 1 + its index is in use; 0: none. */
void sg_summary_windows_use_group(struct sg_summary_windows *windows, uint32_t group);
/* When all events are read; how many collectives are lost. */
uint64_t sg_summary_windows_finish(struct sg_summary_windows *windows);

/* Those of an event; NULL when the log has no such record. */
const struct sg_window_entry *sg_summary_window(const struct sg_summary_windows *windows,
                                                const struct sg_record_event *event);
const struct sg_group_entry *sg_summary_group(const struct sg_summary_windows *windows,
                                              const struct sg_record_event *event);

const struct sg_group_entry *sg_summary_group_at(const struct sg_summary_windows *windows,
                                                 uint32_t index);

void sg_summary_windows_pack(struct sg_pack *pack, struct sg_summary_windows *windows);
void sg_summary_windows_clear(struct sg_summary_windows *windows);

#endif
