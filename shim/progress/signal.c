/* The handler may interrupt anything: malloc, stdio, MPI, the library's code with an endpoint's
 * lock held. It only tries locks; a thread that holds one polls again before it unlocks (poll of
 * struct sg_progress_ops), and a rank inside a call polls before it leaves it. The handler blocks
 * all signals while it runs, so that no handler of the application can leave it by longjmp with the
 * lock held.
 *
 * A signal may have no effect: its thread ends or blocks it, or the application takes it over after
 * the doorbell was armed. So the helper thread stands by: a sender whose signal finds no thread
 * wakes it, and while a doorbell is armed it checks a few times a second whether a signal stays
 * unanswered.
 */
#include "progress/signal.h"

#include "core/altstack.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A signal that is unanswered for this long will not be answered. */
#define UNHEARD_NS UINT64_C(1000000000)

/* This process's slot and signal; number 0: there are no signals. */
static struct sg_process_slot *slot;
static int number;
static void (*look)(void);
static _Atomic uint32_t answers; /* signals handled, and doorbells armed anew */
static __thread int thread_id;

/* An exchange, to acquire the value that it overwrites: if a sender found 1, its message is seen
 * afterwards. */
static void answer(void)
{
    atomic_exchange(&slot->signalled, 0);
    atomic_fetch_add_explicit(&answers, 1, memory_order_relaxed);
}

static void on_signal(int signal)
{
    int saved_errno = errno;

    answer();
    look();
    errno = saved_errno;
}

static bool has_handler(void (*handler)(int))
{
    struct sigaction now;

    return sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
           now.sa_handler == handler;
}

void sg_progress_signal_start(struct sg_process_slot *own, int wanted, void (*when_sent)(void))
{
    slot = own;
    number = wanted;
    look = when_sent;
}

bool sg_progress_signal_is_ours(void)
{
    return has_handler(on_signal);
}

bool sg_progress_signal_install(void)
{
    /* SA_RESTART: an interrupted read, write and so on continues after the handler. */
    struct sigaction ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    sigfillset(&ours.sa_mask);
    return sg_progress_signal_is_ours() ||
           (has_handler(SIG_DFL) && sigaction(number, &ours, NULL) == 0);
}

bool sg_progress_signal_expect(void)
{
    sigset_t blocked;

    /* The handler and the kernel's frame for it take kilobytes of the stack. */
    if (!sg_altstack_has_room() || pthread_sigmask(SIG_BLOCK, NULL, &blocked) != 0 ||
        sigismember(&blocked, number) != 0)
        return false;
    if (thread_id == 0)
        thread_id = (int)syscall(SYS_gettid);
    atomic_store_explicit(&slot->thread, thread_id, memory_order_relaxed);
    /* A signal without effect must not block later ones. The caller polls once it has left. */
    answer();
    return true;
}

/* Counts at most one interval for each look: a stopped process cannot answer. */
bool sg_progress_signal_is_unheard(uint64_t now_ns)
{
    static uint32_t answers_before;
    static uint64_t looked_ns, waited_ns;
    uint32_t answers_now = atomic_load_explicit(&answers, memory_order_relaxed);
    uint64_t passed_ns = now_ns - looked_ns;

    looked_ns = now_ns;
    if (number == 0 || atomic_load(&slot->signalled) == 0 || answers_now != answers_before) {
        answers_before = answers_now;
        waited_ns = 0;
        return false;
    }
    waited_ns += passed_ns < SG_PROGRESS_WATCH_NS ? passed_ns : SG_PROGRESS_WATCH_NS;
    return waited_ns >= UNHEARD_NS;
}

void sg_progress_signal_forget(void)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};

    if (number != 0 && sg_progress_signal_is_ours())
        sigaction(number, &usual, NULL);
}

bool sg_progress_signal_send(const struct sg_process_slot *to)
{
    pid_t process = atomic_load_explicit(&to->process, memory_order_relaxed);
    siginfo_t info;

    memset(&info, 0, sizeof info);
    info.si_signo = number;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    if (syscall(SYS_rt_tgsigqueueinfo, process,
                atomic_load_explicit(&to->thread, memory_order_relaxed), number, &info) == 0)
        return true;
    /* A full queue refuses a signal with data, but never one without: kill's. It may go to another
     * thread of the process, which can handle it as well. */
    return errno == EAGAIN && kill(process, number) == 0;
}
