/* adaptive: barrier and allreduce on a combining tree whose root moves to the last arriver (paper:
 * adaptive, section 4).
 *
 * The tree is the contiguous one of tree.h, of degree 8 in a barrier and 4 in an allreduce. When an
 * endpoint and its children's subtrees have arrived, it sends its value to its parent (ACK). The
 * token begins at the top, rank 0. Its holder releases all endpoints by a multicast when everything
 * below it has arrived; if exactly one child is missing, it passes the token to that child, with
 * the combined value of everything outside the child's subtree. An endpoint that gets a token after
 * its ACK knows everything and releases; its parent ignores that ACK. release.h makes the multicast
 * reliable.
 *
 * Several tokens: a holder that may split its token does so if no more children are missing than
 * there are tokens. Each token then moves independently and releases its own piece.
 *
 * Prediction: if order does not matter, the endpoint that was last in the site's recent instances
 * holds the token from the start. Ranks are then relative to it. It has one child, the top of a
 * tree of all others, so it awaits a single ACK. All endpoints know the same history, because it
 * comes with the releases. If another endpoint is last, the token moves there as usual.
 *
 * Association: an endpoint's value folds its own operand and the children's values by
 * SG_SHAPE_BINOMIAL, whatever the token's path: the token carries the partial results along its
 * path, and the last holder folds them in their positions. Operations that are exact and
 * commutative, or commutative with arrival_order=1, use one running value instead. Pieces are
 * always folded in the same order, so all endpoints get the same bits.
 *
 * An endpoint that has entered instance n has been released from n - 1, so every endpoint has
 * entered n - 1: records of two instances suffice. */
#include "algos/algo.h"
#include "algos/broadcast.h"
#include "algos/partial_results.h"
#include "algos/release.h"
#include "algos/tree.h"

#include <string.h>

/* ---- state, without pointers ---- */

/* Depth of the deepest tree: of degree 2 at SG_ENDPOINTS_MAX, or of degree 1 with as many endpoints
 * as a token has parts. */
#define SG_ADAPTIVE_DEPTH_MAX SG_PARTS_MAX
/* In header.flags, beside SG_CALL_*: the instance's top is a prediction. */
#define SG_ADAPTIVE_PREDICTED 0x80

enum { SG_ADAPTIVE_ACK = 1, SG_ADAPTIVE_TOKEN };

/* Indices of header.number: an ACK has only [TOP], a TOKEN all. TOP, SPLITTER and MASK have the
 * same index as in a PIECE. */
enum {
    SG_TOKEN_TOP = SG_RELEASE_TOP,           /* rank at which the instance's token begins */
    SG_TOKEN_FOLDABLE,                       /* number of parts that the last holder folds; the rest
                                              * are extras */
    SG_TOKEN_WHICH = SG_RELEASE_WHICH,       /* piece | pieces << 8 | tokens left << 16 */
    SG_TOKEN_SPLITTER = SG_RELEASE_SPLITTER, /* with several pieces: the endpoint that split the
                                              * token, relative to top */
    SG_TOKEN_MASK = SG_RELEASE_MASK          /* ... and its children that got the tokens, as bits */
};

/* Record of instance n, at index n modulo 2: no endpoint is ever two instances ahead of another. */
struct sg_adaptive_instance {
    uint64_t seq;
    struct sg_partial_results partial_results;
    struct sg_tree_place place; /* position, relative to top */
    int32_t top;                /* rank to which the tree is relative */
    int32_t splitter;           /* of the token, like its mask */
    uint32_t mask;
    uint8_t degree;
    uint8_t children;
    uint8_t operation, flags; /* of the call, and SG_ADAPTIVE_PREDICTED */
    uint8_t called;           /* true after the CALL */
    uint8_t sent;             /* the ACK, token or piece has been sent */
    uint8_t token;            /* holds, or has held, the token */
    /* The token held here. */
    uint8_t piece, pieces, tokens;
    uint8_t parts, foldable; /* in the token's slots, or of the message being handled */
};

struct sg_adaptive {
    struct sg_algo_head head;
    uint8_t degree, tokens, predict, arrival_order;
    uint8_t site;        /* of the current call */
    uint16_t item_slots; /* slots of one instance */
    struct sg_release release;
    struct sg_adaptive_instance at[2];
    /* By site: the endpoint that was last (24 bits), and its hits in a row less misses (8 bits). */
    uint32_t history[SG_SITES];
};

/* True if a running value suffices: the operation is exact, or may be combined in order of
 * arrival. */
static inline bool sg_adaptive_running(const struct sg_adaptive *state, uint32_t flags)
{
    return (flags & SG_CALL_COMMUTATIVE) && !(flags & SG_CALL_USER) &&
           (state->arrival_order || (flags & SG_CALL_EXACT));
}

static inline uint32_t sg_adaptive_items(const struct sg_adaptive *state, uint64_t seq)
{
    return (uint32_t)(seq % 2) * state->item_slots;
}

/* The slots of a token's parts follow those of the items. */
static inline uint32_t sg_adaptive_token_slots(const struct sg_adaptive *state)
{
    return 2u * state->item_slots;
}

/* Absolute rank of a rank relative to the instance's top. */
static inline int32_t sg_adaptive_rank(const struct sg_adaptive *state,
                                       const struct sg_adaptive_instance *instance,
                                       int32_t relative)
{
    return sg_tree_absolute(relative, instance->top, state->release.size);
}

/* ---- the history that predicts the last arriver ---------------------------------------------- */

#define HISTORY_RANK ((1u << 24) - 1)
/* Hits needed for a prediction, and the greatest number remembered. */
#define HISTORY_SURE 2
#define HISTORY_MOST 4

static void remember(struct sg_adaptive *state, int32_t last)
{
    uint32_t *history = &state->history[state->site];
    uint32_t hits = *history >> 24;

    if ((*history & HISTORY_RANK) == (uint32_t)last)
        hits += hits < HISTORY_MOST;
    else if (hits > 0)
        hits--;
    if (hits == 0) {
        *history = (uint32_t)last;
        hits = 1;
    }
    *history = (*history & HISTORY_RANK) | hits << 24;
}

/* Returns the endpoint that usually arrives last at the site; -1: unknown. */
static int32_t usually_last(const struct sg_adaptive *state, uint32_t site)
{
    uint32_t history = state->history[site];

    return state->predict && history >> 24 >= HISTORY_SURE ? (int32_t)(history & HISTORY_RANK) : -1;
}

/* ---- instances ------------------------------------------------------------------------------- */

static struct sg_header header_of(const struct sg_adaptive_instance *instance, uint8_t kind)
{
    return (struct sg_header){
        .seq = (uint32_t)instance->seq,
        .kind = kind,
        .operation = instance->operation,
        .flags = instance->flags,
        .bytes = instance->partial_results.bytes,
        .number = {(uint32_t)instance->top},
    };
}

/* Sets this endpoint's position in the instance's tree. */
static void find_place(const struct sg_adaptive *state, struct sg_adaptive_instance *instance,
                       int degree)
{
    int32_t size = state->release.size;
    int32_t relative = sg_tree_relative(state->release.rank, instance->top, size);
    struct sg_tree_place *place = &instance->place;

    if ((instance->flags & SG_ADAPTIVE_PREDICTED) && relative == 0) {
        *place = sg_tree_top(size);
        degree = 1;
    } else if (instance->flags & SG_ADAPTIVE_PREDICTED) {
        *place = sg_tree_find(relative - 1, size - 1, degree);
        place->lo++;
        place->hi++;
        place->index = place->parent < 0 ? 0 : place->index;
        place->parent++;
        place->depth++;
    } else {
        *place = sg_tree_find(relative, size, degree);
    }
    instance->degree = (uint8_t)degree;
    instance->children = (uint8_t)sg_tree_children(place, degree);
    instance->token = relative == 0;
}

/* Returns the record of instance seq, initialised on first use: by the CALL, or by an earlier
 * message with the same information. */
static struct sg_adaptive_instance *open_instance(struct sg_adaptive *state, uint64_t seq,
                                                  int32_t top, enum sg_operation operation,
                                                  uint32_t flags, uint32_t bytes)
{
    struct sg_adaptive_instance *instance = &state->at[seq % 2];
    int degree = operation == SG_OPERATION_BARRIER ? SG_DEGREE_BARRIER : SG_DEGREE_DATA;

    if (instance->seq == seq)
        return instance;
    memset(instance, 0, sizeof *instance);
    instance->seq = seq;
    instance->top = top;
    instance->operation = (uint8_t)operation;
    instance->flags = (uint8_t)flags;
    find_place(state, instance, state->degree ? state->degree : degree);
    instance->pieces = 1;
    instance->tokens = state->tokens;
    sg_partial_begin(&instance->partial_results, seq, instance->children + 1,
                     sg_adaptive_running(state, flags) ? SG_PARTIAL_ANY
                     : flags & SG_CALL_USER            ? SG_PARTIAL_HELD
                                                       : SG_PARTIAL_BALANCED,
                     bytes);
    sg_release_open(&state->release, seq, top);
    return instance;
}

/* Ends the call; its result is data. */
static void complete(struct sg_adaptive *state, struct sg_adaptive_instance *instance,
                     struct sg_data data, struct sg_actions *actions)
{
    int32_t last = state->release.at[instance->seq % 2].last;
    /* Those that may ask here: children, and the endpoint that passed the token here. */
    bool keep = state->release.size > 1 && (instance->children > 0 || instance->token);

    remember(state, last);
    if ((instance->flags & SG_ADAPTIVE_PREDICTED) && last == state->release.rank)
        sg_emit_mark(actions, last == instance->top ? SG_MARK_PREDICTED : SG_MARK_PREDICT_WRONG);
    sg_release_complete(&state->release, &state->head, instance->seq, data, keep, actions);
}

/* ---- tokens ----
 *
 * Let v hold the token while child c's item is missing. Of v's items, the partial results remain
 * that c's value meets on its way up v's shape, one per level. The token to c carries them, lowest
 * first, and then the parts that came with the token to v. So its parts are in the order in which
 * the last holder folds its value with them, up to the root. The path determines on which side each
 * part goes.
 *
 * If the token is split at v, its splitter, among the missing children c0 < c1 < ..., token i
 * carries the partial results up to the point where c_i's way meets that of another child. Token 0
 * also carries as extras, which nobody folds on the way, all other partial results of v, from left
 * to right, and the parts that came with the token to v. A piece is a token's final value and, in
 * piece 0, the extras. All endpoints fold the pieces from the set of the splitter's missing items,
 * which the pieces include. */

/* ---- bounds on a token's parts and a piece's extras, over all calls of a setup --------------- */

static uint32_t token_parts(int32_t size, int degree)
{
    return (uint32_t)(sg_tree_depth(size, degree) * sg_tree_levels(degree + 1));
}

/* The worst case is a split at the deepest splitter: each further token leaves the partial results
 * of one way up. */
static uint32_t extras_of(int32_t size, int degree, uint32_t tokens)
{
    return token_parts(size, degree) + (tokens - 1) * (uint32_t)sg_tree_levels(degree + 1);
}

/* ---- path from an endpoint up to the root ---------------------------------------------------- */

struct way {
    int depth; /* steps, from the root down */
    struct {
        uint8_t items, item; /* number of items of the endpoint at that step; which of them is on
                              * the path */
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

/* Folds value with `count` parts along its path; the result is in `into`, or value itself if there
 * are no parts. */
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

/* ---- passing the token on -------------------------------------------------------------------- */

/* Part `part` of the token held here. */
static struct sg_data token_part(const struct sg_adaptive *state, int part, bool arrived)
{
    return arrived ? sg_data_part((uint32_t)part)
                   : sg_data_slot(sg_adaptive_token_slots(state) + (uint32_t)part);
}

static int count_bits(uint64_t bits)
{
    return __builtin_popcountll(bits);
}

/* Emits the partial results on item's way up until one is missing; returns their number. */
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

/* Emits the partial results, below one block, that lie between the paths of several tokens, from
 * left to right; returns their number. */
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

/* Passes the token, or one of several, to child. */
static void pass(struct sg_adaptive *state, struct sg_adaptive_instance *instance, int child,
                 int piece, int pieces, bool arrived, const struct sg_event *event,
                 struct sg_actions *actions)
{
    struct sg_header header = header_of(instance, SG_ADAPTIVE_TOKEN);
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
    /* Piece i will come from that child; a token that may still be split stands for all pieces. */
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

    /* Record whom to ask for every piece before the first is awaited. */
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

/* ---- folding pieces -------------------------------------------------------------------------- */

struct pieces {
    const struct sg_adaptive *state;
    const struct sg_adaptive_instance *instance;
    uint64_t missing; /* the splitter's items that got a token */
    int items;        /* of the splitter */
    int piece, extra; /* indices of the next ones, from left to right */
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

/* Computes the canonical value: the splitter's value from the pieces, and then its path to the
 * root. */
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

/* Completes the instance once all pieces of the release have arrived. */
static void released(struct sg_adaptive *state, struct sg_adaptive_instance *instance,
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
    complete(state, instance, value, actions);
}

/* ---- releasing ------------------------------------------------------------------------------- */

/* Everything below has arrived, as has everything that the token carries: makes the release, or
 * this token's piece of it. */
static void release_all(struct sg_adaptive *state, struct sg_adaptive_instance *instance,
                        const struct sg_event *event, bool arrived, struct sg_actions *actions)
{
    struct sg_header header = header_of(instance, SG_RELEASE_PIECE);
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
        complete(state, instance, parts[0], actions);
        return;
    }
    sg_release_await(&state->release, instance->seq,
                     sg_adaptive_rank(state, instance, instance->place.parent), &header, event,
                     actions);
    if (state->release.at[instance->seq % 2].have == (1u << instance->pieces) - 1)
        released(state, instance, actions);
}

/* For an endpoint that has called and holds the token: passes it on, splits it, releases, or waits.
 * arrived: the token's parts are in the message being handled. */
static void hold(struct sg_adaptive *state, struct sg_adaptive_instance *instance,
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

/* Handles a TOKEN. */
static void on_token(struct sg_adaptive *state, struct sg_adaptive_instance *instance,
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
        hold(state, instance, event, true, actions);
    for (int i = 0; i < instance->parts && !instance->sent; i++)
        sg_emit_copy(actions, sg_data_part((uint32_t)i), token_part(state, i, false),
                     header->bytes);
}

/* ---- setup ----------------------------------------------------------------------------------- */

/* Slots for the items of one instance: those of its children and the endpoint's own value. */
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
    /* A longer chain would be deeper than a token has parts. */
    if (degree == 1 && setup->size > SG_PARTS_MAX)
        return false;
    extras = extras_of(setup->size, degree, tokens);
    if (1 + extras > SG_PARTS_MAX)
        return false;
    needs->state_bytes = sizeof(struct sg_adaptive);
    needs->slots =
        2 * item_slots(setup) + token_parts(setup->size, degree) + sg_release_slots(tokens, extras);
    needs->cells = 0;
    needs->parts = 1 + extras;
    return true;
}

static void init(void *memory, const struct sg_algo_setup *setup)
{
    struct sg_adaptive *state = memory;
    int degree = sg_data_degree(&setup->parameters);
    uint32_t extras = extras_of(setup->size, degree, sg_tokens(&setup->parameters));

    state->head.seq = setup->parameters.first;
    state->degree = setup->parameters.degree;
    state->tokens = (uint8_t)sg_tokens(&setup->parameters);
    state->predict = setup->parameters.predict;
    state->arrival_order = setup->parameters.arrival_order;
    state->item_slots = (uint16_t)item_slots(setup);
    sg_release_init(&state->release, setup,
                    2 * item_slots(setup) + token_parts(setup->size, degree), extras);
}

/* ---- acknowledgements ------------------------------------------------------------------------ */

static void acknowledge(struct sg_adaptive *state, struct sg_adaptive_instance *instance,
                        const struct sg_event *event, struct sg_actions *actions)
{
    struct sg_header header = header_of(instance, SG_ADAPTIVE_ACK);
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

/* Continues after an arrival, if this endpoint can now hold the token or acknowledge. */
static void proceed(struct sg_adaptive *state, struct sg_adaptive_instance *instance,
                    const struct sg_event *event, struct sg_actions *actions)
{
    if (!instance->called || instance->sent)
        return;
    if (instance->token)
        hold(state, instance, event, false, actions);
    else if (sg_partial_missing(&instance->partial_results) == 0)
        acknowledge(state, instance, event, actions);
}

static void on_call(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct sg_adaptive *state = memory;
    const struct sg_algo_call *call = &event->call;
    struct sg_adaptive_instance *instance;
    int32_t predicted = usually_last(state, call->site);
    int32_t top = 0;
    uint32_t flags = call->flags;
    uint64_t seq = ++state->head.seq;

    state->head.in_call = 1;
    sg_release_settle(&state->release, &state->head, actions);
    state->site = (uint8_t)call->site;
    /* If order or association matters, the tree stays; the token still carries contributions along
     * it towards the missing endpoint as early as possible. */
    if (predicted >= 0 && (call->bytes == 0 || sg_adaptive_running(state, call->flags))) {
        top = predicted;
        flags |= SG_ADAPTIVE_PREDICTED;
    }
    instance = open_instance(state, seq, top, call->operation, flags, call->bytes);
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
    /* The child has the token: that end of the edge releases. */
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
        released(state, &state->at[message->header.seq % 2], actions);
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
        /* An ACK that crossed a token may arrive after its instance is over. */
        if (seq < state->head.seq)
            return;
        sg_release_gap(&state->release, seq, actions);
        instance =
            open_instance(state, seq, (int32_t)header->number[SG_TOKEN_TOP],
                          (enum sg_operation)header->operation, header->flags, header->bytes);
        if (header->kind == SG_ADAPTIVE_ACK)
            on_ack(state, instance, event, actions);
        else
            on_token(state, instance, event, actions);
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
    /* A predicted last endpoint has one child, the top of a tree of all others. */
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
