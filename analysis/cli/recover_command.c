/* `stagger recover` and `stagger export`. Recover makes the archive from the logs that a run left
 * after a crash or a failed export, and keeps the logs. Export writes a run's events in another
 * tool's format.
 */
#include "cli/main.h"
#include "core/status.h"
#include "options/options.h"
#include "output/format.h"
#include "output/output_file.h"
#include "output/progress_line.h"
#include "perfetto/perfetto.h"
#include "rule/rule.h"
#include "trace/export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { EXIT_INPUT = 1 };

#define AWAIT_END_MS 2000

struct recovery {
    char *directory;    /* of the logs; owned */
    const char *output; /* directory of the archive */
    bool force;
    struct sg_logread **logs;
    int log_count;
    int world_size;
    int missing;
    struct sg_progress_line progress;
};

#define AT(member) offsetof(struct recovery, member)

static const struct sg_option options[] = {
    {"force", 'f', NULL, "replace an existing archive", sg_option_flag, .at = AT(force)},
    {"output", 'o', "OTHER", "write the archive into the directory OTHER; works during a run, too",
     sg_option_text, .at = AT(output)},
    {0}};

/* A running job still writes its logs and makes its own archive when it ends: leave both to it. */
static bool has_ended(const struct recovery *recovery)
{
    int living = sg_logread_count_living(recovery->logs, recovery->log_count);

    if (living > 0 && recovery->output == recovery->directory)
        sg_log("%s: " SG_LOGREAD_IN_PROGRESS
               " and makes its archive at its end (--output OTHER makes one elsewhere)",
               recovery->directory, living, recovery->world_size);
    return living == 0 || recovery->output != recovery->directory;
}

static bool make_output(const struct recovery *recovery)
{
    if (mkdir(recovery->output, 0755) == 0 || errno == EEXIST)
        return true;
    sg_log("%s: %m", recovery->output);
    return false;
}

/* A run that ended normally has deleted its logs. */
static bool is_whole(const struct recovery *recovery, const char *anchor)
{
    struct stat info;

    return recovery->output == recovery->directory && lstat(anchor, &info) == 0 &&
           !sg_logread_any(recovery->directory);
}

static bool may_write(const struct recovery *recovery, const char *anchor)
{
    struct stat info;

    if (recovery->force || lstat(anchor, &info) != 0)
        return true;
    sg_log("%s exists already (--force replaces it)", anchor);
    return false;
}

static bool has_events(const struct recovery *recovery)
{
    for (int i = 0; i < recovery->log_count; i++) {
        if (sg_logread_header(recovery->logs[i])->trace_mode == SG_TRACE_OTF2)
            return true;
    }
    sg_log("%s: the run recorded statistics but no events (STAGGER_TRACE=stats); stagger report "
           "reads them from the logs",
           recovery->directory);
    return false;
}

static void show_progress(void *context, const char *what, int log)
{
    struct recovery *recovery = context;

    sg_progress_line_show(&recovery->progress, "stagger: %s log %d of %d", what, log + 1,
                          recovery->log_count);
}

static enum sg_status write_archive(struct recovery *recovery)
{
    const char **algorithms = calloc((size_t)sg_algorithm_count + 1, sizeof *algorithms);
    struct sg_export input = {
        .directory = recovery->output,
        .logs = recovery->logs,
        .log_count = recovery->log_count,
        .world_size = recovery->world_size,
        .partial = recovery->missing > 0,
        .replace = recovery->force,
        .algorithms = algorithms,
        .algorithm_count = sg_algorithm_count,
        .exchange = &sg_exchange_serial,
        .progress = show_progress,
        .context = recovery,
    };
    struct sg_export_result result;
    enum sg_status status = SG_ERR_MEMORY;

    if (algorithms == NULL) {
        sg_log("recover: %s", sg_status_text(status));
        return status;
    }
    for (int i = 0; i < sg_algorithm_count; i++)
        algorithms[i] = sg_algorithms[i].name;
    sg_progress_line_start(&recovery->progress, true);
    status = sg_export_archive(&input, &result);
    sg_progress_line_end(&recovery->progress);
    if (status == SG_OK) {
        sg_format_put(recovery->output, stdout);
        printf("/traces.otf2: %" PRIu64 " calls of %d ranks, %" PRIu64 " dropped%s\n", result.calls,
               recovery->world_size, result.dropped, result.partial ? ", partial" : "");
    }
    free(algorithms);
    return status;
}

static int recover(struct recovery *recovery)
{
    char anchor[PATH_MAX];
    int exit_status;

    if (snprintf(anchor, sizeof anchor, "%s/traces.otf2", recovery->output) >= (int)sizeof anchor) {
        sg_log("%s: %s", recovery->output, strerror(ENAMETOOLONG));
        return EXIT_INPUT;
    }
    if (is_whole(recovery, anchor)) {
        sg_format_put(anchor, stdout);
        puts(": the archive is already complete");
        return 0;
    }
    if (recovery->output == recovery->directory)
        sg_logread_await_end(recovery->directory, AWAIT_END_MS);
    if (sg_logread_open_all(recovery->directory, &recovery->logs, &recovery->log_count,
                            &recovery->world_size, &recovery->missing) != SG_OK)
        return EXIT_INPUT;
    exit_status = EXIT_INPUT;
    if (has_events(recovery) && has_ended(recovery) && make_output(recovery) &&
        may_write(recovery, anchor) && write_archive(recovery) == SG_OK)
        exit_status = 0;
    for (int i = 0; i < recovery->log_count; i++)
        sg_logread_close(recovery->logs[i]);
    free(recovery->logs);
    return exit_status;
}

int sg_command_recover(int argc, char **argv)
{
    struct recovery recovery = {0};
    struct sg_command_line line = {
        .name = "stagger recover",
        .arguments = "[DIR]",
        .documentation =
            "Makes DIR/traces.otf2 from the logs (DIR/rank-NNNNNN.log) that a run left behind, and "
            "ends the calls that were open. The logs are kept. " SG_RUNS_TEXT,
        .tables = {{options, &recovery}},
        .most = 1};
    int exit_status = EXIT_INPUT;

    sg_options_read(&line, argc, argv);
    recovery.directory = sg_runs_operand(&line);
    if (recovery.output == NULL)
        recovery.output = recovery.directory;
    if (recovery.directory != NULL)
        exit_status = recover(&recovery);
    free(recovery.directory);
    return exit_status;
}

/* ---- stagger export -------------------------------------------------------------------------- */

static const struct sg_option export_options[] = {
    {"perfetto", 'p', "FILE", "write Chrome trace JSON", sg_option_text, .at = 0}, {0}};

int sg_command_export(int argc, char **argv)
{
    const char *perfetto = NULL;
    struct sg_command_line line = {
        .name = "stagger export",
        .arguments = "[DIR]",
        .documentation =
            "Exports the events of a run to another tool: --perfetto writes Chrome trace JSON, "
            "which https://ui.perfetto.dev and chrome://tracing open.\n\n"
            "DIR is a run's output directory, or the path of an OTF2 archive "
            "(traces.otf2). " SG_RUNS_TEXT " FILE is replaced; - is standard output.\v"
            "Exit status: 0; 1 if DIR cannot be read or FILE cannot be written; 2 on bad usage.",
        .tables = {{export_options, &perfetto}},
        .most = 1};
    struct sg_perfetto_counts counts;
    struct sg_output_file file;
    enum sg_status status;
    char *path;

    sg_options_read(&line, argc, argv);
    if (perfetto == NULL)
        sg_options_fault(&line, "--perfetto FILE is missing");
    path = sg_runs_operand(&line);
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
        sg_log("export: %" PRIu64 " calls of incomplete instances are omitted",
               counts.dropped_calls);
    return 0;
}
