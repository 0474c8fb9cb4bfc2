/* Builds calls, nonblocking calls and late contributions from the events of an archive; OTF2's
 * callbacks (archive_events.h) call these functions.
 *
 * Not thread-safe.
 */
#ifndef SG_REPORT_ARCHIVE_CALLS_H
#define SG_REPORT_ARCHIVE_CALLS_H

#include "core/status.h"
#include "report/aggregate.h"
#include "report/archive_definitions.h"
#include "report/archive_waits.h"
#include "report/filter.h"
#include "report/wait_tracker.h"
#include "report/window.h"

#include <otf2/otf2.h>

struct sg_archive_neighbors;

struct sg_archive_windows;

/* A call between its Enter and its Leave; a nonblocking one until it is complete. */
struct sg_open_call {
    bool open;
    bool ended;  /* MpiCollectiveEnd has been seen, for one of the recorded operations */
    bool posted; /* NonBlockingCollectiveRequest has been seen */
    bool has_site, has_seq, has_bytes;
    OTF2_RegionRef region;
    enum sg_operation operation;
    uint32_t comm; /* index in the definitions */
    uint32_t root;
    uint64_t seq;
    uint64_t sent_bytes, received_bytes;
    uint64_t request; /* where posted */
    struct sg_member_call call;
};

/* The nonblocking calls of a location that are not complete, in no order. */
struct sg_open_requests {
    struct sg_open_call *items;
    uint32_t count;
};

/* The outermost late contribution that a location is in. */
struct sg_open_late {
    uint32_t depth; /* 0: in none */
    bool known;     /* which row it belongs to */
    struct sg_late_cost cost;
};

struct sg_rank_times {
    bool seen, has_init, has_finalize;
    int64_t init_ns, finalize_ns, first_ns, last_ns;
};

struct sg_archive_events {
    const struct sg_archive_defs *defs;
    struct sg_aggregate *aggregate;
    struct sg_archive_waits *waits;     /* NULL: not wanted */
    struct sg_archive_windows *windows; /* likewise */
    struct sg_archive_neighbors *neighbors;
    struct sg_instance_window *window;
    struct sg_open_call *calls;        /* by location index */
    struct sg_open_late *lates;        /* likewise */
    struct sg_open_requests *requests; /* likewise */
    struct sg_rank_times *ranks;       /* by rank */
    uint64_t **orders;        /* by communicator, then member: calls so far; NULL: none yet */
    struct sg_map sites;      /* string reference -> site index */
    struct sg_map algorithms; /* string reference -> algorithm index */
    struct sg_map arms;       /* two string references -> an arm's number */
    uint32_t no_site, no_algorithm;
    uint64_t dropped_calls; /* calls that belong to no instance */
    bool started;
    int64_t start_ns; /* of the first event: the run's start */
    enum sg_status status;
};

/* The thread of a location's call. */
static inline uint32_t sg_archive_thread(const struct sg_archive_events *events,
                                         const struct sg_open_call *call)
{
    return events->defs->locations[call - events->calls].thread;
}

/* ---- for callbacks --------------------------------------------------------------------------- */

/* What a callback returns; the first failure is the events' status. */
OTF2_CallbackCode sg_archive_verdict(struct sg_archive_events *events, enum sg_status status);
/* Time since the first event; notes first and last event of the rank. */
int64_t sg_archive_note_time(struct sg_archive_events *events, int64_t rank, OTF2_TimeStamp ticks);
/* The location's open call; NULL for a location that is not defined or belongs to no rank. */
struct sg_open_call *sg_archive_call_of(struct sg_archive_events *events, OTF2_LocationRef location,
                                        int64_t *rank);
/* In archive_messages.c: those of messages and their requests. */
void sg_archive_message_callbacks(OTF2_GlobalEvtReaderCallbacks *callbacks);

/* ---- calls ----------------------------------------------------------------------------------- */

/* That of a collective's number on its communicator. False: it is missing. */
bool sg_archive_number(const struct sg_archive_events *events, OTF2_AttributeList *attributes,
                       uint64_t *number);

/* The attributes of a neighborhood collective. False: they are missing. */
struct sg_archive_neighborhood {
    OTF2_CommRef comm;
    uint64_t number; /* on the communicator */
    bool has_sources;
    OTF2_GroupRef sources;
};

/* At Enter of any call of MPI, where wait states are wanted. */
enum sg_status sg_archive_enter_call(struct sg_archive_events *events,
                                     OTF2_AttributeList *attributes,
                                     const struct sg_open_call *open, OTF2_RegionRef region,
                                     int64_t time_ns);
/* At Enter and Leave of a late contribution. in: the location's call, open or not. */
enum sg_status sg_open_late_enter(struct sg_archive_events *events, OTF2_AttributeList *attributes,
                                  const struct sg_open_call *in, struct sg_open_late *open,
                                  int64_t time_ns);
enum sg_status sg_open_late_leave(struct sg_archive_events *events, struct sg_open_late *open,
                                  int64_t time_ns);
/* Reads call site, algorithm, sequence number and bytes from the attributes of Enter, as far as
 * they are present. */
enum sg_status sg_open_call_read(struct sg_archive_events *events, OTF2_AttributeList *attributes,
                                 struct sg_open_call *open);

/* Whether the archive has what a report of nonblocking calls needs: those of stagger do. */
static inline bool sg_archive_has_nonblocking(const struct sg_archive_defs *defs)
{
    return defs->has_attribute[SG_ATTRIBUTE_EXPOSED] && defs->has_attribute[SG_ATTRIBUTE_HIDDEN];
}

/* At Leave of a call that starts a nonblocking collective: keeps it. */
enum sg_status sg_open_requests_add(struct sg_open_requests *requests,
                                    const struct sg_open_call *nonblocking);
/* Removes the nonblocking call with this request. False: there is none. */
bool sg_open_requests_take(struct sg_open_requests *requests, uint64_t request,
                           struct sg_open_call *out);
/* At NonBlockingCollectiveComplete: reads exposed and hidden time from the attributes. False: they
 * are missing. */
bool sg_open_request_read(const struct sg_archive_defs *defs, OTF2_AttributeList *attributes,
                          struct sg_open_call *nonblocking);
/* At Leave, or at the completion of a nonblocking call: passes the call to the instance window. */
enum sg_status sg_open_call_finish(struct sg_archive_events *events, struct sg_open_call *open);

/* Neighborhood collectives in an archive, for which OTF2 has no events: to wait states. A blocking
 * one is told by attributes of its Enter, of others parameters tell the begin and the completion.
 *
 * Functions that return a status: SG_ERR_MEMORY, not logged, or that of a watcher. Not thread-safe.
 */

struct sg_archive_events;

struct sg_archive_neighbors;

struct sg_open_call;

/* Definitions and tracker outlive it. */
enum sg_status sg_archive_neighbors_create(const struct sg_archive_defs *defs,
                                           struct sg_waitstate_tracker *tracker,
                                           struct sg_archive_neighbors **out);
void sg_archive_neighbors_destroy(struct sg_archive_neighbors *neighbors);
/* At Enter of a call, in which the tracker already is. */
enum sg_status sg_archive_neighbors_enter(struct sg_archive_events *events,
                                          OTF2_AttributeList *attributes,
                                          const struct sg_open_call *open);
/* Theirs take struct sg_archive_events, whose neighbors may be NULL. */
void sg_archive_neighbor_callbacks(OTF2_GlobalEvtReaderCallbacks *callbacks);

#endif
