#include "sim/explore_exhaustive.h"

#include "core/status.h"
#include "sim/explore_cases.h"
#include "sim/explore_reduced.h"
#include "sim/explore_unreduced.h"

#include <inttypes.h>
#include <string.h>

/* The faults of which there may be one. */
#define WALKED (1u << SG_FAULT_LOSS | 1u << SG_FAULT_REPEAT | 1u << SG_FAULT_TIMERS)

/* One of the two walks. */
struct walks {
    struct sg_explore_world *world;
    struct sg_reduced *reduced;
    struct sg_unreduced *unreduced;
    FILE *out;
};

static void report(const struct walks *walks, const char *name)
{
    struct sg_explore_world *world = walks->world;
    char violation[SG_EXPLORE_VIOLATION_BYTES];

    memcpy(violation, world->violation, sizeof violation);
    fprintf(walks->out, "violation: %s\n", violation);
    sg_explore_describe(world->scenario, walks->out);
    if (walks->reduced)
        sg_reduced_show(walks->reduced, walks->out);
    else
        sg_unreduced_show(walks->unreduced, walks->out);
    fprintf(walks->out, "      %s (case \"%s\")\n", violation, name);
}

static bool walk_case(const struct walks *walks, const struct sg_explore_scenario *scenario,
                      const char *name, uint32_t faults)
{
    char text[SG_EXPLORE_FAULTS_BYTES];
    struct sg_explore_world *world = walks->world;
    struct sg_explore_counts counts;
    bool enough;

    if (!sg_explore_world_open(world, scenario))
        return scenario->algo->needs == NULL;
    enough = walks->reduced ? sg_reduced_walk(walks->reduced, faults, &counts)
                            : sg_unreduced_walk(walks->unreduced, faults, &counts);
    if (!enough)
        sg_log("sim: %s", sg_status_text(SG_ERR_MEMORY));
    fprintf(walks->out,
            "%-14s %-10s %d nodes  %-18s %-18s %10" PRIu64 " states %11" PRIu64 " steps %6" PRIu64
            " ends %016" PRIx64 "\n",
            scenario->algo->name, sg_operation_names[scenario->instance[0].call.operation],
            scenario->nodes, name, sg_explore_faults_text(faults, ',', text), counts.states,
            counts.steps, counts.ends, counts.ends_sum);
    fflush(walks->out);
    if (world->violation[0] == '\0')
        return enough;
    report(walks, name);
    return false;
}

bool sg_explore_exhaustive(struct sg_explore_world *world, const struct sg_algo *algo,
                           int32_t nodes, uint32_t faults, bool unreduced, FILE *out)
{
    struct walks walks = {
        .world = world,
        .reduced = unreduced ? NULL : sg_reduced_create(world),
        .unreduced = unreduced ? sg_unreduced_create(world) : NULL,
        .out = out,
    };
    struct sg_explore_scenario scenario;
    const char *name;
    bool well = walks.reduced || walks.unreduced;

    if (!well)
        sg_log("sim: %s", sg_status_text(SG_ERR_MEMORY));
    for (uint32_t i = 0; well; i++) {
        uint32_t walked = faults & WALKED;

        if (!sg_explore_case(algo, nodes, i, &scenario, &name, &walked))
            break;
        well = walk_case(&walks, &scenario, name, walked);
    }
    sg_reduced_destroy(walks.reduced);
    sg_unreduced_destroy(walks.unreduced);
    return well;
}
