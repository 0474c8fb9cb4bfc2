/* The posts of a bcs endpoint: takes them from the event loop, delivers them, and does the work of
 * strobes for them.
 *
 * With messages, a slice has a separate strobe for the exchange of descriptors, because nothing may
 * be matched before all have arrived. An endpoint that has something to offer or to match asks for
 * such a slice by WANT, up the tree. It is armed from its setup on: others may offer it a message
 * at any time. */
#include "bcs/posts.h"

#include <string.h>

/* ---- setup ----------------------------------------------------------------------------------- */

uint32_t sg_bcs_out_slots(uint32_t posts)
{
    return posts / 2 < 2 ? 2 : posts / 2 > SG_BCS_OUT_MAX ? SG_BCS_OUT_MAX : posts / 2;
}

uint32_t sg_bcs_in_slots(uint32_t posts)
{
    return posts / 4 < 1 ? 1 : posts / 4 > SG_BCS_IN_MAX ? SG_BCS_IN_MAX : posts / 4;
}

void sg_bcs_init_messages(struct sg_bcs *s, const struct sg_algo_setup *setup, uint32_t first_slot,
                          uint32_t chunk_bytes)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);

    m->posts = setup->parameters.posts;
    m->exchange = s->strobe.index;
    m->chunk_bytes = chunk_bytes;
    m->out_count = sg_bcs_out_slots(m->posts);
    m->in_count = sg_bcs_in_slots(m->posts);
    m->first_out = first_slot;
    m->first_in = first_slot + m->out_count;
    m->out_free = (1u << m->out_count) - 1;
    m->in_free = (1u << m->in_count) - 1;
}

/* ---- posts ----------------------------------------------------------------------------------- */

static void add_send(struct sg_bcs *s, const struct sg_algo_post *post)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);
    struct sg_bcs_send *send = sg_bcs_sends(m);

    while (send->state != SG_BCS_SEND_FREE)
        send++;
    sg_bcs_send_order(m)[m->sends++] = (uint16_t)(send - sg_bcs_sends(m));
    *send = (struct sg_bcs_send){
        .handle = post->handle,
        .number = post->number,
        .bytes = post->bytes,
        .to = post->peer,
        .tag = post->tag,
        .local = post->local,
        .to_local = post->peer_local,
        .since = m->exchange + 1,
        .state = SG_BCS_SEND_QUEUED,
        .slot = SG_BCS_NO_SLOT,
    };
    sg_bcs_want(s, m);
}

static struct sg_bcs_receive receive_of(const struct sg_bcs_messages *m,
                                        const struct sg_algo_post *post)
{
    return (struct sg_bcs_receive){
        .handle = post->handle,
        .bytes = post->bytes,
        .from = post->peer,
        .tag = post->tag,
        .local = post->local,
        .from_local = post->peer_local,
        .since = m->exchange + 1,
        .state = SG_BCS_RECEIVE_WAITING,
        .is_probe = post->kind == SG_POST_PROBE,
    };
}

/* A receive alone asks for no slice: its sender does, unless the message has been offered
 * before. */
static void add_receive(struct sg_bcs *s, const struct sg_algo_post *post)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);
    struct sg_bcs_receive *receive = sg_bcs_receives(m);

    while (receive->state != SG_BCS_RECEIVE_FREE)
        receive++;
    sg_bcs_receive_order(m)[m->receives++] = (uint16_t)(receive - sg_bcs_receives(m));
    *receive = receive_of(m, post);
    if (m->refused || sg_bcs_find_unexpected(m, receive) != NULL)
        sg_bcs_want(s, m);
}

static struct sg_action *deliver(uint32_t handle, enum sg_outcome outcome,
                                 struct sg_actions *actions)
{
    struct sg_action *action = sg_emit(actions, SG_ACTION_DELIVER);

    action->delivery.handle = handle;
    action->delivery.outcome = outcome;
    return action;
}

static void answer_iprobe(struct sg_bcs *s, const struct sg_algo_post *post,
                          struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);
    const struct sg_bcs_receive receive = receive_of(m, post);
    struct sg_bcs_descriptor *found = sg_bcs_find_unexpected(m, &receive);
    struct sg_action *action =
        deliver(post->handle, found != NULL ? SG_OUTCOME_WHOLE : SG_OUTCOME_NOTHING, actions);

    if (found == NULL)
        return;
    action->delivery.source = found->from;
    action->delivery.source_local = found->local;
    action->delivery.tag = found->tag;
    action->delivery.bytes = found->bytes;
}

void sg_bcs_post(struct sg_bcs *s, const struct sg_algo_post *post, struct sg_actions *actions)
{
    if (post->kind == SG_POST_IPROBE) {
        answer_iprobe(s, post, actions);
        return;
    }
    s->head.outstanding++;
    if (post->kind == SG_POST_SEND)
        add_send(s, post);
    else
        add_receive(s, post);
}

/* ---- deliveries ------------------------------------------------------------------------------ */

static bool may_deliver(const struct sg_bcs *s, const struct sg_bcs_messages *m, uint64_t strobe)
{
    return !s->restart_slice || strobe <= m->restarted;
}

static void forget(uint16_t *order, uint32_t *count, uint32_t i)
{
    --*count;
    memmove(&order[i], &order[i + 1], (*count - i) * sizeof *order);
}

static void deliver_sends(struct sg_bcs *s, struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);
    uint16_t *order = sg_bcs_send_order(m);

    for (uint32_t i = 0; i < m->sends && sg_bcs_has_room(actions);) {
        struct sg_bcs_send *send = &sg_bcs_sends(m)[order[i]];

        if (send->state != SG_BCS_SEND_TAKEN || !may_deliver(s, m, send->taken)) {
            i++;
            continue;
        }
        deliver(send->handle, SG_OUTCOME_WHOLE, actions);
        send->state = SG_BCS_SEND_FREE;
        forget(order, &m->sends, i);
        s->head.outstanding--;
    }
}

static void deliver_receive(struct sg_bcs_receive *receive, struct sg_actions *actions)
{
    bool is_cut = !receive->is_probe && receive->source_bytes > receive->bytes;
    struct sg_action *action =
        deliver(receive->handle, is_cut ? SG_OUTCOME_TRUNCATED : SG_OUTCOME_WHOLE, actions);

    action->delivery.source = receive->source;
    action->delivery.source_local = receive->source_local;
    action->delivery.tag = receive->source_tag;
    action->delivery.bytes = is_cut ? receive->bytes : receive->source_bytes;
    receive->state = SG_BCS_RECEIVE_FREE;
}

static void deliver_receives(struct sg_bcs *s, struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);
    uint16_t *order = sg_bcs_receive_order(m);

    for (uint32_t i = 0; i < m->receives && sg_bcs_has_room(actions);) {
        struct sg_bcs_receive *receive = &sg_bcs_receives(m)[order[i]];

        if (receive->state != SG_BCS_RECEIVE_OVER || receive->draining > 0 ||
            !may_deliver(s, m, receive->over)) {
            i++;
            continue;
        }
        deliver_receive(receive, actions);
        forget(order, &m->receives, i);
        s->head.outstanding--;
    }
}

/* ---- strobes --------------------------------------------------------------------------------- */

void sg_bcs_begin_messages(struct sg_bcs *s, uint64_t restarted, struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);

    if (m == NULL)
        return;
    if (restarted > 0)
        m->restarted = restarted;
    m->transferring = false;
    if (!(s->strobe.mask & SG_BCS_MESSAGES))
        return;
    m->transferring = s->strobe.mask & SG_BCS_TRANSFER;
    if (s->strobe.mask & SG_BCS_DESCRIPTORS)
        sg_bcs_begin_exchange(s, s->strobe.index, actions);
    if (s->strobe.mask & SG_BCS_SCHEDULING) {
        sg_bcs_match(s, actions);
        sg_bcs_grant(s, actions);
    }
}

void sg_bcs_go_on_messages(struct sg_bcs *s, uint64_t now_ns, struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);

    if (m == NULL)
        return;
    sg_bcs_offer(s, actions);
    sg_bcs_refuse(s, actions);
    sg_bcs_transfer(s, actions);
    deliver_sends(s, actions);
    deliver_receives(s, actions);
    if (sg_bcs_has_room(actions) || m->more)
        return;
    m->more = true;
    sg_emit_set_timer(actions, SG_BCS_TIMER_MORE, now_ns);
}

bool sg_bcs_are_messages_done(struct sg_bcs *s)
{
    uint32_t mask = s->strobe.mask;

    if (sg_bcs_messages(s) == NULL || !(mask & SG_BCS_MESSAGES))
        return true;
    return (!(mask & SG_BCS_DESCRIPTORS) || sg_bcs_has_exchanged(s)) &&
           (!(mask & SG_BCS_SCHEDULING) || sg_bcs_has_matched(s)) &&
           (!(mask & SG_BCS_TRANSFER) || sg_bcs_has_transferred(s));
}

/* ---- the end --------------------------------------------------------------------------------- */

bool sg_bcs_is_left(struct sg_bcs *s)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);

    return m == NULL || (s->drained && m->sends == 0 && m->receives == 0 &&
                         m->left_below == (UINT64_C(1) << s->children) - 1);
}

void sg_bcs_take_left(struct sg_bcs *s, int child)
{
    sg_bcs_messages(s)->left_below |= 1u << child;
}
