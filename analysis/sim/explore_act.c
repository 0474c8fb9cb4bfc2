/* Carries out the actions of a handler in the explorer's world. */
#include "sim/explore_check.h"
#include "sim/explore_world.h"

#include <string.h>

static uint64_t hash_header(const struct sg_header *header)
{
    uint64_t hash = (uint64_t)header->seq << 32 | header->bytes;

    hash ^= (uint64_t)header->kind << 24 ^ (uint64_t)header->parts << 16 ^ header->flags;
    for (int i = 0; i < 5; i++)
        hash = hash * UINT64_C(0x9e3779b97f4a7c15) + header->number[i];
    return hash;
}

/* Ranks of a value, for the trace. */
static void say_value(struct sg_explore_world *world, const char *what,
                      const struct sg_value *value)
{
    fprintf(world->trace, "%s#%u{", what, value->instance);
    for (uint64_t ranks = value->ranks; ranks != 0; ranks &= ranks - 1)
        fprintf(world->trace, "%d%s", __builtin_ctzll(ranks), ranks & (ranks - 1) ? "," : "");
    fputs("}", world->trace);
}

static void say_sent(struct sg_explore_world *world, const struct sg_action *action,
                     const struct sg_value *values)
{
    const struct sg_header *header = &action->send.header;

    if (world->trace == NULL)
        return;
    if (action->kind == SG_ACTION_MULTICAST)
        fputs("        multicasts ", world->trace);
    else
        fprintf(world->trace, "        sends to %d ", action->to);
    fprintf(world->trace, "kind %u seq %u (%u %u %u %u %u)", header->kind, header->seq,
            header->number[0], header->number[1], header->number[2], header->number[3],
            header->number[4]);
    for (uint32_t i = 0; i < header->parts; i++)
        say_value(world, " ", &values[i]);
    fputs(action->solicited ? ", solicited\n" : "\n", world->trace);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void post(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint, int32_t to,
                 const struct sg_action *action, const struct sg_value *values)
{
    const struct sg_header *header = &action->send.header;
    struct sg_explore_flight *flight = sg_explore_launch(world, endpoint->comm, endpoint->rank, to);

    if (flight == NULL)
        return;
    flight->kind = SG_FLIGHT_MESSAGE;
    flight->access = action->kind;
    flight->solicited = action->solicited;
    flight->header = *header;
    flight->values_count = header->parts;
    memcpy(flight->values, values, header->parts * sizeof *values);
    world->history = sg_hash_mix(world->history ^ hash_header(header) ^ (uint64_t)to << 48);
    for (uint32_t i = 0; i < header->parts; i++)
        world->history = sg_hash_mix(world->history + values[i].hash);
    sg_explore_check_queue(world, endpoint, to);
}

static const char *send(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint,
                        const struct sg_action *action)
{
    const struct sg_header *header = &action->send.header;
    int32_t size = world->scenario->comm[endpoint->comm].size;
    struct sg_value values[SG_PARTS_MAX];
    const char *wrong;

    if (action->send.parts_at + header->parts > world->actions.parts_count)
        return "sends parts that it has not listed";
    if (header->parts > endpoint->needs.parts)
        return "sends more parts than it needs";
    wrong = sg_payload_gather(&endpoint->payload, action, world->actions.parts, values);
    if (wrong)
        return wrong;
    say_sent(world, action, values);
    if (action->kind == SG_ACTION_SEND) {
        if (action->to < 0 || action->to >= size || action->to == endpoint->rank)
            return "sends to itself or to an endpoint that there is not";
        sg_explore_check_peer(world, endpoint, action->to);
        post(world, endpoint, action->to, action, values);
        return NULL;
    }
    if (!(world->scenario->algo->uses & SG_ALGO_MULTICAST))
        return "multicasts without saying that it does";
    for (int32_t to = 0; to < size; to++) {
        if (to != endpoint->rank)
            post(world, endpoint, to, action, values);
    }
    return NULL;
}

/* ---- one-sided ------------------------------------------------------------------------------- */

static const char *access_remote(struct sg_explore_world *world,
                                 struct sg_explore_endpoint *endpoint,
                                 const struct sg_action *action)
{
    struct sg_explore_flight *flight;
    struct sg_value value = {0};
    const char *wrong = NULL;

    if (!(world->scenario->algo->uses & SG_ALGO_ONE_SIDED))
        return "accesses another endpoint without saying that it does";
    if (action->to < 0 || action->to >= world->scenario->comm[endpoint->comm].size)
        return "accesses an endpoint that there is not";
    sg_explore_check_peer(world, endpoint, action->to);
    if (action->kind == SG_ACTION_WRITE || action->kind == SG_ACTION_WRITE_RESULT)
        wrong =
            sg_payload_load(&endpoint->payload, action->access.from, action->access.bytes, &value);
    else if (action->kind == SG_ACTION_READ) /* until the answer the buffer holds nothing */
        wrong = sg_payload_store(&endpoint->payload, action->access.into, NULL);
    if (wrong)
        return wrong;
    flight = sg_explore_launch(world, endpoint->comm, endpoint->rank, action->to);
    if (flight == NULL)
        return NULL;
    flight->kind = SG_FLIGHT_ACCESS;
    flight->access = action->kind;
    flight->remote = action->access.remote;
    flight->count = action->access.count;
    flight->tag = action->access.tag;
    flight->bytes = action->access.bytes;
    flight->into = action->access.into;
    flight->value[0] = action->access.value;
    flight->values[0] = value;
    flight->values_count = 1;
    world->history = sg_hash_mix(world->history ^ value.hash ^ action->access.value ^
                                 (uint64_t)action->kind << 56);
    if (world->trace)
        fprintf(world->trace, "        accesses %d: action %u, %u, value %llu, tag %u\n",
                action->to, action->kind, action->access.remote,
                (unsigned long long)action->access.value, action->access.tag);
    return NULL;
}

static const char *watch(struct sg_explore_endpoint *endpoint, const struct sg_action *action)
{
    if (action->access.remote >= endpoint->needs.cells)
        return "watches a cell that it has not";
    if (action->id >= SG_WATCHES)
        return "has more watches than there are";
    endpoint->watches[action->id] = (struct sg_explore_watch){
        .value = action->access.value,
        .cell = action->access.remote,
        .set = true,
        .solicited = action->solicited,
    };
    return NULL;
}

/* ---- the rest -------------------------------------------------------------------------------- */

/* The instance whose the result buffer is: the oldest that is not over; 0: none. */
static uint32_t owner_of(const struct sg_explore_endpoint *endpoint, uint32_t index)
{
    for (uint32_t seq = 1; seq <= endpoint->calls; seq++) {
        if (seq % endpoint->payload.results_count == index && !(endpoint->finished >> seq & 1))
            return seq;
    }
    return 0;
}

void sg_explore_claim_result(struct sg_explore_endpoint *endpoint, uint32_t seq)
{
    uint32_t index = seq % endpoint->payload.results_count;

    if (owner_of(endpoint, index) == seq)
        endpoint->payload.results[index] = (struct sg_value){0};
}

static bool owns_result(const struct sg_explore_world *world,
                        const struct sg_explore_endpoint *endpoint, uint32_t index)
{
    uint32_t seq = owner_of(endpoint, index);
    const struct sg_algo_call *call;

    if (seq == 0)
        return false;
    call = &world->scenario->instance[sg_explore_instance_at(world, endpoint->comm, seq)].call;
    return call->operation != SG_OPERATION_REDUCE || call->root == endpoint->rank;
}

const char *sg_explore_check_put(const struct sg_explore_world *world,
                                 const struct sg_explore_endpoint *target, uint32_t index)
{
    return index < target->payload.results_count && owns_result(world, target, index)
               ? NULL
               : "is given a result that it does not await";
}

/* A REDUCE names the instance whose operation it wants. */
static const char *check_operation(struct sg_explore_world *world,
                                   const struct sg_explore_endpoint *endpoint,
                                   const struct sg_action *action)
{
    struct sg_value value;

    sg_payload_load(&endpoint->payload, action->data.into, action->data.bytes, &value);
    if (sg_explore_instance_at(world, endpoint->comm, action->data.seq) + 1 !=
        (int32_t)value.instance)
        return "combines values by another instance's operation";
    return NULL;
}

static const char *work(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint,
                        const struct sg_action *action)
{
    const char *wrong;

    if (action->data.into.kind == SG_DATA_RESULT &&
        !owns_result(world, endpoint, action->data.into.index))
        return "writes to the result of an instance that has none here, or is over";
    wrong = sg_payload_carry_out(&endpoint->payload, action);
    if (wrong == NULL && action->kind == SG_ACTION_REDUCE)
        wrong = check_operation(world, endpoint, action);
    if (world->trace && wrong == NULL) {
        static const char *const kinds[] = {"nothing", "operand", "result", "slot", "part"};
        struct sg_value value;

        sg_payload_load(&endpoint->payload, action->data.into, action->data.bytes, &value);
        fprintf(world->trace, "        %s %s %u now",
                action->kind == SG_ACTION_COPY ? "copies:" : "reduces:",
                kinds[action->data.into.kind], action->data.into.index);
        say_value(world, " ", &value);
        fputc('\n', world->trace);
    }
    return wrong;
}

static void complete(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint)
{
    sg_explore_say(world, "        completes");
    sg_explore_check_complete(world, endpoint);
    endpoint->completes++;
    endpoint->payload.operand = NULL;
    sg_explore_process_of(world, endpoint)->state = SG_PROCESS_COMPUTING;
}

static const char *act_one(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint,
                           const struct sg_action *action)
{
    switch (action->kind) {
    case SG_ACTION_SEND:
    case SG_ACTION_MULTICAST:
        return send(world, endpoint, action);
    case SG_ACTION_COPY:
    case SG_ACTION_REDUCE:
        return work(world, endpoint, action);
    case SG_ACTION_SET_TIMER:
        endpoint->timers[action->id] = (struct sg_explore_timer){action->timer.time_ns, true};
        return NULL;
    case SG_ACTION_STOP_TIMER:
        endpoint->timers[action->id].set = false;
        return NULL;
    case SG_ACTION_COMPLETE:
        complete(world, endpoint);
        return NULL;
    case SG_ACTION_FINISH:
        sg_explore_say(world, "        finishes #%u", action->instance.seq);
        sg_explore_check_finish(world, endpoint, action->instance.seq);
        return NULL;
    case SG_ACTION_WATCH:
        return watch(endpoint, action);
    case SG_ACTION_WRITE:
    case SG_ACTION_WRITE_RESULT:
    case SG_ACTION_WRITE_CELL:
    case SG_ACTION_FETCH_ADD:
    case SG_ACTION_READ:
    case SG_ACTION_READ_CELLS:
        return access_remote(world, endpoint, action);
    default:
        return "asks for an action that there is not";
    }
}

void sg_explore_act(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint)
{
    for (uint32_t i = 0; i < world->actions.count && world->violation[0] == '\0'; i++) {
        const struct sg_action *action = &world->actions.list[i];
        const char *wrong = NULL;

        world->history = sg_hash_mix(world->history + action->kind);
        if (action->id >= SG_TIMERS && action->kind != SG_ACTION_WATCH)
            wrong = "sets a timer that there is not";
        else
            wrong = act_one(world, endpoint, action);
        if (wrong)
            sg_explore_violate(world, endpoint, "%s", wrong);
    }
}
