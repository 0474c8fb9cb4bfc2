/* The state of the mini host, shared by mini_host.c (events, checks), mini_drive.c (choice of the
 * next event) and mini_actions.c (data, carrying out actions). */
#ifndef SG_TESTS_ALGOS_MINI_STATE_H
#define SG_TESTS_ALGOS_MINI_STATE_H

#include "algos/mini_host.h"

#define MINI_ELEMENTS (MINI_BYTES_MAX / 8)
#define MINI_POISON UINT64_C(0xdeadbeefdeadbeef)

typedef uint64_t mini_value[MINI_ELEMENTS];

enum mini_kind { MINI_MESSAGE, MINI_ACCESS, MINI_REPLY };

/* An item in flight. An access is queued behind the earlier ones of the same pair. */
struct mini_item {
    enum mini_kind kind;
    int from, to;
    bool multicast;
    struct sg_header header; /* of a message */
    struct sg_action access; /* of an access */
    uint32_t tag;            /* of a reply */
    uint64_t answer[8];      /* of a reply */
    mini_value parts[SG_PARTS_MAX];
};

struct mini_timer {
    bool set;
    uint64_t time_ns;
};

struct mini_watch {
    bool set;
    uint32_t cell;
    uint64_t value;
};

#define MINI_POSTS_MAX 1024

struct mini_post {
    struct sg_algo_post post;
    struct sg_action delivery;
    bool delivered;
    uint64_t from;   /* endpoint << 32 | handle of the message it receives */
    uint64_t chunks; /* bit: has come */
    uint32_t bytes;  /* ... in all */
};

struct mini_endpoint {
    struct mini_post *posts; /* MINI_POSTS_MAX, by handle; or NULL */
    unsigned char *state[2]; /* with guards; the current one is state[at] */
    int at;
    mini_value *slots;
    uint64_t *cells;
    mini_value operand;
    mini_value results[64]; /* by instance modulo credits */
    struct sg_algo_call call;
    uint32_t called;
    bool in_call, held;
    struct mini_timer timers[SG_TIMERS];
    struct mini_watch watches[SG_WATCHES];
    uint32_t watched; /* bit: watch */
    uint64_t marks;
    int actions[SG_ACTION_KINDS];
    bool in_slice;
    int slice_count;
    struct sg_slice slice; /* the last one that is over */
    /* By instance. */
    bool completed[MINI_INSTANCES_MAX], finished[MINI_INSTANCES_MAX];
    mini_value outcome[MINI_INSTANCES_MAX];
};

struct mini_host {
    struct mini_setup setup;
    struct sg_algo_needs needs;
    uint32_t credits;
    struct mini_endpoint *endpoints;
    struct mini_item **items; /* in the order in which they were sent */
    int item_count, item_room;
    int *choice; /* holds the possible next events */
    uint64_t time_ns, random;
    int timers_set, watches_set; /* of all endpoints */
    int most_in_flight;
    uint32_t entered[MINI_INSTANCES_MAX]; /* endpoints that made their n-th call */
    uint32_t flags[MINI_INSTANCES_MAX];   /* of its operation */
    bool synchronises[MINI_INSTANCES_MAX];
};

/* Index of an endpoint's n-th instance among its credits; the instance's number is
 * parameters.first + n. */
static inline uint32_t mini_place(const struct mini_host *host, uint64_t n)
{
    return (uint32_t)((host->setup.parameters.first + n) % host->credits);
}

/* Returns a random number below limit. */
uint32_t mini_random(struct mini_host *host, uint32_t limit);

struct mini_item *mini_add(struct mini_host *host, enum mini_kind kind, int from, int to);

/* True if the item is between these two; -1 stands for any. */
bool mini_same_pair(const struct mini_item *item, int from, int to);
/* Takes an item out of those in flight and carries it out. */
struct mini_item *mini_take(struct mini_host *host, int at);
void mini_happen(struct mini_host *host, struct mini_item *item);
void mini_timer_event(struct mini_host *host, int rank, uint32_t id);
void mini_watch_event(struct mini_host *host, int rank, uint32_t id, uint64_t value);
void mini_drain_event(struct mini_host *host, int rank);

void mini_set_timer(struct mini_host *host, int rank, uint32_t id, bool set, uint64_t time_ns);

/* Carries out a handler's actions. parts: of the message that it handled, or NULL. */
void mini_carry_out(struct mini_host *host, int rank, const struct sg_actions *actions,
                    mini_value *parts);

/* Carry out a FILL or DRAIN, and a DELIVER. */
void mini_fill(struct mini_host *host, int rank, const struct sg_action *action, mini_value slot);
void mini_empty(struct mini_host *host, int rank, const struct sg_action *action, mini_value slot);
void mini_over(struct mini_host *host, int rank, const struct sg_action *action);
/* Feeds an event. */
typedef void (*mini_handler)(void *state, const struct sg_event *event, struct sg_actions *actions);
void mini_feed(struct mini_host *host, int rank, mini_handler handle, struct sg_event *event,
               mini_value *parts);

/* Carries out a one-sided access; its reply, if any, is then in flight. */
void mini_access(struct mini_host *host, const struct mini_item *item);

#endif
