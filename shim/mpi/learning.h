/* The places of `auto` on a communicator: a rule, an operation and a range of bytes, each of which
 * learns for itself (core/learn.h). Which algorithms there are to choose from, and how ranks tell
 * each other what calls cost, is the engine's. docs/decisions/0062-auto.md.
 *
 * In the application's thread, one call at a time. All ranks find the same places in the same
 * order, because they do so in calls that all of them run. Memory is there from the set-up: without
 * it one rank would choose alone.
 */
#ifndef SG_MPI_LEARNING_H
#define SG_MPI_LEARNING_H

#include "core/learn.h"
#include "mpi/call.h"

struct sg_learning_place {
    const struct sg_choice *rule; /* NULL: not taken yet */
    enum sg_operation operation;
    int range;
    int arms[SG_LEARN_ARMS_MAX]; /* by number in `learn`: what the engine calls them */
    struct sg_learn learn;       /* arms 0: not started */
};

struct sg_learning {
    const struct sg_ruleset *rules;
    int ranks;
    struct sg_learning_place all[SG_LEARN_PLACES], *last;
    struct sg_learn_told *memory; /* each place's known and look: by rank */
    char name[];
};

/* Whether some call on a communicator may come to `auto`; the same on all ranks. reach: SG_REACH_*,
 * of what can run there. */
bool sg_learning_is_wanted(const struct sg_ruleset *rules, const char *name, int size,
                           unsigned reach);

/* At set-up. name: the communicator's. NULL: out of memory. */
struct sg_learning *sg_learning_create(const struct sg_ruleset *rules, const char *name, int ranks);
void sg_learning_free(struct sg_learning *learning);

/* That of a call whose rule has `auto`. If it is not started its arms are to be filled in. NULL:
 * there are too many. */
struct sg_learning_place *sg_learning_find(struct sg_learning *learning, const struct sg_call *call,
                                           const struct sg_choice *rule);
void sg_learning_start(struct sg_learning *learning, struct sg_learning_place *place, int arms,
                       int first);

static inline int sg_learning_number(const struct sg_learning *learning,
                                     const struct sg_learning_place *place)
{
    return (int)(place - learning->all);
}

/* The least of the place's range. */
uint64_t sg_learning_low_bytes(const struct sg_learning_place *place);

/* Has what was found told in the trace. text: an arm's right side of a rule. */
void sg_learning_say(const struct sg_learning *learning, const struct sg_learning_place *place,
                     const char *(*text)(int arm));

#endif
