/* Which of a few algorithms (arms) serves a place best: decided while the program runs, from what
 * the calls there cost their ranks. Pure: no clock, no memory of others, no MPI; every member of a
 * communicator has one for the place, does the same steps with it, and comes to the same arms.
 *
 * A call is a step. What a call costs is this rank's alone; each step that says so tells the sums
 * to the other ranks, and a few calls later one decides from what all ranks have told: the numbers
 * are the same on all ranks, and so is what follows from them.
 *
 *   learning  rounds in which every arm has a turn of `block` calls, in an order that goes round.
 *             The first call of a turn is not counted. An arm that costs far more has no more
 *             turns.
 *             After SG_LEARN_ROUNDS rounds the arm with the least median wins, if it beats the arm
 *             that ran before by a margin.
 *   holding   the winner runs; every `watch` calls a block of its calls is looked at. When the
 *             ranks' shares in the cost, or its sum, are no longer what they were, it learns anew.
 *             So it does after `hold` calls, and after twice as many whenever the winner stays.
 */
#ifndef SG_CORE_LEARN_H
#define SG_CORE_LEARN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_LEARN_ARMS_MAX 4
#define SG_LEARN_PLACES 8 /* of a communicator */
#define SG_LEARN_ROUNDS 5
/* From the call that tells to the one that decides. As many as a ring has slots by default: ranks
 * are not further apart anyway, so that deciding makes hardly any rank wait. */
#define SG_LEARN_LAG 8
#define SG_LEARN_WATCH_BLOCKS 16 /* blocks from one look to the next, at first */

/* What one rank tells: ns of the counted calls, by arm; of a look, of the arm that runs. */
struct sg_learn_told {
    uint64_t ns[SG_LEARN_ARMS_MAX];
};

struct sg_learn_settings {
    int ranks;
    int arms;       /* 2 .. SG_LEARN_ARMS_MAX */
    int first;      /* the arm that runs before anything is known */
    uint32_t block; /* calls of a turn, 2 or more */
    uint32_t hold;  /* calls for which a finding holds at first */
};

enum sg_learn_phase { SG_LEARN_TRYING, SG_LEARN_TELLING, SG_LEARN_HOLDING, SG_LEARN_LOOKING };

struct sg_learn {
    struct sg_learn_settings settings;
    enum sg_learn_phase phase;
    bool looks;     /* what is told is of a look, not of a round */
    bool suspects;  /* the last look was unlike what is known */
    int holds;      /* the arm that runs when none is tried */
    uint32_t alive; /* arms that still have turns: bits */
    int round;      /* of this learning */
    int turn;       /* of this round: arms that have had theirs */
    uint32_t left;  /* calls of this phase, or turn, that are still to come */
    uint32_t until_learning;
    uint32_t watch, hold; /* calls: what they are at present */
    bool by_change;       /* this learning is for a change of the pattern */
    uint64_t round_ns[SG_LEARN_ROUNDS][SG_LEARN_ARMS_MAX]; /* of all ranks */
    struct sg_learn_told own;                              /* not told yet */
    struct sg_learn_told *known; /* by rank: of this learning's rounds; what holds' looks are
                                    compared with. The user's memory */
    struct sg_learn_told *look;  /* by rank: a look that was unlike it. Likewise */
    uint64_t known_calls;        /* of the arm that holds, counted in `known` */
    /* for reports */
    uint64_t calls;
    uint32_t learnings, changes;       /* that are over; that were for a change */
    double cost_ns[SG_LEARN_ARMS_MAX]; /* per call and rank, by the last learning; 0: not known */
};

/* What a call is to do. */
struct sg_learn_step {
    int arm;
    bool counts;  /* the call's cost goes to sg_learn_add */
    bool tells;   /* before the call: sg_learn_tell, for all ranks to read */
    bool decides; /* before everything else: sg_learn_decide; then step again */
};

/* known and look: of so many elements as there are ranks each, which the user owns. */
void sg_learn_start(struct sg_learn *learn, const struct sg_learn_settings *settings,
                    struct sg_learn_told *known, struct sg_learn_told *look);

/* Most calls: the arm that holds runs, and there is nothing else to do. False: sg_learn_step. */
static inline bool sg_learn_goes_on(struct sg_learn *learn)
{
    if (learn->phase != SG_LEARN_HOLDING || learn->left <= 1)
        return false;
    learn->left--;
    learn->calls++;
    learn->until_learning -= learn->until_learning > 0;
    return true;
}

/* The next call. One that decides is not taken yet. */
struct sg_learn_step sg_learn_step(struct sg_learn *learn);

void sg_learn_add(struct sg_learn *learn, int arm, uint64_t ns);

/* What this rank has to tell, and then forgets. */
struct sg_learn_told sg_learn_tell(struct sg_learn *learn);

/* told: by rank. True: a learning is over, and holds is its winner. */
bool sg_learn_decide(struct sg_learn *learn, const struct sg_learn_told *told);

#endif
