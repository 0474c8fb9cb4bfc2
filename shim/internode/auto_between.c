#include "internode/auto_between.h"

#include "core/tick.h"
#include "internode/endpoint.h"
#include "mpi/learning.h"
#include "mpi/real.h"

#include <stdlib.h>
#include <string.h>

/* ---- candidates ------------------------------------------------------------------------------ */

#define NONE (-1)
#define SMALL_BYTES 1024 /* the built-in rules leave larger reductions to MPICH */

enum { SAME_BITS, ANY_BITS };

/* The first candidate runs before any cost is known. For reductions, candidates of SAME_BITS have
 * recursive doubling's association, from which MPICH's own differs for some sizes and numbers of
 * ranks. */
static const int arms_of[SG_OPERATION_COUNT][2][SG_LEARN_ARMS_MAX] = {
    [SG_OPERATION_BARRIER] = {[SAME_BITS... ANY_BITS] = {SG_ALGORITHM_ADAPTIVE, SG_ALGORITHM_SRM,
                                                         SG_ALGORITHM_DISSEMINATION,
                                                         SG_ALGORITHM_MPICH}},
    [SG_OPERATION_REDUCE] = {[SAME_BITS] = {SG_ALGORITHM_SRM, SG_ALGORITHM_HANDOFF, NONE, NONE},
                             [ANY_BITS] = {SG_ALGORITHM_BYPASS, SG_ALGORITHM_SRM,
                                           SG_ALGORITHM_HANDOFF, SG_ALGORITHM_MPICH}},
    [SG_OPERATION_ALLREDUCE] = {[SAME_BITS] = {SG_ALGORITHM_SRM, SG_ALGORITHM_PAIRWISE,
                                               SG_ALGORITHM_HANDOFF, NONE},
                                [ANY_BITS] = {SG_ALGORITHM_ADAPTIVE, SG_ALGORITHM_SRM,
                                              SG_ALGORITHM_PAIRWISE, SG_ALGORITHM_MPICH}},
    [SG_OPERATION_BCAST] = {[SAME_BITS... ANY_BITS] = {SG_ALGORITHM_MPICH, SG_ALGORITHM_BYPASS,
                                                       SG_ALGORITHM_TREE, SG_ALGORITHM_SRM}},
};

static const char *text_of(int algorithm)
{
    return sg_algorithms[algorithm].name;
}

static const struct sg_choice *choice_of(const struct sg_internode *internode, int algorithm)
{
    static const struct sg_choice mpich = {.algorithm = SG_ALGORITHM_MPICH,
                                           .executed = SG_ALGORITHM_MPICH};

    return algorithm == SG_ALGORITHM_MPICH ? &mpich : sg_ruleset_arm(internode->rules, algorithm);
}

/* True if the choice's protocol supports this many endpoints. */
static bool runs(const struct sg_internode *internode, int algorithm)
{
    int index;

    if (algorithm == NONE || algorithm == SG_ALGORITHM_MPICH)
        return algorithm != NONE;
    index = sg_ruleset_index(internode->rules, choice_of(internode, algorithm));
    return index >= 0 && index < internode->protocol_count &&
           internode->protocols[index].algo != NULL;
}

/* Fills `arms` and returns their number. *first: index of the candidate that runs before any cost
 * is known. */
static int find_arms(const struct sg_internode *internode, const struct sg_choice *rule,
                     enum sg_operation operation, uint64_t bytes, int arms[SG_LEARN_ARMS_MAX],
                     int *first)
{
    const int *all = arms_of[operation][rule->parameters[SG_AUTO_BITS]];
    int count = 0;

    *first = 0;
    for (int i = 0; i < SG_LEARN_ARMS_MAX; i++) {
        if (!runs(internode, all[i]))
            continue;
        if (bytes > SMALL_BYTES && all[i] == SG_ALGORITHM_MPICH)
            *first = count;
        arms[count++] = all[i];
    }
    return count;
}

const struct sg_choice *sg_internode_usual(const struct sg_internode *internode,
                                           const struct sg_call *call, const struct sg_choice *rule)
{
    int arms[SG_LEARN_ARMS_MAX], first;
    int count = find_arms(internode, rule, call->operation, call->bytes, arms, &first);

    return choice_of(internode, count > 0 ? arms[first] : SG_ALGORITHM_MPICH);
}

/* ---- cost exchange --------------------------------------------------------------------------- */

/* The cost exchange of one learning slot. MPICH owns this memory while the request is active. */
struct telling {
    MPI_Request request;
    struct sg_learn_told own, all;
};

struct sg_internode_auto {
    struct sg_learning *learning;
    struct telling tellings[SG_LEARN_PLACES];
    /* The trial round of the call in progress. */
    struct sg_learning_place *place; /* NULL: its cost is not counted */
    int arm;
    uint64_t begin_ns;
};

/* MPICH has passed its error to the communicator's handler. Missing costs count as 0. */
static void tell(const struct sg_call *call, struct telling *telling, struct sg_learn *learn)
{
    telling->own = sg_learn_tell(learn);
    telling->all = (struct sg_learn_told){0};
    if (sg_real.Iallreduce(telling->own.numbers, telling->all.numbers, SG_LEARN_ARMS_MAX,
                           MPI_UINT64_T, MPI_SUM, call->comm, &telling->request) != MPI_SUCCESS)
        telling->request = MPI_REQUEST_NULL;
}

static bool is_told(struct telling *telling)
{
    int done = 1;

    if (telling->request != MPI_REQUEST_NULL &&
        sg_real.Test(&telling->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        telling->request = MPI_REQUEST_NULL;
    return done != 0;
}

struct awaited {
    struct sg_internode *internode;
    struct telling *telling;
};

static bool is_over(void *context)
{
    struct awaited *awaited = context;

    sg_internode_progress(awaited->internode);
    return is_told(awaited->telling);
}

static __attribute__((noinline)) void await(struct sg_internode *internode,
                                            const struct sg_call *call, struct telling *telling)
{
    struct awaited awaited = {internode, telling};
    /* Relaxed: this rank's own count. */
    uint64_t entered =
        atomic_load_explicit(&sg_internode_own_state(internode)->position, memory_order_relaxed);

    sg_internode_wait(
        internode,
        &(struct sg_internode_waiting){.call = call, .position = entered > 0 ? entered - 1 : 0},
        is_over, &awaited);
}

bool sg_internode_end_auto(struct sg_internode *internode)
{
    bool ended = true;

    for (int i = 0; i < SG_LEARN_PLACES && internode->automatic != NULL; i++)
        ended = is_told(&internode->automatic->tellings[i]) && ended;
    return ended;
}

/* ---- a communicator --------------------------------------------------------------------------*/

bool sg_internode_use_auto(struct sg_internode *internode, const char *name)
{
    struct sg_internode_auto *automatic;

    if (!sg_learning_is_wanted(internode->rules, name, internode->ranks, SG_REACH_INTERNODE))
        return true;
    automatic = calloc(1, sizeof *automatic);
    if (automatic == NULL)
        return false;
    internode->automatic = automatic;
    for (int i = 0; i < SG_LEARN_PLACES; i++)
        automatic->tellings[i].request = MPI_REQUEST_NULL;
    automatic->learning = sg_learning_create(internode->rules, name, internode->ranks);
    return automatic->learning != NULL;
}

void sg_internode_free_auto(struct sg_internode *internode)
{
    if (internode->automatic == NULL)
        return;
    sg_learning_free(internode->automatic->learning);
    /* An exchange that was not drained may still be written by MPICH: leak it. */
    for (int i = 0; i < SG_LEARN_PLACES; i++) {
        if (internode->automatic->tellings[i].request != MPI_REQUEST_NULL)
            return;
    }
    free(internode->automatic);
}

/* ---- calls -----------------------------------------------------------------------------------*/

static void start(struct sg_internode *internode, struct sg_learning_place *place)
{
    int first;
    int count = find_arms(internode, place->rule, place->operation, sg_learning_low_bytes(place),
                          place->arms, &first);

    sg_learning_start(internode->automatic->learning, place, count, first);
}

static struct sg_learn_step step(struct sg_internode *internode, const struct sg_call *call,
                                 struct sg_learning_place *place)
{
    struct sg_internode_auto *automatic = internode->automatic;
    struct telling *telling = &automatic->tellings[sg_learning_number(automatic->learning, place)];
    struct sg_learn_step now = sg_learn_step(&place->learn);

    if (now.decides) {
        if (!is_told(telling))
            await(internode, call, telling);
        if (sg_learn_decide(&place->learn, &telling->all) && internode->rank == 0)
            sg_learning_say(automatic->learning, place, text_of);
        now = sg_learn_step(&place->learn);
    }
    if (now.tells)
        tell(call, telling, &place->learn);
    else
        is_told(telling); /* advances the allreduce, if it has a next step */
    return now;
}

const struct sg_choice *sg_internode_begin_turn(struct sg_internode *internode,
                                                const struct sg_call *call,
                                                const struct sg_choice *rule)
{
    struct sg_internode_auto *automatic = internode->automatic;
    struct sg_learning_place *place = sg_learning_find(automatic->learning, call, rule);
    struct sg_learn_step now;

    if (place == NULL)
        return sg_internode_usual(internode, call, rule);
    if (sg_learn_goes_on(&place->learn))
        return choice_of(internode, place->arms[place->learn.holds]);
    if (place->learn.settings.arms == 0)
        start(internode, place);
    if (place->learn.settings.arms < 2)
        return sg_internode_usual(internode, call, rule);
    now = step(internode, call, place);
    if (now.counts) {
        automatic->place = place;
        automatic->arm = now.arm;
        automatic->begin_ns = call->arrival_ns != 0 ? call->arrival_ns : sg_tick_ns();
    }
    return choice_of(internode, place->arms[now.arm]);
}

void sg_internode_end_turn(struct sg_internode *internode,
                           const struct sg_call_statistics *statistics)
{
    struct sg_internode_auto *automatic = internode->automatic;

    if (automatic->place == NULL)
        return;
    sg_learn_add(&automatic->place->learn, automatic->arm,
                 sg_tick_ns() - automatic->begin_ns + statistics->handler_ns);
    automatic->place = NULL;
}
