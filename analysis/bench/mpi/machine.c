#include "bench/mpi/machine.h"

#include "bench/mpi/quiet.h"
#include "bench/statistics.h"
#include "core/clock.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define TAG 1
/* Within this many reads a message that is on its way between processors arrives. */
#define LOOKS_BEFORE_YIELD 200
/* A sleeper wakes up a little late; the rest of the time is spent spinning. */
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
} here, outer; /* outer: of all ranks, while some of them measure */

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

    /* Where ranks share processors, the sender cannot run before this rank yields its own. */
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

/* All ranks' data have the same size wherever this is used. */
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

    /* A clock that can be slept on and that runs at almost the same rate. */
    if (ahead_ns > 0)
        sg_bench_sleep_until(sg_bench_now_ns() + (uint64_t)ahead_ns);
}

static void wait_until(uint64_t local_ns)
{
    sleep_until(here.oversubscribed ? local_ns : local_ns - SPIN_NS);
    while ((int64_t)(local_ns - sg_clock_ns()) > 0)
        ;
}

/* A chain in which each step needs the result of the one before. */
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

/* How late a rank is, except rarely, when all wait in the same way. */
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

/* Whether some machine has more ranks than processors that they may use. */
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
