#include "verify/steps.h"

#include "verify/posted_messages.h"
#include "verify/schedule.h"

#include <string.h>

static bool computing(const struct sg_explore_world *world, int32_t process)
{
    return world->processes[process].state == SG_PROCESS_COMPUTING;
}

static bool held(const struct sg_explore_world *world, const struct sg_explore_view *view,
                 int32_t process)
{
    return view->held && world->step < world->processes[process].held_until;
}

static int32_t process_at(const struct sg_explore_world *world, int32_t comm, int32_t rank)
{
    return world->scenario->comm[comm].process[rank];
}

/* True if an event can be delivered to an endpoint; a `solicited` one interrupts the endpoint's
 * process. */
static bool reachable(const struct sg_explore_world *world, const struct sg_explore_view *view,
                      int32_t comm, int32_t rank, bool solicited)
{
    int32_t process = process_at(world, comm, rank);
    const struct sg_explore_endpoint *endpoint =
        &world->endpoints[comm * world->scenario->nodes + rank];

    if (held(world, view, process))
        return false;
    if (view->always || !computing(world, process))
        return true;
    return solicited && !(world->polls >> process & 1) &&
           sg_explore_head(endpoint)->outstanding > 0;
}

static bool deliverable(const struct sg_explore_world *world, const struct sg_explore_view *view,
                        const struct sg_explore_flight *flight)
{
    if (view->held && world->step < flight->base.own)
        return false;
    if (flight->base.kind == SG_FLIGHT_ACCESS)
        return true;
    return reachable(world, view, flight->comm, flight->base.to, flight->base.solicited);
}

/* Bit `to` of [kind][comm][from]: an earlier flight of that kind from there is still on its way. */
struct ahead {
    uint64_t to[SG_FLIGHT_REPLY + 1][SG_EXPLORE_COMMS_MAX][SG_EXPLORE_NODES_MAX];
};

static void clear_ahead(const struct sg_explore_world *world, struct ahead *ahead)
{
    for (int kind = 0; kind <= SG_FLIGHT_REPLY; kind++) {
        for (int32_t comm = 0; comm < world->scenario->comms; comm++)
            memset(ahead->to[kind][comm], 0,
                   (size_t)world->scenario->nodes * sizeof ahead->to[kind][comm][0]);
    }
}

static uint32_t list_arrivals(const struct sg_explore_world *world,
                              const struct sg_explore_view *view, struct sg_explore_step *steps)
{
    struct ahead ahead;
    uint32_t count = 0;

    clear_ahead(world, &ahead);
    for (uint32_t i = 0; i < world->live_count; i++) {
        const struct sg_explore_flight *flight = &world->flights[world->live[i]];
        uint64_t *row = &ahead.to[flight->base.kind][flight->comm][flight->base.from];
        bool overtakes = *row >> flight->base.to & 1;

        *row |= UINT64_C(1) << flight->base.to;
        /* One-sided accesses to one target take effect in their order. */
        if (overtakes && (!view->reorder || flight->base.kind == SG_FLIGHT_ACCESS))
            continue;
        if (deliverable(world, view, flight))
            steps[count++] = (struct sg_explore_step){
                .kind = SG_STEP_ARRIVE, .index = (uint16_t)i, .overtakes = overtakes};
    }
    return count;
}

static uint32_t list_notices(const struct sg_explore_world *world,
                             const struct sg_explore_view *view, struct sg_explore_step *steps)
{
    uint32_t count = 0;

    for (int32_t e = 0; e < world->endpoints_count; e++) {
        const struct sg_explore_endpoint *endpoint = &world->endpoints[e];

        for (uint32_t id = 0; id < SG_WATCHES; id++) {
            const struct sg_host_watch *watch = &endpoint->watches[id];

            if (watch->set && endpoint->cells[watch->cell] != watch->value &&
                reachable(world, view, endpoint->comm, endpoint->rank, watch->solicited))
                steps[count++] = (struct sg_explore_step){
                    .kind = SG_STEP_NOTICE, .id = (uint8_t)id, .index = (uint16_t)e};
        }
    }
    return count;
}

/* Advances `next` past instances in which the process is not a member. */
static bool has_next(const struct sg_explore_world *world, int32_t process)
{
    struct sg_explore_process *self = &world->processes[process];
    const struct sg_explore_scenario *scenario = world->scenario;

    while (self->next < scenario->instances &&
           world->rank[scenario->instance[self->next].comm][process] < 0)
        self->next++;
    return self->next < scenario->instances;
}

/* The next step of a computing process. */
static enum sg_explore_step_kind next_step(const struct sg_explore_world *world,
                                           const struct sg_explore_view *view, int32_t process)
{
    bool calls = has_next(world, process);

    if (!view->always && sg_explore_next_post(world, process) >= 0)
        return SG_STEP_POST;
    if (!calls)
        return SG_STEP_DRAIN;
    return view->always ? SG_STEP_CALL : SG_STEP_ENTER;
}

static uint32_t list_processes(const struct sg_explore_world *world,
                               const struct sg_explore_view *view, struct sg_explore_step *steps)
{
    uint32_t count = 0;

    for (int32_t process = 0; process < world->scenario->nodes; process++) {
        enum sg_explore_step_kind kind;

        if (held(world, view, process))
            continue;
        if (world->processes[process].state == SG_PROCESS_ENTERING)
            kind = SG_STEP_CALL;
        else if (!computing(world, process))
            continue;
        else
            kind = next_step(world, view, process);
        steps[count++] =
            (struct sg_explore_step){.kind = (uint8_t)kind, .index = (uint16_t)process};
    }
    return count;
}

uint32_t sg_explore_steps(const struct sg_explore_world *world, const struct sg_explore_view *view,
                          struct sg_explore_step *steps)
{
    uint32_t count = list_arrivals(world, view, steps);

    count += list_notices(world, view, steps + count);
    return count + list_processes(world, view, steps + count);
}

uint32_t sg_explore_timers(const struct sg_explore_world *world, const struct sg_explore_view *view,
                           struct sg_explore_step *steps)
{
    uint32_t count = 0;

    for (int32_t e = 0; e < world->endpoints_count; e++) {
        const struct sg_explore_endpoint *endpoint = &world->endpoints[e];

        for (uint32_t id = 0; id < SG_TIMERS; id++) {
            if (endpoint->timer_ns[id] != SG_TIMER_UNSET &&
                reachable(world, view, endpoint->comm, endpoint->rank, true))
                steps[count++] = (struct sg_explore_step){
                    .kind = SG_STEP_FIRE, .id = (uint8_t)id, .index = (uint16_t)e};
        }
    }
    return count;
}

bool sg_explore_fair(const struct sg_explore_world *world, const struct sg_explore_view *view,
                     struct sg_explore_step *scratch, struct sg_explore_step *step)
{
    uint64_t first_ns = UINT64_MAX;
    uint32_t count = sg_explore_steps(world, view, scratch);

    if (count > 0) {
        /* Every other step belongs to a process, the last in the list, if any can go on. */
        *step = scratch[world->step % 2 ? 0 : count - 1];
        return true;
    }
    count = sg_explore_timers(world, view, scratch);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at_ns = world->endpoints[scratch[i].index].timer_ns[scratch[i].id];

        if (at_ns < first_ns) {
            first_ns = at_ns;
            *step = scratch[i];
        }
    }
    return count > 0;
}

void sg_explore_take(struct sg_explore_world *world, const struct sg_explore_step *step)
{
    struct sg_explore_endpoint *endpoint = &world->endpoints[step->index];

    world->step++;
    switch (step->kind) {
    case SG_STEP_ARRIVE:
    case SG_STEP_REPEAT:
        if (step->overtakes)
            world->marks[SG_HOST_OVERTAKEN]++;
        sg_explore_arrive(world, step->index, step->kind == SG_STEP_REPEAT);
        break;
    case SG_STEP_LOSE:
        sg_explore_lose(world, step->index);
        break;
    case SG_STEP_NOTICE:
        sg_explore_notice(world, endpoint, step->id);
        break;
    case SG_STEP_ENTER:
        world->processes[step->index].state = SG_PROCESS_ENTERING;
        break;
    case SG_STEP_POST:
        sg_explore_post(world, step->index);
        break;
    case SG_STEP_CALL:
        sg_explore_call(world, step->index);
        break;
    case SG_STEP_DRAIN:
        sg_explore_drain(world, step->index);
        break;
    default:
        if (world->live_count > 0)
            world->marks[SG_HOST_TIMER_EARLY]++;
        sg_explore_fire(world, endpoint, step->id);
    }
}

bool sg_explore_over(struct sg_explore_world *world)
{
    for (int32_t process = 0; process < world->scenario->nodes; process++) {
        if (world->processes[process].state != SG_PROCESS_DRAINING)
            return false;
    }
    for (int32_t comm = 0; comm < world->scenario->comms; comm++) {
        for (int32_t rank = 0; rank < world->scenario->comm[comm].size; rank++) {
            if (sg_explore_head(sg_explore_endpoint_of(world, comm, rank))->outstanding > 0)
                return false;
        }
    }
    return world->live_count == 0;
}
