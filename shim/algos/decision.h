/* What an endpoint did on an event, in a form that the hosts of algo.h can compare: the simulator
 * that is fed the events of a live run in the same order decides the same.
 *
 * Pure; in any thread, in a signal handler too.
 */
#ifndef SG_ALGOS_DECISION_H
#define SG_ALGOS_DECISION_H

#include "algos/algo.h"
#include "core/hash.h"

/* After the kinds of enum sg_event_kind: on_drain. */
#define SG_DECISION_DRAIN (SG_EVENT_POST + 1)

/* Every member is set, padding is zeroed. */
struct sg_decision {
    uint64_t communicator;
    uint32_t protocol; /* of the communicator */
    uint32_t algo;     /* index in sg_algos */
    int32_t rank, size;
    struct sg_algo_parameters parameters;
    uint32_t kind; /* enum sg_event_kind without POST, or SG_DECISION_DRAIN */
    uint32_t timer;
    struct sg_algo_call call;
    struct sg_message message;
    uint32_t tag;       /* of a REPLY */
    uint64_t values[8]; /* ... its; of a TIMER by a watch, the first */
    uint32_t count;     /* actions */
    uint64_t hash;      /* of them */
};

static inline uint64_t sg_decision_add(uint64_t hash, uint64_t value)
{
    return sg_hash_mix(hash ^ value);
}

static inline uint64_t sg_decision_add_data(uint64_t hash, struct sg_data data)
{
    return sg_decision_add(hash, (uint64_t)data.kind << 16 | data.index);
}

static inline uint64_t sg_decision_add_send(uint64_t hash, const struct sg_actions *actions,
                                            const struct sg_action *action)
{
    const struct sg_header *header = &action->send.header;

    hash = sg_hash_bytes(hash, header, sizeof *header);
    for (uint32_t i = 0; i < header->parts; i++)
        hash = sg_decision_add_data(hash, actions->parts[action->send.parts_at + i]);
    return sg_decision_add(hash, action->solicited);
}

/* Of what the actions do; times, which differ from clock to clock, are left out. */
static inline uint64_t sg_decision_hash(const struct sg_actions *actions)
{
    uint64_t hash = SG_HASH_START;

    for (uint32_t i = 0; i < actions->count; i++) {
        const struct sg_action *action = &actions->list[i];

        hash = sg_decision_add(hash, action->kind);
        switch ((enum sg_action_kind)action->kind) {
        case SG_ACTION_SEND:
            hash = sg_decision_add(hash, (uint32_t)action->to);
            hash = sg_decision_add_send(hash, actions, action);
            break;
        case SG_ACTION_MULTICAST:
            hash = sg_decision_add_send(hash, actions, action);
            break;
        case SG_ACTION_REDUCE:
            hash = sg_decision_add_data(hash, action->data.left);
            hash = sg_decision_add_data(hash, action->data.right);
            hash = sg_decision_add_data(hash, action->data.into);
            hash = sg_decision_add(hash, (uint64_t)action->data.seq << 32 | action->data.bytes);
            break;
        case SG_ACTION_COPY:
        case SG_ACTION_AWAIT:
            hash = sg_decision_add_data(hash, action->data.from);
            hash = sg_decision_add_data(hash, action->data.into);
            hash = sg_decision_add(hash, action->data.bytes);
            break;
        case SG_ACTION_FINISH:
            hash = sg_decision_add(hash, action->instance.seq);
            break;
        case SG_ACTION_WRITE:
        case SG_ACTION_WRITE_RESULT:
        case SG_ACTION_WRITE_CELL:
        case SG_ACTION_FETCH_ADD:
        case SG_ACTION_READ:
        case SG_ACTION_READ_CELLS:
        case SG_ACTION_WATCH:
            hash = sg_decision_add(hash, (uint64_t)(uint32_t)action->to << 32 | action->id);
            hash =
                sg_decision_add(hash, (uint64_t)action->access.remote << 32 | action->access.tag);
            hash =
                sg_decision_add(hash, (uint64_t)action->access.bytes << 32 | action->access.count);
            hash = sg_decision_add(hash, action->access.value);
            hash = sg_decision_add_data(hash, action->access.from);
            hash = sg_decision_add_data(hash, action->access.into);
            break;
        default:
            hash = sg_decision_add(hash, action->id);
        }
    }
    return hash;
}

#endif
