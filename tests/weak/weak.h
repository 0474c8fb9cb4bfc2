/* A checker of lock-free code under C11's memory model: real sources, every behaviour.
 *
 * The sources under check are compiled with -fsanitize=thread, which turns each atomic operation
 * and each plain access into a call, and are linked with the runtime here in the place of
 * ThreadSanitizer's. A scenario is two to four threads that call them. weak_explore runs it again
 * and again, until every execution that the model allows has been seen:
 *
 *   graph.c    stores of each location in modification order, clocks for happens-before, what a
 * load may read and where a store may go order.c    the order of sequentially consistent operations
 * and fences (RC11's psc) race.c     plain accesses: a data race is a failure explore.c  threads as
 * coroutines; all choices, depth first, each execution once stand_in.c futexes, mutexes, threads,
 * pauses fault.c    seeded faults: each order of the sources weakened in turn
 *
 * The model is RC11 (Lahav et al., PLDI 2017) as docs/decisions/0032-weak-memory.md has it.
 */
#ifndef SG_TESTS_WEAK_WEAK_H
#define SG_TESTS_WEAK_WEAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEAK_THREADS_MAX 4
#define WEAK_TEXT_BYTES 400

/* Each execution begins with setup, outside the model: what it writes is there before the threads.
 * finish likewise sees what all threads have left behind; a thread that is asleep as it may be
 * (weak_may_sleep) has not ended. All of it must do the same in every execution. */
struct weak_scenario {
    const char *name;
    int threads;
    void (*setup)(void);
    void (*thread)(int number);
    void (*finish)(void);
    int rounds_most; /* of a loop that stores each time; 0: the usual */
    /* Of the choices of an execution, so many at most are not the first that there is: the newest
     * store is read, the first thread goes on. 0: any number. */
    int deviations_most;
};

struct weak_result {
    bool failed;
    bool complete; /* nothing is left to explore */
    uint64_t executions;
    uint64_t redundant; /* begun, and left when it was clear that others cover them */
    uint64_t bounded;   /* of the executions, those in which a loop that stores was cut short */
    char what[WEAK_TEXT_BYTES];
};

void weak_explore(const struct weak_scenario *scenario, struct weak_result *result);

/* What the environment's WEAK_MORE adds to deviations_most; where it is above 0, tests explore what
 * takes longer, too. */
int weak_more(void);

/* All scenarios up to a NULL, each explored whole without a failure; a line is printed of each. */
bool weak_holds(const struct weak_scenario *const *scenarios);

/* Of a thread of a scenario: ends the execution, which has failed. */
void weak_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
#define WEAK_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            weak_fail("%s:%d: %s", __func__, __LINE__, #condition);                                \
    } while (0)

/* Until it is true. Each time that it is not, what it reads must change before it is asked again;
 * if nothing is to change it, that is a failure: the thread waits for ever. */
void weak_await(bool (*condition)(void *context), void *context);

/* This thread may be found asleep at the end. */
void weak_may_sleep(void);

/* Plain accesses of a scenario's own, to memory that threads share. */
void *weak_copy(void *to, const void *from, size_t bytes);

/* ---- the system, in setup ---- */

/* So many looks at the clock find it each so much later; else it stands still. */
void weak_clock_step(uint64_t step_ns, int looks);
/* Signals sent are lost: no thread has them (the sender is told). */
void weak_signals_fail(void);
/* Handlers run in a thread of their own: signals come to it, one at a time. */
void weak_start_handler(void);

/* ---- seeded faults ---- */

/* An order that the scenarios pass without: stronger than these need it. nth: among the operations
 * of its kind and order in the function, from 1. */
struct weak_unneeded {
    const char *function;
    const char *operation; /* as it is printed: "load acquire" */
    int nth;
    const char *without; /* the weaker order that does */
    const char *reason;
};

/* Weakens each order stronger than relaxed that the scenarios come by in these functions (up to a
 * NULL; NULL: in all), alone, and explores them until one fails. True: every such fault is found,
 * but for those listed, which are not. Prints a line for each. */
bool weak_faults(const struct weak_scenario *const *scenarios, const char *const *functions,
                 const struct weak_unneeded *unneeded);

#endif
