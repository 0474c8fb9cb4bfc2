#include "sim/bcs_protocol.h"

#include "sim/program/run.h"
#include "sim/timed/program.h"
#include "sim/timed/world.h"

/* What an endpoint has under way at most, of sends and of receives. */
#define POSTS 16

static void post(struct sg_run *run, struct world *world, int32_t process,
                 const struct sg_step *step)
{
    bool sends = step->kind == SG_STEP_SEND || step->kind == SG_STEP_ISEND;
    bool own = step->kind == SG_STEP_SEND || step->kind == SG_STEP_RECV;
    struct sg_algo_post post = {.kind = sends ? SG_POST_SEND : SG_POST_RECEIVE,
                                .handle = sg_run_request(run, process, own),
                                .peer = step->peer,
                                .tag = (int32_t)step->tag,
                                .bytes = (uint32_t)step->bytes};

    sg_world_post(world, process, &post);
}

static void call(struct world *world, int32_t process, const struct sg_step *step)
{
    bool has_root = sg_operation_has_root(step->operation);
    struct sg_algo_call call = {.operation = step->operation,
                                .flags = SG_CALL_COMMUTATIVE,
                                .bytes = (uint32_t)step->bytes,
                                .root = has_root ? step->peer : -1};

    sg_world_call(world, process, &call);
}

/* Whether the step takes no time: the next one follows. */
static bool begin(struct sg_run *run, struct world *world, int32_t process,
                  const struct sg_step *step)
{
    switch (step->kind) {
    case SG_STEP_END:
        sg_world_end(world, process);
        return false;
    case SG_STEP_COMPUTE:
        sg_world_compute(world, process, step->ns);
        return false;
    case SG_STEP_ISEND:
    case SG_STEP_IRECV:
        post(run, world, process, step);
        return true;
    case SG_STEP_COLLECTIVE:
        sg_run_enter(run, process);
        call(world, process, step);
        return false;
    case SG_STEP_SEND:
    case SG_STEP_RECV:
        post(run, world, process, step);
        break;
    default:
        break;
    }
    if (sg_run_wait_for(run, process, step, run->now_ns))
        return true;
    sg_run_enter(run, process);
    sg_world_wait(world, process);
    return false;
}

static void resume(void *context, struct world *world, int32_t process)
{
    struct sg_run *run = context;
    struct sg_run_process *self = &run->processes[process];
    struct sg_step step;

    run->now_ns = sg_world_now_ns(world);
    if (self->in_call)
        run->result.blocked_ns += (double)(run->now_ns - self->entered_ns);
    self->in_call = false;
    do {
        step = sg_run_next(run, process);
        run->result.blocking_calls += sg_step_waits(&step);
    } while (begin(run, world, process, &step));
}

static void deliver(void *context, struct world *world, int32_t process,
                    const struct sg_action *delivery)
{
    struct sg_run *run = context;
    uint64_t now_ns = sg_world_now_ns(world);

    if (sg_run_done(run, process, delivery->delivery.handle, now_ns))
        sg_world_resume(world, process);
}

enum sg_status sg_bcs_protocol_run(const struct sg_world_setup *setup,
                                   const struct sg_program *program,
                                   struct sg_program_result *result)
{
    struct sg_run run;
    const struct sg_world_program world_program = {&run, resume, deliver};
    struct sg_world_setup whole = *setup;
    struct sg_world_result world_result = {0};
    enum sg_status status = sg_run_open(program, &run);

    whole.algo = &sg_algo_bcs;
    whole.endpoints = program->processes;
    whole.ranks_per_node = 1;
    whole.iterations = 1;
    whole.parameters.posts = POSTS;
    whole.call = (struct sg_algo_call){.operation = SG_OPERATION_BARRIER, .root = -1};
    whole.program = &world_program;
    if (status == SG_OK)
        status = sg_world_run(&whole, &world_result);
    if (status == SG_OK)
        status = sg_run_finish(&run, result);
    result->run_ns = (uint64_t)(world_result.period_ns + 0.5);
    result->events = world_result.events;
    sg_run_close(&run);
    return status;
}
