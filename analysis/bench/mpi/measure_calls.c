#include "bench/mpi/measure_calls.h"

#include "bench/limits.h"
#include "bench/sampling.h"
#include "core/text.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 4096

/* Signatures of collectives, blocking and started. */
typedef int (*from_root)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);
typedef int (*from_all)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
typedef int (*reducing)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
typedef int (*from_root_started)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int,
                                 MPI_Comm, MPI_Request *);
typedef int (*from_all_started)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype,
                                MPI_Comm, MPI_Request *);
typedef int (*reducing_started)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm,
                                MPI_Request *);

struct functions {
    int (*barrier)(MPI_Comm);
    int (*reduce)(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
    reducing allreduce, reduce_scatter, scan;
    int (*bcast)(void *, int, MPI_Datatype, int, MPI_Comm);
    from_root gather, scatter;
    from_all allgather, alltoall;
    int (*ibarrier)(MPI_Comm, MPI_Request *);
    int (*ireduce)(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm, MPI_Request *);
    reducing_started iallreduce, ireduce_scatter, iscan;
    int (*ibcast)(void *, int, MPI_Datatype, int, MPI_Comm, MPI_Request *);
    from_root_started igather, iscatter;
    from_all_started iallgather, ialltoall;
    int (*test)(MPI_Request *, int *, MPI_Status *);
    int (*wait)(MPI_Request *, MPI_Status *);
};

/* Both sides are called through a pointer, so that the cost is the same. */
static const struct functions sides[SG_BENCH_SIDES] = {
    [SG_BENCH_OURS] = {MPI_Barrier,    MPI_Reduce,
                       MPI_Allreduce,  MPI_Reduce_scatter_block,
                       MPI_Scan,       MPI_Bcast,
                       MPI_Gather,     MPI_Scatter,
                       MPI_Allgather,  MPI_Alltoall,
                       MPI_Ibarrier,   MPI_Ireduce,
                       MPI_Iallreduce, MPI_Ireduce_scatter_block,
                       MPI_Iscan,      MPI_Ibcast,
                       MPI_Igather,    MPI_Iscatter,
                       MPI_Iallgather, MPI_Ialltoall,
                       MPI_Test,       MPI_Wait},
    [SG_BENCH_STOCK] = {PMPI_Barrier,    PMPI_Reduce,
                        PMPI_Allreduce,  PMPI_Reduce_scatter_block,
                        PMPI_Scan,       PMPI_Bcast,
                        PMPI_Gather,     PMPI_Scatter,
                        PMPI_Allgather,  PMPI_Alltoall,
                        PMPI_Ibarrier,   PMPI_Ireduce,
                        PMPI_Iallreduce, PMPI_Ireduce_scatter_block,
                        PMPI_Iscan,      PMPI_Ibcast,
                        PMPI_Igather,    PMPI_Iscatter,
                        PMPI_Iallgather, PMPI_Ialltoall,
                        PMPI_Test,       PMPI_Wait},
};

const char *sg_bench_function(int operation, enum sg_bench_side side)
{
    return sg_bench_collectives[operation].function + (side == SG_BENCH_OURS ? 1 : 0);
}

const char *sg_bench_library(const char *function)
{
    void *address = dlsym(RTLD_DEFAULT, function);
    Dl_info info;

    /* A program that links MPI statically exports no MPI function. */
    if (address == NULL || dladdr(address, &info) == 0 || info.dli_fname == NULL)
        return "this program";
    return sg_text_base_name(info.dli_fname);
}

size_t sg_bench_case_sent(const struct sg_bench_case *c)
{
    bool blocks = sg_bench_collectives[c->operation].sends_blocks;

    return (size_t)c->count * (blocks ? (size_t)c->size : 1);
}

size_t sg_bench_case_received(const struct sg_bench_case *c)
{
    bool blocks = sg_bench_collectives[c->operation].receives_blocks;

    return (size_t)c->count * (blocks ? (size_t)c->size : 1);
}

enum sg_status sg_bench_case_open(struct sg_bench_case *bench_case)
{
    void *send = NULL, *receive = NULL;
    size_t sent_bytes, received_bytes;

    bench_case->count = (int)(bench_case->bytes / sizeof(double));
    bench_case->send = bench_case->receive = NULL;
    if (bench_case->count == 0)
        return SG_OK;
    sent_bytes = sg_bench_case_sent(bench_case) * sizeof(double);
    received_bytes = sg_bench_case_received(bench_case) * sizeof(double);
    if (posix_memalign(&send, ALIGNMENT, sent_bytes) != 0)
        goto err_memory;
    if (posix_memalign(&receive, ALIGNMENT, received_bytes) != 0)
        goto err_send;
    memset(send, 0, sent_bytes);
    memset(receive, 0, received_bytes);
    bench_case->send = send;
    bench_case->receive = receive;
    return SG_OK;

err_send:
    free(send);
err_memory:
    sg_log("bench: rank %d: no memory for %s of %llu bytes", bench_case->rank,
           sg_bench_collectives[bench_case->operation].name, (unsigned long long)bench_case->bytes);
    return SG_ERR_MEMORY;
}

void sg_bench_case_cool(const struct sg_bench_case *c)
{
    sg_bench_sweep();
    if (c->count == 0)
        return;
    sg_bench_flush(c->send, sg_bench_case_sent(c) * sizeof(double));
    sg_bench_flush(c->receive, sg_bench_case_received(c) * sizeof(double));
}

void sg_bench_case_close(struct sg_bench_case *bench_case)
{
    free(bench_case->send);
    free(bench_case->receive);
    bench_case->send = bench_case->receive = NULL;
}

/* Returns the buffer of a broadcast. */
static double *buffer_of(const struct sg_bench_case *c)
{
    return c->rank == c->root ? c->send : c->receive;
}

/* Calls a collective that the library does not route. */
static void call_other(const struct sg_bench_case *c, const struct functions *functions)
{
    switch (c->operation) {
    case SG_BENCH_GATHER:
        functions->gather(c->send, c->count, MPI_DOUBLE, c->receive, c->count, MPI_DOUBLE, c->root,
                          c->comm);
        return;
    case SG_BENCH_SCATTER:
        functions->scatter(c->send, c->count, MPI_DOUBLE, c->receive, c->count, MPI_DOUBLE, c->root,
                           c->comm);
        return;
    case SG_BENCH_ALLGATHER:
        functions->allgather(c->send, c->count, MPI_DOUBLE, c->receive, c->count, MPI_DOUBLE,
                             c->comm);
        return;
    case SG_BENCH_ALLTOALL:
        functions->alltoall(c->send, c->count, MPI_DOUBLE, c->receive, c->count, MPI_DOUBLE,
                            c->comm);
        return;
    case SG_BENCH_REDUCE_SCATTER:
        functions->reduce_scatter(c->send, c->receive, c->count, MPI_DOUBLE, MPI_SUM, c->comm);
        return;
    default:
        functions->scan(c->send, c->receive, c->count, MPI_DOUBLE, MPI_SUM, c->comm);
    }
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
    case SG_OPERATION_BCAST:
        for (uint64_t i = 0; i < calls; i++)
            functions->bcast(buffer_of(&c), c.count, MPI_DOUBLE, c.root, c.comm);
        return;
    default:
        for (uint64_t i = 0; i < calls; i++)
            call_other(&c, functions);
    }
}

static void start_other(const struct sg_bench_case *c, const struct functions *functions,
                        MPI_Request *request)
{
    switch (c->operation) {
    case SG_BENCH_GATHER:
        functions->igather(c->send, c->count, MPI_DOUBLE, c->receive, c->count, MPI_DOUBLE, c->root,
                           c->comm, request);
        return;
    case SG_BENCH_SCATTER:
        functions->iscatter(c->send, c->count, MPI_DOUBLE, c->receive, c->count, MPI_DOUBLE,
                            c->root, c->comm, request);
        return;
    case SG_BENCH_ALLGATHER:
        functions->iallgather(c->send, c->count, MPI_DOUBLE, c->receive, c->count, MPI_DOUBLE,
                              c->comm, request);
        return;
    case SG_BENCH_ALLTOALL:
        functions->ialltoall(c->send, c->count, MPI_DOUBLE, c->receive, c->count, MPI_DOUBLE,
                             c->comm, request);
        return;
    case SG_BENCH_REDUCE_SCATTER:
        functions->ireduce_scatter(c->send, c->receive, c->count, MPI_DOUBLE, MPI_SUM, c->comm,
                                   request);
        return;
    default:
        functions->iscan(c->send, c->receive, c->count, MPI_DOUBLE, MPI_SUM, c->comm, request);
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
    case SG_OPERATION_BCAST:
        functions->ibcast(buffer_of(c), c->count, MPI_DOUBLE, c->root, c->comm, request);
        return;
    default:
        start_other(c, functions, request);
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
