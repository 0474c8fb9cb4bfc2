#include "engine/progress.h"

#include "core/clock.h"
#include "engine/progress_impl.h"
#include "engine/span_layout.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xmmintrin.h>

#define SPANS_MAX 4096

/* How often the helper thread looks at posts that wait for places. */
#define NAP_NS UINT64_C(1000000)

/* A bell that is armed: the mode in the low bits, the cell above. */
#define MODE_BITS 2u
#define MODE_MASK ((1u << MODE_BITS) - 1)

/* Of MXCSR the flags, and the masks of the exceptions that they are of; likewise of x87's. */
#define MXCSR_FLAGS 0x003fu
#define MXCSR_MASKS 0x1f80u
#define X87_MASKS 0x003fu

/* Read without the lock, in a signal handler too; see sg_progress_remove. */
static _Atomic(struct sg_span *) spans[SPANS_MAX];
static _Atomic int used; /* places ever used */
/* Who goes through spans counts itself in one of two numbers, by the turn of its time. */
static _Atomic uint32_t turn;
static _Atomic uint32_t visitors[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int signal_number;
static struct sg_progress_table *table;
static uint32_t own;

static __thread int thread_id;
static __thread enum sg_progress_by attending;

enum sg_status sg_progress_start(const struct sg_exchange *exchange, const struct sg_ruleset *rules,
                                 bool wired, enum sg_progress_mode configured, int number)
{
    enum sg_status status;

    if (!sg_progress_mode_choose(rules, configured))
        return SG_OK;
    status = sg_progress_table_share(exchange, wired, &table, &own);
    if (status != SG_OK || table == NULL)
        return status;
    signal_number = number;
    if (wired)
        sg_progress_wire_expect();
    /* Relaxed: nothing of ours runs beside MPI_Init. */
    atomic_store_explicit(&table->cells[own].process, getpid(), memory_order_relaxed);
    sg_progress_mode_start(table, own, number);
    return SG_OK;
}

/* ---- arithmetic ---- */

static void keep_float(struct sg_progress_float *kept)
{
    uint16_t x87;

    __asm__ volatile("fnstcw %0" : "=m"(x87));
    /* Relaxed, both: whoever rings and is rung orders them, by the bell. */
    atomic_store_explicit(&kept->mxcsr, (_mm_getcsr() & ~MXCSR_FLAGS) | MXCSR_MASKS,
                          memory_order_relaxed);
    atomic_store_explicit(&kept->x87, x87 | X87_MASKS, memory_order_relaxed);
}

/* What it replaces is nobody's: a signal handler's ends with it, and the helper thread sets it for
 * every span. */
static void take_float(const struct sg_progress_float *kept)
{
    uint16_t x87 = (uint16_t)atomic_load_explicit(&kept->x87, memory_order_relaxed);

    _mm_setcsr(atomic_load_explicit(&kept->mxcsr, memory_order_relaxed));
    __asm__ volatile("fldcw %0" : : "m"(x87) : "memory");
}

/* ---- the spans of this process ---- */

bool sg_progress_add(struct sg_span *span)
{
    int place = 0;

    /* Until its bell is armed for the first time: what comes early is not handled by the zeroes of
     * a new span, which trap. */
    keep_float(&span->arithmetic);
    pthread_mutex_lock(&lock);
    while (place < SPANS_MAX && atomic_load_explicit(&spans[place], memory_order_relaxed) != NULL)
        place++;
    if (place < SPANS_MAX) {
        /* Release: the span is whole. */
        atomic_store_explicit(&spans[place], span, memory_order_release);
        if (place >= atomic_load_explicit(&used, memory_order_relaxed))
            atomic_store_explicit(&used, place + 1, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return place < SPANS_MAX;
}

/* Sequentially consistent, with the remover's clearing of a place and look at the number: either
 * the visitor finds the place empty or the remover finds the visitor. */
static uint32_t begin_visit(void)
{
    uint32_t mine = atomic_load(&turn) & 1;

    atomic_fetch_add(&visitors[mine], 1);
    return mine;
}

static void end_visit(uint32_t mine)
{
    /* Release: all that was done to the spans comes before. */
    atomic_fetch_sub_explicit(&visitors[mine], 1, memory_order_release);
}

/* Waits until everyone who may have seen the place full has gone. Those who come meanwhile count
 * in the other number, so that threads which poll without a pause do not keep us for ever; both
 * are waited for, because a visitor may have read the turn long before it counted itself. No
 * visitor waits for us: it holds no lock of this file, and its visit ends. A handler that
 * interrupts us here is over before we go on. */
static void quiesce(void)
{
    for (int times = 0; times < 2; times++) {
        uint32_t old = atomic_fetch_add(&turn, 1) & 1;

        while (atomic_load(&visitors[old]) > 0)
            sched_yield();
    }
}

static uint32_t armed_by_us(void)
{
    return own << MODE_BITS;
}

void sg_progress_remove(struct sg_span *span)
{
    struct sg_progress_bell *bell = &sg_span_endpoint(span, span->endpoint)->bell;
    uint32_t armed = atomic_load_explicit(&bell->armed, memory_order_relaxed);

    if (span->wire != NULL)
        sg_progress_wire_remove(span);
    pthread_mutex_lock(&lock);
    for (int place = 0; place < SPANS_MAX; place++) {
        if (atomic_load_explicit(&spans[place], memory_order_relaxed) == span)
            atomic_store(&spans[place], NULL);
    }
    quiesce();
    pthread_mutex_unlock(&lock);
    /* Other ranks of the endpoint may still have calls to make: they are not to ring us. */
    if (armed != 0 && (armed & ~MODE_MASK) == armed_by_us())
        atomic_compare_exchange_strong(&bell->armed, &armed, 0);
}

/* A timer may have come that the helper thread of whoever armed the bell does not know of.
 * Sequentially consistent with its look at the timers before it sleeps. */
static void mind_timer(struct sg_span *span)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    uint64_t next_ns = atomic_load(&endpoint->next_timer_ns);
    uint32_t armed = atomic_load(&endpoint->bell.armed);

    if (next_ns != 0 && (armed & MODE_MASK) == SG_PROGRESS_THREAD &&
        next_ns < atomic_load(&table->cells[armed >> MODE_BITS].wakes_ns))
        sg_progress_ring(&endpoint->bell);
}

void sg_progress_poll(void)
{
    int count = atomic_load_explicit(&used, memory_order_acquire);
    uint32_t mine = begin_visit();

    for (int place = 0; place < count; place++) {
        struct sg_span *span = atomic_load(&spans[place]);

        if (span == NULL)
            continue;
        if (sg_span_look(span) == SG_SPAN_FED)
            mind_timer(span);
        sg_span_advance(span);
        if (span->wire != NULL && attending == SG_PROGRESS_BY_CALL)
            sg_span_mind(span);
    }
    end_visit(mine);
}

void sg_progress_look_after(void)
{
    struct sg_progress_cell *cell = &table->cells[own];

    /* Sequentially consistent: what waits has been said before, and a helper that is about to say
     * when it wakes looks at that afterwards. */
    if (sg_progress_mode_thread() && atomic_load(&cell->wakes_ns) > sg_clock_ns() + NAP_NS &&
        atomic_exchange(&cell->rung, 1) == 0)
        sg_progress_thread_wake(cell);
}

/* ---- the bells ---- */

void sg_progress_hand_over(enum sg_progress_mode to)
{
    uint32_t instead = to == SG_PROGRESS_POLL ? 0 : (uint32_t)to | armed_by_us();

    pthread_mutex_lock(&lock);
    for (int place = 0; place < used; place++) {
        struct sg_span *span = atomic_load_explicit(&spans[place], memory_order_relaxed);
        uint32_t armed = SG_PROGRESS_SIGNAL | armed_by_us();

        if (span != NULL)
            atomic_compare_exchange_strong(&sg_span_endpoint(span, span->endpoint)->bell.armed,
                                           &armed, instead);
    }
    pthread_mutex_unlock(&lock);
}

void sg_progress_arm(struct sg_span *span, enum sg_progress_mode asked)
{
    struct sg_progress_bell *bell = &sg_span_endpoint(span, span->endpoint)->bell;
    /* Looked at every time, at the price of a system call: the application may have taken the
     * signal since, and its handler would not know what to do with ours. */
    enum sg_progress_mode now = sg_progress_mode_ready(asked, true);

    if (now == SG_PROGRESS_POLL)
        return;
    keep_float(&span->arithmetic);
    if (now == SG_PROGRESS_SIGNAL) {
        if (thread_id == 0)
            thread_id = (int)syscall(SYS_gettid);
        atomic_store_explicit(&table->cells[own].thread, thread_id, memory_order_relaxed);
        /* A signal that the application swallowed is not to silence all that follow. The caller
         * looks for itself once it has left. */
        atomic_store(&table->cells[own].signalled, 0);
    }
    atomic_store(&bell->armed, (uint32_t)now | armed_by_us());
    if (span->wire != NULL)
        sg_progress_wire_arm(span, now, signal_number, thread_id);
    mind_timer(span);
}

void sg_progress_disarm(struct sg_span *span)
{
    /* Relaxed: a ring too many does no harm. */
    atomic_store_explicit(&sg_span_endpoint(span, span->endpoint)->bell.armed, 0,
                          memory_order_relaxed);
    if (span->wire != NULL)
        sg_progress_wire_quiet(span);
}

void sg_progress_ring(struct sg_progress_bell *bell)
{
    /* Acquire: pairs with sg_progress_arm, the cell's thread is that one's. */
    uint32_t armed = atomic_load_explicit(&bell->armed, memory_order_acquire);
    struct sg_progress_cell *cell;

    if (armed == 0)
        return;
    cell = &table->cells[armed >> MODE_BITS];
    /* Sequentially consistent, both words: who sets it to 0 looks after that, and so sees the
     * message. */
    if ((armed & MODE_MASK) == SG_PROGRESS_THREAD) {
        if (atomic_exchange(&cell->rung, 1) == 0)
            sg_progress_thread_wake(cell);
        return;
    }
    if (atomic_exchange(&cell->signalled, 1) != 0)
        return;
    atomic_fetch_add_explicit(&bell->rings, 1, memory_order_relaxed);
    if (!sg_progress_signal_send(cell, signal_number)) {
        /* The next message tries again; this one waits for it, or for the next call. */
        atomic_fetch_sub_explicit(&bell->rings, 1, memory_order_relaxed);
        atomic_store(&cell->signalled, 0);
    }
}

uint32_t sg_progress_serve(void)
{
    sg_progress_mode_thread();
    return own;
}

void sg_progress_ring_master(uint32_t number)
{
    struct sg_progress_cell *cell = &table->cells[number];

    /* Sequentially consistent: see sg_progress_ring. */
    if (atomic_exchange(&cell->rung, 1) == 0)
        sg_progress_thread_wake(cell);
}

/* ---- by the helper thread or in a signal handler ---- */

/* Signals that have come for the span since it was looked at last; of a span between machines, what
 * its adapter has told, by a signal or not. */
static uint64_t news_of(struct sg_span *span, bool by_signal)
{
    struct sg_progress_bell *bell = &sg_span_endpoint(span, span->endpoint)->bell;
    uint64_t rings;

    if (span->wire != NULL)
        return (uint64_t)span->wire->take_events(span->transport);
    if (!by_signal)
        return 0;
    rings = atomic_load_explicit(&bell->rings, memory_order_relaxed);
    return rings - atomic_exchange_explicit(&bell->answered, rings, memory_order_relaxed);
}

static bool is_left_to_us(const struct sg_span_endpoint *endpoint)
{
    /* Acquire: pairs with the way out of a call, the bell's arithmetic is that one's. */
    return atomic_load_explicit(&endpoint->inside, memory_order_acquire) == 0 &&
           (atomic_load_explicit(&endpoint->outstanding, memory_order_relaxed) > 0 ||
            atomic_load_explicit(&endpoint->pending, memory_order_relaxed) > 0);
}

/* One span. A signal is taken if it brought something, and ignored if progress was under way. */
static void attend(struct sg_span *span, bool by_signal)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    enum sg_span_found found = SG_SPAN_NOTHING;
    uint64_t news = news_of(span, by_signal);
    /* Of several processes the one that has asked an adapter for something gets it, whoever else is
     * in a call. */
    bool is_for_us = span->wire != NULL && span->locals > 1 && news > 0;

    if (is_left_to_us(endpoint) || is_for_us) {
        take_float(&span->arithmetic);
        found = sg_span_look(span);
        /* An adapter tells once; what comes before it is told to again is there by now. */
        if (span->wire != NULL && (is_left_to_us(endpoint) || is_for_us)) {
            span->wire->arm(span->transport);
            if (sg_span_look(span) == SG_SPAN_FED)
                found = SG_SPAN_FED;
        }
    }
    if (by_signal && news > 0)
        atomic_fetch_add_explicit(found == SG_SPAN_FED ? &endpoint->counters.signals
                                                       : &endpoint->counters.ignored,
                                  news, memory_order_relaxed);
    if (found == SG_SPAN_FED)
        sg_wait_wake(&span->bed);
}

void sg_progress_attend(bool by_signal)
{
    int count = atomic_load_explicit(&used, memory_order_acquire);
    uint32_t mine = begin_visit();

    /* Never one inside another: both have all signals blocked. */
    attending = by_signal ? SG_PROGRESS_BY_SIGNAL : SG_PROGRESS_BY_THREAD;
    for (int place = 0; place < count; place++) {
        struct sg_span *span = atomic_load(&spans[place]);

        /* Who does not serve the endpoint has no adapter's queue for it. */
        if (span != NULL && sg_span_serves(span))
            attend(span, by_signal);
    }
    attending = SG_PROGRESS_BY_CALL;
    end_visit(mine);
}

void sg_progress_advance(void)
{
    int count = atomic_load_explicit(&used, memory_order_acquire);
    uint32_t mine = begin_visit();

    attending = SG_PROGRESS_BY_THREAD;
    for (int place = 0; place < count; place++) {
        struct sg_span *span = atomic_load(&spans[place]);

        if (span == NULL || atomic_load_explicit(&span->posts, memory_order_relaxed) == 0)
            continue;
        take_float(&span->arithmetic);
        sg_span_advance(span);
    }
    attending = SG_PROGRESS_BY_CALL;
    end_visit(mine);
}

enum sg_progress_by sg_progress_by(void)
{
    return attending;
}

uint64_t sg_progress_next_ns(void)
{
    int count = atomic_load_explicit(&used, memory_order_acquire);
    uint32_t mine = begin_visit();
    uint64_t nap_ns = sg_clock_ns() + NAP_NS, least_ns = UINT64_MAX;

    for (int place = 0; place < count; place++) {
        struct sg_span *span = atomic_load(&spans[place]);
        struct sg_span_endpoint *endpoint =
            span != NULL ? sg_span_endpoint(span, span->endpoint) : NULL;

        if (endpoint == NULL)
            continue;
        /* Sequentially consistent: see sg_progress_look_after. */
        if ((atomic_load(&span->waits) || sg_span_is_to_be_polled(span)) && nap_ns < least_ns)
            least_ns = nap_ns;
        /* Sequentially consistent: see mind_timer. */
        if (atomic_load(&endpoint->bell.armed) == (SG_PROGRESS_THREAD | armed_by_us()) &&
            atomic_load(&endpoint->inside) == 0) {
            uint64_t next_ns = atomic_load(&endpoint->next_timer_ns);

            if (next_ns != 0 && next_ns < least_ns)
                least_ns = next_ns;
        }
    }
    end_visit(mine);
    return least_ns;
}
