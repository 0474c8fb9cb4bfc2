/* Feeds the simulator the events of live runs, in their order at every endpoint, and compares the
 * decisions of the protocols:
 *
 *     replay FILE...     those of a build with SG_INTERNODE_DECISIONS=1
 *
 * The files of a communicator are one world for each of its protocols. An endpoint's next event
 * must be possible there, and must cause the very actions that it caused in the live run. The
 * explorer's checks hold meanwhile, and at the end all is over. Prints a line a world and exits
 * with 1 if one differs.
 *
 * The files do not say when an access took effect, but they record what it found and what watches
 * saw. Here it takes effect once it finds the same, and before anything that was not seen yet. As
 * the live run had such an order, one is always left.
 */
#include "algos/algo.h"
#include "algos/handoff/handoff.h"
#include "verify/check.h"
#include "verify/schedule.h"
#include "verify/steps.h"

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
    return decision->communicator == first->communicator && decision->protocol == first->protocol;
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
    return flight->base.kind == SG_FLIGHT_MESSAGE && flight->base.from == message->from &&
           flight->base.multicast == message->multicast &&
           memcmp(&flight->base.header, &message->header, sizeof message->header) == 0;
}

static bool same_reply(const struct sg_explore_flight *flight, const struct sg_decision *decision)
{
    return flight->base.kind == SG_FLIGHT_REPLY && flight->base.tag == decision->tag;
}

static bool same_flight(const struct sg_explore_flight *flight, const struct sg_decision *decision)
{
    if (flight->base.to != decision->rank)
        return false;
    return decision->kind == SG_EVENT_MESSAGE
               ? same_message(flight, &decision->message)
               : decision->kind == SG_EVENT_REPLY && same_reply(flight, decision);
}

/* The watch's cell holds what it held. */
static bool same_notice(const struct sg_explore_world *world, const struct sg_explore_step *step,
                        const struct sg_decision *decision)
{
    const struct sg_explore_endpoint *endpoint = &world->endpoints[step->index];

    return decision->kind == SG_EVENT_TIMER && step->index == decision->rank &&
           step->id == decision->timer &&
           endpoint->cells[endpoint->watches[step->id].cell] == decision->values[0];
}

/* The step of the world that the decision was, if it is possible now. */
static bool find(struct replay *replay, const struct sg_decision *decision,
                 struct sg_explore_step *step)
{
    const struct sg_explore_world *world = &replay->world;
    uint32_t count = sg_explore_steps(world, &view, replay->steps);

    if (decision->kind == SG_EVENT_TIMER)
        count += sg_explore_timers(world, &view, replay->steps + count);

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
            found = decision->kind == SG_EVENT_TIMER && step->index == decision->rank &&
                    step->id == decision->timer;
            break;
        case SG_STEP_NOTICE:
            found = same_notice(world, step, decision);
            break;
        case SG_STEP_ARRIVE:
            found = same_flight(&world->flights[world->live[step->index]], decision);
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
    if (world->host.actions.count != decision->count ||
        sg_decision_hash(&world->host.actions) != decision->hash)
        sg_explore_violate(world, sg_explore_endpoint_of(world, 0, rank),
                           "decides otherwise in its event %u, of kind %u: %u actions, not %u",
                           replay->at[rank], decision->kind, world->host.actions.count,
                           decision->count);
    replay->at[rank]++;
    return true;
}

/* ---- accesses ---- */

/* The next of a rank's decisions of that kind and tag (of a REPLY) or timer, but for so many; NULL:
 * none. */
static const struct sg_decision *next_of(const struct replay *replay, int32_t rank, uint32_t kind,
                                         uint32_t number, uint32_t skip)
{
    for (uint32_t i = replay->at[rank]; i < replay->counts[rank]; i++) {
        const struct sg_decision *decision = replay->list[rank][i];

        if (decision->kind == kind &&
            (kind == SG_EVENT_REPLY ? decision->tag : decision->timer) == number && skip-- == 0)
            return decision;
    }
    return NULL;
}

/* The replies with that tag that are on their way to a rank. */
static uint32_t replies_to(const struct sg_explore_world *world, int32_t rank, uint32_t tag)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < world->live_count; i++) {
        const struct sg_explore_flight *flight = &world->flights[world->live[i]];

        count += flight->base.kind == SG_FLIGHT_REPLY && flight->base.to == rank &&
                 flight->base.tag == tag;
    }
    return count;
}

/* True if, under handoff, an endpoint has yet to read the cell before this value is written. */
static bool is_to_be_read(const struct replay *replay, uint32_t cell, uint64_t value)
{
    uint32_t credits = replay->scenario.parameters.credits;

    if (replay->scenario.algo != &sg_algo_handoff || cell < 2 * credits)
        return false;
    cell -= 2 * credits;
    for (int32_t rank = 0; rank < replay->scenario.nodes; rank++) {
        uint32_t first = cell / SG_HANDOFF_CELLS_PER_READ * SG_HANDOFF_CELLS_PER_READ;
        uint32_t tag = first << SG_HANDOFF_TAG_BITS | SG_HANDOFF_CELLS;
        const struct sg_decision *decision =
            next_of(replay, rank, SG_EVENT_REPLY, tag, replies_to(&replay->world, rank, tag));

        if (decision != NULL && decision->values[cell - first] < value)
            return true;
    }
    return false;
}

/* True if, under srm, the rank has yet to notice the cell as it is now. A watch of srm has its
 * cell's number. */
static bool is_to_be_noticed(const struct replay *replay, int32_t rank, uint32_t cell)
{
    if (replay->scenario.algo != &sg_algo_srm)
        return false;
    const struct sg_decision *decision = next_of(replay, rank, SG_EVENT_TIMER, cell, 0);
    return decision != NULL && replay->world.endpoints[rank].cells[cell] == decision->values[0];
}

/* True if the access finds now what it found in the live run. */
static bool may_take_effect(const struct replay *replay, const struct sg_explore_flight *flight)
{
    const uint64_t *cells = replay->world.endpoints[flight->base.to].cells;
    const struct sg_decision *decision;

    switch (flight->base.asked) {
    case SG_ACTION_FETCH_ADD:
    case SG_ACTION_READ_CELLS:
        decision = next_of(replay, flight->base.from, SG_EVENT_REPLY, flight->base.tag, 0);
        return decision == NULL ||
               memcmp(decision->values, &cells[flight->base.access.remote],
                      (flight->base.asked == SG_ACTION_FETCH_ADD ? 1 : flight->base.access.count) *
                          sizeof *cells) == 0;
    case SG_ACTION_WRITE_CELL:
        return !is_to_be_noticed(replay, flight->base.to, flight->base.access.remote) &&
               !is_to_be_read(replay, flight->base.access.remote, flight->base.access.value);
    default:
        return true;
    }
}

/* One access takes effect. False: none may. */
static bool take_access(struct replay *replay)
{
    struct sg_explore_world *world = &replay->world;
    uint32_t count = sg_explore_steps(world, &view, replay->steps);

    for (uint32_t i = 0; i < count; i++) {
        struct sg_explore_step step = replay->steps[i];
        const struct sg_explore_flight *flight = &world->flights[world->live[step.index]];

        if (step.kind != SG_STEP_ARRIVE || flight->base.kind != SG_FLIGHT_ACCESS ||
            !may_take_effect(replay, flight))
            continue;
        sg_explore_take(world, &step);
        return true;
    }
    return false;
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

/* A multicast, or an answer, may reach an endpoint that no longer looks. */
static void lose_what_is_late(struct sg_explore_world *world)
{
    for (uint32_t i = world->live_count; i-- > 0;) {
        struct sg_explore_flight *flight = &world->flights[world->live[i]];

        if (flight->base.kind == SG_FLIGHT_REPLY)
            flight->repeated = true; /* it is in no queue of messages */
        if (flight->base.kind == SG_FLIGHT_REPLY || flight->base.asked == SG_ACTION_MULTICAST)
            sg_explore_lose(world, i);
    }
}

/* Drains every endpoint: live runs do not record the drain of a protocol that has nothing to do
 * then. */
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
        if (!moved && world->violation[0] == '\0')
            moved = take_access(replay);
    }
    name_what_is_left(replay);
    if (replay->scenario.algo->on_drain == NULL)
        drain(replay);
    lose_what_is_late(world);
    sg_explore_check_end(world);
    if (world->violation[0] == '\0' && !sg_explore_over(world))
        sg_explore_violate(world, NULL, "something is left that did not come in the live run");
    return world->violation[0] == '\0';
}

static bool replay_world(const struct sg_decision *first)
{
    struct replay *replay = calloc(1, sizeof *replay);
    uint32_t events = 0;

    if (replay == NULL)
        fail("no memory");
    gather(replay, first);
    bool same = run(replay);
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
