/* Makes the kernel patch its own code repeatedly while all processors run the patched code: opening
 * and closing a counter of context switches inserts a jump into the kernel's scheduler and removes
 * it. The argument is the number of times. An emulator whose processors translate code while
 * another changes it may run a breakpoint that is long gone; its kernel then hangs or dies.
 */
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAIRS = 2 };

static int counter_of(unsigned long long config)
{
    struct perf_event_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = config;
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0ul);
    if (fd < 0) {
        perror("patches: perf_event_open");
        exit(1);
    }
    return fd;
}

/* Two processes that switch to each other, until the one that began them ends. */
static void answer(int from, int to)
{
    char byte = 0;

    while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
        ;
    _exit(0);
}

static void begin_pair(void)
{
    int there[2], back[2];

    if (pipe(there) != 0 || pipe(back) != 0 || write(there[1], "", 1) != 1) {
        perror("patches: pipe");
        exit(1);
    }
    for (int side = 0; side < 2; side++) {
        pid_t parent = getpid();

        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() == parent)
                answer(side ? back[0] : there[0], side ? there[1] : back[1]);
            _exit(0);
        }
    }
    for (int end = 0; end < 2; end++) {
        close(there[end]);
        close(back[end]);
    }
}

int main(int argc, char **argv)
{
    long times = argc > 1 ? atol(argv[1]) : 1;

    for (int pair = 0; pair < PAIRS; pair++)
        begin_pair();
    counter_of(PERF_COUNT_SW_PAGE_FAULTS); /* stays open, so that switches go by what is patched */
    for (long i = 0; i < times; i++)
        close(counter_of(PERF_COUNT_SW_CONTEXT_SWITCHES));
    printf("patched %ld times\n", times);
    return 0;
}
