/* Agreement among ranks on a choice or an opening. On one machine, ranks agree through words in the
 * segment (communicator.h). Between machines, the first rank of each machine asks the coordinator
 * (coordinator.h) which rank was the first of all to reach the choice or opening.
 *
 * Words of choices are reused by quarters. Opening n is that of quarter n + 4, which reuses the
 * words of quarter n: before the first call of quarter n + 4, the first rank to arrive reports
 * whether all ranks have read those of quarter n.
 *
 * An opened quarter has free words on all machines. If some rank has not read the old words, a
 * blocking call waits before it reports anything. A nonblocking call must not wait, and its opening
 * says so; rules by call site then end with the first call of that quarter. No rank chooses one of
 * the quarter's calls without its opening, so the rules end at the same call on all ranks; ranks
 * that are behind have all words until there. Openings need no such care: a rank at one opening has
 * read the opening 8 before it, and so have all ranks, or the last rank would not have opened its
 * quarter.
 */
#include "internode/agree.h"

#include "internode/communicator.h"
#include "internode/coordinator.h"
#include "internode/endpoint.h"
#include "mpi/user_lines.h"

#include <stddef.h>

/* Stored in place of the value that a rank proposes: the rank is asking the coordinator. */
#define ASKED SG_INTERNODE_VALUE_MASK

/* Values of an opening. */
enum { OPEN, FAR_AHEAD };

/* True if all ranks of this machine have read the first `count` choices. */
static bool have_all_chosen(struct sg_internode *internode, uint64_t count)
{
    struct sg_internode_readers readers = {0, sg_internode_states(internode),
                                           offsetof(struct sg_rank_state, chosen)};

    return sg_internode_is_read_by_all(internode, readers, &internode->all_chosen, count);
}

/* Quarters that all ranks of this machine have read. */
static uint64_t quarters_read(struct sg_internode *internode)
{
    have_all_chosen(internode, internode->chosen);
    return internode->all_chosen / SG_INTERNODE_QUARTER;
}

/* ---- choices ---- */

static _Atomic uint64_t *word_at(const struct sg_internode *internode, enum sg_agreement thing,
                                 uint64_t number)
{
    return thing == SG_AGREEMENT_CHOICE
               ? &internode->header->choices[number % SG_INTERNODE_CHOICES]
               : &internode->header->openings[number % SG_INTERNODE_OPENINGS];
}

/* Finds the value that the first of all ranks proposed. False: not known yet. */
static bool find(struct sg_internode *internode, enum sg_agreement thing, uint64_t number,
                 uint32_t brings, struct sg_internode_found *found)
{
    _Atomic uint64_t *word = word_at(internode, thing, number);
    uint64_t decided;

    *found =
        sg_internode_meet(internode, word, number, internode->has_coordinator ? ASKED : brings);
    if (!internode->has_coordinator || found->brought != ASKED)
        return true;
    if (found->rank != internode->rank ||
        !sg_coordinator_decide(internode, thing, number,
                               sg_internode_word_of(number, internode->rank, brings), &decided))
        return false;
    /* Release: readers of the word see earlier writes. */
    atomic_store_explicit(word, decided, memory_order_release);
    sg_wait_wake(&internode->wait_queue);
    *found = sg_internode_found_in(decided);
    return true;
}

struct choosing {
    struct sg_internode *internode;
    const struct sg_call *call;
    uint32_t own;
    enum { TELLS, LOOKS, OPENS, CHOOSES } stage;
    uint32_t opening; /* value that this rank proposes for it */
    struct sg_internode_found found;
};

/* Decides whether an opening that this rank reaches first is OPEN. False: ask again. */
static bool look_for_room(struct choosing *choosing, uint64_t number)
{
    struct sg_internode *internode = choosing->internode;
    bool has_room;

    /* Completes a request in progress at the coordinator. */
    if (!internode->asking.is_under_way &&
        sg_internode_is_taken(word_at(internode, SG_AGREEMENT_OPENING, number), number))
        return true;
    if (!internode->has_coordinator)
        has_room = have_all_chosen(internode, (number + 1) * SG_INTERNODE_QUARTER);
    else if (!sg_coordinator_ask_passed(internode, number, &has_room))
        return false;
    choosing->opening = has_room ? OPEN : FAR_AHEAD;
    return has_room || choosing->call->request != NULL;
}

/* Runs one stage before the first call of a quarter. False: not finished. */
static bool step_to_quarter(struct choosing *choosing)
{
    struct sg_internode *internode = choosing->internode;
    uint64_t quarter = internode->chosen / SG_INTERNODE_QUARTER;

    switch (choosing->stage) {
    case TELLS:
        /* Each rank marks the last word of a quarter as read, then fences. The fences pair, so at
         * least one rank of this machine sees that all have read it. */
        atomic_thread_fence(memory_order_seq_cst);
        if (internode->has_coordinator && !sg_coordinator_tell(internode, quarters_read(internode)))
            return false;
        choosing->stage = quarter >= SG_INTERNODE_CHOICES / SG_INTERNODE_QUARTER ? LOOKS : CHOOSES;
        return true;
    case LOOKS:
        if (look_for_room(choosing, quarter - SG_INTERNODE_CHOICES / SG_INTERNODE_QUARTER))
            choosing->stage = OPENS;
        return choosing->stage == OPENS;
    default:
        if (!find(internode, SG_AGREEMENT_OPENING,
                  quarter - SG_INTERNODE_CHOICES / SG_INTERNODE_QUARTER, choosing->opening,
                  &choosing->found))
            return false;
        internode->is_far_ahead = choosing->found.brought == FAR_AHEAD;
        choosing->stage = CHOOSES;
        return true;
    }
}

static bool is_chosen(void *context)
{
    struct choosing *choosing = context;
    struct sg_internode *internode = choosing->internode;

    while (choosing->stage != CHOOSES) {
        if (!step_to_quarter(choosing))
            return false;
    }
    return internode->is_far_ahead ||
           find(internode, SG_AGREEMENT_CHOICE, internode->chosen, choosing->own, &choosing->found);
}

bool sg_internode_agrees(const struct sg_internode *internode)
{
    return !internode->is_far_ahead && (internode->remote == NULL || internode->has_coordinator);
}

const struct sg_choice *sg_internode_agree(struct sg_internode *internode,
                                           const struct sg_call *call, const struct sg_choice *own)
{
    struct choosing choosing = {
        .internode = internode,
        .call = call,
        .own = (uint32_t)sg_ruleset_index(call->rules, own) & SG_INTERNODE_VALUE_MASK,
        .stage = internode->chosen % SG_INTERNODE_QUARTER == 0 ? TELLS : CHOOSES};
    const struct sg_choice *choice;

    if (!is_chosen(&choosing)) {
        /* A rank that has entered fewer calls has made fewer choices. Relaxed: the rank's own
         * count, or a hint. */
        uint64_t entered = atomic_load_explicit(&sg_internode_own_state(internode)->position,
                                                memory_order_relaxed);

        internode->asking.is_waiting = internode->has_coordinator;
        sg_internode_wait(
            internode,
            &(struct sg_internode_waiting){.call = call, .position = entered > 0 ? entered - 1 : 0},
            is_chosen, &choosing);
        internode->asking.is_waiting = false;
    }
    if (internode->is_far_ahead) {
        if (choosing.found.rank == internode->rank)
            sg_report_far_ahead(call, internode->rank, SG_INTERNODE_CHOICES - SG_INTERNODE_QUARTER);
        return NULL;
    }
    choice = sg_ruleset_choice(call->rules, (int)choosing.found.brought);
    sg_report_choice(internode->header->warned, call, internode->rank, own->algorithm,
                     choice->algorithm, choosing.found.rank);
    internode->chosen++;
    /* Release: the word has been read. */
    atomic_store_explicit(&sg_internode_own_state(internode)->chosen, internode->chosen,
                          memory_order_release);
    return choice;
}
