/* From the events of an archive to wait states (waitstates/tracker.h): which function and call site
 * a region is, which ranks a communicator has, and the number of a collective.
 *
 * Collectives that the library carried out come as instances; all other collectives are matched by
 * their numbers, or where the archive does not tell them by the order of a rank's calls on the
 * communicator.
 *
 * Functions that return a status: SG_ERR_MEMORY, not logged, or that of a watcher. Not thread-safe.
 */
#ifndef SG_REPORT_ARCHIVE_WAITS_H
#define SG_REPORT_ARCHIVE_WAITS_H

#include "core/status.h"
#include "report/aggregate.h"
#include "report/archive_definitions.h"
#include "report/wait_sums.h"
#include "report/window.h"

#include <otf2/otf2.h>

struct sg_archive_waits;
struct sg_waitstate_tracker;

/* The watch's filter is used, and it is told of calls and messages. What is given outlives it. */
enum sg_status sg_archive_waits_create(const struct sg_archive_defs *defs,
                                       const struct sg_aggregate *aggregate,
                                       const struct sg_watch *watch, struct sg_archive_waits **out);
/* For what is told to it by archive_windows.h. */
struct sg_waitstate_tracker *sg_archive_waits_tracker(const struct sg_archive_waits *waits);
void sg_archive_waits_destroy(struct sg_archive_waits *waits);

/* Location is an index in the definitions, whose rank is known. Times are since the run's start.
 * Messages, requests and collectives are told to nobody where waits is NULL. */

/* Whether the region is a call of MPI, whose Enter and Leave are wanted. */
bool sg_archive_waits_wants(const struct sg_archive_waits *waits, OTF2_RegionRef region);
enum sg_status sg_archive_waits_enter(struct sg_archive_waits *waits, uint32_t location,
                                      int64_t time_ns, OTF2_RegionRef region, uint32_t site);
/* is_instance: the call is, or will be, part of an instance. */
enum sg_status sg_archive_waits_leave(struct sg_archive_waits *waits, uint32_t location,
                                      int64_t time_ns, bool is_instance);

enum sg_archive_message_kind {
    SG_ARCHIVE_SEND,
    SG_ARCHIVE_ISEND,
    SG_ARCHIVE_RECEIVE,
    SG_ARCHIVE_RECEIVED, /* with a request, as isend */
};

struct sg_archive_message {
    enum sg_archive_message_kind kind;
    OTF2_CommRef comm;
    uint32_t peer; /* rank in the communicator */
    uint32_t tag;
    uint64_t bytes;
    uint64_t request; /* where it has one */
    uint32_t gap;     /* as in struct sg_waitstate_message */
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
    uint64_t number; /* on its communicator, as the archive tells */
};

/* A collective that the library did not carry out. request: NULL of a blocking one. */
enum sg_status sg_archive_waits_collective(struct sg_archive_waits *waits, uint32_t location,
                                           const struct sg_archive_collective *collective,
                                           const uint64_t *request);
/* One that it did. */
enum sg_status sg_archive_waits_instance(struct sg_archive_waits *waits,
                                         const struct sg_instance *instance);

/* Metrics of which some may be figures of an interval between two calls; of several classes, those
 * of one interval come together. */
enum sg_status sg_archive_waits_metrics(struct sg_archive_waits *waits, uint32_t location,
                                        int64_t time_ns, const struct sg_def_metric_class *class,
                                        uint8_t count, const uint64_t *values);

/* After the last event: sets the report's wait states, critical path and causes. */
enum sg_status sg_archive_waits_finish(struct sg_archive_waits *waits, struct sg_report *report);

#endif
