#include "output/progress_line.h"

#include "core/clock.h"

#include <stdarg.h>
#include <unistd.h>

#define FIRST_NS UINT64_C(1000000000)
#define RENEW_NS UINT64_C(200000000)

void sg_progress_line_start(struct sg_progress_line *progress, bool wanted)
{
    *progress = (struct sg_progress_line){.pause_ns = RENEW_NS};
    if (!wanted || !isatty(STDERR_FILENO))
        return;
    progress->terminal = stderr;
    progress->next_ns = sg_clock_ns() + FIRST_NS;
}

void sg_progress_line_start_on(struct sg_progress_line *progress, FILE *terminal)
{
    *progress = (struct sg_progress_line){.terminal = terminal};
}

void sg_progress_line_show(struct sg_progress_line *progress, const char *format, ...)
{
    va_list arguments;
    uint64_t now_ns;

    if (progress->terminal == NULL)
        return;
    now_ns = sg_clock_ns();
    if (now_ns < progress->next_ns)
        return;
    progress->next_ns = now_ns + progress->pause_ns;
    progress->shown = true;
    fputc('\r', progress->terminal);
    va_start(arguments, format);
    vfprintf(progress->terminal, format, arguments);
    va_end(arguments);
    fputs("\033[K", progress->terminal);
    fflush(progress->terminal);
}

void sg_progress_line_step(struct sg_progress_line *progress, const char *what, uint64_t done,
                           uint64_t total)
{
    if (total > 0)
        sg_progress_line_show(progress, "stagger: reading %s, %.0f%%", what,
                              100.0 * (double)(done < total ? done : total) / (double)total);
}

void sg_progress_line_end(struct sg_progress_line *progress)
{
    if (progress->shown) {
        fputs("\r\033[K", progress->terminal);
        fflush(progress->terminal);
    }
    progress->shown = false;
}
