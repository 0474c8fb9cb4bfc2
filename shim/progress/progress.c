#include "progress/progress.h"

#include "core/clock.h"
#include "progress/parts.h"
#include "transport/transport.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#include <xmmintrin.h>

#define CLIENTS_MAX 4096

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
static _Atomic(struct sg_progress_client *) clients[CLIENTS_MAX];
static _Atomic int used; /* places ever used */
/* Who goes through clients counts itself in one of two numbers, by the turn of its time. */
static _Atomic uint32_t turn;
static _Atomic uint32_t visitors[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int signal_number;
static struct sg_progress_table *table;
static uint32_t own;

static __thread enum sg_progress_by attending;

enum sg_status sg_progress_start(const struct sg_exchange *exchange, const struct sg_ruleset *rules,
                                 bool wired, enum sg_progress_mode configured, int number)
{
    enum sg_progress_mode highest = sg_progress_mode_choose(rules, configured);
    enum sg_status status;

    if (highest == SG_PROGRESS_POLL)
        return SG_OK;
    status = sg_progress_table_share(exchange, wired, &table, &own);
    if (status != SG_OK || table == NULL)
        return status;
    signal_number = number;
    if (wired) {
        sg_progress_wire_expect();
        if (exchange->rank == 0 && highest == SG_PROGRESS_SIGNAL)
            sg_log("between machines a thread handles late messages in the place of a signal: RDMA "
                   "adapters may not be used in a signal handler");
    }
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
 * every client. */
static void take_float(const struct sg_progress_float *kept)
{
    uint16_t x87 = (uint16_t)atomic_load_explicit(&kept->x87, memory_order_relaxed);

    _mm_setcsr(atomic_load_explicit(&kept->mxcsr, memory_order_relaxed));
    __asm__ volatile("fldcw %0" : : "m"(x87) : "memory");
}

/* ---- the clients of this process ---- */

bool sg_progress_add(struct sg_progress_client *client)
{
    int place = 0;

    /* Until its bell is armed for the first time: what comes early is not handled by the zeroes of
     * a new client, which trap. */
    keep_float(&client->arithmetic);
    pthread_mutex_lock(&lock);
    while (place < CLIENTS_MAX &&
           atomic_load_explicit(&clients[place], memory_order_relaxed) != NULL)
        place++;
    if (place < CLIENTS_MAX) {
        /* Release: the client is whole. */
        atomic_store_explicit(&clients[place], client, memory_order_release);
        if (place >= atomic_load_explicit(&used, memory_order_relaxed))
            atomic_store_explicit(&used, place + 1, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return place < CLIENTS_MAX;
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
    /* Release: all that was done to the clients comes before. */
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

void sg_progress_remove(struct sg_progress_client *client)
{
    struct sg_progress_bell *bell = client->bell;
    uint32_t armed = atomic_load_explicit(&bell->armed, memory_order_relaxed);

    if (client->wire != NULL)
        sg_progress_wire_remove(client);
    pthread_mutex_lock(&lock);
    for (int place = 0; place < used; place++) {
        if (atomic_load_explicit(&clients[place], memory_order_relaxed) == client)
            atomic_store(&clients[place], NULL);
    }
    quiesce();
    pthread_mutex_unlock(&lock);
    /* Other ranks of the endpoint may still have calls to make: they are not to ring us. */
    if (armed != 0 && (armed & ~MODE_MASK) == armed_by_us())
        atomic_compare_exchange_strong(&bell->armed, &armed, 0);
}

/* Sequentially consistent, here and by senders of signals: who sets the word to 0 looks after that,
 * and so sees the message. */
static void ring_thread(struct sg_progress_cell *cell)
{
    if (atomic_exchange(&cell->rung, 1) == 0)
        sg_progress_thread_wake(cell);
}

/* A timer may have come that the helper thread of whoever armed the bell does not know of.
 * Sequentially consistent with its look at the timers before it sleeps. */
static void mind_timer(struct sg_progress_client *client)
{
    uint64_t next_ns = atomic_load(&client->bell->next_timer_ns);
    uint32_t armed = atomic_load(&client->bell->armed);

    if (next_ns != 0 && (armed & MODE_MASK) == SG_PROGRESS_THREAD &&
        next_ns < atomic_load(&table->cells[armed >> MODE_BITS].wakes_ns))
        sg_progress_ring(client->bell);
}

void sg_progress_poll(void)
{
    int count = atomic_load_explicit(&used, memory_order_acquire);
    uint32_t mine = begin_visit();

    for (int place = 0; place < count; place++) {
        struct sg_progress_client *client = atomic_load(&clients[place]);

        if (client == NULL)
            continue;
        if (client->ops->poll(client))
            mind_timer(client);
        client->ops->advance(client);
        if (attending == SG_PROGRESS_BY_CALL)
            client->ops->check(client);
    }
    end_visit(mine);
}

/* Something waits, or is to be looked at now and then: nobody will be rung for it. Sequentially
 * consistent: see sg_progress_look_after. */
static bool takes_naps(const struct sg_progress_client *client)
{
    return atomic_load(&client->waits) ||
           (client->is_polled && atomic_load(&client->bell->posted) > 0);
}

void sg_progress_look_after(const struct sg_progress_client *client)
{
    struct sg_progress_cell *cell = &table->cells[own];

    if (!takes_naps(client))
        return;
    /* Sequentially consistent: what waits has been said before, and a helper that is about to say
     * when it wakes looks at that afterwards. */
    if (sg_progress_mode_thread() && atomic_load(&cell->wakes_ns) > sg_clock_ns() + NAP_NS)
        ring_thread(cell);
}

/* ---- the bells ---- */

void sg_progress_hand_over(enum sg_progress_mode to)
{
    uint32_t instead = to == SG_PROGRESS_POLL ? 0 : (uint32_t)to | armed_by_us();

    pthread_mutex_lock(&lock);
    for (int place = 0; place < used; place++) {
        struct sg_progress_client *client =
            atomic_load_explicit(&clients[place], memory_order_relaxed);
        uint32_t armed = SG_PROGRESS_SIGNAL | armed_by_us();

        if (client != NULL)
            atomic_compare_exchange_strong(&client->bell->armed, &armed, instead);
    }
    pthread_mutex_unlock(&lock);
    if (to != SG_PROGRESS_THREAD)
        return;
    /* Who has seen a bell as it was may send a signal that nobody takes: by the fence its message
     * is there when the helper looks. */
    atomic_thread_fence(memory_order_seq_cst);
    ring_thread(&table->cells[own]);
}

void sg_progress_arm(struct sg_progress_client *client, enum sg_progress_mode asked)
{
    struct sg_progress_bell *bell = client->bell;
    /* Looked at every time, at the price of two system calls: the application may have taken the
     * signal since, and its handler would not know what to do with ours. */
    enum sg_progress_mode now = sg_progress_mode_ready(asked, true);

    if (now == SG_PROGRESS_SIGNAL && !sg_progress_signal_expect())
        now = sg_progress_mode_ready(SG_PROGRESS_THREAD, false);
    if (now == SG_PROGRESS_POLL)
        return;
    keep_float(&client->arithmetic);
    atomic_store(&bell->armed, (uint32_t)now | armed_by_us());
    if (client->wire != NULL)
        sg_progress_wire_arm(client);
}

void sg_progress_left(struct sg_progress_client *client)
{
    uint32_t armed = atomic_load(&client->bell->armed);

    if (armed == 0)
        return;
    mind_timer(client);
    /* The helper is to stand by. Sequentially consistent, as mind_timer. */
    if (armed == (SG_PROGRESS_SIGNAL | armed_by_us()) &&
        atomic_load(&table->cells[own].wakes_ns) == UINT64_MAX)
        sg_progress_ring_master(own);
}

void sg_progress_disarm(struct sg_progress_client *client)
{
    /* Relaxed: a ring too many does no harm. */
    atomic_store_explicit(&client->bell->armed, 0, memory_order_relaxed);
}

void sg_progress_ring(struct sg_progress_bell *bell)
{
    /* Acquire: pairs with sg_progress_arm, the cell's thread is that one's. */
    uint32_t armed = atomic_load_explicit(&bell->armed, memory_order_acquire);
    struct sg_progress_cell *cell;

    if (armed == 0)
        return;
    cell = &table->cells[armed >> MODE_BITS];
    if ((armed & MODE_MASK) == SG_PROGRESS_THREAD) {
        ring_thread(cell);
        return;
    }
    if (atomic_exchange(&cell->signalled, 1) != 0)
        return;
    atomic_fetch_add_explicit(&bell->rings, 1, memory_order_relaxed);
    if (!sg_progress_signal_send(cell, signal_number)) {
        /* The thread has ended. The helper looks for this message; the next one tries again.
         * Exchanges: the helper sees the messages of those, too, who found our 1 meanwhile. */
        atomic_fetch_sub_explicit(&bell->rings, 1, memory_order_relaxed);
        atomic_exchange(&cell->signalled, 0);
        atomic_exchange(&cell->lost, 1);
        ring_thread(cell);
    }
}

uint32_t sg_progress_serve(void)
{
    sg_progress_mode_thread();
    return own;
}

void sg_progress_ring_master(uint32_t number)
{
    ring_thread(&table->cells[number]);
}

/* ---- by the helper thread or in a signal handler ---- */

/* Signals that have come for the endpoint since it was looked at last. */
static uint64_t signals_for(struct sg_progress_bell *bell)
{
    uint64_t rings = atomic_load_explicit(&bell->rings, memory_order_relaxed);

    return rings - atomic_exchange_explicit(&bell->answered, rings, memory_order_relaxed);
}

static bool is_left_to_us(const struct sg_progress_bell *bell)
{
    /* Acquire: pairs with the way out of a call, the bell's arithmetic is that one's. */
    return atomic_load_explicit(&bell->inside, memory_order_acquire) == 0 &&
           (atomic_load_explicit(&bell->outstanding, memory_order_relaxed) > 0 ||
            atomic_load_explicit(&bell->pending, memory_order_relaxed) > 0);
}

static bool poll_left(struct sg_progress_client *client)
{
    if (!is_left_to_us(client->bell))
        return false;
    take_float(&client->arithmetic);
    return client->ops->poll(client);
}

/* A signal is taken if it brought something, and ignored if progress was under way. A client
 * between machines has none: libraries of adapters take locks. */
static void attend_by_signal(struct sg_progress_client *client)
{
    struct sg_progress_bell *bell = client->bell;
    uint64_t signals;
    bool has_handled;

    if (client->wire != NULL || !client->serves)
        return;
    signals = signals_for(bell);
    has_handled = poll_left(client);
    if (signals > 0)
        atomic_fetch_add_explicit(has_handled ? &bell->handled : &bell->ignored, signals,
                                  memory_order_relaxed);
}

static void attend_wire(struct sg_progress_client *client)
{
    bool has_news = client->wire->take_events(client->transport) > 0;
    /* Of several processes the one that has asked an adapter for something gets it, whoever else is
     * in a call. */
    bool is_for_us = client->has_companions && has_news;

    /* An adapter tells once; what comes before it is told to again is there by now. */
    for (int looks = 0; looks < 2 && (is_left_to_us(client->bell) || is_for_us); looks++) {
        if (looks > 0)
            client->wire->arm(client->transport);
        take_float(&client->arithmetic);
        client->ops->poll(client);
    }
}

static void attend_all_by_thread(struct sg_progress_client *client)
{
    /* Who does not serve the endpoint has no adapter's queue for it. */
    if (!client->serves)
        return;
    if (client->wire != NULL)
        attend_wire(client);
    else
        poll_left(client);
}

static bool is_for_signal(const struct sg_progress_client *client)
{
    /* Relaxed: whoever arms it anew looks for what has come before. */
    return (atomic_load_explicit(&client->bell->armed, memory_order_relaxed) & MODE_MASK) ==
               SG_PROGRESS_SIGNAL &&
           !takes_naps(client);
}

static void attend_by_thread(struct sg_progress_client *client)
{
    if (!is_for_signal(client))
        attend_all_by_thread(client);
}

static void advance(struct sg_progress_client *client)
{
    take_float(&client->arithmetic);
    client->ops->advance(client);
}

/* Never one inside another: a handler and the threads have all signals blocked. */
static void visit_all(void (*visit)(struct sg_progress_client *client), enum sg_progress_by by)
{
    int count = atomic_load_explicit(&used, memory_order_acquire);
    uint32_t mine = begin_visit();

    attending = by;
    for (int place = 0; place < count; place++) {
        struct sg_progress_client *client = atomic_load(&clients[place]);

        if (client != NULL)
            visit(client);
    }
    attending = SG_PROGRESS_BY_CALL;
    end_visit(mine);
}

void sg_progress_attend_by_signal(void)
{
    visit_all(attend_by_signal, SG_PROGRESS_BY_SIGNAL);
}

void sg_progress_attend_by_thread(bool signals_too)
{
    visit_all(signals_too ? attend_all_by_thread : attend_by_thread, SG_PROGRESS_BY_THREAD);
}

void sg_progress_advance(void)
{
    visit_all(advance, SG_PROGRESS_BY_THREAD);
}

enum sg_progress_by sg_progress_by(void)
{
    return attending;
}

/* Where this process has armed the endpoint, and left it. Sequentially consistent, all: see
 * sg_progress_left. */
static uint64_t due_at(const struct sg_progress_bell *bell)
{
    uint32_t armed = atomic_load(&bell->armed);
    uint64_t next_ns;

    if (atomic_load(&bell->inside) > 0)
        return UINT64_MAX;
    if (armed == (SG_PROGRESS_SIGNAL | armed_by_us()))
        return sg_clock_ns() + SG_PROGRESS_WATCH_NS;
    next_ns = armed == (SG_PROGRESS_THREAD | armed_by_us()) ? atomic_load(&bell->next_timer_ns) : 0;
    return next_ns != 0 ? next_ns : UINT64_MAX;
}

uint64_t sg_progress_next_ns(void)
{
    int count = atomic_load_explicit(&used, memory_order_acquire);
    uint32_t mine = begin_visit();
    uint64_t nap_ns = sg_clock_ns() + NAP_NS, least_ns = UINT64_MAX, due_ns;

    for (int place = 0; place < count; place++) {
        struct sg_progress_client *client = atomic_load(&clients[place]);

        if (client == NULL)
            continue;
        if (takes_naps(client) && nap_ns < least_ns)
            least_ns = nap_ns;
        due_ns = due_at(client->bell);
        least_ns = due_ns < least_ns ? due_ns : least_ns;
    }
    end_visit(mine);
    return least_ns;
}
