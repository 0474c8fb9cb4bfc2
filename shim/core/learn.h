/* Learns, while the program runs, which of a few algorithms serves a call site best, from the cost
 * of its calls to their ranks. The candidates are called "arms" in the code. Pure: no clock, no
 * shared memory, no MPI. Every member of a communicator has a copy for the call site, takes the
 * same steps with it, and so chooses the same candidates.
 *
 * A call is a step. Each rank knows only its own cost of a call. Some steps tell other ranks a few
 * numbers, and a few calls later a step decides from their sums over all ranks: these are the same
 * on all ranks, and so are the decisions. A rank keeps its own numbers and the sums, never those of
 * another rank, so its memory does not depend on the number of ranks.
 *
 *   learning  rounds in which every candidate has a turn of `block` calls, in a rotating order. The
 *             first call of a turn is not counted. A candidate that costs far more gets no more
 *             turns. After SG_LEARN_ROUNDS rounds the candidate with the least median wins if it
 *             beats the one that ran before by a margin.
 *   holding   the winner runs; every `watch` calls, one block of its calls is measured: a look.
 *             From the look's sum each rank calculates its own share of the cost. Ranks then vote:
 *             if some rank's share, or the sum, has changed, they learn again. They also learn
 *             again after `hold` calls, and `hold` doubles whenever the winner stays.
 */
#ifndef SG_CORE_LEARN_H
#define SG_CORE_LEARN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_LEARN_ARMS_MAX 4
#define SG_LEARN_PLACES 8 /* of a communicator that can learn */
#define SG_LEARN_ROUNDS 5
/* Calls between telling and deciding. It equals the default number of ring slots: ranks are
 * never further apart, so the decision hardly ever makes a rank wait. */
#define SG_LEARN_LAG 8
#define SG_LEARN_WATCH_BLOCKS 16 /* blocks between looks, at first */

/* Numbers that a rank tells, and their sums over all ranks: of a round or a look, ns of the counted
 * calls by candidate, in a look only of the running one; then the votes on the look, each 0 or 1.
 */
struct sg_learn_told {
    uint64_t numbers[SG_LEARN_ARMS_MAX];
};

enum sg_learn_about { SG_LEARN_ROUND, SG_LEARN_LOOK, SG_LEARN_VOTES };

/* A candidate's cost in some calls. */
struct sg_learn_cost {
    uint64_t own_ns, all_ns; /* of this rank; of all ranks */
    uint64_t calls;
};

struct sg_learn_settings {
    int ranks;
    int arms;       /* 2 .. SG_LEARN_ARMS_MAX */
    int first;      /* candidate that runs before anything is known */
    uint32_t block; /* calls per turn, 2 or more */
    uint32_t hold;  /* calls for which the first result holds */
};

enum sg_learn_phase { SG_LEARN_TRYING, SG_LEARN_TELLING, SG_LEARN_HOLDING, SG_LEARN_LOOKING };

struct sg_learn {
    struct sg_learn_settings settings;
    enum sg_learn_phase phase;
    enum sg_learn_about about; /* of the last telling */
    bool suspects;             /* true: the last look differed from the known pattern */
    int holds;                 /* candidate that runs outside trials */
    uint32_t alive;            /* candidates that still get turns, as bits */
    int round;                 /* of this learning */
    int turn;                  /* of this round: candidates that have had their turn */
    uint32_t left;             /* calls left in this phase or turn */
    uint32_t until_learning;
    uint32_t watch, hold; /* present values, in calls */
    bool by_change;       /* this learning follows a change of the pattern */
    uint64_t round_ns[SG_LEARN_ROUNDS][SG_LEARN_ARMS_MAX]; /* sums over all ranks */
    struct sg_learn_told own, told;                        /* not told yet; told last */
    struct sg_learn_cost known[SG_LEARN_ARMS_MAX]; /* in this learning's rounds, with which looks at
                                                    * `holds` are compared */
    struct sg_learn_cost looks; /* in the last look, and in the one before it if that differed */
    /* for reports */
    uint64_t calls;
    uint32_t learnings, changes;       /* completed learnings; those that followed a change */
    double cost_ns[SG_LEARN_ARMS_MAX]; /* per call and rank, by the last learning; 0: unknown */
};

/* Tells a call what to do. */
struct sg_learn_step {
    int arm;
    bool counts;  /* pass the call's cost to sg_learn_add */
    bool tells;   /* before the call: tell all ranks what sg_learn_tell returns */
    bool decides; /* before everything else: sg_learn_decide; then step again */
};

void sg_learn_start(struct sg_learn *learn, const struct sg_learn_settings *settings);

/* Fast path of most calls: the candidate `holds` runs, and there is nothing else to do. False: call
 * sg_learn_step. */
static inline bool sg_learn_goes_on(struct sg_learn *learn)
{
    if (learn->phase != SG_LEARN_HOLDING || learn->left <= 1)
        return false;
    learn->left--;
    learn->calls++;
    learn->until_learning -= learn->until_learning > 0;
    return true;
}

/* Takes the next call. A step that decides does not take it yet. */
struct sg_learn_step sg_learn_step(struct sg_learn *learn);

void sg_learn_add(struct sg_learn *learn, int arm, uint64_t ns);

/* Returns the numbers that this rank has to tell, and resets them. */
struct sg_learn_told sg_learn_tell(struct sg_learn *learn);

/* all: the sums over all ranks. True: a learning is over, and `holds` is its winner. */
bool sg_learn_decide(struct sg_learn *learn, const struct sg_learn_told *all);

#endif
