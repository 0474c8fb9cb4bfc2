#include "bench/progress.h"

#include "bench/terminal.h"

#include <stdio.h>
#include <unistd.h>

/* To the line's begin, and wiped from there on. */
#define ANEW "\r\033[K"

static struct {
    FILE *terminal; /* NULL: there is none to show it on */
    const char *command;
} line;

void sg_bench_progress_open(const struct sg_bench_job *job)
{
    int descriptor;

    if (job->rank != 0)
        return;
    if (job->options->format == SG_BENCH_TEXT) {
        descriptor = sg_bench_terminal_open(STDOUT_FILENO);
        if (descriptor >= 0) {
            close(descriptor);
            return;
        }
    }
    descriptor = sg_bench_terminal_open(STDERR_FILENO);
    if (descriptor < 0)
        return;
    line.command = sg_bench_command_name(job->options->command);
    line.terminal = fdopen(descriptor, "w");
    if (line.terminal == NULL)
        close(descriptor);
}

void sg_bench_progress_show(const char *what, int place, int count)
{
    if (line.terminal == NULL)
        return;
    fprintf(line.terminal, ANEW "stagger-bench %s%s%s", line.command, *what != '\0' ? ": " : "",
            what);
    if (count > 1)
        fprintf(line.terminal, ", %d of %d", place, count);
    fflush(line.terminal);
}

void sg_bench_progress_close(void)
{
    if (line.terminal == NULL)
        return;
    fputs(ANEW, line.terminal);
    fclose(line.terminal);
    line.terminal = NULL;
}
