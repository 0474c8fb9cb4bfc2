#include "verify/schedule.h"

#include "verify/check.h"
#include "verify/posted_messages.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>

/* The effects of a handler's actions in an explorer's world: messages are in flight at once,
 * everything is checked, and, if requested, written to the trace. */

extern const struct sg_host_scheduler sg_explore_scheduler;

static uint64_t hash_header(const struct sg_header *header)
{
    uint64_t hash = (uint64_t)header->seq << 32 | header->bytes;

    hash ^= (uint64_t)header->kind << 24 ^ (uint64_t)header->parts << 16 ^ header->flags;
    for (int i = 0; i < 5; i++)
        hash = hash * UINT64_C(0x9e3779b97f4a7c15) + header->number[i];
    return hash;
}

/* Writes the ranks in a value to the trace. */
static void say_value(struct sg_explore_world *world, const char *what,
                      const struct sg_value *value)
{
    fprintf(world->trace, "%s#%u{", what, value->instance);
    for (uint64_t ranks = value->ranks; ranks != 0; ranks &= ranks - 1)
        fprintf(world->trace, "%d%s", __builtin_ctzll(ranks), ranks & (ranks - 1) ? "," : "");
    fputs("}", world->trace);
}

static void say_sent(struct sg_explore_world *world, const struct sg_flight *flight,
                     const struct sg_value *values)
{
    const struct sg_header *header = &flight->header;

    if (world->trace == NULL)
        return;
    if (flight->kind == SG_FLIGHT_ACCESS) {
        fprintf(world->trace, "        accesses %d: action %u, %u, value %llu, tag %u\n",
                flight->to, flight->asked, flight->access.remote,
                (unsigned long long)flight->access.value, flight->tag);
        return;
    }
    if (flight->multicast)
        fputs("        multicasts ", world->trace);
    else
        fprintf(world->trace, "        sends to %d ", flight->to);
    fprintf(world->trace, "kind %u seq %u (%u %u %u %u %u)", header->kind, header->seq,
            header->number[0], header->number[1], header->number[2], header->number[3],
            header->number[4]);
    for (uint32_t i = 0; i < header->parts; i++)
        say_value(world, " ", &values[i]);
    fputs(flight->solicited ? ", solicited\n" : "\n", world->trace);
}

/* ---- sending --------------------------------------------------------------------------------- */

static void launch_message(struct sg_explore_world *world,
                           const struct sg_explore_endpoint *endpoint, const struct sg_flight *sent,
                           const struct sg_value *values)
{
    const struct sg_header *header = &sent->header;
    struct sg_explore_flight *flight = sg_explore_launch(world, endpoint->comm, sent);

    if (flight == NULL)
        return;
    flight->values_count = header->parts;
    memcpy(flight->values, values, header->parts * sizeof *values);
    world->history = sg_hash_mix(world->history ^ hash_header(header) ^ (uint64_t)sent->to << 48);
    for (uint32_t i = 0; i < header->parts; i++)
        world->history = sg_hash_mix(world->history + values[i].hash);
    sg_explore_check_queue(world, endpoint, sent->to);
}

static void launch_access(struct sg_explore_world *world,
                          const struct sg_explore_endpoint *endpoint,
                          const struct sg_flight *access, const struct sg_value *written)
{
    struct sg_explore_flight *flight = sg_explore_launch(world, endpoint->comm, access);

    if (flight == NULL)
        return;
    flight->values[0] = written != NULL ? *written : (struct sg_value){0};
    flight->values_count = 1;
    world->history = sg_hash_mix(world->history ^ flight->values[0].hash ^ access->access.value ^
                                 (uint64_t)access->asked << 56);
}

static void launch(struct sg_host *host, const struct sg_host_endpoint *from,
                   const struct sg_flight *flight, const struct sg_value *values)
{
    struct sg_explore_world *world = host->world;
    struct sg_flight copy = *flight;

    say_sent(world, flight, values);
    if (flight->kind == SG_FLIGHT_ACCESS) {
        launch_access(world, from->owner, flight, values);
    } else if (!flight->multicast) {
        launch_message(world, from->owner, flight, values);
    } else {
        for (copy.to = 0; copy.to < from->size; copy.to++) {
            if (copy.to != from->rank)
                launch_message(world, from->owner, &copy, values);
        }
    }
}

/* ---- other actions --------------------------------------------------------------------------- */

static bool begin(struct sg_host *host, const struct sg_host_endpoint *of,
                  const struct sg_action *action)
{
    struct sg_explore_world *world = host->world;
    const struct sg_explore_endpoint *endpoint = of->owner;
    bool combine = action->kind == SG_ACTION_COPY || action->kind == SG_ACTION_REDUCE;

    if (world->violation[0] != '\0')
        return false;
    world->history = sg_hash_mix(world->history + action->kind);
    if (combine && action->data.into.kind == SG_DATA_RESULT &&
        !sg_explore_owns_result(world, endpoint, action->data.into.index))
        sg_explore_violate(world, endpoint,
                           "writes to the result of an instance that has none here, or is over");
    return world->violation[0] == '\0';
}

/* Checks that a REDUCE names the instance whose operation it needs. */
static const char *check_operation(const struct sg_explore_world *world,
                                   const struct sg_explore_endpoint *endpoint,
                                   const struct sg_action *action)
{
    uint32_t seq = (uint32_t)(action->data.seq - endpoint->first);
    struct sg_value value;

    sg_payload_load(&endpoint->payload, action->data.into, action->data.bytes, &value);
    if (sg_explore_instance_at(world, endpoint->comm, seq) + 1 != (int32_t)value.instance)
        return "combines values by another instance's operation";
    return sg_explore_check_user(world, endpoint, seq);
}

static const char *combine(struct sg_host *host, const struct sg_host_endpoint *of,
                           const struct sg_action *action)
{
    static const char *const kinds[] = {"nothing", "operand", "result", "slot", "part"};
    struct sg_explore_world *world = host->world;
    const struct sg_explore_endpoint *endpoint = of->owner;
    const char *wrong = NULL;

    if (action->kind == SG_ACTION_REDUCE)
        wrong = check_operation(world, endpoint, action);
    if (world->trace && wrong == NULL) {
        struct sg_value value;

        sg_payload_load(&endpoint->payload, action->data.into, action->data.bytes, &value);
        fprintf(world->trace, "        %s %s %u now",
                action->kind == SG_ACTION_COPY ? "copies:" : "reduces:",
                kinds[action->data.into.kind], action->data.into.index);
        say_value(world, " ", &value);
        fputc('\n', world->trace);
    }
    return wrong;
}

static void complete(struct sg_host *host, const struct sg_host_endpoint *of)
{
    struct sg_explore_world *world = host->world;
    struct sg_explore_endpoint *endpoint = of->owner;

    sg_explore_say(world, "        completes");
    sg_explore_check_complete(world, endpoint);
    endpoint->completes++;
    endpoint->payload.operand = NULL;
    sg_explore_process_of(world, endpoint)->state = SG_PROCESS_COMPUTING;
}

static void finish(struct sg_host *host, const struct sg_host_endpoint *endpoint, uint32_t seq)
{
    struct sg_explore_world *world = host->world;

    sg_explore_say(world, "        finishes #%u", seq);
    sg_explore_check_finish(world, endpoint->owner, seq);
}

/* Timers and watches have no callbacks: steps.c chooses when they fire. */
const struct sg_host_scheduler sg_explore_scheduler = {
    .begin = begin,
    .launch = launch,
    .combine = combine,
    .complete = complete,
    .finish = finish,
    .fill = sg_explore_fill,
    .drain = sg_explore_drain_post,
    .deliver = sg_explore_deliver,
};

static void note(struct sg_explore_world *world, uint64_t what)
{
    world->history = sg_hash_mix(world->history ^ what);
}

/* Moves a state in memory: it contains no pointer and must work wherever it is mapped. */
static void relocate(struct sg_explore_endpoint *endpoint)
{
    unsigned char *from = endpoint->host.state;

    memcpy(endpoint->spare, from, endpoint->needs.state_bytes);
    memset(from, SG_EXPLORE_GUARD, endpoint->needs.state_bytes);
    endpoint->host.state = endpoint->spare;
    endpoint->spare = from;
}

/* A protocol's crash is a violation like others. The signal handlers serve the explorer's only
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

/* Feeds posts that now have capacity, or have just been made. */
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

/* Makes all posts in one step, if posts are not steps of their own. */
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

/* ---- flights --------------------------------------------------------------------------------- */

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
