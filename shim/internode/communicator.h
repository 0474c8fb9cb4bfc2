/* A communicator over several nodes as one of its processes has it, and the addresses of what lies
 * in its machine's segment.
 */
#ifndef SG_INTERNODE_COMMUNICATOR_H
#define SG_INTERNODE_COMMUNICATOR_H

#include "internode/internode.h"
#include "internode/layout.h"
#include "transport/transport.h"
#include "wait/wait.h"

/* Where an object's parts begin in the segment, and how far it is from endpoint to endpoint. */
struct sg_span_object {
    const struct sg_algo *algo; /* NULL: the rule names none, or is not for this communicator */
    struct sg_algo_setup setup; /* rank: this endpoint */
    struct sg_algo_needs needs;
    enum sg_progress_mode progress; /* that the rule asks for */
    uint32_t slot_bytes;            /* of slots and results; calls are cut into as much */
    size_t at, stride;
    size_t cells_at, slots_at, results_at; /* in a region */
};

/* What this process's log calls its part in an instance. */
struct sg_span_name {
    uint64_t position;
    struct sg_call_name call;
};

/* What a process asks the home, one thing at a time. */
struct sg_span_asking {
    uint8_t stage;         /* see coordinator.c */
    bool is_under_way;     /* asked, and its answer has not been used */
    _Atomic bool is_there; /* the answer */
    bool is_waiting;       /* for other ranks */
    bool is_telling;       /* of the quarter `told` */
    uint64_t value, told;
};

static inline void sg_span_keep_answer(struct sg_span_asking *asking, uint64_t value)
{
    asking->value = value;
    /* Release: pairs with ask in coordinator.c, in another thread of this process. */
    atomic_store_explicit(&asking->is_there, true, memory_order_release);
}

struct sg_span {
    struct sg_span_header *header;
    bool is_maker; /* of the segment */
    struct sg_wait_bed bed;
    int rank, ranks;
    int endpoint, endpoints;
    int local, locals; /* number among the endpoint's ranks, and how many they are */
    int servers;       /* the first so many of them serve it: they feed and take messages */
    int locals_max;
    int *endpoint_of;     /* by rank */
    int *machine_of;      /* by rank */
    int *number_of;       /* by rank: among its machine's ranks */
    int *home_of;         /* by endpoint: its machine */
    int *index_of;        /* by endpoint: among its machine's endpoints */
    int here, ranks_here; /* the most endpoints, and ranks, of one machine */
    uint32_t depth;
    uint32_t slot_bytes;              /* the most of an object's: of contributions */
    uint64_t position;                /* parts begun */
    _Atomic uint64_t arrived;         /* parts that have arrived, in their order */
    uint64_t left, left_beyond;       /* parts left: all before, and after it those in the mask */
    uint64_t chosen;                  /* calls whose choice was agreed on */
    uint64_t all_chosen, all_entered; /* by all ranks here, as last seen */
    bool is_far_ahead;                /* some rank was: rules by call site hold no longer */
    const struct sg_ruleset *rules;
    int object_count;
    struct sg_span_object objects[SG_SPAN_OBJECTS_MAX];
    enum sg_progress_mode progress_low, progress_high; /* of the objects */
    bool is_polled;                                    /* some object is SG_ALGO_POLLED */
    bool is_one_sided;                                 /* some is, or there is a home */
    size_t home_at; /* where there is one; endpoint 0's machine's is used */
    size_t about_at, endpoints_at, contributions_at, transport_at, size_bytes;
    struct sg_span_post *first_post, *last_post; /* not done; see nonblocking.c */
    _Atomic uint32_t posts;                      /* how many */
    _Atomic uint32_t users;                      /* threads that are at a post */
    bool draining, sees_to_it;
    struct sg_progress_client client;
    struct sg_span_name names[SG_SPAN_PLACES_MAX]; /* by place; read under the endpoint's lock */
    const struct sg_transport_ops *ops;
    struct sg_transport_setup transport_setup;
    struct sg_transport *transport;
    /* Several machines: */
    const struct sg_transport_wire *wire; /* else NULL */
    struct sg_transport_place place;
    int machines;
    bool has_home; /* rules tell call sites apart, and there can be one */
    struct sg_span_asking asking;
    const char **hosts; /* by rank */
    int32_t *peers;     /* endpoints that are connected */
    int peer_count;
    uint8_t *reached; /* by object and 1 + root's endpoint; see connect.c */
    _Atomic uint64_t probed_ns;
    bool noted;
};

/* Ranks that do not serve their endpoint leave its CALLs and messages to those that do. */
static inline bool sg_span_serves(const struct sg_span *span)
{
    return span->local < span->servers;
}

static inline bool sg_span_is_here(const struct sg_span *span, int rank)
{
    return span->machine_of[rank] == span->machine_of[span->rank];
}

static inline void *sg_span_at(const struct sg_span *span, size_t offset)
{
    return (unsigned char *)span->header + offset;
}

/* Of a rank of this machine. */
static inline struct sg_span_about *sg_span_about(const struct sg_span *span, int rank)
{
    return (struct sg_span_about *)sg_span_at(span, span->about_at) + span->number_of[rank];
}

/* Of this machine. */
static inline struct sg_span_endpoint *sg_span_endpoint(const struct sg_span *span, int endpoint)
{
    return (struct sg_span_endpoint *)sg_span_at(span, span->endpoints_at) +
           span->index_of[endpoint];
}

static inline struct sg_span_instance *sg_span_place(const struct sg_span *span, uint64_t position)
{
    return &sg_span_endpoint(span, span->endpoint)->places[position % span->depth];
}

/* The endpoint's lock held: the instance of an object's number, if it is still known; NULL. */
static inline struct sg_span_instance *sg_span_find_instance(const struct sg_span *span,
                                                             uint32_t object, uint32_t seq)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);

    for (uint32_t i = 0; i < span->depth; i++) {
        struct sg_span_instance *place = &endpoint->places[i];

        if (place->arrived > 0 && place->object == object && place->object_seq == seq)
            return place;
    }
    return NULL;
}

static inline void *sg_span_contribution(const struct sg_span *span, uint64_t position, int local)
{
    size_t index = ((size_t)span->index_of[span->endpoint] * span->depth + position % span->depth) *
                       (size_t)span->locals_max +
                   (size_t)local;

    return sg_span_at(span, span->contributions_at + index * span->slot_bytes);
}

/* Of an endpoint on another machine: where it would be on this one. */
static inline unsigned char *sg_span_region(const struct sg_span *span, uint32_t object,
                                            int endpoint)
{
    const struct sg_span_object *about = &span->objects[object];

    return sg_span_at(span, about->at + (size_t)span->index_of[endpoint] * about->stride);
}

/* Operands may meet before this endpoint's own CALL: messages say what they are. */
static inline struct sg_span_kind *sg_span_kind_of(const struct sg_span *span, uint32_t object,
                                                   uint32_t seq)
{
    return &sg_span_endpoint(span, span->endpoint)->kinds[object][seq % SG_SPAN_PLACES_MAX];
}

static inline void *sg_span_result(const struct sg_span *span, uint32_t object, uint32_t seq)
{
    const struct sg_span_object *about = &span->objects[object];
    uint32_t index = seq % about->setup.parameters.credits;

    return sg_span_region(span, object, span->endpoint) + about->results_at +
           (size_t)index * about->slot_bytes;
}

#endif
