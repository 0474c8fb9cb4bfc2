/* Starts and awaits a child process. Signals are blocked and taken with sigwaitinfo, so there are
 * no handlers.
 */
#include "cli/main.h"

#include "core/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Signal mask and SIGCHLD disposition from before the first child. */
static struct {
    bool is_known;
    sigset_t mask;
    struct sigaction on_child;
} before;

static void take_signals(void)
{
    static const int stopping[] = {SIGTSTP, SIGTTIN, SIGTTOU};
    sigset_t blocked;

    if (before.is_known)
        return;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof stopping / sizeof *stopping; i++)
        sigdelset(&blocked, stopping[i]);
    sigprocmask(SIG_BLOCK, &blocked, &before.mask);
    /* A process that ignores SIGCHLD cannot wait for its children. */
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &before.on_child);
    before.is_known = true;
}

static void give_signals_back(void)
{
    int error = errno;

    sigaction(SIGCHLD, &before.on_child, NULL);
    sigprocmask(SIG_SETMASK, &before.mask, NULL);
    before.is_known = false;
    errno = error;
}

/* The kernel sends the terminal's signals to the whole process group, so the child has them
 * already. A timer set before this program was executed belongs to this process only. */
static bool is_handed_on(const siginfo_t *info)
{
    return info->si_signo != SIGCHLD && (info->si_code <= 0 || info->si_signo == SIGALRM);
}

pid_t sg_child_start(int (*work)(void *context), void *context)
{
    pid_t own = getpid();
    pid_t child;

    take_signals();
    child = fork();
    if (child > 0)
        return child;
    if (child < 0) {
        give_signals_back();
        return -1;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != own)
        raise(SIGKILL);
    give_signals_back();
    _exit(work(context));
}

static bool is_harmless(int signal)
{
    return signal == SIGCHLD || signal == SIGCONT || signal == SIGWINCH || signal == SIGURG;
}

int sg_child_await(pid_t child, bool *is_told)
{
    sigset_t all;
    int status;

    *is_told = false;
    sigfillset(&all);
    for (;;) {
        siginfo_t info;
        int signal = sigwaitinfo(&all, &info);

        if (signal == SIGCHLD && waitpid(child, &status, WNOHANG) == child)
            return status;
        if (signal > 0 && is_handed_on(&info))
            kill(child, signal);
        *is_told = *is_told || (signal > 0 && !is_harmless(signal));
    }
}

static bool would_end(int signal)
{
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

bool sg_child_await_briefly(pid_t child, uint64_t limit_ns)
{
    uint64_t end_ns = sg_clock_ns() + limit_ns;
    sigset_t all;

    sigfillset(&all);
    for (uint64_t now_ns = sg_clock_ns(); now_ns < end_ns; now_ns = sg_clock_ns()) {
        struct timespec rest = {.tv_sec = (time_t)((end_ns - now_ns) / 1000000000),
                                .tv_nsec = (long)((end_ns - now_ns) % 1000000000)};
        int signal = sigtimedwait(&all, NULL, &rest);

        if (signal == SIGCHLD && waitpid(child, NULL, WNOHANG) == child)
            return true;
        if (would_end(signal))
            break;
    }
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    return false;
}

int sg_child_status(int status)
{
    sigset_t one;

    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    /* The program has already dumped its core, if any; this process must not dump a second one. */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(WTERMSIG(status), SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, WTERMSIG(status));
    raise(WTERMSIG(status));
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    return 128 + WTERMSIG(status); /* the signal does not terminate a process */
}
