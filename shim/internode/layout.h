/* The shared segment of a communicator over several nodes: what lies where. Shared by the files
 * shim/internode.
 *
 *   header | home | about, by rank | endpoints | contributions, by endpoint, ring place and local
 *   rank | regions, by object and endpoint: state, cells, slots, results | the transport's
 *
 * Each machine has one, for its ranks and endpoints, which have their numbers there; the layout is
 * that of the machine with the most, so that what a transport reaches on another machine lies where
 * its like lies on this one.
 *
 * An object is one protocol with its parameters: one for each rule that names one. Positions count
 * the communicator's instances, alike on all ranks; instance p has place p modulo depth at each
 * endpoint. The place is used again when the protocol has FINISHed it there and every local rank
 * has left it. Offsets and indices only: the segment is mapped anywhere.
 */
#ifndef SG_INTERNODE_LAYOUT_H
#define SG_INTERNODE_LAYOUT_H

#include "internode/internode.h"
#include "intranode/layout.h"
#include "mpi/observer.h"
#include "progress/progress.h"
#include "transport/transport.h"
#include "wait/wait.h"

#include <stdatomic.h>

#define SG_SPAN_MAGIC UINT64_C(0x6e6170732d676773)
#define SG_SPAN_OBJECTS_MAX 64
#define SG_SPAN_SLOT_BYTES 1024u /* of an object that wants nothing else */
#define SG_SPAN_PLACES_MAX 64
#define SG_SPAN_WATCHES_MAX (SG_SPAN_OBJECTS_MAX * SG_WATCHES)
/* Those that an event gets at once; and, of each object, those of READ_CELLS that wait. */
#define SG_SPAN_REPLIES_MAX (16 + SG_SPAN_OBJECTS_MAX * SG_SPAN_PLACES_MAX / 8)
/* In the place of an object: a message that is for none, and carries a note alone. */
#define SG_SPAN_NOTE_ONLY 0xffu
/* Beside the object, in the transport's word: the reply waits for the next look. */
#define SG_SPAN_WAITS 0x100u

/* Words that the first rank to come to something writes for the others: see agree.c. Choices
 * are made by posts, too, which must not wait: their words are used again by quarters, and a
 * quarter that cannot be opened ends rules by call site. */
#define SG_SPAN_SIGNATURES 256
#ifndef SG_SPAN_CHOICES /* tests have fewer */
#define SG_SPAN_CHOICES 4096
#endif
#define SG_SPAN_QUARTER (SG_SPAN_CHOICES / 4)
#define SG_SPAN_OPENINGS 8

/* What is found out by words of that kind, in numbers from 0. */
enum sg_span_thing {
    SG_SPAN_CHOICE, /* of a call */
    SG_SPAN_OPENING /* of the quarter that takes the words of this one; see agree.c */
};

/* Who is connected to everybody else: of more endpoints there is no home. */
#define SG_SPAN_HOME_ENDPOINTS 64
/* In the place of an object, of the replies to what is asked there. */
#define SG_SPAN_HOME_ONLY 0xfeu

/* Between machines words are at endpoint 0, the home, whose machine has them for all, too. See
 * coordinator.c. */
struct sg_span_home {
    _Atomic uint64_t tickets[SG_SPAN_CHOICES]; /* machines that have asked, ever */
    _Atomic uint64_t decided[SG_SPAN_CHOICES]; /* words as those of a machine */
    _Atomic uint64_t opening_tickets[SG_SPAN_OPENINGS];
    _Atomic uint64_t openings[SG_SPAN_OPENINGS];
    _Atomic uint64_t passed[SG_SPAN_OPENINGS]; /* machines that have read the quarter, ever */
};

/* What a process asks the home, one thing at a time. */
struct sg_span_asking {
    uint8_t stage;         /* see coordinator.c */
    bool is_under_way;     /* asked, and its answer has not been used */
    _Atomic bool is_there; /* the answer */
    bool is_waiting;       /* for whoever is to come */
    bool is_telling;       /* of the quarter `told` */
    uint64_t value, told;
};

/* A rank: what it is in, for messages to people, and how far it is. */
struct sg_span_about {
    _Atomic uint64_t position; /* entered so far */
    _Atomic uint64_t left;     /* left so far */
    _Atomic uint64_t chosen;   /* choices read so far */
    struct sg_node_about call; /* the last one entered */
};

struct sg_span_instance {
    uint64_t position; /* valid where arrived > 0 */
    uint32_t arrived;  /* local ranks */
    uint32_t object, object_seq;
    uint32_t bytes;
    int32_t root; /* endpoint; -1 */
    uint8_t operation, flags;
    uint8_t reduction, element; /* of what the operands are; where bytes > 0 */
    uint16_t signature;         /* see agree.c */
    bool told;                  /* other machines, that it is waited for */
    bool stays;                 /* the last local rank does not leave its call before the end */
    uint64_t ready;             /* position + 1: its CALL may be fed, in its turn */
    uint64_t left_ns;           /* its CALL was completed, or what was late last was handled */
    _Atomic uint64_t finished;  /* position + 1 once the protocol has left it */
};

/* What an instance is, by the number that messages have. */
struct sg_span_kind {
    uint32_t seq;
    uint8_t reduction, element;
    uint32_t note; /* for other machines; 0: none. See consistency.c */
};

struct sg_span_reply {
    uint32_t object, tag;
    bool waits; /* for the next look: who asks again and again does so once a look */
    uint64_t value[8];
};

/* What a protocol watches: one of its own cells. */
struct sg_span_watch {
    uint32_t object, id, cell;
    uint64_t value;
};

/* What another machine said of an instance that was not entered here. */
struct sg_span_heard {
    uint32_t note;
    int32_t from;
};

/* Since a call took them for its outcome: what happens between calls is told by the next one, of
 * whichever local rank. */
struct sg_span_counters {
    _Atomic uint64_t late, early, stalls, copies, moves, repeats, handler_ns;
};

struct sg_span_endpoint {
    _Atomic uint32_t lock; /* 1: held */
    struct sg_progress_bell bell;
    _Atomic uint32_t master;    /* 1 + the cell of who serves it for those that do not; 0: none */
    _Atomic uint32_t draining;  /* local ranks that have come to drain */
    _Atomic uint64_t fed;       /* CALLs fed */
    _Atomic uint64_t completed; /* CALLs completed */
    struct sg_span_counters counters;
    uint64_t timers[SG_SPAN_OBJECTS_MAX][SG_TIMERS];                    /* 0: not set */
    struct sg_span_kind kinds[SG_SPAN_OBJECTS_MAX][SG_SPAN_PLACES_MAX]; /* by seq */
    uint32_t reply_count;
    struct sg_span_reply replies[SG_SPAN_REPLIES_MAX];
    _Atomic uint32_t watch_count;
    struct sg_span_watch watches[SG_SPAN_WATCHES_MAX];
    struct sg_span_instance places[SG_SPAN_PLACES_MAX];
    struct sg_span_heard heard[SG_SPAN_PLACES_MAX]; /* by position */
    _Atomic uint64_t
        foreign; /* 1 + an endpoint that is in another call, and the position above; 0 */
    /* The handler's actions, while they are carried out. */
    struct sg_action actions[SG_ACTIONS_MAX];
    struct sg_data parts[2 * SG_ACTIONS_MAX];
};

struct sg_span_header {
    uint64_t magic, nonce;
    uint64_t size_bytes;
    _Atomic uint32_t sleepers;
    _Atomic uint32_t wake;
    _Atomic bool has_posts; /* there have been any */
    _Atomic uint64_t stall_reported;
    _Atomic uint64_t warned[SG_NODE_WARNED]; /* see mpi/report.h */
    _Atomic uint64_t choices[SG_SPAN_CHOICES];
    _Atomic uint64_t signatures[SG_SPAN_SIGNATURES];
    _Atomic uint64_t openings[SG_SPAN_OPENINGS];
    _Atomic uint64_t told; /* quarters that this machine has told the home it has read */
};

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

/* This rank's part in one instance: a chunk of a call. */
enum sg_span_stage {
    SG_SPAN_QUEUED,  /* behind its earlier parts */
    SG_SPAN_ENTERED, /* is it the same call for all? */
    SG_SPAN_ALIKE,   /* is there a place? */
    SG_SPAN_ARRIVED, /* contributed */
    SG_SPAN_LEFT     /* over, for this rank */
};

struct sg_span_part {
    const struct sg_call *call;
    const struct sg_span_plan *plan;
    uint64_t position;
    const void *own;
    void *result;
    uint32_t count, bytes;
    enum sg_span_stage stage;
    bool stalled; /* there was no place at first */
    bool is_last; /* of the endpoint's to arrive */
    bool stays;   /* until the instance is over here */
};

/* A call under way at this rank: of its parts so many are begun before the first of them has left.
 */
struct sg_span_window {
    const struct sg_call *call;
    const struct sg_span_plan *plan;
    uint64_t position; /* of the first part */
    size_t count, begun,
        left;     /* parts; all before `begun` are begun, all before `left` have left */
    size_t width; /* of the window: at most the span's depth */
    struct sg_span_part *parts; /* by number, modulo SG_SPAN_PLACES_MAX */
};

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
    uint64_t all_chosen, all_entered; /* by all ranks: what was seen of it */
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

/* Others leave what is to be fed to those that do. */
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

/* Operands may meet before this endpoint's own call has told what they are: messages say it. */
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

void sg_span_stall_after(uint64_t ns);
/* The transport, in the mapped segment. */
enum sg_status sg_span_open(struct sg_span *span);

/* The endpoint's lock held: one event, and what follows from it at once. parts: of a message. */
void sg_span_feed(struct sg_span *span, uint32_t object, struct sg_event *event, const void *parts);
/* The endpoint's lock held: notes an action WATCH. */
void sg_span_watch(struct sg_span *span, uint32_t object, const struct sg_action *action);
/* The endpoint's lock held: the next reply that is (not) to wait for the next look; false: none. */
bool sg_span_take_reply(struct sg_span_endpoint *endpoint, bool waiting, struct sg_span_reply *out);
/* The endpoint's lock held. False: nothing came of it but that cells were asked for again. */
bool sg_span_feed_reply(struct sg_span *span, const struct sg_span_reply *reply, uint64_t time_ns);
/* Likewise, all that do not wait. */
void sg_span_feed_replies(struct sg_span *span, uint64_t time_ns);
/* The endpoint's lock held: the REPLY to an access that was LATER. */
void sg_span_feed_answer(struct sg_span *span, const struct sg_transport_message *message);
/* The endpoint's lock held: replies that wait, and watches whose cells have changed. How many
 * events others may have something of. */
int sg_span_feed_waiting(struct sg_span *span);
int sg_span_feed_watches(struct sg_span *span);
/* The endpoint's lock held: no CALL will come for the object. */
void sg_span_feed_drain(struct sg_span *span, uint32_t object);
/* The endpoint's lock held: what has arrived, timers that are due. How many events it fed. */
int sg_span_take(struct sg_span *span);
/* The endpoint's lock held: the instance of an object's number, if it is still known; NULL. */
struct sg_span_instance *sg_span_find_instance(const struct sg_span *span, uint32_t object,
                                               uint32_t seq);

/* The endpoint's lock held: what an event has changed in an object's head. */
void sg_span_count(struct sg_span_endpoint *endpoint, const struct sg_algo_head *before,
                   const struct sg_algo_head *after, uint64_t marks);
/* Likewise, of a contribution that was late: before its actions are carried out, which may end the
 * instance, and after. False: nothing can be told of it. */
bool sg_span_begin_late(struct sg_span *span, uint32_t object, const struct sg_event *event,
                        struct sg_late *late);
void sg_span_end_late(struct sg_span *span, struct sg_late *late);

bool sg_span_try_lock(struct sg_span *span);
/* Not in a signal handler. */
void sg_span_lock(struct sg_span *span);
/* Between machines, what this process has asked of others' memory is over before another one of the
 * endpoint has the lock. */
void sg_span_unlock(struct sg_span *span);
/* The endpoint's lock held, between machines: all that this process has asked an adapter for comes,
 * a round trip at most, in which no processor but the adapters takes part; what follows from it. */
void sg_span_settle(struct sg_span *span);

/* The endpoint's lock held: the CALLs whose turn it is. */
void sg_span_feed_calls(struct sg_span *span);

/* A part goes on as far as it can without waiting, by one thread at a time. True: it has left. */
bool sg_span_step(struct sg_span *span, struct sg_span_part *part);

/* The parts have the next positions. */
void sg_span_begin(struct sg_span *span, struct sg_span_window *window);
/* As sg_span_step, the parts of a call in their order. True: all have left. */
bool sg_span_step_window(struct sg_span *span, struct sg_span_window *window);
/* The same, of a call that waits: earlier posts go first. */
bool sg_span_step_call(struct sg_span *span, struct sg_span_window *window);
/* What progress calls. */
extern const struct sg_progress_ops sg_span_progress_ops;
/* Posts go on as far as they can. */
void sg_span_advance(struct sg_span *span);
/* Until is_over, which makes progress here; MPICH's, and that of other spans, is made here. */
void sg_span_wait(struct sg_span *span, bool (*is_over)(void *context), void *context,
                  const struct sg_call *call, uint64_t position);
/* What has been counted since it was told last. */
void sg_span_tell(struct sg_span *span, struct sg_outcome *outcome);
/* Nobody is at a post of the span any more. All of them are done. */
void sg_span_await_users(struct sg_span *span);

/* This rank has entered an instance: it must be the same call for all ranks, or the job ends.
 * False: to be asked again, when other ranks have gone on. */
bool sg_span_compare(struct sg_span *span, const struct sg_call *call, uint64_t position);

/* Whether all ranks of this machine have read the choices of so many calls. */
bool sg_span_have_all_chosen(struct sg_span *span, uint64_t count);
/* Several machines with a home; each is asked again until it is not false, and no other meanwhile.
 * Tells the home of the quarters that all ranks of this machine have read, unless another rank did.
 */
bool sg_span_tell_home(struct sg_span *span);
/* Whether all ranks of all machines have read a quarter. */
bool sg_span_ask_passed(struct sg_span *span, uint64_t quarter, bool *has_passed);
/* Of thing `number`, about which this process asks for its machine. own: the word that holds where
 * it is the first to ask. The word is what holds. */
bool sg_span_decide(struct sg_span *span, enum sg_span_thing thing, uint64_t number, uint64_t own,
                    uint64_t *word);
/* The endpoint's lock held: the home's answer. */
void sg_span_hear_home(struct sg_span *span, const struct sg_transport_message *message);

/* Several machines. A call's signature; what goes with its messages. */
uint16_t sg_span_signature(const struct sg_call *call);
uint32_t sg_span_note(const struct sg_span *span, const struct sg_span_instance *place);
/* The endpoint's lock held. False: the message is of another call than this machine's ranks are in,
 * and not to be handled; the job will end. */
bool sg_span_hear(struct sg_span *span, const struct sg_transport_message *message);
/* Likewise, of a place that has just been filled. */
void sg_span_recall(struct sg_span *span, const struct sg_span_instance *place);
/* In whatever an application's thread does here: what ends the job does so; peers are asked for a
 * sign of life. */
void sg_span_mind(struct sg_span *span);

/* What this process has used of the transport, for the trace: once. */
void sg_span_note_usage(struct sg_span *span);

/* One rank speaks, once an instance. */
void sg_span_report_stall(const struct sg_span *span, const struct sg_call *call, uint64_t position,
                          int seconds);

/* A call as parts, from 0. */
size_t sg_span_part_count(const struct sg_call *call, const struct sg_span_plan *plan);
void sg_span_cut(const struct sg_call *call, const struct sg_span_plan *plan, size_t index,
                 struct sg_span_part *part);

/* Around whatever enters instances or waits for them, in a call. */
void sg_span_enter(struct sg_span *span);
void sg_span_leave(struct sg_span *span);

#endif
