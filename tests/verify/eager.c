#include "verify/eager.h"

#include <stdlib.h>
#include <string.h>

/* State of a claim, as bits. */
enum { MADE = 1, REFUTED = 2, USED = 4 };

/* Two states to which the same other letters lead: `without` the claim's letter, which waits there,
 * and `with` it taken at once. early: a timer may still fire early before the letter is taken. */
struct pair {
    uint32_t claim, without, with, early;
};

/* NULL: no_memory is set. */
static uint32_t *slot(struct sg_eager *eager, struct sg_eager_numbers *numbers, uint32_t index)
{
    uint32_t *at = sg_intern_room(numbers->at, &numbers->capacity, index + 1, sizeof *at);

    if (at == NULL) {
        eager->automaton->no_memory = true;
        return NULL;
    }
    numbers->at = at;
    if (numbers->count <= index) {
        memset(at + numbers->count, 0, (index + 1 - numbers->count) * sizeof *at);
        numbers->count = index + 1;
    }
    return &at[index];
}

/* Puts an element at the head of the list of `owner`. */
static void link_in(struct sg_eager *eager, struct sg_eager_numbers *firsts, uint32_t owner,
                    struct sg_eager_numbers *nexts, uint32_t element)
{
    uint32_t *first = slot(eager, firsts, owner), *next = slot(eager, nexts, element);

    if (first == NULL || next == NULL)
        return;
    *next = *first;
    *first = element + 1;
}

static uint32_t first_of(const struct sg_eager_numbers *firsts, uint32_t owner)
{
    return owner < firsts->count ? firsts->at[owner] : 0;
}

/* ---- commuting ------------------------------------------------------------------------------- */

static bool move_of(struct sg_automaton *automaton, uint32_t local, uint32_t letter,
                    struct sg_move *move)
{
    uint32_t number = sg_automaton_move(automaton, local, letter);

    if (number == SG_INTERN_NONE)
        return false;
    *move = automaton->moves[number];
    return move->to != SG_INTERN_NONE;
}

/* True for the endpoint's own letter, and for one whose sender need not have heard of a call that
 * is still to be made. */
static bool may_take(const struct sg_automaton *automaton, uint32_t local, uint32_t letter)
{
    const struct sg_local_facts *facts = &automaton->local_facts[local];

    return letter < SG_LETTER_FLIGHTS ? facts->own >> letter & 1
                                      : sg_letter(automaton, letter)->known <= facts->calls;
}

/* Letters that two consecutive moves send: messages sorted, then accesses in their order. */
struct sent {
    uint32_t count, messages;
    uint32_t letter[2 * SG_ACTIONS_MAX];
};

static void add_sent(const struct sg_automaton *automaton, const struct sg_move *move,
                     struct sent *sent)
{
    for (uint32_t i = 0; i < move->sent; i++) {
        uint32_t letter = automaton->sent[move->sent_at + i], at = sent->count;

        if (sg_letter(automaton, letter)->kind != SG_FLIGHT_ACCESS) {
            memmove(&sent->letter[sent->messages + 1], &sent->letter[sent->messages],
                    (sent->count - sent->messages) * sizeof letter);
            for (at = sent->messages++; at > 0 && sent->letter[at - 1] > letter; at--)
                sent->letter[at] = sent->letter[at - 1];
        }
        sent->letter[at] = letter;
        sent->count++;
    }
}

/* True if both orders send the same letters, perhaps by different moves: if the claim's letter
 * comes first, the other letter's messages are sent no later than otherwise. */
static bool same_sent(const struct sg_automaton *automaton, const struct sg_move *one[2],
                      const struct sg_move *other[2])
{
    struct sent sent[2];

    if (one[0]->sent + one[1]->sent != other[0]->sent + other[1]->sent ||
        one[0]->sent + one[1]->sent > 2 * SG_ACTIONS_MAX)
        return false;
    for (int i = 0; i < 2; i++) {
        sent[i].count = sent[i].messages = 0;
        add_sent(automaton, (i ? other : one)[0], &sent[i]);
        add_sent(automaton, (i ? other : one)[1], &sent[i]);
    }
    return sent[0].messages == sent[1].messages &&
           memcmp(sent[0].letter, sent[1].letter, sent[0].count * sizeof sent[0].letter[0]) == 0;
}

/* Tries the claim's letter and the other one in both orders. */
static bool commute(struct sg_automaton *automaton, uint32_t letter, const struct pair *pair,
                    uint32_t other, struct sg_move *before, struct sg_move *after)
{
    struct sg_move first, last;

    return move_of(automaton, pair->without, other, before) &&
           move_of(automaton, pair->with, other, after) &&
           may_take(automaton, before->to, letter) &&
           move_of(automaton, pair->without, letter, &first) &&
           move_of(automaton, before->to, letter, &last) && last.to == after->to &&
           same_sent(automaton, (const struct sg_move *[]){&first, after},
                     (const struct sg_move *[]){before, &last});
}

/* ---- claims ---------------------------------------------------------------------------------- */

static void refute(struct sg_eager *eager, uint32_t claim)
{
    eager->stale |= (eager->claims.at[claim] & USED) != 0;
    eager->claims.at[claim] |= REFUTED;
}

static void see(struct sg_eager *eager, uint32_t local, uint32_t letter)
{
    uint32_t move = sg_automaton_move(eager->automaton, local, letter);
    uint32_t number = eager->seen.count, *seen;

    if (move == SG_INTERN_NONE || eager->automaton->moves[move].seen)
        return;
    eager->automaton->moves[move].seen = true;
    seen = slot(eager, &eager->seen, number);
    if (seen == NULL)
        return;
    *seen = move;
    link_in(eager, &eager->first_seen, local, &eager->next_seen, number);
}

static void add_pair(struct sg_eager *eager, const struct pair *pair)
{
    uint32_t before = eager->pairs.count, number = sg_intern_add(&eager->pairs, pair, sizeof *pair);

    if (number < before)
        return;
    if (number == SG_INTERN_NONE) {
        eager->automaton->no_memory = true;
        return;
    }
    link_in(eager, &eager->first_pair, pair->with, &eager->next_pair, number);
    see(eager, pair->without, eager->automaton->moves[pair->claim / 2].letter);
}

/* The other letter can be taken after the claim's letter; tries whether it can be taken before it,
 * too. */
static void try(struct sg_eager *eager, const struct pair *pair, uint32_t other)
{
    struct sg_automaton *automaton = eager->automaton;
    uint32_t letter = automaton->moves[pair->claim / 2].letter;
    struct sg_move before, after;
    bool fire = other < SG_LETTER_FLIGHTS && (SG_LETTERS_FIRE >> other & 1);

    /* A second copy gives no other order. A letter that only the claim's letter makes possible
     * comes after it. */
    if (eager->claims.at[pair->claim] & REFUTED || other == letter ||
        !may_take(automaton, pair->without, other) || (fire && !pair->early))
        return;
    if (!commute(automaton, letter, pair, other, &before, &after)) {
        refute(eager, pair->claim);
        return;
    }
    see(eager, pair->without, other);
    add_pair(eager, &(struct pair){pair->claim, before.to, after.to, pair->early && !fire});
}

/* Tries a pair with every letter that can be taken after the claim's letter. */
static void try_pair(struct sg_eager *eager, uint32_t number)
{
    const struct sg_local_facts *facts = eager->automaton->local_facts;
    struct pair pair;
    uint32_t own, lost;

    memcpy(&pair, sg_intern_at(&eager->pairs, number), sizeof pair);
    own = facts[pair.with].own;
    lost = facts[pair.without].own & ~own;
    if (eager->automaton->moves[pair.claim / 2].letter < SG_LETTER_FLIGHTS)
        lost &= ~(1u << eager->automaton->moves[pair.claim / 2].letter);
    if (!pair.early)
        lost &= ~SG_LETTERS_FIRE;
    if (lost) /* the claim's letter disables another one */
        refute(eager, pair.claim);
    for (; own != 0; own &= own - 1)
        try(eager, &pair, (uint32_t)__builtin_ctz(own));
    for (uint32_t i = first_of(&eager->first_seen, pair.with); i != 0;
         i = eager->next_seen.at[i - 1])
        try(eager, &pair, eager->automaton->moves[eager->seen.at[i - 1]].letter);
}

/* Tries a move with all pairs in which the claim's letter comes before it. */
static void try_seen(struct sg_eager *eager, uint32_t number)
{
    struct sg_move move = eager->automaton->moves[eager->seen.at[number]];

    for (uint32_t i = first_of(&eager->first_pair, move.local); i != 0;
         i = eager->next_pair.at[i - 1]) {
        struct pair pair;

        memcpy(&pair, sg_intern_at(&eager->pairs, i - 1), sizeof pair);
        try(eager, &pair, move.letter);
    }
}

static void try_all(struct sg_eager *eager)
{
    while (!eager->automaton->no_memory) {
        if (eager->pairs_tried < eager->pairs.count)
            try_pair(eager, eager->pairs_tried++);
        else if (eager->seen_tried < eager->seen.count)
            try_seen(eager, eager->seen_tried++);
        else
            return;
    }
}

static void claim(struct sg_eager *eager, uint32_t move, bool early)
{
    struct sg_move claimed = eager->automaton->moves[move];
    uint32_t number = 2 * move + early;

    eager->claims.at[number] = MADE;
    if (claimed.to == SG_INTERN_NONE) {
        refute(eager, number);
        return;
    }
    add_pair(eager, &(struct pair){number, claimed.local, claimed.to, early});
    try_all(eager);
}

bool sg_eager_may(struct sg_eager *eager, uint32_t move, bool early)
{
    uint32_t number = 2 * move + early, *known;

    if (number >= eager->claims.count && slot(eager, &eager->claims, number) == NULL)
        return false;
    if (!(eager->claims.at[number] & MADE))
        claim(eager, move, early);
    known = &eager->claims.at[number];
    if (*known & REFUTED)
        return false;
    *known |= USED;
    return true;
}

void sg_eager_see(struct sg_eager *eager, uint32_t move)
{
    see(eager, eager->automaton->moves[move].local, eager->automaton->moves[move].letter);
    try_all(eager);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

void sg_eager_renew(struct sg_eager *eager)
{
    for (uint32_t i = 0; i < eager->claims.count; i++)
        eager->claims.at[i] &= ~(uint32_t)USED;
    eager->stale = false;
}

void sg_eager_open(struct sg_eager *eager, struct sg_automaton *automaton)
{
    eager->automaton = automaton;
    sg_intern_clear(&eager->pairs);
    eager->claims.count = eager->seen.count = 0;
    eager->first_pair.count = eager->next_pair.count = 0;
    eager->first_seen.count = eager->next_seen.count = 0;
    eager->pairs_tried = eager->seen_tried = 0;
}

void sg_eager_free(struct sg_eager *eager)
{
    sg_intern_free(&eager->pairs);
    free(eager->claims.at);
    free(eager->seen.at);
    free(eager->first_pair.at);
    free(eager->next_pair.at);
    free(eager->first_seen.at);
    free(eager->next_seen.at);
}
