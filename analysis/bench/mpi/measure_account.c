/* The command account: where the time of a small call between two ranks goes
 * (bench/call_account.h), under libstagger-account.so. Blocks of calls that leave marks alternate
 * with blocks of calls that leave none: the time of these is the whole, with which the sum of the
 * parts should agree. */
#include "bench/call_account.h"
#include "bench/mpi/bench_machine.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WARM_CALLS 200
#define FIRST_CALLS 32 /* not counted, because the ranks come out of the barrier before the block */
#define CALLS 160
#define BLOCKS_MIN 5
#define BLOCKS_MAX 20000
#define BLOCKS_VAIN 100 /* tries without a usable block before giving up */
#define RATE_NS UINT64_C(20000000)
#define NOTE_BYTES 200

static const enum sg_operation operations[] = {SG_OPERATION_BARRIER, SG_OPERATION_REDUCE,
                                               SG_OPERATION_ALLREDUCE};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static const struct sg_line_column columns[] = {
    {"part", "part", .width = -12},
    {"barrier_ns", "barrier ns", .width = 12, .decimals = SG_LINE_TENTHS},
    {"reduce_ns", "reduce ns", .width = 12, .decimals = SG_LINE_TENTHS},
    {"allreduce_ns", "allreduce ns", .width = 12, .decimals = SG_LINE_TENTHS},
    {0}};

struct found {
    struct sg_bench_account account;
    double whole;
    size_t blocks;
};

struct measuring {
    const struct sg_bench_job *job;
    sg_account_setter set;
    double cost, line; /* counts that a mark takes, that a line takes */
    double rate;       /* counts per ns */
    sg_bench_marks own[CALLS];
    sg_bench_marks all[SG_BENCH_ACCOUNT_RANKS][CALLS]; /* on rank 0 */
};

/* Finds the preloaded library's function; NULL: another library, or none, is preloaded. */
static sg_account_setter find_setter(void)
{
    sg_account_setter set;

    *(void **)&set = dlsym(RTLD_DEFAULT, SG_ACCOUNT_SET);
    return set;
}

/* Returns the counts that a mark takes; 0: the counter is unreliable. */
static double find_cost(void)
{
    sg_account_coster cost;

    *(void **)&cost = dlsym(RTLD_DEFAULT, SG_ACCOUNT_COST);
    return cost != NULL ? cost() : 0;
}

bool sg_bench_can_account(const struct sg_bench_job *job)
{
    if (find_setter() == NULL)
        sg_log("bench: account needs libstagger-account.so preloaded");
    else if (job->size != SG_BENCH_ACCOUNT_RANKS || job->between_nodes)
        sg_log("bench: account needs two ranks on one node");
    else if (find_cost() == 0)
        sg_log("bench: account needs the processor counter that the kernel's clock is based on");
    else
        return true;
    return false;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void call(const struct sg_bench_job *job, enum sg_operation operation)
{
    double given = 1, got;

    if (operation == SG_OPERATION_BARRIER)
        MPI_Barrier(job->comm);
    else if (operation == SG_OPERATION_REDUCE)
        MPI_Reduce(&given, &got, 1, MPI_DOUBLE, MPI_SUM, 0, job->comm);
    else
        MPI_Allreduce(&given, &got, 1, MPI_DOUBLE, MPI_SUM, job->comm);
}

/* Returns counts per call of the slower rank. */
static double block_of_calls(const struct sg_bench_job *job, enum sg_operation operation)
{
    uint64_t begin = 0;
    double took;

    PMPI_Barrier(job->quiet);
    for (int i = 0; i < CALLS; i++) {
        if (i == FIRST_CALLS)
            begin = sg_bench_counter();
        call(job, operation);
    }
    took = (double)(sg_bench_counter() - begin) / (CALLS - FIRST_CALLS);
    PMPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, job->quiet);
    return took;
}

/* False, on rank 0: the calls do not leave the marks of a flat exchange. */
static bool block_of_marks(struct measuring *measuring, enum sg_operation operation,
                           struct sg_bench_account *out)
{
    const sg_bench_marks *const both[] = {measuring->all[0], measuring->all[1]};

    memset(measuring->own, 0, sizeof measuring->own);
    measuring->set(measuring->own);
    block_of_calls(measuring->job, operation);
    measuring->set(NULL);
    PMPI_Gather(measuring->own, sizeof measuring->own, MPI_BYTE, measuring->all,
                sizeof measuring->own, MPI_BYTE, 0, measuring->job->quiet);
    return measuring->job->rank != 0 ||
           sg_bench_account_walk(both, FIRST_CALLS, CALLS, measuring->cost, measuring->line, out);
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* Returns the mean of the quicker half, as for the accounts. */
static double whole_of(double *wholes, size_t count)
{
    size_t half = (count + 1) / 2;
    double sum = 0;

    qsort(wholes, count, sizeof *wholes, ascending);
    for (size_t i = 0; i < half; i++)
        sum += wholes[i];
    return sum / (double)half;
}

/* Decides for all ranks alike: stops when there are enough blocks and no time is left, or when no
 * block is usable. */
static bool go_on(const struct sg_bench_job *job, uint64_t begin_ns, size_t tried, size_t blocks)
{
    int verdict = tried < BLOCKS_MAX && (blocks > 0 || tried < BLOCKS_VAIN) &&
                  (blocks < BLOCKS_MIN ||
                   (double)(job->machine.now_ns() - begin_ns) < job->options->row_s * 1e9);

    PMPI_Bcast(&verdict, 1, MPI_INT, 0, job->quiet);
    return verdict;
}

/* Leaves out blocks in which a rank ran so far ahead that it published into its box. */
static enum sg_status measure(struct measuring *measuring, enum sg_operation operation,
                              struct found *out)
{
    const struct sg_bench_job *job = measuring->job;
    struct sg_bench_account *accounts = malloc(BLOCKS_MAX * sizeof *accounts);
    double *wholes = malloc(BLOCKS_MAX * sizeof *wholes);
    uint64_t begin_ns = job->machine.now_ns();
    size_t blocks = 0;

    if (accounts == NULL || wholes == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < WARM_CALLS; i++)
        call(job, operation);
    for (size_t tried = 0; go_on(job, begin_ns, tried, blocks); tried++) {
        wholes[blocks] = block_of_calls(job, operation);
        blocks += block_of_marks(measuring, operation, &accounts[blocks]);
    }
    if (job->rank == 0 && blocks > 0) {
        out->account = sg_bench_account_of_all(accounts, blocks);
        out->whole = whole_of(wholes, blocks);
        out->blocks = blocks;
    }
    free(accounts);
    free(wholes);
    PMPI_Bcast(&blocks, sizeof blocks, MPI_BYTE, 0, job->quiet);
    return blocks > 0 ? SG_OK : SG_ERR_FORMAT;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static enum sg_status put(const struct measuring *measuring, const char *part,
                          const double values[OPERATIONS])
{
    struct sg_record *record = sg_record_new();

    sg_record_text(record, "part", part);
    for (int i = 0; i < OPERATIONS; i++)
        sg_record_number(record, columns[1 + i].field, values[i] / measuring->rate);
    return sg_bench_output_record(measuring->job->output, record, columns);
}

static enum sg_status report(const struct measuring *measuring, const struct found *found)
{
    double values[OPERATIONS];
    enum sg_status status = SG_OK;

    for (int part = 0; part < SG_BENCH_PARTS && status == SG_OK; part++) {
        for (int i = 0; i < OPERATIONS; i++)
            values[i] = found[i].account.parts[part];
        status = put(measuring, sg_bench_part_names[part], values);
    }
    for (int i = 0; i < OPERATIONS; i++)
        values[i] = found[i].account.sum;
    if (status == SG_OK)
        status = put(measuring, "sum", values);
    for (int i = 0; i < OPERATIONS; i++)
        values[i] = found[i].whole;
    return status == SG_OK ? put(measuring, "whole", values) : status;
}

static void describe(const struct measuring *measuring)
{
    const struct sg_bench_limits *limits = &sg_bench_output_head(measuring->job->output)->limits;
    struct sg_record *record = sg_record_new();
    double mark_ns = measuring->cost / measuring->rate;
    char note[NOTE_BYTES];

    sg_record_number(record, "mark_ns", mark_ns);
    sg_record_number(record, "line_ns", limits->line_ns);
    sg_bench_output_describe(measuring->job->output, "account", record);
    snprintf(note, sizeof note,
             "a mark takes %.1f ns, which are subtracted; a cache line one way %.0f", mark_ns,
             limits->line_ns);
    sg_bench_output_note(measuring->job->output, note);
}

/* Measures counts per ns, the same for both ranks; NaN in line: there are not two processors. */
static void calibrate(struct measuring *measuring)
{
    const struct sg_bench_job *job = measuring->job;
    uint64_t begin_ns = job->machine.now_ns(), begin = sg_bench_counter();
    uint64_t end_ns, end;

    job->machine.sleep_until(begin_ns + RATE_NS);
    end_ns = job->machine.now_ns();
    end = sg_bench_counter();
    measuring->rate = (double)(end - begin) / (double)(end_ns - begin_ns);
    measuring->cost = find_cost();
    if (job->output != NULL)
        measuring->line = sg_bench_output_head(job->output)->limits.line_ns * measuring->rate;
    PMPI_Bcast(&measuring->line, 1, MPI_DOUBLE, 0, job->quiet);
}

enum sg_status sg_bench_account(const struct sg_bench_job *job)
{
    static struct measuring measuring;
    struct found found[OPERATIONS];
    enum sg_status status = SG_OK;

    measuring.job = job;
    measuring.set = find_setter();
    calibrate(&measuring);
    if (isnan(measuring.line) || sg_bench_machine_is_oversubscribed()) {
        if (job->rank == 0)
            sg_log("bench: account needs two processors of one machine");
        return SG_ERR_FORMAT;
    }
    if (job->output != NULL)
        describe(&measuring);
    for (int i = 0; i < OPERATIONS && status == SG_OK; i++)
        status = measure(&measuring, operations[i], &found[i]);
    if (status == SG_ERR_FORMAT && job->rank == 0)
        sg_log("bench: account measures only calls that srm runs in its form flat");
    if (status == SG_OK && job->output != NULL)
        status = report(&measuring, found);
    return status;
}
