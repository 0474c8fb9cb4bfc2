/* Tracks the calls of each location. Passes messages, collectives and windows on to
 * report/wait_messages.c, report/wait_collectives.c and report/wait_windows.c.
 */
#include "report/wait_tracker.h"

#include "report/keyed.h"
#include "report/wait_skews.h"

#include <stdlib.h>
#include <string.h>

/* names: beginnings of functions, up to NULL. */
static bool begins(const char *function, const char *const *names)
{
    while (*names != NULL && strncmp(function, *names, strlen(*names)) != 0)
        names++;
    return *names != NULL;
}

#define BEGINS(function, ...) begins(function, (const char *const[]){__VA_ARGS__, NULL})

bool sg_waitstate_only_tests(const char *function)
{
    return BEGINS(function, "MPI_Test", "MPI_Request_get_status", "MPI_Iprobe", "MPI_Improbe",
                  "MPI_Parrived", "MPI_Win_test");
}

struct sg_waitstate_enter sg_waitstate_enter_of(const char *function)
{
    return (struct sg_waitstate_enter){
        .only_tests = sg_waitstate_only_tests(function),
        .is_buffered = BEGINS(function, "MPI_Bsend", "MPI_Ibsend"),
        .is_synchronous = BEGINS(function, "MPI_Ssend", "MPI_Issend"),
        .is_probe = BEGINS(function, "MPI_Probe", "MPI_Mprobe", "MPI_Iprobe", "MPI_Improbe"),
        .is_question = BEGINS(function, "MPI_Request_get_status"),
        .flushes = BEGINS(function, "MPI_Buffer_detach", "MPI_Buffer_flush",
                          "MPI_Comm_detach_buffer", "MPI_Comm_flush_buffer",
                          "MPI_Session_detach_buffer", "MPI_Session_flush_buffer"),
        .rma = sg_rma_of(function)};
}

struct location {
    struct sg_waitstate_call *call; /* NULL: in no call */
    struct sg_waitstate_call
        *probe; /* the last call that waited for a message which is not received yet */
    struct sg_waitstate_call *asked; /* the last that waited for a request not yet completed */
    uint32_t depth;                  /* nesting of calls inside the call */
    int64_t left_ns;                 /* when its last call returned; 0: the run's start */
};

struct sg_waitstate_tracker {
    struct sg_waitstate_settling settling;
    struct sg_waitstate_messages messages;
    struct sg_waitstate_collectives collectives;
    struct sg_waitstate_epochs epochs;
    struct sg_waitstate_locks locks;
    struct location *locations;
    uint32_t location_count, rank_count;
};

enum sg_status sg_waitstate_tracker_create(struct sg_waitstate_sums *sums,
                                           struct sg_waitstate_skews *skews, uint32_t ranks,
                                           uint32_t locations, struct sg_waitstate_tracker **out)
{
    struct sg_waitstate_tracker *tracker = calloc(1, sizeof *tracker);
    enum sg_status status;

    if (tracker == NULL)
        return SG_ERR_MEMORY;
    tracker->location_count = locations;
    tracker->rank_count = ranks;
    tracker->collectives.settling = &tracker->settling;
    tracker->epochs.settling = &tracker->settling;
    tracker->locations = calloc((size_t)locations + 1, sizeof *tracker->locations);
    status = tracker->locations != NULL
                 ? sg_waitstate_settling_start(&tracker->settling, sums, skews, ranks)
                 : SG_ERR_MEMORY;
    if (status == SG_OK)
        status = sg_waitstate_messages_start(&tracker->messages, &tracker->settling, ranks);
    if (status == SG_OK)
        status = sg_waitstate_locks_start(&tracker->locks, &tracker->settling, ranks);
    if (status != SG_OK) {
        sg_waitstate_tracker_destroy(tracker);
        return status;
    }
    *out = tracker;
    return SG_OK;
}

void sg_waitstate_tracker_listen(struct sg_waitstate_tracker *tracker,
                                 sg_waitstate_listener listener, sg_waitstate_waited waited,
                                 void *context)
{
    tracker->settling.waited = waited;
    tracker->settling.waited_context = context;
    tracker->messages.listener = listener;
    tracker->messages.listener_context = context;
}

void sg_waitstate_tracker_follow(struct sg_waitstate_tracker *tracker, struct sg_critical *critical,
                                 struct sg_cause_finder *causes)
{
    tracker->settling.critical = critical;
    tracker->settling.causes = causes;
}

void sg_waitstate_tracker_destroy(struct sg_waitstate_tracker *tracker)
{
    if (tracker == NULL)
        return;
    for (uint32_t i = 0; tracker->locations != NULL && i < tracker->location_count; i++) {
        sg_waitstate_let_go(&tracker->settling, tracker->locations[i].call);
        sg_waitstate_let_go(&tracker->settling, tracker->locations[i].probe);
        sg_waitstate_let_go(&tracker->settling, tracker->locations[i].asked);
    }
    sg_waitstate_collectives_finish(&tracker->collectives);
    sg_waitstate_epochs_finish(&tracker->epochs);
    sg_waitstate_locks_clear(&tracker->locks);
    sg_waitstate_messages_clear(&tracker->messages);
    sg_waitstate_settling_clear(&tracker->settling);
    free(tracker->locations);
    free(tracker);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static struct location *location_of(const struct sg_waitstate_tracker *tracker, uint32_t index)
{
    return index < tracker->location_count ? &tracker->locations[index] : NULL;
}

/* NULL: in no call. */
static struct sg_waitstate_call *call_of(const struct sg_waitstate_tracker *tracker, uint32_t index)
{
    const struct location *location = location_of(tracker, index);

    return location != NULL ? location->call : NULL;
}

/* The begin of the call, or of the tests in vain before it. */
static int64_t begin_of(const struct location *location, const struct sg_waitstate_enter *enter)
{
    int64_t free_ns = location->left_ns;

    if (enter->polled_ns == 0 || free_ns >= enter->time_ns)
        return enter->time_ns;
    return enter->polled_ns < (uint64_t)enter->time_ns - (uint64_t)free_ns
               ? enter->time_ns - (int64_t)enter->polled_ns
               : free_ns;
}

enum sg_status sg_waitstate_enter(struct sg_waitstate_tracker *tracker, uint32_t index,
                                  const struct sg_waitstate_enter *enter)
{
    struct location *location = location_of(tracker, index);
    struct sg_waitstate_call *call;

    if (location == NULL || enter->who.rank >= tracker->rank_count)
        return SG_OK;
    if (location->call != NULL) {
        location->depth++;
        return SG_OK;
    }
    call = sg_waitstate_call_new(&enter->who, begin_of(location, enter));
    if (call == NULL)
        return SG_ERR_MEMORY;
    call->who.location = index;
    call->only_tests = enter->only_tests && enter->polled_ns == 0;
    call->is_buffered = enter->is_buffered;
    call->is_synchronous = enter->is_synchronous;
    call->is_probe = enter->is_probe && !call->only_tests;
    call->is_question = enter->is_question && !call->only_tests;
    call->rma = enter->rma;
    call->named = enter->named;
    if (tracker->settling.critical != NULL)
        call->history = sg_critical_history(tracker->settling.critical);
    location->call = call;
    if (enter->flushes)
        sg_waitstate_messages_flush(&tracker->messages, call);
    sg_waitstate_locks_enter(&tracker->locks, call);
    sg_waitstate_born(&tracker->settling);
    return SG_OK;
}

/* Keeps a call that asked for a request, in front of those before it. */
static struct sg_waitstate_call *keep_question(struct location *location,
                                               struct sg_waitstate_call *call)
{
    struct sg_waitstate_call *over = location->asked;

    if (over == NULL || over->questions < SG_WAITSTATE_HELD) {
        call->questions = over != NULL ? over->questions + 1 : 0;
        call->asked = over;
        over = NULL;
    }
    location->asked = call;
    return over;
}

enum sg_status sg_waitstate_leave(struct sg_waitstate_tracker *tracker, uint32_t index,
                                  int64_t time_ns)
{
    struct location *location = location_of(tracker, index);
    struct sg_waitstate_call *call = call_of(tracker, index), *over = call;
    enum sg_status status, told = SG_OK;

    if (call == NULL)
        return SG_OK;
    if (location->depth > 0) {
        location->depth--;
        return SG_OK;
    }
    call->has_left = true;
    call->leave_ns = location->left_ns = time_ns;
    location->call = NULL;
    sg_waitstate_locks_leave(&tracker->locks, call);
    if (call->is_probe) {
        over = location->probe;
        location->probe = call;
    }
    if (call->is_question)
        over = keep_question(location, call);
    if (tracker->settling.critical != NULL)
        told = sg_critical_call(tracker->settling.critical, index, &call->who, call->enter_ns,
                                time_ns);
    status = sg_waitstate_let_go(&tracker->settling, over);
    return status == SG_OK ? told : status;
}

/* The location's current call completes a request: calls that asked for it waited, too. */
static struct sg_waitstate_call *completing_of(const struct sg_waitstate_tracker *tracker,
                                               uint32_t index)
{
    struct sg_waitstate_call *call = call_of(tracker, index);

    if (call != NULL && call->asked == NULL) {
        call->asked = tracker->locations[index].asked;
        tracker->locations[index].asked = NULL;
    }
    return call;
}

/* Takes the call that probed for the message of the location's current call; the caller releases
 * it. */
static struct sg_waitstate_call *take_probe(struct sg_waitstate_tracker *tracker, uint32_t index)
{
    struct location *location = &tracker->locations[index];
    struct sg_waitstate_call *probe = location->probe;

    /* The current call is the probe: MPI_Mprobe takes its own message. */
    if (location->call->is_probe) {
        location->call->is_probe = false;
        return sg_waitstate_call_hold(location->call);
    }
    location->probe = NULL;
    return probe;
}

/* ---- messages -------------------------------------------------------------------------------- */

static bool fits(const struct sg_waitstate_tracker *tracker,
                 const struct sg_waitstate_message *message)
{
    return message->peer < tracker->rank_count;
}

enum sg_status sg_waitstate_send(struct sg_waitstate_tracker *tracker, uint32_t location,
                                 const struct sg_waitstate_message *message)
{
    struct sg_waitstate_call *call = call_of(tracker, location);

    if (call == NULL || !fits(tracker, message))
        return SG_OK;
    return sg_waitstate_messages_send(&tracker->messages, call, message, NULL);
}

enum sg_status sg_waitstate_isend(struct sg_waitstate_tracker *tracker, uint32_t location,
                                  const struct sg_waitstate_message *message, uint64_t request)
{
    struct sg_waitstate_call *call = call_of(tracker, location);

    if (call == NULL || !fits(tracker, message))
        return SG_OK;
    return sg_waitstate_messages_send(&tracker->messages, call, message, &request);
}

enum sg_status sg_waitstate_sent(struct sg_waitstate_tracker *tracker, uint32_t location,
                                 uint64_t request)
{
    struct sg_waitstate_call *call = completing_of(tracker, location);

    return call != NULL ? sg_waitstate_messages_sent(&tracker->messages, call, request) : SG_OK;
}

enum sg_status sg_waitstate_receive(struct sg_waitstate_tracker *tracker, uint32_t location,
                                    const struct sg_waitstate_message *message, int64_t time_ns)
{
    struct sg_waitstate_call *call = call_of(tracker, location), *probe;
    enum sg_status status;

    if (call == NULL || !fits(tracker, message))
        return SG_OK;
    probe = take_probe(tracker, location);
    status = sg_waitstate_messages_receive(&tracker->messages, call, probe, message, time_ns);
    return status == SG_OK ? sg_waitstate_let_go(&tracker->settling, probe) : status;
}

enum sg_status sg_waitstate_post(struct sg_waitstate_tracker *tracker, uint32_t location,
                                 uint64_t request)
{
    struct sg_waitstate_call *call = call_of(tracker, location), *probe;
    enum sg_status status;

    if (call == NULL)
        return SG_OK;
    probe = take_probe(tracker, location);
    status = sg_waitstate_messages_post(&tracker->messages, call, probe, request);
    return status == SG_OK ? sg_waitstate_let_go(&tracker->settling, probe) : status;
}

enum sg_status sg_waitstate_received(struct sg_waitstate_tracker *tracker, uint32_t location,
                                     const struct sg_waitstate_message *message, uint64_t request,
                                     int64_t time_ns)
{
    struct sg_waitstate_call *call = completing_of(tracker, location);

    if (call == NULL || !fits(tracker, message))
        return SG_OK;
    return sg_waitstate_messages_received(&tracker->messages, call, message, request, time_ns);
}

enum sg_status sg_waitstate_cancelled(struct sg_waitstate_tracker *tracker, uint32_t location,
                                      uint64_t request)
{
    struct sg_waitstate_call *call = call_of(tracker, location);

    if (call == NULL)
        return SG_OK;
    return sg_waitstate_messages_cancelled(&tracker->messages, call->who.rank, request);
}

/* ---- collectives ----------------------------------------------------------------------------- */

enum sg_status sg_waitstate_collective(struct sg_waitstate_tracker *tracker, uint32_t location,
                                       const struct sg_waitstate_collective *collective)
{
    struct sg_waitstate_call *call = call_of(tracker, location);

    if (call == NULL)
        return SG_OK;
    return sg_waitstate_collectives_add(&tracker->collectives, call, collective);
}

enum sg_status sg_waitstate_begin_collective(struct sg_waitstate_tracker *tracker,
                                             uint32_t location, uint64_t request)
{
    struct sg_waitstate_call *call = call_of(tracker, location);

    if (call == NULL)
        return SG_OK;
    return sg_waitstate_collectives_begin(&tracker->collectives, call, request);
}

enum sg_status sg_waitstate_end_collective(struct sg_waitstate_tracker *tracker, uint32_t location,
                                           const struct sg_waitstate_collective *collective,
                                           uint64_t request)
{
    struct sg_waitstate_call *call = completing_of(tracker, location);

    if (call == NULL)
        return SG_OK;
    return sg_waitstate_collectives_end(&tracker->collectives, call, collective, request);
}

/* ---- windows --------------------------------------------------------------------------------- */

enum sg_status sg_waitstate_synchronise(struct sg_waitstate_tracker *tracker, uint32_t location,
                                        const struct sg_waitstate_group *group)
{
    struct sg_waitstate_call *call = call_of(tracker, location);

    return call != NULL ? sg_waitstate_epochs_add(&tracker->epochs, call, group) : SG_OK;
}

enum sg_status sg_waitstate_request_lock(struct sg_waitstate_tracker *tracker, uint32_t location,
                                         const struct sg_waitstate_lock *lock)
{
    struct sg_waitstate_call *call = call_of(tracker, location);

    if (lock->target != SG_WAITSTATE_ALL && lock->rank_there >= tracker->rank_count)
        return SG_OK;
    return call != NULL ? sg_waitstate_locks_request(&tracker->locks, call, lock) : SG_OK;
}

enum sg_status sg_waitstate_release_lock(struct sg_waitstate_tracker *tracker, uint32_t location,
                                         const struct sg_waitstate_lock *lock)
{
    struct sg_waitstate_call *call = call_of(tracker, location);

    return call != NULL ? sg_waitstate_locks_release(&tracker->locks, call, lock) : SG_OK;
}

enum sg_status sg_waitstate_operation(struct sg_waitstate_tracker *tracker, uint32_t location,
                                      uint32_t window, uint32_t target, uint32_t rank_there,
                                      uint64_t operation)
{
    const struct sg_waitstate_call *call = call_of(tracker, location);

    if (call == NULL || rank_there >= tracker->rank_count)
        return SG_OK;
    return sg_waitstate_locks_operation(&tracker->locks, call->who.rank, window, target, rank_there,
                                        operation);
}

void sg_waitstate_operated(struct sg_waitstate_tracker *tracker, uint32_t location,
                           uint64_t operation, int64_t time_ns)
{
    struct sg_waitstate_call *call = call_of(tracker, location);

    if (call != NULL)
        sg_waitstate_locks_completed(&tracker->locks, call, operation, time_ns, true);
}

void sg_waitstate_operated_here(struct sg_waitstate_tracker *tracker, uint32_t location,
                                uint64_t operation, int64_t time_ns)
{
    struct sg_waitstate_call *call = call_of(tracker, location);

    if (call != NULL)
        sg_waitstate_locks_completed(&tracker->locks, call, operation, time_ns, false);
}

/* ---- the end --------------------------------------------------------------------------------- */

enum sg_status sg_waitstate_tracker_finish(struct sg_waitstate_tracker *tracker,
                                           struct sg_waitstate_counts *out)
{
    const struct sg_waitstate_messages *messages = &tracker->messages;
    enum sg_status status = sg_waitstate_messages_finish(&tracker->messages);

    if (status == SG_OK)
        status = sg_waitstate_collectives_finish(&tracker->collectives);
    if (status == SG_OK)
        status = sg_waitstate_epochs_finish(&tracker->epochs);
    if (status == SG_OK)
        status = sg_waitstate_locks_finish(&tracker->locks);
    for (uint32_t i = 0; i < tracker->location_count && status == SG_OK; i++) {
        const struct location location = tracker->locations[i];

        tracker->locations[i] = (struct location){0};
        status = sg_waitstate_let_go(&tracker->settling, location.call);
        if (status == SG_OK)
            status = sg_waitstate_let_go(&tracker->settling, location.probe);
        if (status == SG_OK)
            status = sg_waitstate_let_go(&tracker->settling, location.asked);
    }
    *out = (struct sg_waitstate_counts){.messages = messages->matched,
                                        .unmatched_sends = messages->unmatched_sends,
                                        .unmatched_receives = messages->unmatched_receives,
                                        .violations = messages->violations,
                                        .largest_violation_ns = messages->largest_violation_ns,
                                        .live = tracker->settling.live,
                                        .live_max = tracker->settling.live_max};
    return status;
}
