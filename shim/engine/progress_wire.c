/* Spans between machines: the adapter makes a descriptor readable when a message comes that asks to
 * be handled, once each time it has been armed. In mode thread a thread of its own listens to these
 * descriptors, because the helper thread sleeps on a word that processes of this machine ring; in
 * mode signal the kernel sends the signal (O_ASYNC) to the thread that armed it.
 *
 * An adapter cannot be disarmed: what is armed stays so until a message comes. So a rank that
 * enters a call takes the signal off the descriptor instead.
 */
#include "engine/progress_impl.h"
#include "engine/span_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int listening = -1; /* epoll: descriptors of spans in mode thread, and `ending` */
static int ending = -1;
static pthread_t listener;
static bool expected;

void sg_progress_wire_expect(void)
{
    expected = true;
}

static void *listen_to_all(void *context)
{
    struct epoll_event event;

    (void)context;
    for (;;) {
        int count = epoll_wait(listening, &event, 1, -1);

        if (count == 1 && event.data.ptr == NULL)
            return NULL;
        if (count == 1)
            sg_progress_attend(false);
    }
}

static bool watch(int operation, int descriptor, void *about)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = about};

    return epoll_ctl(listening, operation, descriptor, &event) == 0;
}

static int start_listener(void)
{
    sigset_t all, before;
    int error;

    /* The thread inherits the mask: the application's signals are for its own threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&listener, NULL, listen_to_all, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        pthread_setname_np(listener, "stagger-wire");
    return error;
}

bool sg_progress_wire_start(void)
{
    int error;

    if (!expected || listening >= 0)
        return true;
    listening = epoll_create1(EPOLL_CLOEXEC);
    ending = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    error = listening < 0 || ending < 0 || !watch(EPOLL_CTL_ADD, ending, NULL) ? errno
                                                                               : start_listener();
    if (error == 0)
        return true;
    close(listening);
    close(ending);
    listening = ending = -1;
    errno = error;
    return false;
}

void sg_progress_wire_stop(void)
{
    uint64_t one = 1;

    if (listening < 0 || write(ending, &one, sizeof one) != (ssize_t)sizeof one)
        return;
    pthread_join(listener, NULL);
    close(listening);
    close(ending);
    listening = ending = -1;
}

/* ---- one span ---- */

static int descriptor_of(const struct sg_span *span)
{
    return span->wire->descriptor(span->transport);
}

static void raise_signals(int descriptor, bool on)
{
    int flags = fcntl(descriptor, F_GETFL);

    fcntl(descriptor, F_SETFL, on ? flags | O_ASYNC : flags & ~O_ASYNC);
}

static void send_to(int descriptor, int signal, int thread)
{
    struct f_owner_ex owner = {F_OWNER_TID, thread};

    fcntl(descriptor, F_SETOWN_EX, &owner);
    fcntl(descriptor, F_SETSIG, signal);
}

void sg_progress_wire_arm(struct sg_span *span, enum sg_progress_mode mode, int signal, int thread)
{
    struct sg_progress_wire *wire = &span->listening;
    /* Relaxed, here and below: what is read of it elsewhere is no more than a hint. */
    uint32_t before = atomic_load_explicit(&wire->mode, memory_order_relaxed);
    int descriptor = descriptor_of(span);

    if (mode == SG_PROGRESS_SIGNAL) {
        if (before == SG_PROGRESS_THREAD)
            watch(EPOLL_CTL_DEL, descriptor, span);
        if (wire->thread != thread) {
            send_to(descriptor, signal, thread);
            wire->thread = thread;
        }
        if (before != SG_PROGRESS_SIGNAL)
            raise_signals(descriptor, true);
    } else if (before != SG_PROGRESS_THREAD) {
        if (before == SG_PROGRESS_SIGNAL)
            raise_signals(descriptor, false);
        watch(EPOLL_CTL_ADD, descriptor, span);
    }
    atomic_store_explicit(&wire->mode, mode, memory_order_relaxed);
    /* What came while a rank was in its call is not to be counted with what comes from now on. */
    span->wire->take_events(span->transport);
    span->wire->arm(span->transport);
}

void sg_progress_wire_quiet(struct sg_span *span)
{
    if (atomic_load_explicit(&span->listening.mode, memory_order_relaxed) != SG_PROGRESS_SIGNAL)
        return;
    raise_signals(descriptor_of(span), false);
    atomic_store_explicit(&span->listening.mode, SG_PROGRESS_POLL, memory_order_relaxed);
}

void sg_progress_wire_remove(struct sg_span *span)
{
    uint32_t mode = atomic_exchange(&span->listening.mode, SG_PROGRESS_POLL);

    if (mode == SG_PROGRESS_SIGNAL)
        raise_signals(descriptor_of(span), false);
    else if (mode == SG_PROGRESS_THREAD)
        watch(EPOLL_CTL_DEL, descriptor_of(span), span);
}
