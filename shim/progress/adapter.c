/* An adapter makes a descriptor readable when a solicited message arrives, once each time it has
 * been armed. A separate thread, the listener, waits for these descriptors, because the helper
 * thread sleeps on a word that processes of this machine ring.
 *
 * An adapter cannot be disarmed: it stays armed until a message arrives. A message that arrives
 * while a rank is in its call wakes the listener, too, which leaves the message to that rank.
 */
#include "progress/adapter.h"

#include "progress/thread.h"
#include "transport/transport.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int listening = -1; /* epoll: descriptors of clients, and `ending` */
static int ending = -1;
static pthread_t listener;
static void (*look)(void);

static void *listen_to_all(void *context)
{
    struct epoll_event event;

    for (;;) {
        int count = epoll_wait(listening, &event, 1, -1);

        if (count == 1 && event.data.ptr == NULL)
            return NULL;
        if (count == 1)
            look();
    }
}

static bool watch(int operation, int descriptor, void *info)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = info};

    return epoll_ctl(listening, operation, descriptor, &event) == 0;
}

bool sg_progress_adapter_start(void (*when_told)(void))
{
    int error;

    if (listening >= 0)
        return true;
    look = when_told;
    listening = epoll_create1(EPOLL_CLOEXEC);
    ending = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    error = listening < 0 || ending < 0 || !watch(EPOLL_CTL_ADD, ending, NULL)
                ? errno
                : sg_progress_thread_create(&listener, listen_to_all, NULL, "stagger-rdma");
    if (error == 0)
        return true;
    close(listening);
    close(ending);
    listening = ending = -1;
    errno = error;
    return false;
}

void sg_progress_adapter_stop(void)
{
    uint64_t one = 1;

    if (listening < 0 || write(ending, &one, sizeof one) != (ssize_t)sizeof one)
        return;
    pthread_join(listener, NULL);
    close(listening);
    close(ending);
    listening = ending = -1;
}

/* ---- one client ---- */

static int descriptor_of(const struct sg_progress_client *client)
{
    return client->remote->descriptor(client->transport);
}

void sg_progress_adapter_arm(struct sg_progress_client *client)
{
    /* Relaxed: one thread is in a call at a time; sg_progress_adapter_remove comes after them. */
    if (!atomic_load_explicit(&client->is_listened, memory_order_relaxed)) {
        watch(EPOLL_CTL_ADD, descriptor_of(client), client);
        atomic_store_explicit(&client->is_listened, true, memory_order_relaxed);
    }
    /* Messages that arrived while a rank was in its call need not wake the thread. */
    client->remote->take_events(client->transport);
    client->remote->arm(client->transport);
}

void sg_progress_adapter_remove(struct sg_progress_client *client)
{
    if (atomic_exchange(&client->is_listened, false))
        watch(EPOLL_CTL_DEL, descriptor_of(client), client);
}
