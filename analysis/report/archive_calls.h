/* Builds calls, nonblocking calls and late contributions from the events of an archive, which
 * archive_events.c passes on. Messages and neighborhood collectives matter to wait states only.
 *
 * Not thread-safe.
 */
#ifndef SG_REPORT_ARCHIVE_CALLS_H
#define SG_REPORT_ARCHIVE_CALLS_H

#include "core/status.h"
#include "report/aggregate.h"
#include "report/archive_definitions.h"
#include "report/archive_reading.h"
#include "report/archive_waits.h"
#include "report/filter.h"
#include "report/wait_tracker.h"
#include "report/window.h"

#include <otf2/otf2.h>

struct sg_archive_neighbors;

struct sg_archive_windows;

/* A collective call between its Enter and its Leave; a nonblocking one until it is complete. */
struct sg_open_call {
    bool open;
    bool ended;  /* MpiCollectiveEnd of a recorded operation has been read */
    bool posted; /* NonBlockingCollectiveRequest has been read */
    bool has_site, has_seq, has_bytes;
    OTF2_RegionRef region;
    enum sg_operation operation;
    uint32_t comm; /* index in the definitions */
    uint32_t root;
    uint64_t seq;
    uint64_t sent_bytes, received_bytes;
    uint64_t request; /* if posted */
    struct sg_member_call call;
};

/* The nonblocking calls of a location that are not complete, unordered. */
struct sg_open_requests {
    struct sg_open_call *items;
    uint32_t count;
};

/* The outermost late contribution that a location is handling. */
struct sg_open_late {
    uint32_t depth; /* 0: none */
    bool known;     /* the archive says which row it belongs to */
    struct sg_late_cost cost;
};

struct sg_rank_times {
    bool seen, has_init, has_finalize;
    int64_t init_ns, init_end_ns, finalize_begin_ns, finalize_ns, first_ns, last_ns;
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
    uint64_t **orders;   /* by communicator, then member: number of calls so far; NULL: none yet */
    struct sg_map sites; /* string reference -> site index */
    struct sg_map algorithms; /* string reference -> algorithm index */
    struct sg_map arms;       /* two string references -> a candidate's number */
    uint32_t no_site, no_algorithm, mpich;
    uint64_t dropped_calls; /* calls that belong to no instance */
    bool started;
    int64_t start_ns; /* time of the first event: the run's start */
};

/* Returns the thread of a location's call. */
static inline uint32_t sg_archive_thread(const struct sg_archive_events *events,
                                         const struct sg_open_call *call)
{
    return events->defs->locations[call - events->calls].thread;
}

/* ---- for each event -------------------------------------------------------------------------- */

/* Returns the time in ns since the first event, and notes first and last event of the rank. rank
 * -1: none. */
int64_t sg_archive_note_time(struct sg_archive_events *events, int64_t rank, OTF2_TimeStamp ticks);
/* Returns the call of the event's location, open or not; NULL if it belongs to no rank. Sets the
 * event's time in ns since the first event, as sg_archive_note_time(). */
struct sg_open_call *sg_archive_call_of(struct sg_archive_events *events,
                                        const struct sg_archive_event *event, int64_t *time_ns);
/* Takes an event of a message or of its request. */
enum sg_status sg_archive_message_event(struct sg_archive_events *events,
                                        const struct sg_archive_event *event);

/* ---- calls ----------------------------------------------------------------------------------- */

/* Reads a collective's number on its communicator from the attributes. False: it is missing. */
static inline bool sg_archive_number(const struct sg_event_attributes *attributes, uint64_t *number)
{
    return sg_event_attribute(attributes, SG_ATTRIBUTE_NUMBER, number);
}

/* The attributes of a neighborhood collective. */
struct sg_archive_neighborhood {
    OTF2_CommRef comm;
    uint64_t number; /* of the collective on the communicator */
    bool has_sources;
    OTF2_GroupRef sources;
};

/* Call at Enter of any MPI call if wait states are wanted. */
enum sg_status sg_archive_enter_call(struct sg_archive_events *events,
                                     const struct sg_event_attributes *attributes,
                                     const struct sg_open_call *open, OTF2_RegionRef region,
                                     int64_t time_ns);
/* Call at Enter and Leave of a late contribution. in: the location's call, open or not. */
enum sg_status sg_open_late_enter(struct sg_archive_events *events,
                                  const struct sg_event_attributes *attributes,
                                  const struct sg_open_call *in, struct sg_open_late *open,
                                  int64_t time_ns);
enum sg_status sg_open_late_leave(struct sg_archive_events *events, struct sg_open_late *open,
                                  int64_t time_ns);
/* Reads call site, algorithm, candidate, sequence number and bytes from the attributes of Enter, as
 * far as they are present. */
enum sg_status sg_open_call_read(struct sg_archive_events *events,
                                 const struct sg_event_attributes *attributes,
                                 struct sg_open_call *open);

/* True if the archive has what a report of nonblocking calls needs: stagger's archives do. */
static inline bool sg_archive_has_nonblocking(const struct sg_archive_defs *defs)
{
    return defs->has_attribute[SG_ATTRIBUTE_EXPOSED] && defs->has_attribute[SG_ATTRIBUTE_HIDDEN];
}

/* Call at Leave of a call that starts a nonblocking collective. Keeps the call until it is
 * complete. */
enum sg_status sg_open_requests_add(struct sg_open_requests *requests,
                                    const struct sg_open_call *nonblocking);
/* Removes the nonblocking call with this request and returns it in *out. False: there is none. */
bool sg_open_requests_take(struct sg_open_requests *requests, uint64_t request,
                           struct sg_open_call *out);
/* Call at NonBlockingCollectiveComplete: reads exposed and hidden time from the attributes. False:
 * they are missing. */
bool sg_open_request_read(const struct sg_event_attributes *attributes,
                          struct sg_open_call *nonblocking);
/* Call at Leave, or at the completion of a nonblocking call: passes the call to the instance
 * window. */
enum sg_status sg_open_call_finish(struct sg_archive_events *events, struct sg_open_call *open);

/* Passes neighborhood collectives to wait states. OTF2 has no events for them: attributes of Enter
 * describe a blocking one, parameters mark begin and completion of a nonblocking one.
 *
 * Functions that return a status: SG_ERR_MEMORY, not logged, or that of a watcher. Not thread-safe.
 */

struct sg_archive_events;

struct sg_archive_neighbors;

struct sg_open_call;

/* Definitions and tracker must outlive it. */
enum sg_status sg_archive_neighbors_create(const struct sg_archive_defs *defs,
                                           struct sg_waitstate_tracker *tracker,
                                           struct sg_archive_neighbors **out);
void sg_archive_neighbors_destroy(struct sg_archive_neighbors *neighbors);
/* Sets the sources of a collective from its attributes. False: out of memory. */
bool sg_archive_sources(const struct sg_archive_events *events,
                        const struct sg_event_attributes *attributes,
                        struct sg_archive_collective *collective);
/* Call at Enter, after the tracker's. */
enum sg_status sg_archive_neighbors_enter(struct sg_archive_events *events,
                                          const struct sg_event_attributes *attributes,
                                          const struct sg_open_call *open);
/* Takes an event that begins or completes a nonblocking one. */
enum sg_status sg_archive_parameter_event(struct sg_archive_events *events,
                                          const struct sg_archive_event *event);

/* Feeds wait states from an archive's events of one-sided communication: finds the communicator of
 * each window, and numbers the collectives on it.
 *
 * Windows on MPI_COMM_SELF and on intercommunicators are left out. Functions that return a status:
 * SG_ERR_MEMORY only, not logged. Not thread-safe.
 */

struct sg_archive_windows;

/* Definitions and tracker must outlive it. */
enum sg_status sg_archive_windows_create(const struct sg_archive_defs *defs,
                                         struct sg_waitstate_tracker *tracker,
                                         struct sg_archive_windows **out);
void sg_archive_windows_destroy(struct sg_archive_windows *windows);

/* Takes an event of one-sided communication. */
enum sg_status sg_archive_window_event(struct sg_archive_events *events,
                                       const struct sg_archive_event *event);

/* Turns the events of an archive into calls: for each location builds the open call from Enter,
 * MpiCollectiveEnd, Metric and Leave, then passes it to the instance window.
 *
 * Not thread-safe. Definitions and aggregate must outlive it.
 */

struct sg_archive_events;

/* Adds the archive's communicators to the aggregate. waits: receives all calls of MPI, and must
 * outlive the events; NULL: not wanted. */
enum sg_status sg_archive_events_create(const struct sg_archive_defs *defs,
                                        struct sg_aggregate *aggregate,
                                        struct sg_archive_waits *waits,
                                        struct sg_archive_events **out);
void sg_archive_events_destroy(struct sg_archive_events *events);

/* Takes the next event in time order. Any error ends the reading. */
enum sg_status sg_archive_events_take(struct sg_archive_events *events,
                                      const struct sg_archive_event *event);

/* Call after the last event: drops incomplete calls, and passes the ranks' run times to the
 * aggregate. */
struct sg_window_counts sg_archive_events_finish(struct sg_archive_events *events);

#endif
