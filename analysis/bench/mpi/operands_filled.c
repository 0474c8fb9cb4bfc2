#include "bench/mpi/operands_filled.h"

#include "bench/limits.h"
#include "bench/mpi/bench_machine.h"
#include "core/clock.h"

#include <math.h>
#include <string.h>

#define ROUNDS 3
/* Results with more elements are checked at intervals of elements between calls. */
#define LOOKED_AT 4096
/* No result has this value. */
#define UNTOUCHED (-1.0)
/* Lateness of one rank in a barrier that is verified. */
#define LATE_NS 2000000
/* Prime, so that blocks at the same position of different operands differ. */
#define PERIOD 997

/* ---- operands and their results
 * ---------------------------------------------------------------- */

/* Returns integers small enough that a double holds every possible sum exactly. */
static double part(int rank, size_t element, int round)
{
    return (double)(rank + 1) * (double)(element % PERIOD + 1) + round;
}

/* Returns the sum over the ranks below `ranks`. */
static double sum_of_parts(int ranks, size_t element, int round)
{
    double n = ranks;

    return n * (n + 1) / 2 * (double)(element % PERIOD + 1) + n * round;
}

static bool receives(const struct sg_bench_case *c)
{
    switch (c->operation) {
    case SG_OPERATION_REDUCE:
    case SG_BENCH_GATHER:
        return c->rank == c->root;
    case SG_OPERATION_BCAST:
        return c->rank != c->root;
    default:
        return true;
    }
}

/* Returns an element of this rank's result, if all elements have this round. */
static double result_of(const struct sg_bench_case *c, size_t element, int round)
{
    size_t count = (size_t)c->count, own = (size_t)c->rank * count, within = element % count;
    int from = (int)(element / count);

    switch (c->operation) {
    case SG_OPERATION_BCAST:
        return part(c->root, element, round);
    case SG_BENCH_GATHER:
    case SG_BENCH_ALLGATHER:
        return part(from, within, round);
    case SG_BENCH_SCATTER:
        return part(c->root, own + element, round);
    case SG_BENCH_ALLTOALL:
        return part(from, own + within, round);
    case SG_BENCH_REDUCE_SCATTER:
        return sum_of_parts(c->size, own + element, round);
    case SG_BENCH_SCAN:
        return sum_of_parts(c->rank + 1, element, round);
    default:
        return sum_of_parts(c->size, element, round);
    }
}

/* ---- verifying whole results ----------------------------------------------------------------- */

static bool gives_results(const struct sg_bench_case *c, enum sg_bench_side side, int round)
{
    size_t sent = sg_bench_case_sent(c), received = sg_bench_case_received(c);
    bool good = true;

    for (size_t i = 0; i < sent; i++)
        c->send[i] = part(c->rank, i, round);
    for (size_t i = 0; i < received; i++)
        c->receive[i] = UNTOUCHED;
    sg_bench_call(c, side, 1);
    for (size_t i = 0; i < sent; i++)
        good = good && c->send[i] == part(c->rank, i, round);
    for (size_t i = 0; i < received; i++)
        good = good && c->receive[i] == (receives(c) ? result_of(c, i, round) : UNTOUCHED);
    return good;
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
                        : gives_results(bench_case, side, round);

        wrong |= !good;
    }
    sg_bench_settle(bench_case);
    PMPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, bench_case->comm);
    return all;
}

/* ---- operands from call to call
 * ---------------------------------------------------------------- */

void sg_bench_fill_whole(const struct sg_bench_case *c)
{
    for (size_t i = 0; i < sg_bench_case_sent(c); i++)
        c->send[i] = part(c->rank, i, 0);
}

/* Returns the round's part of an element: small, so that sums stay exact. */
static int round_of(uint64_t round)
{
    return (int)(round % 1000);
}

void sg_bench_fill(const struct sg_bench_case *c, uint64_t round)
{
    size_t count = (size_t)c->count;

    if (count == 0)
        return;
    for (size_t first = 0; first < sg_bench_case_sent(c); first += count) {
        size_t last = first + count - 1;

        c->send[first] = part(c->rank, first, round_of(round));
        c->send[last] = part(c->rank, last, round_of(round));
    }
    for (size_t first = 0; first < sg_bench_case_received(c); first += count)
        c->receive[first] = c->receive[first + count - 1] = UNTOUCHED;
}

/* Checks the block that begins with element `first`, at every step-th element. */
static bool holds_block(const struct sg_bench_case *c, size_t first, size_t step, int round)
{
    size_t last = first + (size_t)c->count - 1;

    if (!receives(c))
        return c->receive[first] == UNTOUCHED && c->receive[last] == UNTOUCHED;
    for (size_t i = first + 1; i < last; i += step) {
        if (c->receive[i] != result_of(c, i, 0))
            return false;
    }
    return c->receive[first] == result_of(c, first, round) &&
           c->receive[last] == result_of(c, last, round);
}

bool sg_bench_holds(const struct sg_bench_case *c, uint64_t round)
{
    size_t received = sg_bench_case_received(c), step = 1 + received / LOOKED_AT;

    for (size_t first = 0; first < received; first += (size_t)c->count) {
        if (!holds_block(c, first, step, round_of(round)))
            return false;
    }
    return true;
}

/* ---- the cases that the model of bench/limits.h covers */

#define LIBRARY "libstagger"

double sg_bench_modelled_ns(const struct sg_bench_job *job, const struct sg_bench_case *bench_case,
                            int algorithm)
{
    const struct sg_bench_head *head = sg_bench_output_head(job->output);
    int sharing;

    PMPI_Comm_size(job->node, &sharing);
    if (algorithm != SG_BENCH_RULES || strncmp(head->ours, LIBRARY, strlen(LIBRARY)) != 0 ||
        job->between_nodes || sharing != job->size || sg_bench_machine_is_oversubscribed())
        return NAN;
    return sg_bench_model_ns(&head->limits, bench_case->operation, job->size, bench_case->bytes);
}
