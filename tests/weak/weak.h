/* A checker of lock-free code under C11's memory model: real sources, every behaviour.
 *
 * The sources under check are compiled with -fsanitize=thread, which turns each atomic operation
 * and each plain access into a call, and are linked with the runtime here in the place of
 * ThreadSanitizer's. A scenario is two to four threads that call them. weak_explore runs it again
 * and again, until every execution that the model allows has been seen:
 *
 *   graph.c     stores of each location in modification order, clocks for happens-before, the
 *               stores that a load may read and the places where a store may go
 *   order.c     the order of sequentially consistent operations and fences (RC11's psc)
 *   race.c      plain accesses: a data race is a failure
 *   explore.c   threads as coroutines; all choices, depth first, each execution once
 *   stand_in.c  futexes, mutexes, threads, pauses
 *   fault.c     seeded faults: each order of the sources weakened in turn
 *
 * The model is RC11 (Lahav et al., PLDI 2017) as docs/decisions/16 has it.
 */
#ifndef SG_TESTS_WEAK_WEAK_H
#define SG_TESTS_WEAK_WEAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEAK_THREADS_MAX 4
#define WEAK_TEXT_BYTES 400

/* Each execution begins with setup, outside the model: its writes are there before the threads.
 * finish likewise sees everything that the threads have left behind; a thread that may sleep
 * (weak_may_sleep) and does has not ended. All functions must do the same in every execution. */
struct weak_scenario {
    const char *name;
    int threads;
    void (*setup)(void);
    void (*thread)(int number);
    void (*finish)(void);
    int rounds_most; /* of a loop that stores each time; 0: the default */
    /* Most choices of an execution that are not the first one available, which reads the newest
     * store or lets the first thread go on. 0: any number. */
    int deviations_most;
};

struct weak_result {
    bool failed;
    bool complete; /* nothing is left to explore */
    uint64_t executions;
    uint64_t redundant; /* begun, and abandoned when others were known to cover them */
    uint64_t bounded;   /* executions in which a loop that stores was cut short */
    char what[WEAK_TEXT_BYTES];
};

void weak_explore(const struct weak_scenario *scenario, struct weak_result *result);

/* Returns the addition to deviations_most by WEAK_MORE in the environment. If it is above 0,
 * tests also explore what takes longer. */
int weak_more(void);

/* Explores all scenarios up to a NULL and prints a line of each. True: each was explored whole
 * without a failure. */
bool weak_holds(const struct weak_scenario *const *scenarios);

/* Called by a thread of a scenario: fails and ends the execution. */
void weak_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
#define WEAK_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            weak_fail("%s:%d: %s", __func__, __LINE__, #condition);                                \
    } while (0)

/* Waits until the condition is true. Each time that it is not, a location it reads must change
 * before it is asked again. If nothing is to change it, that is a failure: the thread waits for
 * ever. */
void weak_await(bool (*condition)(void *context), void *context);

/* This thread may be found asleep at the end. */
void weak_may_sleep(void);

/* A scenario's own plain access to memory that threads share. */
void *weak_copy(void *to, const void *from, size_t bytes);

/* ---- the system, in setup ---- */

/* The next `looks` looks at the clock each find it step_ns later; otherwise it stands still. */
void weak_clock_step(uint64_t step_ns, int looks);
/* Signals sent are lost: no thread has them (the sender sees an error). */
void weak_signals_fail(void);
/* Handlers run in a thread of their own: signals come to it, one at a time. */
void weak_start_handler(void);

/* ---- seeded faults ---- */

/* An order that the scenarios pass without: stronger than they need. nth: among the operations of
 * its kind and order in the function, from 1. */
struct weak_unneeded {
    const char *function;
    const char *operation; /* as it is printed: "load acquire" */
    int nth;
    const char *without; /* the weaker order that is enough */
    const char *reason;
};

/* Weakens, one at a time, each order stronger than relaxed that the scenarios reach in these
 * functions (up to a NULL; NULL: in all), and explores them until one fails. True: every such
 * fault is found, except those listed, which are not. Prints a line for each. */
bool weak_faults(const struct weak_scenario *const *scenarios, const char *const *functions,
                 const struct weak_unneeded *unneeded);

#endif
