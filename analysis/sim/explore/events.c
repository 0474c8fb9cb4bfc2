#include "sim/explore/events.h"

#include "sim/explore/actions.h"
#include "sim/explore/check.h"
#include "sim/explore/posts.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>

static void note(struct sg_explore_world *world, uint64_t what)
{
    world->history = sg_hash_mix(world->history ^ what);
}

/* A state contains no pointer, so that it works wherever it is mapped. */
static void relocate(struct sg_explore_endpoint *endpoint)
{
    unsigned char *from = endpoint->host.state;

    memcpy(endpoint->spare, from, endpoint->needs.state_bytes);
    memset(from, SG_EXPLORE_GUARD, endpoint->needs.state_bytes);
    endpoint->host.state = endpoint->spare;
    endpoint->spare = from;
}

/* A crash of a protocol is a violation like others. Signals are handled for the explorer's one
 * thread. */
static sigjmp_buf crashed;
static volatile sig_atomic_t in_protocol;

static void on_crash(int number)
{
    if (in_protocol)
        siglongjmp(crashed, number);
    signal(number, SIG_DFL);
    raise(number);
}

void sg_explore_catch_crashes(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT};
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_NODEFER};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
}

static void run_handler(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint,
                        sg_host_handler handle, const struct sg_event *event)
{
    int number = sigsetjmp(crashed, 0);

    if (number == 0) {
        in_protocol = 1;
        sg_host_feed(&world->host, &endpoint->host, handle, event);
        in_protocol = 0;
        return;
    }
    in_protocol = 0;
    world->host.actions.count = 0;
    sg_explore_violate(world, endpoint, "crashes: %s", strsignal(number));
}

static void feed_one(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint,
                     sg_host_handler handle, struct sg_event *event)
{
    const char *wrong = NULL;

    if (handle == NULL) {
        sg_explore_violate(world, endpoint, "has no handler for an event of kind %d", event->kind);
        return;
    }
    event->time_ns = world->now_ns + endpoint->ahead_ns;
    note(world, (uint64_t)(endpoint - world->endpoints) << 8 | event->kind);
    run_handler(world, endpoint, handle, event);
    sg_explore_count_exchange(endpoint, world->host.actions.marks);
    world->host.scheduler = &sg_explore_scheduler;
    if (sg_explore_check_actions(world, endpoint))
        wrong = sg_host_carry_out(&world->host, &endpoint->host);
    if (wrong != NULL)
        sg_explore_violate(world, endpoint, "%s", wrong);
    sg_explore_check_endpoint(world, endpoint);
    if (endpoint->spare)
        relocate(endpoint);
    endpoint->changed = true;
}

/* Posts that have room now, or have just been made. */
static void feed_posts(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint)
{
    int32_t index;

    while (world->violation[0] == '\0' && (index = sg_explore_take_post(world, endpoint)) >= 0) {
        struct sg_event event = {.kind = SG_EVENT_POST, .post = world->scenario->post[index].post};

        feed_one(world, endpoint, world->scenario->algo->on_call, &event);
    }
}

static void feed(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint,
                 sg_host_handler handle, struct sg_event *event)
{
    feed_one(world, endpoint, handle, event);
    feed_posts(world, endpoint);
}

/* ---- processes ------------------------------------------------------------------------------- */

void sg_explore_post(struct sg_explore_world *world, int32_t process)
{
    int32_t index = sg_explore_next_post(world, process);
    const struct sg_explore_post *post = &world->scenario->post[index];

    sg_explore_make_post(world, index);
    feed_posts(world, sg_explore_endpoint_of(world, post->comm, post->rank));
}

/* In one step, where posts are none by themselves. */
static void post_all(struct sg_explore_world *world, int32_t process)
{
    while (world->violation[0] == '\0' && sg_explore_next_post(world, process) >= 0)
        sg_explore_post(world, process);
}

void sg_explore_call(struct sg_explore_world *world, int32_t index)
{
    struct sg_explore_process *process = &world->processes[index];
    const struct sg_explore_instance *instance = &world->scenario->instance[process->next];
    struct sg_explore_endpoint *endpoint =
        sg_explore_endpoint_of(world, instance->comm, world->rank[instance->comm][index]);
    struct sg_event event = {.kind = SG_EVENT_CALL, .call = instance->call};

    post_all(world, index);
    sg_explore_say(world, "%4u  p%d calls %s #%u of c%d (root %d, %u bytes, flags %u, site %u)",
                   world->step, index, sg_operation_names[instance->call.operation],
                   endpoint->calls + 1, instance->comm, instance->call.root, instance->call.bytes,
                   instance->call.flags, instance->call.site);
    endpoint->calls++;
    sg_explore_claim_result(endpoint, endpoint->calls);
    if (instance->call.bytes > 0 &&
        (instance->call.operation != SG_OPERATION_BCAST || instance->call.root == endpoint->rank)) {
        endpoint->operand = sg_value_contribution((uint32_t)process->next + 1, endpoint->rank,
                                                  instance->call.bytes, instance->call.flags);
        endpoint->payload.operand = &endpoint->operand;
    }
    process->comm = instance->comm;
    process->state = SG_PROCESS_IN_CALL;
    process->next++;
    feed(world, endpoint, world->scenario->algo->on_call, &event);
}

void sg_explore_drain(struct sg_explore_world *world, int32_t index)
{
    struct sg_event event = {.kind = SG_EVENT_TIMER};

    post_all(world, index);
    sg_explore_say(world, "%4u  p%d has made all its calls and drains", world->step, index);
    world->processes[index].state = SG_PROCESS_DRAINING;
    for (int32_t comm = 0; comm < world->scenario->comms; comm++) {
        struct sg_explore_endpoint *endpoint;

        if (world->rank[comm][index] < 0)
            continue;
        endpoint = sg_explore_endpoint_of(world, comm, world->rank[comm][index]);
        if (sg_explore_head(endpoint)->outstanding > 0)
            world->marks[SG_HOST_DRAIN_OUTSTANDING]++;
        if (world->scenario->algo->on_drain)
            feed(world, endpoint, world->scenario->algo->on_drain, &event);
    }
}

/* ---- what is in flight ----------------------------------------------------------------------- */

static void forget(struct sg_explore_world *world, uint32_t live)
{
    uint16_t unused = world->live[live];

    world->live_count--;
    memmove(&world->live[live], &world->live[live + 1],
            (world->live_count - live) * sizeof *world->live);
    world->live[world->live_count] = unused;
}

static uint16_t *queue_of(struct sg_explore_world *world, const struct sg_explore_flight *flight)
{
    int32_t nodes = world->scenario->nodes;

    return &world->in_flight[(flight->comm * nodes + flight->base.from) * nodes + flight->base.to];
}

static void mark_message(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint,
                         const struct sg_explore_flight *flight)
{
    const struct sg_explore_process *process = sg_explore_process_of(world, endpoint);

    if (flight->base.solicited && process->state == SG_PROCESS_COMPUTING)
        world->marks[SG_HOST_SIGNAL]++;
    if (flight->base.solicited && process->state == SG_PROCESS_IN_CALL)
        world->marks[SG_HOST_SIGNAL_IN_PROGRESS]++;
    if (sg_count_told(sg_explore_head(endpoint)->seq, flight->base.header.seq) >
        sg_explore_head(endpoint)->seq)
        world->marks[SG_HOST_CROSSED_CALL]++;
    if (flight->repeated)
        world->marks[SG_HOST_REPEATED]++;
}

static void take_message(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint,
                         const struct sg_explore_flight *flight)
{
    const struct sg_flight *base = &flight->base;
    struct sg_event event = sg_host_event(base);
    struct sg_payload *payload = &endpoint->payload;

    mark_message(world, endpoint, flight);
    sg_explore_say(world, "%4u  endpoint %d of c%d takes %s kind %u seq %u from %d%s", world->step,
                   base->to, flight->comm, base->multicast ? "multicast" : "message",
                   base->header.kind, base->header.seq, base->from,
                   flight->repeated ? ", again" : "");
    payload->parts = flight->values;
    payload->parts_count = flight->values_count;
    feed(world, endpoint, world->scenario->algo->on_message, &event);
    payload->parts = NULL;
    payload->parts_count = 0;
}

/* An access takes effect; false: it has no reply. */
static bool take_access(struct sg_explore_world *world, struct sg_explore_endpoint *target,
                        struct sg_explore_flight *flight)
{
    struct sg_flight *base = &flight->base;
    int32_t initiator = base->from;
    const char *wrong = NULL;

    sg_explore_say(world, "%4u  access %u of endpoint %d takes effect at %d of c%d, %u",
                   world->step, base->asked, initiator, base->to, flight->comm,
                   base->access.remote);
    note(world, (uint64_t)base->to << 40 | (uint64_t)base->asked << 32 | base->access.remote);
    if (base->asked == SG_ACTION_WRITE_RESULT)
        wrong = sg_explore_check_put(world, target, base->access.remote);
    if (wrong == NULL)
        wrong = sg_host_access(&world->host, &target->host, base, &flight->values[0]);
    if (wrong)
        sg_explore_violate(world, target, "%s (by endpoint %d)", wrong, initiator);
    target->changed = true;
    return base->kind == SG_FLIGHT_REPLY;
}

static void take_reply(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint,
                       const struct sg_explore_flight *flight)
{
    const struct sg_flight *base = &flight->base;
    struct sg_event event = sg_host_event(base);
    const char *wrong = NULL;

    sg_explore_say(world, "%4u  endpoint %d of c%d has the answer to access %u, tag %u: %llu",
                   world->step, base->to, flight->comm, base->asked, base->tag,
                   (unsigned long long)base->cells[0]);
    if (base->asked == SG_ACTION_READ)
        wrong = sg_payload_store(&endpoint->payload, base->into, &flight->values[0]);
    if (wrong)
        sg_explore_violate(world, endpoint, "%s", wrong);
    feed(world, endpoint, world->scenario->algo->on_reply, &event);
}

void sg_explore_arrive(struct sg_explore_world *world, uint32_t live, bool keep)
{
    struct sg_explore_flight *flight = &world->flights[world->live[live]];
    struct sg_explore_endpoint *endpoint =
        sg_explore_endpoint_of(world, flight->comm, flight->base.to);

    switch (flight->base.kind) {
    case SG_FLIGHT_ACCESS:
        keep = take_access(world, endpoint, flight);
        break;
    case SG_FLIGHT_REPLY:
        take_reply(world, endpoint, flight);
        break;
    default:
        if (!flight->repeated)
            --*queue_of(world, flight);
        take_message(world, endpoint, flight);
        flight->repeated = true;
    }
    if (!keep)
        forget(world, live);
}

void sg_explore_lose(struct sg_explore_world *world, uint32_t live)
{
    struct sg_explore_flight *flight = &world->flights[world->live[live]];

    if (!flight->repeated) {
        --*queue_of(world, flight);
        world->marks[SG_HOST_LOST]++;
    }
    sg_explore_say(world, "%4u  multicast kind %u seq %u of %d to %d of c%d is lost", world->step,
                   flight->base.header.kind, flight->base.header.seq, flight->base.from,
                   flight->base.to, flight->comm);
    note(world, (uint64_t)flight->base.to << 32 | flight->base.header.seq);
    forget(world, live);
}

/* ---- timers and watches ---------------------------------------------------------------------- */

void sg_explore_fire(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint,
                     uint32_t id)
{
    struct sg_event event = {.kind = SG_EVENT_TIMER, .timer = {.id = id}};
    uint64_t at_ns = endpoint->timer_ns[id];

    if (world->now_ns + endpoint->ahead_ns < at_ns)
        endpoint->ahead_ns = at_ns - world->now_ns;
    endpoint->timer_ns[id] = SG_TIMER_UNSET;
    endpoint->fired++;
    sg_explore_say(world, "%4u  timer %u of endpoint %d of c%d fires", world->step, id,
                   endpoint->rank, endpoint->comm);
    feed(world, endpoint, world->scenario->algo->on_timer, &event);
}

void sg_explore_notice(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint,
                       uint32_t id)
{
    struct sg_event event = {.kind = SG_EVENT_TIMER, .timer = {.id = id}};

    event.timer.value = endpoint->cells[endpoint->watches[id].cell];
    endpoint->watches[id].set = false;
    sg_explore_say(world, "%4u  endpoint %d of c%d sees cell %u change", world->step,
                   endpoint->rank, endpoint->comm, endpoint->watches[id].cell);
    feed(world, endpoint, world->scenario->algo->on_timer, &event);
}
