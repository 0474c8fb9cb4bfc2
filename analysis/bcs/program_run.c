#include "bcs/program_run.h"

#include "core/room.h"

#include <stdlib.h>

enum sg_status sg_run_open(const struct sg_program *program, struct sg_run *run)
{
    *run = (struct sg_run){.program = program,
                           .running = program->processes,
                           .requests_free = SG_RUN_NONE,
                           .posts_free = SG_RUN_NONE};
    run->processes = calloc((size_t)program->processes, sizeof *run->processes);
    if (run->processes == NULL) {
        sg_run_fail(run, SG_ERR_MEMORY, "out of memory");
        return run->status;
    }
    for (int32_t i = 0; i < program->processes; i++) {
        run->processes[i].requests = SG_RUN_NONE;
        run->processes[i].sends = run->processes[i].receives =
            (struct sg_run_posts){SG_RUN_NONE, SG_RUN_NONE};
        sg_run_push(run, 0, SG_RUN_RESUME, (uint32_t)i);
    }
    return run->status;
}

void sg_run_close(struct sg_run *run)
{
    sg_queue_clear(&run->queue);
    free(run->processes);
    free(run->requests);
    free(run->posts);
}

void sg_run_fail(struct sg_run *run, enum sg_status status, const char *text)
{
    if (run->status != SG_OK)
        return;
    run->status = status;
    sg_log("sim: %s", text);
}

void sg_run_push(struct sg_run *run, uint64_t time_ns, uint32_t kind, uint32_t index)
{
    if (!sg_queue_push(&run->queue, time_ns, kind, index))
        sg_run_fail(run, SG_ERR_MEMORY, "out of memory");
}

bool sg_run_pop(struct sg_run *run, struct sg_queue_entry *entry)
{
    if (run->status != SG_OK || !sg_queue_pop(&run->queue, entry))
        return false;
    run->now_ns = entry->time_ns;
    run->result.events++;
    return true;
}

enum sg_status sg_run_finish(struct sg_run *run, struct sg_program_result *result)
{
    *result = run->result;
    result->stuck = run->running > 0;
    result->blocked_ns -= result->busy_ns;
    return run->status;
}

struct sg_step sg_run_next(struct sg_run *run, int32_t process)
{
    struct sg_run_process *self = &run->processes[process];
    struct sg_step step;

    do
        step = sg_program_step(run->program, process, self->index++);
    while (step.kind == SG_STEP_COMPUTE && step.ns == 0);
    if (step.kind == SG_STEP_END && !self->ended) {
        self->ended = true;
        run->running--;
        if (run->now_ns > run->result.run_ns)
            run->result.run_ns = run->now_ns;
    }
    if (step.kind == SG_STEP_COMPUTE)
        run->result.compute_ns += (double)step.ns;
    return step;
}

/* ---- calls */

void sg_run_enter(struct sg_run *run, int32_t process)
{
    run->processes[process].in_call = true;
    run->processes[process].entered_ns = run->now_ns;
}

void sg_run_leave(struct sg_run *run, int32_t process, uint64_t time_ns)
{
    struct sg_run_process *self = &run->processes[process];

    run->result.blocked_ns += (double)(time_ns - self->entered_ns);
    self->in_call = false;
    sg_run_push(run, time_ns, SG_RUN_RESUME, (uint32_t)process);
}

/* ---- requests */

uint32_t sg_run_request(struct sg_run *run, int32_t process, bool own)
{
    struct sg_run_process *self = &run->processes[process];
    uint32_t index = run->requests_free;

    if (index != SG_RUN_NONE) {
        run->requests_free = run->requests[index].next;
    } else if (SG_APPEND(run->requests, run->requests_used, (struct sg_run_request){0})) {
        index = run->requests_used - 1;
    } else {
        sg_run_fail(run, SG_ERR_MEMORY, "out of memory");
        return SG_RUN_NONE;
    }
    run->requests[index] =
        (struct sg_run_request){.return_ns = SG_RUN_PENDING,
                                .number = own ? SG_RUN_OWN_POSTS : self->posted++,
                                .next = self->requests};
    self->requests = index;
    return index;
}

bool sg_run_done(struct sg_run *run, int32_t process, uint32_t index, uint64_t return_ns)
{
    struct sg_run_process *self = &run->processes[process];
    struct sg_run_request *request;

    if (index == SG_RUN_NONE)
        return false;
    request = &run->requests[index];
    request->return_ns = return_ns;
    if (!request->awaited)
        return false;
    if (return_ns > self->return_ns)
        self->return_ns = return_ns;
    return --self->pending == 0;
}

/* Frees the requests that the previous wait waited for. */
static void forget_awaited(struct sg_run *run, struct sg_run_process *self)
{
    uint32_t *link = &self->requests;

    while (*link != SG_RUN_NONE) {
        uint32_t index = *link;

        if (!run->requests[index].awaited) {
            link = &run->requests[index].next;
            continue;
        }
        *link = run->requests[index].next;
        run->requests[index].next = run->requests_free;
        run->requests_free = index;
    }
}

/* Makes the process wait from now_ns on for its posts numbered first to last. True: all their ends
 * are known, and the process continues at its return_ns. */
static bool sg_run_wait(struct sg_run *run, int32_t process, uint32_t first, uint32_t last,
                        uint64_t now_ns)
{
    struct sg_run_process *self = &run->processes[process];

    forget_awaited(run, self);
    self->pending = 0;
    self->return_ns = now_ns;
    for (uint32_t i = self->requests; i != SG_RUN_NONE; i = run->requests[i].next) {
        struct sg_run_request *request = &run->requests[i];

        if (request->number < first || request->number > last)
            continue;
        request->awaited = true;
        if (request->return_ns == SG_RUN_PENDING)
            self->pending++;
        else if (request->return_ns > self->return_ns)
            self->return_ns = request->return_ns;
    }
    return self->pending == 0;
}

bool sg_run_wait_for(struct sg_run *run, int32_t process, const struct sg_step *step,
                     uint64_t now_ns)
{
    switch (step->kind) {
    case SG_STEP_WAIT:
        return sg_run_wait(run, process, step->request, step->request, now_ns);
    case SG_STEP_WAITALL:
        return sg_run_wait(run, process, 0, SG_RUN_OWN_POSTS - 1, now_ns);
    default:
        return sg_run_wait(run, process, SG_RUN_OWN_POSTS, UINT32_MAX, now_ns);
    }
}

/* ---- messages */

static uint32_t keep(struct sg_run *run, const struct sg_run_post *post)
{
    uint32_t index = run->posts_free;

    if (index != SG_RUN_NONE) {
        run->posts_free = run->posts[index].next;
    } else if (SG_APPEND(run->posts, run->posts_used, *post)) {
        index = run->posts_used - 1;
    } else {
        sg_run_fail(run, SG_ERR_MEMORY, "out of memory");
        return SG_RUN_NONE;
    }
    run->posts[index] = *post;
    run->posts[index].next = SG_RUN_NONE;
    return index;
}

void sg_run_free(struct sg_run *run, uint32_t post)
{
    run->posts[post].next = run->posts_free;
    run->posts_free = post;
}

uint32_t sg_run_append(struct sg_run *run, struct sg_run_posts *list,
                       const struct sg_run_post *post)
{
    uint32_t index = keep(run, post);

    if (index == SG_RUN_NONE)
        return index;
    if (list->first == SG_RUN_NONE)
        list->first = index;
    else
        run->posts[list->last].next = index;
    list->last = index;
    return index;
}

uint32_t sg_run_match(struct sg_run *run, struct sg_run_posts *list, int32_t from, uint32_t comm,
                      uint32_t tag)
{
    uint32_t before = SG_RUN_NONE;

    for (uint32_t i = list->first; i != SG_RUN_NONE; before = i, i = run->posts[i].next) {
        const struct sg_run_post *post = &run->posts[i];

        if (post->from != from || post->comm != comm || post->tag != tag)
            continue;
        if (before == SG_RUN_NONE)
            list->first = post->next;
        else
            run->posts[before].next = post->next;
        if (list->last == i)
            list->last = before;
        return i;
    }
    return SG_RUN_NONE;
}

/* ---- buffered coscheduling */

enum { EVENT_SLICE = SG_RUN_OWN };

void sg_sliced_want(struct sg_sliced_state *slices, uint64_t time_ns)
{
    uint64_t after_ns = time_ns > slices->end_ns ? time_ns : slices->end_ns;
    uint64_t boundary_ns = (after_ns / slices->slice_ns + 1) * slices->slice_ns;

    if (slices->alarm_ns <= boundary_ns)
        return;
    slices->alarm_ns = boundary_ns;
    sg_run_push(&slices->run, boundary_ns, EVENT_SLICE, 0);
}

bool sg_sliced_add_work(struct sg_sliced_state *slices, const struct sg_sliced_work *work)
{
    if (SG_APPEND(slices->work, slices->work_count, *work))
        return true;
    sg_run_fail(&slices->run, SG_ERR_MEMORY, "out of memory");
    return false;
}

void sg_sliced_done(struct sg_sliced_state *slices, int32_t process, uint32_t request,
                    uint64_t return_ns)
{
    if (sg_run_done(&slices->run, process, request, return_ns))
        sg_run_leave(&slices->run, process, slices->run.processes[process].return_ns);
}

void sg_sliced_steal(struct sg_sliced_state *slices, int32_t process, uint64_t ns)
{
    struct sg_sliced_process *self = &slices->processes[process];

    if (self->work_end_ns <= slices->run.now_ns)
        return;
    self->work_end_ns += ns;
    slices->run.result.busy_ns += (double)ns;
    slices->run.result.blocked_ns +=
        (double)ns; /* blocked_ns includes busy_ns until sg_run_finish */
}
