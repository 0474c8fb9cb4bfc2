/* stagger recover DIR: makes the archive from the logs that a run left behind, after a crash or
 * an export that failed. The logs stay.
 */
#include "cli/command.h"
#include "core/status.h"
#include "rule/algorithm.h"
#include "trace/export/export.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_INPUT = 1, EXIT_USAGE = 2 };

struct recovery {
    const char *directory;
    bool force;
    struct sg_logread **logs;
    int log_count;
    int world_size;
    int missing;
};

static void print_help(void)
{
    puts("Usage: stagger recover [--force] DIR\n"
         "\n"
         "Makes DIR/traces.otf2 from the logs (DIR/rank-NNNNNN.log) that a run left behind, "
         "closing\n"
         "what was open. The logs are kept.\n"
         "\n"
         "  -f, --force  replaces an archive that is there already\n"
         "  -h, --help   this text");
}

/* False: *exit_status is what to leave with. */
static bool parse(int argc, char **argv, struct recovery *recovery, int *exit_status)
{
    static const struct option options[] = {
        {"force", no_argument, NULL, 'f'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    int option;

    *exit_status = EXIT_USAGE;
    opterr = 0;
    optind = 0; /* begins anew, whatever parsed before */
    while ((option = getopt_long(argc, argv, "fh", options, NULL)) != -1) {
        if (option == 'f') {
            recovery->force = true;
        } else if (option == 'h') {
            print_help();
            *exit_status = 0;
            return false;
        } else {
            sg_log("recover: unknown option %s (stagger recover [--force] DIR)", argv[optind - 1]);
            return false;
        }
    }
    if (argc - optind != 1) {
        sg_log("recover: expected one directory, got %d (stagger recover [--force] DIR)",
               argc - optind);
        return false;
    }
    recovery->directory = argv[optind];
    return true;
}

/* An archive that is there is replaced only when told to, and only by logs that can be read. */
static bool make_way(const struct recovery *recovery)
{
    char path[PATH_MAX];
    struct stat info;

    if (snprintf(path, sizeof path, "%s/traces.otf2", recovery->directory) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        sg_log("%s: %m", recovery->directory);
        return false;
    }
    if (lstat(path, &info) != 0)
        return true;
    if (!recovery->force) {
        sg_log("%s is there already (--force replaces it)", path);
        return false;
    }
    if (unlink(path) != 0) {
        sg_log("%s: %m", path);
        return false;
    }
    return true;
}

static bool has_events(const struct recovery *recovery)
{
    for (int i = 0; i < recovery->log_count; i++) {
        if (sg_logread_header(recovery->logs[i])->trace_mode == SG_TRACE_OTF2)
            return true;
    }
    sg_log("%s: the run kept statistics and no events (STAGGER_TRACE=stats); stagger report reads "
           "them from the logs",
           recovery->directory);
    return false;
}

static enum sg_status write_archive(const struct recovery *recovery)
{
    const char **algorithms = calloc((size_t)sg_algorithm_count + 1, sizeof *algorithms);
    struct sg_export input = {
        .directory = recovery->directory,
        .logs = recovery->logs,
        .log_count = recovery->log_count,
        .world_size = recovery->world_size,
        .partial = recovery->missing > 0,
        .algorithms = algorithms,
        .algorithm_count = sg_algorithm_count,
        .exchange = &sg_exchange_serial,
    };
    struct sg_export_result result;
    enum sg_status status = SG_ERR_MEMORY;

    if (algorithms == NULL) {
        sg_log("recover: %s", sg_status_text(status));
        return status;
    }
    for (int i = 0; i < sg_algorithm_count; i++)
        algorithms[i] = sg_algorithms[i].name;
    status = sg_export_archive(&input, &result);
    if (status == SG_OK)
        printf("%s/traces.otf2: %" PRIu64 " calls of %d ranks, %" PRIu64 " dropped%s\n",
               recovery->directory, result.calls, recovery->world_size, result.dropped,
               result.partial ? ", partial" : "");
    free(algorithms);
    return status;
}

int sg_command_recover(int argc, char **argv)
{
    struct recovery recovery = {0};
    int exit_status;

    if (!parse(argc, argv, &recovery, &exit_status))
        return exit_status;
    if (sg_logread_open_all(recovery.directory, &recovery.logs, &recovery.log_count,
                            &recovery.world_size, &recovery.missing) != SG_OK)
        return EXIT_INPUT;
    exit_status = EXIT_INPUT;
    if (has_events(&recovery) && make_way(&recovery) && write_archive(&recovery) == SG_OK)
        exit_status = 0;
    for (int i = 0; i < recovery.log_count; i++)
        sg_logread_close(recovery.logs[i]);
    free(recovery.logs);
    return exit_status;
}
