/* The choice of a call between machines whose rules tell call sites apart: that of the rank that
 * comes first, which is found out by one-sided access to words at endpoint 0, the home. No
 * processor there takes part, so nobody waits for who is late.
 *
 * Of each machine one rank asks, once a call: it takes a ticket (fetch-and-add). The first of the
 * call writes what it brings, and all read until that is there: the first one, too, because nothing
 * of a process may be under way when another of its endpoint asks. Words are used again after
 * SG_SPAN_HOME_CALLS calls. A ticket's count goes on, so a machine that comes second to the call
 * before must have taken its ticket for that: calls are parted in quarters, each machine says which
 * ones all its ranks have read, and a quarter is begun when all machines have read what its words
 * held before.
 */
#include "engine/span_layout.h"

#include <stddef.h>

#define CALLS SG_SPAN_HOME_CALLS
#define QUARTER (CALLS / 4)
#define HOME 0
/* Cells of struct sg_span_home. */
#define TICKETS 0
#define DECIDED CALLS
#define PASSED (2 * CALLS)

enum { TELL, TOLD, ROOM, TICKET, WRITE, READ };

static bool begin(struct sg_span *span, enum sg_action_kind kind, uint32_t cell, uint64_t value)
{
    struct sg_transport_region region = {.object = SG_SPAN_HOME_ONLY,
                                         .cells = (_Atomic uint64_t *)&span->header->home,
                                         .cells_count = sizeof span->header->home / 8};
    struct sg_action action = {
        .kind = (uint8_t)kind, .to = HOME, .access = {.remote = cell, .count = 1, .value = value}};
    uint64_t values[8] = {0};
    enum sg_transport_result result;

    atomic_store_explicit(&span->asking.is_there, false, memory_order_relaxed);
    sg_span_lock(span);
    result = span->ops->access(span->transport, span->endpoint, &action, &region, NULL, values);
    sg_span_unlock(span);
    if (result == SG_TRANSPORT_DONE) {
        span->asking.value = values[0];
        atomic_store_explicit(&span->asking.is_there, true, memory_order_relaxed);
    }
    return result != SG_TRANSPORT_FULL;
}

void sg_span_hear_home(struct sg_span *span, const struct sg_transport_message *message)
{
    span->asking.value = message->value[0];
    /* Release: pairs with reach, in another thread of this process. */
    atomic_store_explicit(&span->asking.is_there, true, memory_order_release);
}

/* False: no answer yet. */
static bool reach(struct sg_span *span, enum sg_action_kind kind, uint32_t cell, uint64_t value)
{
    struct sg_span_asking *asking = &span->asking;

    if (!asking->is_under_way)
        asking->is_under_way = begin(span, kind, cell, value);
    if (!atomic_load_explicit(&asking->is_there, memory_order_acquire))
        sg_span_look(span);
    if (!asking->is_under_way || !atomic_load_explicit(&asking->is_there, memory_order_acquire))
        return false;
    asking->is_under_way = false;
    return true;
}

static uint32_t passed_cell(uint64_t quarter)
{
    return PASSED + (uint32_t)(quarter % SG_SPAN_HOME_QUARTERS);
}

/* A quarter that all ranks here have read, and that nobody here has told of: TOLD; else ROOM. */
static int next_to_tell(struct sg_span *span)
{
    /* Relaxed: who asks tells, one rank here at a time; each has read what the last one wrote. */
    uint64_t quarter = atomic_load_explicit(&span->header->quarters, memory_order_relaxed);

    return sg_span_have_all_chosen(span, (quarter + 1) * QUARTER) ? TOLD : ROOM;
}

static bool has_room(struct sg_span *span, uint64_t quarter, bool *answered)
{
    uint64_t before = quarter - 4;

    *answered = true;
    if (quarter < 4 || quarter <= span->asking.roomy)
        return true;
    *answered = reach(span, SG_ACTION_READ_CELLS, passed_cell(before), 0);
    if (!*answered ||
        span->asking.value < (before / SG_SPAN_HOME_QUARTERS + 1) * (uint64_t)span->machines)
        return false;
    span->asking.roomy = quarter;
    return true;
}

/* One stage; false: it is not over. */
static bool step(struct sg_span *span, uint64_t number, uint64_t own, uint64_t *word)
{
    struct sg_span_asking *asking = &span->asking;
    uint32_t cell = (uint32_t)(number % CALLS);
    uint64_t quarter;
    bool answered;

    switch (asking->stage) {
    case TELL:
        asking->stage = (uint8_t)next_to_tell(span);
        return true;
    case TOLD:
        quarter = atomic_load_explicit(&span->header->quarters, memory_order_relaxed);
        if (!reach(span, SG_ACTION_FETCH_ADD, passed_cell(quarter), 1))
            return false;
        atomic_store_explicit(&span->header->quarters, quarter + 1, memory_order_relaxed);
        asking->stage = TELL;
        return true;
    case ROOM:
        if (has_room(span, number / QUARTER, &answered))
            asking->stage = TICKET;
        else if (answered)
            asking->stage = TELL;
        return asking->stage == TICKET;
    case TICKET:
        if (!reach(span, SG_ACTION_FETCH_ADD, TICKETS + cell, 1))
            return false;
        asking->stage = asking->value == number / CALLS * (uint64_t)span->machines ? WRITE : READ;
        return true;
    case WRITE:
        if (reach(span, SG_ACTION_WRITE_CELL, DECIDED + cell, own))
            asking->stage = READ;
        return asking->stage == READ;
    default:
        if (!reach(span, SG_ACTION_READ_CELLS, DECIDED + cell, 0))
            return false;
        *word = asking->value;
        return *word >> 32 == own >> 32;
    }
}

bool sg_span_decide(struct sg_span *span, uint64_t number, uint64_t own, uint64_t *word)
{
    struct sg_span_asking *asking = &span->asking;

    asking->is_waiting = true;
    for (;;) {
        bool is_last = asking->stage == READ;

        if (!step(span, number, own, word))
            return false;
        if (is_last) {
            asking->stage = TELL;
            asking->is_waiting = false;
            return true;
        }
    }
}
