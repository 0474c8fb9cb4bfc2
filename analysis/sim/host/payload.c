#include "sim/host/payload.h"

#include "core/hash.h"

struct sg_value sg_value_contribution(uint32_t instance, int32_t rank, uint32_t bytes,
                                      uint32_t flags)
{
    uint64_t name = (uint64_t)instance << 32 | (uint32_t)rank;

    return (struct sg_value){
        .hash = sg_hash_mix(name + 1),
        .ranks = rank < SG_VALUE_RANKS ? UINT64_C(1) << rank : 0,
        .count = 1,
        .instance = instance,
        .bytes = bytes,
        .flags = flags,
    };
}

static uint64_t combine_hashes(uint64_t left, uint64_t right, uint32_t flags)
{
    if (flags & SG_CALL_EXACT)
        return left + right;
    if ((flags & SG_CALL_COMMUTATIVE) && left > right) {
        uint64_t other = left;

        left = right;
        right = other;
    }
    return sg_hash_mix(sg_hash_mix(left) + 3 * right + 1);
}

/* Whether some rank of `left` stands to the right of one of `right`. */
static bool out_of_order(uint64_t left, uint64_t right)
{
    return left != 0 && right != 0 && 63 - __builtin_clzll(left) > __builtin_ctzll(right);
}

const char *sg_value_combine(const struct sg_value *left, const struct sg_value *right,
                             struct sg_value *into)
{
    struct sg_value value = *left;

    if (left->count == 0 || right->count == 0)
        return "combines a buffer that holds nothing";
    if (left->instance != right->instance)
        return "combines values of two instances";
    if (left->bytes != right->bytes)
        return "combines values of two sizes";
    if (left->ranks & right->ranks)
        return "combines a contribution twice";
    if (!(left->flags & (SG_CALL_COMMUTATIVE | SG_CALL_EXACT)) &&
        out_of_order(left->ranks, right->ranks))
        return "combines operands out of order";
    value.hash = combine_hashes(left->hash, right->hash, left->flags);
    value.ranks |= right->ranks;
    value.count += right->count;
    *into = value;
    return NULL;
}

/* The buffer that a name stands for; *wrong says why there is none. */
static const struct sg_value *find(const struct sg_payload *payload, struct sg_data data,
                                   const char **wrong)
{
    switch (data.kind) {
    case SG_DATA_OPERAND:
        *wrong = payload->operand ? NULL : "names the operand outside a call with data";
        return payload->operand;
    case SG_DATA_RESULT:
        *wrong = data.index < payload->results_count ? NULL : "names a result beyond the credits";
        return *wrong ? NULL : &payload->results[data.index];
    case SG_DATA_SLOT:
        *wrong = data.index < payload->slots_count ? NULL : "names a slot that it has not";
        return *wrong ? NULL : &payload->slots[data.index];
    case SG_DATA_PART:
        *wrong = data.index < payload->parts_count ? NULL : "names a part that no message has";
        return *wrong ? NULL : &payload->parts[data.index];
    default:
        *wrong = "names data of no kind";
        return NULL;
    }
}

static const char *take(const struct sg_value *buffer, uint32_t bytes, struct sg_value *value)
{
    if (buffer->count == 0)
        return "reads a buffer that holds nothing";
    if (buffer->bytes != bytes)
        return "reads a value in a size not its own";
    *value = *buffer;
    return NULL;
}

const char *sg_payload_load(const struct sg_payload *payload, struct sg_data from, uint32_t bytes,
                            struct sg_value *value)
{
    const char *wrong;
    const struct sg_value *buffer = find(payload, from, &wrong);

    return buffer ? take(buffer, bytes, value) : wrong;
}

const char *sg_payload_store(struct sg_payload *payload, struct sg_data into,
                             const struct sg_value *value)
{
    const char *wrong;
    const struct sg_value *buffer = find(payload, into, &wrong);
    struct sg_value *target;

    if (buffer == NULL)
        return wrong;
    if (into.kind == SG_DATA_SLOT)
        target = &payload->slots[into.index];
    else if (into.kind == SG_DATA_RESULT)
        target = &payload->results[into.index];
    else
        return "writes to an operand or a message";
    *target = value ? *value : (struct sg_value){0};
    return NULL;
}

const char *sg_payload_carry_out(struct sg_payload *payload, const struct sg_action *action)
{
    bool reduce = action->kind == SG_ACTION_REDUCE;
    uint32_t bytes = action->data.bytes;
    struct sg_value value = {0}, right = {0};
    const char *wrong;

    wrong = sg_payload_load(payload, reduce ? action->data.left : action->data.from, bytes, &value);
    if (wrong == NULL && reduce)
        wrong = sg_payload_load(payload, action->data.right, bytes, &right);
    if (wrong == NULL && reduce)
        wrong = sg_value_combine(&value, &right, &value);
    if (wrong == NULL)
        wrong = sg_payload_store(payload, action->data.into, &value);
    return wrong;
}

const char *sg_payload_gather(const struct sg_payload *payload, const struct sg_action *action,
                              const struct sg_data *parts, struct sg_value *values)
{
    const struct sg_header *header = &action->send.header;

    if (header->parts > SG_PARTS_MAX)
        return "sends too many parts";
    for (uint32_t i = 0; i < header->parts; i++) {
        const char *wrong =
            sg_payload_load(payload, parts[action->send.parts_at + i], header->bytes, &values[i]);

        if (wrong)
            return wrong;
    }
    return NULL;
}

const char *sg_payload_put(struct sg_payload *target, uint32_t remote, const struct sg_value *value)
{
    if (remote >= target->slots_count)
        return "writes to a slot that the target has not";
    target->slots[remote] = *value;
    return NULL;
}

const char *sg_payload_get(const struct sg_payload *target, uint32_t remote, uint32_t bytes,
                           struct sg_value *value)
{
    if (remote >= target->slots_count)
        return "reads a slot that the target has not";
    *value = target->slots[remote];
    if (value->bytes != bytes)
        *value = (struct sg_value){0};
    return NULL;
}
