/* The description of the environment in a run's output. */
#include "bench/cold.h"
#include "bench/mpi/bench.h"
#include "bench/mpi/machine.h"
#include "core/config.h"
#include "output/commit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define MODEL_BYTES 128

static void read_processor(char model[MODEL_BYTES])
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];

    model[0] = '\0';
    while (file != NULL && model[0] == '\0' && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');

        if (colon == NULL || strncmp(line, "model name", strlen("model name")) != 0)
            continue;
        snprintf(model, MODEL_BYTES, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    }
    if (file != NULL)
        fclose(file);
}

/* The library's settings when it was loaded, with the benchmark's own rules. */
static void describe_settings(struct sg_record *record)
{
    static const char *const names[] = {"STAGGER_RULES", "STAGGER_TRACE", "STAGGER_RANKS_PER_NODE",
                                        "STAGGER_PROGRESS"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        sg_record_text(record, names[i], sg_config_environment(names[i]));
}

/* The error bound of each rank's clock. */
static void describe_bounds(struct sg_record *record, const struct sg_bench_job *job)
{
    double *bounds_ns = calloc((size_t)job->size, sizeof *bounds_ns);

    for (int rank = 0; bounds_ns != NULL && rank < job->size; rank++)
        bounds_ns[rank] = (double)job->bounds_ns[rank];
    if (bounds_ns != NULL)
        sg_record_list(record, "bounds_us", bounds_ns, (size_t)job->size);
    free(bounds_ns);
}

/* How caches are emptied. */
static void describe_cold(const struct sg_bench_job *job)
{
    struct sg_record *record = sg_record_new();
    size_t cache_bytes = sg_bench_largest_cache();

    sg_record_count(record, "largest_cache_bytes", cache_bytes);
    sg_record_count(record, "sweep_bytes", sg_bench_sweep_bytes(cache_bytes));
    sg_record_us(record, "sweep", job->cooling_ns);
    sg_bench_output_describe(job->output, "cold", record);
}

void sg_bench_describe_run(const struct sg_bench_job *job)
{
    struct sg_record *record = sg_record_new();
    char model_name[MODEL_BYTES], when[32];
    time_t now = time(NULL);
    struct utsname machine;
    struct tm utc;

    read_processor(model_name);
    uname(&machine);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    sg_record_text(record, "stagger", SG_VERSION);
    sg_record_text(record, "commit", sg_commit);
    sg_record_text(record, "when", when);
    sg_record_text(record, "host", machine.nodename);
    sg_record_text(record, "kernel", machine.release);
    sg_record_text(record, "processor", model_name);
    sg_record_count(record, "processors", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
    sg_record_flag(record, "crowded", sg_bench_machine_is_oversubscribed());
    sg_record_count(record, "seed", job->options->seed);
    describe_settings(record);
    sg_bench_output_describe(job->output, "environment", record);

    if (job->options->cold)
        describe_cold(job);
    record = sg_record_new();
    sg_record_count(record, "clocks", (uint64_t)sg_clocksync_leader_count(job->clocks));
    describe_bounds(record, job);
    sg_record_us(record, "tolerance", (double)job->machine.tolerance_ns);
    sg_bench_output_describe(job->output, "clocks", record);
}
