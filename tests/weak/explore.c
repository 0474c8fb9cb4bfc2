/* Explores every execution of a scenario, once.
 *
 * Threads are coroutines. Stores and fences are carried out at once: a load may read an older
 * store all the same, and a later store may go before. So the choice is which store each load
 * reads. When every thread is about to load, one of them takes each of the present stores in
 * turn, or waits for one that is yet to come and then reads one of those. No execution comes
 * twice, and none is left out, because the store that a load reads is there before it, whatever
 * other threads do meanwhile. A load does not wait for threads that have made as many stores to
 * its location as they ever did; if one makes more, the exploration begins again with that known.
 * A wait for nothing is redundant: the execution is abandoned.
 *
 * A thread that goes round in a loop without what it waits for, and has stored nothing, stays
 * there. When something newer than it has read is stored, the execution is abandoned: another one
 * has it read that. If nothing is, it waits for ever. A thread that stores in its loop goes round
 * a few times and then stays, too. In the end all that stay go on by turns, reading the newest
 * stores; if none of them comes to its end, they wait for ever.
 */
#include "weak/execution.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK_BYTES (256u * 1024u)
#define LOCAL_BYTES 256
#define CHOICES_MAX 8192
#define READS_MAX 256
#define ROUNDS_MOST 4  /* of a loop that stores */
#define LAST_ROUNDS 24 /* by turns, in the end */
#define EXECUTIONS_MOST 4000000

enum state { STATE_NONE, STATE_READY, STATE_CHOOSING, STATE_WAITING, STATE_ENDED };

struct routine {
    enum state state;
    jmp_buf point;
    char *stack;
    void *(*body)(void *);
    void *context;
    const struct access *access;
    int since; /* stores from this one on may be chosen */
    int chosen;
    /* of the loop that it is in */
    struct {
        const struct location *location;
        int store;
    } reads[READS_MAX];
    int read_count;
    char local[LOCAL_BYTES];
    uint32_t stored; /* when the loop was begun */
    uint32_t stores;
    int rounds;
    bool has_begun, is_pure, is_bounded;
    bool may_sleep;
};

int weak_current = -1;
uint32_t weak_execution;
uint32_t weak_growth;
struct thread weak_threads[WEAK_THREADS_MAX];

static struct routine routines[WEAK_THREADS_MAX];
static int routine_count;
static jmp_buf scheduler;
static const struct weak_scenario *scenario;
static struct weak_result *result;

static struct {
    uint16_t count, chosen;
} choices[CHOICES_MAX];
static int choice_count, choice_at, deviations;

static bool is_redundant, is_last_part, is_bounded;

/* ---- choices ---- */

int weak_more(void)
{
    const char *more = getenv("WEAK_MORE");

    return more != NULL ? atoi(more) : 0;
}

int weak_choose(int count)
{
    int most = scenario->deviations_most > 0 ? scenario->deviations_most + weak_more() : 0;

    if (is_last_part || count == 1 || (most > 0 && deviations == most))
        return 0;
    if (choice_at == CHOICES_MAX) {
        fprintf(stderr, "weak: too many choices\n");
        abort();
    }
    if (choice_at == choice_count) {
        choices[choice_count].count = (uint16_t)count;
        choices[choice_count++].chosen = 0;
    } else if (choices[choice_at].count != count) {
        fprintf(stderr, "weak: %s is not the same each time\n", scenario->name);
        abort();
    }
    deviations += choices[choice_at].chosen > 0;
    return choices[choice_at++].chosen;
}

/* False: there is none. */
static bool next_choices(void)
{
    while (choice_count > 0 &&
           choices[choice_count - 1].chosen + 1 == choices[choice_count - 1].count)
        choice_count--;
    if (choice_count == 0)
        return false;
    choices[choice_count - 1].chosen++;
    return true;
}

/* ---- coroutines ---- */

/* Variables of each thread: stand_in.h puts them here. */
extern char __start_weak_local[] __attribute__((weak)), __stop_weak_local[] __attribute__((weak));

bool weak_is_own(const volatile void *address)
{
    const char *at = (const char *)address, *stack = routines[weak_current].stack;

    return (at >= stack && at < stack + STACK_BYTES) ||
           (at >= __start_weak_local && at < __stop_weak_local);
}

static void to_scheduler(enum state state)
{
    struct routine *self = &routines[weak_current];

    self->state = state;
    if (_setjmp(self->point) == 0)
        _longjmp(scheduler, 1);
}

static void run_body(void)
{
    struct routine *self = &routines[weak_current];

    if (_setjmp(self->point) == 0)
        _longjmp(scheduler, 1);
    self->body(self->context);
    to_scheduler(STATE_ENDED);
}

static void go_on(int thread)
{
    struct routine *routine = &routines[thread];
    size_t local_bytes = (size_t)(__stop_weak_local - __start_weak_local);

    weak_current = thread;
    routine->state = STATE_READY;
    memcpy(__start_weak_local, routine->local, local_bytes);
    if (_setjmp(scheduler) == 0)
        _longjmp(routine->point, 1);
    memcpy(routines[thread].local, __start_weak_local, local_bytes);
    weak_current = -1;
}

int weak_next_thread(void)
{
    return routine_count;
}

int weak_spawn(void *(*body)(void *), void *context)
{
    int thread = routine_count++, parent = weak_current;
    struct routine *routine = &routines[thread];
    char *stack = routine->stack;
    ucontext_t start;
    static ucontext_t dropped;
    jmp_buf before;

    if (thread == WEAK_THREADS_MAX) {
        fprintf(stderr, "weak: too many threads\n");
        abort();
    }
    if (stack == NULL)
        stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *routine =
        (struct routine){.state = STATE_READY, .stack = stack, .body = body, .context = context};
    weak_threads[thread] = (struct thread){0};
    if (parent >= 0)
        weak_threads[thread].now = weak_threads[parent].now;
    getcontext(&start);
    start.uc_stack.ss_sp = stack;
    start.uc_stack.ss_size = STACK_BYTES;
    makecontext(&start, run_body, 0);
    memcpy(before, scheduler, sizeof before);
    weak_current = thread;
    if (_setjmp(scheduler) == 0)
        swapcontext(&dropped, &start);
    memcpy(scheduler, before, sizeof before);
    weak_current = parent;
    return thread;
}

bool weak_has_ended(int thread)
{
    return routines[thread].state == STATE_ENDED;
}

/* ---- what a load reads ---- */

static bool has_stopped(int thread)
{
    return routines[thread].state == STATE_ENDED || routines[thread].state == STATE_WAITING;
}

/* Whether another thread may yet store there. */
static bool is_more_to_come(const struct location *location, int thread)
{
    for (int other = 0; other < WEAK_THREADS_MAX; other++) {
        if (other != thread && !has_stopped(other) &&
            location->stored[other] < location->most[other])
            return true;
    }
    return false;
}

static int find_candidates(int thread, int stores[STORES_MAX])
{
    const struct routine *routine = &routines[thread];
    const struct location *location = routine->access->location;
    int count = 0, before = weak_current;

    weak_current = thread;
    /* The newest first. */
    for (int i = location->count - 1; i >= 0; i--) {
        if (location->order[i] >= routine->since &&
            weak_may_read(routine->access, location->order[i]))
            stores[count++] = location->order[i];
    }
    weak_current = before;
    return count;
}

int weak_choose_store(const struct access *access)
{
    struct routine *self = &routines[weak_current];
    int stores[STORES_MAX];

    if (is_last_part)
        return access->location->order[access->location->count - 1];
    self->access = access;
    self->since = 0;
    if (!is_more_to_come(access->location, weak_current) &&
        find_candidates(weak_current, stores) == 1)
        return stores[0];
    to_scheduler(STATE_CHOOSING);
    return self->chosen;
}

void weak_has_read(const struct location *location, int store)
{
    struct routine *self = &routines[weak_current];

    if (self->has_begun && self->read_count < READS_MAX) {
        self->reads[self->read_count].location = location;
        self->reads[self->read_count++].store = store;
    }
}

/* Whether there is something newer than what it has read in its loop. */
static bool has_news(const struct routine *routine)
{
    for (int i = 0; i < routine->read_count; i++) {
        if (weak_stores[routine->reads[i].store].position < routine->reads[i].location->count - 1)
            return true;
    }
    return false;
}

void weak_stored(void)
{
    routines[weak_current].stores++;
    if (is_last_part)
        return;
    for (int thread = 0; thread < routine_count; thread++) {
        if (routines[thread].state == STATE_WAITING && routines[thread].is_pure &&
            has_news(&routines[thread]))
            is_redundant = true;
    }
}

/* ---- loops ---- */

static void begin_round(struct routine *self)
{
    self->has_begun = true;
    self->read_count = 0;
    self->stored = self->stores;
}

void weak_begin_wait(void)
{
    if (weak_current < 0)
        return;
    begin_round(&routines[weak_current]);
}

static int rounds_most(void)
{
    return scenario->rounds_most > 0 ? scenario->rounds_most : ROUNDS_MOST;
}

void weak_pause(void)
{
    struct routine *self = &routines[weak_current];

    if (weak_current < 0)
        return;
    if (self->has_begun) {
        self->is_pure = self->stores == self->stored && self->read_count < READS_MAX;
        if (self->is_pure && !is_last_part && has_news(self))
            is_redundant = true;
        if (!self->is_pure && !is_last_part && ++self->rounds == rounds_most())
            is_bounded = self->is_bounded = true;
        if (is_last_part || self->is_pure || self->is_bounded)
            to_scheduler(STATE_WAITING);
    }
    begin_round(self);
}

void weak_await(bool (*condition)(void *context), void *context)
{
    weak_begin_wait();
    routines[weak_current].rounds = 0;
    while (!condition(context))
        weak_pause();
    routines[weak_current].has_begun = false;
}

void weak_may_sleep(void)
{
    routines[weak_current].may_sleep = true;
}

/* ---- an execution ---- */

void weak_fail(const char *format, ...)
{
    va_list arguments;
    int length = snprintf(result->what, sizeof result->what, "%s: ", scenario->name);

    va_start(arguments, format);
    vsnprintf(result->what + length, sizeof result->what - (size_t)length, format, arguments);
    va_end(arguments);
    result->failed = true;
    if (weak_current >= 0)
        _longjmp(scheduler, 1);
    _longjmp(routines[0].point, 1);
}

/* The next load is chosen. False: nobody is about to load. */
static bool choose_next(void)
{
    int stores[STORES_MAX], best = -1, count, chosen;
    bool best_waits = true;

    for (int thread = 0; thread < routine_count; thread++) {
        struct routine *routine = &routines[thread];

        if (routine->state != STATE_CHOOSING)
            continue;
        bool waits = is_more_to_come(routine->access->location, thread);
        if (find_candidates(thread, stores) == 0) {
            /* The store that the thread waited to read does not come. */
            is_redundant = is_redundant || !waits;
            continue;
        }
        if (best < 0 || (best_waits && !waits)) {
            best = thread;
            best_waits = waits;
        }
    }
    if (best < 0 || is_redundant)
        return false;
    count = find_candidates(best, stores);
    chosen = weak_choose(count + best_waits);
    if (chosen == count) {
        routines[best].since = weak_store_count;
        return true;
    }
    routines[best].chosen = stores[chosen];
    go_on(best);
    return true;
}

static bool run_ready(void)
{
    for (int thread = 0; thread < routine_count; thread++) {
        if (routines[thread].state == STATE_READY) {
            go_on(thread);
            return true;
        }
    }
    return false;
}

/* Those that stay in their loops go on by turns. False: some thread waits for ever. */
static bool run_last_part(void)
{
    bool waits = true;
    int stores = -1;

    is_last_part = true;
    for (int round = 0; round < LAST_ROUNDS && stores != weak_store_count; round++) {
        waits = false;
        stores = weak_store_count;
        for (int thread = 0; thread < routine_count && !result->failed; thread++) {
            while (routines[thread].state == STATE_WAITING ||
                   routines[thread].state == STATE_READY) {
                go_on(thread);
                if (routines[thread].state == STATE_WAITING)
                    break;
            }
            if (routines[thread].state == STATE_WAITING && !routines[thread].may_sleep)
                waits = true;
        }
    }
    return !waits;
}

static void *run_thread(void *context)
{
    scenario->thread((int)(intptr_t)context);
    return NULL;
}

static void say_waiting(void)
{
    for (int thread = 0; thread < routine_count; thread++) {
        if (routines[thread].state == STATE_WAITING && !routines[thread].may_sleep) {
            snprintf(result->what, sizeof result->what, "%s: thread %d waits for ever",
                     scenario->name, thread);
            result->failed = true;
            return;
        }
    }
}

/* The variables of the sources under check, and as they are at first. */
extern char __start_weak_state[] __attribute__((weak)), __stop_weak_state[] __attribute__((weak));
static char *state;

static void keep_state(void)
{
    size_t bytes = (size_t)(__stop_weak_state - __start_weak_state);

    if (__stop_weak_local - __start_weak_local > LOCAL_BYTES) {
        fprintf(stderr, "weak: too many variables of each thread\n");
        abort();
    }
    if (state != NULL || bytes == 0)
        return;
    state = malloc(bytes);
    memcpy(state, __start_weak_state, bytes);
}

static void execute(void)
{
    weak_execution++;
    weak_graph_reset();
    weak_order_reset();
    choice_at = deviations = 0;
    is_redundant = is_last_part = is_bounded = false;
    weak_system_reset();
    if (__start_weak_state != NULL)
        memcpy(__start_weak_state, state, (size_t)(__stop_weak_state - __start_weak_state));
    routine_count = 0;
    for (int i = 0; i < WEAK_THREADS_MAX; i++)
        routines[i].state = STATE_NONE;
    scenario->setup();
    for (int i = 0; i < scenario->threads; i++)
        weak_spawn(run_thread, (void *)(intptr_t)i);
    while (!result->failed && !is_redundant && (run_ready() || choose_next()))
        ;
    for (int thread = 0; thread < routine_count; thread++) {
        if (routines[thread].state == STATE_CHOOSING)
            is_redundant = true;
    }
    if (result->failed || is_redundant)
        return;
    if (!run_last_part() && !result->failed)
        say_waiting();
    if (result->failed || scenario->finish == NULL)
        return;
    if (_setjmp(routines[0].point) == 0)
        scenario->finish();
}

static void print_execution(void)
{
    for (int i = 0; i < weak_event_count; i++) {
        const struct event *event = &weak_events[i];

        printf("# %d: %-6s %-7s", event->thread,
               weak_operation_name((enum operation)event->operation),
               weak_order_name((memory_order)event->order));
        if (event->location != NULL)
            printf(" %#lx %#lx", (unsigned long)event->location->address,
                   (unsigned long)event->value);
        printf("  %s\n", weak_site_text(event->site));
    }
}

void weak_explore(const struct weak_scenario *explored, struct weak_result *out)
{
    uint32_t growth;

    scenario = explored;
    result = out;
    memset(out, 0, sizeof *out);
    keep_state();
    weak_forget_locations();
    choice_count = 0;
    do {
        growth = weak_growth;
        execute();
        if (out->failed) {
            if (getenv("WEAK_PRINT") != NULL)
                print_execution();
            return;
        }
        /* From the beginning, with what is known now. */
        if (growth != weak_growth) {
            choice_count = 0;
            out->executions = out->redundant = out->bounded = 0;
            continue;
        }
        if (is_redundant)
            out->redundant++;
        else
            out->executions++;
        out->bounded += is_bounded && !is_redundant;
        out->complete = !next_choices();
    } while (!out->complete && out->executions + out->redundant < EXECUTIONS_MOST);
}
