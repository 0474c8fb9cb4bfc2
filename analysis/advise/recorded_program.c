/* Programs of a recording: as it ran, or with nonblocking calls. */
#include "advise/recorded.h"
#include "advise/recording.h"
#include "core/room.h"
#include "core/status.h"

#include <stdlib.h>

/* A message that is posted and not waited for, of a blocking call that is made nonblocking. */
struct pending {
    uint32_t peer, tag, comm;
    bool is_send;
    uint32_t number; /* of the post */
};

/* A rank's program as it is made. */
struct maker {
    const struct sg_recording_rank *rank;
    bool nonblocking;
    struct sg_step *steps;
    uint32_t step_count;
    uint32_t *numbers; /* of posts, by their place among the recorded steps */
    uint32_t posted;
    struct pending *pending;
    uint32_t pending_count;
    const int32_t *const *places; /* by communicator and rank: its rank there */
    int32_t self;
};

static bool emit(struct maker *maker, const struct sg_step *step)
{
    return SG_APPEND(maker->steps, maker->step_count, *step);
}

static bool emit_wait(struct maker *maker, uint32_t number)
{
    struct sg_step wait = {.kind = SG_STEP_WAIT, .request = number};

    return emit(maker, &wait);
}

/* ---- blocking calls made nonblocking */

static bool wait_for_all(struct maker *maker)
{
    for (uint32_t i = 0; i < maker->pending_count; i++) {
        if (!emit_wait(maker, maker->pending[i].number))
            return false;
    }
    maker->pending_count = 0;
    return true;
}

/* Posts it, after a wait for the last one of its kind. */
static bool defer(struct maker *maker, const struct sg_step *step, bool is_send)
{
    struct pending now = {(uint32_t)step->peer, step->tag, step->comm, is_send, maker->posted++};
    struct sg_step posted = *step;
    uint32_t i = 0;

    posted.kind = is_send ? SG_STEP_ISEND : SG_STEP_IRECV;
    while (i < maker->pending_count &&
           (maker->pending[i].peer != now.peer || maker->pending[i].tag != now.tag ||
            maker->pending[i].comm != now.comm || maker->pending[i].is_send != is_send))
        i++;
    if (i == SG_RECORDED_PENDING_MAX && !wait_for_all(maker))
        return false;
    if (i >= maker->pending_count)
        return emit(maker, &posted) && SG_APPEND(maker->pending, maker->pending_count, now);
    if (!emit_wait(maker, maker->pending[i].number) || !emit(maker, &posted))
        return false;
    maker->pending[i] = now;
    return true;
}

/* ---- steps */

static bool add_collective(struct maker *maker, const struct sg_recorded_step *recorded)
{
    struct sg_step step = recorded->step;

    step.own = maker->places[step.comm][maker->self];
    step.peer = maker->places[step.comm][recorded->root];
    return wait_for_all(maker) && emit(maker, &step);
}

static bool add_step(struct maker *maker, uint32_t place)
{
    const struct sg_recorded_step *recorded = &maker->rank->steps[place];
    struct sg_step step = recorded->step;
    bool is_send = step.kind == SG_STEP_SEND || step.kind == SG_STEP_ISEND;

    if (recorded->incomplete)
        return true;
    if (maker->nonblocking && recorded->blocking)
        return step.kind == SG_STEP_WAIT || defer(maker, &step, is_send);
    switch (step.kind) {
    case SG_STEP_ISEND:
    case SG_STEP_IRECV:
        maker->numbers[place] = maker->posted++;
        break;
    case SG_STEP_WAIT:
        if (maker->rank->steps[step.request].incomplete)
            return true;
        step.request = maker->numbers[step.request];
        break;
    case SG_STEP_COLLECTIVE:
        return add_collective(maker, recorded);
    default:
        break;
    }
    return emit(maker, &step);
}

static bool make_rank(struct maker *maker, int64_t begin_ns)
{
    const struct sg_recording_rank *rank = maker->rank;
    int64_t before_ns = begin_ns;
    struct sg_step end = {.kind = SG_STEP_END};

    for (uint32_t i = 0; i < rank->call_count; i++) {
        const struct sg_program_call *call = &rank->calls[i];
        struct sg_step compute = {.kind = SG_STEP_COMPUTE};

        if (call->begin_ns > before_ns) {
            compute.ns = (uint64_t)(call->begin_ns - before_ns);
            if (!emit(maker, &compute))
                return false;
        }
        if (call->collective > 0 &&
            !add_collective(maker, &rank->collectives[call->collective - 1]))
            return false;
        for (uint32_t j = 0; j < call->count; j++) {
            if (!add_step(maker, call->first + j))
                return false;
        }
        if (call->end_ns > before_ns)
            before_ns = call->end_ns;
    }
    return wait_for_all(maker) && emit(maker, &end);
}

static void step_of(const struct sg_program *program, int32_t process, uint64_t index,
                    struct sg_step *out)
{
    const struct sg_recorded_program *recorded = program->context;

    *out = recorded->steps[process][index];
}

/* ---- communicators: their members in the order of their ranks in MPI_COMM_WORLD */

static bool make_comm(const struct sg_recording_comm *comm, uint32_t ranks,
                      struct sg_program_comm *out, int32_t **places)
{
    int32_t *members = calloc((size_t)ranks + 1, sizeof *members);

    out->members = members;
    *places = calloc((size_t)ranks + 1, sizeof **places);
    if (members == NULL || *places == NULL)
        return false;
    for (uint32_t rank = 0; rank < comm->size; rank++) {
        if (!comm->is_member[rank])
            continue;
        (*places)[rank] = out->size;
        members[out->size++] = (int32_t)rank;
    }
    return true;
}

static bool make_all(const struct sg_recording *recording, bool nonblocking,
                     struct sg_recorded_program *out, int32_t **places)
{
    for (uint32_t i = 0; i < recording->comm_count; i++) {
        if (!make_comm(&recording->comms[i], recording->rank_count, &out->comms[i], &places[i]))
            return false;
    }
    for (uint32_t i = 0; i < recording->rank_count; i++) {
        struct maker maker = {.rank = &recording->ranks[i],
                              .nonblocking = nonblocking,
                              .places = (const int32_t *const *)places,
                              .self = (int32_t)i};
        bool made;

        maker.numbers = calloc((size_t)maker.rank->step_count + 1, sizeof *maker.numbers);
        made = maker.numbers != NULL && make_rank(&maker, recording->begin_ns);
        free(maker.numbers);
        free(maker.pending);
        out->steps[i] = maker.steps;
        if (!made)
            return false;
    }
    return true;
}

enum sg_status sg_recording_program(const struct sg_recording *recording, bool nonblocking,
                                    struct sg_recorded_program *out)
{
    int32_t **places = calloc((size_t)recording->comm_count + 1, sizeof *places);
    bool made = false;

    *out = (struct sg_recorded_program){
        .comms = calloc((size_t)recording->comm_count + 1, sizeof *out->comms),
        .steps = calloc((size_t)recording->rank_count + 1, sizeof *out->steps)};
    out->program = (struct sg_program){.processes = (int32_t)recording->rank_count,
                                       .comms = out->comms,
                                       .comm_count = recording->comm_count,
                                       .context = out,
                                       .step = step_of};
    if (places != NULL && out->comms != NULL && out->steps != NULL)
        made = make_all(recording, nonblocking, out, places);
    for (uint32_t i = 0; i < recording->comm_count && places != NULL; i++)
        free(places[i]);
    free(places);
    if (made)
        return SG_OK;
    sg_log("advise: out of memory");
    return SG_ERR_MEMORY;
}

void sg_recorded_program_clear(struct sg_recorded_program *program, uint32_t ranks)
{
    for (uint32_t i = 0; i < program->program.comm_count && program->comms != NULL; i++)
        free((void *)program->comms[i].members);
    for (uint32_t i = 0; i < ranks && program->steps != NULL; i++)
        free(program->steps[i]);
    free(program->comms);
    free(program->steps);
    *program = (struct sg_recorded_program){0};
}
