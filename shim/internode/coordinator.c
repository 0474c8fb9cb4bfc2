/* One rank of each machine asks about an item (agree.c lists them), once: it takes a ticket
 * (fetch-and-add). The first machine of all writes its value, and all read until the value is
 * there. The first one reads, too, because none of a process's requests may be outstanding when
 * another process of its endpoint asks.
 *
 * An item's words are reused for later items, and the ticket count continues. A machine that comes
 * second to the later item must therefore have taken its ticket for the earlier one: agree.c
 * ensures that. For it this file counts the quarters that all ranks of each machine have read; a
 * rank can ask whether all machines have.
 */
#include "internode/coordinator.h"

#include "internode/endpoint.h"

#include <stddef.h>

#define COORDINATOR 0
#define CELL(member) ((uint32_t)(offsetof(struct sg_coordinator, member) / sizeof(uint64_t)))

/* Offsets of the items' words in struct sg_coordinator, and their number. */
static const struct {
    uint32_t tickets, decided, count;
} cells_of[] = {
    [SG_AGREEMENT_CHOICE] = {CELL(tickets), CELL(decided), SG_INTERNODE_CHOICES},
    [SG_AGREEMENT_OPENING] = {CELL(opening_tickets), CELL(openings), SG_INTERNODE_OPENINGS},
};

enum { TICKET, WRITE, READ, DONE };

static bool begin(struct sg_internode *internode, enum sg_action_kind kind, uint32_t cell,
                  uint64_t value)
{
    struct sg_transport_region region = {.protocol = SG_INTERNODE_COORDINATOR_ONLY,
                                         .cells =
                                             sg_internode_at(internode, internode->coordinator_at),
                                         .cells_count = sizeof(struct sg_coordinator) / 8};
    struct sg_action action = {.kind = (uint8_t)kind,
                               .to = COORDINATOR,
                               .access = {.remote = cell, .count = 1, .value = value}};
    uint64_t values[8] = {0};
    enum sg_transport_result result;

    atomic_store_explicit(&internode->asking.is_there, false, memory_order_relaxed);
    sg_endpoint_lock(internode);
    result = internode->ops->access(internode->transport, internode->endpoint, &action, &region,
                                    NULL, values);
    sg_endpoint_unlock(internode);
    if (result == SG_TRANSPORT_DONE)
        sg_internode_keep_answer(&internode->asking, values[0]);
    return result != SG_TRANSPORT_FULL;
}

/* False: no answer yet. */
static bool ask(struct sg_internode *internode, enum sg_action_kind kind, uint32_t cell,
                uint64_t value)
{
    struct sg_coordinator_request *asking = &internode->asking;

    if (!asking->is_under_way)
        asking->is_under_way = begin(internode, kind, cell, value);
    if (!atomic_load_explicit(&asking->is_there, memory_order_acquire))
        sg_endpoint_poll(internode);
    if (!asking->is_under_way || !atomic_load_explicit(&asking->is_there, memory_order_acquire))
        return false;
    asking->is_under_way = false;
    return true;
}

/* ---- quarters ---- */

static uint32_t passed_cell(uint64_t quarter)
{
    return CELL(passed) + (uint32_t)(quarter % SG_INTERNODE_OPENINGS);
}

bool sg_coordinator_tell(struct sg_internode *internode, uint64_t quarters)
{
    struct sg_coordinator_request *asking = &internode->asking;

    for (;;) {
        /* Relaxed: the rank that increments the count reports it, whatever others do. */
        if (!asking->is_telling) {
            asking->told = atomic_load_explicit(&internode->header->told, memory_order_relaxed);
            if (asking->told >= quarters)
                return true;
            asking->is_telling = atomic_compare_exchange_strong_explicit(
                &internode->header->told, &asking->told, asking->told + 1, memory_order_relaxed,
                memory_order_relaxed);
        } else if (ask(internode, SG_ACTION_FETCH_ADD, passed_cell(asking->told), 1)) {
            asking->is_telling = false;
        } else {
            return false;
        }
    }
}

bool sg_coordinator_ask_passed(struct sg_internode *internode, uint64_t quarter, bool *has_passed)
{
    if (!ask(internode, SG_ACTION_READ_CELLS, passed_cell(quarter), 0))
        return false;
    *has_passed = internode->asking.value >=
                  (quarter / SG_INTERNODE_OPENINGS + 1) * (uint64_t)internode->by_machine.groups;
    return true;
}

/* ---- items ---- */

/* Runs one stage; false: not finished. */
static bool step(struct sg_internode *internode, enum sg_agreement thing, uint64_t number,
                 uint64_t own)
{
    struct sg_coordinator_request *asking = &internode->asking;
    uint32_t count = cells_of[thing].count, at = (uint32_t)(number % count);

    switch (asking->stage) {
    case TICKET:
        if (!ask(internode, SG_ACTION_FETCH_ADD, cells_of[thing].tickets + at, 1))
            return false;
        asking->stage =
            asking->value == number / count * (uint64_t)internode->by_machine.groups ? WRITE : READ;
        return true;
    case WRITE:
        if (ask(internode, SG_ACTION_WRITE_CELL, cells_of[thing].decided + at, own))
            asking->stage = READ;
        return asking->stage == READ;
    default:
        if (ask(internode, SG_ACTION_READ_CELLS, cells_of[thing].decided + at, 0) &&
            sg_internode_is_of(asking->value, number))
            asking->stage = DONE;
        return asking->stage == DONE;
    }
}

bool sg_coordinator_decide(struct sg_internode *internode, enum sg_agreement thing, uint64_t number,
                           uint64_t own, uint64_t *word)
{
    while (internode->asking.stage != DONE) {
        if (!step(internode, thing, number, own))
            return false;
    }
    *word = internode->asking.value;
    internode->asking.stage = TICKET;
    return true;
}
