/* Decides which letters a walk may take at once, instead of in every order with the letters they
 * wait for.
 *
 * A letter is eager in a state of an endpoint if it commutes there with everything that the
 * endpoint may take before it: both orders lead to the same state and the same messages, and this
 * holds again from there. Steps at other endpoints commute with it anyway, so the eager letter
 * alone is a persistent set.
 *
 * The other letters considered in a state are those seen there: in a walk, and by commuting,
 * because eager letters might have waited. Eagerness is a claim, which holds until a letter is seen
 * that refutes it. A walk has lost nothing if none of the claims that it used is refuted in the end
 * (reduced.c has the argument). */
#ifndef SG_VERIFY_EAGER_H
#define SG_VERIFY_EAGER_H

#include "verify/automaton.h"

/* A growing array of numbers, initially zero. */
struct sg_eager_numbers {
    uint32_t *at;
    uint32_t count, capacity;
};

/* Zeroed at first. Lists are linked by index + 1 and end with 0. */
struct sg_eager {
    struct sg_automaton *automaton;
    struct sg_eager_numbers claims; /* state of claim 2 * move + early */
    struct sg_intern pairs;         /* pairs to be tried, eager.c */
    /* by the state after the claim's letter; by pair */
    struct sg_eager_numbers first_pair, next_pair;
    struct sg_eager_numbers seen;                  /* moves */
    struct sg_eager_numbers first_seen, next_seen; /* by state; by index in seen */
    uint32_t pairs_tried, seen_tried;
    bool stale; /* a claim was refuted after use */
};

void sg_eager_open(struct sg_eager *eager, struct sg_automaton *automaton);
void sg_eager_free(struct sg_eager *eager);
/* Begins a walk, which has used no claim yet. */
void sg_eager_renew(struct sg_eager *eager);
/* True if the walk may make the move at once; the claim then counts as used. early: a timer of the
 * endpoint may fire early. */
bool sg_eager_may(struct sg_eager *eager, uint32_t move, bool early);
/* Records that a walk makes a move. */
void sg_eager_see(struct sg_eager *eager, uint32_t move);

#endif
