#include "bench/mpi/collective.h"

#include "bench/mpi/quiet.h"
#include "core/clock.h"
#include "core/text.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 4096
#define ROUNDS 3
/* Results with more elements than this are checked at intervals between calls. */
#define LOOKED_AT 4096
/* What no sum can be. */
#define UNTOUCHED (-1.0)
/* How late one rank is to a barrier that is verified. */
#define LATE_NS 2000000

struct functions {
    int (*barrier)(MPI_Comm);
    int (*reduce)(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
    int (*allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*ibarrier)(MPI_Comm, MPI_Request *);
    int (*ireduce)(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm, MPI_Request *);
    int (*iallreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
    int (*test)(MPI_Request *, int *, MPI_Status *);
    int (*wait)(MPI_Request *, MPI_Status *);
};

/* Both sides are called in the same way, through a pointer. */
static const struct functions sides[SG_BENCH_SIDES] = {
    [SG_BENCH_OURS] = {MPI_Barrier, MPI_Reduce, MPI_Allreduce, MPI_Ibarrier, MPI_Ireduce,
                       MPI_Iallreduce, MPI_Test, MPI_Wait},
    [SG_BENCH_STOCK] = {PMPI_Barrier, PMPI_Reduce, PMPI_Allreduce, PMPI_Ibarrier, PMPI_Ireduce,
                        PMPI_Iallreduce, PMPI_Test, PMPI_Wait},
};

static const char *const names[SG_BENCH_SIDES][SG_OPERATION_COUNT] = {
    [SG_BENCH_OURS] = {[SG_OPERATION_BARRIER] = "MPI_Barrier",
                       [SG_OPERATION_REDUCE] = "MPI_Reduce",
                       [SG_OPERATION_ALLREDUCE] = "MPI_Allreduce"},
    [SG_BENCH_STOCK] = {[SG_OPERATION_BARRIER] = "PMPI_Barrier",
                        [SG_OPERATION_REDUCE] = "PMPI_Reduce",
                        [SG_OPERATION_ALLREDUCE] = "PMPI_Allreduce"},
};

const char *sg_bench_function(enum sg_operation operation, enum sg_bench_side side)
{
    return names[side][operation];
}

const char *sg_bench_library(const char *function)
{
    void *address = dlsym(RTLD_DEFAULT, function);
    Dl_info info;

    /* A program into which MPI is statically linked exports none. */
    if (address == NULL || dladdr(address, &info) == 0 || info.dli_fname == NULL)
        return "this program";
    return sg_text_base_name(info.dli_fname);
}

enum sg_status sg_bench_case_open(struct sg_bench_case *bench_case)
{
    void *send = NULL, *receive = NULL;

    bench_case->count = (int)(bench_case->bytes / sizeof(double));
    bench_case->send = bench_case->receive = NULL;
    if (bench_case->count == 0)
        return SG_OK;
    if (posix_memalign(&send, ALIGNMENT, bench_case->bytes) != 0)
        goto err_memory;
    if (posix_memalign(&receive, ALIGNMENT, bench_case->bytes) != 0)
        goto err_send;
    memset(send, 0, bench_case->bytes);
    memset(receive, 0, bench_case->bytes);
    bench_case->send = send;
    bench_case->receive = receive;
    return SG_OK;

err_send:
    free(send);
err_memory:
    sg_log("bench: rank %d: no memory for %llu bytes", bench_case->rank,
           (unsigned long long)bench_case->bytes);
    return SG_ERR_MEMORY;
}

void sg_bench_case_close(struct sg_bench_case *bench_case)
{
    free(bench_case->send);
    free(bench_case->receive);
    bench_case->send = bench_case->receive = NULL;
}

void sg_bench_call(const struct sg_bench_case *bench_case, enum sg_bench_side side, uint64_t calls)
{
    const struct functions *functions = &sides[side];
    const struct sg_bench_case c = *bench_case;

    switch (c.operation) {
    case SG_OPERATION_BARRIER:
        for (uint64_t i = 0; i < calls; i++)
            functions->barrier(c.comm);
        return;
    case SG_OPERATION_REDUCE:
        for (uint64_t i = 0; i < calls; i++)
            functions->reduce(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.root, c.comm);
        return;
    case SG_OPERATION_ALLREDUCE:
        for (uint64_t i = 0; i < calls; i++)
            functions->allreduce(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm);
        return;
    case SG_OPERATION_COUNT:
        return;
    }
}

void sg_bench_start(const struct sg_bench_case *c, enum sg_bench_side side, MPI_Request *request)
{
    const struct functions *functions = &sides[side];

    switch (c->operation) {
    case SG_OPERATION_BARRIER:
        functions->ibarrier(c->comm, request);
        return;
    case SG_OPERATION_REDUCE:
        functions->ireduce(c->send, c->receive, c->count, MPI_DOUBLE, MPI_SUM, c->root, c->comm,
                           request);
        return;
    case SG_OPERATION_ALLREDUCE:
        functions->iallreduce(c->send, c->receive, c->count, MPI_DOUBLE, MPI_SUM, c->comm, request);
        return;
    case SG_OPERATION_COUNT:
        return;
    }
}

bool sg_bench_test(enum sg_bench_side side, MPI_Request *request)
{
    int done = 0;

    sides[side].test(request, &done, MPI_STATUS_IGNORE);
    return done != 0;
}

void sg_bench_finish(enum sg_bench_side side, MPI_Request *request)
{
    sides[side].wait(request, MPI_STATUS_IGNORE);
}

void sg_bench_settle(const struct sg_bench_case *bench_case)
{
    sides[SG_BENCH_OURS].barrier(bench_case->settle);
}

/* Integers small enough that a double holds every possible sum exactly. */
static double part(int rank, int element, int round)
{
    return (double)(rank + 1) * (element % 1000 + 1) + round;
}

static double sum_of_parts(int ranks, int element, int round)
{
    double n = ranks;

    return n * (n + 1) / 2 * (element % 1000 + 1) + n * round;
}

static bool reduces_well(const struct sg_bench_case *c, enum sg_bench_side side, int round)
{
    bool receives = c->operation == SG_OPERATION_ALLREDUCE || c->rank == c->root;

    for (int i = 0; i < c->count; i++) {
        c->send[i] = part(c->rank, i, round);
        c->receive[i] = UNTOUCHED;
    }
    sg_bench_call(c, side, 1);
    for (int i = 0; i < c->count; i++) {
        if (c->send[i] != part(c->rank, i, round) ||
            c->receive[i] != (receives ? sum_of_parts(c->size, i, round) : UNTOUCHED))
            return false;
    }
    return true;
}

void sg_bench_fill_whole(const struct sg_bench_case *c)
{
    for (int i = 0; i < c->count; i++)
        c->send[i] = part(c->rank, i, 0);
}

/* The round's part of an element: small, so that sums stay exact. */
static int round_of(uint64_t round)
{
    return (int)(round % 1000);
}

void sg_bench_fill(const struct sg_bench_case *c, uint64_t round)
{
    if (c->count == 0)
        return;
    c->send[0] = part(c->rank, 0, round_of(round));
    c->send[c->count - 1] = part(c->rank, c->count - 1, round_of(round));
    c->receive[0] = c->receive[c->count - 1] = UNTOUCHED;
}

bool sg_bench_holds(const struct sg_bench_case *c, uint64_t round)
{
    bool receives = c->operation == SG_OPERATION_ALLREDUCE || c->rank == c->root;
    int last = c->count - 1, step = 1 + c->count / LOOKED_AT;

    if (c->count == 0)
        return true;
    if (!receives)
        return c->receive[0] == UNTOUCHED && c->receive[last] == UNTOUCHED;
    for (int i = 1; i < last; i += step) {
        if (c->receive[i] != sum_of_parts(c->size, i, 0))
            return false;
    }
    return c->receive[0] == sum_of_parts(c->size, 0, round_of(round)) &&
           c->receive[last] == sum_of_parts(c->size, last, round_of(round));
}

static bool keeps_together(const struct sg_bench_case *c, enum sg_bench_side side, int round)
{
    uint64_t entered_ns, last_entered_ns, left_ns;

    if (c->rank == round % c->size)
        sg_bench_sleep_until(sg_bench_now_ns() + LATE_NS);
    entered_ns = sg_clock_ns();
    sg_bench_call(c, side, 1);
    left_ns = sg_clock_ns();
    PMPI_Allreduce(&entered_ns, &last_entered_ns, 1, MPI_UINT64_T, MPI_MAX, c->node);
    return left_ns >= last_entered_ns;
}

int sg_bench_verify(const struct sg_bench_case *bench_case, enum sg_bench_side side)
{
    int wrong = 0, all = 0;

    for (int round = 0; round < ROUNDS; round++) {
        bool good = bench_case->operation == SG_OPERATION_BARRIER
                        ? keeps_together(bench_case, side, round)
                        : reduces_well(bench_case, side, round);

        wrong |= !good;
    }
    sg_bench_settle(bench_case);
    PMPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, bench_case->comm);
    return all;
}
