#include "cli/brief.h"

#include "cli/child.h"
#include "cli/runs.h"
#include "core/config.h"
#include "core/status.h"
#include "report/print.h"
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUNS_MAX 64 /* as many as are counted */
#define LEAST_NS UINT64_C(200000000)
#define MOST_NS UINT64_C(10000000000)
#define SHARE 20

/* A batch script is no rank: what Slurm tells a rank it tells this one, too, but for the step. */
bool sg_brief_is_rank(void)
{
    static const char *const names[] = {"PMI_RANK",        "PMI_FD",      "PMI_PORT",
                                        "PMI_ID",          "PMIX_RANK",   "OMPI_COMM_WORLD_RANK",
                                        "MPI_LOCALRANKID", "PALS_RANKID", "ALPS_APP_PE",
                                        "SLURM_STEPID"};
    bool is_rank = false;

    for (size_t i = 0; i < sizeof names / sizeof *names && !is_rank; i++)
        is_rank = sg_config_environment(names[i]) != NULL;
    return is_rank;
}

static void say_lines(char *text)
{
    char *rest;

    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        sg_log("%s", line);
}

/* In a process of its own, which may be killed at any time. */
static int read_and_say(void *path)
{
    const struct sg_watch watch = {.calls = true, .waitstates = true};
    struct sg_report report;
    size_t bytes = 0;
    char *text = NULL;
    FILE *out;

    /* Without the progress: who is killed cannot take it off the terminal. */
    if (sg_report_read(path, false, &watch, &report) != SG_OK)
        return 1;
    out = open_memstream(&text, &bytes);
    if (out != NULL) {
        sg_report_print_brief(&report, out);
        if (fclose(out) == 0)
            say_lines(text);
    }
    free(text);
    sg_report_clear(&report);
    return 0;
}

void sg_brief_tell(const char *where, const char *launch, uint64_t took_ns)
{
    char *paths[RUNS_MAX];
    size_t count = sg_runs_find(where, launch, RUNS_MAX, paths);
    uint64_t limit_ns = took_ns / SHARE;
    pid_t reader;

    if (count == 0)
        return;
    if (count > 1)
        sg_log("the last of %zu runs, %s:", count, paths[0]);
    reader = sg_child_start(read_and_say, paths[0]);
    if (reader > 0) {
        limit_ns = limit_ns < LEAST_NS ? LEAST_NS : limit_ns > MOST_NS ? MOST_NS : limit_ns;
        sg_child_await_briefly(reader, limit_ns);
    }
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
}
