#include "intercept/post.h"

#include "core/clock.h"
#include "intercept/dispatch.h"
#include "intercept/process.h"
#include "intercept/statistics.h"
#include "internode/request.h"

#include <pthread.h>
#include <stdlib.h>

/* A post that is not completed. */
struct post {
    struct sg_call call;
    struct sg_site *site;
    uint32_t comm;
    uint64_t begin_ns;
    struct sg_outcome outcome;
    struct sg_record_post *record; /* NULL: statistics only */
};

/* Requests of one communicator may be completed by several threads at once. */
static pthread_mutex_t statistics_lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t duration(uint64_t ns)
{
    return (uint32_t)(ns < UINT32_MAX ? ns : UINT32_MAX);
}

static void on_completed(void *context, const struct sg_request_times *times)
{
    struct post *post = context;
    uint64_t post_ns = times->posted_ns - post->begin_ns;
    uint64_t hidden_ns = times->completed_ns - times->posted_ns - times->exposed_ns;

    if (sg_process.log != NULL) { /* not after MPI_Finalize */
        if (post->record != NULL) {
            post->record->tests = (uint16_t)(times->tests < UINT16_MAX ? times->tests : UINT16_MAX);
            post->record->post_ns = duration(post_ns);
            post->record->exposed_ns = times->exposed_ns;
            /* Release: a reader that sees the end sees the whole record. */
            atomic_store_explicit(&post->record->end_ns, times->completed_ns, memory_order_release);
        }
        pthread_mutex_lock(&statistics_lock);
        sg_statistics_add_post(&post->call, post->site, post->comm, &post->outcome,
                               post_ns + times->exposed_ns, hidden_ns);
        pthread_mutex_unlock(&statistics_lock);
    }
    free(post);
}

static struct sg_record_post *begin_record(const struct post *post, const struct sg_span_plan *plan,
                                           uint32_t seq)
{
    struct sg_record_post *record = sg_log_event_growing(sg_process.log);

    if (record == NULL)
        return NULL;
    record->operation = (uint8_t)post->call.operation;
    record->ran = plan->ran;
    record->flags = post->call.send == MPI_IN_PLACE && post->call.operation != SG_OPERATION_BARRIER
                        ? SG_CALL_IN_PLACE
                        : 0;
    record->site = post->site->index;
    record->comm = post->comm;
    record->thread = sg_dispatch_thread();
    record->begin_ns = post->begin_ns;
    record->bytes = post->call.bytes;
    record->seq = seq;
    record->root = post->call.root;
    sg_log_publish(record, SG_RECORD_POST);
    return record;
}

int sg_post_recorded(struct sg_call *call, const struct sg_span_plan *plan, struct sg_site *site,
                     const struct sg_comm *comm, uint64_t begin_ns)
{
    struct post *post = calloc(1, sizeof *post);
    struct sg_record_post *record = NULL;
    struct sg_outcome outcome = {0};
    uint32_t seq = atomic_load_explicit(&comm->seq, memory_order_relaxed);
    int error;

    if (post == NULL)
        return sg_request_post(call, plan, NULL, NULL, &outcome);
    post->site = site;
    post->comm = comm->index;
    post->begin_ns = begin_ns;
    post->call = *call;
    if (sg_process.config.trace == SG_TRACE_OTF2) {
        call->name = (struct sg_call_name){true, site->index, comm->index, seq};
        post->record = record = begin_record(post, plan, seq);
    }
    error = sg_request_post(call, plan, on_completed, post, &post->outcome);
    if (error != MPI_SUCCESS) {
        if (record != NULL)
            record->flags |= SG_CALL_FAILED;
        atomic_fetch_add_explicit(&sg_log_header(sg_process.log)->failed_calls, 1,
                                  memory_order_relaxed);
        free(post);
    } else if (record != NULL && atomic_load(&record->end_ns) == 0) {
        /* Nobody else has the request yet. */
        record->post_ns = duration(sg_clock_ns() - begin_ns);
    }
    return error;
}
