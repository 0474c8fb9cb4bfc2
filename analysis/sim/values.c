/* Symbolic payloads in timed runs: they cost nothing in virtual time, and tell whether every
 * endpoint gets the same result and what it is made of.
 */
#include "core/hash.h"
#include "sim/world_impl.h"

#include <stdlib.h>
#include <string.h>

#define CREDITS_DEFAULT 8

enum sg_status sg_values_setup(struct world *world)
{
    uint8_t credits = world->setup->parameters.credits;

    world->result.result = SG_HASH_START;
    if (!world->setup->data)
        return SG_OK;
    world->credits = credits > 0 ? credits : CREDITS_DEFAULT;
    world->values_stride = world->needs.slots + world->credits + 1;
    world->values =
        calloc((size_t)world->setup->endpoints * world->values_stride, sizeof *world->values);
    return world->values != NULL ? SG_OK : SG_ERR_MEMORY;
}

void sg_values_clear(struct world *world)
{
    free(world->values);
}

static void check(struct world *world, const char *wrong)
{
    if (wrong != NULL)
        sg_world_fail(world, SG_ERR_ARGUMENT, "sim: %s %s", world->setup->algo->name, wrong);
}

static struct sg_payload payload_of(struct world *world, int32_t endpoint)
{
    struct sg_value *values = world->values + (size_t)endpoint * world->values_stride;

    return (struct sg_payload){
        .slots = values,
        .slots_count = world->needs.slots,
        .results = values + world->needs.slots,
        .results_count = world->credits,
        .operand = values + world->needs.slots + world->credits,
    };
}

void sg_values_load(struct world *world, int32_t endpoint, struct parts *parts)
{
    if (world->values == NULL)
        return;
    world->payload = payload_of(world, endpoint);
    if (parts != NULL) {
        world->payload.parts = parts->values;
        world->payload.parts_count = parts->count;
    }
}

void sg_values_call(struct world *world, int32_t endpoint)
{
    const struct sg_algo_call *call = &world->setup->call;

    if (world->values == NULL)
        return;
    world->payload = payload_of(world, endpoint);
    *world->payload.operand = sg_value_contribution(head_of(world, endpoint)->seq + 1, endpoint,
                                                    call->bytes, call->flags);
}

void sg_values_action(struct world *world, int32_t endpoint, const struct sg_action *action)
{
    if (world->values != NULL)
        check(world, sg_payload_carry_out(&world->payload, action));
}

static struct parts *parts_new(struct world *world, uint32_t count)
{
    struct parts *parts = malloc(sizeof *parts + count * sizeof parts->values[0]);

    if (parts == NULL) {
        sg_world_fail(world, SG_ERR_MEMORY, "sim: out of memory");
        return NULL;
    }
    parts->references = 1;
    parts->count = count;
    return parts;
}

void sg_parts_release(struct parts *parts)
{
    if (parts != NULL && --parts->references == 0)
        free(parts);
}

struct parts *sg_values_gather(struct world *world, const struct sg_action *action)
{
    bool send = action->kind == SG_ACTION_SEND || action->kind == SG_ACTION_MULTICAST;
    struct parts *parts;

    if (world->values == NULL)
        return NULL;
    parts = parts_new(world, send ? action->send.header.parts : 1);
    if (parts == NULL)
        return NULL;
    check(world,
          send ? sg_payload_gather(&world->payload, action, world->actions.parts, parts->values)
               : sg_payload_load(&world->payload, action->access.from, action->access.bytes,
                                 parts->values));
    return parts;
}

void sg_values_access(struct world *world, const struct item *item, struct parts **answer)
{
    struct sg_payload payload;

    if (world->values == NULL)
        return;
    payload = payload_of(world, item->endpoint);
    if (answer == NULL) {
        struct sg_data result = {SG_DATA_RESULT, (uint16_t)item->access.remote};

        if (item->parts != NULL)
            check(world, item->id == SG_ACTION_WRITE_RESULT
                             ? sg_payload_store(&payload, result, item->parts->values)
                             : sg_payload_put(&payload, item->access.remote, item->parts->values));
        return;
    }
    *answer = parts_new(world, 1);
    if (*answer != NULL)
        check(world,
              sg_payload_get(&payload, item->access.remote, item->access.bytes, (*answer)->values));
}

void sg_values_land(struct world *world, const struct item *reply)
{
    struct sg_payload payload;

    if (world->values == NULL || reply->parts == NULL)
        return;
    payload = payload_of(world, reply->endpoint);
    check(world, sg_payload_store(&payload, reply->reply.into, reply->parts->values));
}

void sg_values_check(struct world *world, int32_t endpoint, uint32_t seq)
{
    const struct sg_algo_call *call = &world->setup->call;
    const struct sg_value *value;
    struct sg_payload payload;

    if (world->values == NULL || call->bytes == 0 ||
        (call->operation == SG_OPERATION_REDUCE && call->root != endpoint))
        return;
    payload = payload_of(world, endpoint);
    value = &payload.results[seq % world->credits];
    if (value->count != (uint32_t)world->setup->endpoints || value->instance != seq)
        sg_world_fail(world, SG_ERR_ARGUMENT, "sim: endpoint %d lacks contributions in its result",
                      (int)endpoint);
    /* A sum: endpoints finish in any order, and equal ones must not cancel out. */
    world->result.result += sg_hash_mix(value->hash ^ (uint64_t)seq << 32);
}
