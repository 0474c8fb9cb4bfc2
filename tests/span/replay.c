/* Gives the simulator the events of live runs, in their order at every endpoint, and compares what
 * the protocols decide:
 *
 *     replay FILE...     those of a build with SG_SPAN_DECISIONS=1
 *
 * The files of a communicator are one world for each of its protocol objects. What an endpoint does
 * next must be possible there, and must cause the very actions that it caused in the live run; the
 * explorer's checks hold meanwhile, and at the end all is over. Prints a line a world and exits
 * with 1 where one differs.
 */
#include "algos/decision.h"
#include "sim/explore_check.h"
#include "sim/explore_step.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECISIONS_MAX 200000

static struct sg_decision *decisions; /* of all files, each file's in its order */
static uint32_t decisions_count;
static const struct sg_explore_view view = {.reorder = true, .always = true};

struct replay {
    struct sg_explore_world world;
    struct sg_explore_scenario scenario;
    const struct sg_decision *list[SG_EXPLORE_NODES_MAX][2000]; /* by endpoint */
    uint32_t counts[SG_EXPLORE_NODES_MAX], at[SG_EXPLORE_NODES_MAX];
    struct sg_explore_step steps[SG_EXPLORE_STEPS_MAX];
};

static void fail(const char *what)
{
    fprintf(stderr, "replay: %s\n", what);
    exit(1);
}

static void load(const char *path)
{
    FILE *file = fopen(path, "rb");

    if (file == NULL)
        fail(path);
    while (fread(&decisions[decisions_count], sizeof *decisions, 1, file) == 1) {
        if (++decisions_count == DECISIONS_MAX)
            fail("too many decisions");
    }
    fclose(file);
}

static bool is_of_world(const struct sg_decision *decision, const struct sg_decision *first)
{
    return decision->communicator == first->communicator && decision->object == first->object;
}

/* The scenario that the decisions of a world tell of. */
static void gather(struct replay *replay, const struct sg_decision *first)
{
    struct sg_explore_scenario *scenario = &replay->scenario;

    if (first->size > SG_EXPLORE_NODES_MAX)
        fail("too many endpoints");
    scenario->algo = sg_algos[first->algo];
    scenario->nodes = first->size;
    scenario->comms = 1;
    scenario->relocate = true;
    scenario->parameters = first->parameters;
    scenario->comm[0].size = first->size;
    for (int32_t rank = 0; rank < first->size; rank++)
        scenario->comm[0].process[rank] = rank;
    for (uint32_t i = 0; i < decisions_count; i++) {
        const struct sg_decision *decision = &decisions[i];
        int32_t rank = decision->rank;

        if (!is_of_world(decision, first))
            continue;
        if (replay->counts[rank] == 2000)
            fail("too many decisions at one endpoint");
        replay->list[rank][replay->counts[rank]++] = decision;
        if (rank != 0 || decision->kind != SG_EVENT_CALL)
            continue;
        if (scenario->instances == SG_EXPLORE_INSTANCES_MAX)
            fail("too many instances");
        scenario->instance[scenario->instances++].call = decision->call;
    }
}

static bool same_message(const struct sg_explore_flight *flight, const struct sg_message *message)
{
    return flight->kind == SG_FLIGHT_MESSAGE && flight->from == message->from &&
           (flight->access == SG_ACTION_MULTICAST) == message->multicast &&
           memcmp(&flight->header, &message->header, sizeof flight->header) == 0;
}

/* The step of the world that the decision was, if it is possible now. */
static bool find(struct replay *replay, const struct sg_decision *decision,
                 struct sg_explore_step *step)
{
    const struct sg_explore_world *world = &replay->world;
    uint32_t count = decision->kind == SG_EVENT_TIMER
                         ? sg_explore_timers(world, &view, replay->steps)
                         : sg_explore_steps(world, &view, replay->steps);

    for (uint32_t i = 0; i < count; i++) {
        bool found = false;

        *step = replay->steps[i];
        switch ((enum sg_explore_step_kind)step->kind) {
        case SG_STEP_CALL:
            found = decision->kind == SG_EVENT_CALL && step->index == decision->rank;
            break;
        case SG_STEP_DRAIN:
            found = decision->kind == SG_DECISION_DRAIN && step->index == decision->rank;
            break;
        case SG_STEP_FIRE:
            found = step->index == decision->rank && step->id == decision->timer;
            break;
        case SG_STEP_ARRIVE:
            found = decision->kind == SG_EVENT_MESSAGE &&
                    world->flights[world->live[step->index]].to == decision->rank &&
                    same_message(&world->flights[world->live[step->index]], &decision->message);
            break;
        default:
            break;
        }
        if (found)
            return true;
    }
    return false;
}

/* One event of an endpoint. False: it is not possible yet. */
static bool advance(struct replay *replay, int32_t rank)
{
    const struct sg_decision *decision = replay->list[rank][replay->at[rank]];
    struct sg_explore_world *world = &replay->world;
    struct sg_explore_step step;

    if (!find(replay, decision, &step))
        return false;
    sg_explore_take(world, &step);
    if (world->violation[0] != '\0')
        return true;
    if (world->actions.count != decision->count ||
        sg_decision_hash(&world->actions) != decision->hash)
        sg_explore_violate(world, sg_explore_endpoint_of(world, 0, rank),
                           "decides otherwise in its event %u, of kind %u: %u actions, not %u",
                           replay->at[rank], decision->kind, world->actions.count, decision->count);
    replay->at[rank]++;
    return true;
}

static void name_what_is_left(struct replay *replay)
{
    for (int32_t rank = 0; rank < replay->scenario.nodes; rank++) {
        if (replay->at[rank] < replay->counts[rank])
            sg_explore_violate(&replay->world, sg_explore_endpoint_of(&replay->world, 0, rank),
                               "cannot come to its event %u of %u, of kind %u", replay->at[rank],
                               replay->counts[rank], replay->list[rank][replay->at[rank]]->kind);
    }
}

/* A multicast may reach an endpoint that no longer looks. */
static void lose_multicasts(struct sg_explore_world *world)
{
    for (uint32_t i = world->live_count; i-- > 0;) {
        if (world->flights[world->live[i]].access == SG_ACTION_MULTICAST)
            sg_explore_lose(world, i);
    }
}

/* Of a protocol that has nothing to do then, live runs do not tell. */
static void drain(struct replay *replay)
{
    for (int32_t rank = 0; rank < replay->scenario.nodes; rank++)
        sg_explore_drain(&replay->world, rank);
}

static bool run(struct replay *replay)
{
    struct sg_explore_world *world = &replay->world;
    bool moved = true;

    if (!sg_explore_world_create(world) || !sg_explore_world_open(world, &replay->scenario))
        fail("no world");
    while (moved && world->violation[0] == '\0') {
        moved = false;
        for (int32_t rank = 0; rank < replay->scenario.nodes; rank++) {
            while (replay->at[rank] < replay->counts[rank] && world->violation[0] == '\0' &&
                   advance(replay, rank))
                moved = true;
        }
    }
    name_what_is_left(replay);
    if (replay->scenario.algo->on_drain == NULL)
        drain(replay);
    lose_multicasts(world);
    sg_explore_check_end(world);
    if (world->violation[0] == '\0' && !sg_explore_over(world))
        sg_explore_violate(world, NULL, "something is left that did not come in the live run");
    return world->violation[0] == '\0';
}

static bool replay_world(const struct sg_decision *first)
{
    struct replay *replay = calloc(1, sizeof *replay);
    uint32_t events = 0;
    bool same;

    if (replay == NULL)
        fail("no memory");
    gather(replay, first);
    same = run(replay);
    for (int32_t rank = 0; rank < replay->scenario.nodes; rank++)
        events += replay->at[rank];
    printf("%s among %d: %d instances, %u events %s\n", replay->scenario.algo->name,
           replay->scenario.nodes, replay->scenario.instances, events,
           same ? "as in the simulator" : "differ");
    if (!same)
        printf("  %s\n", replay->world.violation);
    sg_explore_world_destroy(&replay->world);
    free(replay);
    return same;
}

int main(int argc, char **argv)
{
    bool same = true;

    decisions = calloc(DECISIONS_MAX, sizeof *decisions);
    if (decisions == NULL)
        fail("no memory");
    for (int i = 1; i < argc; i++)
        load(argv[i]);
    for (uint32_t i = 0; i < decisions_count; i++) {
        uint32_t first = 0;

        while (!is_of_world(&decisions[first], &decisions[i]))
            first++;
        if (first == i)
            same = replay_world(&decisions[i]) && same;
    }
    free(decisions);
    return !same || decisions_count == 0;
}
