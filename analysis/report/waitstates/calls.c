#include "report/waitstates/calls.h"

#include <stdlib.h>

struct sg_waitstate_call *sg_waitstate_call_new(const struct sg_waitstate_end *who,
                                                int64_t enter_ns)
{
    struct sg_waitstate_call *call = calloc(1, sizeof *call);

    if (call == NULL)
        return NULL;
    call->who = *who;
    call->enter_ns = call->until_ns = enter_ns;
    call->holders = 1;
    return call;
}

struct sg_waitstate_call *sg_waitstate_call_hold(struct sg_waitstate_call *call)
{
    if (call != NULL)
        call->holders++;
    return call;
}

void sg_waitstate_call_offer(struct sg_waitstate_call *call, const struct sg_waitstate_cause *cause)
{
    if (call == NULL || call->only_tests || cause->ready_ns < call->until_ns)
        return;
    /* Of what came at the same time it is the same that counts, in whatever order it is told. */
    if (cause->ready_ns == call->until_ns &&
        (call->until_ns == call->enter_ns || cause->kind >= call->kind))
        return;
    if (!cause->is_bounded && call->has_left && cause->ready_ns >= call->leave_ns)
        return;
    call->until_ns = cause->ready_ns;
    call->kind = cause->kind;
    call->comm = cause->comm;
    call->other = cause->other;
    call->skew = cause->skew;
}

bool sg_waitstate_call_release(struct sg_waitstate_call *call)
{
    return call != NULL && --call->holders == 0;
}

bool sg_waitstate_call_wait(const struct sg_waitstate_call *call, struct sg_waitstate *out)
{
    int64_t until_ns = call->until_ns < call->leave_ns ? call->until_ns : call->leave_ns;

    if (!call->has_left || until_ns <= call->enter_ns)
        return false;
    *out = (struct sg_waitstate){.kind = call->kind,
                                 .at = call->who,
                                 .other = call->other,
                                 .comm = call->comm,
                                 .begin_ns = call->enter_ns,
                                 .wait_ns = (uint64_t)until_ns - (uint64_t)call->enter_ns,
                                 .skew = call->skew};
    return true;
}
