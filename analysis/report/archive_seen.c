#include "report/archive_seen.h"

#include <stdlib.h>

/* The outermost call that a location is in. */
struct call {
    uint32_t depth; /* 0: in none */
    struct sg_seen_call seen;
};

struct sg_archive_seen {
    const struct sg_archive_defs *defs;
    const struct sg_aggregate *aggregate;
    const struct sg_watch *watch;
    struct call *calls; /* by location */
};

enum sg_status sg_archive_seen_create(const struct sg_archive_defs *defs,
                                      const struct sg_aggregate *aggregate,
                                      const struct sg_watch *watch, struct sg_archive_seen **out)
{
    struct sg_archive_seen *seen = calloc(1, sizeof *seen);

    if (seen == NULL)
        return SG_ERR_MEMORY;
    *seen = (struct sg_archive_seen){.defs = defs, .aggregate = aggregate, .watch = watch};
    seen->calls = calloc((size_t)defs->location_count + 1, sizeof *seen->calls);
    if (seen->calls == NULL) {
        free(seen);
        return SG_ERR_MEMORY;
    }
    *out = seen;
    return SG_OK;
}

void sg_archive_seen_destroy(struct sg_archive_seen *seen)
{
    if (seen == NULL)
        return;
    free(seen->calls);
    free(seen);
}

static struct sg_seen_thread thread_of(const struct sg_archive_seen *seen, uint32_t location)
{
    const struct sg_def_location *at = &seen->defs->locations[location];

    return (struct sg_seen_thread){(uint32_t)at->rank, at->thread};
}

/* ---- calls ----------------------------------------------------------------------------------- */

void sg_archive_seen_enter(struct sg_archive_seen *seen, uint32_t location, int64_t time_ns,
                           uint32_t function, const char *name, uint32_t site)
{
    struct call *call = &seen->calls[location];

    if (call->depth++ > 0)
        return;
    call->seen = (struct sg_seen_call){.at = thread_of(seen, location),
                                       .function = function,
                                       .name = name,
                                       .site = site,
                                       .begin_ns = time_ns,
                                       .comm = SG_SEEN_NO_COMM,
                                       .root = -1};
}

enum sg_status sg_archive_seen_leave(struct sg_archive_seen *seen, uint32_t location,
                                     int64_t time_ns, bool is_instance)
{
    struct call *call = &seen->calls[location];

    if (call->depth == 0 || --call->depth > 0 || is_instance || seen->watch->call == NULL)
        return SG_OK;
    call->seen.end_ns = time_ns;
    return seen->watch->call(seen->watch->context, seen->aggregate, &call->seen);
}

static enum sg_status tell_part(const struct sg_archive_seen *seen, const struct sg_seen_part *part)
{
    return seen->watch->part != NULL ? seen->watch->part(seen->watch->context, part) : SG_OK;
}

enum sg_status sg_archive_seen_message(struct sg_archive_seen *seen, uint32_t location,
                                       enum sg_seen_part_kind kind,
                                       const struct sg_waitstate_message *message, uint64_t bytes,
                                       uint64_t request)
{
    struct call *call = &seen->calls[location];
    bool is_send = kind == SG_SEEN_SEND || kind == SG_SEEN_ISEND;
    struct sg_seen_messages *messages = is_send ? &call->seen.sent : &call->seen.received;
    const struct sg_seen_part part = {.at = call->seen.at,
                                      .kind = kind,
                                      .comm = message->comm,
                                      .peer = message->peer,
                                      .tag = message->tag,
                                      .bytes = bytes,
                                      .request = request,
                                      .has_gap = message->gap > 0};

    if (call->depth == 0)
        return SG_OK;
    messages->count++;
    messages->bytes += bytes;
    messages->peer = message->peer;
    messages->tag = message->tag;
    messages->comm = message->comm;
    return tell_part(seen, &part);
}

enum sg_status sg_archive_seen_request(struct sg_archive_seen *seen, uint32_t location,
                                       enum sg_seen_part_kind kind, uint64_t request)
{
    const struct call *call = &seen->calls[location];
    const struct sg_seen_part part = {.at = call->seen.at, .kind = kind, .request = request};

    return call->depth > 0 ? tell_part(seen, &part) : SG_OK;
}

void sg_archive_seen_collective(struct sg_archive_seen *seen, uint32_t location, uint32_t comm,
                                int64_t root, uint64_t sent_bytes, uint64_t received_bytes)
{
    struct call *call = &seen->calls[location];

    if (call->depth == 0)
        return;
    call->seen.collectives++;
    call->seen.comm = comm;
    call->seen.root = root;
    call->seen.sent_bytes += sent_bytes;
    call->seen.received_bytes += received_bytes;
}

/* ---- messages -------------------------------------------------------------------------------- */

enum sg_status sg_archive_seen_matched(void *context, const struct sg_waitstate_matched *matched)
{
    const struct sg_archive_seen *seen = context;
    const struct sg_seen_message message = {.from = thread_of(seen, matched->from),
                                            .to = thread_of(seen, matched->to),
                                            .sent_ns = matched->sent_ns,
                                            .completing_ns = matched->completing_ns,
                                            .received_ns = matched->received_ns};

    if (seen->watch->message == NULL)
        return SG_OK;
    return seen->watch->message(seen->watch->context, &message);
}

enum sg_status sg_archive_seen_waited(void *context, const struct sg_waitstate *wait)
{
    const struct sg_archive_seen *seen = context;
    const struct sg_seen_wait told = {.at = thread_of(seen, wait->at.location),
                                      .begin_ns = wait->begin_ns,
                                      .wait_ns = wait->wait_ns};

    if (seen->watch->wait == NULL)
        return SG_OK;
    return seen->watch->wait(seen->watch->context, &told);
}
