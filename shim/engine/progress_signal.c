/* The mode `signal`: a real-time signal to the thread that armed a bell last.
 *
 * The handler may interrupt anything: malloc, stdio, MPI, our own code with an endpoint's lock
 * held. It only tries locks; whoever holds one looks again before it leaves (sg_span_look), and a
 * rank inside a call looks before it leaves that. It blocks all signals while it runs, so that a
 * handler of the application's cannot leave it by longjmp with the lock held.
 *
 * SIGIO is the same event: the kernel sends it in the place of a signal that a descriptor was to
 * send when the queue of signals is full, and its default ends the process.
 */
#include "engine/progress_impl.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sg_progress_cell *cell;
static int number; /* 0: not installed */

static void on_signal(int signal)
{
    int saved_errno = errno;

    (void)signal;
    /* Sequentially consistent: a sender that finds 1 has its message seen below. */
    atomic_store(&cell->signalled, 0);
    sg_progress_attend(true);
    errno = saved_errno;
}

static bool is_ours(int signal)
{
    struct sigaction now;

    return sigaction(signal, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
           now.sa_handler == on_signal;
}

static bool is_free(int signal)
{
    struct sigaction now;

    return sigaction(signal, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
           now.sa_handler == SIG_DFL;
}

static bool take_signal(int signal)
{
    /* What read, write and their like were doing goes on after it. */
    struct sigaction ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    sigfillset(&ours.sa_mask);
    return is_ours(signal) || (is_free(signal) && sigaction(signal, &ours, NULL) == 0);
}

bool sg_progress_signal_install(struct sg_progress_cell *own, int wanted)
{
    cell = own;
    number = wanted;
    if (!take_signal(number))
        return false;
    /* Where the application has a handler for it, that one keeps it from ending the process. */
    take_signal(SIGIO);
    return true;
}

bool sg_progress_signal_is_ours(void)
{
    return is_ours(number);
}

static void give_back(int signal)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};

    if (is_ours(signal))
        sigaction(signal, &usual, NULL);
}

void sg_progress_signal_forget(void)
{
    if (number == 0)
        return;
    give_back(number);
    give_back(SIGIO);
}

bool sg_progress_signal_send(const struct sg_progress_cell *to, int signal)
{
    pid_t process = atomic_load_explicit(&to->process, memory_order_relaxed);
    siginfo_t info;

    memset(&info, 0, sizeof info);
    info.si_signo = signal;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    if (syscall(SYS_rt_tgsigqueueinfo, process,
                atomic_load_explicit(&to->thread, memory_order_relaxed), signal, &info) == 0)
        return true;
    /* A full queue refuses a signal that carries something, but never one that does not: kill's.
     * It may come to another thread of the process, which does as well. */
    return errno == EAGAIN && kill(process, signal) == 0;
}
