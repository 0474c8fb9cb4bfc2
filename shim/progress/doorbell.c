/* An armed doorbell contains a mode and the number of the process to ring, in one word. Ringing it
 * wakes that process's helper thread, or sends its thread a signal. */
#include "progress/doorbell.h"

#include "core/clock.h"
#include "core/cpu/cpu.h"
#include "progress/adapter.h"
#include "progress/mode.h"
#include "progress/signal.h"
#include "progress/thread.h"

/* How often the helper thread checks nonblocking calls that wait for places. */
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

/* ---- arithmetic ---- */

void sg_progress_keep_arithmetic(struct sg_progress_float *kept)
{
    struct sg_cpu_float_modes modes = sg_cpu_float_modes();

    /* Relaxed, both: the doorbell orders the process that rings and the one that is rung. */
    atomic_store_explicit(&kept->words[0], modes.words[0], memory_order_relaxed);
    atomic_store_explicit(&kept->words[1], modes.words[1], memory_order_relaxed);
}

void sg_progress_take_arithmetic(const struct sg_progress_float *kept)
{
    sg_cpu_set_float_modes(
        (struct sg_cpu_float_modes){{atomic_load_explicit(&kept->words[0], memory_order_relaxed),
                                     atomic_load_explicit(&kept->words[1], memory_order_relaxed)}});
}

/* ---- by senders ---- */

void sg_progress_ring(struct sg_doorbell *doorbell)
{
    /* Acquire: pairs with sg_progress_arm; the thread in the slot is the one that armed it. */
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
         * Exchanges: the helper also sees the messages of those that found the 1 meanwhile. */
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

/* ---- by who enters and leaves calls ---- */

bool sg_progress_arm(struct sg_progress_client *client, enum sg_progress_mode asked)
{
    struct sg_doorbell *doorbell = client->doorbell;
    /* Checked every time, at the price of two system calls: the application may have taken over the
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
    /* The helper is to stand by. Sequentially consistent, as sg_progress_mind_timer. */
    if (armed == armed_by_us(SG_PROGRESS_SIGNAL) &&
        atomic_load(&table->slots[own].wakes_ns) == UINT64_MAX)
        sg_progress_ring_master(own);
}

void sg_progress_disarm(struct sg_progress_client *client)
{
    /* Relaxed: an unnecessary ring does no harm. */
    atomic_store_explicit(&client->doorbell->armed, 0, memory_order_relaxed);
}

void sg_progress_doorbell_withdraw(struct sg_doorbell *doorbell)
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
    /* Relaxed: a rank that arms it again checks for what has arrived before. */
    return (atomic_load_explicit(&doorbell->armed, memory_order_relaxed) & MODE_MASK) ==
           SG_PROGRESS_SIGNAL;
}

/* ---- what happens without a ring ---- */

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
    /* Sequentially consistent: what waits has been said before, and a helper that is about to say
     * when it wakes looks at that afterwards. */
    if (sg_progress_mode_thread() && atomic_load(&slot->wakes_ns) > sg_clock_ns() + NAP_NS)
        sg_progress_thread_ring(slot);
}

/* Where this process has armed the endpoint, and left it. Sequentially consistent, all: see
 * sg_progress_left. */
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
