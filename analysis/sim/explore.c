/* stagger sim explore: runs the protocols over hostile networks in many random orders, or in all
 * orders, and checks after every event what docs/algorithms.md promises.
 */
#include "core/clock.h"
#include "core/status.h"
#include "core/text.h"
#include "sim/commands.h"
#include "sim/exhaustive/exhaustive.h"
#include "sim/explore/events.h"
#include "sim/explore/marks.h"
#include "sim/explore/run.h"
#include "sim/explore/shrink.h"
#include "sim/output.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define SEEDS_DEFAULT 1000
#define NODES_DEFAULT 9
#define EXHAUSTIVE_NODES_LOW 2
#define EXHAUSTIVE_NODES_HIGH 4

/* One seed in so many runs twice: its history must be the same. */
#define TWICE_ONE_IN 16
/* From so many seeds a protocol up, every rare state must have been reached. */
#define MARKS_SEEDS 1000
#define PROGRESS_NS UINT64_C(200000000)

struct options {
    const struct sg_algo *algos[SG_EXPLORE_ALGOS_MAX];
    uint32_t algos_count;
    uint64_t seeds, first;
    uint32_t faults; /* 1 << enum sg_explore_fault */
    int32_t max_nodes;
    bool exhaustive, unreduced, trace;
    int32_t nodes_low, nodes_high; /* of the exhaustive walk */
    struct sg_explore_cut cut;
};

/* ---- the command line */

enum { KEY_EXHAUSTIVE = 256, KEY_NODES, KEY_MAX_NODES, KEY_ONLY, KEY_UNREDUCED };

static const char documentation[] =
    "Looks for errors of the protocols: each seed draws processes, communicators, instances, "
    "parameters and faults and runs them in one random order; after every event what the "
    "protocols promise is checked. A violation is printed with the command that repeats it and "
    "with the steps of the shortest case found.\v"
    "Faults: loss, repeat, reorder, delay, timers, slow, interrupt, poll.\n\n"
    "Exit status: 0, 1 on a violation or when a rare state was never reached (looked at from 1000 "
    "seeds a protocol up, with all faults), 2 on bad usage.";

static const struct argp_option option_table[] = {
    {"algo", 'a', "LIST", 0, "protocols, with commas, or all (default: all)", 0},
    {"seeds", 's', "N", 0, "seeds to run (default: 1000)", 0},
    {"first", 'f', "SEED", 0, "the first of them (default: 1)", 0},
    {"faults", 'F', "LIST", 0, "faults to draw from: a list, all or none (default: all)", 0},
    {"max-nodes", KEY_MAX_NODES, "N", 0, "processes at most, to 64 (default: 9)", 0},
    {"trace", 't', NULL, 0, "print every step of every seed", 0},
    {"only", KEY_ONLY, "CUT", 0, "cut the scenario down, as a violation's replay command says", 0},
    {"exhaustive", KEY_EXHAUSTIVE, NULL, 0,
     "walk every order of two instances with at most one fault instead", 0},
    {"unreduced", KEY_UNREDUCED, NULL, 0, "... those that are equivalent to others, too", 0},
    {"nodes", KEY_NODES, "LOW..HIGH", 0, "... of so many processes (default: 2..3)", 0},
    {0},
};

static uint64_t number(const char *option, const char *text, uint64_t least, uint64_t most,
                       struct argp_state *state)
{
    const char *end = text + strlen(text);
    uint64_t value = 0;

    if (sg_text_number(text, end, false, &value) != end || value < least || value > most)
        argp_error(state, "%s wants a number from %llu to %llu, not '%s'", option,
                   (unsigned long long)least, (unsigned long long)most, text);
    return value;
}

static void add_algo(struct options *options, const char *name, size_t length,
                     struct argp_state *state)
{
    bool all = length == 3 && memcmp(name, "all", 3) == 0;
    bool found = false;

    for (uint32_t i = 0; sg_algos[i] != NULL; i++) {
        const char *known = sg_algos[i]->name;
        bool listed = false;

        if (!all && (strlen(known) != length || memcmp(known, name, length) != 0))
            continue;
        found = true;
        for (uint32_t j = 0; j < options->algos_count; j++)
            listed |= options->algos[j] == sg_algos[i];
        if (!listed && options->algos_count < SG_EXPLORE_ALGOS_MAX)
            options->algos[options->algos_count++] = sg_algos[i];
    }
    if (!found)
        argp_error(state, "there is no protocol '%.*s'", (int)length, name);
}

static void set_algos(struct options *options, const char *text, struct argp_state *state)
{
    options->algos_count = 0;
    for (;;) {
        size_t length = strcspn(text, ",");

        add_algo(options, text, length, state);
        if (text[length] == '\0')
            return;
        text += length + 1;
    }
}

static void set_faults(struct options *options, const char *text, struct argp_state *state)
{
    const char *wrong;

    if (!sg_explore_faults_read(text, ',', &options->faults, &wrong))
        argp_error(state, "there is no fault '%.*s'", (int)strcspn(wrong, ","), wrong);
}

static void set_nodes(struct options *options, const char *text, struct argp_state *state)
{
    const char *dots = strstr(text, "..");
    char low[16];

    if (dots != NULL && (size_t)(dots - text) < sizeof low) {
        memcpy(low, text, (size_t)(dots - text));
        low[dots - text] = '\0';
        options->nodes_low =
            (int32_t)number("--nodes", low, EXHAUSTIVE_NODES_LOW, EXHAUSTIVE_NODES_HIGH, state);
        text = dots + 2;
    } else {
        options->nodes_low = EXHAUSTIVE_NODES_LOW;
    }
    options->nodes_high = (int32_t)number("--nodes", text, (uint64_t)options->nodes_low,
                                          EXHAUSTIVE_NODES_HIGH, state);
    if (dots == NULL)
        options->nodes_low = options->nodes_high;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    const char *wrong;

    switch (key) {
    case 'a':
        set_algos(options, argument, state);
        return 0;
    case 's':
        options->seeds = number("--seeds", argument, 1, UINT32_MAX, state);
        return 0;
    case 'f':
        options->first = number("--first", argument, 0, UINT64_MAX / 2, state);
        return 0;
    case 'F':
        set_faults(options, argument, state);
        return 0;
    case KEY_MAX_NODES:
        options->max_nodes =
            (int32_t)number("--max-nodes", argument, 1, SG_EXPLORE_NODES_MAX, state);
        return 0;
    case 't':
        options->trace = true;
        return 0;
    case KEY_ONLY:
        if (!sg_explore_cut_read(argument, &options->cut, &wrong))
            argp_error(state, "--only does not know '%.*s'", (int)strcspn(wrong, ","), wrong);
        return 0;
    case KEY_EXHAUSTIVE:
        options->exhaustive = true;
        return 0;
    case KEY_UNREDUCED:
        options->unreduced = true;
        return 0;
    case KEY_NODES:
        set_nodes(options, argument, state);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected '%s'", argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* False on bad usage, after one clear line. */
static bool read_options(int argc, char **argv, struct options *options)
{
    static const struct argp argp = {option_table, parse_option, "",  documentation,
                                     NULL,         NULL,         NULL};
    static char name[] = "stagger sim explore";

    *options = (struct options){
        .seeds = SEEDS_DEFAULT,
        .first = 1,
        .faults = SG_FAULTS_ALL,
        .max_nodes = NODES_DEFAULT,
        .nodes_low = EXHAUSTIVE_NODES_LOW,
        .nodes_high = EXHAUSTIVE_NODES_HIGH - 1,
        .cut = SG_EXPLORE_UNCUT,
    };
    while (sg_algos[options->algos_count] != NULL && options->algos_count < SG_EXPLORE_ALGOS_MAX) {
        options->algos[options->algos_count] = sg_algos[options->algos_count];
        options->algos_count++;
    }
    argv[0] = name;
    argp_err_exit_status = SG_SIM_USAGE;
    return argp_parse(&argp, argc, argv, 0, NULL, options) == 0;
}

/* ---- running */

struct exploring {
    const struct options *options;
    struct sg_explore_world world;
    uint64_t skipped, steps, history;
    uint64_t progress_ns; /* when to show it next; 0: never */
};

static bool is_uncut(const struct sg_explore_cut *cut)
{
    static const struct sg_explore_cut uncut = SG_EXPLORE_UNCUT;

    return memcmp(cut, &uncut, sizeof uncut) == 0;
}

static void show_progress(struct exploring *exploring, uint64_t done, uint64_t total)
{
    uint64_t now_ns;

    if (exploring->progress_ns == 0)
        return;
    now_ns = sg_clock_ns();
    if (now_ns < exploring->progress_ns && done < total)
        return;
    exploring->progress_ns = now_ns + PROGRESS_NS;
    if (done < total)
        fprintf(stderr, "\rstagger: exploring, %.0f%%\033[K", 100.0 * (double)done / (double)total);
    else
        fputs("\r\033[K", stderr);
    fflush(stderr);
}

/* The least case, step by step, with the commands that repeat it and the whole seed. */
static void report(struct exploring *exploring, const struct sg_explore_subject *found)
{
    struct sg_explore_world *world = &exploring->world;
    struct sg_explore_subject least = *found;
    struct sg_explore_scenario scenario;

    printf("violation: %s\n  ", world->violation);
    sg_explore_print_replay(found, stdout);
    putchar('\n');
    if (is_uncut(&found->cut))
        sg_explore_shrink(world, &least);
    world->trace = stdout;
    if (!is_uncut(&least.cut)) {
        fputs("the least case found:\n  ", stdout);
        sg_explore_print_replay(&least, stdout);
        putchar('\n');
    }
    sg_explore_draw(least.algo, least.seed, least.max_nodes, least.faults, &least.cut, &scenario);
    sg_explore_describe(&scenario, stdout);
    sg_explore_run(world, &scenario);
    printf("      %s\n", world->violation[0] ? world->violation : "no violation this time");
    world->trace = NULL;
}

static bool explore_seed(struct exploring *exploring, uint64_t seed)
{
    const struct options *options = exploring->options;
    struct sg_explore_world *world = &exploring->world;
    struct sg_explore_subject subject = {
        .algo = options->algos[seed % options->algos_count],
        .seed = seed,
        .max_nodes = options->max_nodes,
        .faults = options->faults,
        .cut = options->cut,
    };
    struct sg_explore_scenario scenario;
    uint64_t history;

    if (!sg_explore_draw(subject.algo, seed, subject.max_nodes, subject.faults, &subject.cut,
                         &scenario)) {
        exploring->skipped++;
        return true;
    }
    if (options->trace)
        sg_explore_describe(&scenario, stdout);
    if (!sg_explore_run(world, &scenario)) {
        sg_log("sim: %s", sg_status_text(SG_ERR_MEMORY));
        return false;
    }
    history = world->history;
    exploring->steps += world->step;
    if (world->violation[0] == '\0' && seed % TWICE_ONE_IN == 0 && !options->trace) {
        sg_explore_run(world, &scenario);
        if (world->history != history)
            sg_explore_violate(world, NULL, "the same seed gives another history");
    }
    exploring->history = sg_hash_mix(exploring->history + history);
    if (world->violation[0] == '\0')
        return true;
    show_progress(exploring, 1, 1);
    report(exploring, &subject);
    return false;
}

static bool explore_seeds(struct exploring *exploring)
{
    const struct options *options = exploring->options;
    uint32_t missed;

    if (options->trace)
        exploring->world.trace = stdout;
    for (uint64_t i = 0; i < options->seeds; i++) {
        show_progress(exploring, i, options->seeds);
        if (!explore_seed(exploring, options->first + i))
            return false;
    }
    show_progress(exploring, 1, 1);
    missed = sg_explore_print_marks(exploring->world.marks, options->algos, options->algos_count,
                                    stdout);
    printf("%" PRIu64 " seeds, %" PRIu64 " without a scenario, %" PRIu64
           " steps, no violation; history %016" PRIx64 "\n",
           options->seeds, exploring->skipped, exploring->steps, exploring->history);
    if (missed == 0 || options->faults != SG_FAULTS_ALL || !is_uncut(&options->cut) ||
        options->seeds < (uint64_t)MARKS_SEEDS * options->algos_count)
        return true;
    printf("%u rare states were never reached\n", missed);
    return false;
}

static bool explore_all(struct exploring *exploring)
{
    const struct options *options = exploring->options;

    for (uint32_t i = 0; i < options->algos_count; i++) {
        for (int32_t nodes = options->nodes_low; nodes <= options->nodes_high; nodes++) {
            if (!sg_explore_exhaustive(&exploring->world, options->algos[i], nodes, options->faults,
                                       options->unreduced, stdout))
                return false;
        }
    }
    return true;
}

static void print_head(const struct options *options)
{
    char faults[SG_EXPLORE_FAULTS_BYTES];

    fputs("explore", stdout);
    for (uint32_t i = 0; i < options->algos_count; i++)
        printf("%s%s", i ? "," : " ", options->algos[i]->name);
    if (options->exhaustive)
        printf(", every order, %d..%d nodes, at most one fault of %s", options->nodes_low,
               options->nodes_high, sg_explore_faults_text(options->faults, ',', faults));
    else
        printf(", seeds %" PRIu64 "..%" PRIu64 ", at most %d nodes, faults %s", options->first,
               options->first + options->seeds - 1, options->max_nodes,
               sg_explore_faults_text(options->faults, ',', faults));
    printf("; stagger %s, commit %s\n", SG_VERSION, sg_sim_commit);
}

int sg_explore_command(int argc, char **argv)
{
    struct options options;
    struct exploring exploring = {.options = &options};
    bool well;

    if (!read_options(argc, argv, &options))
        return SG_SIM_USAGE;
    if (!sg_explore_world_create(&exploring.world)) {
        sg_log("sim: %s", sg_status_text(SG_ERR_MEMORY));
        return 1;
    }
    if (isatty(STDERR_FILENO))
        exploring.progress_ns = sg_clock_ns() + PROGRESS_NS;
    sg_explore_catch_crashes();
    print_head(&options);
    well = options.exhaustive ? explore_all(&exploring) : explore_seeds(&exploring);
    sg_explore_world_destroy(&exploring.world);
    return well ? 0 : 1;
}
