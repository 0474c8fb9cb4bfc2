/* The command account: where the time of a small collective between two ranks goes, and that of the
 * calls of a message (bench/call_account.h), under libstagger-account.so. Blocks of calls that
 * leave marks alternate with blocks of calls that leave none: the time of these is the whole, with
 * which the sum of the parts should agree. Messages go from a rank to itself: nobody waits, so the
 * parts are those of one rank. */
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

/* The calls of messages; TEST: one that finds nothing, in a loop of such tests. */
enum message_call { SEND, RECV, ISEND, IRECV, WAIT, WAITALL, TEST, MESSAGE_CALLS };

/* Calls of one cycle, in order; MESSAGE_CALLS: not reported. */
static const enum message_call cycle[] = {MESSAGE_CALLS, SEND,  WAIT,  MESSAGE_CALLS, RECV,
                                          MESSAGE_CALLS, IRECV, ISEND, WAITALL};
enum {
    CYCLE = sizeof cycle / sizeof *cycle,
    CYCLES = CALLS / CYCLE,
    ROWS = OPERATIONS + MESSAGE_CALLS
};

#define MESSAGE_BYTES 8
#define MESSAGE_BLOCKS_MAX 2000
#define PENDING_TAG 1 /* of a message that is never sent; others have 0 */

static const struct sg_line_column columns[] = {
    {"part", "part", .width = -12},
    {"barrier_ns", "barrier ns", .width = 12, .decimals = SG_LINE_TENTHS},
    {"reduce_ns", "reduce ns", .width = 12, .decimals = SG_LINE_TENTHS},
    {"allreduce_ns", "allreduce ns", .width = 12, .decimals = SG_LINE_TENTHS},
    {"send_ns", "send ns", .width = 8, .decimals = SG_LINE_TENTHS},
    {"recv_ns", "recv ns", .width = 8, .decimals = SG_LINE_TENTHS},
    {"isend_ns", "isend ns", .width = 8, .decimals = SG_LINE_TENTHS},
    {"irecv_ns", "irecv ns", .width = 8, .decimals = SG_LINE_TENTHS},
    {"wait_ns", "wait ns", .width = 8, .decimals = SG_LINE_TENTHS},
    {"waitall_ns", "waitall ns", .width = 10, .decimals = SG_LINE_TENTHS},
    {"test_ns", "test ns", .width = 8, .decimals = SG_LINE_TENTHS},
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

/* ---- messages ------------------------------------------------------------------------------- */

struct cycle_state {
    MPI_Comm comm;
    int self;
    char sent[MESSAGE_BYTES], received[MESSAGE_BYTES];
    MPI_Request requests[2];
    MPI_Status statuses[2];
};

static void call_of_cycle(struct cycle_state *state, int place)
{
    MPI_Request *requests = state->requests;

    switch (place) {
    case 0:
    case 6:
        MPI_Irecv(state->received, MESSAGE_BYTES, MPI_BYTE, state->self, 0, state->comm, requests);
        break;
    case 1:
        MPI_Send(state->sent, MESSAGE_BYTES, MPI_BYTE, state->self, 0, state->comm);
        break;
    case 3:
        MPI_Isend(state->sent, MESSAGE_BYTES, MPI_BYTE, state->self, 0, state->comm, requests);
        break;
    case 4:
        MPI_Recv(state->received, MESSAGE_BYTES, MPI_BYTE, state->self, 0, state->comm,
                 MPI_STATUS_IGNORE);
        break;
    case 7:
        MPI_Isend(state->sent, MESSAGE_BYTES, MPI_BYTE, state->self, 0, state->comm, requests + 1);
        break;
    case 8:
        MPI_Waitall(2, requests, state->statuses);
        break;
    default:
        MPI_Wait(requests, MPI_STATUS_IGNORE);
        break;
    }
}

/* Makes the calls of all cycles, then tests in vain; adds the time of each to wholes. */
static void block_of_messages(const struct sg_bench_job *job, double wholes[MESSAGE_CALLS])
{
    struct cycle_state state = {.comm = job->comm, .self = job->rank};
    uint64_t before = sg_bench_counter(), cost = sg_bench_counter() - before;

    for (int i = 0; i < CYCLES * CYCLE; i++) {
        uint64_t after;

        before = sg_bench_counter();
        call_of_cycle(&state, i % CYCLE);
        after = sg_bench_counter();
        if (cycle[i % CYCLE] < MESSAGE_CALLS)
            wholes[cycle[i % CYCLE]] += ((double)(after - before) - (double)cost) / CYCLES;
    }
}

static void block_of_tests(MPI_Request *pending, double wholes[MESSAGE_CALLS])
{
    uint64_t begin = 0;
    int found;

    for (int i = 0; i < CALLS; i++) {
        if (i == FIRST_CALLS)
            begin = sg_bench_counter();
        MPI_Test(pending, &found, MPI_STATUS_IGNORE);
    }
    wholes[TEST] = (double)(sg_bench_counter() - begin) / (CALLS - FIRST_CALLS);
}

/* Adds the marks of a block of calls to the accounts of a block; all of a call is MPI's if it has
 * none. */
static void add_marks(const struct measuring *measuring, int first, int count,
                      const enum message_call *calls, int period,
                      struct sg_bench_account accounts[MESSAGE_CALLS], const double *wholes)
{
    for (int i = first; i < count; i++) {
        enum message_call which = calls[i % period];
        struct sg_bench_account one = {.sum = 0};

        if (which == MESSAGE_CALLS)
            continue;
        if (!sg_bench_account_add(&measuring->own[i], measuring->cost, &one))
            one.parts[SG_BENCH_PART_MPI] = one.sum = wholes[which];
        for (int part = 0; part < SG_BENCH_PARTS; part++)
            accounts[which].parts[part] += one.parts[part] / ((count - first) / period);
        accounts[which].sum += one.sum / ((count - first) / period);
    }
}

static void message_block(struct measuring *measuring, MPI_Request *pending,
                          struct sg_bench_account accounts[MESSAGE_CALLS],
                          double wholes[MESSAGE_CALLS])
{
    static const enum message_call tests[] = {TEST};
    double marked[MESSAGE_CALLS] = {0};

    block_of_messages(measuring->job, wholes);
    memset(measuring->own, 0, sizeof measuring->own);
    measuring->set(measuring->own);
    block_of_messages(measuring->job, marked);
    measuring->set(NULL);
    add_marks(measuring, 0, CYCLES * CYCLE, cycle, CYCLE, accounts, wholes);
    block_of_tests(pending, wholes);
    memset(measuring->own, 0, sizeof measuring->own);
    measuring->set(measuring->own);
    block_of_tests(pending, marked);
    measuring->set(NULL);
    add_marks(measuring, FIRST_CALLS, CALLS, tests, 1, accounts, wholes);
}

static void measure_messages(struct measuring *measuring, struct found out[MESSAGE_CALLS])
{
    const struct sg_bench_job *job = measuring->job;
    struct sg_bench_account(*accounts)[MESSAGE_BLOCKS_MAX] =
        calloc(MESSAGE_CALLS, sizeof *accounts);
    double(*wholes)[MESSAGE_BLOCKS_MAX] = calloc(MESSAGE_CALLS, sizeof *wholes);
    uint64_t begin_ns = job->machine.now_ns();
    MPI_Request pending;
    char nothing;
    size_t blocks = 0;

    if (accounts == NULL || wholes == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Irecv(&nothing, 1, MPI_BYTE, job->rank, PENDING_TAG, job->comm, &pending);
    for (; blocks < MESSAGE_BLOCKS_MAX && go_on(job, begin_ns, blocks, blocks); blocks++) {
        struct sg_bench_account block[MESSAGE_CALLS] = {{.sum = 0}};
        double whole[MESSAGE_CALLS] = {0};

        message_block(measuring, &pending, block, whole);
        for (int i = 0; i < MESSAGE_CALLS; i++) {
            accounts[i][blocks] = block[i];
            wholes[i][blocks] = whole[i];
        }
    }
    MPI_Cancel(&pending);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    for (int i = 0; i < MESSAGE_CALLS; i++)
        out[i] = (struct found){sg_bench_account_of_all(accounts[i], blocks),
                                whole_of(wholes[i], blocks), blocks};
    free(accounts);
    free(wholes);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static enum sg_status put(const struct measuring *measuring, const char *part,
                          const double values[ROWS])
{
    struct sg_record *record = sg_record_new();

    sg_record_text(record, "part", part);
    for (int i = 0; i < ROWS; i++)
        sg_record_number(record, columns[1 + i].field, values[i] / measuring->rate);
    return sg_bench_output_record(measuring->job->output, record, columns);
}

static enum sg_status report(const struct measuring *measuring, const struct found *found)
{
    double values[ROWS];
    enum sg_status status = SG_OK;

    for (int part = 0; part < SG_BENCH_PARTS && status == SG_OK; part++) {
        for (int i = 0; i < ROWS; i++)
            values[i] = found[i].account.parts[part];
        status = put(measuring, sg_bench_part_names[part], values);
    }
    for (int i = 0; i < ROWS; i++)
        values[i] = found[i].account.sum;
    if (status == SG_OK)
        status = put(measuring, "sum", values);
    for (int i = 0; i < ROWS; i++)
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
    struct found found[ROWS];
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
    if (status == SG_OK)
        measure_messages(&measuring, found + OPERATIONS);
    if (status == SG_OK && job->output != NULL)
        status = report(&measuring, found);
    return status;
}
