/* Here ranks of one machine agree, by words (words.h). Between machines, the first rank here asks
 * for a choice or an opening which was the first of all (coordinator.h).
 *
 * The words of choices are used again by quarters. Opening n is that of quarter n + 4, which takes
 * the words of quarter n: before the first call of it the first rank to come says whether all have
 * read those of quarter n.
 *
 * A quarter that is opened has free words, on all machines. Where all have not read, a blocking
 * call waits before it says anything; a post must not, and its opening says so: rules by call site
 * then hold no longer from the first call of that quarter on. No rank chooses one of its calls
 * without its opening, so all ranks end with the same call; those that are behind have all words
 * until there. Openings need no such care: who is at one has read the one 8 before, and so has
 * everybody, or the last one would not have opened its quarter.
 */
#include "internode/agree.h"

#include "internode/coordinator.h"
#include "internode/waiting.h"
#include "internode/words.h"
#include "mpi/report.h"

#include <stddef.h>

/* In the place of what a rank brings: it is asking. */
#define ASKED SG_SPAN_FIELD_MASK

/* What an opening says. */
enum { OPEN, FAR_AHEAD };

/* Whether all ranks of this machine have read the choices of so many calls. */
static bool have_all_chosen(struct sg_span *span, uint64_t count)
{
    return sg_span_is_read_by_all(span, offsetof(struct sg_span_about, chosen), &span->all_chosen,
                                  count);
}

/* Quarters that all ranks of this machine have read. */
static uint64_t quarters_read(struct sg_span *span)
{
    have_all_chosen(span, span->chosen);
    return span->all_chosen / SG_SPAN_QUARTER;
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
                 struct sg_span_found *found)
{
    _Atomic uint64_t *word = word_at(span, thing, number);
    uint64_t decided;

    *found = sg_span_meet(span, word, number, span->has_home ? ASKED : brings);
    if (!span->has_home || found->brought != ASKED)
        return true;
    if (found->rank != span->rank ||
        !sg_span_decide(span, thing, number, sg_span_word_of(number, span->rank, brings), &decided))
        return false;
    /* Release: what the others find is whole. */
    atomic_store_explicit(word, decided, memory_order_release);
    sg_wait_wake(&span->bed);
    *found = sg_span_found_in(decided);
    return true;
}

struct choosing {
    struct sg_span *span;
    const struct sg_call *call;
    uint32_t own;
    enum { TELLS, LOOKS, OPENS, CHOOSES } stage;
    uint32_t opening; /* what this rank brings to it */
    struct sg_span_found found;
};

/* Whether an opening that this rank is the first to come to is OPEN. False: to be asked again. */
static bool look_for_room(struct choosing *choosing, uint64_t number)
{
    struct sg_span *span = choosing->span;
    bool has_room;

    /* What is under way at the home comes to its end. */
    if (!span->asking.is_under_way &&
        sg_span_is_taken(word_at(span, SG_SPAN_OPENING, number), number))
        return true;
    if (!span->has_home)
        has_room = have_all_chosen(span, (number + 1) * SG_SPAN_QUARTER);
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
        if (span->has_home && !sg_span_tell_home(span, quarters_read(span)))
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
                                .own = (uint32_t)sg_ruleset_index(call->rules, own) &
                                       SG_SPAN_FIELD_MASK,
                                .stage = span->chosen % SG_SPAN_QUARTER == 0 ? TELLS : CHOOSES};
    const struct sg_choice *choice;

    if (!is_chosen(&choosing)) {
        /* Who is behind this rank in what it has entered is behind it in its choices. Relaxed: its
         * own, or a hint. */
        uint64_t entered =
            atomic_load_explicit(&sg_span_about(span, span->rank)->position, memory_order_relaxed);

        span->asking.is_waiting = span->has_home;
        sg_span_wait(
            span,
            &(struct sg_span_waiting){.call = call, .position = entered > 0 ? entered - 1 : 0},
            is_chosen, &choosing);
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
