#include "bench/limits.h"

#include "bench/statistics.h"
#include "core/clock.h"

#include <math.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 51
#define ROUND_TRIPS 1000
#define COPY_BYTES ((size_t)8 << 20)
#define BLOCK_DOUBLES 1024
#define BLOCK_TRIPS 50
/* A busy machine must not delay the benchmark: then there are fewer blocks. */
#define MEASURE_NS UINT64_C(500000000)

static bool in_time(uint64_t begin_ns)
{
    return sg_clock_ns() - begin_ns < MEASURE_NS;
}

static int start_bound(int processor, void *(*run)(void *), void *argument, pthread_t *out)
{
    pthread_attr_t attributes;
    cpu_set_t mask;
    int error = pthread_attr_init(&attributes);

    if (error != 0)
        return error;
    CPU_ZERO(&mask);
    CPU_SET(processor, &mask);
    error = pthread_attr_setaffinity_np(&attributes, sizeof mask, &mask);
    if (error == 0)
        error = pthread_create(out, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return error;
}

/* ---- moving a cache line, and with it a block of data ---------------------------------------- */

typedef void (*taker)(double *restrict into, const double *restrict from);

/* Two threads increment the value in turn, one from even to odd, the other from odd to even. */
struct line {
    alignas(128) _Atomic uint32_t value;
    /* On lines of their own, not the one that is measured. */
    alignas(128) atomic_bool end;
    double trip_ns; /* of the shortest block: what other work takes away is not a limit */
    taker take;     /* what the second does with the data that the first has brought; NULL: none */
    alignas(128) double data[BLOCK_DOUBLES];
    double brought[BLOCK_DOUBLES], taken[BLOCK_DOUBLES];
};

static void bring(struct line *line)
{
    if (line->take != NULL)
        memcpy(line->data, line->brought, sizeof line->data);
}

static void *serve(void *argument)
{
    struct line *line = argument;
    int trips = line->take != NULL ? BLOCK_TRIPS : ROUND_TRIPS;
    uint64_t begin_ns = sg_clock_ns();
    uint32_t value = 0;

    line->trip_ns = INFINITY;
    for (int block = 0; block < BLOCKS && (block == 0 || in_time(begin_ns)); block++) {
        uint64_t start_ns = sg_clock_ns();

        for (int i = 0; i < trips; i++) {
            bring(line);
            /* Release and acquire, as an exchange of data has them. */
            atomic_store_explicit(&line->value, value + 1, memory_order_release);
            value += 2;
            while (atomic_load_explicit(&line->value, memory_order_acquire) != value)
                ;
        }
        line->trip_ns = fmin(line->trip_ns, (double)(sg_clock_ns() - start_ns) / trips);
    }
    /* Only tells the thread that the exchange is over. */
    atomic_store_explicit(&line->end, true, memory_order_relaxed);
    return NULL;
}

static void *answer(void *argument)
{
    struct line *line = argument;

    while (!atomic_load_explicit(&line->end, memory_order_relaxed)) {
        for (int i = 0; i < ROUND_TRIPS; i++) {
            uint32_t value = atomic_load_explicit(&line->value, memory_order_acquire);

            if (value % 2 == 0)
                continue;
            if (line->take != NULL)
                line->take(line->taken, line->data);
            atomic_store_explicit(&line->value, value + 1, memory_order_release);
        }
    }
    return NULL;
}

/* There and back; NaN: no binding possible. */
static double trip_ns(int first, int second, taker take)
{
    static struct line line;
    pthread_t serving, answering;

    atomic_init(&line.value, 0);
    atomic_init(&line.end, false);
    line.take = take;
    if (start_bound(second, answer, &line, &answering) != 0)
        return NAN;
    if (start_bound(first, serve, &line, &serving) != 0) {
        atomic_store_explicit(&line.end, true, memory_order_relaxed);
        pthread_join(answering, NULL);
        return NAN;
    }
    pthread_join(serving, NULL);
    pthread_join(answering, NULL);
    return line.trip_ns;
}

static void copy_block(double *restrict into, const double *restrict from)
{
    memcpy(into, from, BLOCK_DOUBLES * sizeof *into);
}

static void fold_block(double *restrict into, const double *restrict from)
{
    for (int i = 0; i < BLOCK_DOUBLES; i++)
        into[i] += from[i];
}

/* A block is copied by the first processor and taken by the second. */
static void measure_exchanges(const int *processors, int count, struct sg_bench_limits *out)
{
    const double bytes = BLOCK_DOUBLES * sizeof(double);
    double empty_ns, copied_ns, folded_ns;

    out->line_ns = out->copy_ns = out->fold_ns = NAN;
    if (count < 2)
        return;
    empty_ns = trip_ns(processors[0], processors[1], NULL);
    copied_ns = trip_ns(processors[0], processors[1], copy_block);
    folded_ns = trip_ns(processors[0], processors[1], fold_block);
    out->line_ns = empty_ns / 2;
    out->copy_ns = fmax(copied_ns - empty_ns, 0) / 2 / bytes;
    out->fold_ns = fmax(folded_ns - empty_ns - out->copy_ns * bytes, 0) / bytes;
}

/* ---- copying -------------------------------------------------------------------------------- */

struct copier {
    pthread_t thread;
    _Atomic int *to_come; /* copiers that are not ready yet; below 0: cancelled */
    double gbs;           /* NaN: no memory */
};

/* Waits until all are there; false when cancelled. Yields, because they do not arrive at once. */
static bool meet(_Atomic int *to_come)
{
    int left = atomic_fetch_sub(to_come, 1) - 1;

    while (left > 0) {
        sched_yield();
        left = atomic_load(to_come);
    }
    return left == 0;
}

static void *copy(void *argument)
{
    struct copier *copier = argument;
    char *from = malloc(COPY_BYTES), *to = malloc(COPY_BYTES);
    double block_ns[BLOCKS];
    uint64_t begin_ns;
    size_t blocks = 0;

    copier->gbs = NAN;
    if (from != NULL && to != NULL) {
        memset(from, 1, COPY_BYTES);
        memset(to, 2, COPY_BYTES);
    }
    if (!meet(copier->to_come) || from == NULL || to == NULL)
        goto out;
    begin_ns = sg_clock_ns();
    while (blocks < BLOCKS && (blocks == 0 || in_time(begin_ns))) {
        uint64_t start_ns = sg_clock_ns();

        memcpy(to, from, COPY_BYTES);
        /* Keeps the compiler from removing the copy. */
        __asm__ volatile("" : : "r"(to) : "memory");
        block_ns[blocks++] = (double)(sg_clock_ns() - start_ns);
    }
    /* Not the shortest: that would be a moment when the others do not copy. */
    copier->gbs = (double)COPY_BYTES / sg_bench_summarize(block_ns, blocks).median;
out:
    free(from);
    free(to);
    return NULL;
}

/* All copiers at once, each on a processor of its own. */
static double copy_gbs(const int *processors, int count)
{
    _Atomic int to_come = count;
    struct copier *copiers = calloc((size_t)count, sizeof *copiers);
    int started = 0;
    double gbs = 0;

    if (copiers == NULL)
        return NAN;
    while (started < count) {
        copiers[started].to_come = &to_come;
        if (start_bound(processors[started], copy, &copiers[started], &copiers[started].thread) !=
            0) {
            /* So far below 0 that copiers that arrive later do not bring it back to 0. */
            atomic_store(&to_come, -1);
            gbs = NAN;
            break;
        }
        started++;
    }
    for (int i = 0; i < started; i++) {
        pthread_join(copiers[i].thread, NULL);
        gbs += copiers[i].gbs;
    }
    free(copiers);
    return gbs;
}

void sg_bench_limits_measure(const cpu_set_t *processors, int copiers, struct sg_bench_limits *out)
{
    int found[CPU_SETSIZE], count = 0;

    for (int processor = 0; processor < CPU_SETSIZE; processor++) {
        if (CPU_ISSET(processor, processors))
            found[count++] = processor;
    }
    measure_exchanges(found, count, out);
    out->copy_gbs = copy_gbs(found, copiers < count ? copiers : count);
}
