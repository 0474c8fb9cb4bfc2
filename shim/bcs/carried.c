/* Transfers the bytes of matched messages (paper: BCS-MPI, section 4.3). The receiver reads them
 * from a slot of the sender, chunk by chunk, as many as a slice's budget allows.
 *
 * The first chunk may be in a slot since the message was offered. The receiver asks for any other
 * (PULL). The sender's event loop fills a slot with it (FILLED) and keeps that slot until the
 * receiver asks for the next chunk, or has everything that the slice moves (TOOK): a sender that
 * waits for a slot in this slice must not wait for the next slice. A slot that came with the offer
 * may stay, for its message's next chunk. The receiver takes its own slot last, for one READ and
 * its DRAIN, which wait for nobody. */
#include "bcs/posts.h"

/* Sends to an endpoint, possibly this one. */
static void tell(struct sg_bcs *s, int32_t to, const struct sg_header *header,
                 struct sg_actions *actions)
{
    if (to == s->rank)
        sg_bcs_take_transfer(s, header, actions);
    else
        sg_emit_send(actions, to, header)->solicited = true;
}

static uint32_t least(uint32_t left, uint32_t right)
{
    return left < right ? left : right;
}

/* ---- budget of a slice ----------------------------------------------------------------------- */

static uint32_t all_of(const struct sg_bcs_receive *receive)
{
    return least(receive->bytes, receive->source_bytes);
}

static bool is_moving(const struct sg_bcs_receive *receive)
{
    return receive->state > SG_BCS_RECEIVE_WAITING && receive->state < SG_BCS_RECEIVE_OVER;
}

/* Returns the bytes that fit the rest of the budget: a message's end, or whole chunks; at least one
 * if is_first. */
static uint32_t give(const struct sg_bcs_messages *m, uint32_t wanted, uint32_t left, bool is_first)
{
    uint32_t given = wanted <= left ? wanted : left - left % m->chunk_bytes;

    return given == 0 && is_first ? least(wanted, m->chunk_bytes) : given;
}

void sg_bcs_grant(struct sg_bcs *s, struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);
    uint32_t given_all = 0;
    bool is_cut = false;

    for (uint32_t i = 0; i < m->receives; i++) {
        struct sg_bcs_receive *receive = &sg_bcs_receives(m)[sg_bcs_receive_order(m)[i]];
        uint32_t wanted, left, given;

        if (!is_moving(receive))
            continue;
        wanted = all_of(receive) - receive->moved;
        left = given_all < s->budget_bytes ? s->budget_bytes - given_all : 0;
        given = give(m, wanted, left, given_all == 0);
        given_all += given;
        receive->granted = receive->moved + given;
        is_cut |= given < wanted;
    }
    if (!is_cut)
        return;
    sg_emit_mark(actions, SG_MARK_CUT);
    sg_bcs_want(s, m);
}

/* ---- the receiver ---------------------------------------------------------------------------- */

static void ask(struct sg_bcs *s, uint32_t post, enum sg_bcs_kind kind, struct sg_actions *actions)
{
    const struct sg_bcs_receive *receive = &sg_bcs_receives(sg_bcs_messages(s))[post];
    struct sg_header header = {
        .seq = (uint32_t)s->strobe.index,
        .kind = (uint8_t)kind,
        .number = {[SG_BCS_POST] = receive->source_post,
                   [SG_BCS_ASKER] = post,
                   [SG_BCS_OFFSET] = receive->moved},
    };

    if (kind == SG_BCS_TOOK)
        header.number[SG_BCS_IS_ALL] = receive->moved == all_of(receive);

    tell(s, receive->source, &header, actions);
}

/* Reads the whole chunk in the slot, even if the receive takes less. */
static void read_next(struct sg_bcs *s, uint32_t post, struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);
    struct sg_bcs_receive *receive = &sg_bcs_receives(m)[post];
    uint8_t slot = sg_bcs_take_slot(&m->in_free);
    struct sg_action *action = sg_emit(actions, SG_ACTION_READ);

    action->to = receive->source;
    action->solicited = true;
    action->access.into = sg_data_slot(m->first_in + slot);
    action->access.remote = receive->source_slot - 1U;
    action->access.bytes = least(m->chunk_bytes, receive->source_bytes - receive->moved);
    action->access.tag = sg_bcs_tag(SG_BCS_TAG_READ, slot);
    m->in_receive[slot] = (uint16_t)post;
    receive->state = SG_BCS_RECEIVE_READING;
}

static void take_read(struct sg_bcs *s, uint32_t slot, struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);
    struct sg_bcs_receive *receive = &sg_bcs_receives(m)[m->in_receive[slot]];
    struct sg_action *action = sg_emit(actions, SG_ACTION_DRAIN);
    uint32_t bytes = least(m->chunk_bytes, all_of(receive) - receive->moved);

    action->solicited = true;
    action->post.handle = receive->handle;
    action->post.offset = receive->moved;
    action->post.bytes = bytes;
    action->post.slot = sg_data_slot(m->first_in + slot);
    action->post.tag = sg_bcs_tag(SG_BCS_TAG_DRAIN, slot);
    receive->draining++;
    receive->moved += bytes;
    receive->source_slot = 0;
    receive->state = SG_BCS_RECEIVE_MATCHED;
    if (receive->moved == receive->granted && receive->moved < all_of(receive) &&
        receive->asked == s->strobe.index)
        ask(s, m->in_receive[slot], SG_BCS_TOOK, actions);
}

static void take_drained(struct sg_bcs *s, uint32_t slot)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);

    m->in_free |= 1u << slot;
    sg_bcs_receives(m)[m->in_receive[slot]].draining--;
}

static void move(struct sg_bcs *s, uint32_t post, struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);
    struct sg_bcs_receive *receive = &sg_bcs_receives(m)[post];

    if (receive->state == SG_BCS_RECEIVE_MATCHED && receive->moved == all_of(receive)) {
        receive->state = SG_BCS_RECEIVE_OVER;
        receive->over = s->strobe.index;
        ask(s, post, SG_BCS_TOOK, actions);
    } else if (receive->state == SG_BCS_RECEIVE_MATCHED && receive->moved < receive->granted) {
        receive->state = SG_BCS_RECEIVE_READY;
        if (receive->source_slot == 0) {
            receive->state = SG_BCS_RECEIVE_ASKING;
            receive->asked = s->strobe.index;
            ask(s, post, SG_BCS_PULL, actions);
        }
    }
    if (receive->state == SG_BCS_RECEIVE_READY && m->in_free > 0)
        read_next(s, post, actions);
}

/* ---- the sender ------------------------------------------------------------------------------ */

void sg_bcs_fill(struct sg_bcs_messages *m, uint32_t post, uint32_t offset,
                 struct sg_actions *actions)
{
    struct sg_bcs_send *send = &sg_bcs_sends(m)[post];
    struct sg_action *action = sg_emit(actions, SG_ACTION_FILL);

    action->solicited = true;
    action->post.handle = send->handle;
    action->post.offset = offset;
    action->post.bytes = least(m->chunk_bytes, send->bytes - offset);
    action->post.slot = sg_data_slot(m->first_out + send->slot);
    action->post.tag = sg_bcs_tag(SG_BCS_TAG_FILL, post);
}

/* A send that has been asked for bytes may have to wait for a slot. */
static void fill_asked(struct sg_bcs *s, struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);

    for (uint32_t i = 0; i < m->sends && m->out_free > 0 && sg_bcs_has_room(actions); i++) {
        uint32_t post = sg_bcs_send_order(m)[i];
        struct sg_bcs_send *send = &sg_bcs_sends(m)[post];

        if (send->state != SG_BCS_SEND_ASKED || send->slot != SG_BCS_NO_SLOT)
            continue;
        send->slot = sg_bcs_take_slot(&m->out_free);
        sg_bcs_fill(m, post, send->offset, actions);
    }
}

static void take_filled_slot(struct sg_bcs *s, uint32_t post, struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);
    const struct sg_bcs_send *send = &sg_bcs_sends(m)[post];
    struct sg_header header = {
        .kind = SG_BCS_FILLED,
        .number = {[SG_BCS_POST] = send->asker, [SG_BCS_SLOT] = m->first_out + send->slot + 1}};

    if (send->state != SG_BCS_SEND_ASKED)
        m->filling--;
    else
        tell(s, send->to, &header, actions);
}

static void take_pull(struct sg_bcs *s, const struct sg_header *header, struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);
    struct sg_bcs_send *send = &sg_bcs_sends(m)[header->number[SG_BCS_POST]];

    send->state = SG_BCS_SEND_ASKED;
    send->asked = sg_count_told(s->strobe.index, header->seq);
    send->asker = (uint16_t)header->number[SG_BCS_ASKER];
    send->offset = header->number[SG_BCS_OFFSET];
    if (send->slot != SG_BCS_NO_SLOT)
        sg_bcs_fill(m, header->number[SG_BCS_POST], send->offset, actions);
}

static void take_took(struct sg_bcs *s, const struct sg_header *header)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);
    struct sg_bcs_send *send = &sg_bcs_sends(m)[header->number[SG_BCS_POST]];

    /* For part of a message: the post may have progressed since, or may be another one. */
    if (!header->number[SG_BCS_IS_ALL] &&
        (send->state != SG_BCS_SEND_ASKED || (uint32_t)send->asked != header->seq))
        return;
    if (send->slot != SG_BCS_NO_SLOT)
        m->out_free |= 1u << send->slot;
    send->slot = SG_BCS_NO_SLOT;
    send->state = header->number[SG_BCS_IS_ALL] ? SG_BCS_SEND_TAKEN : SG_BCS_SEND_OFFERED;
    send->taken = sg_count_told(s->strobe.index, header->seq);
}

/* ---- both ------------------------------------------------------------------------------------ */

void sg_bcs_take_transfer(struct sg_bcs *s, const struct sg_header *header,
                          struct sg_actions *actions)
{
    struct sg_bcs_receive *receive;

    switch (header->kind) {
    case SG_BCS_PULL:
        take_pull(s, header, actions);
        break;
    case SG_BCS_TOOK:
        take_took(s, header);
        break;
    default:
        receive = &sg_bcs_receives(sg_bcs_messages(s))[header->number[SG_BCS_POST]];
        receive->source_slot = (uint16_t)header->number[SG_BCS_SLOT];
        receive->state = SG_BCS_RECEIVE_READY;
    }
}

void sg_bcs_take_reply(struct sg_bcs *s, uint32_t tag, struct sg_actions *actions)
{
    switch (tag >> 16) {
    case SG_BCS_TAG_FILL:
        take_filled_slot(s, tag & 0xffff, actions);
        break;
    case SG_BCS_TAG_READ:
        take_read(s, tag & 0xffff, actions);
        break;
    default:
        take_drained(s, tag & 0xffff);
    }
}

void sg_bcs_transfer(struct sg_bcs *s, struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);

    for (uint32_t i = 0; m->transferring && i < m->receives && sg_bcs_has_room(actions); i++)
        move(s, sg_bcs_receive_order(m)[i], actions);
    /* The moves may have asked for slots of this endpoint, or released some. */
    fill_asked(s, actions);
}

bool sg_bcs_has_transferred(struct sg_bcs *s)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);

    for (uint32_t i = 0; i < m->receives; i++) {
        const struct sg_bcs_receive *receive = &sg_bcs_receives(m)[sg_bcs_receive_order(m)[i]];

        if (receive->draining > 0 ||
            (is_moving(receive) &&
             (receive->state != SG_BCS_RECEIVE_MATCHED || receive->moved < receive->granted ||
              receive->moved == all_of(receive))))
            return false;
    }
    return true;
}
