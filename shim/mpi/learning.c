/* Finds the learning slot of a call, starts it, and prints what it has learned (learning.h). A slot
 * depends on the range of bytes, not on the exact size, so that calls of similar sizes learn
 * together.
 */
#include "mpi/learning.h"

#include "mpi/user_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ranges of bytes. They end where the built-in rules and forms change, and between. */
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

uint64_t sg_learning_low_bytes(const struct sg_learning_place *place)
{
    return ranges[place->range].low;
}

static bool is_auto(const struct sg_choice *choice)
{
    return choice->algorithm == SG_ALGORITHM_AUTO;
}

bool sg_learning_is_wanted(const struct sg_ruleset *rules, const char *name, int size,
                           unsigned reach)
{
    const struct sg_rule_comm comm = {.name = name, .size = size, .reach = reach};
    bool wants = false;

    for (int operation = 0; operation < SG_OPERATION_COUNT && !wants; operation++)
        wants = sg_ruleset_may_choose(rules, (enum sg_operation)operation, &comm, 0, is_auto);
    return wants;
}

struct sg_learning *sg_learning_create(const struct sg_ruleset *rules, const char *name, int ranks)
{
    size_t name_bytes = strlen(name) + 1;
    struct sg_learning *learning = calloc(1, sizeof *learning + name_bytes);

    if (learning == NULL)
        return NULL;
    learning->rules = rules;
    learning->ranks = ranks;
    memcpy(learning->name, name, name_bytes);
    return learning;
}

void sg_learning_free(struct sg_learning *learning)
{
    free(learning);
}

static struct sg_learning_place *find(struct sg_learning *learning, const struct sg_choice *rule,
                                      enum sg_operation operation, int range)
{
    for (int i = 0; i < SG_LEARN_PLACES; i++) {
        struct sg_learning_place *place = &learning->all[i];

        if (place->rule == NULL) {
            place->rule = rule;
            place->operation = operation;
            place->range = range;
            return place;
        }
        if (place->rule == rule && place->operation == operation && place->range == range)
            return place;
    }
    return NULL;
}

struct sg_learning_place *sg_learning_find(struct sg_learning *learning, const struct sg_call *call,
                                           const struct sg_choice *rule)
{
    struct sg_learning_place *place = learning->last;

    if (place != NULL && place->rule == rule && place->operation == call->operation &&
        call->bytes >= ranges[place->range].low && call->bytes <= ranges[place->range].high)
        return place;
    place = find(learning, rule, call->operation, range_of(call->bytes));
    if (place != NULL)
        learning->last = place;
    return place;
}

void sg_learning_start(struct sg_learning *learning, struct sg_learning_place *place, int arms,
                       int first)
{
    const struct sg_learn_settings settings = {
        .ranks = learning->ranks,
        .arms = arms,
        .first = first,
        .block = (uint32_t)place->rule->parameters[SG_AUTO_BLOCK],
        .hold = (uint32_t)place->rule->parameters[SG_AUTO_HOLD],
    };

    sg_learn_start(&place->learn, &settings);
}

/* Reports read this form (analysis/report/learned): "allreduce~MPI_COMM_WORLD(2)[0-64]=handoff;
 * calls=168 learnings=1 changes=0; srm(form=flat)=900 handoff=700 mpich=1800". */
void sg_learning_say(const struct sg_learning *learning, const struct sg_learning_place *place,
                     const char *(*text_of)(int arm))
{
    const struct sg_learn *learn = &place->learn;
    const struct sg_rule_place where = {.operation = place->operation,
                                        .comm_name = learning->name,
                                        .comm_size = learning->ranks,
                                        .byte_low = ranges[place->range].low,
                                        .byte_high = ranges[place->range].high};
    size_t text_bytes;
    char *text = NULL;
    FILE *out = open_memstream(&text, &text_bytes);

    if (out == NULL)
        return;
    sg_ruleset_print_place(learning->rules, place->rule, &where, out);
    fprintf(out, "=%s; calls=%" PRIu64 " learnings=%" PRIu32 " changes=%" PRIu32 ";",
            text_of(place->arms[learn->holds]), learn->calls, learn->learnings, learn->changes);
    for (int i = 0; i < learn->settings.arms; i++)
        fprintf(out, " %s=%.0f", text_of(place->arms[i]), learn->cost_ns[i]);
    if (fclose(out) == 0)
        sg_trace_event_line(SG_TRACE_LINE_LEARNED, text);
    free(text);
}
