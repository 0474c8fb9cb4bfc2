/* An armed doorbell holds a mode and the number of the process to ring, in one word. Ringing it
 * wakes that process's helper thread, or sends a signal to its thread. Clients are kept in a table
 * that threads and signal handlers visit without a lock. */
#include "progress/doorbell.h"

#include "core/clock.h"
#include "core/cpu/cpu.h"
#include "progress/adapter.h"
#include "progress/mode.h"
#include "progress/signal.h"
#include "progress/thread.h"

#include <pthread.h>
#include <sched.h>

/* Interval at which the helper thread checks nonblocking calls that wait for slots. */
#define NAP_NS UINT64_C(1000000)

/* The mode in the low bits, the process slot above. */
#define MODE_BITS 2u
#define MODE_MASK ((1u << MODE_BITS) - 1)

static struct sg_progress_table *table;
static uint32_t own;

void sg_progress_doorbell_start(struct sg_progress_table *shared, uint32_t number)
{
    table = shared;
    own = number;
}

static uint32_t armed_by_us(enum sg_progress_mode mode)
{
    return own << MODE_BITS | (uint32_t)mode;
}

/* The floating-point modes of this thread, for the thread or handler that handles its messages.
 * They stay set in the thread that takes them: a handler's end with it, and a progress thread sets
 * them for each client. */
/* ---- arithmetic ---- */

static void sg_progress_keep_arithmetic(struct sg_progress_float *kept)
{
    struct sg_cpu_float_modes modes = sg_cpu_float_modes();

    /* Relaxed, both: the doorbell orders the ringing process and the rung one. */
    atomic_store_explicit(&kept->words[0], modes.words[0], memory_order_relaxed);
    atomic_store_explicit(&kept->words[1], modes.words[1], memory_order_relaxed);
}

void sg_progress_take_arithmetic(const struct sg_progress_float *kept)
{
    sg_cpu_set_float_modes(
        (struct sg_cpu_float_modes){{atomic_load_explicit(&kept->words[0], memory_order_relaxed),
                                     atomic_load_explicit(&kept->words[1], memory_order_relaxed)}});
}

/* ---- senders ---- */

void sg_progress_ring(struct sg_doorbell *doorbell)
{
    /* Acquire: pairs with sg_progress_arm; the slot then has the thread that armed it. */
    uint32_t armed = atomic_load_explicit(&doorbell->armed, memory_order_acquire);
    struct sg_process_slot *slot;

    if (armed == 0)
        return;
    slot = &table->slots[armed >> MODE_BITS];
    if ((armed & MODE_MASK) == SG_PROGRESS_THREAD) {
        sg_progress_thread_ring(slot);
        return;
    }
    if (atomic_exchange(&slot->signalled, 1) != 0)
        return;
    atomic_fetch_add_explicit(&doorbell->rings, 1, memory_order_relaxed);
    if (!sg_progress_signal_send(slot)) {
        /* The thread has ended. The helper handles this message; the next sender tries again.
         * Exchanges: the helper also sees the messages of senders that found the 1 meanwhile. */
        atomic_fetch_sub_explicit(&doorbell->rings, 1, memory_order_relaxed);
        atomic_exchange(&slot->signalled, 0);
        atomic_exchange(&slot->lost, 1);
        sg_progress_thread_ring(slot);
    }
}

uint32_t sg_progress_serve(void)
{
    sg_progress_mode_thread();
    return own;
}

void sg_progress_ring_master(uint32_t number)
{
    sg_progress_thread_ring(&table->slots[number]);
}

/* ---- entering and leaving calls ---- */

bool sg_progress_arm(struct sg_progress_client *client, enum sg_progress_mode asked)
{
    struct sg_doorbell *doorbell = client->doorbell;
    /* Checked every time, at the cost of two system calls: the application may have taken over the
     * signal since, and its handler would not know what to do with this one. */
    enum sg_progress_mode now = sg_progress_mode_ready(asked, true);

    if (now == SG_PROGRESS_SIGNAL && !sg_progress_signal_expect())
        now = sg_progress_mode_ready(SG_PROGRESS_THREAD, false);
    if (now == SG_PROGRESS_POLL)
        return false;
    sg_progress_keep_arithmetic(&client->arithmetic);
    atomic_store(&doorbell->armed, armed_by_us(now));
    return true;
}

void sg_progress_listen(struct sg_progress_client *client)
{
    if (client->remote != NULL)
        sg_progress_adapter_arm(client);
}

void sg_progress_left(struct sg_progress_client *client)
{
    uint32_t armed = atomic_load(&client->doorbell->armed);

    if (armed == 0)
        return;
    sg_progress_mind_timer(client);
    /* The helper must stand by. Sequentially consistent, as sg_progress_mind_timer. */
    if (armed == armed_by_us(SG_PROGRESS_SIGNAL) &&
        atomic_load(&table->slots[own].wakes_ns) == UINT64_MAX)
        sg_progress_ring_master(own);
}

void sg_progress_disarm(struct sg_progress_client *client)
{
    /* Relaxed: an unnecessary ring does no harm. */
    atomic_store_explicit(&client->doorbell->armed, 0, memory_order_relaxed);
}

/* Senders no longer ring this process for the endpoint. */
static void sg_progress_doorbell_withdraw(struct sg_doorbell *doorbell)
{
    uint32_t armed = atomic_load_explicit(&doorbell->armed, memory_order_relaxed);

    if (armed != 0 && armed >> MODE_BITS == own)
        atomic_compare_exchange_strong(&doorbell->armed, &armed, 0);
}

void sg_progress_doorbell_replace_signal(struct sg_doorbell *doorbell, enum sg_progress_mode by)
{
    uint32_t armed = armed_by_us(SG_PROGRESS_SIGNAL);

    atomic_compare_exchange_strong(&doorbell->armed, &armed,
                                   by == SG_PROGRESS_POLL ? 0 : armed_by_us(by));
}

bool sg_progress_doorbell_is_for_signal(const struct sg_doorbell *doorbell)
{
    /* Relaxed: a rank that arms it again checks for earlier arrivals. */
    return (atomic_load_explicit(&doorbell->armed, memory_order_relaxed) & MODE_MASK) ==
           SG_PROGRESS_SIGNAL;
}

/* ---- work without a ring ---- */

/* Sequentially consistent with the helper's check of the timers before it sleeps. */
void sg_progress_mind_timer(struct sg_progress_client *client)
{
    uint64_t next_ns = atomic_load(&client->doorbell->next_timer_ns);
    uint32_t armed = atomic_load(&client->doorbell->armed);

    if (next_ns != 0 && (armed & MODE_MASK) == SG_PROGRESS_THREAD &&
        next_ns < atomic_load(&table->slots[armed >> MODE_BITS].wakes_ns))
        sg_progress_ring(client->doorbell);
}

/* Sequentially consistent: see sg_progress_look_after. */
bool sg_progress_takes_naps(const struct sg_progress_client *client)
{
    return atomic_load(&client->waits) || atomic_load(&client->posts_wait) ||
           (client->is_polled && atomic_load(&client->doorbell->nonblocking) > 0);
}

void sg_progress_look_after(const struct sg_progress_client *client)
{
    struct sg_process_slot *slot = &table->slots[own];

    if (!sg_progress_takes_naps(client))
        return;
    /* Sequentially consistent: the waiting state is stored before, and a helper that is about to
     * store its wake time reads that state afterwards. */
    if (sg_progress_mode_thread() && atomic_load(&slot->wakes_ns) > sg_clock_ns() + NAP_NS)
        sg_progress_thread_ring(slot);
}

/* Due time of a doorbell that this process has armed, with no rank inside. Sequentially consistent,
 * all: see sg_progress_left. */
static uint64_t bell_due_ns(const struct sg_doorbell *doorbell)
{
    uint32_t armed = atomic_load(&doorbell->armed);
    uint64_t next_ns;

    if (atomic_load(&doorbell->inside) > 0)
        return UINT64_MAX;
    if (armed == armed_by_us(SG_PROGRESS_SIGNAL))
        return sg_clock_ns() + SG_PROGRESS_WATCH_NS;
    next_ns = armed == armed_by_us(SG_PROGRESS_THREAD) ? atomic_load(&doorbell->next_timer_ns) : 0;
    return next_ns != 0 ? next_ns : UINT64_MAX;
}

uint64_t sg_progress_due_ns(const struct sg_progress_client *client)
{
    uint64_t due_ns = bell_due_ns(client->doorbell);
    uint64_t nap_ns = sg_progress_takes_naps(client) ? sg_clock_ns() + NAP_NS : UINT64_MAX;

    return nap_ns < due_ns ? nap_ns : due_ns;
}

/* Clients are read without a lock, also by signal handlers. A thread that removes one waits for all
 * visitors that may have seen it: a visitor counts itself in one of two counters, chosen by the
 * parity of `turn` at that time. */

#define CLIENTS_MAX 4096

static _Atomic(struct sg_progress_client *) clients[CLIENTS_MAX];
static _Atomic int used; /* entries ever used */
static _Atomic uint32_t turn;
static _Atomic uint32_t visitors[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held to add or remove a client */

static __thread enum sg_progress_by attending;

bool sg_progress_add(struct sg_progress_client *client)
{
    int place = 0;

    /* Valid until its doorbell is armed for the first time: early messages would otherwise be
     * handled with the zeroed floating-point modes of a new client, which trap. */
    sg_progress_keep_arithmetic(&client->arithmetic);
    pthread_mutex_lock(&lock);
    while (place < CLIENTS_MAX &&
           atomic_load_explicit(&clients[place], memory_order_relaxed) != NULL)
        place++;
    if (place < CLIENTS_MAX) {
        /* Release: the client is complete. */
        atomic_store_explicit(&clients[place], client, memory_order_release);
        if (place >= atomic_load_explicit(&used, memory_order_relaxed))
            atomic_store_explicit(&used, place + 1, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return place < CLIENTS_MAX;
}

/* Sequentially consistent with the remover, which clears an entry and then reads the counter:
 * either the visitor finds the entry empty or the remover sees the visitor. */
static uint32_t begin_visit(void)
{
    uint32_t mine = atomic_load(&turn) & 1;

    atomic_fetch_add(&visitors[mine], 1);
    return mine;
}

static void end_visit(uint32_t mine)
{
    /* Release: all accesses to the clients come before. */
    atomic_fetch_sub_explicit(&visitors[mine], 1, memory_order_release);
}

/* Waits until all visitors that may have seen the removed client have gone. Later visitors use the
 * other counter, so threads that poll without a pause do not block this one for ever. It waits for
 * both counters, because a visitor may have read `turn` long before it counted itself. No visitor
 * waits for this thread: it holds no lock of this file, and its visit ends. A handler that
 * interrupts this thread here finishes before it continues.
 */
static void quiesce(void)
{
    for (int times = 0; times < 2; times++) {
        uint32_t old = atomic_fetch_add(&turn, 1) & 1;

        while (atomic_load(&visitors[old]) > 0)
            sched_yield();
    }
}

void sg_progress_remove(struct sg_progress_client *client)
{
    if (client->remote != NULL)
        sg_progress_adapter_remove(client);
    pthread_mutex_lock(&lock);
    for (int place = 0; place < used; place++) {
        if (atomic_load_explicit(&clients[place], memory_order_relaxed) == client)
            atomic_store(&clients[place], NULL);
    }
    quiesce();
    pthread_mutex_unlock(&lock);
    /* Other ranks of the endpoint may still have calls to make. */
    sg_progress_doorbell_withdraw(client->doorbell);
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
            sg_progress_mind_timer(client);
        client->ops->advance(client);
        if (attending == SG_PROGRESS_BY_CALL)
            client->ops->check(client);
    }
    end_visit(mine);
}

void sg_progress_visit(void (*visit)(struct sg_progress_client *client, void *context),
                       void *context, enum sg_progress_by by)
{
    int count = atomic_load_explicit(&used, memory_order_acquire);
    uint32_t mine = begin_visit();
    enum sg_progress_by before = attending;

    attending = by;
    for (int place = 0; place < count; place++) {
        struct sg_progress_client *client = atomic_load(&clients[place]);

        if (client != NULL)
            visit(client, context);
    }
    attending = before;
    end_visit(mine);
}

enum sg_progress_by sg_progress_by(void)
{
    return attending;
}
