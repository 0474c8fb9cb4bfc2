/* Which letters may be taken at once, without walking the orders in which they wait.
 *
 * A letter is eager in a state of an endpoint if it commutes there with everything that the
 * endpoint may take before it: both orders lead to the same state and the same messages, and so on
 * from there. Steps at other endpoints commute with it anyway, so the eager letter alone is a
 * persistent set.
 *
 * The other letters that are possible in a state are those that have been seen there: in a walk,
 * and by commuting, because eager letters might have waited. That a letter is eager is a claim,
 * which holds until something is seen that refutes it. A walk has lost nothing if none of the
 * claims that it used is refuted in the end (reduced.c has the argument).
 */
#ifndef SG_VERIFY_EAGER_H
#define SG_VERIFY_EAGER_H

#include "verify/automaton.h"

/* Numbers by index, zero to begin with. */
struct sg_eager_numbers {
    uint32_t *at;
    uint32_t count, capacity;
};

/* Zeroed at first. Lists are linked by index + 1 and end with 0. */
struct sg_eager {
    struct sg_automaton *automaton;
    struct sg_eager_numbers claims;                /* what is known of claim 2 * move + early */
    struct sg_intern pairs;                        /* pairs still to be tried, eager.c */
    struct sg_eager_numbers first_pair, next_pair; /* by state with the claim's letter; by pair */
    struct sg_eager_numbers seen;                  /* moves */
    struct sg_eager_numbers first_seen, next_seen; /* by state; by index in seen */
    uint32_t pairs_tried, seen_tried;
    bool stale; /* a claim was refuted after it had been used */
};

void sg_eager_open(struct sg_eager *eager, struct sg_automaton *automaton);
void sg_eager_free(struct sg_eager *eager);
/* Begins a walk: no claim has been used. */
void sg_eager_renew(struct sg_eager *eager);
/* Whether a move may be made at once; if so, the claim counts as used. early: a timer of the
 * endpoint may fire early. */
bool sg_eager_may(struct sg_eager *eager, uint32_t move, bool early);
/* A walk makes a move. */
void sg_eager_see(struct sg_eager *eager, uint32_t move);

#endif
