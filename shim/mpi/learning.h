/* The learning slots of `auto` on a communicator. A slot is a rule, an operation and a range of
 * bytes, and learns for itself (core/learn.h). The engine knows which algorithms are candidates,
 * and how ranks exchange costs. docs/decisions/14.
 *
 * Application's thread, one call at a time. All ranks make the same slots in the same order, in
 * calls that all of them run. Memory is allocated at set-up: a rank without it would choose alone.
 */
#ifndef SG_MPI_LEARNING_H
#define SG_MPI_LEARNING_H

#include "core/learn.h"
#include "mpi/call.h"

struct sg_learning_place {
    const struct sg_choice *rule; /* NULL: slot is free */
    enum sg_operation operation;
    int range;
    int arms[SG_LEARN_ARMS_MAX]; /* the engine's number of each candidate in `learn` */
    struct sg_learn learn;       /* learn.settings.arms 0: not started */
};

struct sg_learning {
    const struct sg_ruleset *rules;
    int ranks;
    struct sg_learning_place all[SG_LEARN_PLACES], *last;
    char name[];
};

/* True if a call on the communicator may use `auto`; the same on all ranks. reach: SG_REACH_*, of
 * what can run there. */
bool sg_learning_is_wanted(const struct sg_ruleset *rules, const char *name, int size,
                           unsigned reach);

/* Call at set-up. name: the communicator's. NULL: out of memory. */
struct sg_learning *sg_learning_create(const struct sg_ruleset *rules, const char *name, int ranks);
void sg_learning_free(struct sg_learning *learning);

/* Returns the slot of a call whose rule has `auto`. If it is not started, the caller fills in its
 * candidates and starts it. NULL: all slots are taken. */
struct sg_learning_place *sg_learning_find(struct sg_learning *learning, const struct sg_call *call,
                                           const struct sg_choice *rule);
void sg_learning_start(struct sg_learning *learning, struct sg_learning_place *place, int arms,
                       int first);

static inline int sg_learning_number(const struct sg_learning *learning,
                                     const struct sg_learning_place *place)
{
    return (int)(place - learning->all);
}

/* Returns the lower end of the slot's range. */
uint64_t sg_learning_low_bytes(const struct sg_learning_place *place);

/* Writes the slot's results to the trace. text: returns a candidate as the right side of a rule. */
void sg_learning_say(const struct sg_learning *learning, const struct sg_learning_place *place,
                     const char *(*text)(int arm));

#endif
