/* What goes between srm's partners: values into the partner's slots and a word behind them into its
 * cell for this edge, which nobody else writes. A value in a slot has its number as stamp, one in a
 * result its instance's. The word tells which numbers have been written, and
 * which of the partner's have been taken: so its slots are free again. Where values go one way
 * only, the word goes back by itself, once for each half of the room.
 */
#include "algos/srm/state.h"
#include "algos/tree.h"

/* The word: numbers written 24 bits, those beyond 15, a bit that is always set, numbers taken 24.
 * Numbers are told modulo 2^24, and neither side is ever further behind than the room. No word is
 * zero, as the cell is before the first. */
#define NUMBER_BITS 24
#define NUMBER_MASK ((1u << NUMBER_BITS) - 1)
#define BEYOND_BITS 15
#define WRITTEN (UINT64_C(1) << NUMBER_BITS)
#define BEYOND_AT (NUMBER_BITS + 1)
#define WHOLE_AT (BEYOND_AT + BEYOND_BITS)
_Static_assert(WHOLE_AT + NUMBER_BITS == 64, "a word");
_Static_assert(SG_SRM_ROOM <= BEYOND_BITS, "what is written is within the room");

static int32_t partner_of(const struct sg_srm *s, uint32_t edge)
{
    struct sg_hypercube cube = sg_hypercube_find(s->rank, s->size);

    return sg_hypercube_partner(&cube, s->size, edge);
}

/* ---- numbers ---- */

static bool holds(const struct sg_srm_numbers *numbers, uint64_t number)
{
    int64_t after = (int64_t)(number - numbers->whole);

    return after <= 0 || (after <= BEYOND_BITS && numbers->beyond >> (after - 1) & 1);
}

static void add(struct sg_srm_numbers *numbers, uint64_t number)
{
    numbers->beyond |= 1u << (number - numbers->whole - 1);
    while (numbers->beyond & 1) {
        numbers->beyond >>= 1;
        numbers->whole++;
    }
}

/* The number that is told by its low bits, at or after one that is known. */
static uint64_t widen(uint64_t known, uint64_t told)
{
    return known + ((told - known) & NUMBER_MASK);
}

/* As if all until then had been written, taken and told. */
void sg_srm_begin_edges(struct sg_srm *s, uint64_t first)
{
    for (uint32_t at = 0; at < s->edges; at++) {
        struct sg_srm_edge *edge = &s->edge[at];

        edge->next_out = edge->next_in = edge->acked = edge->told = first;
        edge->out.whole = edge->in.whole = edge->taken.whole = first;
    }
}

void sg_srm_number(struct sg_srm *s, struct sg_srm_instance *instance, uint8_t step)
{
    uint32_t edge = step & ((1u << SG_SRM_EDGE_BITS) - 1);

    if (step >> SG_SRM_EDGE_BITS <= SG_SRM_SEND_RESULT)
        instance->out[edge] = ++s->edge[edge].next_out;
    else
        instance->in[edge] = ++s->edge[edge].next_in;
}

/* ---- out ---- */

static void tell(struct sg_srm *s, uint32_t at, struct sg_actions *actions)
{
    struct sg_srm_edge *edge = &s->edge[at];
    struct sg_action *action = sg_emit(actions, SG_ACTION_WRITE_CELL);

    action->to = partner_of(s, at);
    action->access.remote = at;
    action->access.value = (uint64_t)(edge->out.whole & NUMBER_MASK) << WHOLE_AT |
                           (uint64_t)edge->out.beyond << BEYOND_AT | WRITTEN |
                           (edge->taken.whole & NUMBER_MASK);
    edge->told = edge->taken.whole;
}

bool sg_srm_put(struct sg_srm *s, const struct sg_srm_instance *instance, uint32_t at,
                enum sg_srm_step kind, struct sg_actions *actions)
{
    struct sg_srm_edge *edge = &s->edge[at];
    bool result = kind == SG_SRM_SEND_RESULT;
    uint64_t number = instance->out[at];
    struct sg_action *action;

    if (number - edge->acked > SG_SRM_ROOM) {
        edge->wanted = true;
        return false;
    }
    if (instance->bytes > 0 && kind != SG_SRM_OFFER) {
        action = sg_emit(actions, result ? SG_ACTION_WRITE_RESULT : SG_ACTION_WRITE);
        action->to = partner_of(s, at);
        action->access.remote = result ? sg_count_place(instance->seq, s->credits)
                                       : at * SG_SRM_ROOM + (uint32_t)(number % SG_SRM_ROOM);
        action->access.from = instance->value;
        action->access.bytes = instance->bytes;
        action->access.value = result ? instance->seq : number;
    }
    add(&edge->out, number);
    tell(s, at, actions);
    return true;
}

/* ---- in ---- */

bool sg_srm_is_there(struct sg_srm *s, const struct sg_srm_instance *instance, uint32_t at)
{
    struct sg_srm_edge *edge = &s->edge[at];

    if (holds(&edge->in, instance->in[at]))
        return true;
    edge->wanted = true;
    return false;
}

struct sg_data sg_srm_slot(const struct sg_srm_instance *instance, uint32_t at)
{
    return sg_data_slot(at * SG_SRM_ROOM + (uint32_t)(instance->in[at] % SG_SRM_ROOM));
}

void sg_srm_taken(struct sg_srm *s, const struct sg_srm_instance *instance, uint32_t at)
{
    add(&s->edge[at].taken, instance->in[at]);
}

void sg_srm_saw(struct sg_srm *s, uint32_t at, uint64_t value)
{
    struct sg_srm_edge *edge = &s->edge[at];

    edge->seen = value;
    edge->in.whole = widen(edge->in.whole, value >> WHOLE_AT);
    edge->in.beyond = (uint32_t)(value >> BEYOND_AT) & ((1u << BEYOND_BITS) - 1);
    edge->acked = widen(edge->acked, value);
}

void sg_srm_rest(struct sg_srm *s, struct sg_actions *actions)
{
    for (uint32_t at = 0; at < s->edges; at++) {
        struct sg_srm_edge *edge = &s->edge[at];
        struct sg_action *action;

        if (edge->taken.whole - edge->told >= SG_SRM_TELL)
            tell(s, at, actions);
        if (!edge->wanted || edge->watching)
            continue;
        edge->watching = true;
        action = sg_emit(actions, SG_ACTION_WATCH);
        action->to = s->rank;
        action->id = (uint16_t)at;
        action->access.remote = at;
        action->access.value = edge->seen;
    }
}
