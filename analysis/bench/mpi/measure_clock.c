/* The command clock: how accurately the ranks' clocks are known, and at what cost.
 *
 *   synchronisation  rounds and time of the tree, against one rank after the other
 *   round trip       of small messages between two ranks: limits the accuracy of a clock's offset
 *   drift            the offset of each leader's clock from the first over time
 *   audit            ranks compare their global clocks by exchanges that no synchronisation has
 *                    used: if they differ by more than the bounds say, the bounds are wrong
 */
#include "bench/bench_output.h"
#include "bench/distribution.h"
#include "bench/mpi/bench_machine.h"
#include "core/cpu/cpu.h"
#include "core/hash.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define STEP_NS UINT64_C(500000000)
#define TRIPS_MAX 20000
#define TRIPS_PATIENCE 1000
#define NOTE_BYTES 200
#define LOOKS 2000
#define TRIES 20

static const struct sg_line_column cost_columns[] = {
    {"kind", "", .width = -16},          {"scheme", "scheme", .width = -8},
    {"clocks", "clocks", .width = 7},    {"rounds", "rounds", .width = 7},
    {"time_us", "time us", .width = 12}, {0}};
static const struct sg_line_column trip_columns[] = {{"kind", "", .width = -16},
                                                     {"rank", "rank", .width = 5},
                                                     {"peer", "peer", .width = 5},
                                                     {"trip_min_us", "min us", .width = 10},
                                                     {"trip_us", "median us", .width = 10},
                                                     {"trip_p95_us", "p95 us", .width = 10},
                                                     {"trip_p99_us", "p99 us", .width = 10},
                                                     {"trip_max_us", "max us", .width = 10},
                                                     {"trip_count", "trips", .width = 6},
                                                     {0}};
static const struct sg_line_column drift_columns[] = {{"kind", "", .width = -16},
                                                      {"at_s", "at s", .width = 8},
                                                      {"rank", "rank", .width = 5},
                                                      {"wrong_us", "moved us", .width = 10},
                                                      {"bound_us", "bound us", .width = 10},
                                                      {"drift_ppm", "drift ppm", .width = 10},
                                                      {0}};
static const struct sg_line_column audit_columns[] = {
    {"kind", "", .width = -16},
    {"rank", "rank", .width = 5},
    {"peer", "peer", .width = 5},
    {"difference_us", "difference us", .width = 13},
    {"trip_us", "half trip us", .width = 12},
    {"bound_us", "bounds us", .width = 10},
    {"within", "within", .width = 6},
    {0}};

static uint64_t machine_of(const struct sg_bench_job *job)
{
    uint64_t machine = sg_clocksync_machine();

    return job->options->each ? sg_hash_mix(machine + (uint64_t)job->rank + 1) : machine;
}

static enum sg_status put(const struct sg_bench_job *job, struct sg_record *record,
                          const char *kind, const struct sg_line_column *columns)
{
    sg_record_text(record, "kind", kind);
    return sg_bench_output_record(job->output, record, columns);
}

/* Gathers every rank's data on rank 0; the caller frees *all. */
static enum sg_status gather(const struct sg_bench_job *job, const void *own, size_t size_bytes,
                             void **all)
{
    const struct sg_exchange *exchange = job->machine.exchange;
    size_t *sizes = calloc((size_t)job->size, sizeof *sizes);
    enum sg_status status = SG_ERR_MEMORY;

    *all = NULL;
    if (sizes != NULL)
        status = exchange->gather(exchange->context, own, size_bytes, all, sizes);
    free(sizes);
    return status;
}

/* ---- synchronisation ------------------------------------------------------------------------- */

static enum sg_status measure_cost(const struct sg_bench_job *job, enum sg_clocksync_scheme scheme)
{
    struct sg_record *record;
    struct sg_clock_offset offset;
    struct sg_clocksync *sync;
    uint64_t begin_ns, end_ns;
    enum sg_status status = sg_clocksync_open(job->machine.exchange, machine_of(job),
                                              job->machine.now_ns, scheme, &sync);

    if (status != SG_OK)
        return status;
    PMPI_Barrier(job->quiet);
    begin_ns = job->machine.now_ns();
    status = sg_clocksync_measure(sync, &offset);
    PMPI_Barrier(job->quiet);
    end_ns = job->machine.now_ns();
    if (status == SG_OK && job->output != NULL) {
        record = sg_record_new();
        sg_record_text(record, "scheme", scheme == SG_CLOCKSYNC_TREE ? "tree" : "linear");
        sg_record_count(record, "clocks", (uint64_t)sg_clocksync_leader_count(sync));
        sg_record_count(record, "rounds", offset.rounds);
        sg_record_us(record, "time", (double)(end_ns - begin_ns));
        status = put(job, record, "synchronisation", cost_columns);
    }
    sg_clocksync_close(sync);
    return status;
}

/* ---- round trips ----------------------------------------------------------------------------- */

struct trips {
    uint64_t count;
    double ns[TRIPS_MAX];
};

static void keep_trip(void *context, uint64_t round_trip_ns)
{
    struct trips *trips = context;

    if (trips->count < TRIPS_MAX)
        trips->ns[trips->count++] = (double)round_trip_ns;
}

/* Rank 0 asks, so that it has the times. */
static enum sg_status measure_trips(const struct sg_bench_job *job, int peer)
{
    static struct trips trips;
    const struct sg_exchange *exchange = job->machine.exchange;
    struct sg_clock plain = {job->machine.now_ns, NULL};
    struct sg_bench_distribution found;
    struct sg_record *record;
    struct sg_clock_pair pair;
    enum sg_status status = SG_OK;

    if (job->rank == peer)
        return sg_clock_pair_answer(exchange, 0, &plain);
    if (job->rank != 0)
        return SG_OK;
    trips.count = 0;
    status = sg_clock_pair_ask(exchange, peer, &plain, TRIPS_PATIENCE, keep_trip, &trips, &pair);
    if (status != SG_OK)
        return status;
    record = sg_record_new();
    sg_record_count(record, "rank", 0);
    sg_record_count(record, "peer", (uint64_t)peer);
    if (job->options->samples)
        sg_record_list(record, "samples_us", trips.ns, trips.count);
    found = sg_bench_distribute(trips.ns, trips.count);
    sg_bench_record_distribution(record, "trip", &found);
    return put(job, record, "round trip", trip_columns);
}

/* ---- drift ----------------------------------------------------------------------------------- */

struct state {
    int64_t offset_ns;
    uint64_t error_ns;
    double drift;
};

static enum sg_status report_states(const struct sg_bench_job *job, const struct sg_clocksync *sync,
                                    const struct state *first, const struct state *now,
                                    uint64_t at_ns)
{
    enum sg_status status = SG_OK;

    for (int place = 0; place < sg_clocksync_leader_count(sync) && status == SG_OK; place++) {
        int rank = sg_clocksync_leader_at(sync, place);
        struct sg_record *record = sg_record_new();

        sg_record_number(record, "at_s", (double)at_ns / 1e9);
        sg_record_count(record, "rank", (uint64_t)rank);
        sg_record_us(record, "wrong", (double)(now[rank].offset_ns - first[rank].offset_ns));
        sg_record_us(record, "bound", (double)now[rank].error_ns);
        sg_record_number(record, "drift_ppm", now[rank].drift * 1e6);
        status = put(job, record, "drift", drift_columns);
    }
    return status;
}

/* Does one step: gathers all states on rank 0, which reports their change since the first step. */
static enum sg_status step(const struct sg_bench_job *job, struct sg_clocksync *sync,
                           struct state **first, uint64_t at_ns)
{
    struct sg_clock_offset offset;
    struct state *all = NULL;
    enum sg_status status = sg_clocksync_measure(sync, &offset);

    if (status == SG_OK) {
        struct state own = {offset.measured.offset_ns, offset.measured.error_ns,
                            sg_clocksync_model(sync)->drift};

        status = gather(job, &own, sizeof own, (void **)&all);
    }
    if (status != SG_OK || job->output == NULL)
        return status;
    status = report_states(job, sync, *first != NULL ? *first : all, all, at_ns);
    if (*first != NULL)
        free(all);
    else
        *first = all;
    return status;
}

static enum sg_status measure_drift(const struct sg_bench_job *job, struct sg_clocksync *sync)
{
    uint64_t begin_ns = sg_bench_now_ns();
    uint64_t steps = (uint64_t)(job->options->row_s * 1e9 / (double)STEP_NS) + 1;
    struct state *first = NULL;
    enum sg_status status = SG_OK;

    for (uint64_t i = 0; i <= steps && status == SG_OK; i++) {
        sg_bench_sleep_until(begin_ns + i * STEP_NS);
        status = step(job, sync, &first, sg_bench_now_ns() - begin_ns);
    }
    free(first);
    return status;
}

/* ---- audit ----------------------------------------------------------------------------------- */

struct verdict {
    double difference_ns, half_trip_ns, bound_ns;
    bool within;
};

/* Compares each rank except the first with the one before it, one pair at a time. */
static enum sg_status compare(const struct sg_bench_job *job, struct sg_clocksync *sync,
                              struct verdict *own)
{
    const struct sg_exchange *exchange = job->machine.exchange;
    struct sg_clock clock = {job->machine.now_ns, sg_clocksync_model(sync)};
    enum sg_status status = SG_OK;

    for (int rank = 1; rank < job->size && status == SG_OK; rank++) {
        struct sg_clock_pair pair;

        if (job->rank == rank - 1)
            status = sg_clock_pair_answer(exchange, rank, &clock);
        if (job->rank != rank)
            continue;
        status = sg_clock_pair_ask(exchange, rank - 1, &clock, SG_CLOCK_PAIR_PATIENCE, NULL, NULL,
                                   &pair);
        if (status != SG_OK)
            return status;
        own->difference_ns = (double)pair.measured.offset_ns;
        own->half_trip_ns = ((double)pair.round_trip_ns + 1) / 2;
        own->bound_ns = (double)pair.measured.error_ns - own->half_trip_ns;
        own->within = fabs(own->difference_ns) <= own->half_trip_ns + own->bound_ns;
    }
    return status;
}

static enum sg_status audit(const struct sg_bench_job *job, struct sg_clocksync *sync)
{
    struct verdict own = {.within = true}, *all = NULL;
    enum sg_status status = compare(job, sync, &own);

    if (status == SG_OK)
        status = gather(job, &own, sizeof own, (void **)&all);
    for (int rank = 1; rank < job->size && status == SG_OK && job->output != NULL; rank++) {
        struct sg_record *record = sg_record_new();

        sg_record_count(record, "rank", (uint64_t)rank);
        sg_record_count(record, "peer", (uint64_t)rank - 1);
        sg_record_us(record, "difference", all[rank].difference_ns);
        sg_record_us(record, "trip", all[rank].half_trip_ns);
        sg_record_us(record, "bound", all[rank].bound_ns);
        sg_record_flag(record, "within", all[rank].within);
        status = put(job, record, "audit", audit_columns);
    }
    free(all);
    return status;
}

/* ---- the cost of reading the time ----------------------------------------------------------- */

typedef void (*look)(uint64_t (*now_ns)(void));

/* Returns ns per read, the least of some tries. */
static double cost_of(look once, uint64_t (*now_ns)(void))
{
    double least_ns = INFINITY;

    for (int i = 0; i < TRIES; i++) {
        uint64_t begin_ns = now_ns();

        for (int j = 0; j < LOOKS; j++)
            once(now_ns);
        least_ns = fmin(least_ns, (double)(now_ns() - begin_ns) / LOOKS);
    }
    return least_ns;
}

static void look_at_clock(uint64_t (*now_ns)(void))
{
    now_ns();
}

/* Returns the cost of reading the processor's counter, if its rate is constant so that it could
 * serve as the clock; NaN: there is none. */
#ifdef SG_CPU_HAS_COUNTER

static void look_at_counter(uint64_t (*now_ns)(void))
{
    sg_cpu_counter_in_order();
}

static double counter_ns(uint64_t (*now_ns)(void))
{
    if (!sg_cpu_counter_is_steady())
        return NAN;
    return cost_of(look_at_counter, now_ns);
}

#else

static double counter_ns(uint64_t (*now_ns)(void))
{
    return NAN;
}

#endif

static void say_what_looks_cost(const struct sg_bench_job *job)
{
    double of_clock_ns = cost_of(look_at_clock, job->machine.now_ns);
    double of_counter_ns = counter_ns(job->machine.now_ns);
    struct sg_record *record = sg_record_new();
    char note[NOTE_BYTES];

    sg_record_number(record, "clock_ns", of_clock_ns);
    sg_record_number(record, "counter_ns", of_counter_ns);
    sg_bench_output_describe(job->output, "reading", record);
    snprintf(note, sizeof note, "reading CLOCK_MONOTONIC_RAW takes %.1f ns, the counter %.1f",
             of_clock_ns, of_counter_ns);
    sg_bench_output_note(job->output, note);
}

enum sg_status sg_bench_clock(const struct sg_bench_job *job)
{
    struct sg_clocksync *sync = NULL;
    enum sg_status status;

    if (job->output != NULL)
        say_what_looks_cost(job);
    status = measure_cost(job, SG_CLOCKSYNC_TREE);
    if (status == SG_OK)
        status = measure_cost(job, SG_CLOCKSYNC_LINEAR);
    if (status == SG_OK)
        status = sg_clocksync_open(job->machine.exchange, machine_of(job), job->machine.now_ns,
                                   SG_CLOCKSYNC_TREE, &sync);
    /* Measures to the leaders; with only one leader, to the last rank. */
    for (int place = 1; status == SG_OK && place < sg_clocksync_leader_count(sync); place++)
        status = measure_trips(job, sg_clocksync_leader_at(sync, place));
    if (status == SG_OK && sg_clocksync_leader_count(sync) == 1 && job->size > 1)
        status = measure_trips(job, job->size - 1);
    if (status == SG_OK)
        status = measure_drift(job, sync);
    if (status == SG_OK)
        status = audit(job, sync);
    sg_clocksync_close(sync);
    return status;
}
