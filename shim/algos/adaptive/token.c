/* adaptive: what a token carries, how it moves and parts, and what its end releases.
 *
 * Let v hold the token while child c's item is missing. Of v's items those partial results are left
 * that c's value meets on its way up v's shape, one a level. The token to c carries them, lowest
 * first, and then what came with the token to v: so its parts are in the order in which the value
 * at its end is folded with them, up to the root. On which side each stands follows from the path.
 *
 * A token that is parted at v, its splitter, among the missing children c0 < c1 < ...: token i
 * carries the partial results up to where c_i's way meets that of another. All other partial
 * results of v, from left to right, and what came with the token to v go along with token 0 as
 * extras, which nobody folds on the way. A piece is a token's value at its end, and in piece 0 the
 * extras. All endpoints fold the pieces from the splitter's items missing, which come along.
 */
#include "algos/adaptive/state.h"

#include "algos/emit.h"

/* ---- bounds ---------------------------------------------------------------------------------- */

uint32_t sg_adaptive_token_parts(int32_t size, int degree)
{
    return (uint32_t)(sg_tree_depth(size, degree) * sg_tree_levels(degree + 1));
}

/* Parted at the deepest splitter, from each of whose further tokens one way up is left. */
uint32_t sg_adaptive_extras(int32_t size, int degree, uint32_t tokens)
{
    return sg_adaptive_token_parts(size, degree) +
           (tokens - 1) * (uint32_t)sg_tree_levels(degree + 1);
}

/* ---- the way from an endpoint up to the root ------------------------------------------------- */

struct way {
    int depth; /* steps, from the root down */
    struct {
        uint8_t items, item; /* of the endpoint there; which of them lies on the way */
    } step[SG_ADAPTIVE_DEPTH_MAX];
};

static void find_way(const struct sg_adaptive *state, const struct sg_adaptive_instance *instance,
                     int32_t relative, struct way *way)
{
    struct sg_tree_place place = sg_tree_top(state->release.size);
    int degree = instance->degree;

    for (way->depth = 0; place.lo != relative; way->depth++) {
        int child = sg_tree_toward(&place, degree, relative);

        way->step[way->depth].items = (uint8_t)(sg_tree_children(&place, degree) + 1);
        way->step[way->depth].item = (uint8_t)(child + 1);
        place = sg_tree_child(&place, degree, child);
    }
}

static void fold(const struct sg_adaptive_instance *instance, struct sg_data left,
                 struct sg_data right, struct sg_data into, struct sg_actions *actions)
{
    sg_emit_reduce(actions, left, right, into, instance->partial_results.bytes)->data.seq =
        instance->seq;
}

/* Folds value with count parts on its way up and leaves it in `into`. */
static struct sg_data fold_way(const struct sg_adaptive_instance *instance, const struct way *way,
                               struct sg_data value, const struct sg_data *parts, int count,
                               struct sg_data into, struct sg_actions *actions)
{
    int next = 0;

    for (int depth = way->depth - 1; depth >= 0; depth--) {
        int items = way->step[depth].items;
        int first = way->step[depth].item;

        for (int level = 0; 1 << level < items && next < count; level++) {
            int sibling = first ^ (1 << level);

            if (sibling >= items)
                continue;
            if (sibling < first) {
                fold(instance, parts[next], value, into, actions);
                first = sibling;
            } else {
                fold(instance, value, parts[next], into, actions);
            }
            value = into;
            next++;
        }
    }
    return value;
}

/* ---- passing on ------------------------------------------------------------------------------ */

/* Part `part` of the token here. */
static struct sg_data token_part(const struct sg_adaptive *state, int part, bool arrived)
{
    return arrived ? sg_data_part((uint32_t)part)
                   : sg_data_slot(sg_adaptive_token_slots(state) + (uint32_t)part);
}

static int count_bits(uint64_t bits)
{
    return __builtin_popcountll(bits);
}

/* Emits the partial results on item's way up while it meets none that is missing, too; their
 * number. */
static int emit_way_up(const struct sg_adaptive *state, const struct sg_adaptive_instance *instance,
                       int item, struct sg_actions *actions)
{
    const struct sg_partial_results *partial_results = &instance->partial_results;
    uint64_t missing = sg_partial_missing(partial_results);
    int first = item, count = 0;

    for (int level = 0; 1 << level < partial_results->items; level++) {
        int sibling = first ^ (1 << level);

        if (sibling >= partial_results->items)
            continue;
        if (missing & sg_partial_block(partial_results->items, level, sibling))
            break;
        sg_emit_part(actions, sg_partial_value(partial_results,
                                               sg_adaptive_items(state, instance->seq), sibling));
        if (sibling < first)
            first = sibling;
        count++;
    }
    return count;
}

/* The partial results that meet ways of several tokens, from left to right below one block. */
static int emit_extras(const struct sg_adaptive *state, const struct sg_adaptive_instance *instance,
                       int level, int first, struct sg_actions *actions)
{
    const struct sg_partial_results *partial_results = &instance->partial_results;
    uint64_t missing = sg_partial_missing(partial_results);
    int count = 0;

    for (int half = 0; half < 2; half++) {
        int at = first + half * (1 << (level - 1));
        int lost;

        if (at >= partial_results->items)
            continue;
        lost = count_bits(missing & sg_partial_block(partial_results->items, level - 1, at));
        if (lost > 1) {
            count += emit_extras(state, instance, level - 1, at, actions);
        } else if (lost == 0) {
            sg_emit_part(actions, sg_partial_value(partial_results,
                                                   sg_adaptive_items(state, instance->seq), at));
            count++;
        }
    }
    return count;
}

/* Hands the token, or one of several, to child. */
static void pass(struct sg_adaptive *state, struct sg_adaptive_instance *instance, int child,
                 int piece, int pieces, bool arrived, const struct sg_event *event,
                 struct sg_actions *actions)
{
    struct sg_header header = sg_adaptive_header(instance, SG_ADAPTIVE_TOKEN);
    struct sg_tree_place below = sg_tree_child(&instance->place, instance->degree, child);
    int32_t to = sg_adaptive_rank(state, instance, below.lo);
    bool split = pieces > instance->pieces;
    uint32_t left = split ? 1 : instance->tokens;
    int parts = 0, foldable = 0;

    if (header.bytes > 0 && sg_adaptive_running(state, instance->flags)) {
        if (piece == 0 || !split) {
            sg_emit_part(actions, sg_partial_value(&instance->partial_results,
                                                   sg_adaptive_items(state, instance->seq), 0));
            parts = foldable = 1;
        }
    } else if (header.bytes > 0) {
        parts = foldable = emit_way_up(state, instance, child + 1, actions);
        if (split && piece == 0)
            parts += emit_extras(state, instance, sg_tree_levels(instance->partial_results.items),
                                 0, actions);
        else if (!split)
            foldable += instance->foldable;
        for (int i = 0; i < instance->parts && (piece == 0 || !split); i++, parts++)
            sg_emit_part(actions, token_part(state, i, arrived));
    }
    header.parts = (uint8_t)parts;
    header.number[SG_TOKEN_FOLDABLE] = (uint32_t)foldable;
    header.number[SG_TOKEN_WHICH] = (uint32_t)piece | (uint32_t)pieces << 8 | left << 16;
    header.number[SG_TOKEN_SPLITTER] = (uint32_t)(split ? instance->place.lo : instance->splitter);
    header.number[SG_TOKEN_MASK] =
        split ? (uint32_t)(sg_partial_missing(&instance->partial_results) >> 1) : instance->mask;
    sg_emit_send(actions, to, &header);
    /* Piece i comes from there; a token that may still part, all pieces. */
    if (pieces > 1)
        state->release.at[instance->seq % 2].toward[piece] = to;
    if (split || pieces > 1) {
        int32_t parent = instance->place.parent;

        sg_release_await(&state->release, instance->seq,
                         parent < 0 ? to : sg_adaptive_rank(state, instance, parent), &header,
                         event, actions);
    } else {
        sg_release_await(&state->release, instance->seq, to, &header, event, actions);
    }
    if (instance->place.depth > 0 || !split)
        sg_emit_mark(actions, SG_MARK_TOKEN_MOVED);
}

static void part_token(struct sg_adaptive *state, struct sg_adaptive_instance *instance,
                       bool arrived, const struct sg_event *event, struct sg_actions *actions)
{
    uint64_t missing = sg_partial_missing(&instance->partial_results) >> 1;
    int pieces = count_bits(missing);
    struct sg_release_instance *release = &state->release.at[instance->seq % 2];

    /* Whom to ask is known of every piece before the first is awaited. */
    for (int piece = 0; piece < pieces; piece++) {
        int child = __builtin_ctzll(missing);
        struct sg_tree_place below = sg_tree_child(&instance->place, instance->degree, child);

        release->toward[piece] = sg_adaptive_rank(state, instance, below.lo);
        missing &= missing - 1;
    }
    release->pieces = (uint8_t)pieces;
    missing = sg_partial_missing(&instance->partial_results) >> 1;
    for (int piece = 0; piece < pieces; piece++) {
        pass(state, instance, __builtin_ctzll(missing), piece, pieces, arrived, event, actions);
        missing &= missing - 1;
    }
}

/* ---- releasing ------------------------------------------------------------------------------- */

/* Everything below is there, and what the token carries: makes the release, or this token's piece
 * of it. */
static void release_all(struct sg_adaptive *state, struct sg_adaptive_instance *instance,
                        const struct sg_event *event, bool arrived, struct sg_actions *actions)
{
    struct sg_header header = sg_adaptive_header(instance, SG_RELEASE_PIECE);
    struct sg_data carried[SG_PARTS_MAX], parts[SG_PARTS_MAX + 1];
    uint32_t items = sg_adaptive_items(state, instance->seq);
    struct way way;

    header.number[SG_RELEASE_LAST] = (uint32_t)state->release.rank;
    header.number[SG_RELEASE_WHICH] = (uint32_t)instance->piece | (uint32_t)instance->pieces << 8;
    header.number[SG_RELEASE_SPLITTER] = (uint32_t)instance->splitter;
    header.number[SG_RELEASE_MASK] = instance->mask;
    for (int i = 0; i < instance->parts; i++)
        carried[i] = token_part(state, i, arrived);
    parts[0] = sg_partial_value(&instance->partial_results, items, 0);
    if (instance->foldable > 0) {
        find_way(state, instance, instance->place.lo, &way);
        parts[0] = fold_way(instance, &way, parts[0], carried, instance->foldable,
                            sg_data_slot(items), actions);
    }
    for (int i = instance->foldable; i < instance->parts; i++)
        parts[1 + i - instance->foldable] = carried[i];
    if (header.bytes > 0)
        header.parts = (uint8_t)(1 + instance->parts - instance->foldable);
    instance->sent = 1;
    sg_release_make(&state->release, &header, parts, actions);
    if (instance->pieces == 1) {
        sg_adaptive_complete(state, instance, parts[0], actions);
        return;
    }
    sg_release_await(&state->release, instance->seq,
                     sg_adaptive_rank(state, instance, instance->place.parent), &header, event,
                     actions);
    if (state->release.at[instance->seq % 2].have == (1u << instance->pieces) - 1)
        sg_adaptive_released(state, instance, actions);
}

void sg_adaptive_hold(struct sg_adaptive *state, struct sg_adaptive_instance *instance,
                      const struct sg_event *event, bool arrived, struct sg_actions *actions)
{
    uint64_t missing = sg_partial_missing(&instance->partial_results) >> 1;
    int count = count_bits(missing);

    if (count == 0) {
        release_all(state, instance, event, arrived, actions);
    } else if (count == 1) {
        pass(state, instance, __builtin_ctzll(missing), instance->piece, instance->pieces, arrived,
             event, actions);
        instance->sent = 1;
    } else if (count <= instance->tokens) {
        part_token(state, instance, arrived, event, actions);
        instance->sent = 1;
    }
}

void sg_adaptive_token(struct sg_adaptive *state, struct sg_adaptive_instance *instance,
                       const struct sg_event *event, struct sg_actions *actions)
{
    const struct sg_header *header = &event->message.header;
    uint32_t which = header->number[SG_TOKEN_WHICH];
    bool running = sg_adaptive_running(state, instance->flags);

    instance->token = 1;
    instance->piece = (uint8_t)which;
    instance->pieces = (uint8_t)(which >> 8);
    instance->tokens = (uint8_t)(which >> 16);
    instance->splitter = (int32_t)header->number[SG_TOKEN_SPLITTER];
    instance->mask = header->number[SG_TOKEN_MASK];
    instance->parts = running ? 0 : header->parts;
    instance->foldable = running ? 0 : (uint8_t)header->number[SG_TOKEN_FOLDABLE];
    if (running && header->parts > 0)
        sg_partial_merge(&instance->partial_results, sg_adaptive_items(state, instance->seq),
                         sg_data_part(0), actions);
    if (instance->sent) {
        sg_emit_mark(actions, SG_MARK_TOKEN_ACK_CROSS);
        release_all(state, instance, event, true, actions);
        return;
    }
    if (instance->called)
        sg_adaptive_hold(state, instance, event, true, actions);
    for (int i = 0; i < instance->parts && !instance->sent; i++)
        sg_emit_copy(actions, sg_data_part((uint32_t)i), token_part(state, i, false),
                     header->bytes);
}

/* ---- folding the pieces ---------------------------------------------------------------------- */

struct pieces {
    const struct sg_adaptive *state;
    const struct sg_adaptive_instance *instance;
    uint64_t missing; /* items of the splitter that had a token */
    int items;        /* of the splitter */
    int piece, extra; /* next ones, from left to right */
};

static struct sg_data fold_pieces(struct pieces *pieces, int level, int first,
                                  struct sg_actions *actions)
{
    const struct sg_adaptive_instance *instance = pieces->instance;
    const struct sg_release *release = &pieces->state->release;
    int count = count_bits(pieces->missing & sg_partial_block(pieces->items, level, first));
    struct sg_data left, right;
    int middle;

    if (count == 0)
        return sg_release_piece(release, instance->seq, 0, ++pieces->extra);
    if (count == 1)
        return sg_release_piece(release, instance->seq, pieces->piece++, 0);
    left = fold_pieces(pieces, level - 1, first, actions);
    middle = first + (1 << (level - 1));
    if (middle >= pieces->items)
        return left;
    right = fold_pieces(pieces, level - 1, middle, actions);
    fold(instance, left, right, left, actions);
    return left;
}

/* The canonical value: the splitter's from the pieces, and then the way up from there. */
static struct sg_data canonical(const struct sg_adaptive *state,
                                const struct sg_adaptive_instance *instance,
                                const struct sg_release_instance *release,
                                struct sg_actions *actions)
{
    struct sg_tree_place place =
        sg_tree_find(release->splitter, state->release.size, instance->degree);
    struct pieces pieces = {
        .state = state,
        .instance = instance,
        .missing = (uint64_t)release->mask << 1,
        .items = sg_tree_children(&place, instance->degree) + 1,
    };
    struct sg_data parts[SG_PARTS_MAX];
    struct sg_data value = fold_pieces(&pieces, sg_tree_levels(pieces.items), 0, actions);
    struct way way;
    int count = 0;

    while (pieces.extra < release->extras)
        parts[count++] = sg_release_piece(&state->release, instance->seq, 0, ++pieces.extra);
    find_way(state, instance, release->splitter, &way);
    return fold_way(instance, &way, value, parts, count, value, actions);
}

void sg_adaptive_released(struct sg_adaptive *state, struct sg_adaptive_instance *instance,
                          struct sg_actions *actions)
{
    const struct sg_release_instance *release = &state->release.at[instance->seq % 2];
    uint32_t bytes = instance->partial_results.bytes;
    struct sg_data value = sg_data_part(0);

    if (release->pieces > 1 && instance->token && instance->pieces > 1)
        sg_emit_mark(actions, SG_MARK_TOKENS_MEET);
    if (release->pieces > 1 && bytes > 0) {
        if (sg_adaptive_running(state, instance->flags)) {
            value = sg_release_piece(&state->release, instance->seq, 0, 0);
            for (int piece = 1; piece < release->pieces; piece++)
                fold(instance, value, sg_release_piece(&state->release, instance->seq, piece, 0),
                     value, actions);
        } else {
            value = canonical(state, instance, release, actions);
        }
    }
    sg_adaptive_complete(state, instance, value, actions);
}
