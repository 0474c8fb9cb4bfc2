#include "sim/explore/shrink.h"

#include "sim/explore/run.h"

#include <stdlib.h>
#include <string.h>

/* A smaller scenario needs other choices to fail: so many schedules are tried for each. */
#define SCHEDULES 60
#define RUNS_MAX 20000

/* The cut's members by name, for --only. */
static const struct {
    const char *name;
    size_t at;
} cut_fields[] = {
    {"nodes", offsetof(struct sg_explore_cut, nodes)},
    {"comms", offsetof(struct sg_explore_cut, comms)},
    {"instances", offsetof(struct sg_explore_cut, instances)},
    {"messages", offsetof(struct sg_explore_cut, messages)},
    {"steps", offsetof(struct sg_explore_cut, steps)},
    {"schedule", offsetof(struct sg_explore_cut, schedule)},
    {"faults", offsetof(struct sg_explore_cut, faults)},
};
#define CUT_FIELDS (sizeof cut_fields / sizeof *cut_fields)

struct shrinking {
    struct sg_explore_world *world;
    struct sg_explore_subject *subject;
    struct sg_explore_scenario scenario; /* the least so far */
    uint32_t runs;
};

bool sg_explore_run_subject(struct sg_explore_world *world,
                            const struct sg_explore_subject *subject,
                            struct sg_explore_scenario *scenario)
{
    return sg_explore_draw(subject, scenario) && sg_explore_run(world, scenario);
}

/* Accepts the cut if it fails under some schedule. */
static bool attempt(struct shrinking *shrinking, const struct sg_explore_cut *cut)
{
    struct sg_explore_subject subject = *shrinking->subject;
    struct sg_explore_scenario scenario;

    subject.cut = *cut;
    for (int64_t schedule = 0; schedule < SCHEDULES && shrinking->runs < RUNS_MAX; schedule++) {
        subject.cut.schedule = schedule;
        shrinking->runs++;
        if (!sg_explore_run_subject(shrinking->world, &subject, &scenario))
            return false;
        if (shrinking->world->violation[0] != '\0') {
            shrinking->subject->cut = subject.cut;
            shrinking->scenario = scenario;
            return true;
        }
    }
    return false;
}

static int64_t *field_of(struct sg_explore_cut *cut, size_t at)
{
    return (int64_t *)((char *)cut + at);
}

/* Finds the least value of a member that still fails; *least is from 0 or 1 up. */
static bool lessen(struct shrinking *shrinking, size_t at, int64_t least, int64_t now)
{
    /* There are many steps, which are halved; other members are tried one value at a time. */
    bool halve = at == offsetof(struct sg_explore_cut, steps);

    for (int64_t value = least; value < now;
         value = halve ? value + (now - value + 1) / 2 : value + 1) {
        struct sg_explore_cut cut = shrinking->subject->cut;

        *field_of(&cut, at) = value;
        if (attempt(shrinking, &cut))
            return true;
        if (halve && now - value <= 1)
            break;
    }
    return false;
}

static bool drop_faults(struct shrinking *shrinking)
{
    bool dropped = false;

    for (int fault = 0; fault < SG_FAULT_COUNT; fault++) {
        struct sg_explore_cut cut = shrinking->subject->cut;

        if (!(shrinking->scenario.faults & 1u << fault))
            continue;
        cut.faults = shrinking->scenario.faults & ~(1u << fault);
        dropped |= attempt(shrinking, &cut);
    }
    return dropped;
}

void sg_explore_shrink(struct sg_explore_world *world, struct sg_explore_subject *subject)
{
    struct shrinking shrinking = {.world = world, .subject = subject};
    struct sg_explore_scenario *scenario = &shrinking.scenario;
    FILE *trace = world->trace;
    bool smaller = true;

    world->trace = NULL;
    sg_explore_draw(subject, scenario);
    while (smaller && shrinking.runs < RUNS_MAX) {
        smaller = lessen(&shrinking, offsetof(struct sg_explore_cut, comms), 1, scenario->comms);
        smaller |=
            lessen(&shrinking, offsetof(struct sg_explore_cut, instances), 1, scenario->instances);
        smaller |=
            lessen(&shrinking, offsetof(struct sg_explore_cut, messages), 0, scenario->messages);
        smaller |= lessen(&shrinking, offsetof(struct sg_explore_cut, nodes), 1, scenario->nodes);
        smaller |= drop_faults(&shrinking);
        smaller |= lessen(&shrinking, offsetof(struct sg_explore_cut, steps), 0, scenario->steps);
    }
    world->trace = trace;
}

void sg_explore_print_replay(const struct sg_explore_subject *subject, FILE *out)
{
    char faults[SG_EXPLORE_FAULTS_BYTES];
    const char *separator = " --only ";

    fprintf(out, "stagger sim explore --algo %s --first %llu --seeds 1", subject->algo->name,
            (unsigned long long)subject->seed);
    if (subject->faults == SG_FAULTS_ALL)
        strcpy(faults, "all");
    else
        sg_explore_faults_text(subject->faults, ',', faults);
    fprintf(out, " --faults %s --max-nodes %d%s", faults, subject->max_nodes,
            subject->user ? " --user" : "");
    for (size_t i = 0; i < CUT_FIELDS; i++) {
        struct sg_explore_cut cut = subject->cut;
        int64_t value = *field_of(&cut, cut_fields[i].at);

        if (value < 0)
            continue;
        fprintf(out, "%s%s=", separator, cut_fields[i].name);
        if (cut_fields[i].at == offsetof(struct sg_explore_cut, faults))
            fputs(sg_explore_faults_text((uint32_t)value, '+', faults), out);
        else
            fprintf(out, "%lld", (long long)value);
        separator = ",";
    }
}

static bool read_field(const char *text, size_t length, struct sg_explore_cut *cut)
{
    char field[128], *value, *end;
    const char *wrong;
    uint32_t faults;

    if (length >= sizeof field)
        return false;
    memcpy(field, text, length);
    field[length] = '\0';
    value = strchr(field, '=');
    if (value == NULL)
        return false;
    *value++ = '\0';
    for (size_t i = 0; i < CUT_FIELDS; i++) {
        int64_t *member = field_of(cut, cut_fields[i].at);

        if (strcmp(field, cut_fields[i].name) != 0)
            continue;
        if (cut_fields[i].at == offsetof(struct sg_explore_cut, faults)) {
            if (!sg_explore_faults_read(value, '+', &faults, &wrong))
                return false;
            *member = faults;
            return true;
        }
        *member = strtoll(value, &end, 10);
        return end != value && *end == '\0' && *member >= 0;
    }
    return false;
}

bool sg_explore_cut_read(const char *text, struct sg_explore_cut *cut, const char **wrong)
{
    while (*text != '\0') {
        size_t length = strcspn(text, ",");

        *wrong = text;
        if (!read_field(text, length, cut))
            return false;
        text += length + (text[length] == ',');
    }
    return true;
}
