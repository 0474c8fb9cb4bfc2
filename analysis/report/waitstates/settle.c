#include "report/waitstates/settle.h"

#include <stdlib.h>

enum sg_status sg_waitstate_settling_start(struct sg_waitstate_settling *settling,
                                           struct sg_waitstate_sums *sums,
                                           struct sg_waitstate_skews *skews, uint32_t ranks)
{
    *settling = (struct sg_waitstate_settling){.sums = sums, .skews = skews};
    settling->receivers = calloc((size_t)ranks + 1, sizeof *settling->receivers);
    return settling->receivers != NULL ? SG_OK : SG_ERR_MEMORY;
}

void sg_waitstate_settling_clear(struct sg_waitstate_settling *settling)
{
    free(settling->receivers);
    settling->receivers = NULL;
}

/* ---- messages under way ---------------------------------------------------------------------- */

void sg_waitstate_set_out(struct sg_waitstate_settling *settling, uint32_t rank,
                          struct sg_waitstate_underway *message)
{
    struct sg_waitstate_receiver *receiver = &settling->receivers[rank];
    struct sg_waitstate_underway *before = receiver->newest;

    /* Events are told when they happen, calls of several threads begin in any order before. */
    while (before != NULL && before->sent_ns > message->sent_ns)
        before = before->older;
    message->older = before;
    message->newer = before != NULL ? before->newer : receiver->oldest;
    *(before != NULL ? &before->newer : &receiver->oldest) = message;
    *(message->newer != NULL ? &message->newer->older : &receiver->newest) = message;
}

void sg_waitstate_take_off(struct sg_waitstate_settling *settling, uint32_t rank,
                           struct sg_waitstate_underway *message)
{
    struct sg_waitstate_receiver *receiver = &settling->receivers[rank];

    *(message->older != NULL ? &message->older->newer : &receiver->oldest) = message->newer;
    *(message->newer != NULL ? &message->newer->older : &receiver->newest) = message->older;
}

static void suspect(struct sg_waitstate_receiver *receiver, const struct sg_waitstate_suspect *wait)
{
    receiver->suspects[receiver->next] = *wait;
    receiver->next = (receiver->next + 1) % SG_WAITSTATE_SUSPECTS;
    if (receiver->suspect_count < SG_WAITSTATE_SUSPECTS)
        receiver->suspect_count++;
}

void sg_waitstate_took(struct sg_waitstate_settling *settling, uint32_t rank, int64_t sent_ns,
                       int64_t received_ns)
{
    struct sg_waitstate_receiver *receiver = &settling->receivers[rank];
    uint32_t count = receiver->suspect_count, kept = 0;
    struct sg_waitstate_suspect suspects[SG_WAITSTATE_SUSPECTS];

    receiver->taken[receiver->taken_count++ % SG_WAITSTATE_SUSPECTS] =
        (struct sg_waitstate_taken){sent_ns, received_ns};
    if (count == 0)
        return;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (receiver->next + SG_WAITSTATE_SUSPECTS - count + i) % SG_WAITSTATE_SUSPECTS;
        const struct sg_waitstate_suspect *wait = &receiver->suspects[at];

        if (sent_ns < wait->sent_ns && received_ns > wait->leave_ns)
            sg_waitstate_sums_wrong_order(settling->sums, wait->row, wait->wait_ns);
        else
            suspects[kept++] = *wait;
    }
    for (uint32_t i = 0; i < kept; i++)
        receiver->suspects[i] = suspects[i];
    receiver->suspect_count = kept;
    receiver->next = kept % SG_WAITSTATE_SUSPECTS;
}

/* Whether a message that is older than the late one was received later. */
static bool has_overtaken(const struct sg_waitstate_receiver *receiver,
                          const struct sg_waitstate_call *call)
{
    for (uint32_t i = 0; i < SG_WAITSTATE_SUSPECTS && i < receiver->taken_count; i++) {
        if (receiver->taken[i].sent_ns < call->until_ns &&
            receiver->taken[i].received_ns > call->leave_ns)
            return true;
    }
    return false;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static enum sg_status settle(struct sg_waitstate_settling *settling,
                             const struct sg_waitstate_call *call)
{
    struct sg_waitstate_receiver *receiver = &settling->receivers[call->who.rank];
    struct sg_waitstate wait;
    enum sg_status status;
    uint32_t row;

    if (!sg_waitstate_call_wait(call, &wait))
        return SG_OK;
    if (wait.skew != 0)
        sg_waitstate_skews_wait(settling->skews, wait.skew, wait.wait_ns);
    if (settling->critical != NULL)
        sg_critical_wait(settling->critical, call->who.location, call->enter_ns, call->until_ns,
                         call->other.location);
    status = settling->waited != NULL ? settling->waited(settling->waited_context, &wait) : SG_OK;
    if (status != SG_OK)
        return status;
    status = sg_waitstate_sums_add(settling->sums, &wait, &row);
    if (status != SG_OK || row == SG_WAITSTATE_LEFT_OUT || wait.kind != SG_WAITSTATE_LATE_SENDER)
        return status;
    if (has_overtaken(receiver, call))
        sg_waitstate_sums_wrong_order(settling->sums, row, wait.wait_ns);
    else if (receiver->oldest != NULL && receiver->oldest->sent_ns < call->until_ns)
        suspect(receiver,
                &(struct sg_waitstate_suspect){call->until_ns, call->leave_ns, wait.wait_ns, row});
    return status;
}

enum sg_status sg_waitstate_let_go(struct sg_waitstate_settling *settling,
                                   struct sg_waitstate_call *call)
{
    enum sg_status status;

    if (!sg_waitstate_call_release(call))
        return SG_OK;
    status = settle(settling, call);
    free(call);
    sg_waitstate_gone(settling);
    return status;
}
