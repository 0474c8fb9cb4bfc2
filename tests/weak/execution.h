/* An execution that the checker runs: its clocks, stores and threads, shared by the files of the
 * checker. */
#ifndef SG_TESTS_WEAK_EXECUTION_H
#define SG_TESTS_WEAK_EXECUTION_H

#include "weak/weak.h"

#include <stdatomic.h>

/* Vector clocks: of each thread, how many of its operations come before. */
struct clock {
    uint32_t at[WEAK_THREADS_MAX];
};

static inline void clock_join(struct clock *clock, const struct clock *other)
{
    for (int i = 0; i < WEAK_THREADS_MAX; i++) {
        if (other->at[i] > clock->at[i])
            clock->at[i] = other->at[i];
    }
}

#define STORES_MAX 512 /* of one location in one execution */

struct store {
    uint64_t value;
    struct clock released;              /* that who acquires it gets */
    uint32_t touched[WEAK_THREADS_MAX]; /* first operation of each that wrote or read it; 0: none */
    int position;                       /* in its location's modification order */
    bool has_successor;                 /* a read-modify-write has read it: nothing goes between */
};

struct location {
    uintptr_t address;
    uint32_t bytes;
    uint32_t execution; /* that the rest is of, but for `most` */
    int last_event;     /* -1: none */
    int count;
    int order[STORES_MAX]; /* stores by position */
    uint32_t stored[WEAK_THREADS_MAX];
    uint32_t most[WEAK_THREADS_MAX]; /* stored by each in any execution so far */
};

enum operation { OPERATION_LOAD, OPERATION_STORE, OPERATION_UPDATE, OPERATION_FENCE };

struct event {
    uint8_t thread;
    uint8_t operation;
    uint8_t order; /* memory_order */
    struct location *location;
    int store;    /* that it has read, or, of a store or an update, its own */
    int previous; /* event of the location; -1 */
    struct clock clock;
    uint64_t value;
    const void *site;
};

/* What a thread is about to do. */
struct access {
    enum operation operation; /* an update may turn out to be a load: see compares */
    memory_order order, failure_order;
    const void *site;
    struct location *location;
    bool compares; /* writes only where it reads `expected` */
    uint64_t expected;
};

struct thread {
    struct clock now;
    struct clock pending;  /* of what relaxed loads have read: an acquire fence joins it */
    struct clock released; /* at the last release fence */
};

/* ---- explore.c ---- */

extern int weak_current; /* thread; -1: outside the model */
extern uint32_t weak_execution;
extern uint32_t weak_growth; /* counts what was learned of who stores where */
extern struct thread weak_threads[WEAK_THREADS_MAX];

/* One of so many, all of which are explored. */
int weak_choose(int count);
/* The store that the access reads: chosen. */
int weak_choose_store(const struct access *access);
/* The thread has just stored something. */
void weak_stored(void);
/* Notes what the thread reads while it waits. */
void weak_has_read(const struct location *location, int store);
int weak_next_thread(void);
int weak_spawn(void *(*body)(void *), void *context);
bool weak_has_ended(int thread);
/* Nobody but this thread has it: its stack, its thread-local variables. */
bool weak_is_own(const volatile void *address);
/* The loop that the thread is in has been round without what it waits for; at its start: begin. */
void weak_pause(void);
void weak_begin_wait(void);

/* ---- graph.c ---- */

extern struct event weak_events[];
extern int weak_event_count;
extern struct store weak_stores[];
extern int weak_store_count;

void weak_graph_reset(void);
/* And what was learned of who stores where. */
void weak_forget_locations(void);
struct location *weak_location(uintptr_t address, uint32_t bytes);
/* NULL: not an atomic one in this execution. */
struct location *weak_find_location(uintptr_t address);
/* Whether a store is known to a thread: it may read no older one of the location. */
bool weak_is_known(const struct store *store, const struct clock *clock);
/* Whether the access may read it. */
bool weak_may_read(const struct access *access, int store);

uint64_t weak_load(uintptr_t address, uint32_t bytes, memory_order order, const void *site);
void weak_store(uintptr_t address, uint32_t bytes, uint64_t value, memory_order order,
                const void *site);
typedef uint64_t (*weak_change)(uint64_t old, uint64_t operand);
uint64_t weak_update(uintptr_t address, uint32_t bytes, weak_change change, uint64_t operand,
                     memory_order order, const void *site);
bool weak_compare(uintptr_t address, uint32_t bytes, uint64_t *expected, uint64_t desired,
                  memory_order order, memory_order failure_order, const void *site);
void weak_fence(memory_order order, const void *site);

static inline bool weak_acquires(memory_order order)
{
    return order == memory_order_acquire || order == memory_order_acq_rel ||
           order == memory_order_seq_cst || order == memory_order_consume;
}

static inline bool weak_releases(memory_order order)
{
    return order == memory_order_release || order == memory_order_acq_rel ||
           order == memory_order_seq_cst;
}

/* ---- order.c ---- */

void weak_order_reset(void);
/* event: about to happen, its clock as it will be. position: of the store that it reads, or that it
 * goes behind; stores behind that one come after it. */
bool weak_order_allows(const struct event *event, int position);
/* Just before it is added to the events. */
void weak_order_add(const struct event *event, int position);

/* ---- race.c ---- */

void weak_plain(uintptr_t address, size_t bytes, bool is_write, const void *site);
/* An atomic access to memory that was written plainly before. */
void weak_atomic_on_plain(uintptr_t address, uint32_t bytes, const void *site);

/* ---- stand_in.c ---- */

void weak_system_reset(void);

/* ---- fault.c ---- */

/* The order that the site is to have, which is weaker while that is its fault. */
memory_order weak_order_at(const void *site, enum operation operation, memory_order order);
/* "function file:line" */
const char *weak_site_text(const void *site);
const char *weak_order_name(memory_order order);
const char *weak_operation_name(enum operation operation);

#endif
