#include "advise/recorded.h"

#include "core/room.h"
#include "report/aggregate.h"

#include <stdlib.h>
#include <string.h>

/* Bounds memory: about 100 bytes a step, and twice that for the programs. There may be twice as
 * many calls, because some only wait. */
#define STEPS_MAX 8000000u

static const char too_long[] = "it has over 8 million messages and collectives";

/* ---- steps and calls */

static enum sg_status find_rank(struct sg_recording *recording, struct sg_seen_thread at,
                                struct sg_recording_rank **out)
{
    struct sg_recording_rank *rank;

    while (recording->rank_count <= at.rank) {
        if (!SG_APPEND(recording->ranks, recording->rank_count,
                       (struct sg_recording_rank){.thread = -1}))
            return SG_ERR_MEMORY;
    }
    rank = &recording->ranks[at.rank];
    if (rank->thread >= 0 && rank->thread != at.thread)
        recording->obstacle = "several threads of a rank call MPI";
    rank->thread = at.thread;
    *out = rank;
    return SG_OK;
}

static enum sg_status add_step(struct sg_recording *recording, struct sg_recording_rank *rank,
                               const struct sg_recorded_step *step)
{
    if (recording->steps >= STEPS_MAX)
        recording->obstacle = too_long;
    if (recording->obstacle != NULL)
        return SG_OK;
    recording->steps++;
    return SG_APPEND(rank->steps, rank->step_count, *step) ? SG_OK : SG_ERR_MEMORY;
}

static enum sg_status add_call(struct sg_recording *recording, struct sg_recording_rank *rank,
                               const struct sg_program_call *call)
{
    if (recording->calls++ >= 2 * STEPS_MAX)
        recording->obstacle = too_long;
    if (recording->obstacle != NULL)
        return SG_OK;
    return SG_APPEND(rank->calls, rank->call_count, *call) ? SG_OK : SG_ERR_MEMORY;
}

/* ---- messages */

static struct sg_recorded_step message_step(const struct sg_seen_part *part, enum sg_step_kind kind)
{
    return (struct sg_recorded_step){.step = {.kind = (uint8_t)kind,
                                              .bytes = part->bytes,
                                              .peer = (int32_t)part->peer,
                                              .comm = part->comm,
                                              .tag = part->tag}};
}

static enum sg_status post(struct sg_recording *recording, struct sg_recording_rank *rank,
                           const struct sg_seen_part *part, enum sg_step_kind kind)
{
    struct sg_recorded_step step = message_step(part, kind);
    enum sg_status status = sg_map_put(&rank->requests, part->request, rank->step_count);

    step.incomplete = kind == SG_STEP_IRECV;
    return status == SG_OK ? add_step(recording, rank, &step) : status;
}

/* Records a wait for the completed request's post. */
static enum sg_status complete(struct sg_recording *recording, struct sg_recording_rank *rank,
                               const struct sg_seen_part *part)
{
    struct sg_recorded_step wait = {.step = {.kind = SG_STEP_WAIT}};
    int64_t place = sg_map_get(&rank->requests, part->request);

    if (place < 0 || place >= rank->step_count)
        return SG_OK;
    if (part->kind == SG_SEEN_RECEIVED) {
        rank->steps[place].step = message_step(part, SG_STEP_IRECV).step;
        rank->steps[place].incomplete = false;
    }
    wait.step.request = (uint32_t)place;
    return add_step(recording, rank, &wait);
}

static enum sg_status on_part(void *context, const struct sg_seen_part *part)
{
    struct sg_recording *recording = context;
    struct sg_recording_rank *rank;
    struct sg_recorded_step step;
    enum sg_status status = find_rank(recording, part->at, &rank);

    if (status != SG_OK)
        return status;
    if (part->has_gap)
        recording->obstacle = "some of its messages were not recorded";
    recording->has_messages = true;
    switch (part->kind) {
    case SG_SEEN_SEND:
    case SG_SEEN_RECEIVE:
        step = message_step(part, part->kind == SG_SEEN_SEND ? SG_STEP_SEND : SG_STEP_RECV);
        step.blocking = true;
        return add_step(recording, rank, &step);
    case SG_SEEN_ISEND:
        return post(recording, rank, part, SG_STEP_ISEND);
    case SG_SEEN_POST:
        return post(recording, rank, part, SG_STEP_IRECV);
    case SG_SEEN_CANCELLED:
        recording->obstacle = "it cancels messages";
        return SG_OK;
    default:
        return complete(recording, rank, part);
    }
}

/* Splits a call that sends and receives at once: the send is posted, and awaited at the end. */
static enum sg_status split_sends(struct sg_recording *recording, struct sg_recording_rank *rank,
                                  uint32_t first)
{
    uint32_t count = rank->step_count;
    enum sg_status status = SG_OK;

    for (uint32_t i = first; i < count && count > first + 1 && status == SG_OK; i++) {
        struct sg_recorded_step wait = {.step = {.kind = SG_STEP_WAIT, .request = i},
                                        .blocking = true};

        if (rank->steps[i].step.kind != SG_STEP_SEND)
            continue;
        rank->steps[i].step.kind = SG_STEP_ISEND;
        status = add_step(recording, rank, &wait);
    }
    return status;
}

/* ---- collectives */

static enum sg_status add_member(struct sg_recording *recording, uint32_t rank, uint32_t comm)
{
    struct sg_recording_comm *of;

    if (!SG_EXTEND(recording->comms, recording->comm_count, comm))
        return SG_ERR_MEMORY;
    of = &recording->comms[comm];
    if (!SG_EXTEND(of->is_member, of->size, rank))
        return SG_ERR_MEMORY;
    of->is_member[rank] = 1;
    return SG_OK;
}

static bool has(const char *name, const char *part)
{
    return strstr(name, part) != NULL;
}

/* Returns the simulated operation whose waiting resembles the collective's. */
static enum sg_operation operation_of(const struct sg_seen_call *call)
{
    if (has(call->name, "arrier"))
        return SG_OPERATION_BARRIER;
    if (call->root < 0)
        return SG_OPERATION_ALLREDUCE;
    return has(call->name, "cast") || has(call->name, "catter") ? SG_OPERATION_BCAST
                                                                : SG_OPERATION_REDUCE;
}

static uint64_t bytes_of(const struct sg_seen_call *call)
{
    uint64_t sent = call->sent_bytes, received = call->received_bytes;

    if (call->root >= 0 && sent > 0 && received > 0)
        return sent < received ? sent : received;
    return sent > received ? sent : received;
}

static enum sg_status on_collective(struct sg_recording *recording,
                                    const struct sg_aggregate *aggregate,
                                    const struct sg_seen_call *call)
{
    struct sg_report_site comm = {0};
    enum sg_status status;
    struct sg_recorded_step step = {.step = {.kind = SG_STEP_COLLECTIVE,
                                             .operation = (uint8_t)operation_of(call),
                                             .bytes = bytes_of(call),
                                             .comm = call->comm},
                                    .root = call->root >= 0 ? (uint32_t)call->root : 0};

    if (call->comm == SG_SEEN_NO_COMM)
        return SG_OK;
    sg_aggregate_name_comm(aggregate, call->comm, &comm);
    if (comm.comm_size == 1)
        return SG_OK;
    status = add_member(recording, call->at.rank, call->comm);
    return status == SG_OK ? add_step(recording, &recording->ranks[call->at.rank], &step) : status;
}

/* A nonblocking collective ends where it was completed, and is called there in the program. */
static enum sg_status on_member(struct sg_recording *recording, const struct sg_instance *instance,
                                const struct sg_member_call *member)
{
    struct sg_program_call call = {.begin_ns =
                                       member->nonblocking ? member->end_ns : member->begin_ns,
                                   .end_ns = member->end_ns};
    struct sg_recorded_step step = {.step = {.kind = SG_STEP_COLLECTIVE,
                                             .operation = (uint8_t)instance->operation,
                                             .bytes = member->bytes,
                                             .comm = instance->comm}};
    struct sg_recording_rank *rank;
    enum sg_status status =
        find_rank(recording, (struct sg_seen_thread){member->rank, member->thread}, &rank);

    if (sg_operation_has_root(instance->operation))
        step.root = instance->calls[instance->root].rank;
    if (status == SG_OK && instance->size > 1) {
        status = add_member(recording, member->rank, instance->comm);
        if (status == SG_OK && !SG_APPEND(rank->collectives, rank->collective_count, step))
            status = SG_ERR_MEMORY;
        call.collective = rank->collective_count;
        recording->steps++;
    }
    return status == SG_OK ? add_call(recording, rank, &call) : status;
}

static enum sg_status on_instance(void *context, const struct sg_aggregate *aggregate,
                                  const struct sg_seen_instance *seen)
{
    struct sg_recording *recording = context;
    enum sg_status status = SG_OK;

    if (recording->steps >= STEPS_MAX)
        recording->obstacle = too_long;
    for (uint32_t i = 0; i < seen->instance->size && status == SG_OK && recording->obstacle == NULL;
         i++)
        status = on_member(recording, seen->instance, &seen->instance->calls[i]);
    return status;
}

/* A program gives no time of their own to calls that only wait. */
static bool only_waits(const char *name)
{
    return has(name, "MPI_Wait") || has(name, "MPI_Test") || has(name, "robe");
}

static enum sg_status on_call(void *context, const struct sg_aggregate *aggregate,
                              const struct sg_seen_call *call)
{
    struct sg_recording *recording = context;
    struct sg_program_call added = {call->begin_ns, call->end_ns, 0, 0, 0};
    struct sg_recording_rank *rank;
    enum sg_status status = find_rank(recording, call->at, &rank);

    if (status != SG_OK)
        return status;
    added.first = rank->open;
    status = split_sends(recording, rank, added.first);
    if (status == SG_OK && call->collectives > 0)
        status = on_collective(recording, aggregate, call);
    rank->open = rank->step_count;
    added.count = rank->step_count - added.first;
    if (status != SG_OK || (added.count == 0 && !only_waits(call->name)))
        return status;
    return add_call(recording, rank, &added);
}

/* ---- a run */

static enum sg_status on_location(void *context, const struct sg_seen_location *location)
{
    struct sg_recording *recording = context;
    struct sg_recording_rank *rank;
    uint32_t count = recording->rank_count;
    enum sg_status status;

    if (location->rank < count)
        return SG_OK;
    status = find_rank(recording, (struct sg_seen_thread){location->rank, 0}, &rank);
    if (status != SG_OK)
        return status;
    for (; count < recording->rank_count; count++) {
        uint32_t room = count;

        recording->ranks[count].thread = -1;
        if (!SG_EXTEND(recording->node, room, count))
            return SG_ERR_MEMORY;
    }
    recording->node[location->rank] = location->node;
    return SG_OK;
}

static int compare_calls(const void *left, const void *right)
{
    const struct sg_program_call *a = left, *b = right;

    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

/* Sets the obstacle if a message or a root names a rank that recorded nothing. */
static void check_ranks(struct sg_recording *recording)
{
    uint32_t count = recording->rank_count;

    for (uint32_t i = 0; i < count; i++) {
        const struct sg_recording_rank *rank = &recording->ranks[i];

        for (uint32_t j = 0; j < rank->step_count; j++) {
            if ((uint32_t)rank->steps[j].step.peer >= count || rank->steps[j].root >= count)
                recording->obstacle = "it addresses ranks that recorded nothing";
        }
    }
}

static void sort_calls(struct sg_recording *recording)
{
    int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;

    for (uint32_t i = 0; i < recording->rank_count; i++) {
        struct sg_recording_rank *rank = &recording->ranks[i];

        if (rank->call_count == 0)
            continue;
        qsort(rank->calls, rank->call_count, sizeof *rank->calls, compare_calls);
        if (rank->calls[0].begin_ns < begin_ns)
            begin_ns = rank->calls[0].begin_ns;
        for (uint32_t j = 0; j < rank->call_count; j++) {
            if (rank->calls[j].end_ns > end_ns)
                end_ns = rank->calls[j].end_ns;
        }
    }
    check_ranks(recording);
    recording->begin_ns = begin_ns;
    recording->measured_ns = end_ns > begin_ns ? (uint64_t)(end_ns - begin_ns) : 0;
    if (recording->steps == 0 && recording->obstacle == NULL)
        recording->obstacle = "its events contain no messages or collectives";
}

enum sg_status sg_recording_read(const char *path, bool progress, struct sg_report *report,
                                 struct sg_recording *out)
{
    struct sg_watch watch = {.waitstates = true,
                             .context = out,
                             .location = on_location,
                             .instance = on_instance,
                             .call = on_call,
                             .part = on_part};
    enum sg_status status;

    *report = (struct sg_report){0};
    *out = (struct sg_recording){0};
    status = sg_report_read(path, progress, &watch, report);
    if (status != SG_OK)
        return status;
    if (report->dropped_calls > 0)
        out->obstacle = "calls are missing from its events";
    sort_calls(out);
    return SG_OK;
}

void sg_recording_clear(struct sg_recording *recording)
{
    for (uint32_t i = 0; i < recording->rank_count; i++) {
        free(recording->ranks[i].steps);
        free(recording->ranks[i].collectives);
        free(recording->ranks[i].calls);
        sg_map_clear(&recording->ranks[i].requests);
    }
    for (uint32_t i = 0; i < recording->comm_count; i++)
        free(recording->comms[i].is_member);
    free(recording->ranks);
    free(recording->comms);
    free(recording->node);
    *recording = (struct sg_recording){0};
}
