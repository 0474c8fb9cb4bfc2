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

/* ---- moving a cache line -------------------------------------------------------------------- */

/* Two threads increment the value in turn, one from even to odd, the other from odd to even. */
struct line {
    alignas(128) _Atomic uint32_t value;
    /* On lines of their own, not the one that is measured. */
    alignas(128) atomic_bool end;
    double block_ns; /* the shortest: what other work takes away is not a limit */
};

static void *serve(void *argument)
{
    struct line *line = argument;
    uint64_t begin_ns = sg_clock_ns();
    uint32_t value = 0;

    line->block_ns = INFINITY;
    for (int block = 0; block < BLOCKS && (block == 0 || in_time(begin_ns)); block++) {
        uint64_t start_ns = sg_clock_ns();

        for (int i = 0; i < ROUND_TRIPS; i++) {
            /* Release and acquire, as an exchange of data has them. */
            atomic_store_explicit(&line->value, value + 1, memory_order_release);
            value += 2;
            while (atomic_load_explicit(&line->value, memory_order_acquire) != value)
                ;
        }
        line->block_ns = fmin(line->block_ns, (double)(sg_clock_ns() - start_ns));
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

            if (value % 2 == 1)
                atomic_store_explicit(&line->value, value + 1, memory_order_release);
        }
    }
    return NULL;
}

static double line_ns(int first, int second)
{
    static struct line line;
    pthread_t serving, answering;

    atomic_init(&line.value, 0);
    atomic_init(&line.end, false);
    if (start_bound(second, answer, &line, &answering) != 0)
        return NAN;
    if (start_bound(first, serve, &line, &serving) != 0) {
        atomic_store_explicit(&line.end, true, memory_order_relaxed);
        pthread_join(answering, NULL);
        return NAN;
    }
    pthread_join(serving, NULL);
    pthread_join(answering, NULL);
    return line.block_ns / (2.0 * ROUND_TRIPS);
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
    out->line_ns = count > 1 ? line_ns(found[0], found[1]) : NAN;
    out->copy_gbs = copy_gbs(found, copiers < count ? copiers : count);
}
