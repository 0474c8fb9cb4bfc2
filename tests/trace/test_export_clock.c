/* Tests the mapping of two machines' clocks onto one: a scripted sequence of events across ranks
 * must come out in the order of the script. */
#include "core/clocksync.h"
#include "lib/virtual.h"
#include "report/report.h"
#include "trace/export/clockmap.h"
#include "trace/export_setup.h"

#include <math.h>

enum { BARRIER, REDUCE, ALLREDUCE };

#define START_NS UINT64_C(1000000000)
#define STEP_NS UINT64_C(1000)
#define CALLS 50u

/* The other machine's clock: 400 ms ahead at the start, and 50 us too fast a second. */
static uint64_t other_clock(uint64_t global_ns)
{
    return global_ns + 400000000 + (global_ns - START_NS) / 20000;
}

/* Rank 1 enters one step behind rank 0 and leaves one step behind it. */
static void write_script(const char *directory)
{
    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;
        uint64_t end_ns = START_NS + 4 * CALLS * STEP_NS;

        fabricate_start(&log, rank, 2);
        log.header.machine = (uint64_t)rank;
        strcpy(log.header.host, rank == 0 ? "left" : "right");
        log.header.init_begin_ns = 0;
        if (rank == 0) {
            fabricate_clock(&log, START_NS, 0);
            fabricate_clock(&log, end_ns, 0);
        } else {
            fabricate_clock(&log, other_clock(START_NS),
                            (int64_t)(START_NS - other_clock(START_NS)));
            fabricate_clock(&log, other_clock(end_ns), (int64_t)(end_ns - other_clock(end_ns)));
        }
        for (uint32_t seq = 0; seq < CALLS; seq++) {
            uint64_t begin_ns = START_NS + (4 * seq + (uint64_t)rank) * STEP_NS;
            uint64_t left_ns = begin_ns + 2 * STEP_NS;

            if (rank == 1) {
                begin_ns = other_clock(begin_ns);
                left_ns = other_clock(left_ns);
            }
            fabricate_call(&log, BARRIER, 0, seq, begin_ns, left_ns);
        }
        fabricate_finish(&log, directory);
    }
}

TEST("events of two machines are brought into one order, and the clocks' bound is given")
{
    const char *directory = setup_directory("machines");
    struct sg_report report;
    json_t *events;
    size_t step = 0;

    write_script(directory);
    ASSERT(setup_export(directory) == SG_OK);
    setup_check(directory, &events);
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        const char *kind = json_string_value(json_object_get(event, "kind"));
        int64_t expected_ns = (int64_t)(START_NS + step * STEP_NS);
        int64_t found_ns = json_integer_value(json_object_get(event, "time"));

        if (strcmp(kind, "Enter") != 0 && strcmp(kind, "Leave") != 0)
            continue;
        /* Each step: rank 0 enters, rank 1 enters, rank 0 leaves, rank 1 leaves. */
        EXPECT((size_t)json_integer_value(json_object_get(event, "location")) == step % 2,
               strcmp(kind, step % 4 < 2 ? "Enter" : "Leave") == 0,
               llabs(found_ns - expected_ns) <= 2);
        step++;
    }
    EXPECT(step == 4 * CALLS);
    /* The bound that the logs tell, not the spread of the round trips. */
    ASSERT(sg_report_read(directory, false, NULL, &report) == SG_OK);
    EXPECT(report.has_offset_error, report.offset_error_ns == 5);
    sg_report_clear(&report);
}

/* ---- offsets that were measured -------------------------------------------------------------- */

#define RUN_NS 3e9

static struct sg_clock_offset synchronised[2][2]; /* by rank, at the start and at the end */

static int synchronise(void *context)
{
    struct sg_clock_offset *own = synchronised[virtual_rank()];
    struct sg_clocksync *sync;
    int wrong = sg_clocksync_open(virtual_exchange(), (uint64_t)virtual_rank() + 1,
                                  virtual_clock_ns, SG_CLOCKSYNC_TREE, &sync) != SG_OK;

    wrong = wrong || sg_clocksync_measure(sync, &own[0]) != SG_OK;
    virtual_pass(RUN_NS);
    wrong = wrong || sg_clocksync_measure(sync, &own[1]) != SG_OK;
    sg_clocksync_close(sync);
    return wrong;
}

/* Returns the true time of a step, which each clock shows differently. Steps are 20 us: rank 0
 * enters, rank 1 enters, and so they leave. */
static double script_time_ns(size_t step)
{
    return 0.1 * RUN_NS + (double)step * 20000;
}

static void write_measured(const char *directory)
{
    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        log.header.machine = (uint64_t)rank;
        snprintf(log.header.host, sizeof log.header.host, "%s", rank == 0 ? "left" : "right");
        log.header.init_begin_ns = 0;
        for (int i = 0; i < 2; i++)
            fabricate_clock(&log, synchronised[rank][i].measured.local_ns,
                            synchronised[rank][i].measured.offset_ns);
        for (uint32_t seq = 0; seq < CALLS; seq++)
            fabricate_call(
                &log, BARRIER, 0, seq,
                (uint64_t)virtual_clock_at(rank, script_time_ns(4 * seq + (size_t)rank)),
                (uint64_t)virtual_clock_at(rank, script_time_ns(4 * seq + (size_t)rank + 2)));
        fabricate_finish(&log, directory);
    }
}

TEST("measured offsets put a sequence of events of two machines in order")
{
    struct virtual_world world = {.size = 2,
                                  .latency_ns = 2000,
                                  .jitter_ns = 500,
                                  .overhead_ns = 100,
                                  .reading_ns = 25,
                                  .seed = 5,
                                  .offset_ns = {1e12, 7e12},
                                  .drift = {3e-5, -6e-5}};
    const char *directory = setup_directory("measured");
    json_t *events;
    size_t step = 0;

    ASSERT(virtual_run(&world, synchronise, NULL));
    write_measured(directory);
    ASSERT(setup_export(directory) == SG_OK);
    setup_check(directory, &events);
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        const char *kind = json_string_value(json_object_get(event, "kind"));
        double found_ns = (double)json_integer_value(json_object_get(event, "time"));

        if (strcmp(kind, "Enter") != 0 && strcmp(kind, "Leave") != 0)
            continue;
        EXPECT((size_t)json_integer_value(json_object_get(event, "location")) == step % 2,
               strcmp(kind, step % 4 < 2 ? "Enter" : "Leave") == 0,
               fabs(found_ns - virtual_clock_at(0, script_time_ns(step))) <=
                   (double)synchronised[1][0].measured.error_ns +
                       (double)synchronised[1][1].measured.error_ns);
        step++;
    }
    EXPECT(step == 4 * CALLS);
}

TEST("times are interpolated between synchronisations")
{
    struct sg_clock_point points[] = {{3000, -500, 0}, {1000, -100, 0}, {2000, -110, 0}};
    struct sg_clock_point steady = {5, 7, 0};

    /* A drift of 39 % is none that a clock has. */
    ASSERT(sg_clock_sanitize(points, 3) == 2);
    EXPECT(sg_clock_global(points, 2, 1000) == 900, sg_clock_global(points, 2, 1500) == 1395,
           sg_clock_global(points, 2, 2000) == 1890, sg_clock_global(points, 2, 3000) == 2880,
           sg_clock_global(points, 2, 500) == 405, sg_clock_global(&steady, 1, 1000) == 1007);
}

TEST("impossible clock records are left out")
{
    struct sg_clock_point points[] = {{100, -200, 0},       {UINT64_MAX, 0, 0},
                                      {1000, INT64_MIN, 0}, {1000, INT64_MAX, 0},
                                      {2000, 5, 0},         {2000, 6, 0}};

    ASSERT(sg_clock_sanitize(points, 6) == 1);
    EXPECT(points[0].local_ns == 2000, sg_clock_sanitize(points, 0) == 0);
}
