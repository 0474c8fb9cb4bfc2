/* stagger arrivals DIR: how late each rank came to each collective of a recorded run, as
 * `stagger-bench --arrival trace:FILE` replays it.
 */
#include "cli/command.h"
#include "cli/runs.h"
#include "cli/usage.h"
#include "core/operation.h"
#include "core/status.h"
#include "output/format.h"
#include "report/report.h"
#include "report/source_otf2.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_INPUT = 1 };

struct arrivals {
    char *path;    /* owned */
    int operation; /* SG_OPERATION_COUNT: any */
    uint32_t ranks;
    uint64_t calls, others;
};

static void set_operation(const struct sg_usage *usage, const char *name, void *to)
{
    int operation = 0;

    while (operation < SG_OPERATION_COUNT && strcmp(sg_operation_names[operation], name) != 0)
        operation++;
    if (operation == SG_OPERATION_COUNT)
        sg_usage_fault(usage, "--op wants barrier, allreduce, reduce or bcast, not '%s'", name);
    *(int *)to = operation;
}

/* Of the whole job only: those of fewer ranks say nothing of the others. */
static enum sg_status print_instance(void *context, const struct sg_aggregate *aggregate,
                                     const struct sg_seen_instance *seen)
{
    const struct sg_instance *instance = seen->instance;
    struct arrivals *arrivals = context;
    int64_t first_ns = INT64_MAX;
    uint64_t *late_ns;

    if (arrivals->operation != SG_OPERATION_COUNT &&
        (int)instance->operation != arrivals->operation)
        return SG_OK;
    if (instance->size != arrivals->ranks) {
        arrivals->others++;
        return SG_OK;
    }
    late_ns = calloc(instance->size, sizeof *late_ns);
    if (late_ns == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < instance->size; i++) {
        if (instance->calls[i].begin_ns < first_ns)
            first_ns = instance->calls[i].begin_ns;
    }
    for (uint32_t i = 0; i < instance->size; i++) {
        if (instance->calls[i].rank < instance->size)
            late_ns[instance->calls[i].rank] = (uint64_t)(instance->calls[i].begin_ns - first_ns);
    }
    for (uint32_t rank = 0; rank < instance->size; rank++)
        printf("%s%.3f", rank > 0 ? " " : "", (double)late_ns[rank] / 1e3);
    putchar('\n');
    free(late_ns);
    arrivals->calls++;
    return SG_OK;
}

static enum sg_status note_size(void *context, const struct sg_aggregate *aggregate,
                                const struct sg_seen_instance *seen)
{
    const struct sg_instance *instance = seen->instance;
    struct arrivals *arrivals = context;

    if (instance->size > arrivals->ranks)
        arrivals->ranks = instance->size;
    return SG_OK;
}

typedef enum sg_status (*look)(void *context, const struct sg_aggregate *aggregate,
                               const struct sg_seen_instance *seen);

static enum sg_status read_archive(const char *anchor, look instance, struct arrivals *arrivals)
{
    struct sg_watch watch = {.context = arrivals, .instance = instance};
    struct sg_report report = {0};
    struct sg_progress_line progress;
    enum sg_status status;

    sg_progress_line_start(&progress, true);
    status = sg_source_otf2(anchor, &progress, &watch, &report);
    sg_report_clear(&report);
    return status;
}

static int print_arrivals(struct arrivals *arrivals, const char *anchor)
{
    if (read_archive(anchor, note_size, arrivals) != SG_OK)
        return EXIT_INPUT;
    fputs("# ", stdout);
    sg_format_put(arrivals->path, stdout);
    printf(": arrivals of %u ranks, us after the first\n", arrivals->ranks);
    if (read_archive(anchor, print_instance, arrivals) != SG_OK)
        return EXIT_INPUT;
    if (arrivals->calls == 0) {
        sg_log("arrivals: %s: no such collective of all %u ranks", arrivals->path, arrivals->ranks);
        return EXIT_INPUT;
    }
    return 0;
}

int sg_command_arrivals(int argc, char **argv)
{
    struct arrivals arrivals = {.operation = SG_OPERATION_COUNT};
    const struct sg_command_option table[] = {{"op", 'o', "OPERATION",
                                               "only barrier, allreduce, reduce or bcast",
                                               &arrivals.operation, set_operation},
                                              {0}};
    const struct sg_usage usage = {
        .command = "arrivals",
        .synopsis = "[--op OPERATION] [DIR]",
        .operand = "DIR",
        .is_optional = true,
        .text = "Prints a line for each collective that all ranks of a run took part in: how late "
                "each rank came, in us after the first, in the order of ranks. stagger-bench "
                "--arrival trace:FILE measures collectives with these arrivals. " SG_RUNS_TEXT,
        .options = table,
    };
    struct sg_arguments operands;
    int exit_status = EXIT_INPUT;
    char *anchor;

    operands = sg_usage_read(&usage, argc, argv);
    arrivals.path = sg_runs_operand(&usage, &operands);
    if (arrivals.path != NULL && sg_report_find_archive(arrivals.path, &anchor) == SG_OK) {
        exit_status = print_arrivals(&arrivals, anchor);
        free(anchor);
    }
    free(arrivals.path);
    return exit_status;
}
