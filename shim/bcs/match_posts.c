/* Matches descriptors and receives (paper: BCS-MPI, section 4.3): the descriptor exchange, in which
 * senders offer their messages, and the message scheduling, which matches them.
 *
 * Every descriptor is answered, so an endpoint knows when its own part of an exchange is over.
 * Nothing is matched before the exchange is over everywhere. Then receives, in the order of their
 * posts, take the first descriptor that suits them by (exchange, endpoint, rank, number). So
 * matches depend only on the posts of each slice, not on the order of arrival.
 *
 * Descriptors beyond the capacity are refused, and offered again in the next exchange. Descriptors
 * for which a receive waits have priority, then those of lower endpoints, ranks and numbers: in
 * whatever order they arrive, the same ones stay. So a receive that waits for one particular
 * message gets it, however many others are refused. */
#include "bcs/posts.h"

#include <string.h>

#define NONE UINT32_MAX

/* Sends to an endpoint, possibly this one. */
static void tell(struct sg_bcs *s, int32_t to, const struct sg_header *header,
                 struct sg_actions *actions)
{
    if (to == s->rank)
        sg_bcs_take_matching(s, to, header, actions);
    else
        sg_emit_send(actions, to, header)->solicited = true;
}

/* ---- receives -------------------------------------------------------------------------------- */

static bool suits(const struct sg_bcs_receive *receive, const struct sg_bcs_descriptor *descriptor)
{
    return receive->local == descriptor->to_local &&
           (receive->from == SG_ANY ||
            (receive->from == descriptor->from && receive->from_local == descriptor->local)) &&
           (receive->tag == SG_ANY || receive->tag == descriptor->tag);
}

static bool is_matchable(const struct sg_bcs_messages *m, const struct sg_bcs_receive *receive)
{
    return receive->state == SG_BCS_RECEIVE_WAITING && receive->since <= m->exchange;
}

/* True if a receive posted before the exchange began here suits it; the exchange can match no
 * others. */
static bool is_expected(struct sg_bcs_messages *m, const struct sg_bcs_descriptor *descriptor)
{
    for (uint32_t i = 0; i < m->receives; i++) {
        const struct sg_bcs_receive *receive = &sg_bcs_receives(m)[sg_bcs_receive_order(m)[i]];

        if (is_matchable(m, receive) && suits(receive, descriptor))
            return true;
    }
    return false;
}

struct sg_bcs_descriptor *sg_bcs_find_unexpected(struct sg_bcs_messages *m,
                                                 const struct sg_bcs_receive *receive)
{
    for (uint32_t i = 0; i < m->descriptors; i++) {
        struct sg_bcs_descriptor *descriptor = &sg_bcs_descriptors(m)[i];

        if (m->exchanging && descriptor->exchange == m->exchange)
            break;
        if (!descriptor->is_refused && suits(receive, descriptor))
            return descriptor;
    }
    return NULL;
}

/* ---- the exchange: senders ------------------------------------------------------------------- */

void sg_bcs_begin_exchange(struct sg_bcs *s, uint64_t exchange, struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);

    if (m->exchanging)
        return;
    m->exchanging = true;
    m->exchange = exchange;
    m->refused = false;
    m->offers = 0;
    sg_emit_mark(actions, SG_MARK_EXCHANGE);
}

/* Returns the distance in number to the last earlier send of this exchange between the same two
 * ranks as the i-th; 0: there is none. */
static uint32_t number_back(struct sg_bcs_messages *m, uint32_t i)
{
    const struct sg_bcs_send *sends = sg_bcs_sends(m);
    const uint16_t *order = sg_bcs_send_order(m);
    const struct sg_bcs_send *send = &sends[order[i]];

    while (i-- > 0) {
        const struct sg_bcs_send *other = &sends[order[i]];

        if (other->offered == m->exchange && other->to == send->to && other->local == send->local &&
            other->to_local == send->to_local)
            return (uint32_t)(send->number - other->number);
    }
    return 0;
}

/* Puts the first bytes into a slot if one is free; keeps the last slot for sends that are asked for
 * bytes. */
static void offer_one(struct sg_bcs *s, uint32_t i, struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);
    uint32_t post = sg_bcs_send_order(m)[i];
    struct sg_bcs_send *send = &sg_bcs_sends(m)[post];
    struct sg_header header = {
        .seq = number_back(m, i),
        .kind = SG_BCS_DESCRIPTOR,
        .number = {[SG_BCS_RANKS] = send->local | (uint32_t)send->to_local << 16,
                   [SG_BCS_MESSAGE_TAG] = (uint32_t)send->tag,
                   [SG_BCS_BYTES] = send->bytes,
                   [SG_BCS_NUMBER] = (uint32_t)send->number},
    };

    if (send->slot == SG_BCS_NO_SLOT && send->bytes > 0 && (m->out_free & (m->out_free - 1))) {
        send->slot = sg_bcs_take_slot(&m->out_free);
        m->filling++;
        sg_bcs_fill(m, post, 0, actions);
    }
    header.number[SG_BCS_PLACE] =
        post | (send->slot == SG_BCS_NO_SLOT ? 0 : m->first_out + send->slot + 1) << 16;
    send->state = SG_BCS_SEND_OFFERED;
    send->offered = m->exchange;
    m->unanswered++;
    m->offers++;
    tell(s, send->to, &header, actions);
}

static bool is_to_offer(const struct sg_bcs_messages *m, const struct sg_bcs_send *send)
{
    return send->state == SG_BCS_SEND_QUEUED && send->since <= m->exchange;
}

void sg_bcs_offer(struct sg_bcs *s, struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);

    for (uint32_t i = 0; m->exchanging && i < m->sends && sg_bcs_has_room(actions); i++) {
        if (is_to_offer(m, &sg_bcs_sends(m)[sg_bcs_send_order(m)[i]]))
            offer_one(s, i, actions);
    }
}

bool sg_bcs_has_exchanged(struct sg_bcs *s)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);

    for (uint32_t i = 0; i < m->sends; i++) {
        if (is_to_offer(m, &sg_bcs_sends(m)[sg_bcs_send_order(m)[i]]))
            return false;
    }
    return m->unanswered == 0 && m->filling == 0;
}

static void offer_again(struct sg_bcs *s, const struct sg_header *header)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);
    struct sg_bcs_send *send = &sg_bcs_sends(m)[header->number[SG_BCS_POST]];

    send->state = SG_BCS_SEND_QUEUED;
    send->since = m->exchange + 1;
}

static void take_answer(struct sg_bcs *s, const struct sg_header *header)
{
    sg_bcs_messages(s)->unanswered--;
    if (header->number[SG_BCS_IS_REFUSED])
        offer_again(s, header);
}

static void take_refusal(struct sg_bcs *s, int32_t from, const struct sg_header *header,
                         struct sg_actions *actions)
{
    struct sg_header noted = {.kind = SG_BCS_NOTED};

    offer_again(s, header);
    tell(s, from, &noted, actions);
}

/* ---- the exchange: receivers ----------------------------------------------------------------- */

static bool is_before(const struct sg_bcs_descriptor *left, const struct sg_bcs_descriptor *right)
{
    if (left->from != right->from)
        return left->from < right->from;
    if (left->local != right->local)
        return left->local < right->local;
    return (int32_t)(left->number - right->number) < 0;
}

/* True if left is dropped first when only one of two descriptors of an exchange fits. */
static bool is_less_wanted(const struct sg_bcs_descriptor *left,
                           const struct sg_bcs_descriptor *right)
{
    return left->is_expected != right->is_expected ? right->is_expected : is_before(right, left);
}

static void remove_at(struct sg_bcs_messages *m, uint32_t i)
{
    struct sg_bcs_descriptor *list = sg_bcs_descriptors(m);

    m->descriptors--;
    memmove(&list[i], &list[i + 1], (m->descriptors - i) * sizeof *list);
}

static void insert(struct sg_bcs_messages *m, const struct sg_bcs_descriptor *descriptor)
{
    struct sg_bcs_descriptor *list = sg_bcs_descriptors(m);
    uint32_t i = m->descriptors++;

    for (; i > 0 && list[i - 1].exchange == m->exchange && is_before(descriptor, &list[i - 1]); i--)
        list[i] = list[i - 1];
    list[i] = *descriptor;
}

/* Descriptors of earlier exchanges stay, and leave capacity for this one's. */
static uint32_t least_wanted(struct sg_bcs_messages *m)
{
    const struct sg_bcs_descriptor *list = sg_bcs_descriptors(m);
    uint32_t least = NONE;

    for (uint32_t i = 0; i < m->descriptors; i++) {
        if (list[i].exchange == m->exchange &&
            (least == NONE || is_less_wanted(&list[i], &list[least])))
            least = i;
    }
    return least;
}

/* Refuses a descriptor that had been accepted. */
static void refuse_at(struct sg_bcs *s, uint32_t i, struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);
    const struct sg_bcs_descriptor descriptor = sg_bcs_descriptors(m)[i];
    struct sg_header header = {.kind = SG_BCS_REFUSED, .number = {[SG_BCS_POST] = descriptor.post}};

    remove_at(m, i);
    m->refused = true;
    m->unnoted++;
    sg_emit_mark(actions, SG_MARK_REFUSED);
    tell(s, descriptor.from, &header, actions);
}

static bool make_room(struct sg_bcs *s, const struct sg_bcs_descriptor *descriptor,
                      struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);
    uint32_t least;

    if (m->descriptors < m->posts)
        return true;
    least = least_wanted(m);
    if (is_less_wanted(descriptor, &sg_bcs_descriptors(m)[least])) {
        m->refused = true;
        sg_emit_mark(actions, SG_MARK_REFUSED);
        return false;
    }
    refuse_at(s, least, actions);
    return true;
}

static void take_descriptor(struct sg_bcs *s, int32_t from, const struct sg_header *header,
                            struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);
    struct sg_bcs_descriptor descriptor = {
        .from = from,
        .tag = (int32_t)header->number[SG_BCS_MESSAGE_TAG],
        .local = (uint16_t)header->number[SG_BCS_RANKS],
        .to_local = (uint16_t)(header->number[SG_BCS_RANKS] >> 16),
        .bytes = header->number[SG_BCS_BYTES],
        .number = header->number[SG_BCS_NUMBER],
        .back = header->seq,
        .post = (uint16_t)header->number[SG_BCS_PLACE],
        .slot = (uint16_t)(header->number[SG_BCS_PLACE] >> 16),
    };
    struct sg_header answer = {.kind = SG_BCS_ANSWER, .number = {[SG_BCS_POST] = descriptor.post}};

    /* The next strobe here is the exchange's. */
    sg_bcs_begin_exchange(s, s->strobe.index + 1, actions);
    descriptor.exchange = m->exchange;
    descriptor.is_expected = is_expected(m, &descriptor);
    if (make_room(s, &descriptor, actions))
        insert(m, &descriptor);
    else
        answer.number[SG_BCS_IS_REFUSED] = true;
    tell(s, from, &answer, actions);
}

void sg_bcs_take_matching(struct sg_bcs *s, int32_t from, const struct sg_header *header,
                          struct sg_actions *actions)
{
    switch (header->kind) {
    case SG_BCS_DESCRIPTOR:
        take_descriptor(s, from, header, actions);
        break;
    case SG_BCS_ANSWER:
        take_answer(s, header);
        break;
    case SG_BCS_REFUSED:
        take_refusal(s, from, header, actions);
        break;
    default:
        sg_bcs_messages(s)->unnoted--;
    }
}

/* ---- matching -------------------------------------------------------------------------------- */

/* True if an earlier message between the same two ranks was refused. */
static bool is_held_back(struct sg_bcs_messages *m, uint32_t i)
{
    const struct sg_bcs_descriptor *list = sg_bcs_descriptors(m), *self = &list[i];

    if (self->back == 0)
        return false;
    while (i-- > 0 && list[i].exchange == self->exchange && list[i].from == self->from &&
           list[i].local == self->local) {
        if (list[i].number == self->number - self->back)
            return list[i].is_refused;
    }
    return true;
}

/* Marks them as refused: one that finds no receive now does not stay. */
static void hold_back(struct sg_bcs_messages *m, struct sg_actions *actions)
{
    struct sg_bcs_descriptor *list = sg_bcs_descriptors(m);

    for (uint32_t i = 0; i < m->descriptors; i++) {
        if (list[i].exchange != m->exchange || !is_held_back(m, i))
            continue;
        list[i].is_refused = true;
        sg_emit_mark(actions, SG_MARK_HELD_BACK);
    }
}

static void pair(struct sg_bcs *s, struct sg_bcs_receive *receive, uint32_t i)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);
    struct sg_bcs_descriptor *descriptor = &sg_bcs_descriptors(m)[i];

    receive->source = descriptor->from;
    receive->source_local = descriptor->local;
    receive->source_tag = descriptor->tag;
    receive->source_bytes = descriptor->bytes;
    receive->source_post = descriptor->post;
    receive->source_slot = descriptor->slot;
    if (receive->is_probe) {
        receive->state = SG_BCS_RECEIVE_OVER;
        receive->over = s->strobe.index;
        descriptor->is_probed = true;
        return;
    }
    receive->state = SG_BCS_RECEIVE_MATCHED;
    remove_at(m, i);
}

static bool match_one(struct sg_bcs *s, struct sg_bcs_receive *receive)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);

    for (uint32_t i = 0; i < m->descriptors; i++) {
        if (suits(receive, &sg_bcs_descriptors(m)[i])) {
            pair(s, receive, i);
            return true;
        }
    }
    return false;
}

static uint32_t count_kept(struct sg_bcs_messages *m)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < m->descriptors; i++)
        count += !sg_bcs_descriptors(m)[i].is_refused;
    return count;
}

/* Refuses the last descriptors until at most `most` stay. Without probed_too, spares probed ones
 * and what their senders sent before them. */
static void keep_most(struct sg_bcs_messages *m, uint32_t most, bool probed_too)
{
    struct sg_bcs_descriptor *list = sg_bcs_descriptors(m);
    const struct sg_bcs_descriptor *probed = NULL;
    uint32_t count = count_kept(m);

    for (uint32_t i = m->descriptors; i-- > 0 && count > most;) {
        if (list[i].is_refused || list[i].exchange != m->exchange)
            continue;
        if (list[i].is_probed)
            probed = &list[i];
        if (!probed_too && probed != NULL && probed->from == list[i].from &&
            probed->local == list[i].local)
            continue;
        list[i].is_refused = true;
        count--;
    }
}

/* Descriptors without a receive stay as far as the capacity allows, which reserves some for the
 * next exchange. A probed one, which its receive must find, may use the reserve except its last
 * entry. */
static void keep(struct sg_bcs_messages *m, struct sg_actions *actions)
{
    uint32_t spare = m->posts / 4 > 2 ? m->posts / 4 : 2;

    keep_most(m, m->posts - spare, false);
    keep_most(m, m->posts - 1, true);
    for (uint32_t i = 0; i < m->descriptors; i++) {
        if (!sg_bcs_descriptors(m)[i].is_refused)
            sg_emit_mark(actions, SG_MARK_UNEXPECTED);
    }
}

/* True if another slice is needed although nobody sends anything new: for a receive posted too late
 * for this one, or because there may now be capacity for refused messages. */
static bool has_reason(struct sg_bcs_messages *m, bool has_matched)
{
    for (uint32_t i = 0; i < m->receives; i++) {
        const struct sg_bcs_receive *receive = &sg_bcs_receives(m)[sg_bcs_receive_order(m)[i]];

        if (receive->state == SG_BCS_RECEIVE_WAITING && receive->since > m->exchange &&
            (m->refused || sg_bcs_find_unexpected(m, receive) != NULL))
            return true;
    }
    return m->refused && has_matched;
}

void sg_bcs_match(struct sg_bcs *s, struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);
    uint32_t matched = 0;

    hold_back(m, actions);
    for (uint32_t i = 0; i < m->receives; i++) {
        struct sg_bcs_receive *receive = &sg_bcs_receives(m)[sg_bcs_receive_order(m)[i]];

        if (is_matchable(m, receive))
            matched += match_one(s, receive);
    }
    keep(m, actions);
    m->exchanging = false;
    for (uint32_t i = 0; i < m->descriptors; i++)
        m->refused |= sg_bcs_descriptors(m)[i].is_refused;
    if (has_reason(m, matched > 0))
        sg_bcs_want(s, m);
    sg_slice_put(&s->measure.slice, SG_SLICE_NP2PDEM, m->offers);
    sg_slice_put(&s->measure.slice, SG_SLICE_NP2PMSM, matched);
}

void sg_bcs_refuse(struct sg_bcs *s, struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);

    if (m->exchanging)
        return;
    for (uint32_t i = m->descriptors; i-- > 0 && sg_bcs_has_room(actions);) {
        if (sg_bcs_descriptors(m)[i].is_refused)
            refuse_at(s, i, actions);
    }
}

bool sg_bcs_has_matched(struct sg_bcs *s)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);

    for (uint32_t i = 0; i < m->descriptors; i++) {
        if (sg_bcs_descriptors(m)[i].is_refused)
            return false;
    }
    return m->unnoted == 0;
}
