/* The inside of reading events, for the two files that it is made of: OTF2's callbacks
 * (archive_events.c) and what a call is (archive_calls.c).
 */
#ifndef SG_REPORT_ARCHIVE_EVENTS_IMPL_H
#define SG_REPORT_ARCHIVE_EVENTS_IMPL_H

#include "report/archive_events.h"
#include "report/map.h"

/* A call between its Enter and its Leave. */
struct sg_open_call {
    bool open;
    bool ended; /* MpiCollectiveEnd has been seen, and is of one of our operations */
    bool has_seq, has_bytes;
    OTF2_RegionRef region;
    enum sg_operation operation;
    uint32_t comm; /* index in the definitions */
    uint32_t root;
    uint64_t seq;
    uint64_t sent_bytes, received_bytes;
    struct sg_call call;
};

struct sg_rank_times {
    bool seen, has_init, has_finalize;
    int64_t init_ns, finalize_ns, first_ns, last_ns;
};

struct sg_archive_events {
    const struct sg_archive_defs *defs;
    struct sg_aggregate *aggregate;
    struct sg_window *window;
    struct sg_open_call *calls;  /* by location index */
    struct sg_rank_times *ranks; /* by rank */
    uint64_t **orders;           /* by communicator, then member: calls so far; NULL: none yet */
    struct sg_map sites;         /* string reference -> site index */
    struct sg_map algorithms;    /* string reference -> algorithm index */
    uint32_t no_site, no_algorithm;
    uint64_t dropped_calls; /* that could not be assigned to any instance */
    bool started;
    int64_t start_ns; /* of the first event: the run's start */
    enum sg_status status;
};

/* Takes call site, algorithm, sequence number and bytes from the attributes of Enter, as far as
 * they are there. */
enum sg_status sg_open_call_read(struct sg_archive_events *events, OTF2_AttributeList *attributes,
                                 struct sg_open_call *open);

/* At Leave: hands the call to the instance window. */
enum sg_status sg_open_call_finish(struct sg_archive_events *events, struct sg_open_call *open);

#endif
