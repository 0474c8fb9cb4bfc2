/* Makes and frees a communicator over several nodes: numbers its ranks, endpoints and machines,
 * finds the protocols of its rules, lays out the segment (layout.h) and initializes it.
 *
 * All ranks compute the same layout; the first rank of a machine makes the segment and the others
 * map it.
 */
#include "internode/internode.h"

#include "bcs/live/messages.h"
#include "bcs/live/shared_posts.h"
#include "core/hash.h"
#include "core/status.h"
#include "internode/auto_between.h"
#include "internode/communicator.h"
#include "internode/connect.h"
#include "internode/endpoint.h"
#include "internode/nonblocking.h"
#include "intranode/memory.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static uint32_t ring_depth = 8;
static bool runs_users;
static uint64_t slices_from_ns;
static int servers_max = INT_MAX;
static uint64_t first_count;

void sg_internode_start(uint32_t depth, int stall_s, int servers, bool users_operations)
{
    runs_users = users_operations;
    servers_max = servers;
    ring_depth = depth < SG_INTERNODE_INSTANCES_MAX ? depth : SG_INTERNODE_INSTANCES_MAX;
    sg_internode_stall_after((uint64_t)stall_s * UINT64_C(1000000000));
}

void sg_internode_count_from(uint64_t first)
{
    first_count = first;
}

void sg_internode_count_slices_from(uint64_t epoch_ns)
{
    slices_from_ns = epoch_ns;
}

/* ---- the work of progress ---- */

static struct sg_internode *internode_of(struct sg_progress_client *client)
{
    return (struct sg_internode *)((char *)client - offsetof(struct sg_internode, client));
}

static bool poll_client(struct sg_progress_client *client)
{
    return sg_endpoint_poll(internode_of(client));
}

static void advance_client(struct sg_progress_client *client)
{
    sg_nonblocking_advance(internode_of(client));
    sg_messages_advance(internode_of(client));
}

static void check_client(struct sg_progress_client *client)
{
    sg_internode_check_health(internode_of(client));
}

static const struct sg_progress_ops progress_ops = {poll_client, advance_client, check_client};

/* ---- layout ---- */

static size_t line(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

/* Returns the protocol that a choice names, and its parameters. NULL: none. */
static const struct sg_algo *algo_of(const struct sg_choice *choice,
                                     struct sg_algo_parameters *parameters)
{
    const struct sg_algorithm *algorithm = &sg_algorithms[choice->algorithm];
    const char *name = algorithm->name;

    if ((sg_algorithm_reach(algorithm, choice->parameters) & SG_REACH_INTERNODE) == 0)
        return NULL;
    sg_parameters_put(algorithm->parameters, choice->parameters, parameters);
    parameters->credits = (uint8_t)ring_depth;
    parameters->epoch_ns = slices_from_ns;
    parameters->first = first_count;
    for (int i = 0; sg_algos[i] != NULL; i++) {
        if (strcmp(sg_algos[i]->name, name) == 0)
            return sg_algos[i];
    }
    return NULL;
}

/* Unconditional strobes need answers while ranks compute. */
static void check_strobes(struct sg_internode_protocol *protocol)
{
    static bool told;

    if (!protocol->setup.parameters.strobe_always || protocol->progress == SG_PROGRESS_THREAD)
        return;
    protocol->setup.parameters.strobe_always = 0;
    if (protocol->setup.rank == 0 && !told)
        sg_log("bcs(strobe=always) requires progress=thread; using strobe=demand");
    told = true;
}

/* Slots are no larger than the rule's largest calls, with a minimum. */
static uint32_t slot_bytes_of(const struct sg_internode_protocol *protocol, uint64_t most_bytes)
{
    uint32_t wanted = sg_algo_slot_bytes(&protocol->needs);
    size_t enough = line(most_bytes < wanted ? (size_t)most_bytes : wanted);

    if (enough < SG_PART_DEFAULT)
        enough = SG_PART_DEFAULT;
    return enough < wanted ? (uint32_t)enough : wanted;
}

/* Bytes of a message with all its parts. */
static uint32_t message_bytes_of(const struct sg_internode_protocol *protocol)
{
    uint32_t part_bytes = sg_algo_part_bytes(&protocol->needs);

    return protocol->needs.parts *
           (part_bytes < protocol->slot_bytes ? part_bytes : protocol->slot_bytes);
}

/* Returns the offset after its regions. */
static size_t lay_out_protocol(const struct sg_internode *internode,
                               struct sg_internode_protocol *protocol, size_t at)
{
    const struct sg_algo_needs *needs = &protocol->needs;

    protocol->slot_stride = protocol->slot_bytes;
    if (internode->remote != NULL)
        protocol->slot_stride = (uint32_t)line(protocol->slot_bytes + SG_TRANSPORT_SEAL_BYTES);
    protocol->at = at;
    protocol->cells_at = line(needs->state_bytes);
    protocol->slots_at = line(protocol->cells_at + needs->cells * sizeof(uint64_t));
    protocol->results_at = protocol->slots_at + (size_t)needs->slots * protocol->slot_stride;
    protocol->stride =
        protocol->results_at + (size_t)protocol->setup.parameters.credits * protocol->slot_stride;
    return at + (size_t)internode->here * protocol->stride;
}

static size_t runs_bytes(const struct sg_grouping *grouping)
{
    return (size_t)grouping->run_count * sizeof *grouping->runs;
}

/* Finds the protocols and lays out the segment. False: nothing would run here. */
static bool lay_out(struct sg_internode *internode, const char *name)
{
    const struct sg_rule_comm comm = {
        .name = name, .size = internode->ranks, .reach = SG_REACH_INTERNODE};
    size_t at = line(sizeof(struct sg_internode_header));
    uint32_t protocols = 0, eager_bytes = 0, copies = 0;
    size_t transport_bytes;

    if (internode->has_coordinator) {
        internode->coordinator_at = at;
        at += line(sizeof(struct sg_coordinator));
    }
    internode->runs_at = at;
    at += line(runs_bytes(&internode->by_endpoint) + runs_bytes(&internode->by_machine));
    internode->rank_states_at = at;
    at += line((size_t)sg_internode_states(internode) * sizeof(struct sg_rank_state));
    internode->endpoints_at = at;
    at += (size_t)internode->here * sizeof(struct sg_endpoint);
    at = line(at);
    internode->protocol_count = sg_ruleset_count(internode->rules);
    if (internode->protocol_count > SG_INTERNODE_PROTOCOLS_MAX)
        internode->protocol_count = SG_INTERNODE_PROTOCOLS_MAX;
    for (int i = 0; i < internode->protocol_count; i++) {
        struct sg_internode_protocol *protocol = &internode->protocols[i];

        protocol->setup.rank = internode->endpoint;
        protocol->setup.size = internode->endpoints;
        if (!sg_ruleset_concerns(internode->rules, i, &comm) ||
            (sg_ruleset_is_of_messages(internode->rules, i) && i != internode->messages_protocol))
            continue;
        protocol->algo =
            algo_of(sg_ruleset_choice(internode->rules, i), &protocol->setup.parameters);
        if (protocol->algo == NULL)
            continue;
        if (i == internode->messages_protocol)
            protocol->setup.parameters.posts = sg_posts_count(internode->endpoints);
        if (!protocol->algo->needs(&protocol->setup, &protocol->needs)) {
            protocol->algo = NULL;
            continue;
        }
        protocol->progress =
            sg_progress_asked(sg_ruleset_choice(internode->rules, i), internode->remote != NULL);
        /* In mode poll, a rank that stayed in its call could not complete it. */
        if (internode->servers < internode->locals && protocol->progress == SG_PROGRESS_POLL)
            protocol->progress = SG_PROGRESS_THREAD;
        check_strobes(protocol);
        if (protocols == 0 || protocol->progress < internode->progress_low)
            internode->progress_low = protocol->progress;
        if (protocol->progress > internode->progress_high)
            internode->progress_high = protocol->progress;
        internode->is_polled = internode->is_polled || (protocol->algo->uses & SG_ALGO_POLLED);
        internode->is_one_sided = internode->is_one_sided ||
                                  sg_algo_is_one_sided(protocol->algo, &protocol->setup.parameters);
        internode->location.adds =
            internode->location.adds || (protocol->algo->uses & SG_ALGO_ADDS) != 0;
        protocols++;
        protocol->slot_bytes = slot_bytes_of(protocol, sg_ruleset_most_bytes(internode->rules, i));
        if (protocol->slot_bytes > internode->slot_bytes)
            internode->slot_bytes = protocol->slot_bytes;
        if (protocol->needs.receivers > 1)
            copies += (protocol->needs.receivers - 1) * protocol->setup.parameters.credits;
        if (message_bytes_of(protocol) > eager_bytes)
            eager_bytes = message_bytes_of(protocol);
        at = lay_out_protocol(internode, protocol, at);
    }
    internode->posts_at = at;
    if (internode->messages_protocol >= 0)
        at += (size_t)internode->here * sg_posts_bytes(internode->endpoints, internode->locals_max);
    internode->contributions_at = at;
    at += (size_t)internode->here * internode->depth * (size_t)internode->locals_max *
          internode->slot_bytes;
    /* The largest number of messages that the protocols may have in flight between a pair; the
     * explorer checks this bound. A broadcast's data wait at each receiver. */
    internode->transport_setup.endpoints = internode->endpoints;
    internode->transport_setup.here = internode->here;
    internode->transport_setup.inflight =
        protocols * (2 * internode->depth + 8) + (internode->remote != NULL ? internode->depth : 0);
    internode->transport_setup.staged = internode->transport_setup.inflight + copies;
    if (internode->transport_setup.staged > SG_TRANSPORT_STAGED_MAX)
        internode->transport_setup.staged = SG_TRANSPORT_STAGED_MAX;
    if (internode->messages_protocol >= 0)
        internode->transport_setup.inflight += sg_posts_inflight(internode->endpoints);
    internode->transport_setup.eager_bytes = eager_bytes;
    transport_bytes = protocols > 0 ? internode->ops->shared_bytes(&internode->transport_setup) : 0;
    internode->transport_at = at;
    internode->size_bytes = at + transport_bytes;
    return transport_bytes > 0;
}

/* Places this rank among the ranks, endpoints and machines. */
static void find_place(struct sg_internode *internode, const struct sg_internode_setup *setup)
{
    struct sg_group_place place, index;

    internode->by_endpoint = *setup->by_endpoint;
    internode->by_machine = *setup->by_machine;
    place = sg_grouping_place(&internode->by_endpoint, internode->rank);
    index = sg_grouping_place(&internode->by_machine, place.group);
    internode->endpoints = internode->by_endpoint.groups;
    internode->endpoint = place.group;
    internode->local = place.number;
    internode->machine = index.group;
    internode->index = index.number;
    internode->here = internode->by_machine.most;
    internode->locals_max = internode->by_endpoint.most;
    internode->locals = internode->servers =
        sg_grouping_size(&internode->by_endpoint, internode->endpoint);
    internode->servers_max = servers_max;
    if (internode->remote != NULL && internode->servers > servers_max)
        internode->servers = servers_max;
    /* The process that delivers must be in the call. */
    internode->runs_users =
        runs_users && (internode->remote == NULL || internode->locals_max <= servers_max);
}

/* From here on the runs in the segment are read; its maker puts them there. */
static void use_runs(struct sg_internode *internode)
{
    struct sg_group_run *runs = sg_internode_at(internode, internode->runs_at);

    if (internode->is_maker) {
        memcpy(runs, internode->by_endpoint.runs, runs_bytes(&internode->by_endpoint));
        memcpy(runs + internode->by_endpoint.run_count, internode->by_machine.runs,
               runs_bytes(&internode->by_machine));
    }
    internode->by_endpoint.runs = runs;
    internode->by_machine.runs = runs + internode->by_endpoint.run_count;
}

static void dispose(struct sg_internode *internode)
{
    int saved_errno = errno;

    if (internode->transport != NULL)
        internode->ops->close(internode->transport);
    if (internode->header != NULL)
        sg_memory_free(internode->header, internode->size_bytes, internode->is_maker);
    sg_messages_close(internode);
    sg_internode_free_auto(internode);
    sg_internode_lose_links(internode);
    free(internode);
    errno = saved_errno;
}

/* A rank without connections would wait for one that has them, which a nonblocking call must not
 * do. */
static bool can_have_coordinator(const struct sg_internode *internode)
{
    bool by_site = false;

    for (int operation = 0; operation < SG_OPERATION_COUNT; operation++)
        by_site =
            by_site || sg_ruleset_depends_on_site(internode->rules, (enum sg_operation)operation);
    return by_site && internode->remote != NULL &&
           internode->endpoints <= SG_TRANSPORT_ALL_CONNECTED &&
           internode->locals_max <= servers_max;
}

/* Needs the numbers of ranks. Every rank that posts also sends, so all ranks must be connected. */
static int messages_protocol_of(const struct sg_internode *internode,
                                const struct sg_internode_setup *setup)
{
    int rule = setup->messages_rule;

    return rule >= 0 && rule < SG_INTERNODE_PROTOCOLS_MAX &&
                   sg_ruleset_is_of_messages(setup->rules, rule) &&
                   (internode->by_machine.groups <= 1 || internode->locals_max <= servers_max) &&
                   internode->endpoints <= SG_MESSAGES_ENDPOINTS_MAX &&
                   internode->locals_max <= SG_MESSAGES_LOCALS_MAX
               ? rule
               : -1;
}

/* NULL: errno has the reason, 0 if nothing would run. */
static struct sg_internode *make(const struct sg_internode_setup *setup)
{
    struct sg_internode *internode;

    if (setup->ranks > SG_INTERNODE_RANKS_MAX) {
        if (setup->rank == 0)
            sg_log("MPICH runs the collectives of a communicator of %d ranks: the limit between "
                   "nodes is %d ranks",
                   setup->ranks, SG_INTERNODE_RANKS_MAX);
        errno = 0;
        return NULL;
    }
    internode = calloc(1, sizeof *internode);
    if (internode == NULL)
        return NULL;
    internode->client.ops = &progress_ops;
    internode->rank = setup->rank;
    internode->ranks = setup->ranks;
    internode->rules = setup->rules;
    internode->depth = ring_depth;
    internode->position = first_count;
    internode->arrived = internode->left = internode->position;
    internode->ops = &sg_transport_shm;
    if (setup->ops != NULL) {
        internode->ops = setup->ops;
        internode->remote = setup->ops->remote;
        internode->location.exchange = setup->exchange;
        internode->host_of = setup->host_of;
    } else {
        internode->chosen = first_count; /* a coordinator's tickets are counted from 0 */
    }
    find_place(internode, setup);
    internode->messages_protocol = messages_protocol_of(internode, setup);
    internode->has_coordinator = internode->is_one_sided = can_have_coordinator(internode);
    internode->location.adds = internode->has_coordinator;
    errno = 0;
    if (!lay_out(internode, setup->name))
        goto err_dispose;
    if (!sg_internode_use_auto(internode, setup->name))
        goto err_dispose;
    return internode;

err_dispose:
    dispose(internode);
    return NULL;
}

/* Sets up the process's own part once the segment is mapped. */
static enum sg_status attach(struct sg_internode *internode)
{
    use_runs(internode);
    internode->wait_queue = (struct sg_wait_queue){
        .sleepers = &internode->header->sleepers,
        .wake = &internode->header->wake,
        .timer_ns = &sg_internode_endpoint(internode, internode->endpoint)->doorbell.next_timer_ns,
    };
    sg_messages_open(internode);
    sg_internode_own_state(internode)->rank = internode->rank + 1;
    /* Between machines all ranks open it together, later: sg_internode_link. */
    if (internode->remote != NULL)
        return SG_OK;
    return sg_internode_open(internode);
}

/* Messages that the protocol carries may reach a rank that has called nothing, so it may have
 * instances outstanding from the start. */
static void init_protocol(struct sg_internode *internode, uint32_t protocol, int endpoint)
{
    struct sg_algo_setup setup = internode->protocols[protocol].setup;
    struct sg_algo_head *head = (void *)sg_internode_region(internode, protocol, endpoint);

    setup.rank = endpoint;
    internode->protocols[protocol].algo->init(head, &setup);
    atomic_fetch_add(&sg_internode_endpoint(internode, endpoint)->doorbell.outstanding,
                     head->outstanding);
}

/* Initializes the protocols of the machine's endpoints. */
static void init_protocols(struct sg_internode *internode)
{
    int count = sg_grouping_size(&internode->by_machine, internode->machine);

    for (int i = 0; i < internode->protocol_count; i++) {
        struct sg_internode_protocol *protocol = &internode->protocols[i];

        for (int index = 0; index < count && protocol->algo != NULL; index++)
            init_protocol(internode, (uint32_t)i,
                          sg_grouping_item(&internode->by_machine, internode->machine, index));
    }
}

/* Initializes the counts of a new segment, as if all instances before the first had been left. */
static void init_counts(struct sg_internode *internode)
{
    for (int number = 0; number < sg_internode_states(internode); number++) {
        struct sg_rank_state *state = sg_internode_state(internode, number);

        state->position = state->left = first_count;
        state->chosen = internode->chosen;
    }
    for (int index = 0; index < internode->here; index++) {
        struct sg_endpoint *endpoint =
            (struct sg_endpoint *)sg_internode_at(internode, internode->endpoints_at) + index;

        endpoint->delivered = endpoint->completed = first_count;
        for (uint32_t i = 0; i < internode->depth; i++)
            endpoint->instances[i].finished = first_count;
    }
}

/* Frees the communicator unless status is SG_OK. */
static enum sg_status hand_over(struct sg_internode *internode, enum sg_status status,
                                struct sg_internode **out)
{
    if (status == SG_OK)
        *out = internode;
    else
        dispose(internode);
    return status;
}

enum sg_status sg_internode_offer(const struct sg_internode_setup *setup, struct sg_internode **out,
                                  struct sg_segment_ticket *ticket)
{
    struct sg_internode *internode = make(setup);
    void *segment;
    enum sg_status status;

    if (internode == NULL)
        return errno == 0 ? SG_ERR_MISSING : SG_ERR_MEMORY;
    status = sg_memory_create(internode->size_bytes, setup->called, &segment, ticket);
    if (status != SG_OK)
        return hand_over(internode, status, out);
    internode->header = segment;
    internode->is_maker = true;
    internode->header->nonce = ticket->nonce;
    internode->header->size_bytes = internode->size_bytes;
    init_counts(internode);
    init_protocols(internode);
    internode->header->magic = SG_INTERNODE_MAGIC;
    status = attach(internode);
    if (status != SG_OK)
        sg_segment_seal(ticket);
    return hand_over(internode, status, out);
}

enum sg_status sg_internode_accept(const struct sg_internode_setup *setup,
                                   const struct sg_segment_ticket *ticket,
                                   struct sg_internode **out)
{
    struct sg_internode *internode = make(setup);
    void *segment;
    enum sg_status status;

    if (internode == NULL)
        return errno == 0 ? SG_ERR_MISSING : SG_ERR_MEMORY;
    status = sg_segment_open(ticket, &segment);
    if (status != SG_OK)
        return hand_over(internode, status, out);
    internode->header = segment;
    if (ticket->size_bytes == internode->size_bytes &&
        internode->header->magic == SG_INTERNODE_MAGIC && internode->header->nonce == ticket->nonce)
        return hand_over(internode, attach(internode), out);
    errno = EBADF;
    return hand_over(internode, SG_ERR_SYSTEM, out);
}

void sg_internode_name_in_log(struct sg_internode *internode, const struct sg_comm_log *log)
{
    /* The progress thread may be in a slice already. It leaves arrivals during the lock to this
     * thread. */
    sg_endpoint_lock(internode);
    internode->log = *log;
    sg_endpoint_unlock(internode);
    sg_endpoint_poll(internode);
}

bool sg_internode_has_slices(const struct sg_internode *internode)
{
    bool has = false;

    for (int i = 0; i < internode->protocol_count; i++) {
        const struct sg_algo *algo = internode->protocols[i].algo;

        has = has || (algo != NULL && (algo->uses & SG_ALGO_SLICES) != 0);
    }
    return has;
}

void sg_internode_free(struct sg_internode *internode)
{
    sg_nonblocking_await_users(internode);
    if (internode->transport != NULL)
        sg_progress_remove(&internode->client);
    dispose(internode);
}
