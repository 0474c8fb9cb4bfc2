/* Feeds the tracker of wait states (wait_tracker.h) from the events of an archive: maps regions to
 * functions, call sites to indices, members of communicators to ranks, and numbers collectives.
 *
 * Collectives that the library carried out come as instances. All others are matched by their
 * numbers or, if the archive has none, by the order of a rank's calls on the communicator.
 *
 * Functions that return a status: SG_ERR_MEMORY, not logged, or that of a watcher. Not thread-safe.
 */
#ifndef SG_REPORT_ARCHIVE_WAITS_H
#define SG_REPORT_ARCHIVE_WAITS_H

#include "core/status.h"
#include "report/aggregate.h"
#include "report/archive_definitions.h"
#include "report/report.h"
#include "report/wait_sums.h"
#include "report/window.h"

#include <otf2/otf2.h>

struct sg_archive_waits;
struct sg_waitstate_tracker;

/* Uses the watch's filter, and reports calls and messages to the watch. All arguments must outlive
 * it. */
enum sg_status sg_archive_waits_create(const struct sg_archive_defs *defs,
                                       const struct sg_aggregate *aggregate,
                                       const struct sg_watch *watch, struct sg_archive_waits **out);
/* Returns the tracker, which windows and neighborhood collectives feed directly. */
struct sg_waitstate_tracker *sg_archive_waits_tracker(const struct sg_archive_waits *waits);
void sg_archive_waits_destroy(struct sg_archive_waits *waits);

/* location is an index in the definitions, and must have a rank. Times are ns since the run's
 * start. If waits is NULL, messages, requests and collectives are ignored. */

/* True if the region is a call of MPI, whose Enter and Leave are wanted. */
bool sg_archive_waits_wants(const struct sg_archive_waits *waits, OTF2_RegionRef region);
/* polled_ns: as in struct sg_waitstate_enter. */
enum sg_status sg_archive_waits_enter(struct sg_archive_waits *waits, uint32_t location,
                                      int64_t time_ns, OTF2_RegionRef region, uint32_t site,
                                      uint64_t polled_ns);
/* is_instance: the call is, or will be, part of an instance. */
enum sg_status sg_archive_waits_leave(struct sg_archive_waits *waits, uint32_t location,
                                      int64_t time_ns, bool is_instance);

enum sg_archive_message_kind {
    SG_ARCHIVE_SEND,
    SG_ARCHIVE_ISEND,
    SG_ARCHIVE_RECEIVE,
    SG_ARCHIVE_RECEIVED, /* with a request, as SG_ARCHIVE_ISEND */
};

struct sg_archive_message {
    enum sg_archive_message_kind kind;
    OTF2_CommRef comm;
    uint32_t peer; /* rank in the communicator */
    uint32_t tag;
    uint64_t bytes;
    uint64_t request; /* if it has one */
    uint32_t gap;     /* as in struct sg_waitstate_message */
    bool is_complete; /* likewise */
};

enum sg_status sg_archive_waits_message(struct sg_archive_waits *waits, uint32_t location,
                                        int64_t time_ns, const struct sg_archive_message *message);

enum sg_archive_request {
    SG_ARCHIVE_POST,
    SG_ARCHIVE_SENT,
    SG_ARCHIVE_CANCELLED,
    SG_ARCHIVE_BEGIN_COLLECTIVE,
};

enum sg_status sg_archive_waits_request(struct sg_archive_waits *waits, uint32_t location,
                                        enum sg_archive_request what, uint64_t request);

struct sg_archive_collective {
    OTF2_CollectiveOp op;
    OTF2_CommRef comm;
    uint32_t root; /* rank in the communicator */
    uint64_t sent_bytes, received_bytes;
    bool has_number;
    uint64_t number; /* on its communicator, from the archive */
    /* As in struct sg_waitstate_collective. */
    const uint32_t *sources;
    uint32_t source_count;
};

/* Adds a collective that the library did not carry out. request: NULL if it is blocking. */
enum sg_status sg_archive_waits_collective(struct sg_archive_waits *waits, uint32_t location,
                                           const struct sg_archive_collective *collective,
                                           const uint64_t *request);
struct sg_waitstate_collective;

/* Finds a peer's rank in MPI_COMM_WORLD; -1: there is none. If every rank has a communicator of its
 * own, the peer is the location's rank. comm: index in the definitions. */
enum sg_status sg_archive_waits_rank(struct sg_archive_waits *waits, uint32_t location,
                                     int64_t comm, uint32_t member, int64_t *out);
/* Finds the ranks in MPI_COMM_WORLD of a communicator's members; NULL: each rank has one of its
 * own, or there are two groups. The array lives as long as waits. */
enum sg_status sg_archive_waits_ranks(struct sg_archive_waits *waits, int64_t comm,
                                      const uint32_t **out);
/* Sets communicator, size, member and root. comm: index in the definitions. False: MPI_COMM_SELF,
 * or a communicator without this rank. */
bool sg_archive_waits_place(const struct sg_archive_waits *waits, int64_t comm, uint32_t rank,
                            uint32_t root, struct sg_waitstate_collective *collective);
/* Adds a collective that the library carried out. */
enum sg_status sg_archive_waits_instance(struct sg_archive_waits *waits,
                                         const struct sg_instance *instance);

/* Passes on metrics, some of which may be figures of an interval between two calls. The metrics of
 * one interval come together, even if they are of several classes. */
enum sg_status sg_archive_waits_metrics(struct sg_archive_waits *waits, uint32_t location,
                                        int64_t time_ns, const struct sg_def_metric_class *class,
                                        uint8_t count, const uint64_t *values);

/* Call after the last event: sets the report's wait states, critical path and causes. */
enum sg_status sg_archive_waits_finish(struct sg_archive_waits *waits, struct sg_report *report);

/* Feeds the critical path (critical_path.h) and the cause finder (cause_finder.h) from an archive's
 * events: with what they need beyond what the tracker of wait states passes on.
 *
 * In all functions paths may be NULL: they do nothing. Functions that return a status:
 * SG_ERR_MEMORY only, not logged. Not thread-safe.
 */

struct sg_archive_paths;
struct sg_places;
struct sg_waitstate_tracker;

/* The archive's clock errors must be known. From now on the tracker passes calls and collectives
 * on; destroy the tracker first. */
enum sg_status sg_archive_paths_create(const struct sg_archive_defs *defs,
                                       struct sg_waitstate_tracker *tracker,
                                       struct sg_places *places, struct sg_archive_paths **out);
void sg_archive_paths_destroy(struct sg_archive_paths *paths);

/* As sg_archive_waits_metrics(). */
enum sg_status sg_archive_paths_metrics(struct sg_archive_paths *paths, uint32_t location,
                                        int64_t time_ns, const struct sg_def_metric_class *class,
                                        uint8_t count, const uint64_t *values);

/* Adds a collective that the library carried out. function: its number (sg_places_function()). */
enum sg_status sg_archive_paths_instance(struct sg_archive_paths *paths,
                                         const struct sg_instance *instance, uint32_t function);
/* Records that a member of the instance waited for the member `last`. */
void sg_archive_paths_wait(struct sg_archive_paths *paths, const struct sg_instance *instance,
                           uint32_t member, uint32_t last);

/* Call after the last event, when the report has its wait states, and its aggregate the ranks' run
 * times. Sets critical path, causes and efficiency. */
enum sg_status sg_archive_paths_finish(struct sg_archive_paths *paths, struct sg_report *report);

#endif
