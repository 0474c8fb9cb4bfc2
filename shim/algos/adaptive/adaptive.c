/* adaptive: barrier and allreduce on a combining tree whose root moves to the last arriver (paper:
 * adaptive, section 4).
 *
 * The tree is the contiguous one of tree.h, degree 8 in a barrier, 4 in an allreduce. An endpoint
 * that is there, as its children's subtrees are, gives its value to its parent (ACK). The token
 * begins at the top, rank 0. Its holder releases all by a multicast when everything below is there;
 * while exactly one child is missing, it gives the token to that child, with the combination of
 * everything outside the child's subtree. Who gets a token after its ACK knows everything and
 * releases; its parent ignores that ACK. release.h makes the multicast reliable.
 *
 * Several tokens (token.c): a holder that may split its token does so when no more children are
 * missing than there are tokens. Each token goes its own way and releases its piece.
 *
 * Prediction: where order does not matter, the endpoint that was last in the site's recent
 * instances holds the token from the start: ranks count from it, it has one child, so that one ack
 * awaits it, and that is the top of the tree of all others. All endpoints know the same history, as
 * it comes with the releases. When another one is last, the token goes there as it always does.
 *
 * Association: value(v) = own and the children's values by SG_SHAPE_BINOMIAL, whatever the token's
 * way: it carries the partial results along its path, which are folded in their places at its end.
 * One running value instead for operations that are exact and commutative, or commutative with
 * arrival_order=1. Pieces are always folded in the same order, so all endpoints have the same bits.
 *
 * An endpoint that has entered instance n has been released from n - 1, so that everyone has
 * entered n - 1: records of two instances suffice.
 */
#include "algos/adaptive/state.h"
#include "algos/emit.h"

/* Items of one instance that wait in slots: those of its children and the own value. */
static uint32_t item_slots(const struct sg_algo_setup *setup)
{
    struct sg_tree_place top = sg_tree_top(setup->size);

    return (uint32_t)sg_tree_children(&top, sg_data_degree(&setup->parameters)) + 1;
}

static bool needs(const struct sg_algo_setup *setup, struct sg_algo_needs *needs)
{
    int degree = sg_data_degree(&setup->parameters);
    uint32_t tokens = sg_tokens(&setup->parameters);
    uint32_t extras;

    if (setup->size < 1 || setup->size > SG_ENDPOINTS_MAX || degree > SG_DEGREE_MAX ||
        tokens > SG_RELEASE_PIECES_MAX)
        return false;
    /* A chain is deeper than a token has parts. */
    if (degree == 1 && setup->size > SG_PARTS_MAX)
        return false;
    extras = sg_adaptive_extras(setup->size, degree, tokens);
    if (1 + extras > SG_PARTS_MAX)
        return false;
    needs->state_bytes = sizeof(struct sg_adaptive);
    needs->slots = 2 * item_slots(setup) + sg_adaptive_token_parts(setup->size, degree) +
                   sg_release_slots(tokens, extras);
    needs->cells = 0;
    needs->parts = 1 + extras;
    return true;
}

static void init(void *memory, const struct sg_algo_setup *setup)
{
    struct sg_adaptive *state = memory;
    int degree = sg_data_degree(&setup->parameters);
    uint32_t extras = sg_adaptive_extras(setup->size, degree, sg_tokens(&setup->parameters));

    state->head.seq = setup->parameters.first;
    state->degree = setup->parameters.degree;
    state->tokens = (uint8_t)sg_tokens(&setup->parameters);
    state->predict = setup->parameters.predict;
    state->arrival_order = setup->parameters.arrival_order;
    state->item_slots = (uint16_t)item_slots(setup);
    sg_release_init(&state->release, setup,
                    2 * item_slots(setup) + sg_adaptive_token_parts(setup->size, degree), extras);
}

/* ---- acknowledgements ------------------------------------------------------------------------ */

static void acknowledge(struct sg_adaptive *state, struct sg_adaptive_instance *instance,
                        const struct sg_event *event, struct sg_actions *actions)
{
    struct sg_header header = sg_adaptive_header(instance, SG_ADAPTIVE_ACK);
    int32_t parent = sg_adaptive_rank(state, instance, instance->place.parent);

    if (header.bytes > 0) {
        header.parts = 1;
        sg_emit_part(actions, sg_partial_value(&instance->partial_results,
                                               sg_adaptive_items(state, instance->seq), 0));
    }
    instance->sent = 1;
    sg_emit_send(actions, parent, &header);
    sg_release_await(&state->release, instance->seq, parent, &header, event, actions);
}

/* Something has come: does it let this endpoint go on? */
static void proceed(struct sg_adaptive *state, struct sg_adaptive_instance *instance,
                    const struct sg_event *event, struct sg_actions *actions)
{
    if (!instance->called || instance->sent)
        return;
    if (instance->token)
        sg_adaptive_hold(state, instance, event, false, actions);
    else if (sg_partial_missing(&instance->partial_results) == 0)
        acknowledge(state, instance, event, actions);
}

static void on_call(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct sg_adaptive *state = memory;
    const struct sg_algo_call *call = &event->call;
    struct sg_adaptive_instance *instance;
    int32_t predicted = sg_adaptive_usually_last(state, call->site);
    int32_t top = 0;
    uint32_t flags = call->flags;
    uint64_t seq = ++state->head.seq;

    state->head.in_call = 1;
    sg_release_settle(&state->release, &state->head, actions);
    state->site = (uint8_t)call->site;
    /* Where order or association matters, the tree stays; along it the contributions travel towards
     * whoever is missing as early as they can already. */
    if (predicted >= 0 && (call->bytes == 0 || sg_adaptive_running(state, call->flags))) {
        top = predicted;
        flags |= SG_ADAPTIVE_PREDICTED;
    }
    instance = sg_adaptive_open(state, seq, top, call->operation, flags, call->bytes);
    instance->called = 1;
    sg_partial_add(&instance->partial_results, sg_adaptive_items(state, seq), 0, sg_data_operand(),
                   actions);
    proceed(state, instance, event, actions);
}

static void on_ack(struct sg_adaptive *state, struct sg_adaptive_instance *instance,
                   const struct sg_event *event, struct sg_actions *actions)
{
    int32_t size = state->release.size;
    int32_t from = sg_tree_relative(event->message.from, instance->top, size);
    int child = sg_tree_toward(&instance->place, instance->degree, from);

    if (!instance->called) {
        sg_emit_mark(actions, SG_MARK_EARLY);
        state->head.early++;
    }
    /* A token has gone to the child: that end of the edge releases. */
    if (instance->sent)
        return;
    sg_partial_add(&instance->partial_results, sg_adaptive_items(state, instance->seq), child + 1,
                   sg_data_part(0), actions);
    proceed(state, instance, event, actions);
}

static void on_release(struct sg_adaptive *state, const struct sg_event *event,
                       struct sg_actions *actions)
{
    const struct sg_message *message = &event->message;

    if (sg_release_take(&state->release, message, state->head.seq, actions))
        sg_adaptive_released(state, &state->at[message->header.seq % 2], actions);
}

static void on_message(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct sg_adaptive *state = memory;
    const struct sg_header *header = &event->message.header;
    uint64_t seq = sg_count_told(state->head.seq, header->seq);
    struct sg_adaptive_instance *instance;

    switch (header->kind) {
    case SG_ADAPTIVE_ACK:
    case SG_ADAPTIVE_TOKEN:
        /* An ack that crossed a token may find its instance over. */
        if (seq < state->head.seq)
            return;
        sg_release_gap(&state->release, seq, actions);
        instance =
            sg_adaptive_open(state, seq, (int32_t)header->number[SG_TOKEN_TOP],
                             (enum sg_operation)header->operation, header->flags, header->bytes);
        if (header->kind == SG_ADAPTIVE_ACK)
            on_ack(state, instance, event, actions);
        else
            sg_adaptive_token(state, instance, event, actions);
        break;
    case SG_RELEASE_PIECE:
    case SG_RELEASE_RESULT:
        if (seq == state->head.seq + 1)
            sg_release_gap(&state->release, seq, actions);
        on_release(state, event, actions);
        break;
    default:
        sg_release_message(&state->release, &state->head, &event->message, actions);
        break;
    }
}

static void on_timer(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct sg_adaptive *state = memory;

    sg_release_timer(&state->release, event, actions);
}

static void on_drain(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct sg_adaptive *state = memory;

    sg_release_drain(&state->release, &state->head, actions);
}

static int peers(const struct sg_algo_setup *setup, enum sg_operation operation, int32_t root,
                 int32_t *out, int capacity)
{
    struct sg_peers found = sg_peers_into(out, capacity);
    int degree = operation == SG_OPERATION_BARRIER ? SG_DEGREE_BARRIER : SG_DEGREE_DATA;

    if (setup->parameters.degree)
        degree = setup->parameters.degree;
    sg_peers_add_tree(&found, setup->rank, setup->size, degree);
    sg_release_peers(setup, &found);
    /* Whoever is predicted to be last has one child, the top of a tree of all others. */
    if (setup->parameters.predict && setup->size > 1) {
        sg_peers_add_both(&found, setup->rank, setup->size, 1);
        sg_peers_add_branches(&found, setup->rank, setup->size, setup->size - 1, degree);
    }
    return sg_peers_count(&found);
}

const struct sg_algo sg_algo_adaptive = {
    .name = "adaptive",
    .operations = 1 << SG_OPERATION_BARRIER | 1 << SG_OPERATION_ALLREDUCE,
    .uses = SG_ALGO_MULTICAST | SG_ALGO_USER,
    .parameters = sg_parameters_adaptive,
    .needs = needs,
    .init = init,
    .on_call = on_call,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_drain = on_drain,
    .peers = peers,
};
