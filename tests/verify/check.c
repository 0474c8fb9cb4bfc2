#include "verify/check.h"

#include "sim/sim_host.h"
#include "verify/posted_messages.h"

/* The result that each protocol documents, computed sequentially: the reference of the tests.
 *
 * Written independently of the protocols and of their shared tree arithmetic, as plain recursion
 * over ranks. Pure; the recursion is as deep as the tree. */

/* The properties of an instance that determine its result. */
struct sg_reference {
    const struct sg_algo *algo;
    enum sg_operation operation;
    int32_t size;
    int32_t root;   /* of a reduce or broadcast; else -1 */
    uint8_t degree; /* sg_algo_parameters.degree */
    uint32_t instance, bytes, flags;
};

/* The rank at position 0: reductions with operations that may be reordered count from their
 * root. */
static int32_t origin(const struct sg_reference *reference)
{
    bool reorder = (reference->flags & (SG_CALL_COMMUTATIVE | SG_CALL_EXACT)) != 0;

    return reorder && reference->root > 0 ? reference->root : 0;
}

static struct sg_value leaf(const struct sg_reference *reference, int32_t relative)
{
    int32_t rank = (int32_t)(((int64_t)relative + origin(reference)) % reference->size);

    return sg_value_contribution(reference->instance, rank, reference->bytes, reference->flags);
}

/* Contributions are disjoint and belong to one instance, so only the order could be wrong; it is
 * right for every operation that depends on order, because its ranks count from 0. */
static void append(struct sg_value *left, const struct sg_value *right)
{
    sg_value_combine(left, right, left);
}

/* Folds neighbours, then neighbours of the results: a balanced tree, truncated at the right. */
static struct sg_value fold_balanced(struct sg_value *items, int32_t count)
{
    for (; count > 1; count = (count + 1) / 2) {
        for (int32_t i = 0; i < count; i += 2) {
            items[i / 2] = items[i];
            if (i + 1 < count)
                append(&items[i / 2], &items[i + 1]);
        }
    }
    return items[0];
}

/* ((own . child at 1) . child at 2) . child at 4 ... */
static struct sg_value binomial(const struct sg_reference *reference, int32_t relative)
{
    struct sg_value value = leaf(reference, relative);

    for (int32_t mask = 1; !(relative & mask) && relative + mask < reference->size; mask *= 2) {
        struct sg_value child = binomial(reference, relative + mask);

        append(&value, &child);
    }
    return value;
}

/* The contiguous tree over [low, high): low itself, then `degree` parts in order whose sizes differ
 * by at most one, larger parts first. */
static struct sg_value contiguous(const struct sg_reference *reference, int32_t degree, int32_t low,
                                  int32_t high)
{
    struct sg_value items[SG_DEGREE_MAX + 1];
    int32_t rest = high - low - 1;
    int32_t parts = rest < degree ? rest : degree;
    int32_t at = low + 1;

    items[0] = leaf(reference, low);
    for (int32_t i = 0; i < parts; i++) {
        int32_t length = rest / parts + (i < rest % parts);

        items[i + 1] = contiguous(reference, degree, at, at + length);
        at += length;
    }
    return fold_balanced(items, parts + 1);
}

/* Folds `count` operands from `index` on. An operand is one rank's contribution, or that of two
 * ranks if there are more ranks than operands. */
static struct sg_value doubling(const struct sg_reference *reference, int32_t power, int32_t index,
                                int32_t count)
{
    int32_t extra = reference->size - power;
    struct sg_value left, right;

    if (count > 1) {
        left = doubling(reference, power, index, count / 2);
        right = doubling(reference, power, index + count / 2, count / 2);
    } else if (index < extra) {
        left = sg_value_contribution(reference->instance, 2 * index, reference->bytes,
                                     reference->flags);
        right = sg_value_contribution(reference->instance, 2 * index + 1, reference->bytes,
                                      reference->flags);
    } else {
        return sg_value_contribution(reference->instance, index + extra, reference->bytes,
                                     reference->flags);
    }
    append(&left, &right);
    return left;
}

static struct sg_value doubled(const struct sg_reference *reference)
{
    int32_t power = 1;

    while (2 * power <= reference->size)
        power *= 2;
    return doubling(reference, power, 0, power);
}

/* Computes the result from contributions made by sg_value_contribution. False if the protocol
 * documents no association. */
static bool sg_reference_result(const struct sg_reference *reference, struct sg_value *value)
{
    const struct sg_algo *algo = reference->algo;
    int32_t degree = reference->degree ? reference->degree : SG_DEGREE_DATA;

    if (reference->operation == SG_OPERATION_BCAST)
        *value = sg_value_contribution(reference->instance, reference->root, reference->bytes,
                                       reference->flags);
    else if (algo == &sg_algo_bypass || (algo == &sg_algo_tree && degree == 1))
        *value = binomial(reference, 0);
    else if (algo == &sg_algo_tree || algo == &sg_algo_adaptive)
        *value = contiguous(reference, degree, 0, reference->size);
    else if (algo == &sg_algo_pairwise || algo == &sg_algo_handoff || algo == &sg_algo_srm ||
             algo == &sg_algo_bcs)
        *value = doubled(reference);
    else
        return false;
    return true;
}

/* ---- checks of an endpoint ------------------------------------------------------------------- */

bool sg_explore_check_actions(struct sg_explore_world *world,
                              const struct sg_explore_endpoint *endpoint)
{
    const struct sg_actions *actions = &world->host.actions;

    if (actions->count > SG_ACTIONS_MAX || actions->parts_count > 2 * SG_ACTIONS_MAX) {
        sg_explore_violate(world, endpoint, "asks for %u actions and %u parts in one event",
                           actions->count, actions->parts_count);
        return false;
    }
    return true;
}

static bool guarded(const unsigned char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (from[i] != SG_EXPLORE_GUARD)
            return false;
    }
    return true;
}

static uint64_t bits_to(uint32_t last)
{
    return (UINT64_C(2) << last) - 2;
}

void sg_explore_check_endpoint(struct sg_explore_world *world,
                               const struct sg_explore_endpoint *endpoint)
{
    const struct sg_algo_head *head = sg_explore_head(endpoint);

    if (!guarded(endpoint->host.state - SG_EXPLORE_GUARD_BYTES, SG_EXPLORE_GUARD_BYTES) ||
        !guarded(endpoint->host.state + endpoint->needs.state_bytes, SG_EXPLORE_GUARD_BYTES))
        sg_explore_violate(world, endpoint, "has written outside its state");
    if (head->seq - endpoint->first != endpoint->calls)
        sg_explore_violate(world, endpoint, "counts %llu calls, not %u",
                           (unsigned long long)(head->seq - endpoint->first), endpoint->calls);
    if ((head->in_call != 0) != (endpoint->calls > endpoint->completes))
        sg_explore_violate(world, endpoint, "says that it is %s a call, and is not",
                           head->in_call ? "in" : "outside");
    if (head->outstanding == 0 && endpoint->finished != bits_to(endpoint->calls))
        sg_explore_violate(world, endpoint,
                           "says that nothing is outstanding, and has not "
                           "finished every instance");
}

static bool has_result(const struct sg_algo_call *call, const struct sg_explore_endpoint *endpoint)
{
    return call->operation == SG_OPERATION_ALLREDUCE ||
           (call->operation == SG_OPERATION_REDUCE && call->root == endpoint->rank) ||
           (call->operation == SG_OPERATION_BCAST && call->root != endpoint->rank);
}

/* ---- result buffers -------------------------------------------------------------------------- */

/* The index of an instance's result buffer. */
static uint32_t buffer_of(const struct sg_explore_endpoint *endpoint, uint32_t seq)
{
    return (uint32_t)((endpoint->first + seq) % endpoint->payload.results_count);
}

/* The instance that uses the result buffer: the oldest unfinished one; 0: none. */
static uint32_t owner_of(const struct sg_explore_endpoint *endpoint, uint32_t index)
{
    for (uint32_t seq = 1; seq <= endpoint->calls; seq++) {
        if (buffer_of(endpoint, seq) == index && !(endpoint->finished >> seq & 1))
            return seq;
    }
    return 0;
}

/* Instances `credits` apart share a result buffer: a call may begin while an older instance still
 * uses its buffer, and gets it when that instance finishes. */
void sg_explore_claim_result(struct sg_explore_endpoint *endpoint, uint32_t seq)
{
    uint32_t index = buffer_of(endpoint, seq);

    if (owner_of(endpoint, index) == seq)
        endpoint->payload.results[index] = (struct sg_value){0};
}

bool sg_explore_owns_result(const struct sg_explore_world *world,
                            const struct sg_explore_endpoint *endpoint, uint32_t index)
{
    uint32_t seq = owner_of(endpoint, index);
    const struct sg_algo_call *call;

    if (seq == 0)
        return false;
    call = &world->scenario->instance[sg_explore_instance_at(world, endpoint->comm, seq)].call;
    return call->operation == SG_OPERATION_BARRIER || has_result(call, endpoint);
}

const char *sg_explore_check_put(const struct sg_explore_world *world,
                                 const struct sg_explore_endpoint *target, uint32_t index)
{
    return index < target->payload.results_count && sg_explore_owns_result(world, target, index)
               ? NULL
               : "is given a result that it does not await";
}

/* ---- the end of a call, and of an instance --------------------------------------------------- */

static void check_entered(struct sg_explore_world *world,
                          const struct sg_explore_endpoint *endpoint, uint32_t seq)
{
    for (int32_t rank = 0; rank < world->scenario->comm[endpoint->comm].size; rank++) {
        if (sg_explore_endpoint_of(world, endpoint->comm, rank)->calls < seq) {
            sg_explore_violate(world, endpoint, "leaves instance %u before %d has entered it", seq,
                               rank);
            return;
        }
    }
}

/* False if only the set of contributions is defined. */
static bool expect(struct sg_explore_world *world, int32_t index, struct sg_value *expected)
{
    const struct sg_explore_scenario *scenario = world->scenario;
    const struct sg_explore_instance *instance = &scenario->instance[index];
    struct sg_reference reference = {
        .algo = scenario->algo,
        .operation = instance->call.operation,
        .size = scenario->comm[instance->comm].size,
        .root = instance->call.root,
        .degree = scenario->parameters.degree,
        .instance = (uint32_t)index + 1,
        .bytes = instance->call.bytes,
        .flags = instance->call.flags,
    };

    if (instance->call.operation != SG_OPERATION_BCAST && scenario->parameters.arrival_order &&
        (instance->call.flags & SG_CALL_COMMUTATIVE) && !(instance->call.flags & SG_CALL_EXACT))
        return false;
    if (world->expected[index].count == 0 &&
        !sg_reference_result(&reference, &world->expected[index]))
        return false;
    *expected = world->expected[index];
    return true;
}

static void check_result(struct sg_explore_world *world, const struct sg_explore_endpoint *endpoint,
                         uint32_t seq)
{
    int32_t index = sg_explore_instance_at(world, endpoint->comm, seq);
    int32_t size = world->scenario->comm[endpoint->comm].size;
    const struct sg_algo_call *call = &world->scenario->instance[index].call;
    uint64_t all = call->operation == SG_OPERATION_BCAST ? UINT64_C(1) << call->root
                                                         : ~UINT64_C(0) >> (SG_VALUE_RANKS - size);
    const struct sg_value *result = &endpoint->payload.results[buffer_of(endpoint, seq)];
    struct sg_value expected;

    if (result->count == 0)
        sg_explore_violate(world, endpoint, "has no result of instance %u", seq);
    else if (result->instance != (uint32_t)index + 1)
        sg_explore_violate(world, endpoint, "has another instance's result in instance %u", seq);
    else if ((all & ~result->ranks) != 0)
        sg_explore_violate(world, endpoint,
                           "has a result of instance %u without the contribution of %d", seq,
                           __builtin_ctzll(all & ~result->ranks));
    else if (result->ranks != all)
        sg_explore_violate(world, endpoint, "has a result of instance %u with one of %d, too", seq,
                           __builtin_ctzll(result->ranks & ~all));
    else if (expect(world, index, &expected) && expected.hash != result->hash)
        sg_explore_violate(world, endpoint,
                           "has a result of instance %u in another order or association than "
                           "documented",
                           seq);
}

/* Checks the guarantees that hold when a process leaves an instance. */
static void check_left(struct sg_explore_world *world, const struct sg_explore_endpoint *endpoint,
                       uint32_t seq)
{
    int32_t index = sg_explore_instance_at(world, endpoint->comm, seq);
    const struct sg_algo_call *call = &world->scenario->instance[index].call;

    if (sg_operation_synchronises(call->operation))
        check_entered(world, endpoint, seq);
    if (has_result(call, endpoint))
        check_result(world, endpoint, seq);
}

void sg_explore_check_complete(struct sg_explore_world *world,
                               const struct sg_explore_endpoint *endpoint)
{
    int32_t index = sg_explore_instance_at(world, endpoint->comm, endpoint->calls);
    bool split;

    if (endpoint->completes >= endpoint->calls) {
        sg_explore_violate(world, endpoint, "completes a call twice");
        return;
    }
    /* In a split instance the FINISH, not the COMPLETE, must not come too early. */
    split = (world->scenario->instance[index].call.flags & SG_CALL_SPLIT) &&
            (has_result(&world->scenario->instance[index].call, endpoint) ||
             world->scenario->instance[index].call.operation == SG_OPERATION_BARRIER);
    if (!split)
        check_left(world, endpoint, endpoint->calls);
}

void sg_explore_check_finish(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint,
                             uint32_t seq)
{
    if (seq == 0 || seq > endpoint->calls) {
        sg_explore_violate(world, endpoint, "finishes instance %u, which was not called", seq);
        return;
    }
    if (endpoint->finished >> seq & 1) {
        sg_explore_violate(world, endpoint, "finishes instance %u twice", seq);
        return;
    }
    check_left(world, endpoint, seq);
    endpoint->finished |= UINT64_C(1) << seq;
    seq += endpoint->payload.results_count;
    if (seq <= endpoint->calls)
        sg_explore_claim_result(endpoint, seq);
}

const char *sg_explore_check_user(const struct sg_explore_world *world,
                                  const struct sg_explore_endpoint *endpoint, uint32_t seq)
{
    int32_t index = sg_explore_instance_at(world, endpoint->comm, seq);
    uint32_t flags = world->scenario->instance[index].call.flags;

    if (!(flags & SG_CALL_USER) || seq == 0)
        return NULL;
    if (seq > endpoint->calls)
        return "runs the user's operation before its call";
    if (flags & SG_CALL_SPLIT ? (endpoint->finished >> seq & 1) != 0 : seq <= endpoint->completes)
        return "runs the user's operation after its call";
    return NULL;
}

/* ---- queues ---------------------------------------------------------------------------------- */

/* Counts contributions within the credits, which include at least the two releases that are kept,
 * and as many notices about them; and for each post the requests and answers about it. */
uint32_t sg_explore_queue_limit(const struct sg_algo_parameters *parameters)
{
    return 2u * parameters->credits + 8 + 6 * parameters->posts;
}

/* The number of timers that fired, which limits the questions and answers they cause. */
static uint32_t fired(struct sg_explore_world *world, int32_t comm)
{
    uint32_t sum = 0;

    for (int32_t rank = 0; rank < world->scenario->comm[comm].size; rank++)
        sum += sg_explore_endpoint_of(world, comm, rank)->fired;
    return sum;
}

void sg_explore_check_queue(struct sg_explore_world *world,
                            const struct sg_explore_endpoint *endpoint, int32_t to)
{
    int32_t from = (int32_t)(endpoint - world->endpoints);
    uint16_t *queue = &world->in_flight[from * world->scenario->nodes + to];
    uint32_t limit = sg_explore_queue_limit(&world->scenario->parameters);

    if (++*queue > limit && *queue > limit + fired(world, endpoint->comm))
        sg_explore_violate(world, endpoint, "has %u messages in flight to %d", *queue, to);
}

/* ---- the end --------------------------------------------------------------------------------- */

static uint32_t instances_of(const struct sg_explore_world *world, int32_t comm)
{
    uint32_t count = 0;

    for (int32_t i = 0; i < world->scenario->instances; i++)
        count += world->scenario->instance[i].comm == comm;
    return count;
}

void sg_explore_check_end(struct sg_explore_world *world)
{
    for (int32_t comm = 0; comm < world->scenario->comms; comm++) {
        for (int32_t rank = 0; rank < world->scenario->comm[comm].size; rank++) {
            const struct sg_explore_endpoint *endpoint = sg_explore_endpoint_of(world, comm, rank);
            uint32_t instances = instances_of(world, comm);

            if (endpoint->completes < endpoint->calls)
                sg_explore_violate(world, endpoint, "hangs in the call of instance %u",
                                   endpoint->calls);
            else if (endpoint->calls < instances)
                sg_explore_violate(world, endpoint, "comes to %u of %u calls", endpoint->calls,
                                   instances);
            else if (endpoint->finished != bits_to(instances))
                sg_explore_violate(world, endpoint, "never finishes instance %d",
                                   __builtin_ctzll(bits_to(instances) & ~endpoint->finished));
            else if (sg_explore_head(endpoint)->outstanding > 0)
                sg_explore_violate(world, endpoint, "drains for ever, %u outstanding",
                                   sg_explore_head(endpoint)->outstanding);
        }
    }
    sg_explore_check_posts(world);
}
