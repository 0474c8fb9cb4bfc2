#include "bench/mpi/bench_machine.h"

#include "bench/distribution.h"
#include "bench/sampling.h"
#include "core/clock.h"
#include "core/config.h"
#include "output/commit.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* ---- waiting without using a processor */

#define NS_PER_S UINT64_C(1000000000)
/* Polling interval of a waiting rank. */
#define LOOK_NS 200000
#define IDLE_LOOK_NS 10000000
/* Polls per step of an agreement, from the last rank's arrival to the beginning. There are as many
 * steps as the number of ranks has bits, and each may wait for a poll and for a processor. */
#define AHEAD_LOOKS 10

uint64_t sg_bench_now_ns(void)
{
    return sg_clock_of_ns(CLOCK_MONOTONIC);
}

void sg_bench_sleep_until(uint64_t deadline_ns)
{
    struct timespec deadline = {(time_t)(deadline_ns / NS_PER_S), (long)(deadline_ns % NS_PER_S)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) == EINTR)
        ;
}

static void complete(MPI_Request *request, uint64_t look_ns)
{
    int done = 0;

    for (;;) {
        PMPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        sg_bench_sleep_until(sg_bench_now_ns() + look_ns);
    }
}

/* Waits for completion, asleep between polls. */
static void sg_bench_complete_quietly(MPI_Request *request)
{
    complete(request, LOOK_NS);
}

void sg_bench_complete_idly(MPI_Request *request)
{
    complete(request, IDLE_LOOK_NS);
}

/* Returns the time from a rank's message until all have received it, with a margin. */
static uint64_t sg_bench_ahead_ns(int ranks)
{
    uint64_t looks = 0;

    for (int bits = ranks; bits > 0; bits /= 2)
        looks += AHEAD_LOOKS;
    return looks * LOOK_NS;
}

void sg_bench_wait_quietly(MPI_Comm comm)
{
    MPI_Request request;

    PMPI_Ibarrier(comm, &request);
    sg_bench_complete_quietly(&request);
}

/* ---- the functions of struct sg_bench_machine */

#define TAG 1
/* Within this many polls a message that is in transit between processors arrives. */
#define LOOKS_BEFORE_YIELD 200
/* A sleeper wakes up a little late, so the last part of a wait spins. */
#define SPIN_NS UINT64_C(100000)
#define WAITS 40
#define WAIT_NS UINT64_C(300000)
#define WAIT_QUANTILE 0.9
#define TOLERANCE_ROOM 2
#define TOLERANCE_LEAST_NS 1000
#define QUANTUM_STEPS 64
#define CALIBRATION_QUANTA 20000
#define CALIBRATIONS 5

static struct here {
    MPI_Comm comm;
    struct sg_exchange exchange;
    bool oversubscribed;
} here, outer; /* outer: all ranks, while a part of them measures */

bool sg_bench_machine_is_oversubscribed(void)
{
    return here.oversubscribed;
}

/* ---- exchange -------------------------------------------------------------------------------- */

static enum sg_status send_to(void *context, int to, const void *data, size_t size_bytes)
{
    PMPI_Send(data, (int)size_bytes, MPI_BYTE, to, TAG, here.comm);
    return SG_OK;
}

static enum sg_status receive_from(void *context, int from, void *data, size_t size_bytes)
{
    int there = 0;

    /* With shared processors the sender cannot run before this rank yields. */
    for (int looks = 0; !there; looks++) {
        PMPI_Iprobe(from, TAG, here.comm, &there, MPI_STATUS_IGNORE);
        if (!there && looks >= LOOKS_BEFORE_YIELD)
            sched_yield();
    }
    PMPI_Recv(data, (int)size_bytes, MPI_BYTE, from, TAG, here.comm, MPI_STATUS_IGNORE);
    return SG_OK;
}

static enum sg_status broadcast(void *context, void *data, size_t size_bytes)
{
    MPI_Request request;

    PMPI_Ibcast(data, (int)size_bytes, MPI_BYTE, 0, here.comm, &request);
    sg_bench_complete_quietly(&request);
    return SG_OK;
}

/* Wherever this is used, the data of all ranks have the same size. */
static enum sg_status gather(void *context, const void *data, size_t size_bytes, void **all,
                             size_t *sizes)
{
    MPI_Request request;
    char *collected = NULL;

    if (here.exchange.rank == 0) {
        collected = malloc(size_bytes * (size_t)here.exchange.size + 1);
        if (collected == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
        for (int rank = 0; rank < here.exchange.size; rank++)
            sizes[rank] = size_bytes;
        *all = collected;
    }
    PMPI_Igather(data, (int)size_bytes, MPI_BYTE, collected, (int)size_bytes, MPI_BYTE, 0,
                 here.comm, &request);
    sg_bench_complete_quietly(&request);
    return SG_OK;
}

/* ---- time ------------------------------------------------------------------------------------ */

static double processor_ns(void)
{
    return (double)sg_clock_of_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void sleep_until(uint64_t local_ns)
{
    int64_t ahead_ns = (int64_t)(local_ns - sg_clock_ns());

    /* Sleeps on CLOCK_MONOTONIC, which can be slept on and runs at almost the same rate. */
    if (ahead_ns > 0)
        sg_bench_sleep_until(sg_bench_now_ns() + (uint64_t)ahead_ns);
}

static void wait_until(uint64_t local_ns)
{
    sleep_until(here.oversubscribed ? local_ns : local_ns - SPIN_NS);
    while ((int64_t)(local_ns - sg_clock_ns()) > 0)
        ;
}

/* A chain of steps, each of which needs the result of the one before. */
static void work(uint64_t quanta)
{
    uint64_t value = quanta;

    for (uint64_t i = 0; i < quanta * QUANTUM_STEPS; i++) {
        value = value * UINT64_C(6364136223846793005) + 1;
        __asm__ volatile("" : "+r"(value));
    }
}

static double calibrated_quantum_ns(void)
{
    double least_ns = INFINITY;

    for (int i = 0; i < CALIBRATIONS; i++) {
        double begin_ns = processor_ns();

        work(CALIBRATION_QUANTA);
        least_ns = fmin(least_ns, processor_ns() - begin_ns);
    }
    return least_ns / CALIBRATION_QUANTA;
}

/* Returns how late a rank may be, except rarely, when all wait in the same way. */
static uint64_t calibrated_tolerance_ns(void)
{
    double late_ns[WAITS], own_ns, all_ns;
    uint64_t due_ns = sg_clock_ns();

    for (int i = 0; i < WAITS; i++) {
        due_ns += WAIT_NS;
        wait_until(due_ns);
        late_ns[i] = (double)(sg_clock_ns() - due_ns);
        due_ns = sg_clock_ns();
    }
    sg_bench_summarize(late_ns, WAITS);
    own_ns = sg_bench_quantile(late_ns, WAITS, WAIT_QUANTILE);
    PMPI_Allreduce(&own_ns, &all_ns, 1, MPI_DOUBLE, MPI_MAX, here.comm);
    return TOLERANCE_LEAST_NS + (uint64_t)(TOLERANCE_ROOM * all_ns);
}

/* Returns true if some machine has more ranks than processors that they may use. */
static bool is_oversubscribed(MPI_Comm node)
{
    cpu_set_t own, all;
    int node_size, oversubscribed, any;

    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof own, &own);
    PMPI_Comm_size(node, &node_size);
    PMPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, node);
    oversubscribed = CPU_COUNT(&all) < node_size;
    PMPI_Allreduce(&oversubscribed, &any, 1, MPI_INT, MPI_MAX, here.comm);
    return any != 0;
}

enum sg_status sg_bench_machine_open(MPI_Comm quiet, MPI_Comm node,
                                     struct sg_bench_machine *machine, struct sg_clocksync **clocks)
{
    enum sg_status status;

    outer = here;
    here.comm = quiet;
    here.exchange = (struct sg_exchange){
        .gather = gather, .broadcast = broadcast, .send = send_to, .receive = receive_from};
    PMPI_Comm_rank(quiet, &here.exchange.rank);
    PMPI_Comm_size(quiet, &here.exchange.size);
    here.oversubscribed = is_oversubscribed(node);
    *machine = (struct sg_bench_machine){.exchange = &here.exchange,
                                         .now_ns = sg_clock_ns,
                                         .processor_ns = processor_ns,
                                         .wait_until = wait_until,
                                         .sleep_until = sleep_until,
                                         .work = work,
                                         .lead_ns = sg_bench_ahead_ns(here.exchange.size)};
    machine->quantum_ns = calibrated_quantum_ns();
    machine->tolerance_ns = calibrated_tolerance_ns();
    status = sg_clocksync_open(&here.exchange, sg_clocksync_machine(), sg_clock_ns,
                               SG_CLOCKSYNC_TREE, clocks);
    if (status == SG_OK)
        status = sg_clocksync_measure(*clocks, NULL);
    if (status != SG_OK)
        sg_log("bench: rank %d: clocks: %s", here.exchange.rank, sg_status_text(status));
    return status;
}

void sg_bench_machine_close(struct sg_clocksync *clocks)
{
    sg_clocksync_close(clocks);
    here = outer;
}

/* ---- the environment, in the head of the output */

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

/* Records the library's settings when it was loaded, with the benchmark's own rules. */
static void describe_settings(struct sg_record *record)
{
    static const char *const names[] = {"STAGGER_RULES", "STAGGER_TRACE", "STAGGER_RANKS_PER_NODE",
                                        "STAGGER_PROGRESS"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        sg_record_text(record, names[i], sg_config_environment(names[i]));
}

/* Records the error bound of each rank's clock. */
static void describe_bounds(struct sg_record *record, const struct sg_bench_job *job)
{
    double *bounds_ns = calloc((size_t)job->size, sizeof *bounds_ns);

    for (int rank = 0; bounds_ns != NULL && rank < job->size; rank++)
        bounds_ns[rank] = (double)job->bounds_ns[rank];
    if (bounds_ns != NULL)
        sg_record_list(record, "bounds_us", bounds_ns, (size_t)job->size);
    free(bounds_ns);
}

/* Records how the caches are emptied. */
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

/* Time between the two looks at the start; gives the counter's rate to a few parts in 10^5. */
#define REFERENCE_NS UINT64_C(5000000)

static struct sg_bench_look look(const struct sg_bench_job *job)
{
    return sg_bench_look_take(&job->machine, sg_bench_counter);
}

void sg_bench_guard_open(struct sg_bench_job *job)
{
    struct sg_bench_look first, second;

    /* All rows are compared with one reference, whatever their number of ranks. */
    if (job->reference.loop_ns > 0)
        return;
    first = look(job);
    job->machine.sleep_until(first.clock_ns + REFERENCE_NS);
    second = look(job);
    job->reference = sg_bench_reference_of(&first, &second);
}

/* Combines the speeds of all ranks, on rank 0. */
static enum sg_status guard_gather(const struct sg_bench_job *job, const struct sg_bench_speed *own,
                                   struct sg_bench_speed *out)
{
    const struct sg_exchange *exchange = job->machine.exchange;
    size_t *sizes = calloc((size_t)job->size, sizeof *sizes);
    void *all = NULL;
    enum sg_status status = sizes == NULL ? SG_ERR_MEMORY : SG_OK;

    if (status == SG_OK)
        status = exchange->gather(exchange->context, own, sizeof *own, &all, sizes);
    if (status == SG_OK && job->rank == 0)
        *out = sg_bench_speed_of_all(all, job->size);
    free(all);
    free(sizes);
    return status;
}

enum sg_status sg_bench_guard(const struct sg_bench_job *job,
                              const struct sg_bench_case *bench_case, double skew_us,
                              enum sg_status (*measure)(const struct sg_bench_job *,
                                                        const struct sg_bench_case *,
                                                        double skew_us))
{
    struct sg_bench_look before = look(job), after;
    struct sg_bench_speed own, all;
    enum sg_status status;

    if (job->output != NULL)
        sg_bench_output_hold(job->output);
    status = measure(job, bench_case, skew_us);
    if (status != SG_OK)
        return status;
    after = look(job);
    own = sg_bench_speed_between(&job->reference, &before, &after);
    status = guard_gather(job, &own, &all);
    if (status == SG_OK && job->output != NULL)
        status = sg_bench_output_release(job->output, job->size, &all);
    return status;
}
