#include "sim/explore.h"

#include "core/clock.h"
#include "core/status.h"
#include "sim/explore_exhaustive.h"
#include "sim/explore_options.h"
#include "sim/explore_run.h"
#include "sim/explore_shrink.h"
#include "sim/output.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* One seed in so many runs twice: its history must be the same. */
#define TWICE_ONE_IN 16
/* From so many seeds a protocol up, every rare state must have been reached. */
#define MARKS_SEEDS 1000
#define PROGRESS_NS UINT64_C(200000000)

struct exploring {
    const struct sg_explore_options *options;
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
    const struct sg_explore_options *options = exploring->options;
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
    const struct sg_explore_options *options = exploring->options;
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
    const struct sg_explore_options *options = exploring->options;

    for (uint32_t i = 0; i < options->algos_count; i++) {
        for (int32_t nodes = options->nodes_low; nodes <= options->nodes_high; nodes++) {
            if (!sg_explore_exhaustive(&exploring->world, options->algos[i], nodes, options->faults,
                                       options->unreduced, stdout))
                return false;
        }
    }
    return true;
}

static void print_head(const struct sg_explore_options *options)
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
    struct sg_explore_options options;
    struct exploring exploring = {.options = &options};
    bool well;

    if (!sg_explore_options_read(argc, argv, &options))
        return 2;
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
    if (fflush(stdout) != 0 || ferror(stdout)) {
        sg_log("sim: cannot write it: %m");
        return 1;
    }
    return well ? 0 : 1;
}
