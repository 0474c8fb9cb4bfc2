/* What all ranks of a call must have alike: its choice, where rules tell call sites apart, and the
 * call itself. Here those of one machine; for the call itself, between machines see consistency.c.
 *
 * Things that all ranks come to in the same order are numbered from 0. Thing n has a word in the
 * segment, at n modulo their number: n + 1, the rank that came first, and what it brought, which
 * the others find there. A word is written again only when all ranks have read what it held.
 *
 *   choices      calls whose operation has rules by call site, those that go to MPICH included
 *   openings     quarters of the choices' words. Opening n is that of quarter n + 4, which takes
 * the words of quarter n: before the first call of it the first rank to come says whether all have
 * read those of quarter n signatures   instances: a hash of operation, form, size, root and
 * MPI_IN_PLACE
 *
 * Between machines the first rank here asks for a choice or an opening which was the first of all
 * (coordinator.c).
 *
 * A quarter that is opened has free words, on all machines. Where all have not read, a blocking
 * call waits before it says anything; a post must not, and its opening says so: rules by call site
 * then hold no longer from the first call of that quarter on. No rank chooses one of its calls
 * without its opening, so all ranks end with the same call; those that are behind have all words
 * until there. Openings need no such care: who is at one has read the one 8 before, and so has
 * everybody, or the last one would not have opened its quarter.
 */
#include "core/hash.h"
#include "internode/layout.h"
#include "mpi/report.h"

#include <stddef.h>

#define FIELD_BITS 16
#define FIELD_MASK 0xffffu
/* In the place of what a rank brings: it is asking. */
#define ASKED FIELD_MASK

/* What an opening says. */
enum { OPEN, FAR_AHEAD };

struct found {
    uint32_t brought;
    int rank;
};

/* read_at: in struct sg_span_about, how many its rank has read. all_read: a count that all ranks
 * are known to have come to. */
static bool is_read_by_all(const struct sg_span *span, size_t read_at, uint64_t *all_read,
                           uint64_t count)
{
    uint64_t least = UINT64_MAX;

    if (*all_read >= count)
        return true;
    for (int rank = 0; rank < span->ranks; rank++) {
        const char *about;
        const _Atomic uint64_t *read;
        uint64_t now;

        if (!sg_span_is_here(span, rank))
            continue;
        about = (const char *)sg_span_about(span, rank);
        read = (const void *)(about + read_at);
        /* Acquire: its reading is over. */
        now = atomic_load_explicit(read, memory_order_acquire);
        least = now < least ? now : least;
    }
    *all_read = least;
    return least >= count;
}

bool sg_span_have_all_chosen(struct sg_span *span, uint64_t count)
{
    return is_read_by_all(span, offsetof(struct sg_span_about, chosen), &span->all_chosen, count);
}

static uint64_t word_of(uint64_t number, int rank, uint32_t brings)
{
    return ((uint64_t)(uint32_t)(number + 1) << FIELD_BITS | (uint64_t)rank) << FIELD_BITS | brings;
}

static struct found found_in(uint64_t word)
{
    return (struct found){(uint32_t)(word & FIELD_MASK), (int)(word >> FIELD_BITS & FIELD_MASK)};
}

/* Whether some rank has come to the thing. */
static bool is_taken(const _Atomic uint64_t *word, uint64_t number)
{
    /* Acquire: what its writer says of its call was written before. */
    uint64_t seen = atomic_load_explicit(word, memory_order_acquire);

    return seen >> 2 * FIELD_BITS == (uint32_t)(number + 1);
}

/* All have read what the word held before. */
static struct found meet(const struct sg_span *span, _Atomic uint64_t *word, uint64_t number,
                         uint32_t brings)
{
    uint64_t wanted = word_of(number, span->rank, brings);
    /* Acquire, here and below: as above. */
    uint64_t seen = atomic_load_explicit(word, memory_order_acquire);

    /* Who is before us brings the same number: nobody gets a whole ring ahead of us. */
    if (seen >> 2 * FIELD_BITS != wanted >> 2 * FIELD_BITS &&
        atomic_compare_exchange_strong_explicit(word, &seen, wanted, memory_order_acq_rel,
                                                memory_order_acquire))
        seen = wanted;
    return found_in(seen);
}

/* ---- choices ---- */

static _Atomic uint64_t *word_at(const struct sg_span *span, enum sg_span_thing thing,
                                 uint64_t number)
{
    return thing == SG_SPAN_CHOICE ? &span->header->choices[number % SG_SPAN_CHOICES]
                                   : &span->header->openings[number % SG_SPAN_OPENINGS];
}

/* What the first of all ranks brought. False: that is not known yet. */
static bool find(struct sg_span *span, enum sg_span_thing thing, uint64_t number, uint32_t brings,
                 struct found *found)
{
    _Atomic uint64_t *word = word_at(span, thing, number);
    uint64_t decided;

    *found = meet(span, word, number, span->has_home ? ASKED : brings);
    if (!span->has_home || found->brought != ASKED)
        return true;
    if (found->rank != span->rank ||
        !sg_span_decide(span, thing, number, word_of(number, span->rank, brings), &decided))
        return false;
    /* Release: what the others find is whole. */
    atomic_store_explicit(word, decided, memory_order_release);
    sg_wait_wake(&span->bed);
    *found = found_in(decided);
    return true;
}

struct choosing {
    struct sg_span *span;
    const struct sg_call *call;
    uint32_t own;
    enum { TELLS, LOOKS, OPENS, CHOOSES } stage;
    uint32_t opening; /* what this rank brings to it */
    struct found found;
};

/* Whether an opening that this rank is the first to come to is OPEN. False: to be asked again. */
static bool look_for_room(struct choosing *choosing, uint64_t number)
{
    struct sg_span *span = choosing->span;
    bool has_room;

    /* What is under way at the home comes to its end. */
    if (!span->asking.is_under_way && is_taken(word_at(span, SG_SPAN_OPENING, number), number))
        return true;
    if (!span->has_home)
        has_room = sg_span_have_all_chosen(span, (number + 1) * SG_SPAN_QUARTER);
    else if (!sg_span_ask_passed(span, number, &has_room))
        return false;
    choosing->opening = has_room ? OPEN : FAR_AHEAD;
    return has_room || choosing->call->request != NULL;
}

/* Before the first call of a quarter: one stage. False: it is not over. */
static bool step_to_quarter(struct choosing *choosing)
{
    struct sg_span *span = choosing->span;
    uint64_t quarter = span->chosen / SG_SPAN_QUARTER;

    switch (choosing->stage) {
    case TELLS:
        /* Of the ranks here that have read the last of a quarter, one sees that all have: this
         * pairs with itself, behind what each says of itself. */
        atomic_thread_fence(memory_order_seq_cst);
        if (span->has_home && !sg_span_tell_home(span))
            return false;
        choosing->stage = quarter >= SG_SPAN_CHOICES / SG_SPAN_QUARTER ? LOOKS : CHOOSES;
        return true;
    case LOOKS:
        if (look_for_room(choosing, quarter - SG_SPAN_CHOICES / SG_SPAN_QUARTER))
            choosing->stage = OPENS;
        return choosing->stage == OPENS;
    default:
        if (!find(span, SG_SPAN_OPENING, quarter - SG_SPAN_CHOICES / SG_SPAN_QUARTER,
                  choosing->opening, &choosing->found))
            return false;
        span->is_far_ahead = choosing->found.brought == FAR_AHEAD;
        choosing->stage = CHOOSES;
        return true;
    }
}

static bool is_chosen(void *context)
{
    struct choosing *choosing = context;
    struct sg_span *span = choosing->span;

    while (choosing->stage != CHOOSES) {
        if (!step_to_quarter(choosing))
            return false;
    }
    return span->is_far_ahead ||
           find(span, SG_SPAN_CHOICE, span->chosen, choosing->own, &choosing->found);
}

bool sg_span_agrees(const struct sg_span *span)
{
    return !span->is_far_ahead && (span->wire == NULL || span->has_home);
}

const struct sg_choice *sg_span_agree(struct sg_span *span, const struct sg_call *call,
                                      const struct sg_choice *own)
{
    struct choosing choosing = {.span = span,
                                .call = call,
                                .own = (uint32_t)sg_ruleset_index(call->rules, own) & FIELD_MASK,
                                .stage = span->chosen % SG_SPAN_QUARTER == 0 ? TELLS : CHOOSES};
    const struct sg_choice *choice;

    if (!is_chosen(&choosing)) {
        /* Who is behind this rank in what it has entered is behind it in its choices. Relaxed: its
         * own, or a hint. */
        uint64_t entered =
            atomic_load_explicit(&sg_span_about(span, span->rank)->position, memory_order_relaxed);

        span->asking.is_waiting = span->has_home;
        sg_span_wait(span, is_chosen, &choosing, call, entered > 0 ? entered - 1 : 0);
        span->asking.is_waiting = false;
    }
    if (span->is_far_ahead) {
        if (choosing.found.rank == span->rank)
            sg_report_far_ahead(call, span->rank, SG_SPAN_CHOICES - SG_SPAN_QUARTER);
        return call->choose_alike(call);
    }
    choice = sg_ruleset_choice(call->rules, (int)choosing.found.brought);
    sg_report_choice(span->header->warned, call, span->rank, own->algorithm, choice->algorithm,
                     choosing.found.rank);
    span->chosen++;
    /* Release: the word has been read. */
    atomic_store_explicit(&sg_span_about(span, span->rank)->chosen, span->chosen,
                          memory_order_release);
    return choice;
}

/* ---- signatures ---- */

uint16_t sg_span_signature(const struct sg_call *call)
{
    uint64_t form = (uint64_t)call->operation << 2 | (uint64_t)sg_call_is_in_place(call) << 1 |
                    (call->request != NULL);
    uint64_t hash = sg_hash_mix(call->bytes ^ sg_hash_mix(form << 32 | (uint32_t)call->root));

    return (uint16_t)(hash & FIELD_MASK);
}

bool sg_span_compare(struct sg_span *span, const struct sg_call *call, uint64_t position)
{
    _Atomic uint64_t *word = &span->header->signatures[position % SG_SPAN_SIGNATURES];
    uint32_t own = sg_span_signature(call);
    const struct sg_span_about *other;
    struct found found;

    if (position >= SG_SPAN_SIGNATURES && !is_taken(word, position) &&
        !is_read_by_all(span, offsetof(struct sg_span_about, left), &span->all_entered,
                        position + 1 - SG_SPAN_SIGNATURES))
        return false;
    found = meet(span, word, position, own);
    if (found.brought == own)
        return true;
    /* The end of the job is for a thread of the application, which comes to it by itself. */
    if (sg_progress_by() != SG_PROGRESS_BY_CALL)
        return false;
    other = sg_span_about(span, found.rank);
    /* Where it is in a later one, what it says of itself is about that. */
    sg_report_mismatch(call, span->rank, &sg_span_about(span, span->rank)->call, found.rank,
                       atomic_load_explicit(&other->position, memory_order_relaxed) == position + 1
                           ? &other->call
                           : NULL);
}
