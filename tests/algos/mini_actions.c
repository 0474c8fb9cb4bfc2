/* The mini host's actions (mini_host.h). A WRITE reads its source when it takes effect, as an
 * adapter may: a protocol that reuses the source too early shows a wrong result. */
#include "algos/mini_state.h"
#include "core/hash.h"
#include "lib/unit.h"

uint64_t mini_operand(int rank, uint32_t seq, int element)
{
    return sg_hash_mix(((uint64_t)seq << 32 | (uint32_t)rank << 4 | (uint32_t)element) + 1);
}

uint64_t mini_fold(uint32_t flags, uint64_t left, uint64_t right)
{
    if (flags & SG_CALL_EXACT)
        return left + right;
    if (flags & SG_CALL_COMMUTATIVE)
        return sg_hash_mix(left + right);
    return sg_hash_mix(3 * left + sg_hash_mix(right));
}

static void poison(mini_value value)
{
    for (int i = 0; i < MINI_ELEMENTS; i++)
        value[i] = MINI_POISON;
}

static uint64_t *resolve(struct mini_host *host, int rank, struct sg_data data, mini_value *parts)
{
    struct mini_endpoint *endpoint = &host->endpoints[rank];

    switch (data.kind) {
    case SG_DATA_OPERAND:
        return endpoint->operand;
    case SG_DATA_RESULT:
        ASSERT(data.index < host->credits);
        return endpoint->results[data.index];
    case SG_DATA_SLOT:
        ASSERT(data.index < host->needs.slots);
        return endpoint->slots[data.index];
    case SG_DATA_PART:
        ASSERT(parts != NULL);
        return parts[data.index];
    default:
        CU_FAIL_FATAL("data without a kind");
        return NULL;
    }
}

static void check_bytes(uint32_t bytes)
{
    ASSERT(bytes > 0 && bytes <= MINI_BYTES_MAX && bytes % 8 == 0);
}

static void reduce(struct mini_host *host, int rank, const struct sg_action *action,
                   mini_value *parts)
{
    const uint64_t *left = resolve(host, rank, action->data.left, parts);
    const uint64_t *right = resolve(host, rank, action->data.right, parts);
    uint64_t *into = resolve(host, rank, action->data.into, parts);
    uint64_t seq = action->data.seq - host->setup.parameters.first;

    check_bytes(action->data.bytes);
    ASSERT(seq < MINI_INSTANCES_MAX && host->entered[seq] > 0);
    for (uint32_t i = 0; i < action->data.bytes / 8; i++)
        into[i] = mini_fold(host->flags[seq], left[i], right[i]);
}

static void post(struct mini_host *host, int rank, int to, const struct sg_action *action,
                 const struct sg_actions *actions, mini_value *parts)
{
    const struct sg_header *header = &action->send.header;

    ASSERT(to >= 0 && to < host->setup.size && to != rank);
    struct mini_item *item = mini_add(host, MINI_MESSAGE, rank, to);
    item->header = *header;
    item->multicast = action->kind == SG_ACTION_MULTICAST;
    ASSERT(header->parts <= host->needs.parts);
    for (int i = 0; i < header->parts; i++) {
        struct sg_data part = actions->parts[action->send.parts_at + (uint32_t)i];

        check_bytes(header->bytes);
        memcpy(item->parts[i], resolve(host, rank, part, parts), header->bytes);
    }
}

static void multicast(struct mini_host *host, int rank, const struct sg_action *action,
                      const struct sg_actions *actions, mini_value *parts)
{
    for (int to = 0; to < host->setup.size; to++) {
        if (to == rank || (int)mini_random(host, 100) < host->setup.loss_percent)
            continue;
        post(host, rank, to, action, actions, parts);
        if ((int)mini_random(host, 100) < host->setup.repeat_percent)
            post(host, rank, to, action, actions, parts);
    }
}

static bool has_result(const struct mini_endpoint *endpoint, int rank)
{
    return endpoint->call.operation == SG_OPERATION_ALLREDUCE ||
           (endpoint->call.operation == SG_OPERATION_REDUCE && endpoint->call.root == rank) ||
           (endpoint->call.operation == SG_OPERATION_BCAST && endpoint->call.root != rank);
}

static void complete(struct mini_host *host, int rank)
{
    struct mini_endpoint *endpoint = &host->endpoints[rank];
    uint32_t seq = endpoint->called;

    ASSERT(endpoint->in_call, !endpoint->completed[seq]);
    if (sg_operation_synchronises(endpoint->call.operation) && !host->setup.parameters.split)
        ASSERT(host->entered[seq] == (uint32_t)host->setup.size);
    endpoint->completed[seq] = true;
    endpoint->in_call = false;
    if (has_result(endpoint, rank) && !host->setup.parameters.split)
        memcpy(endpoint->outcome[seq], endpoint->results[mini_place(host, seq)],
               sizeof(mini_value));
    poison(endpoint->operand);
}

static void finish(struct mini_host *host, int rank, uint64_t seq)
{
    struct mini_endpoint *endpoint = &host->endpoints[rank];
    uint64_t *result = endpoint->results[mini_place(host, seq)];

    ASSERT(seq >= 1 && seq <= endpoint->called, !endpoint->finished[seq]);
    endpoint->finished[seq] = true;
    if (host->synchronises[seq])
        ASSERT(host->entered[seq] == (uint32_t)host->setup.size);
    if (host->setup.parameters.split)
        memcpy(endpoint->outcome[seq], result, sizeof(mini_value));
    /* A result that is written after its FINISH, or left before its COMPLETE, is not one. */
    if (endpoint->completed[seq])
        poison(result);
}

static bool is_write(const struct sg_action *action)
{
    return action->kind == SG_ACTION_WRITE || action->kind == SG_ACTION_WRITE_RESULT;
}

static bool takes_posts(const struct mini_host *host)
{
    return sg_algo_takes_posts(host->setup.algo, &host->setup.parameters);
}

static void start_access(struct mini_host *host, int rank, const struct sg_action *action)
{
    ASSERT(action->to >= 0 && action->to < host->setup.size,
           sg_algo_is_one_sided(host->setup.algo, &host->setup.parameters));
    struct mini_item *item = mini_add(host, MINI_ACCESS, rank, action->to);
    item->access = *action;
    if (is_write(action)) {
        check_bytes(action->access.bytes);
        memcpy(item->parts[0], resolve(host, rank, action->access.from, NULL),
               action->access.bytes);
    }
}

void mini_set_timer(struct mini_host *host, int rank, uint32_t id, bool set, uint64_t time_ns)
{
    ASSERT(id < SG_TIMERS);
    struct mini_timer *timer = &host->endpoints[rank].timers[id];
    host->timers_set += set - timer->set;
    *timer = (struct mini_timer){set, time_ns};
}

static void watch(struct mini_host *host, int rank, const struct sg_action *action)
{
    ASSERT(action->id < SG_WATCHES && action->access.remote < host->needs.cells);
    struct mini_watch *entry = &host->endpoints[rank].watches[action->id];
    host->watches_set += !entry->set;
    entry->set = true;
    host->endpoints[rank].watched |= 1u << action->id;
    entry->cell = action->access.remote;
    entry->value = action->access.value;
}

/* One after the other, by increasing numbers. */
static void begin_slice(struct mini_endpoint *endpoint)
{
    EXPECT(!endpoint->in_slice);
    endpoint->in_slice = true;
}

static void end_slice(struct mini_endpoint *endpoint, const struct sg_slice *slice)
{
    EXPECT(endpoint->in_slice);
    ASSERT(slice != NULL);
    EXPECT(endpoint->slice_count == 0 || slice->number > endpoint->slice.number);
    endpoint->in_slice = false;
    endpoint->slice = *slice;
    endpoint->slice_count++;
}

static void carry_out(struct mini_host *host, int rank, const struct sg_action *action,
                      const struct sg_actions *actions, mini_value *parts)
{
    switch ((enum sg_action_kind)action->kind) {
    case SG_ACTION_SEND:
        post(host, rank, action->to, action, actions, parts);
        break;
    case SG_ACTION_MULTICAST:
        multicast(host, rank, action, actions, parts);
        break;
    case SG_ACTION_COPY:
        check_bytes(action->data.bytes);
        memmove(resolve(host, rank, action->data.into, parts),
                resolve(host, rank, action->data.from, parts), action->data.bytes);
        break;
    case SG_ACTION_REDUCE:
        reduce(host, rank, action, parts);
        break;
    case SG_ACTION_AWAIT:
        break;
    case SG_ACTION_SET_TIMER:
        mini_set_timer(host, rank, action->id, true, action->timer.time_ns);
        break;
    case SG_ACTION_STOP_TIMER:
        mini_set_timer(host, rank, action->id, false, 0);
        break;
    case SG_ACTION_COMPLETE:
        complete(host, rank);
        break;
    case SG_ACTION_FINISH:
        finish(host, rank, action->instance.seq - host->setup.parameters.first);
        break;
    case SG_ACTION_BEGIN_SLICE:
        begin_slice(&host->endpoints[rank]);
        break;
    case SG_ACTION_END_SLICE:
        end_slice(&host->endpoints[rank], actions->slice);
        break;
    case SG_ACTION_WATCH:
        watch(host, rank, action);
        break;
    case SG_ACTION_FILL:
    case SG_ACTION_DRAIN:
        ASSERT(takes_posts(host));
        mini_add(host, MINI_ACCESS, rank, rank)->access = *action;
        break;
    case SG_ACTION_DELIVER:
        mini_over(host, rank, action);
        break;
    default:
        start_access(host, rank, action);
        break;
    }
}

void mini_carry_out(struct mini_host *host, int rank, const struct sg_actions *actions,
                    mini_value *parts)
{
    ASSERT(actions->count <= SG_ACTIONS_MAX, actions->parts_count <= 2 * SG_ACTIONS_MAX);
    host->endpoints[rank].marks |= actions->marks;
    for (uint32_t i = 0; i < actions->count; i++) {
        ASSERT(actions->list[i].kind < SG_ACTION_KINDS);
        host->endpoints[rank].actions[actions->list[i].kind]++;
        carry_out(host, rank, &actions->list[i], actions, parts);
    }
}

static void access_post(struct mini_host *host, int rank, const struct sg_action *action)
{
    uint64_t *slot = resolve(host, rank, action->post.slot, NULL);

    ASSERT(action->post.bytes > 0 && action->post.bytes <= host->needs.slot_bytes);
    if (action->kind == SG_ACTION_FILL) {
        mini_fill(host, rank, action, slot);
    } else {
        mini_empty(host, rank, action, slot);
        poison(slot);
    }
    mini_add(host, MINI_REPLY, rank, rank)->tag = action->post.tag;
}

/* Messages' bytes are what mini_fill says, whatever their number. */
static size_t bytes_of(const struct mini_host *host, const struct sg_action *action)
{
    if (takes_posts(host))
        return sizeof(mini_value);
    check_bytes(action->access.bytes);
    return action->access.bytes;
}

void mini_access(struct mini_host *host, const struct mini_item *item)
{
    const struct sg_action *action = &item->access;
    uint32_t remote = action->access.remote;
    struct mini_endpoint *target = &host->endpoints[item->to];
    struct sg_data slot = {action->kind == SG_ACTION_WRITE_RESULT ? SG_DATA_RESULT : SG_DATA_SLOT,
                           (uint16_t)remote};

    if (action->kind == SG_ACTION_FILL || action->kind == SG_ACTION_DRAIN) {
        access_post(host, item->to, action);
        return;
    }
    if (is_write(action)) {
        memcpy(resolve(host, item->to, slot, NULL), item->parts[0], bytes_of(host, action));
        return;
    }
    ASSERT(action->kind == SG_ACTION_READ || remote < host->needs.cells);
    if (action->kind == SG_ACTION_WRITE_CELL) {
        target->cells[remote] = action->access.value;
        return;
    }
    struct mini_item *reply = mini_add(host, MINI_REPLY, item->to, item->from);
    reply->tag = action->access.tag;
    if (action->kind == SG_ACTION_READ) {
        memcpy(resolve(host, item->from, action->access.into, NULL),
               resolve(host, item->to, slot, NULL), bytes_of(host, action));
    } else if (action->kind == SG_ACTION_FETCH_ADD) {
        reply->answer[0] = target->cells[remote];
        target->cells[remote] += action->access.value;
    } else {
        ASSERT(action->access.count <= 8, remote + action->access.count <= host->needs.cells);
        memcpy(reply->answer, &target->cells[remote], 8 * action->access.count);
    }
}
