/* Sleeping ranks of a node, as sleepers.h says. The wait ladder finds many ranks on few processors,
 * so that a rank sleeps at once and for long. The checker takes a long sleep for one that only a
 * wake-up ends. */
#include "weak/sleepers.h"

#include "intranode/ring.h"
#include "mpi/real.h"
#include "wait/processors.h"
#include "wait/turn.h"
#include "wait/wait.h"

/* Sleeps are long already (LONG_SLEEPERS in wait.c): when the first of them may be is a matter of
 * time, which the memory model does not have. */
static _Atomic uint32_t sleepers = UINT32_C(0x80000000), slot_sleepers = UINT32_C(0x80000000);
static _Atomic uint32_t wake, slot_wake;
static const struct sg_wait_queue queue = {&sleepers, &wake, NULL, true};
static const struct sg_wait_queue slot_queue = {&slot_sleepers, &slot_wake, NULL, true};

struct waiting {
    struct sg_node_op *op;
    enum sg_node_step step;
    uint64_t steps; /* steps_of the call when the wait began */
};

static uint64_t steps_of(const struct sg_node_op *op)
{
    return op->position << 36 | (uint64_t)op->state << 32 |
           (uint32_t)(op->stage_count[0] + op->stage_count[1] + op->stage_count[2]);
}

static bool has_advanced(const struct waiting *waiting)
{
    return waiting->step != SG_NODE_WAIT || steps_of(waiting->op) != waiting->steps;
}

static bool is_ready(void *context)
{
    struct waiting *waiting = context;

    waiting->step = sg_node_poll(waiting->op);
    return has_advanced(waiting);
}

static void tell(struct sg_node_op *op)
{
    bool tells = sg_wait_has_sleepers(&queue) && sg_op_tells(op);

    op->told = 0;
    if (tells)
        sg_wait_wake(&queue);
    if (sg_wait_has_sleepers(&slot_queue) && sg_node_frees_slot(op->node))
        sg_wait_wake(&slot_queue);
}

void sleepers_complete(struct sg_node_op *op)
{
    struct waiting waiting = {op, sg_node_poll(op), 0};
    struct sg_wait wait;

    tell(op);
    while (waiting.step == SG_NODE_WAIT) {
        /* Past the ladder's first rungs. */
        wait = (struct sg_wait){.steps = 1000, .begin_ns = 1};
        waiting.steps = steps_of(op);
        sg_wait_step(&wait, op->stalled ? &slot_queue : &queue, is_ready, &waiting);
        if (waiting.step == SG_NODE_WAIT)
            waiting.step = sg_node_poll(op);
        if (has_advanced(&waiting))
            tell(op);
    }
}

/* ---- the machine ---- */

struct sg_real sg_real;
__thread struct sg_turns sg_turns;

enum sg_wait_mode sg_turn_mode(void)
{
    return SG_WAIT_AUTO;
}

bool sg_turn_is_contested(void)
{
    return true;
}

void sg_turn_look(void)
{
}

bool sg_turn_yield(void)
{
    return false;
}

void sg_turn_slept(uint64_t time_ns)
{
    (void)time_ns;
}

int sg_processors_crowd(void)
{
    return 1000;
}

bool sg_processors_keep_apart(void)
{
    return true;
}
