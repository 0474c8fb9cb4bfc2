/* stagger watch: options, the directory, then what is shown. */
#include "watch/watch.h"
#include "cli/command.h"
#include "cli/usage.h"
#include "watch/find.h"

#include <math.h>
#include <stdlib.h>

#define INTERVAL_LEAST_S 0.1
#define INTERVAL_MOST_S 86400.0

static const char text[] =
    "Shows a running job, without stopping or slowing it: the call sites at which its ranks spend "
    "their time in MPI, how long they wait there and for whom, in the last second and in all. "
    "It ends with the job.\n\n"
    "DIR is the job's output directory. Without DIR: the one in the working directory in which a "
    "job runs; of several that of the newest job.";

static void set_interval(const struct sg_usage *usage, const char *value, void *to)
{
    char *end;
    double seconds = strtod(value, &end);

    if (end == value || *end != '\0' || !isfinite(seconds) || seconds < INTERVAL_LEAST_S ||
        seconds > INTERVAL_MOST_S)
        sg_usage_fault(usage, "--interval wants seconds from %g to %g, not '%s'", INTERVAL_LEAST_S,
                       INTERVAL_MOST_S, value);
    *(uint64_t *)to = (uint64_t)(seconds * 1e9);
}

static void set_count(const struct sg_usage *usage, const char *value, void *to)
{
    char *end;
    long long count = strtoll(value, &end, 10);

    if (end == value || *end != '\0' || count < 1)
        sg_usage_fault(usage, "--count wants a number from 1 up, not '%s'", value);
    *(uint64_t *)to = (uint64_t)count;
}

static void parse(int argc, char **argv, struct sg_live_options *options)
{
    const struct sg_command_option table[] = {
        {"interval", 'i', "SECONDS", "show new figures so often (default: 1)",
         &options->interval_ns, set_interval},
        {"count", 'c', "N", "show figures so many times, and leave (default: until the job ends)",
         &options->count, set_count},
        {"top", 'n', "N", "show the first N call sites only (default: 20, or what fits)",
         &options->top, sg_usage_set_top},
        {"json", 'j', NULL, "print an object of JSON on a line each time (docs/watch-json.md)",
         &options->json, NULL},
        {0},
    };
    const struct sg_usage usage = {
        .command = "watch",
        .synopsis = "[OPTION...] [DIR]",
        .operand = "DIR",
        .many = true,
        .text = text,
        .end = "On a terminal q or Ctrl-C leaves.\n\nExit status: 0, 1 where no job can be read, 2 "
               "on bad usage.",
        .options = table,
    };
    struct sg_arguments operands = sg_usage_read(&usage, argc, argv);

    if (operands.count > 1)
        sg_usage_fault(&usage, "one DIR at a time");
    if (operands.count == 1)
        options->directory = operands.words[0];
}

int sg_command_watch(int argc, char **argv)
{
    struct sg_live_options options = {.interval_ns = UINT64_C(1000000000)};
    char *found = NULL;
    enum sg_status status = SG_OK;

    parse(argc, argv, &options);
    if (options.directory == NULL) {
        status = sg_live_find(".", &found);
        options.directory = found;
    }
    if (status == SG_OK)
        status = sg_live_show(&options);
    free(found);
    return status == SG_OK ? 0 : 1;
}
