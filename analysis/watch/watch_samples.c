/* Samples of the calls that ranks are in, taken between two looks at a job: a call that waits for a
 * message of one rank, or for one rank to receive, has a late rank if that one is outside MPI.
 *
 * This is apart from the looks, because a look reads all that is new, and a sample only the records
 * of the threads' present calls. Samples are taken at random times, so that a program's rhythm does
 * not meet theirs, and so rarely that they take little of a processor. Each stands for the
 * time since the one before. The logs are not trusted: sums are bounded. */
#include "watch/job.h"

#include "core/clock.h"
#include "core/hash.h"
#include "core/room.h"
#include "core/text.h"
#include "report/open_calls.h"

#include <stdlib.h>
#include <string.h>

#define PAUSE_NS UINT64_C(250000000) /* on average */
#define SHARE 2000                   /* samples take at most 1 / SHARE of a processor */
/* A rank that left MPI after the call began may have sent its message, which then arrives. */
#define ARRIVES_NS UINT64_C(1000000)
#define SUMS_MOST 4096u /* of a log */
#define WORLD 1u        /* number of MPI_COMM_WORLD in each log's profile */

/* A rank at the time of a sample. */
struct presence {
    bool is_known, is_in_call;
    uint64_t out_ns; /* since a thread of it has left a call */
};

/* An open call. */
struct seen {
    uint32_t log;
    struct sg_record_thread call;
    uint64_t open_ns;
};

struct sg_live_samples {
    uint64_t taken_ns, due_ns; /* times of the last sample, 0: none, and of the next */
    uint64_t number;
    uint32_t ranks;
    uint64_t *learned_slots; /* by rank, of its log */
    struct sg_open_comm *comms;
    uint32_t comm_count;
    struct sg_map comm_by_key, comm_by_index; /* ... of a log */
};

enum sg_status sg_live_samples_create(uint32_t ranks, struct sg_live_samples **out)
{
    struct sg_live_samples *samples = calloc(1, sizeof *samples);

    if (samples == NULL)
        return SG_ERR_MEMORY;
    samples->ranks = ranks;
    samples->learned_slots = calloc((size_t)ranks + 1, sizeof *samples->learned_slots);
    if (samples->learned_slots == NULL) {
        free(samples);
        return SG_ERR_MEMORY;
    }
    *out = samples;
    return SG_OK;
}

void sg_live_samples_destroy(struct sg_live_samples *samples)
{
    if (samples == NULL)
        return;
    for (uint32_t i = 0; i < samples->comm_count; i++)
        free(samples->comms[i].members);
    free(samples->comms);
    free(samples->learned_slots);
    sg_map_clear(&samples->comm_by_key);
    sg_map_clear(&samples->comm_by_index);
    free(samples);
}

/* ---- communicators --------------------------------------------------------------------------- */

static uint64_t index_key(uint32_t rank, uint32_t index)
{
    return (uint64_t)rank << 32 | index;
}

static enum sg_status learn_comm(struct sg_live_samples *samples, const struct sg_live_log *log,
                                 const struct sg_record_profile_comm *record)
{
    uint64_t key = sg_open_comm_key(record);
    struct sg_open_comm comm = {
        .key = key, .is_inter = record->is_inter != 0, .is_world = record->index == WORLD};
    enum sg_status status;
    int64_t found;

    if (key == 0)
        return SG_OK;
    found = SG_MAP_INDEX(&samples->comm_by_key, key, samples->comms, samples->comm_count, comm);
    if (found < 0)
        return SG_ERR_MEMORY;
    status = sg_map_put(&samples->comm_by_index, index_key((uint32_t)log->rank, record->index),
                        (uint32_t)found);
    return status == SG_OK
               ? sg_open_comm_take(&samples->comms[found], log->held, record, samples->ranks)
               : status;
}

enum sg_status sg_live_samples_learn(struct sg_live_samples *samples, const struct sg_live_log *log)
{
    uint64_t *learned = &samples->learned_slots[log->rank];
    enum sg_status status = SG_OK;
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    if (log->held == NULL || log->image_slots == *learned)
        return SG_OK;
    while (status == SG_OK && (record = sg_logread_next(log->held, &slot, &kind)) != NULL) {
        if (kind == SG_RECORD_PROFILE_COMM)
            status = learn_comm(samples, log, record);
    }
    *learned = log->image_slots;
    return status;
}

/* The one rank that the call waits for; SG_OPEN_NOBODY: there is none, or it is not known. A
 * collective has a root, but no tag. */
static int64_t peer_of(const struct sg_live_samples *samples, uint32_t rank,
                       const struct sg_record_thread *call)
{
    int64_t found = sg_map_get(&samples->comm_by_index, index_key(rank, call->comm));
    bool receives = call->from >= 0 || call->from == SG_THREAD_ANY;

    if (call->operation != 0 || found < 0 || (!receives && call->to_tag < 0))
        return SG_OPEN_NOBODY;
    return sg_open_comm_world(&samples->comms[found], samples->ranks, rank,
                              receives ? call->from : call->to);
}

/* ---- a sample -------------------------------------------------------------------------------- */

static uint64_t since(uint64_t now_ns, uint64_t then_ns)
{
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

/* Reads the log's threads: whether the rank is in MPI, and its open calls. False: no memory. */
static bool look_at(const struct sg_live_log *log, uint32_t number, uint64_t now_ns,
                    struct presence *of, struct seen **seen, uint32_t *count)
{
    uint64_t clock_ns = sg_live_log_clock_ns(log, now_ns);

    for (uint32_t i = 0; i < log->thread_count; i++) {
        struct seen one = {.log = number};
        uint64_t out_ns;

        if (!sg_live_log_thread(log, i, &one.call)) {
            of->is_in_call = true; /* it changes, so the thread enters or leaves a call */
            continue;
        }
        one.open_ns = since(clock_ns, one.call.begin_ns);
        out_ns = since(clock_ns, one.call.end_ns);
        if (one.call.end_ns == 0 && !SG_APPEND(*seen, *count, one))
            return false;
        of->is_in_call = of->is_in_call || one.call.end_ns == 0;
        if (!of->is_known || out_ns < of->out_ns)
            of->out_ns = out_ns;
        of->is_known = true;
    }
    return true;
}

static bool is_late(const struct presence *of, const struct seen *seen)
{
    return of->is_known && !of->is_in_call &&
           (of->out_ns >= seen->open_ns || of->out_ns >= ARRIVES_NS);
}

static bool add(struct sg_live_log *log, const struct sg_record_thread *call, uint32_t late,
                uint64_t ns)
{
    const struct sg_live_sum sum = {call->site, call->function, late, 1, ns};

    for (uint32_t i = 0; i < log->sum_count; i++) {
        struct sg_live_sum *old = &log->sums[i];

        if (old->site == sum.site && old->function == sum.function && old->late == late) {
            old->samples++;
            old->ns += ns;
            return true;
        }
    }
    return log->sum_count >= SUMS_MOST || SG_APPEND(log->sums, log->sum_count, sum);
}

static bool take(struct sg_live_samples *samples, struct sg_live_job *job, uint64_t now_ns)
{
    struct presence *of = calloc((size_t)job->ranks + 1, sizeof *of);
    uint64_t span_ns = samples->taken_ns > 0 ? since(now_ns, samples->taken_ns) : 0;
    struct seen *seen = NULL;
    uint32_t count = 0;
    bool has_memory = of != NULL;

    for (uint32_t i = 0; i < job->log_count && has_memory; i++) {
        if (job->logs[i].state == SG_LIVE_RUNS)
            has_memory = look_at(&job->logs[i], i, now_ns, &of[job->logs[i].rank], &seen, &count);
    }
    for (uint32_t i = 0; i < count && has_memory; i++) {
        struct sg_live_log *log = &job->logs[seen[i].log];
        int64_t peer = peer_of(samples, (uint32_t)log->rank, &seen[i].call);

        if (peer >= 0)
            has_memory =
                add(log, &seen[i].call,
                    is_late(&of[peer], &seen[i]) ? (uint32_t)peer : SG_LIVE_NOT_LATE, span_ns);
    }
    free(seen);
    free(of);
    samples->taken_ns = now_ns;
    return has_memory;
}

uint64_t sg_live_samples_due_ns(const struct sg_live_samples *samples)
{
    return samples->due_ns;
}

enum sg_status sg_live_samples_take(struct sg_live_samples *samples, struct sg_live_job *job)
{
    uint64_t before_ns = sg_clock_of_ns(CLOCK_THREAD_CPUTIME_ID), now_ns = sg_clock_ns();
    bool has_memory = take(samples, job, now_ns);
    uint64_t cost_ns = since(sg_clock_of_ns(CLOCK_THREAD_CPUTIME_ID), before_ns);
    uint64_t pause_ns = PAUSE_NS / 2 + sg_hash_mix(++samples->number) % PAUSE_NS;

    if (pause_ns < SHARE * cost_ns)
        pause_ns = SHARE * cost_ns;
    samples->due_ns = now_ns + pause_ns;
    return has_memory ? SG_OK : SG_ERR_MEMORY;
}
