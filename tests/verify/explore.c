/* stagger sim explore: runs the protocols over hostile networks in many random orders, or in all
 * orders, and checks the guarantees of docs/algorithms.md after every event. */
#include "core/status.h"
#include "core/text.h"
#include "options/options.h"
#include "output/commit.h"
#include "output/progress_line.h"
#include "sim/sim_commands.h"
#include "verify/exhaustive.h"
#include "verify/schedule.h"
#include "verify/shrink.h"

#include <inttypes.h>
#include <string.h>

#define ALGOS_MAX 9
#define SEEDS_DEFAULT 1000
#define NODES_DEFAULT 9
#define EXHAUSTIVE_NODES_LOW 2
#define EXHAUSTIVE_NODES_HIGH 4

/* One in this many seeds runs twice: both runs must have the same history. */
#define TWICE_ONE_IN 16
/* With at least this many seeds per protocol, every rare state must have been reached. */
#define MARKS_SEEDS 1000

struct options {
    const struct sg_algo *algos[ALGOS_MAX];
    uint32_t algos_count;
    uint64_t seeds, first;
    uint32_t faults; /* 1 << enum sg_explore_fault */
    int32_t max_nodes;
    bool exhaustive, unreduced, trace, user;
    int32_t nodes_low, nodes_high; /* range for the exhaustive walk */
    struct sg_explore_cut cut;
};

/* ---- the command line */

static const char documentation[] =
    "Looks for errors in the protocols: each seed draws processes, communicators, instances, "
    "parameters and faults, and runs them in one random order; after every event the protocols' "
    "guarantees are checked. A violation is printed with the command that reproduces it and with "
    "the steps of the shortest case found.\v"
    "Faults: loss, repeat, reorder, delay, timers, slow, interrupt, poll.\n\n"
    "Exit status: 0; 1 on a violation, or if a rare state was never reached (checked with 1000 or "
    "more seeds per protocol and all faults); 2 on bad usage.";

static const char *take_algo(const struct sg_option *option, const char *name, size_t length,
                             void *into, char *fault)
{
    struct options *options = into;
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
        if (!listed && options->algos_count < ALGOS_MAX)
            options->algos[options->algos_count++] = sg_algos[i];
    }
    return found ? NULL : sg_option_fault(fault, ": no such protocol: '%.*s'", (int)length, name);
}

static const char *read_algos(const struct sg_option *option, const char *text, void *into,
                              char *fault)
{
    ((struct options *)into)->algos_count = 0;
    return sg_option_each(option, text, take_algo, into, fault);
}

static const char *read_faults(const struct sg_option *option, const char *text, void *into,
                               char *fault)
{
    const char *wrong;

    if (sg_explore_faults_read(text, ',', sg_option_place(option, into), &wrong))
        return NULL;
    return sg_option_fault(fault, ": no such fault: '%.*s'", (int)strcspn(wrong, ","), wrong);
}

static const char *read_cut(const struct sg_option *option, const char *text, void *into,
                            char *fault)
{
    const char *wrong;

    if (sg_explore_cut_read(text, sg_option_place(option, into), &wrong))
        return NULL;
    return sg_option_fault(fault, "does not know '%.*s'", (int)strcspn(wrong, ","), wrong);
}

/* Parses LOW..HIGH, or one number. */
static const char *read_nodes(const struct sg_option *option, const char *text, void *into,
                              char *fault)
{
    struct options *options = into;
    const char *all = text + strlen(text), *end;
    uint64_t low, high;

    end = sg_text_number(text, all, false, &low);
    high = low;
    if (end != NULL && strncmp(end, "..", 2) == 0)
        end = sg_text_number(end + 2, all, false, &high);
    if (end != all || low < option->least || high < low || high > option->most)
        return sg_option_wants(fault, "a number from 2 to 4, or LOW..HIGH", text, strlen(text));
    options->nodes_low = (int32_t)low;
    options->nodes_high = (int32_t)high;
    return NULL;
}

#define AT(member) offsetof(struct options, member)

static const struct sg_option option_table[] = {
    {"algo", 'a', "LIST", "protocols, separated by commas, or all (default: all)",
     .read = read_algos},
    {"seeds", 's', "N", "seeds to run (default: 1000)", sg_option_u64, AT(seeds), .least = 1,
     .most = UINT32_MAX},
    {"first", 'f', "SEED", "the first seed (default: 1)", sg_option_u64, AT(first),
     .most = UINT64_MAX / 2},
    {"faults", 'F', "LIST", "faults to draw from: a list, all or none (default: all)", read_faults,
     .at = AT(faults)},
    {"max-nodes", 0, "N", "largest number of processes, up to 64 (default: 9)", sg_option_u32,
     AT(max_nodes), .least = 1, .most = SG_EXPLORE_NODES_MAX},
    {"user", 0, NULL,
     "use user-defined reduction operations, which run only in the call (if the protocol supports "
     "them)",
     sg_option_flag, .at = AT(user)},
    {"trace", 't', NULL, "print every step of every seed", sg_option_flag, .at = AT(trace)},
    {"only", 0, "CUT", "reduce the scenario, as in a violation's replay command", read_cut,
     .at = AT(cut)},
    {"exhaustive", 0, NULL,
     "instead of seeds, walk every order of two instances with at most one fault", sg_option_flag,
     .at = AT(exhaustive)},
    {"unreduced", 0, NULL, "with --exhaustive: also walk equivalent orders", sg_option_flag,
     .at = AT(unreduced)},
    {"nodes", 0, "LOW..HIGH", "with --exhaustive: numbers of processes (default: 2..3)", read_nodes,
     .least = EXHAUSTIVE_NODES_LOW, .most = EXHAUSTIVE_NODES_HIGH},
    {0}};

static void read_options(int argc, char **argv, struct options *options)
{
    struct sg_command_line line = {.name = "stagger sim explore",
                                   .documentation = documentation,
                                   .tables = {{option_table, options}}};

    *options = (struct options){
        .seeds = SEEDS_DEFAULT,
        .first = 1,
        .faults = SG_FAULTS_ALL,
        .max_nodes = NODES_DEFAULT,
        .nodes_low = EXHAUSTIVE_NODES_LOW,
        .nodes_high = EXHAUSTIVE_NODES_HIGH - 1,
        .cut = SG_EXPLORE_UNCUT,
    };
    take_algo(NULL, "all", 3, options, NULL);
    sg_options_read(&line, argc, argv);
}

/* ---- rare states */

static const char *const host_names[SG_HOST_MARK_COUNT - SG_MARK_COUNT] = {
    [SG_HOST_SIGNAL - SG_MARK_COUNT] = "signal while computing",
    [SG_HOST_SIGNAL_IN_PROGRESS - SG_MARK_COUNT] = "signal while in progress",
    [SG_HOST_LOST - SG_MARK_COUNT] = "multicast lost",
    [SG_HOST_REPEATED - SG_MARK_COUNT] = "multicast repeated",
    [SG_HOST_OVERTAKEN - SG_MARK_COUNT] = "message overtaken",
    [SG_HOST_TIMER_EARLY - SG_MARK_COUNT] = "timer before messages",
    [SG_HOST_DRAIN_OUTSTANDING - SG_MARK_COUNT] = "drained while outstanding",
    [SG_HOST_CROSSED_CALL - SG_MARK_COUNT] = "message before its call",
};

/* The protocols that can reach a mark; one of them is enough. */
static const struct {
    int mark;
    const struct sg_algo *by[ALGOS_MAX];
} reachable[] = {
    {SG_MARK_EARLY,
     {&sg_algo_bypass, &sg_algo_adaptive, &sg_algo_tree, &sg_algo_dissemination, &sg_algo_pairwise,
      &sg_algo_bcs}},
    {SG_MARK_LATE, {&sg_algo_bypass}},
    {SG_MARK_CREDIT_OUT,
     {&sg_algo_bypass, &sg_algo_tree, &sg_algo_handoff, &sg_algo_srm, &sg_algo_bcs}},
    {SG_MARK_POOL_OUT, {&sg_algo_bypass}},
    {SG_MARK_PULLED, {&sg_algo_bypass}},
    {SG_MARK_LINGER_PAID, {&sg_algo_bypass}},
    {SG_MARK_LINGER_VAIN, {&sg_algo_bypass}},
    {SG_MARK_TOKEN_ACK_CROSS, {&sg_algo_adaptive}},
    {SG_MARK_TOKEN_MOVED, {&sg_algo_adaptive}},
    {SG_MARK_TOKENS_MEET, {&sg_algo_adaptive}},
    {SG_MARK_PREDICTED, {&sg_algo_adaptive}},
    {SG_MARK_PREDICT_WRONG, {&sg_algo_adaptive}},
    {SG_MARK_RELEASE_LOST, {&sg_algo_adaptive, &sg_algo_tree}},
    {SG_MARK_RELEASE_ANSWERED, {&sg_algo_adaptive, &sg_algo_tree}},
    {SG_MARK_RELEASE_FORWARDED, {&sg_algo_adaptive, &sg_algo_tree}},
    {SG_MARK_RELEASE_REPEATED, {&sg_algo_adaptive, &sg_algo_tree}},
    {SG_MARK_RELEASE_EARLY, {&sg_algo_adaptive}},
    {SG_MARK_SECOND_CLIMBED, {&sg_algo_handoff}},
    {SG_MARK_SPLIT_FINISHED, {&sg_algo_bypass, &sg_algo_handoff, &sg_algo_srm, &sg_algo_bcs}},
    {SG_MARK_STROBE_REPEATED, {&sg_algo_bcs}},
    {SG_MARK_SLICE_OVERRUN, {&sg_algo_bcs}},
    {SG_MARK_BUDGET_OUT, {&sg_algo_bcs}},
    {SG_MARK_CALLED_CROSSES_STROBE, {&sg_algo_bcs}},
    {SG_MARK_PASSED_ON, {&sg_algo_bypass}},
    {SG_MARK_UNEXPECTED, {&sg_algo_bcs}},
    {SG_MARK_REFUSED, {&sg_algo_bcs}},
    {SG_MARK_HELD_BACK, {&sg_algo_bcs}},
    {SG_MARK_CUT, {&sg_algo_bcs}},
    {SG_MARK_EXCHANGE, {&sg_algo_bcs}},
    {SG_HOST_SIGNAL, {&sg_algo_bypass}},
    {SG_HOST_SIGNAL_IN_PROGRESS, {&sg_algo_bypass}},
    {SG_HOST_LOST, {&sg_algo_adaptive, &sg_algo_tree, &sg_algo_bcs}},
    {SG_HOST_REPEATED, {&sg_algo_adaptive, &sg_algo_tree, &sg_algo_bcs}},
    {SG_HOST_OVERTAKEN, {&sg_algo_bypass, &sg_algo_adaptive, &sg_algo_tree, &sg_algo_bcs}},
    {SG_HOST_TIMER_EARLY, {&sg_algo_adaptive, &sg_algo_bypass, &sg_algo_tree, &sg_algo_bcs}},
    {SG_HOST_DRAIN_OUTSTANDING, {&sg_algo_bypass, &sg_algo_adaptive, &sg_algo_tree, &sg_algo_bcs}},
    {SG_HOST_CROSSED_CALL,
     {&sg_algo_bypass, &sg_algo_adaptive, &sg_algo_tree, &sg_algo_dissemination, &sg_algo_pairwise,
      &sg_algo_bcs}},
};

static bool concerns(const struct sg_algo *const *by, const struct options *options)
{
    for (uint32_t i = 0; i < ALGOS_MAX && by[i] != NULL; i++) {
        for (uint32_t j = 0; j < options->algos_count; j++) {
            if (by[i] == options->algos[j])
                return true;
        }
    }
    return false;
}

/* Prints the count of each mark that some of the selected protocols can reach. Returns the number
 * of marks that were never reached. */
static uint32_t print_marks(const uint64_t *marks, const struct options *options)
{
    uint32_t missed = 0;

    puts("rare states reached:");
    for (size_t i = 0; i < sizeof reachable / sizeof *reachable; i++) {
        int mark = reachable[i].mark;

        if (!concerns(reachable[i].by, options))
            continue;
        printf("  %12llu  %s\n", (unsigned long long)marks[mark],
               mark < SG_MARK_COUNT ? sg_mark_names[mark] : host_names[mark - SG_MARK_COUNT]);
        missed += marks[mark] == 0;
    }
    return missed;
}

/* ---- running */

struct exploring {
    const struct options *options;
    struct sg_explore_world world;
    uint64_t skipped, steps, history;
    struct sg_progress_line progress;
};

static bool is_uncut(const struct sg_explore_cut *cut)
{
    static const struct sg_explore_cut uncut = SG_EXPLORE_UNCUT;

    return memcmp(cut, &uncut, sizeof uncut) == 0;
}

/* Prints the smallest case, step by step, with the commands that repeat it and the whole seed. */
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
        fputs("the shortest case found:\n  ", stdout);
        sg_explore_print_replay(&least, stdout);
        putchar('\n');
    }
    sg_explore_draw(&least, &scenario);
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
        .user = options->user,
        .cut = options->cut,
    };
    struct sg_explore_scenario scenario;
    uint64_t history;

    if (!sg_explore_draw(&subject, &scenario)) {
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
    sg_progress_line_end(&exploring->progress);
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
        sg_progress_line_show(&exploring->progress, "stagger: exploring, %.0f%%",
                              100.0 * (double)i / (double)options->seeds);
        if (!explore_seed(exploring, options->first + i))
            return false;
    }
    sg_progress_line_end(&exploring->progress);
    missed = print_marks(exploring->world.marks, options);
    printf("%" PRIu64 " seeds, %" PRIu64 " without a scenario, %" PRIu64
           " steps, no violation; history %016" PRIx64 "\n",
           options->seeds, exploring->skipped, exploring->steps, exploring->history);
    if (missed == 0 || options->faults != SG_FAULTS_ALL || !is_uncut(&options->cut) ||
        options->user || options->seeds < (uint64_t)MARKS_SEEDS * options->algos_count)
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
    printf("; stagger %s, commit %s\n", SG_VERSION, sg_commit);
}

int sg_explore_command(int argc, char **argv)
{
    struct options options;
    struct exploring exploring = {.options = &options};
    bool well;

    read_options(argc, argv, &options);
    if (!sg_explore_world_create(&exploring.world)) {
        sg_log("sim: %s", sg_status_text(SG_ERR_MEMORY));
        return 1;
    }
    sg_progress_line_start(&exploring.progress, true);
    sg_explore_catch_crashes();
    print_head(&options);
    well = options.exhaustive ? explore_all(&exploring) : explore_seeds(&exploring);
    sg_explore_world_destroy(&exploring.world);
    return well ? 0 : 1;
}
