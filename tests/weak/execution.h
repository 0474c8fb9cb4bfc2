/* An execution that the checker runs: its clocks, stores and threads, shared by the files of the
 * checker. */
#ifndef SG_TESTS_WEAK_EXECUTION_H
#define SG_TESTS_WEAK_EXECUTION_H

#include "weak/weak.h"

#include <stdatomic.h>

/* Vector clock: the number of each thread's operations that come before. */
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
    struct clock released;              /* clock that an acquirer gets */
    uint32_t touched[WEAK_THREADS_MAX]; /* first operation of each that wrote or read it; 0: none */
    int position;                       /* in its location's modification order */
    bool has_successor;                 /* a read-modify-write has read it: nothing goes between */
};

struct location {
    uintptr_t address;
    uint32_t bytes;
    uint32_t execution; /* execution that all but `most` belongs to */
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
    int store;    /* store that it has read; its own for a store or an update */
    int previous; /* event of the location; -1 */
    struct clock clock;
    uint64_t value;
    const void *site;
};

/* An access that a thread is about to make. */
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
    struct clock pending;  /* joins what relaxed loads have read: for an acquire fence */
    struct clock released; /* at the last release fence */
};

/* ---- explore.c ---- */

extern int weak_current; /* thread; -1: outside the model */
extern uint32_t weak_execution;
extern uint32_t weak_growth; /* counts discoveries of threads that store to a location */
extern struct thread weak_threads[WEAK_THREADS_MAX];

/* Returns one of `count` choices, all of which are explored. */
int weak_choose(int count);
/* Chooses the store that the access reads. */
int weak_choose_store(const struct access *access);
/* The thread has just stored something. */
void weak_stored(void);
/* Notes what the thread reads while it waits. */
void weak_has_read(const struct location *location, int store);
int weak_next_thread(void);
int weak_spawn(void *(*body)(void *), void *context);
bool weak_has_ended(int thread);
/* True if no other thread has it: this thread's stack, its thread-local variables. */
bool weak_is_own(const volatile void *address);
/* weak_pause: the thread's loop has gone round without what it waits for. weak_begin_wait: the
 * loop starts. */
void weak_pause(void);
void weak_begin_wait(void);

/* ---- graph.c ---- */

extern struct event weak_events[];
extern int weak_event_count;
extern struct store weak_stores[];
extern int weak_store_count;

void weak_graph_reset(void);
/* Forgets all locations, with the numbers of stores in earlier executions (`most`). */
void weak_forget_locations(void);
struct location *weak_location(uintptr_t address, uint32_t bytes);
/* NULL: the address has no atomic location in this execution. */
struct location *weak_find_location(uintptr_t address);
/* True if a thread with this clock knows the store: it may read no older one of the location. */
bool weak_is_known(const struct store *store, const struct clock *clock);
/* True if the access may read the store. */
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
/* event: about to happen, its clock as it will be. position: of the store that it reads, or that
 * it follows; stores behind that one come after it. */
bool weak_order_allows(const struct event *event, int position);
/* Called just before the event is added. */
void weak_order_add(const struct event *event, int position);

/* ---- race.c ---- */

void weak_plain(uintptr_t address, size_t bytes, bool is_write, const void *site);
/* An atomic access to memory that was written plainly before. */
void weak_atomic_on_plain(uintptr_t address, uint32_t bytes, const void *site);

/* ---- stand_in.c ---- */

void weak_system_reset(void);

/* ---- fault.c ---- */

/* Returns the order for the site: the weaker one while the site has its fault. */
memory_order weak_order_at(const void *site, enum operation operation, memory_order order);
/* "function file:line" */
const char *weak_site_text(const void *site);
const char *weak_order_name(memory_order order);
const char *weak_operation_name(enum operation operation);

#endif
