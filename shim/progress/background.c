/* Progress while no rank of an endpoint is in a call: the work that the helper thread, the listener
 * and the signal handler do for the clients, and the start of progress. */
#include "progress/doorbell.h"
#include "progress/mode.h"
#include "transport/transport.h"

#include <unistd.h>

/* ---- arrivals ---- */

/* Returns the signals that have arrived for the endpoint since the last check. */
static uint64_t signals_for(struct sg_doorbell *doorbell)
{
    uint64_t rings = atomic_load_explicit(&doorbell->rings, memory_order_relaxed);

    return rings - atomic_exchange_explicit(&doorbell->answered, rings, memory_order_relaxed);
}

static bool is_left_to_us(const struct sg_doorbell *doorbell)
{
    /* Acquire: pairs with sg_internode_leave; client->arithmetic is that call's. */
    return atomic_load_explicit(&doorbell->inside, memory_order_acquire) == 0 &&
           (atomic_load_explicit(&doorbell->outstanding, memory_order_relaxed) > 0 ||
            atomic_load_explicit(&doorbell->pending, memory_order_relaxed) > 0);
}

static bool poll_left(struct sg_progress_client *client)
{
    if (!is_left_to_us(client->doorbell))
        return false;
    sg_progress_take_arithmetic(&client->arithmetic);
    return client->ops->poll(client);
}

/* Counts a signal as handled if it brought an event, and as ignored otherwise. Signals do not serve
 * clients between machines: adapter libraries take locks. */
static void attend_by_signal(struct sg_progress_client *client, void *context)
{
    struct sg_doorbell *doorbell = client->doorbell;
    uint64_t signals;
    bool has_handled;

    if (client->remote != NULL || !client->serves)
        return;
    signals = signals_for(doorbell);
    has_handled = poll_left(client);
    if (signals > 0)
        atomic_fetch_add_explicit(has_handled ? &doorbell->handled : &doorbell->ignored, signals,
                                  memory_order_relaxed);
}

static void attend_adapter(struct sg_progress_client *client)
{
    bool has_news = client->remote->take_events(client->transport) > 0;
    /* An adapter notifies only the process that armed it, even if another process is in a call. */
    bool is_for_us = client->has_companions && has_news;

    /* An adapter signals once; this poll finds messages that arrive before it is armed again. */
    for (int looks = 0; looks < 2 && (is_left_to_us(client->doorbell) || is_for_us); looks++) {
        if (looks > 0)
            client->remote->arm(client->transport);
        sg_progress_take_arithmetic(&client->arithmetic);
        client->ops->poll(client);
    }
    /* The listener may have set a timer, for which the helper must wait. */
    sg_progress_mind_timer(client);
}

static void attend_all_by_thread(struct sg_progress_client *client, void *context)
{
    /* A process that does not serve the endpoint has no adapter queue for it. */
    if (!client->serves)
        return;
    if (client->remote != NULL)
        attend_adapter(client);
    else
        poll_left(client);
}

static void attend_by_thread(struct sg_progress_client *client, void *context)
{
    if (!sg_progress_doorbell_is_for_signal(client->doorbell) || sg_progress_takes_naps(client))
        attend_all_by_thread(client, context);
}

static void advance(struct sg_progress_client *client, void *context)
{
    sg_progress_take_arithmetic(&client->arithmetic);
    client->ops->advance(client);
}

/* ---- callbacks of the thread, the listener and the handler ---- */

static void look_by_signal(void)
{
    sg_progress_visit(attend_by_signal, NULL, SG_PROGRESS_BY_SIGNAL);
}

static void look_by_listener(void)
{
    sg_progress_visit(attend_by_thread, NULL, SG_PROGRESS_BY_THREAD);
}

static void look_by_helper(bool signals_too)
{
    sg_progress_mode_watch();
    sg_progress_visit(signals_too ? attend_all_by_thread : attend_by_thread, NULL,
                      SG_PROGRESS_BY_THREAD);
    sg_progress_visit(advance, NULL, SG_PROGRESS_BY_THREAD);
}

static void find_due(struct sg_progress_client *client, void *least_ns)
{
    uint64_t due_ns = sg_progress_due_ns(client);

    if (due_ns < *(uint64_t *)least_ns)
        *(uint64_t *)least_ns = due_ns;
}

static uint64_t helper_due_ns(void)
{
    uint64_t least_ns = UINT64_MAX;

    sg_progress_visit(find_due, &least_ns, SG_PROGRESS_BY_THREAD);
    return least_ns;
}

static void replace_signal(struct sg_progress_client *client, void *by)
{
    sg_progress_doorbell_replace_signal(client->doorbell, *(const enum sg_progress_mode *)by);
}

static void hand_over(enum sg_progress_mode to)
{
    sg_progress_visit(replace_signal, &to, sg_progress_by());
}

static const struct sg_progress_looks looks = {
    .by_signal = look_by_signal,
    .by_helper = look_by_helper,
    .helper_due_ns = helper_due_ns,
    .by_listener = look_by_listener,
    .hand_over = hand_over,
};

/* ---- the start ---- */

enum sg_status sg_progress_start(const struct sg_exchange *exchange, const struct sg_ruleset *rules,
                                 bool remote, enum sg_progress_mode configured, int signal_number)
{
    enum sg_progress_mode highest = sg_progress_mode_choose(rules, configured);
    struct sg_progress_table *table;
    uint32_t own;
    enum sg_status status;

    if (highest == SG_PROGRESS_POLL)
        return SG_OK;
    status = sg_progress_table_share(exchange, remote, &table, &own);
    if (status != SG_OK || table == NULL)
        return status;
    if (remote && exchange->rank == 0 && highest == SG_PROGRESS_SIGNAL)
        sg_log("between machines a thread handles late messages instead of a signal handler, which "
               "cannot use RDMA adapters");
    /* Relaxed: no other thread of the library runs during MPI_Init. */
    atomic_store_explicit(&table->slots[own].process, getpid(), memory_order_relaxed);
    sg_progress_doorbell_start(table, own);
    sg_progress_mode_start(table, own, signal_number, remote, &looks);
    return SG_OK;
}
