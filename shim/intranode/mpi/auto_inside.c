#include "intranode/mpi/auto_inside.h"

#include "core/tick.h"
#include "intranode/forms.h"

#include <stdlib.h>

/* ---- candidates ------------------------------------------------------------------------------ */

/* Candidates of srm are in the order of its forms. */
enum arm { ARM_FLAT, ARM_CLIMB, ARM_CHUNKS, ARM_SINGLE, ARM_GROUPS, ARM_MPICH, ARM_COUNT };

#define SRM(form_name, form)                                                                       \
    {                                                                                              \
        "srm(form=" form_name ")",                                                                 \
        {                                                                                          \
            .algorithm = SG_ALGORITHM_SRM, .executed = SG_ALGORITHM_SRM, .parameters = { form }    \
        }                                                                                          \
    }

/* Each candidate as a rule would have it. */
static const struct {
    const char *text;
    struct sg_choice choice;
} arms[ARM_COUNT] = {
    [ARM_FLAT] = SRM("flat", SG_SRM_FLAT),
    [ARM_CLIMB] = {"handoff",
                   {.algorithm = SG_ALGORITHM_HANDOFF, .executed = SG_ALGORITHM_HANDOFF}},
    [ARM_CHUNKS] = SRM("chunks", SG_SRM_CHUNKS),
    [ARM_SINGLE] = SRM("single", SG_SRM_SINGLE),
    [ARM_GROUPS] = SRM("groups", SG_SRM_GROUPS),
    [ARM_MPICH] = {"mpich", {.algorithm = SG_ALGORITHM_MPICH, .executed = SG_ALGORITHM_MPICH}},
};

/* Returns the candidate that runs without `auto`. */
static enum arm usual(const struct sg_node *node, enum sg_operation operation, uint64_t bytes)
{
    bool broadcasts = operation == SG_OPERATION_BCAST;
    enum sg_srm_form form =
        broadcasts ? sg_form_of_broadcast(bytes)
                   : sg_form_of(operation, bytes, node->ranks, node->header->grouped_bytes);

    if (form == SG_SRM_SINGLE && (node->access == NULL || operation == SG_OPERATION_REDUCE))
        form = SG_SRM_CHUNKS;
    if (form == SG_SRM_CHUNKS && !broadcasts && node->pool == NULL)
        form = SG_SRM_CLIMB;
    return (enum arm)(form - SG_SRM_FLAT);
}

/* True if a candidate differs from those before it. All give MPICH's bits. */
static bool runs(const struct sg_node *node, enum arm arm, enum sg_operation operation,
                 uint64_t bytes)
{
    bool broadcasts = operation == SG_OPERATION_BCAST;

    switch (arm) {
    case ARM_FLAT:
        return !broadcasts && bytes <= sg_form_flat_bytes(node->ranks);
    case ARM_CLIMB:
        return !broadcasts;
    case ARM_CHUNKS:
        return broadcasts || (bytes > SG_FLAT_BYTES_MAX && node->pool != NULL);
    case ARM_SINGLE:
        return bytes > SG_CLIMB_BYTES_MAX && node->access != NULL &&
               (broadcasts || operation == SG_OPERATION_ALLREDUCE);
    case ARM_GROUPS: /* the others wait for the groups' first ranks */
        return !broadcasts && node->header->group != 0 && sg_form_may_group(bytes, node->ranks);
    default:
        return true;
    }
}

static const char *text_of(int arm)
{
    return arms[arm].text;
}

/* ---- learning slots -------------------------------------------------------------------------- */

struct sg_auto {
    struct sg_learning *learning;
    struct {
        uint32_t times;
        uint64_t position; /* instance before the last report */
    } tellings[SG_LEARN_PLACES];
};

struct sg_auto *sg_auto_create(const struct sg_ruleset *rules, const char *name, int ranks)
{
    struct sg_auto *automatic = calloc(1, sizeof *automatic);

    if (automatic == NULL)
        return NULL;
    automatic->learning = sg_learning_create(rules, name, ranks);
    if (automatic->learning == NULL) {
        free(automatic);
        return NULL;
    }
    return automatic;
}

void sg_auto_free(struct sg_auto *automatic)
{
    if (automatic == NULL)
        return;
    sg_learning_free(automatic->learning);
    free(automatic);
}

static void start(struct sg_auto *automatic, const struct sg_node *node,
                  struct sg_learning_place *place)
{
    uint64_t bytes = sg_learning_low_bytes(place);
    enum arm usual_arm = usual(node, place->operation, bytes);
    int count = 0, first = 0;

    for (enum arm arm = 0; arm < ARM_COUNT; arm++) {
        if (!runs(node, arm, place->operation, bytes))
            continue;
        if (arm == usual_arm)
            first = count;
        place->arms[count++] = (int)arm;
    }
    sg_learning_start(automatic->learning, place, count, first);
}

/* ---- calls -----------------------------------------------------------------------------------*/

static bool step(struct sg_auto *automatic, struct sg_node *node, struct sg_learning_place *place,
                 struct sg_learn_step *out)
{
    int number = sg_learning_number(automatic->learning, place);
    struct sg_learn_told told;

    *out = sg_learn_step(&place->learn);
    if (out->decides) {
        if (!sg_node_have_left(node, automatic->tellings[number].position))
            return false;
        told = sg_tell_get(node, number, automatic->tellings[number].times - 1);
        if (sg_learn_decide(&place->learn, &told) && node->rank == 0)
            sg_learning_say(automatic->learning, place, text_of);
        *out = sg_learn_step(&place->learn);
    }
    if (out->tells) {
        told = sg_learn_tell(&place->learn);
        sg_tell_put(node, number, automatic->tellings[number].times++, &told);
        automatic->tellings[number].position = node->position;
    }
    return true;
}

bool sg_auto_begin(struct sg_auto *automatic, struct sg_node *node, const struct sg_call *call,
                   const struct sg_choice *choice, struct sg_auto_turn *turn)
{
    struct sg_learning_place *place = sg_learning_find(automatic->learning, call, choice);
    struct sg_learn_step now;

    turn->place = place;
    turn->begin_ns = 0;
    if (place == NULL) {
        turn->choice = &arms[usual(node, call->operation, call->bytes)].choice;
        return true;
    }
    if (sg_learn_goes_on(&place->learn)) {
        turn->arm = place->learn.holds;
        turn->choice = &arms[place->arms[turn->arm]].choice;
        return true;
    }
    if (place->learn.settings.arms == 0)
        start(automatic, node, place);
    if (!step(automatic, node, place, &now))
        return false;
    turn->arm = now.arm;
    turn->choice = &arms[place->arms[now.arm]].choice;
    if (now.counts)
        turn->begin_ns = call->arrival_ns != 0 ? call->arrival_ns : sg_tick_ns();
    return true;
}

void sg_auto_end(const struct sg_auto_turn *turn)
{
    if (turn->begin_ns != 0)
        sg_learn_add(&turn->place->learn, turn->arm, sg_tick_ns() - turn->begin_ns);
}
