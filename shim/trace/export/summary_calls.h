/* The part of a log's summary that concerns the events of all calls: the functions,
 * communicators, windows and groups that these events use, with the number of messages and the
 * collectives on each. The profile of all calls numbers communicators separately from the
 * library's collectives (trace/record.h); library_comm links the two. */
#ifndef SG_TRACE_EXPORT_SUMMARY_CALLS_H
#define SG_TRACE_EXPORT_SUMMARY_CALLS_H

#include "core/status.h"
#include "trace/export/logread.h"
#include "trace/export/logread_all.h"
#include "trace/export/strings.h"
#include "trace/export/vocabulary.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- tables of a log's definitions ----------------------------------------------------------
 *
 * A table grows item by item and is then sorted by index. Each item begins with a uint32_t, its
 * index in the log. Logs may be damaged, so readers check lengths and ranks, and duplicates are
 * removed. */

/* Appends a zeroed item; NULL when out of memory. table: address of the pointer to the items. */
void *sg_summary_table_add(void *table, uint32_t *count, size_t item_bytes);

/* Compares items by index, for qsort and bsearch. */
int sg_summary_table_by_index(const void *a, const void *b);

/* Returns the item with the index in a sorted table; NULL: none. */
const void *sg_summary_table_find(const void *table, uint32_t count, size_t item_bytes,
                                  uint32_t index);

/* Sorts by index and removes repeated definitions of an index, which a damaged log may have.
 * clear_item frees the memory that a removed item owns. */
void sg_summary_table_sort(void *table, uint32_t *count, size_t item_bytes,
                           void (*clear_item)(void *item));

/* Reads count world ranks from a record's text, where they follow the name, padded to 4 bytes;
 * malloc'ed. NULL: the text is too short, a rank is outside the world, or out of memory. */
uint32_t *sg_summary_table_read_members(const char *text, uint32_t text_bytes, uint32_t count,
                                        int32_t world_size);

/* Packs world ranks, as many as size says. They remain NULL if the rank does not know them. */
void sg_pack_members(struct sg_pack *pack, uint32_t **members, uint32_t size);

/* A communicator as one rank's log describes it. */
struct sg_comm_entry {
    uint32_t index; /* the log's index */
    uint32_t root_world_rank;
    uint32_t root_counter;
    uint32_t size;
    uint32_t remote_size; /* of an intercommunicator's remote group; else 0 */
    uint32_t rank;
    uint32_t parent;       /* the log's index; UINT32_MAX: not known */
    uint32_t profile_comm; /* its index in the profile of all calls; 0: not known */
    const char *name;
    /* World ranks, followed by those of the remote group; NULL: this rank does not know them. */
    uint32_t *members;
    struct sg_intervals recorded;
};

/* ---- windows, and the groups of ranks that events name -------------------------------------- */

struct sg_window_entry {
    uint32_t index; /* in the log */
    uint32_t comm;  /* index of struct sg_profile_comm_entry; 0: not known */
    uint32_t ordinal;
    bool is_used; /* an event uses it */
    const char *name;
    uint64_t events; /* events on it, except collectives */
    struct sg_intervals recorded;
};

struct sg_group_entry {
    uint32_t index; /* in the log */
    bool is_used;
    uint32_t size;
    uint32_t *members; /* world ranks; NULL: not known */
};

struct sg_summary_windows {          /* initially zeroed */
    struct sg_window_entry *windows; /* by index */
    struct sg_group_entry *groups;   /* by index */
    uint32_t window_count, group_count;
};

/* text: the record's; it must live as long as the table. */
enum sg_status sg_summary_windows_add(struct sg_summary_windows *windows,
                                      const struct sg_record_window *record, const char *text);
enum sg_status sg_summary_windows_add_group(struct sg_summary_windows *windows, int32_t world_size,
                                            const struct sg_record_group *record, const char *text);
/* Return the window or group of an event; NULL: the log has no such record. */
const struct sg_window_entry *sg_summary_window(const struct sg_summary_windows *windows,
                                                const struct sg_record_event *event);
const struct sg_group_entry *sg_summary_group(const struct sg_summary_windows *windows,
                                              const struct sg_record_event *event);
const struct sg_group_entry *sg_summary_group_at(const struct sg_summary_windows *windows,
                                                 uint32_t index);
void sg_summary_windows_pack(struct sg_pack *pack, struct sg_summary_windows *windows);

/* A communicator in the numbering of the profile of all calls. */
struct sg_profile_comm_entry {
    struct sg_comm_entry comm; /* root_world_rank and root_counter are unused; parent 0: none */
    uint64_t identity;         /* 0: not known */
    uint32_t ordinal;
    bool used;             /* an event uses it */
    uint32_t library_comm; /* its index in struct sg_summary's comms; UINT32_MAX: none */
    uint64_t messages;     /* events with a message */
    /* Cartesian topology: the sizes of its dimensions, then their periodicity (0 or 1). */
    uint32_t *grid;
    uint32_t dimensions; /* 0: no topology */
    uint32_t sources;    /* 1 + the group that sends in neighborhood collectives; 0: none */
    uint64_t created_ns; /* set only if made from a log */
    /* While a log is read: the number after that of the last collective, and the library's calls
     * since then. */
    uint32_t next_number, library_calls;
};

/* An MPI function. */
struct sg_function_entry {
    uint32_t index; /* in the log */
    bool used;      /* an event uses it */
    const char *name;
    uint64_t left_out; /* events dropped for lack of capacity */
    /* Set only if made from a log: effect on a window, and what it is in the archive. */
    enum sg_rma rma;
    struct sg_mpi_region about;
};

struct sg_summary_calls {                /* initially zeroed */
    struct sg_profile_comm_entry *comms; /* by index */
    uint32_t comm_count;
    struct sg_function_entry *functions; /* by index */
    uint32_t function_count;
    struct sg_summary_windows windows;
    struct sg_gaps gaps; /* set only if made from a log */
    uint64_t events;     /* sound event records of calls */
    /* Messages, collectives and calls on windows whose communicator or window has no record; and
     * damaged records. */
    uint64_t dropped;
};

/* text: the record's, with its names; it must live as long as the table. */
enum sg_status sg_summary_calls_add_function(struct sg_summary_calls *calls,
                                             const struct sg_record_function *record,
                                             const char *text);
enum sg_status sg_summary_calls_add_comm(struct sg_summary_calls *calls, int32_t world_size,
                                         const struct sg_record_profile_comm *record,
                                         const char *text);
/* Call after all entries are added. Sorts the tables and marks the entries that the log's events
 * use. library_comms: those of the library's collectives, by index. */
enum sg_status sg_summary_calls_read(struct sg_summary_calls *calls, struct sg_logread *log,
                                     const struct sg_comm_entry *library_comms,
                                     uint32_t library_comm_count);
void sg_summary_calls_clear(struct sg_summary_calls *calls);
/* NULL: the log has no such record. */
const struct sg_function_entry *sg_summary_function(const struct sg_summary_calls *calls,
                                                    uint32_t index);
const struct sg_profile_comm_entry *sg_summary_profile_comm(const struct sg_summary_calls *calls,
                                                            uint32_t index);

/* In place of a number among the collectives of a communicator: the call that made it. */
#define SG_NUMBER_OF_MAKER (UINT64_MAX - 1)

/* Returns the communicator that an event made, if all its members, and no others, made the same
 * call; NULL: no other event uses it, or this one made none. about: of the event's function. */
const struct sg_profile_comm_entry *sg_summary_made(const struct sg_summary_calls *calls,
                                                    const struct sg_mpi_region *about,
                                                    const struct sg_record_event *event);

#endif
