#include "verify/shrink.h"

#include "verify/check.h"
#include "verify/steps.h"

#include <stdlib.h>
#include <string.h>

/* Odds of faults, each "one in N". */
#define LOSE_ONE_IN 4
#define REPEAT_ONE_IN 4
#define FIRE_ONE_IN 6
#define HOLD_ONE_IN 24
#define HOLD_STEPS 120
#define DEMOTE_ONE_IN 12
#define JUMP_ONE_IN 20
#define JUMP_NS 4000
#define MOMENT_NS 100

/* Maximum number of steps after the faults have ended: far above what any protocol needs. */
#define HEALED_STEPS 2000
#define HEALED_STEPS_EACH 400 /* per call of each process, and per post */

#define STREAM_CHOICES 1

struct run {
    struct sg_explore_world *world;
    struct sg_explore_random random;
    struct sg_explore_view view;
    uint64_t demoted; /* seed of the priorities, changed now and then */
    struct sg_explore_step steps[SG_EXPLORE_STEPS_MAX];
};

static bool has_fault(const struct run *run, enum sg_explore_fault fault)
{
    return run->world->scenario->faults & 1u << fault;
}

static bool healed(const struct run *run)
{
    return run->world->step >= run->world->scenario->steps;
}

/* Makes a process pause for a while, before a call or in one. */
static void maybe_hold(struct run *run)
{
    struct sg_explore_world *world = run->world;
    struct sg_explore_process *process;
    bool in_call;

    if (!sg_explore_one_in(&run->random, HOLD_ONE_IN))
        return;
    process = &world->processes[sg_explore_below(&run->random, (uint32_t)world->scenario->nodes)];
    in_call = process->state == SG_PROCESS_IN_CALL;
    if (has_fault(run, in_call ? SG_FAULT_INTERRUPT : SG_FAULT_SLOW))
        process->held_until = world->step + sg_explore_below(&run->random, HOLD_STEPS);
}

/* Steps of one endpoint's process share a priority, and so do messages between the same two
 * endpoints. */
static uint64_t priority(const struct run *run, const struct sg_explore_step *step)
{
    uint64_t class = (uint64_t)step->kind << 32 | step->index;

    if (step->kind == SG_STEP_ARRIVE) {
        const struct sg_explore_flight *flight =
            &run->world->flights[run->world->live[step->index]];

        class = (uint64_t)flight->base.kind << 48 | (uint64_t)flight->comm << 40 |
                (uint64_t)flight->base.from << 20 | (uint64_t)flight->base.to;
    }
    return sg_hash_mix(sg_hash_mix(class) + run->demoted);
}

static uint32_t pick_by_priority(struct run *run, uint32_t count)
{
    uint32_t best = 0;

    if (sg_explore_one_in(&run->random, DEMOTE_ONE_IN))
        run->demoted = sg_explore_next(&run->random);
    for (uint32_t i = 1; i < count; i++) {
        if (priority(run, &run->steps[i]) > priority(run, &run->steps[best]))
            best = i;
    }
    return best;
}

/* Loses or repeats, at random, a multicast that is about to arrive. */
static void maybe_spoil(struct run *run, struct sg_explore_step *step)
{
    const struct sg_explore_flight *flight;

    if (step->kind != SG_STEP_ARRIVE)
        return;
    flight = &run->world->flights[run->world->live[step->index]];
    if (!flight->base.multicast)
        return;
    if (has_fault(run, SG_FAULT_LOSS) && sg_explore_one_in(&run->random, LOSE_ONE_IN))
        step->kind = SG_STEP_LOSE;
    else if (has_fault(run, SG_FAULT_REPEAT) && sg_explore_one_in(&run->random, REPEAT_ONE_IN))
        step->kind = SG_STEP_REPEAT;
}

/* Chooses any step, while there are faults. */
static bool choose(struct run *run, struct sg_explore_step *step)
{
    struct sg_explore_world *world = run->world;
    uint32_t count;

    maybe_hold(run);
    run->view.held = true;
    count = sg_explore_steps(world, &run->view, run->steps);
    if (has_fault(run, SG_FAULT_TIMERS) && sg_explore_one_in(&run->random, FIRE_ONE_IN))
        count += sg_explore_timers(world, &run->view, run->steps + count);
    if (count == 0)
        return false;
    *step = run->steps[world->scenario->priorities ? pick_by_priority(run, count)
                                                   : sg_explore_below(&run->random, count)];
    maybe_spoil(run, step);
    return true;
}

static bool choose_fairly(struct run *run, struct sg_explore_step *step)
{
    run->view.held = false;
    return sg_explore_fair(run->world, &run->view, run->steps, step);
}

static void pass_time(struct run *run)
{
    uint32_t most = sg_explore_one_in(&run->random, JUMP_ONE_IN) ? JUMP_NS : MOMENT_NS;

    run->world->now_ns += sg_explore_below(&run->random, most);
}

bool sg_explore_run(struct sg_explore_world *world, const struct sg_explore_scenario *scenario)
{
    static _Thread_local struct run run;
    uint32_t limit =
        scenario->steps + HEALED_STEPS +
        HEALED_STEPS_EACH * (uint32_t)(scenario->instances * scenario->nodes + scenario->posts);
    struct sg_explore_step step;

    run.world = world;
    run.random = sg_explore_stream(scenario->seed ^ scenario->schedule << 32, STREAM_CHOICES);
    run.demoted = 0;
    if (!sg_explore_world_open(world, scenario))
        return false;
    run.view = (struct sg_explore_view){.reorder = has_fault(&run, SG_FAULT_REORDER)};
    while (world->violation[0] == '\0' && !sg_explore_over(world)) {
        if ((healed(&run) || !choose(&run, &step)) && !choose_fairly(&run, &step))
            break;
        if (world->step == limit) {
            sg_explore_violate(world, NULL, "not everything is over %u steps after faults healed",
                               limit - scenario->steps);
            return true;
        }
        pass_time(&run);
        world->history = sg_hash_mix(world->history + world->now_ns);
        sg_explore_take(world, &step);
    }
    sg_explore_check_end(world);
    return true;
}

/* ---- shrinking */

/* A smaller scenario needs other choices to fail: this many schedules are tried for each. */
#define SCHEDULES 60
#define RUNS_MAX 20000

/* Names of the cut's members, for --only. */
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
    struct sg_explore_scenario scenario; /* smallest so far */
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

/* Finds the least value of a member that still fails, from `least` (0 or 1) up. */
static bool lessen(struct shrinking *shrinking, size_t at, int64_t least, int64_t now)
{
    /* Steps are many, so they are halved; other members are tried one value at a time. */
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
