/* Clients are read without a lock, also by signal handlers. A thread that removes one waits for all
 * visitors that may have seen it: a visitor counts itself in one of two counters, chosen by the
 * turn at that time. */
#include "progress/clients.h"

#include "progress/adapter.h"
#include "progress/doorbell.h"

#include <pthread.h>
#include <sched.h>

#define CLIENTS_MAX 4096

static _Atomic(struct sg_progress_client *) clients[CLIENTS_MAX];
static _Atomic int used; /* places ever used */
static _Atomic uint32_t turn;
static _Atomic uint32_t visitors[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of who adds and removes */

static __thread enum sg_progress_by attending;

bool sg_progress_add(struct sg_progress_client *client)
{
    int place = 0;

    /* Until its doorbell is armed for the first time: otherwise early messages would be handled
     * with the zeroed modes of arithmetic of a new client, which trap. */
    sg_progress_keep_arithmetic(&client->arithmetic);
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

/* Sequentially consistent, with the remover's clearing of a place and reading of the counter:
 * either the visitor finds the place empty or the remover sees the visitor. */
static uint32_t begin_visit(void)
{
    uint32_t mine = atomic_load(&turn) & 1;

    atomic_fetch_add(&visitors[mine], 1);
    return mine;
}

static void end_visit(uint32_t mine)
{
    /* Release: everything done to the clients comes before. */
    atomic_fetch_sub_explicit(&visitors[mine], 1, memory_order_release);
}

/* Waits until all visitors that may have seen the place full have gone. Later visitors use the
 * other counter, so that threads which poll without a pause do not block this one for ever; both
 * are waited for, because a visitor may have read the turn long before it counted itself. No
 * visitor waits for this thread: it holds no lock of this file, and its visit ends. A handler that
 * interrupts this thread here is finished before it continues. */
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
