#include "intranode/mpi/auto.h"

#include "core/tick.h"
#include "intranode/forms.h"
#include "intranode/tell.h"
#include "mpi/trace_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- arms ------------------------------------------------------------------------------------*/

/* Those of srm in the order of its forms. */
enum arm { ARM_FLAT, ARM_CLIMB, ARM_CHUNKS, ARM_SINGLE, ARM_GROUPS, ARM_MPICH, ARM_COUNT };

#define SRM(form_name, form)                                                                       \
    {                                                                                              \
        "srm(form=" form_name ")",                                                                 \
        {                                                                                          \
            .algorithm = SG_ALGORITHM_SRM, .executed = SG_ALGORITHM_SRM, .parameters = { form }    \
        }                                                                                          \
    }

/* As a rule would have them. */
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

/* Ranges of bytes: they end where the built-in rules and forms change, and between. */
static const struct {
    uint64_t low, high;
} ranges[] = {
    {0, 64}, {65, 1024}, {1025, 4096}, {4097, 65535}, {65536, 1048575}, {1048576, UINT64_MAX},
};

static int range_of(uint64_t bytes)
{
    int range = 0;

    while (bytes > ranges[range].high)
        range++;
    return range;
}

/* What runs without `auto`. */
static enum arm usual(const struct sg_node *node, enum sg_operation operation, uint64_t bytes)
{
    bool broadcasts = operation == SG_OPERATION_BCAST;
    enum sg_srm_form form =
        broadcasts ? sg_form_of_broadcast(bytes) : sg_form_of(bytes, node->ranks);

    if (form == SG_SRM_SINGLE && (node->access == NULL || operation == SG_OPERATION_REDUCE))
        form = SG_SRM_CHUNKS;
    if (form == SG_SRM_CHUNKS && !broadcasts && node->pool == NULL)
        form = SG_SRM_CLIMB;
    return (enum arm)(form - SG_SRM_FLAT);
}

/* Whether an arm is another algorithm than those before it. All give MPICH's bits. */
static bool runs(const struct sg_node *node, enum arm arm, enum sg_operation operation,
                 uint64_t bytes)
{
    bool broadcasts = operation == SG_OPERATION_BCAST;

    switch (arm) {
    case ARM_FLAT:
        return !broadcasts && bytes <= SG_FLAT_BYTES_MAX;
    case ARM_CLIMB:
        return !broadcasts;
    case ARM_CHUNKS:
        return broadcasts || (bytes > SG_FLAT_BYTES_MAX && node->pool != NULL);
    case ARM_SINGLE:
        return bytes > SG_CLIMB_BYTES_MAX && node->access != NULL &&
               (broadcasts || operation == SG_OPERATION_ALLREDUCE);
    case ARM_GROUPS: /* whose first ranks the others wait for */
        return !broadcasts && node->header->group != 0 && sg_form_may_group(bytes, node->ranks);
    default:
        return true;
    }
}

/* ---- places ----------------------------------------------------------------------------------*/

struct sg_auto_place {
    const struct sg_choice *rule; /* NULL: not taken yet */
    enum sg_operation operation;
    int range;
    enum arm arms[SG_LEARN_ARMS_MAX];
    uint32_t told;     /* so often */
    uint64_t position; /* of the instance before which it was told last */
    struct sg_learn learn;
    struct sg_auto *of;
};

struct sg_auto {
    const struct sg_ruleset *rules;
    int ranks;
    struct sg_auto_place places[SG_NODE_PLACES], *last;
    struct sg_learn_told *memory; /* told, and each place's known and look: by rank */
    char name[];
};

static bool is_auto(const struct sg_choice *choice)
{
    return choice->algorithm == SG_ALGORITHM_AUTO;
}

bool sg_auto_is_wanted(const struct sg_ruleset *rules, const char *name, int size)
{
    const struct sg_rule_comm comm = {.name = name, .size = size, .reach = SG_REACH_NODE};
    bool wants = false;

    for (int operation = 0; operation < SG_OPERATION_COUNT && !wants; operation++)
        wants = sg_ruleset_may_choose(rules, (enum sg_operation)operation, &comm, 0, is_auto);
    return wants;
}

struct sg_auto *sg_auto_create(const struct sg_ruleset *rules, const char *name, int ranks)
{
    size_t name_bytes = strlen(name) + 1;
    struct sg_auto *automatic = calloc(1, sizeof *automatic + name_bytes);

    if (automatic == NULL)
        return NULL;
    automatic->rules = rules;
    automatic->ranks = ranks;
    automatic->memory = calloc((size_t)ranks * (1 + 2 * SG_NODE_PLACES), sizeof *automatic->memory);
    memcpy(automatic->name, name, name_bytes);
    if (automatic->memory == NULL) {
        free(automatic);
        return NULL;
    }
    return automatic;
}

void sg_auto_free(struct sg_auto *automatic)
{
    if (automatic == NULL)
        return;
    free(automatic->memory);
    free(automatic);
}

static void begin_place(struct sg_auto *automatic, const struct sg_node *node,
                        struct sg_auto_place *place)
{
    struct sg_learn_settings settings = {
        .ranks = automatic->ranks,
        .block = (uint32_t)place->rule->parameters[SG_AUTO_BLOCK],
        .hold = (uint32_t)place->rule->parameters[SG_AUTO_HOLD],
    };
    uint64_t bytes = ranges[place->range].low;
    enum arm first = usual(node, place->operation, bytes);
    size_t number = (size_t)(place - automatic->places);
    struct sg_learn_told *own = automatic->memory + (size_t)automatic->ranks * (1 + 2 * number);

    for (enum arm arm = 0; arm < ARM_COUNT; arm++) {
        if (!runs(node, arm, place->operation, bytes))
            continue;
        if (arm == first)
            settings.first = settings.arms;
        place->arms[settings.arms++] = arm;
    }
    place->of = automatic;
    sg_learn_start(&place->learn, &settings, own, own + automatic->ranks);
}

/* NULL: there are too many, on all ranks alike. */
static struct sg_auto_place *find_place(struct sg_auto *automatic, const struct sg_node *node,
                                        const struct sg_choice *rule, enum sg_operation operation,
                                        int range)
{
    for (int i = 0; i < SG_NODE_PLACES; i++) {
        struct sg_auto_place *place = &automatic->places[i];

        if (place->rule == NULL) {
            place->rule = rule;
            place->operation = operation;
            place->range = range;
            begin_place(automatic, node, place);
            return place;
        }
        if (place->rule == rule && place->operation == operation && place->range == range)
            return place;
    }
    return NULL;
}

static struct sg_auto_place *place_of(struct sg_auto *automatic, const struct sg_node *node,
                                      const struct sg_call *call, const struct sg_choice *rule)
{
    struct sg_auto_place *place = automatic->last;

    if (place != NULL && place->rule == rule && place->operation == call->operation &&
        call->bytes >= ranges[place->range].low && call->bytes <= ranges[place->range].high)
        return place;
    place = find_place(automatic, node, rule, call->operation, range_of(call->bytes));
    if (place != NULL)
        automatic->last = place;
    return place;
}

/* ---- what is found ---------------------------------------------------------------------------*/

/* "allreduce~MPI_COMM_WORLD(2)[0-64]=handoff; calls=168 learnings=1 changes=0; srm(form=flat)=900
 * handoff=700 mpich=1800": reports read it (analysis/report/learned). */
static void say_finding(const struct sg_auto_place *place)
{
    const struct sg_learn *learn = &place->learn;
    const struct sg_rule_place where = {.operation = place->operation,
                                        .comm_name = place->of->name,
                                        .comm_size = place->of->ranks,
                                        .byte_low = ranges[place->range].low,
                                        .byte_high = ranges[place->range].high};
    size_t text_bytes;
    char *text = NULL;
    FILE *out = open_memstream(&text, &text_bytes);

    if (out == NULL)
        return;
    sg_ruleset_print_place(place->of->rules, place->rule, &where, out);
    fprintf(out, "=%s; calls=%" PRIu64 " learnings=%" PRIu32 " changes=%" PRIu32 ";",
            arms[place->arms[learn->holds]].text, learn->calls, learn->learnings, learn->changes);
    for (int i = 0; i < learn->settings.arms; i++)
        fprintf(out, " %s=%.0f", arms[place->arms[i]].text, learn->cost_ns[i]);
    if (fclose(out) == 0)
        sg_trace_event_line(SG_TRACE_LINE_LEARNED, text);
    free(text);
}

/* ---- calls -----------------------------------------------------------------------------------*/

static bool step(struct sg_auto *automatic, struct sg_node *node, struct sg_auto_place *place,
                 struct sg_learn_step *out)
{
    struct sg_learn_told told;

    *out = sg_learn_step(&place->learn);
    if (out->decides) {
        if (!sg_node_have_left(node, place->position))
            return false;
        sg_tell_get(node, (int)(place - automatic->places), place->told - 1, automatic->memory);
        if (sg_learn_decide(&place->learn, automatic->memory) && node->rank == 0)
            say_finding(place);
        *out = sg_learn_step(&place->learn);
    }
    if (out->tells) {
        told = sg_learn_tell(&place->learn);
        sg_tell_put(node, (int)(place - automatic->places), place->told++, &told);
        place->position = node->position;
    }
    return true;
}

bool sg_auto_begin(struct sg_auto *automatic, struct sg_node *node, const struct sg_call *call,
                   const struct sg_choice *choice, struct sg_auto_turn *turn)
{
    struct sg_auto_place *place = place_of(automatic, node, call, choice);
    struct sg_learn_step now;

    turn->place = place;
    turn->begin_ns = 0;
    if (place != NULL && sg_learn_goes_on(&place->learn)) {
        turn->arm = place->learn.holds;
        turn->choice = &arms[place->arms[turn->arm]].choice;
        return true;
    }
    if (place == NULL) {
        turn->choice = &arms[usual(node, call->operation, call->bytes)].choice;
        return true;
    }
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
