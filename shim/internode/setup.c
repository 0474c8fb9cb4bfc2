#include "internode/internode.h"

#include "core/hash.h"
#include "internode/communicator.h"
#include "internode/connect.h"
#include "internode/nonblocking.h"
#include "internode/waiting.h"
#include "intranode/memory.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static uint32_t ring_depth = 8;
static int servers_max = INT_MAX;

void sg_span_start(uint32_t depth, int stall_s, int servers)
{
    servers_max = servers;
    ring_depth = depth < SG_SPAN_PLACES_MAX ? depth : SG_SPAN_PLACES_MAX;
    sg_span_stall_after((uint64_t)stall_s * UINT64_C(1000000000));
}

static size_t line(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

/* The protocol that a choice names, and its parameters. NULL: none. */
static const struct sg_algo *algo_of(const struct sg_choice *choice,
                                     struct sg_algo_parameters *parameters)
{
    const struct sg_algorithm *algorithm = &sg_algorithms[choice->algorithm];
    const char *name = algorithm->name;

    if ((sg_algorithm_reach(algorithm, choice->parameters) & SG_REACH_SPAN) == 0)
        return NULL;
    sg_parameters_put(algorithm->parameters, choice->parameters, parameters);
    parameters->credits = (uint8_t)ring_depth;
    for (int i = 0; sg_algos[i] != NULL; i++) {
        if (strcmp(sg_algos[i]->name, name) == 0)
            return sg_algos[i];
    }
    return NULL;
}

/* The objects and where everything lies. False: nothing would run here. */
static bool lay_out(struct sg_span *span, const char *name)
{
    const struct sg_rule_comm comm = {.name = name, .size = span->ranks, .reach = SG_REACH_SPAN};
    size_t at = line(sizeof(struct sg_span_header));
    uint32_t objects = 0, eager_bytes = 0;
    size_t transport_bytes;

    if (span->has_home) {
        span->home_at = at;
        at += line(sizeof(struct sg_span_home));
    }
    span->about_at = at;
    at += (size_t)span->ranks_here * line(sizeof(struct sg_span_about));
    span->endpoints_at = at;
    at += (size_t)span->here * sizeof(struct sg_span_endpoint);
    at = line(at);
    span->object_count = sg_ruleset_count(span->rules);
    if (span->object_count > SG_SPAN_OBJECTS_MAX)
        span->object_count = SG_SPAN_OBJECTS_MAX;
    for (int i = 0; i < span->object_count; i++) {
        struct sg_span_object *object = &span->objects[i];

        object->setup.rank = span->endpoint;
        object->setup.size = span->endpoints;
        if (!sg_ruleset_concerns(span->rules, i, &comm))
            continue;
        object->algo = algo_of(sg_ruleset_choice(span->rules, i), &object->setup.parameters);
        if (object->algo == NULL)
            continue;
        if (!object->algo->needs(&object->setup, &object->needs)) {
            object->algo = NULL;
            continue;
        }
        object->progress = sg_progress_asked(sg_ruleset_choice(span->rules, i), span->wire != NULL);
        /* A rank that stayed in its call in mode poll could not bring it to its end. */
        if (span->servers < span->locals && object->progress == SG_PROGRESS_POLL)
            object->progress = SG_PROGRESS_THREAD;
        if (objects == 0 || object->progress < span->progress_low)
            span->progress_low = object->progress;
        if (object->progress > span->progress_high)
            span->progress_high = object->progress;
        span->is_polled = span->is_polled || (object->algo->uses & SG_ALGO_POLLED);
        span->is_one_sided = span->is_one_sided || (object->algo->uses & SG_ALGO_ONE_SIDED);
        objects++;
        object->slot_bytes =
            object->needs.slot_bytes > 0 ? object->needs.slot_bytes : SG_SPAN_SLOT_BYTES;
        if (object->slot_bytes > span->slot_bytes)
            span->slot_bytes = object->slot_bytes;
        if (object->needs.parts * object->slot_bytes > eager_bytes)
            eager_bytes = object->needs.parts * object->slot_bytes;
        object->at = at;
        object->cells_at = line(object->needs.state_bytes);
        object->slots_at = line(object->cells_at + object->needs.cells * sizeof(uint64_t));
        object->results_at = object->slots_at + (size_t)object->needs.slots * object->slot_bytes;
        object->stride =
            object->results_at + (size_t)object->setup.parameters.credits * object->slot_bytes;
        at += (size_t)span->here * object->stride;
    }
    span->contributions_at = at;
    at += (size_t)span->here * span->depth * (size_t)span->locals_max * span->slot_bytes;
    /* What the protocols may have under way for a pair at once; the explorer checks this bound. */
    span->transport_setup.endpoints = span->endpoints;
    span->transport_setup.here = span->here;
    span->transport_setup.inflight =
        objects * (2 * span->depth + 8) + (span->wire != NULL ? span->depth : 0);
    span->transport_setup.staged = span->transport_setup.inflight;
    span->transport_setup.eager_bytes = eager_bytes;
    transport_bytes = objects > 0 ? span->ops->shared_bytes(&span->transport_setup) : 0;
    span->transport_at = at;
    span->size_bytes = at + transport_bytes;
    return transport_bytes > 0;
}

static int greatest(const int *counts, int count)
{
    int most = 0;

    for (int i = 0; i < count; i++)
        most = counts[i] > most ? counts[i] : most;
    return most;
}

/* All numbers are one allocation, which begins with endpoint_of. False: no memory. */
static bool number_ranks(struct sg_span *span, const struct sg_span_setup *setup)
{
    size_t ranks = (size_t)setup->ranks, endpoints = (size_t)setup->endpoints;
    size_t machines = (size_t)setup->machines;
    int *numbers = calloc(3 * ranks + 3 * endpoints + 2 * machines, sizeof *numbers);
    int *locals, *ranks_of, *endpoints_of; /* counts, of an endpoint and of a machine */

    if (numbers == NULL)
        return false;
    span->endpoint_of = numbers;
    span->machine_of = span->endpoint_of + ranks;
    span->number_of = span->machine_of + ranks;
    span->home_of = span->number_of + ranks;
    span->index_of = span->home_of + endpoints;
    locals = span->index_of + endpoints;
    ranks_of = locals + endpoints;
    endpoints_of = ranks_of + machines;
    span->endpoint = setup->endpoint_of[span->rank];
    for (int rank = 0; rank < span->ranks; rank++) {
        int endpoint = setup->endpoint_of[rank], machine = setup->machine_of[rank];

        span->endpoint_of[rank] = endpoint;
        span->machine_of[rank] = machine;
        span->number_of[rank] = ranks_of[machine]++;
        if (rank == span->rank)
            span->local = locals[endpoint];
        if (locals[endpoint]++ == 0) {
            span->home_of[endpoint] = machine;
            span->index_of[endpoint] = endpoints_of[machine]++;
        }
    }
    span->locals = span->servers = locals[span->endpoint];
    if (span->wire != NULL && span->servers > servers_max)
        span->servers = servers_max;
    span->locals_max = greatest(locals, setup->endpoints);
    span->ranks_here = greatest(ranks_of, setup->machines);
    span->here = greatest(endpoints_of, setup->machines);
    return true;
}

static bool keep_hosts(struct sg_span *span, const struct sg_span_setup *setup)
{
    size_t bytes = (size_t)setup->ranks * sizeof *span->hosts;

    span->hosts = malloc(bytes);
    if (span->hosts != NULL)
        memcpy(span->hosts, setup->hosts, bytes);
    return span->hosts != NULL;
}

static void dispose(struct sg_span *span)
{
    int saved_errno = errno;

    if (span->transport != NULL)
        span->ops->close(span->transport);
    if (span->header != NULL)
        sg_memory_free(span->header, span->size_bytes, span->is_maker);
    free(span->endpoint_of);
    free(span->hosts);
    free(span->reached);
    free(span->peers);
    free(span);
    errno = saved_errno;
}

/* A rank that is not connected would wait for one that is, which a post must not. */
static bool can_have_home(const struct sg_span *span)
{
    bool by_site = false;

    for (int operation = 0; operation < SG_OPERATION_COUNT; operation++)
        by_site = by_site || sg_ruleset_depends_on_site(span->rules, (enum sg_operation)operation);
    return by_site && span->wire != NULL && span->endpoints <= SG_SPAN_HOME_ENDPOINTS &&
           span->locals_max <= servers_max;
}

/* NULL: errno tells, 0 where nothing would run. */
static struct sg_span *make(const struct sg_span_setup *setup)
{
    struct sg_span *span = calloc(1, sizeof *span);

    if (span == NULL)
        return NULL;
    span->rank = setup->rank;
    span->ranks = setup->ranks;
    span->endpoints = setup->endpoints;
    span->rules = setup->rules;
    span->depth = ring_depth;
    span->ops = &sg_transport_shm;
    if (setup->ops != NULL) {
        span->ops = setup->ops;
        span->wire = setup->ops->wire;
        span->place.exchange = setup->exchange;
        span->machines = setup->machines;
    }
    if (!number_ranks(span, setup) || (setup->ops != NULL && !keep_hosts(span, setup)))
        goto err_dispose;
    span->has_home = span->is_one_sided = can_have_home(span);
    errno = 0;
    if (!lay_out(span, setup->name))
        goto err_dispose;
    return span;

err_dispose:
    dispose(span);
    return NULL;
}

/* The segment is mapped: the process's own part. */
static enum sg_status attach(struct sg_span *span)
{
    span->bed.sleepers = &span->header->sleepers;
    span->bed.wake = &span->header->wake;
    /* Between machines it is opened by all together, later: sg_span_link. */
    if (span->wire != NULL)
        return SG_OK;
    return sg_span_open(span);
}

/* Of the machine's endpoints. */
static void init_objects(struct sg_span *span)
{
    for (int i = 0; i < span->object_count; i++) {
        struct sg_span_object *object = &span->objects[i];

        for (int endpoint = 0; endpoint < span->endpoints && object->algo != NULL; endpoint++) {
            struct sg_algo_setup setup = object->setup;

            if (span->home_of[endpoint] != span->machine_of[span->rank])
                continue;
            setup.rank = endpoint;
            object->algo->init(sg_span_region(span, (uint32_t)i, endpoint), &setup);
        }
    }
}

/* Any other status than SG_OK: the span is freed. */
static enum sg_status hand_over(struct sg_span *span, enum sg_status status, struct sg_span **out)
{
    if (status == SG_OK)
        *out = span;
    else
        dispose(span);
    return status;
}

enum sg_status sg_span_offer(const struct sg_span_setup *setup, struct sg_span **out,
                             struct sg_segment_ticket *ticket)
{
    struct sg_span *span = make(setup);
    void *segment;
    enum sg_status status;

    if (span == NULL)
        return errno == 0 ? SG_ERR_MISSING : SG_ERR_MEMORY;
    status = sg_memory_create(span->size_bytes, setup->called, &segment, ticket);
    if (status != SG_OK)
        return hand_over(span, status, out);
    span->header = segment;
    span->is_maker = true;
    span->header->nonce = ticket->nonce;
    span->header->size_bytes = span->size_bytes;
    init_objects(span);
    span->header->magic = SG_SPAN_MAGIC;
    status = attach(span);
    if (status != SG_OK)
        sg_segment_seal(ticket);
    return hand_over(span, status, out);
}

enum sg_status sg_span_accept(const struct sg_span_setup *setup,
                              const struct sg_segment_ticket *ticket, struct sg_span **out)
{
    struct sg_span *span = make(setup);
    void *segment;
    enum sg_status status;

    if (span == NULL)
        return errno == 0 ? SG_ERR_MISSING : SG_ERR_MEMORY;
    status = sg_segment_open(ticket, &segment);
    if (status != SG_OK)
        return hand_over(span, status, out);
    span->header = segment;
    if (ticket->size_bytes == span->size_bytes && span->header->magic == SG_SPAN_MAGIC &&
        span->header->nonce == ticket->nonce)
        return hand_over(span, attach(span), out);
    errno = EBADF;
    return hand_over(span, SG_ERR_SYSTEM, out);
}

void sg_span_free(struct sg_span *span)
{
    sg_span_await_users(span);
    if (span->transport != NULL)
        sg_progress_remove(&span->client);
    dispose(span);
}
