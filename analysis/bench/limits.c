#include "bench/limits.h"

#include "bench/distribution.h"
#include "core/clock.h"
#include "core/config.h"
#include "rule/rule.h"
#include "rule/ruleset.h"
#include "sim/network.h"

#include <math.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 51
#define ROUND_TRIPS 1000
#define COPY_BYTES ((size_t)8 << 20)
#define BLOCK_DOUBLES 1024
#define BLOCK_TRIPS 50
/* Limits the time on a busy machine, at the cost of fewer blocks. */
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

/* ---- passing a cache line, and a block of data with it
 * ------------------------------------------ */

typedef void (*taker)(double *restrict into, const double *restrict from);

/* Two threads increment the value in turn: one from even to odd, the other from odd to even. */
struct line {
    alignas(128) _Atomic uint32_t value;
    /* On separate lines, apart from the one that is measured. */
    alignas(128) atomic_bool end;
    double trip_ns; /* of the shortest block: time lost to other work is not a limit */
    taker take;     /* the second thread's use of the data; NULL: no data */
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
            /* Release and acquire order, as an exchange of data needs them. */
            atomic_store_explicit(&line->value, value + 1, memory_order_release);
            value += 2;
            while (atomic_load_explicit(&line->value, memory_order_acquire) != value)
                ;
        }
        line->trip_ns = fmin(line->trip_ns, (double)(sg_clock_ns() - start_ns) / trips);
    }
    /* Relaxed: the flag only tells the other thread that the exchange is over. */
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

/* Returns the time of a round trip; NaN: threads cannot be bound. */
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

/* The first processor copies a block, and the second takes it. */
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
    _Atomic int *to_come; /* copiers that are not ready yet; negative: cancelled */
    double gbs;           /* NaN: out of memory */
};

/* Waits until all are ready; false: cancelled. Yields, because copiers do not arrive at once. */
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
    /* The median, because the shortest time would be one in which the others do not copy. */
    copier->gbs = (double)COPY_BYTES / sg_bench_summarize(block_ns, blocks).median;
out:
    free(from);
    free(to);
    return NULL;
}

/* Runs all copiers at once, each on a processor of its own. */
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
            /* Negative enough that copiers that arrive later do not bring it back to 0. */
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

/* ---- collectives */

const struct sg_bench_collective sg_bench_collectives[SG_BENCH_COLLECTIVES] = {
    [SG_OPERATION_BARRIER] = {.name = "barrier",
                              .function = "PMPI_Barrier",
                              .routed = true,
                              .synchronises = true},
    [SG_OPERATION_REDUCE] = {.name = "reduce",
                             .function = "PMPI_Reduce",
                             .routed = true,
                             .rooted = true},
    [SG_OPERATION_ALLREDUCE] = {.name = "allreduce",
                                .function = "PMPI_Allreduce",
                                .routed = true,
                                .synchronises = true},
    [SG_OPERATION_BCAST] = {.name = "bcast",
                            .function = "PMPI_Bcast",
                            .routed = true,
                            .rooted = true},
    [SG_BENCH_GATHER] = {.name = "gather",
                         .function = "PMPI_Gather",
                         .rooted = true,
                         .receives_blocks = true},
    [SG_BENCH_SCATTER] = {.name = "scatter",
                          .function = "PMPI_Scatter",
                          .rooted = true,
                          .sends_blocks = true},
    [SG_BENCH_ALLGATHER] = {.name = "allgather",
                            .function = "PMPI_Allgather",
                            .synchronises = true,
                            .receives_blocks = true},
    [SG_BENCH_ALLTOALL] = {.name = "alltoall",
                           .function = "PMPI_Alltoall",
                           .synchronises = true,
                           .sends_blocks = true,
                           .receives_blocks = true},
    [SG_BENCH_REDUCE_SCATTER] = {.name = "reduce_scatter",
                                 .function = "PMPI_Reduce_scatter_block",
                                 .synchronises = true,
                                 .sends_blocks = true},
    [SG_BENCH_SCAN] = {.name = "scan", .function = "PMPI_Scan"}};

int sg_bench_collective_find(const char *name, size_t length)
{
    for (int i = 0; i < SG_BENCH_COLLECTIVES; i++) {
        if (strlen(sg_bench_collectives[i].name) == length &&
            memcmp(sg_bench_collectives[i].name, name, length) == 0)
            return i;
    }
    return -1;
}

/* ---- rules on the command line */

#define OPTION "--vs"

/* Returns where to insert a communicator in a rule that parses: before the bytes or the '='. */
static const char *place_of(const char *begin, const char *end)
{
    const char *place = sg_rule_trim(begin, sg_rule_find_plain(begin, end, "="));

    if (place[-1] == ']')
        while (*--place != '[')
            ;
    return place;
}

static bool names_communicator(const char *begin, const char *end)
{
    const char *equals = sg_rule_find_plain(begin, end, "=");

    return sg_rule_find_plain(begin, equals, "~") < equals;
}

/* Returns true if the rule, without leading blanks, parses and names no communicator. */
static bool is_bindable(const char *begin, const char *end)
{
    struct sg_algorithm_table table = {sg_algorithms, sg_algorithm_count, sg_rule_defaults};
    struct sg_rule rule = {.any_bytes = true};
    struct sg_rule_fault fault;
    bool parses = sg_rule_parse(&table, begin, end, &rule, &fault) == SG_OK;

    sg_rule_clear(&rule);
    return parses && !names_communicator(begin, end);
}

char *sg_bench_given_bind(const char *text, const char *comm)
{
    const char *end = text + strlen(text), *stop;
    char *bound = NULL;
    size_t size_bytes;
    FILE *stream = open_memstream(&bound, &size_bytes);
    bool good = stream != NULL;

    for (const char *at = text; at < end && good; at = stop + 1) {
        const char *begin, *place;

        stop = sg_rule_find_plain(at, end, ";\n");
        begin = sg_rule_skip_blanks(at, stop);
        if (begin == stop)
            continue;
        good = is_bindable(begin, stop);
        if (!good)
            break;
        place = place_of(begin, stop);
        fprintf(stream, "%.*s~%s%.*s;", (int)(place - begin), begin, comm, (int)(stop - place),
                place);
    }
    if (stream != NULL)
        good = fclose(stream) == 0 && good && *bound != '\0';
    if (good)
        return bound;
    free(bound);
    return NULL;
}

bool sg_bench_given_check(const char *source, const char *text)
{
    char *bound;

    if (sg_rule_check(source, text) != SG_OK)
        return false;
    bound = sg_bench_given_bind(text, "");
    if (bound == NULL)
        sg_log("%s: a rule cannot name a communicator here: the benchmark uses its own", source);
    free(bound);
    return bound != NULL;
}

const char *sg_bench_given_find(int argc, char **argv)
{
    const char *found = NULL;

    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], OPTION "=", strlen(OPTION "=")) == 0)
            found = argv[i] + strlen(OPTION "=");
        else if (strcmp(argv[i], OPTION) == 0 && i + 1 < argc)
            found = argv[++i];
    }
    return found != NULL && strchr(found, '=') != NULL ? found : NULL;
}

/* ---- algorithms */

#define RULES_VARIABLE "STAGGER_RULES"
#define SETUP_VARIABLE "STAGGER_SETUP_AFTER"
#define COMM_PREFIX "stagger-bench/"
#define RULES_WORD "rules"
#define GIVEN_COMM_NAME COMM_PREFIX "vs"
#define TEXT_BYTES 1024

static const char *given_rules = "";

static bool is_named(int algorithm)
{
    /* auto changes the algorithm it runs during a measurement. */
    return (sg_algorithms[algorithm].reach & SG_REACH_INTERNODE) != 0 &&
           algorithm != SG_ALGORITHM_AUTO;
}

int sg_bench_algorithm_find(const char *word, size_t length)
{
    if (length == strlen(RULES_WORD) && memcmp(word, RULES_WORD, length) == 0)
        return SG_BENCH_RULES;
    for (int i = 0; i < sg_algorithm_count; i++) {
        if (is_named(i) && strlen(sg_algorithms[i].name) == length &&
            memcmp(word, sg_algorithms[i].name, length) == 0)
            return i;
    }
    return SG_BENCH_NO_ALGORITHM;
}

const char *sg_bench_algorithm_name(int algorithm)
{
    if (algorithm == SG_BENCH_GIVEN)
        return given_rules;
    return algorithm == SG_BENCH_RULES ? RULES_WORD : sg_algorithms[algorithm].name;
}

bool sg_bench_algorithm_takes(int algorithm, int collective)
{
    if (!sg_bench_collectives[collective].routed)
        return algorithm == SG_ALGORITHM_MPICH;
    return algorithm == SG_BENCH_RULES || algorithm == SG_BENCH_GIVEN ||
           (sg_algorithms[algorithm].operations & 1u << collective) != 0;
}

const char *sg_bench_algorithm_list(void)
{
    static char text[TEXT_BYTES];
    int used = snprintf(text, sizeof text, RULES_WORD);

    for (int i = 0; i < sg_algorithm_count && used < TEXT_BYTES; i++) {
        if (is_named(i))
            used +=
                snprintf(text + used, sizeof text - (size_t)used, ", %s", sg_algorithms[i].name);
    }
    return text;
}

void sg_bench_algorithm_comm_name(int algorithm, char name[SG_BENCH_COMM_NAME_BYTES])
{
    if (algorithm == SG_BENCH_GIVEN)
        snprintf(name, SG_BENCH_COMM_NAME_BYTES, GIVEN_COMM_NAME);
    else
        snprintf(name, SG_BENCH_COMM_NAME_BYTES, COMM_PREFIX "%s", sg_algorithms[algorithm].name);
}

enum sg_status sg_bench_algorithms_announce(const char *given)
{
    char *bound = given != NULL ? sg_bench_given_bind(given, GIVEN_COMM_NAME) : NULL;
    const char *users = sg_config_environment(RULES_VARIABLE);
    size_t size_bytes;
    char *text = NULL;
    FILE *stream = open_memstream(&text, &size_bytes);
    bool good = stream != NULL;

    for (int i = 0; good && i < sg_algorithm_count; i++) {
        char name[SG_BENCH_COMM_NAME_BYTES];

        if (!is_named(i))
            continue;
        sg_bench_algorithm_comm_name(i, name);
        fprintf(stream, "*~%s=%s;", name, sg_algorithms[i].name);
    }
    if (good)
        fprintf(stream, "barrier~%s=%s;", SG_BENCH_SETTLE_COMM_NAME,
                sg_algorithms[SG_ALGORITHM_TREE].name);
    if (good && bound != NULL)
        fputs(bound, stream);
    /* The first match decides, and the user's rules may match every communicator. */
    if (good && users != NULL)
        fputs(users, stream);
    good = good && fclose(stream) == 0;
    good = good && setenv(RULES_VARIABLE, text, 1) == 0 && setenv(SETUP_VARIABLE, "1", 1) == 0;
    free(text);
    free(bound);
    if (given != NULL)
        given_rules = given;
    if (!good)
        sg_log("bench: out of memory");
    return good ? SG_OK : SG_ERR_MEMORY;
}

/* ---- the model of a call */

double sg_bench_model_ns(const struct sg_bench_limits *limits, int operation, int ranks,
                         uint64_t bytes)
{
    struct sg_network network = {.local_us = limits->line_ns * 1e-3,
                                 .copy_ns_per_byte = limits->copy_ns,
                                 .reduce_ns_per_byte = limits->fold_ns};

    if (ranks < 2 || operation >= SG_OPERATION_COUNT || isnan(limits->line_ns) ||
        isnan(limits->copy_ns) || isnan(limits->fold_ns))
        return NAN;
    return (double)sg_node_call_ns(&network, (uint32_t)ranks, (enum sg_operation)operation, bytes);
}
