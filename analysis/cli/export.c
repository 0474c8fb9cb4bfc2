/* stagger export: a run's events in the form of another tool. */
#include "cli/command.h"
#include "cli/runs.h"
#include "cli/usage.h"
#include "core/status.h"
#include "output/output_file.h"
#include "perfetto/perfetto.h"

#include <inttypes.h>
#include <stdlib.h>

static const char text[] =
    "Writes the events of a run for another tool: with --perfetto as Chrome trace JSON, which "
    "https://ui.perfetto.dev and chrome://tracing open.\n\n"
    "DIR is the directory that a run wrote, or the path of an OTF2 archive "
    "(traces.otf2). " SG_RUNS_TEXT " FILE is replaced; - is standard output.";

int sg_command_export(int argc, char **argv)
{
    const char *perfetto = NULL;
    const struct sg_command_option table[] = {
        {"perfetto", 'p', "FILE", "write Chrome trace JSON", &perfetto, NULL}, {0}};
    const struct sg_usage usage = {
        .command = "export",
        .synopsis = "[OPTION...] [DIR]",
        .operand = "DIR",
        .is_optional = true,
        .text = text,
        .end = "Exit status: 0, 1 where DIR cannot be read or FILE cannot be written, 2 on bad "
               "usage.",
        .options = table,
    };
    struct sg_arguments operands = sg_usage_read(&usage, argc, argv);
    struct sg_perfetto_counts counts;
    struct sg_output_file file;
    enum sg_status status;
    char *path;

    if (perfetto == NULL)
        sg_usage_fault(&usage, "--perfetto FILE is missing");
    path = sg_runs_operand(&usage, &operands);
    if (path == NULL || sg_output_file_open(perfetto, &file) != SG_OK) {
        free(path);
        return 1;
    }
    status = sg_perfetto_write(path, true, file.stream, &counts);
    status = sg_output_file_close(&file, status);
    free(path);
    if (status != SG_OK)
        return 1;
    if (counts.dropped_calls > 0)
        sg_log("export: %" PRIu64 " calls of incomplete instances are left out",
               counts.dropped_calls);
    return 0;
}
