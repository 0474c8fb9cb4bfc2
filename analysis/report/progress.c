#include "report/progress.h"

#include "core/clock.h"

#include <stdio.h>
#include <unistd.h>

#define FIRST_NS UINT64_C(1000000000)
#define RENEW_NS UINT64_C(200000000)

void sg_progress_start(struct sg_progress *progress, bool wanted)
{
    *progress = (struct sg_progress){.wanted = wanted && isatty(STDERR_FILENO)};
    if (progress->wanted)
        progress->next_ns = sg_clock_ns() + FIRST_NS;
}

void sg_progress_step(struct sg_progress *progress, const char *what, uint64_t done, uint64_t total)
{
    uint64_t now_ns;

    if (!progress->wanted || total == 0)
        return;
    now_ns = sg_clock_ns();
    if (now_ns < progress->next_ns)
        return;
    progress->next_ns = now_ns + RENEW_NS;
    progress->shown = true;
    fprintf(stderr, "\rstagger: reading %s, %.0f%%\033[K", what,
            100.0 * (double)(done < total ? done : total) / (double)total);
    fflush(stderr);
}

void sg_progress_end(struct sg_progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
