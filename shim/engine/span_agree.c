/* What all ranks of a call must have alike: its choice, where rules tell call sites apart, and the
 * call itself. Here those of one machine; for the call itself, between machines see span_heard.c.
 *
 * Things that all ranks come to in the same order are numbered from 0. Thing n has a word in the
 * segment, at n modulo their number: n + 1, the rank that came first, and what it brought, which
 * the others find there. A word is written again only when all ranks have read what it held.
 *
 *   choices      calls whose operation has rules by call site, those that go to MPICH included;
 *                between machines the first rank here asks which was the first of all (span_home.c)
 *   signatures   instances: a hash of operation, size and root
 */
#include "core/hash.h"
#include "engine/report.h"
#include "engine/span_layout.h"

#include <stddef.h>

#define FIELD_BITS 16
#define FIELD_MASK 0xffffu
/* In the place of a choice: its rank is asking. */
#define ASKED FIELD_MASK

struct words {
    _Atomic uint64_t *words;
    uint64_t count;
    size_t read_at;     /* in struct sg_span_about: how many its rank has read */
    uint64_t *all_read; /* a count that all ranks are known to have come to */
};

struct found {
    uint32_t brought;
    int rank;
};

static struct words choices_of(struct sg_span *span)
{
    return (struct words){span->header->choices, SG_SPAN_CHOICES,
                          offsetof(struct sg_span_about, chosen), &span->all_chosen};
}

static bool is_read_by_all(const struct sg_span *span, const struct words *words, uint64_t count)
{
    uint64_t least = UINT64_MAX;

    if (*words->all_read >= count)
        return true;
    for (int rank = 0; rank < span->ranks; rank++) {
        const char *about;
        const _Atomic uint64_t *read;
        uint64_t now;

        if (!sg_span_is_here(span, rank))
            continue;
        about = (const char *)sg_span_about(span, rank);
        read = (const void *)(about + words->read_at);
        /* Acquire: its reading is over. */
        now = atomic_load_explicit(read, memory_order_acquire);
        least = now < least ? now : least;
    }
    *words->all_read = least;
    return least >= count;
}

bool sg_span_have_all_chosen(struct sg_span *span, uint64_t count)
{
    struct words words = choices_of(span);

    return is_read_by_all(span, &words, count);
}

static uint64_t word_of(uint64_t number, int rank, uint32_t brings)
{
    return ((uint64_t)(uint32_t)(number + 1) << FIELD_BITS | (uint64_t)rank) << FIELD_BITS | brings;
}

/* False: not all have read the word's last content. */
static bool meet(const struct sg_span *span, const struct words *words, uint64_t number,
                 uint32_t brings, struct found *found)
{
    _Atomic uint64_t *word = &words->words[number % words->count];
    uint64_t wanted = word_of(number, span->rank, brings);
    /* Acquire, here and below: what its writer says of its call was written before. */
    uint64_t seen = atomic_load_explicit(word, memory_order_acquire);

    if (seen >> 2 * FIELD_BITS != wanted >> 2 * FIELD_BITS) {
        if (number >= words->count && !is_read_by_all(span, words, number + 1 - words->count))
            return false;
        /* Who is before us brings the same number: nobody gets a whole ring ahead of us. */
        if (atomic_compare_exchange_strong_explicit(word, &seen, wanted, memory_order_acq_rel,
                                                    memory_order_acquire))
            seen = wanted;
    }
    found->brought = seen & FIELD_MASK;
    found->rank = (int)(seen >> FIELD_BITS & FIELD_MASK);
    return true;
}

/* ---- choices ---- */

struct choosing {
    struct sg_span *span;
    uint32_t own;
    struct found found;
};

static bool is_chosen(void *context)
{
    struct choosing *choosing = context;
    struct sg_span *span = choosing->span;
    struct words words = choices_of(span);
    struct found *found = &choosing->found;
    uint64_t word;

    if (!span->has_home)
        return meet(span, &words, span->chosen, choosing->own, found);
    if (!meet(span, &words, span->chosen, ASKED, found))
        return false;
    if (found->brought != ASKED)
        return true;
    if (found->rank != span->rank ||
        !sg_span_decide(span, span->chosen, word_of(span->chosen, span->rank, choosing->own),
                        &word))
        return false;
    /* Release: what the others find is whole. */
    atomic_store_explicit(&words.words[span->chosen % words.count], word, memory_order_release);
    sg_wait_wake(&span->bed);
    return meet(span, &words, span->chosen, ASKED, found);
}

bool sg_span_agrees(const struct sg_span *span)
{
    return span->wire == NULL || span->has_home;
}

const struct sg_choice *sg_span_agree(struct sg_span *span, const struct sg_call *call,
                                      const struct sg_choice *own)
{
    struct choosing choosing = {.span = span,
                                .own = (uint32_t)sg_ruleset_index(call->rules, own) & FIELD_MASK};
    const struct sg_choice *choice;
    struct sg_wait wait = {0};

    while (!is_chosen(&choosing)) {
        if (sg_wait_step(&wait, &span->bed, is_chosen, &choosing))
            sg_progress_poll();
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
    uint64_t form = (uint64_t)call->operation << 1 | (call->request != NULL);
    uint64_t hash = sg_hash_mix(call->bytes ^ sg_hash_mix(form << 32 | (uint32_t)call->root));

    return (uint16_t)(hash & FIELD_MASK);
}

bool sg_span_compare(struct sg_span *span, const struct sg_call *call, uint64_t position)
{
    struct words words = {span->header->signatures, SG_SPAN_SIGNATURES,
                          offsetof(struct sg_span_about, left), &span->all_entered};
    uint32_t own = sg_span_signature(call);
    const struct sg_span_about *other;
    struct found found;

    if (!meet(span, &words, position, own, &found))
        return false;
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
