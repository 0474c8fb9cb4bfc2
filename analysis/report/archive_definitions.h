/* Reads the definitions of an OTF2 archive, as far as a report needs them: which location belongs
 * to which rank, which regions are collectives, who is a member of which communicator, and the
 * archive's references for stagger's attributes and metrics. Also checks an archive's files before
 * OTF2 opens them, and reads its markers.
 *
 * There are two steps, because definitions may come in any order: these functions read them, then
 * archive_resolve.h resolves their references. Neither trusts a reference.
 */
#ifndef SG_REPORT_ARCHIVE_DEFINITIONS_H
#define SG_REPORT_ARCHIVE_DEFINITIONS_H

#include "core/status.h"
#include "core/text.h"
#include "report/aggregate.h"
#include "report/counts.h"
#include "report/filter.h"
#include "report/learned.h"
#include "report/wait_skews.h"
#include "report/wait_sums.h"
#include "report/watched.h"
#include "trace/export/vocabulary.h"

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdint.h>

enum sg_region_kind {
    SG_REGION_OTHER = 0,
    SG_REGION_COLLECTIVE, /* MpiCollectiveEnd says if the operation is a recorded one, and which */
    SG_REGION_INIT,
    SG_REGION_FINALIZE,
    SG_REGION_LATE,
};

struct sg_def_location {
    OTF2_LocationRef ref;
    OTF2_LocationGroupRef group;
    uint64_t event_count;
    OTF2_StringRef name;
    uint32_t node;           /* its machine in the system tree; UINT32_MAX: not known */
    int64_t rank;            /* in MPI_COMM_WORLD; -1: no MPI process */
    uint32_t thread;         /* number among the rank's locations */
    uint64_t clock_error_ns; /* bound on its clock's error, if the archive states it */
};

struct sg_def_member {
    uint32_t rank;   /* in MPI_COMM_WORLD */
    uint32_t member; /* rank in the communicator */
};

struct sg_def_comm {
    OTF2_CommRef ref;
    OTF2_StringRef name_ref;
    OTF2_GroupRef group_ref;
    OTF2_CommRef parent_ref;
    const char *name;
    const char *parent;            /* name of the parent communicator; NULL: not known */
    bool is_self;                  /* one for every rank: MPI_COMM_SELF */
    uint32_t size;                 /* 0: not a communicator of MPI ranks; its calls are dropped */
    struct sg_def_member *members; /* by rank in MPI_COMM_WORLD */
    int64_t first_rank;            /* world rank of its rank 0; -1: MPI_COMM_SELF */
    /* Intercommunicators only; their size is 0. */
    bool is_inter;
    OTF2_GroupRef second_ref;
    struct sg_def_side {
        uint32_t *ranks; /* in MPI_COMM_WORLD, by rank in the group; NULL: not known */
        uint32_t size;
    } sides[2];
    uint8_t *side_of;   /* by rank in MPI_COMM_WORLD: 1 + its side; 0: no member */
    uint32_t *place_of; /* likewise: its rank in its side's group */
};

/* A window of one-sided communication. */
struct sg_def_window {
    OTF2_CommRef comm;
};

/* A value of figures[]: the length of an interval between calls. */
#define SG_DEF_INTERVAL SG_FIGURE_COUNT
#define SG_DEF_NO_FIGURE UINT8_MAX

struct sg_def_metric_class {
    OTF2_MetricRef ref;
    uint8_t counts[UINT8_MAX];  /* by position: enum sg_count, or SG_COUNT_COUNT */
    uint8_t figures[UINT8_MAX]; /* by position: enum sg_figure, or one of the two above */
};

struct sg_archive_defs {
    uint64_t ticks_per_second;
    uint64_t start_ticks;
    struct sg_def_location *locations;
    struct sg_def_comm *comms;
    struct sg_def_window *windows;
    struct sg_def_metric_class *classes;
    uint32_t location_count, comm_count, window_count, class_count, rank_count;
    uint64_t event_count; /* sum over the locations */
    bool has_attribute[SG_ATTRIBUTE_COUNT];
    OTF2_AttributeRef attributes[SG_ATTRIBUTE_COUNT];
    struct sg_map location_index, comm_index, window_index, class_index; /* by reference */
    struct sg_map region_kind, region_operation;
    struct sg_map parameter_index; /* enum sg_parameter_ref by reference */
    struct sg_defs_raw *raw;       /* before resolving; owns the strings */
};

/* Reads all global definitions of an open reader. SG_ERR_MEMORY, or SG_ERR_FORMAT if OTF2 reports
 * an error or some are missing. Neither is logged; clear the definitions in any case. */
enum sg_status sg_archive_defs_read(OTF2_Reader *reader, struct sg_archive_defs *out);
void sg_archive_defs_clear(struct sg_archive_defs *defs);
/* Returns the rank in the communicator of a rank in MPI_COMM_WORLD; -1: it is no member. */
int64_t sg_def_comm_member(const struct sg_def_comm *comm, uint32_t rank);
/* Returns a string of the definitions; NULL: there is none. */
const char *sg_archive_string(const struct sg_archive_defs *defs, OTF2_StringRef ref);

/* ---- files ----------------------------------------------------------------------------------- */

/* Checks that all files that OTF2's reader opens are regular, and reached without symbolic links
 * below the anchor's directory. The reader opens them by their paths: it would block on a FIFO, and
 * follow links that another user left there to any file. SG_ERR_FORMAT (logged): one is not. A user
 * who may write there can still exchange a file between this check and OTF2's open. */
enum sg_status sg_archive_files_check(const char *anchor);

/* ---- markers --------------------------------------------------------------------------------- */

/* Reads what `auto` has learned from the markers; most archives have none. Leaves out what it
 * cannot read. SG_ERR_MEMORY, not logged, or SG_OK. */
enum sg_status sg_archive_markers_read(OTF2_Reader *reader, struct sg_learned *learned);

/* Definitions as the archive contains them, in any order, before references are resolved. */

struct sg_raw_group {
    OTF2_GroupRef ref;
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    uint32_t size;
    uint64_t *members;
};

struct sg_raw_region {
    OTF2_RegionRef ref;
    OTF2_StringRef name;
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
};

struct sg_raw_metric_class {
    OTF2_MetricRef ref;
    uint8_t size;
    OTF2_MetricMemberRef members[UINT8_MAX];
};

/* An attribute, a parameter or a member of metrics. */
struct sg_raw_name {
    uint32_t ref;
    OTF2_StringRef name;
};

struct sg_defs_raw {
    char **strings;
    struct sg_raw_group *groups;
    struct sg_raw_region *regions;
    struct sg_raw_name *metrics;
    struct sg_raw_metric_class *classes;
    struct sg_raw_name *attributes;
    struct sg_raw_name *parameters;
    uint32_t string_count, group_count, region_count, metric_count, class_count, attribute_count;
    uint32_t parameter_count;
    struct sg_map string_index, group_index, rank_of_group, node_of_group;
    struct sg_map parent_of_node, is_machine; /* by node of the system tree */
    enum sg_status status;                    /* first error in a callback */
};

/* Resolves the references in an archive's definitions: ranks and threads of locations, kinds of
 * regions, members of communicators, and the references of stagger's attributes and metrics. Also
 * turns events into the calls and messages that watchers see (struct sg_archive_seen). */

/* Call after all definitions have been read. path is for messages. SG_ERR_MISSING (logged): no
 * ranks or no clock; SG_ERR_MEMORY. */
enum sg_status sg_archive_defs_resolve(struct sg_archive_defs *defs, const char *path);
/* Adds all call sites that the archive defines to the aggregate, also those without events.
 * SG_ERR_MEMORY only (not logged). */
enum sg_status sg_archive_defs_name_sites(const struct sg_archive_defs *defs,
                                          struct sg_aggregate *aggregate);

/* Reports calls of MPI and messages to a watcher (struct sg_seen_call, struct sg_seen_message).
 * Reports a call when it has returned.
 *
 * location is an index in the definitions, and must have a rank; comm is an index in them, too.
 * Keeps only the call that each location is in. Statuses are those of watchers. Not thread-safe.
 */

struct sg_archive_seen;

/* Definitions, aggregate and watch must outlive it. SG_ERR_MEMORY only (not logged). */
enum sg_status sg_archive_seen_create(const struct sg_archive_defs *defs,
                                      const struct sg_aggregate *aggregate,
                                      const struct sg_watch *watch, struct sg_archive_seen **out);
void sg_archive_seen_destroy(struct sg_archive_seen *seen);
/* function: its number; name must live as long as the definitions. A call within a call is part of
 * the outer one. */
void sg_archive_seen_enter(struct sg_archive_seen *seen, uint32_t location, int64_t time_ns,
                           uint32_t function, const char *name, uint32_t site);
/* is_instance: the call is reported as part of an instance instead. */
enum sg_status sg_archive_seen_leave(struct sg_archive_seen *seen, uint32_t location,
                                     int64_t time_ns, bool is_instance);
/* Adds a message to the location's call; outside of calls it is left out. */
enum sg_status sg_archive_seen_message(struct sg_archive_seen *seen, uint32_t location,
                                       enum sg_seen_part_kind kind,
                                       const struct sg_waitstate_message *message, uint64_t bytes,
                                       uint64_t request);
/* kind: SG_SEEN_POST, SG_SEEN_SENT or SG_SEEN_CANCELLED. */
enum sg_status sg_archive_seen_request(struct sg_archive_seen *seen, uint32_t location,
                                       enum sg_seen_part_kind kind, uint64_t request);
/* root: rank in MPI_COMM_WORLD; -1: none, or not known. */
void sg_archive_seen_collective(struct sg_archive_seen *seen, uint32_t location, uint32_t comm,
                                int64_t root, uint64_t sent_bytes, uint64_t received_bytes);
/* Listeners for sg_waitstate_tracker_listen(); context: a struct sg_archive_seen. */
enum sg_status sg_archive_seen_matched(void *context, const struct sg_waitstate_matched *matched);
enum sg_status sg_archive_seen_waited(void *context, const struct sg_waitstate *wait);

#endif
