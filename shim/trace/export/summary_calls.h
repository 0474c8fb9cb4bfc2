/* What the events of all calls in one log use: functions, and communicators with the messages and
 * the collectives on them. */
#ifndef SG_TRACE_EXPORT_SUMMARY_CALLS_H
#define SG_TRACE_EXPORT_SUMMARY_CALLS_H

#include "core/status.h"
#include "trace/export/comm_entry.h"
#include "trace/export/logread.h"
#include "trace/export/logread_all.h"
#include "trace/export/rma_function.h"
#include "trace/export/strings.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stdint.h>

/* The windows of one log, with the collectives on them that events tell of; and the groups of ranks
 * that they are synchronised with, or whose data neighborhood collectives bring. */

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
/* Those of an event; NULL when the log has no such record. */
const struct sg_window_entry *sg_summary_window(const struct sg_summary_windows *windows,
                                                const struct sg_record_event *event);
const struct sg_group_entry *sg_summary_group(const struct sg_summary_windows *windows,
                                              const struct sg_record_event *event);
const struct sg_group_entry *sg_summary_group_at(const struct sg_summary_windows *windows,
                                                 uint32_t index);
void sg_summary_windows_pack(struct sg_pack *pack, struct sg_summary_windows *windows);

/* A communicator as the events of all calls number them. */
struct sg_profile_comm_entry {
    struct sg_comm_entry comm; /* without root_world_rank and root_counter; no parent: 0 */
    uint64_t identity;         /* 0: not known */
    uint32_t ordinal;
    bool used;             /* by an event */
    uint32_t library_comm; /* the same among those of the library's collectives; UINT32_MAX: none */
    uint64_t messages;     /* events that are about one */
    /* Of a Cartesian topology: sizes of the dimensions, then whether they are periodic. */
    uint32_t *grid;
    uint32_t dimensions; /* 0: there is none */
    uint32_t sources;    /* 1 + the group whose data neighborhood collectives bring; 0: none */
    /* While a log is read: the number after the last event's; the library's calls since. */
    uint32_t next_number, library_calls;
};

/* A function of MPI. */
struct sg_function_entry {
    uint32_t index; /* of the log */
    bool used;      /* by an event */
    const char *name;
    uint64_t left_out; /* events that there was no room for */
    enum sg_rma rma;   /* what it does on a window; where the log is read */
};

struct sg_summary_calls {                /* zeroed at first */
    struct sg_profile_comm_entry *comms; /* by index */
    uint32_t comm_count;
    struct sg_function_entry *functions; /* by index */
    uint32_t function_count;
    struct sg_summary_windows windows;
    struct sg_gaps gaps; /* only where the log has been read */
    uint64_t events;     /* of calls */
    /* Messages and collectives on communicators, and calls on windows, without a record; damage. */
    uint64_t dropped;
};

/* text: of the record, with its names; it is to live as long as the table. */
enum sg_status sg_summary_calls_add_function(struct sg_summary_calls *calls,
                                             const struct sg_record_function *record,
                                             const char *text);
enum sg_status sg_summary_calls_add_comm(struct sg_summary_calls *calls, int32_t world_size,
                                         const struct sg_record_profile_comm *record,
                                         const char *text);
/* When all are added: sorts the tables, and notes what the log's events use. library_comms: of the
 * library's collectives. */
enum sg_status sg_summary_calls_read(struct sg_summary_calls *calls, struct sg_logread *log,
                                     const struct sg_comm_entry *library_comms,
                                     uint32_t library_comm_count);
void sg_summary_calls_clear(struct sg_summary_calls *calls);
/* NULL when the log has no such record. */
const struct sg_function_entry *sg_summary_function(const struct sg_summary_calls *calls,
                                                    uint32_t index);
const struct sg_profile_comm_entry *sg_summary_profile_comm(const struct sg_summary_calls *calls,
                                                            uint32_t index);

#endif
