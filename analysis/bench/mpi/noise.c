/* The noise of the machine: fixed quanta of work, one after the other on all ranks at once, which
 * would all take the same time if nothing interrupted them. Each rank's times show the
 * interruptions.
 */
#include "bench/mpi/bench.h"
#include "bench/rows.h"
#include "bench/statistics.h"

#include <stdlib.h>

#define QUANTA_MAX 100000
#define LEAST_QUANTA 10

static const struct sg_line_column columns[] = {
    {"rank", "rank", .width = 5},
    {"quantum_us", "quantum us", .width = 11},
    {SG_LINE_INTERVAL("quantum", "_us"), .title = "95 % interval", .width = -22},
    {"quantum_min_us", "min us", .width = 11},
    {"quantum_mean_us", "mean us", .width = 11},
    {"quantum_p99_us", "p99 us", .width = 11},
    {"quantum_max_us", "max us", .width = 11},
    {"lost", "lost", .width = 8},
    {"quantum_outliers", "outliers", .width = 8},
    {"quantum_count", "quanta", .width = 7},
    {0}};

static void measure(const struct sg_bench_machine *machine, uint64_t work, double *ns, size_t count)
{
    uint64_t before_ns = machine->now_ns(), after_ns;

    for (size_t i = 0; i < count; i++) {
        machine->work(work);
        after_ns = machine->now_ns();
        ns[i] = (double)(after_ns - before_ns);
        before_ns = after_ns;
    }
}

static enum sg_status report(const struct sg_bench_job *job, int rank, double *ns, size_t count)
{
    struct sg_record *record = sg_record_new();
    struct sg_bench_distribution found;

    sg_record_count(record, "rank", (uint64_t)rank);
    if (job->options->samples)
        sg_record_list(record, "samples_us", ns, count);
    found = sg_bench_distribute(ns, count);
    sg_bench_record_distribution(record, "quantum", &found);
    /* The share of the time beyond what the quanta take at best. */
    sg_record_number(record, "lost", 1 - found.least / found.mean);
    return sg_bench_output_record(job->output, record, columns);
}

enum sg_status sg_bench_noise(const struct sg_bench_job *job)
{
    const struct sg_bench_machine *machine = &job->machine;
    double quantum_ns = job->options->quantum_us * 1e3;
    double wanted = job->options->row_s * 1e9 / quantum_ns;
    size_t count = wanted < LEAST_QUANTA ? LEAST_QUANTA
                   : wanted > QUANTA_MAX ? QUANTA_MAX
                                         : (size_t)wanted;
    size_t *sizes = calloc((size_t)job->size, sizeof *sizes);
    double *own = calloc(count, sizeof *own), *all = NULL;
    enum sg_status status = own != NULL && sizes != NULL ? SG_OK : SG_ERR_MEMORY;

    if (status == SG_OK) {
        PMPI_Barrier(job->quiet);
        measure(machine, (uint64_t)(quantum_ns / machine->quantum_ns) + 1, own, count);
        status = machine->exchange->gather(machine->exchange->context, own, count * sizeof *own,
                                           (void **)&all, sizes);
    }
    for (int rank = 0; rank < job->size && status == SG_OK && job->output != NULL; rank++)
        status = report(job, rank, all + (size_t)rank * count, count);
    free(all);
    free(own);
    free(sizes);
    return status;
}
