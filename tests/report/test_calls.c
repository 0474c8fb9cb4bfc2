/* Tests all calls of MPI in a report, from logs written by hand with figures worked out beside
 * them. */
#include "core/capture.h"
#include "lib/unit.h"
#include "report/filter.h"
#include "report/known.h"
#include "report/logs.h"
#include "report/profile_calls.h"
#include "report/report.h"

#include <math.h>
#include <unistd.h>

#define WORLD_NAME "MPI_COMM_WORLD"

static void put_profile(struct log_writer *log, struct sg_record_profile record)
{
    log_put(log, &record, sizeof record);
}

#define TIMES(...)                                                                                 \
    sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[])                             \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* Ranks number sites, functions and communicators differently, and rank 1 has figures before what
 * they refer to. Both run for 100000 ns, rank 1 with two threads. */
static void write_run(const char *directory)
{
    static const char module[] = "/opt/cg\0";
    static const char solve[] = "solve\0/src/solver.c", norm[] = "norm\0/src/norm.c";
    struct log_writer log;

    log_begin(&log, directory, 0, 2, SG_TRACE_STATS, SG_LOG_FINALIZED);
    log_put_site(&log, 1, 0xa, 0x11c4, module, sizeof module);
    log_put_site(&log, 2, 0xb, 0x2000, module, sizeof module);
    log_put_name(&log, 0xa, 88, solve, sizeof solve);
    log_put_name(&log, 0xb, 7, norm, sizeof norm);
    log_put_stat(&log, SG_OPERATION_BARRIER, 1, 0, 10, 0, 4000);
    log_put_function(&log, 0, "MPI_Send");
    log_put_profile_comm(&log, 1, 2, WORLD_NAME);
    log_put_profile_comm(&log, 2, 2, "row");
    struct sg_record_profile send = log_profile(1, 1, 0, TIMES(100, 300));
    send.sent_bytes = 16;
    put_profile(&log, send);
    send = log_profile(1, 2, 0, TIMES(500));
    send.sent_bytes = 64;
    put_profile(&log, send);
    log_put_peer(&log, 1, 1, 2, 16, 0, 0);
    log_put_peer(&log, 2, 1, 1, 64, 0, 0);
    log_end(&log);

    log_begin(&log, directory, 1, 2, SG_TRACE_STATS, SG_LOG_FINALIZED);
    struct sg_record_profile receive = log_profile(7, 4, 1, TIMES(200, 200, 800));
    receive.failed = 1;
    receive.received_bytes = 80;
    receive.thread = 1;
    put_profile(&log, receive);
    struct sg_record_profile wait = log_profile(6, 0, 0, TIMES(1000));
    wait.completed = 4;
    wait.latency_ns = 6000;
    put_profile(&log, wait);
    send = log_profile(7, 4, 5, TIMES(700));
    send.sent_bytes = 8;
    put_profile(&log, send);
    log_put_peer(&log, 4, 0, 1, 8, 2, 16);
    log_put_stat(&log, SG_OPERATION_BARRIER, 7, 0, 10, 0, 6000);
    log_put_function(&log, 0, "MPI_Wait");
    log_put_function(&log, 1, "MPI_Recv");
    log_put_function(&log, 5, "MPI_Send");
    log_put_profile_comm(&log, 4, 2, WORLD_NAME);
    log_put_site(&log, 6, 0xb, 0x2000, module, sizeof module);
    log_put_site(&log, 7, 0xa, 0x11c4, module, sizeof module);
    log_end(&log);
}

static void read_directory(const char *directory, const struct sg_filter *filter,
                           struct sg_report *report)
{
    const struct sg_watch watch = {.calls = true, .filter = filter};

    ASSERT(sg_report_read(directory, false, &watch, report) == SG_OK);
}

static const struct sg_calls *read_run(struct sg_report *report)
{
    const char *directory = unit_fresh_directory();

    write_run(directory);
    read_directory(directory, NULL, report);
    ASSERT(report->calls != NULL);
    return report->calls;
}

static const struct sg_call_row *find(const struct sg_call_row *rows, uint32_t count,
                                      const char *function)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(rows[i].function, function) == 0)
            return &rows[i];
    }
    CU_FAIL_FATAL("no such function");
    return NULL;
}

TEST("a function's figures cover all its calls")
{
    struct sg_report report;
    const struct sg_calls *calls = read_run(&report);
    const struct sg_call_row *send = find(calls->functions, calls->function_count, "MPI_Send");
    const struct sg_call_row *receive = find(calls->functions, calls->function_count, "MPI_Recv");

    EXPECT(calls->function_count == 4, text_is(calls->functions[0].function, "MPI_Barrier"),
           text_is(calls->functions[1].function, "MPI_Send"), send->of.calls == 4,
           send->of.time_ns == 1600, send->of.min_ns == 100, send->of.max_ns == 700,
           send->of.sent_bytes == 88, is_near(send->mean_ns, 400, 1e-9));
    /* (300^2 + 100^2 + 100^2 + 300^2) / 4 */
    EXPECT(is_near(send->deviation_ns, sqrt(50000), 1e-6), receive->of.calls == 3,
           receive->of.failed == 1, receive->of.received_bytes == 80);
    sg_report_clear(&report);
}

TEST("operations that the library executed are listed like other functions")
{
    struct sg_report report;
    const struct sg_calls *calls = read_run(&report);
    const struct sg_call_row *barrier =
        find(calls->functions, calls->function_count, "MPI_Barrier");

    EXPECT(barrier->of.calls == 20, barrier->of.time_ns == 10000,
           is_near(barrier->mean_ns, 500, 1e-9), barrier->is_carried_out, barrier->of.min_ns == 400,
           barrier->of.max_ns == 600, is_near(barrier->deviation_ns, 100, 1e-6));
    sg_report_clear(&report);
}

TEST("the latency of posts is a mean over the completed ones")
{
    struct sg_report report;
    const struct sg_calls *calls = read_run(&report);

    EXPECT(
        is_near(find(calls->functions, calls->function_count, "MPI_Wait")->latency_ns, 1500, 1e-9),
        isnan(find(calls->functions, calls->function_count, "MPI_Send")->latency_ns));
    sg_report_clear(&report);
}

/* Rank 0: (4000 + 900) of 100000; rank 1: (6000 + 1200 + 1000 + 700) of 200000. */
TEST("MPI's share is relative to the run time of all threads that call it")
{
    struct sg_report report;
    const struct sg_calls *calls = read_run(&report);

    EXPECT(calls->time_ns == 13800, calls->processor_ns == 300000, calls->greatest_rank == 0,
           is_near(calls->greatest_share, 0.049, 1e-9), calls->least_rank == 1,
           is_near(calls->least_share, 0.0445, 1e-9));
    sg_report_clear(&report);
}

TEST("a call site is the sum of its communicators")
{
    struct sg_report report;
    const struct sg_calls *calls = read_run(&report);
    const struct sg_call_row *send = find(calls->sites, calls->site_count, "MPI_Send");
    const struct sg_call_row *wait = find(calls->sites, calls->site_count, "MPI_Wait");

    EXPECT(calls->site_count == 4, calls->row_count == 5, send->of.calls == 4,
           send->place.comms == 2, send->place.comm == NULL, send->place.comm_size == 2,
           send->place.id == 0xa, text_is(send->place.function, "solve"), send->place.line == 88,
           wait->place.comms == 0, text_is(wait->place.function, "norm"));
    sg_report_clear(&report);
}

TEST("messages are listed by ranks, those with unknown ranks are summed separately")
{
    struct sg_report report;
    const struct sg_calls *calls = read_run(&report);

    ASSERT(calls->pair_count == 2);
    EXPECT(calls->pairs[0].from == 0, calls->pairs[0].to == 1, calls->pairs[0].messages == 2,
           calls->pairs[0].bytes == 16, calls->pairs[1].from == 1, calls->pairs[1].messages == 1,
           calls->pairs[1].bytes == 8, calls->other_messages == 1, calls->other_bytes == 64);
    sg_report_clear(&report);
}

/* As when its send was left out. */
TEST("messages that only their receiver counted are included")
{
    const char *directory = unit_fresh_directory();
    struct sg_report report;
    struct log_writer log;

    for (int rank = 0; rank < 2; rank++) {
        log_begin(&log, directory, rank, 2, SG_TRACE_STATS, SG_LOG_FINALIZED);
        log.header.counts_calls = 1;
        log_put_profile_comm(&log, 1, 2, WORLD_NAME);
        if (rank == 1)
            log_put_peer(&log, 1, 0, 0, 0, 3, 4096);
        log_end(&log);
    }
    read_directory(directory, NULL, &report);
    ASSERT(report.calls->pair_count == 1);
    EXPECT(report.calls->pairs[0].from == 0, report.calls->pairs[0].to == 1,
           report.calls->pairs[0].messages == 3, report.calls->pairs[0].bytes == 4096,
           report.calls->pairs[0].sent_messages == 0);
    sg_report_clear(&report);
}

/* Two threads of rank 1 put and get; a target that there is not is damage. */
TEST("one-sided operations are listed by origin and target, other windows separately")
{
    const char *directory = unit_fresh_directory();
    struct sg_report report;
    struct log_writer log;

    for (int rank = 0; rank < 2; rank++) {
        log_begin(&log, directory, rank, 2, SG_TRACE_STATS, SG_LOG_FINALIZED);
        log.header.counts_calls = 1;
        log_put_profile_comm(&log, 1, 2, WORLD_NAME);
        log_put_profile_comm(&log, 2, 2, "row");
        if (rank == 1) {
            log_put_target(&log, 1, 1, 1, 8, 0, 0);
            log_put_target(&log, 1, 0, 2, 16, 3, 4096);
            log_put_target(&log, 1, 0, 1, 100, 0, 0);
            log_put_target(&log, 1, 2, 1, 1, 1, 1);
            log_put_target(&log, 2, 0, 5, 50, 6, 60);
        }
        log_end(&log);
    }
    read_directory(directory, NULL, &report);
    EXPECT(report.calls->pair_count == 0);
    ASSERT(report.calls->one_sided.count == 2);
    EXPECT(report.calls->one_sided.rows[0].origin == 1, report.calls->one_sided.rows[0].target == 0,
           report.calls->one_sided.rows[0].puts == 3,
           report.calls->one_sided.rows[0].put_bytes == 116,
           report.calls->one_sided.rows[0].gets == 3,
           report.calls->one_sided.rows[0].got_bytes == 4096,
           report.calls->one_sided.rows[1].target == 1, report.calls->one_sided.others.puts == 5,
           report.calls->one_sided.others.got_bytes == 60);
    sg_report_clear(&report);
}

/* A communicator of ranks 1 and 0, in this order, in the log of a rank; the first has the members
 * if it is told to. */
static void put_swapped(struct log_writer *log, int rank, uint32_t index, bool is_told)
{
    static const uint32_t members[] = {1, 0};
    char text[sizeof "swap" + 3 + sizeof members] = "swap";
    struct sg_record_profile_comm comm = {.kind = SG_RECORD_PROFILE_COMM,
                                          .index = index,
                                          .peers = 2,
                                          .size = 2,
                                          .rank = (uint32_t)(1 - rank),
                                          .identity = 70 + index,
                                          .has_members = rank == 1 && is_told,
                                          .text_bytes = sizeof text};

    memcpy(text + 8, members, sizeof members);
    log_put(log, &comm, sizeof comm);
    log_put_text(log, text, sizeof text);
}

/* Rank 0 operates on, and sends to, itself and rank 1, and its log tells only who itself is. */
static const char *write_swapped(void)
{
    const char *directory = unit_fresh_directory();
    struct log_writer log;

    for (int rank = 0; rank < 2; rank++) {
        log_begin(&log, directory, rank, 2, SG_TRACE_STATS, SG_LOG_FINALIZED);
        log.header.counts_calls = 1;
        put_swapped(&log, rank, 3, true);
        if (rank == 0)
            put_swapped(&log, rank, 4, false);
        if (rank == 0) {
            log_put_target(&log, 3, 0, 2, 200, 0, 0);
            log_put_target(&log, 3, 1, 1, 30, 0, 0);
            log_put_target(&log, 3, 2, 1, 4, 0, 0);
            log_put_target(&log, 4, 0, 1, 1, 0, 0);
            log_put_target(&log, 4, 1, 1, 6, 0, 0);
        }
        log_put_peer(&log, 3, rank, 2, 500, 3, 7);
        log_put_peer(&log, 3, 2, 1, 9, 0, 0);
        if (rank == 0)
            log_put_peer(&log, 4, 0, 1, 20, 0, 0);
        log_end(&log);
    }
    return directory;
}

TEST("one-sided operations on other communicators are listed if their members are known")
{
    const char *directory = write_swapped();
    struct sg_filter first = {.ranks = "0"};
    struct sg_report report;
    char message[200];

    read_directory(directory, NULL, &report);
    ASSERT(report.calls->one_sided.count == 2);
    EXPECT(report.calls->one_sided.rows[0].target == 1,
           report.calls->one_sided.rows[0].put_bytes == 200,
           report.calls->one_sided.rows[1].target == 0,
           report.calls->one_sided.rows[1].put_bytes == 36,
           report.calls->one_sided.others.put_bytes == 5);
    sg_report_clear(&report);

    ASSERT(sg_filter_parse(&first, message, sizeof message));
    read_directory(directory, &first, &report);
    ASSERT(report.calls->one_sided.count == 1);
    EXPECT(report.calls->one_sided.rows[0].target == 0,
           report.calls->one_sided.rows[0].put_bytes == 36,
           report.calls->one_sided.others.put_bytes == 205);
    sg_report_clear(&report);
    sg_filter_clear(&first);
}

TEST("messages on other communicators are listed if their members are known")
{
    const char *directory = write_swapped();
    struct sg_filter first = {.ranks = "0"};
    struct sg_report report;
    char message[200];

    read_directory(directory, NULL, &report);
    ASSERT(report.calls->pair_count == 2);
    EXPECT(report.calls->pairs[0].from == 0, report.calls->pairs[0].to == 1,
           report.calls->pairs[0].sent_messages == 2, report.calls->pairs[0].sent_bytes == 500,
           report.calls->pairs[0].received_messages == 3,
           report.calls->pairs[0].received_bytes == 7, report.calls->pairs[1].from == 1,
           report.calls->pairs[1].sent_bytes == 500);
    /* No member 2, and nobody who says who the first of the other is. */
    EXPECT(report.calls->other_messages == 3, report.calls->other_bytes == 38);
    sg_report_clear(&report);

    ASSERT(sg_filter_parse(&first, message, sizeof message));
    read_directory(directory, &first, &report);
    EXPECT(report.calls->pair_count == 0, report.calls->other_bytes == 529);
    sg_report_clear(&report);
    sg_filter_clear(&first);
}

/* 4 ranks reduce 8 bytes twice: all send, the root receives. A nonblocking call's own time is that
 * of its start, its latency also what came after. */
TEST("reductions send and receive as in the statistics of all calls")
{
    const char *directory = unit_fresh_directory();
    struct sg_report report;
    struct log_writer log;

    for (int rank = 0; rank < 4; rank++) {
        struct sg_record_stat stat = {.kind = SG_RECORD_STAT,
                                      .kind2 = SG_RECORD_CONT,
                                      .kind3 = SG_RECORD_CONT,
                                      .kind4 = SG_RECORD_CONT,
                                      .operation = SG_OPERATION_BARRIER,
                                      .nonblocking = 1,
                                      .calls = 1,
                                      .blocked_ns = 500,
                                      .hidden_ns = 1000,
                                      .own_ns = 50 + rank,
                                      .own_min_ns = 50 + rank,
                                      .own_max_ns = 50 + rank,
                                      .own_square = (50 + rank) * (50 + rank)};

        log_begin(&log, directory, rank, 4, SG_TRACE_STATS, SG_LOG_FINALIZED);
        log.header.counts_calls = 1;
        log_put_stat(&log, SG_OPERATION_REDUCE, 1, 0, 2, 16, 100);
        log_put_stat(&log, SG_OPERATION_ALLREDUCE, 1, 0, 2, 16, 100);
        log_put(&log, &stat, sizeof stat);
        log_end(&log);
    }
    read_directory(directory, NULL, &report);
    const struct sg_call_row *reduce =
        find(report.calls->functions, report.calls->function_count, "MPI_Reduce");
    const struct sg_call_row *all =
        find(report.calls->functions, report.calls->function_count, "MPI_Allreduce");
    const struct sg_call_row *posted =
        find(report.calls->functions, report.calls->function_count, "MPI_Ibarrier");
    EXPECT(reduce->of.sent_bytes == 64, reduce->of.received_bytes == 16,
           all->of.received_bytes == 64, posted->of.calls == 4, posted->of.time_ns == 206,
           posted->of.min_ns == 50, posted->of.max_ns == 53,
           is_near(posted->deviation_ns, sqrt(1.25), 1e-6), posted->of.completed == 4,
           is_near(posted->latency_ns, 1500, 1e-9), report.calls->time_ns == 1006);
    sg_report_clear(&report);
}

/* ---- MMDS ------------------------------------------------------------------------------------ */

/* Two of three ranks kept it: granularity 5 and 9, overhead 3 and 4, of 99900 ns each. */
static void write_mmds(const char *directory)
{
    for (int rank = 0; rank < 3; rank++) {
        struct log_writer log;

        log_begin(&log, directory, rank, 3, SG_TRACE_STATS, SG_LOG_FINALIZED);
        log.header.counts_calls = 1;
        log_put_function(&log, 4 + (uint32_t)rank, "MPI_Recv");
        if (rank < 2) {
            log_put_distribution(&log, SG_DISTRIBUTION_GRANULARITY, 0, 0, TIMES(2, 3 + 4 * rank));
            log_put_distribution(&log, SG_DISTRIBUTION_OVERHEAD, 0, 0, TIMES(3 + rank));
            log_put_distribution(&log, SG_DISTRIBUTION_LATENCY, 0, 4 + rank, TIMES(3, 100));
            log_put_distribution(&log, SG_DISTRIBUTION_OVERHEAD, 1, 0, TIMES(50));
        }
        log_end(&log);
    }
}

TEST("MMDS figures are summed over their ranks, other threads separately")
{
    const char *directory = unit_fresh_directory();
    struct sg_filter rank = {.ranks = "1-2"}, site = {.site = "norm"};
    struct sg_report report;
    char message[200];

    write_mmds(directory);
    read_directory(directory, NULL, &report);
    ASSERT(report.calls != NULL);
    EXPECT(report.calls->mmds.rank_count == 2, report.calls->mmds.run_ns == 2 * 99900,
           sg_mmds_sum_ns(&report.calls->mmds) == 5 + 9 + 3 + 4,
           sg_mmds_gap_ns(&report.calls->mmds) == 2 * 99900 - 21);
    struct sg_mmds_points points =
        sg_mmds_points_of(&report.calls->mmds, SG_DISTRIBUTION_GRANULARITY, true);
    EXPECT(points.count == 4, points.min == 2, points.max == 7);
    points = sg_mmds_points_of(&report.calls->mmds, SG_DISTRIBUTION_OVERHEAD, false);
    EXPECT(points.count == 2, points.sum == 100);
    ASSERT(report.calls->mmds.distribution_count == 4);
    EXPECT(text_is(report.calls->mmds.distributions[0].primitive, "Comp Granularity"),
           text_is(report.calls->mmds.distributions[2].primitive, "MPI_Recv"),
           report.calls->mmds.distributions[2].bins[3] == 2);
    sg_report_clear(&report);

    ASSERT(sg_filter_parse(&rank, message, sizeof message));
    read_directory(directory, &rank, &report);
    EXPECT(report.calls->mmds.rank_count == 1, sg_mmds_sum_ns(&report.calls->mmds) == 9 + 4);
    sg_report_clear(&report);

    /* It is not kept by call site. */
    ASSERT(sg_filter_parse(&site, message, sizeof message));
    read_directory(directory, &site, &report);
    EXPECT(report.calls->mmds.rank_count == 0, report.calls->mmds.distribution_count == 0);
    sg_report_clear(&report);
    sg_filter_clear(&rank);
    sg_filter_clear(&site);
}

/* Distributions of kinds, functions and bins that do not exist. */
TEST("damaged distributions are left out")
{
    const char *directory = unit_fresh_directory();
    struct sg_record_distribution odd = {
        .kind = SG_RECORD_DISTRIBUTION, .of = SG_DISTRIBUTION_OVERHEAD, .bins = 3, .count = 1};
    struct sg_report report;
    struct log_writer log;

    log_begin(&log, directory, 0, 1, SG_TRACE_STATS, SG_LOG_FINALIZED);
    log.header.counts_calls = 1;
    log_put(&log, &odd, sizeof odd);
    odd.bins = 4;
    log_put(&log, &odd, sizeof odd);
    log_put_distribution(&log, 0, 0, 0, TIMES(1));
    log_put_distribution(&log, 5, 0, 0, TIMES(1));
    log_put_distribution(&log, SG_DISTRIBUTION_LATENCY, 0, 9, TIMES(1));
    log_end(&log);
    read_directory(directory, NULL, &report);
    EXPECT(report.calls->mmds.distribution_count == 0);
    sg_report_clear(&report);
}

TEST("logs without call statistics give none, and readers who do not ask get none")
{
    const char *directory = unit_fresh_directory();
    struct sg_report report;
    struct log_writer log;

    log_begin(&log, directory, 0, 1, SG_TRACE_STATS, SG_LOG_FINALIZED);
    log_put_stat(&log, SG_OPERATION_BARRIER, 1, 0, 10, 0, 4000);
    log_end(&log);
    read_directory(directory, NULL, &report);
    EXPECT(report.calls == NULL);
    sg_report_clear(&report);

    directory = unit_fresh_directory();
    write_run(directory);
    ASSERT(sg_report_read(directory, false, NULL, &report) == SG_OK);
    EXPECT(report.calls == NULL);
    sg_report_clear(&report);
}

/* Functions, communicators and peers that are not there, and figures that are no numbers. */
TEST("damaged records are left out")
{
    const char *directory = unit_fresh_directory();
    struct sg_record_profile odd = log_profile(9, 9, 0, TIMES(100));
    struct sg_report report;
    struct log_writer log;

    log_begin(&log, directory, 0, 2, SG_TRACE_STATS, SG_LOG_FINALIZED);
    log_put_function(&log, 0, "MPI_Send");
    log_put_profile_comm(&log, 1, 2, WORLD_NAME);
    odd.time_square = NAN;
    put_profile(&log, odd);
    put_profile(&log, log_profile(1, 1, 3, TIMES(100)));
    put_profile(&log, log_profile(1, 1, 0, 0, NULL));
    log_put_peer(&log, 1, 2, 1, 1, 1, 1);
    log_put_peer(&log, 1, -1, 1, 1, 1, 1);
    log_put_peer(&log, 8, 0, 1, 1, 1, 1);
    log_end(&log);
    read_directory(directory, NULL, &report);
    ASSERT(report.calls->row_count == 1);
    EXPECT(report.calls->rows[0].of.calls == 1, report.calls->rows[0].place.comms == 0,
           isnan(report.calls->rows[0].deviation_ns), report.calls->pair_count == 0,
           report.calls->other_messages == 0);
    sg_report_clear(&report);
}

TEST("filters select sites, communicators and ranks")
{
    const char *directory = unit_fresh_directory();
    struct sg_filter site = {.site = "norm"}, rank = {.ranks = "0"}, comm = {.comm = "row"};
    struct sg_report report;
    char message[200];

    write_run(directory);
    ASSERT(sg_filter_parse(&site, message, sizeof message));
    read_directory(directory, &site, &report);
    EXPECT(report.calls->function_count == 1, report.calls->time_ns == 1000,
           report.calls->pair_count == 0);
    sg_report_clear(&report);

    ASSERT(sg_filter_parse(&rank, message, sizeof message));
    read_directory(directory, &rank, &report);
    EXPECT(report.calls->function_count == 2, report.calls->time_ns == 4900,
           report.calls->processor_ns == 100000);
    sg_report_clear(&report);

    ASSERT(sg_filter_parse(&comm, message, sizeof message));
    read_directory(directory, &comm, &report);
    EXPECT(report.calls->time_ns == 500);
    sg_report_clear(&report);
    sg_filter_clear(&site);
    sg_filter_clear(&rank);
    sg_filter_clear(&comm);
}

/* ---- many ranks ------------------------------------------------------------------------------ */

enum { RANKS = 1000, SITES = 100 };

/* Every rank calls from 100 sites on a communicator named after its row of ten. */
static void write_many(const char *directory)
{
    static const char module[] = "/opt/cg\0";

    for (int rank = 0; rank < RANKS; rank++) {
        struct log_writer log;
        char name[16];

        snprintf(name, sizeof name, "row %d", rank / 10);
        log_begin(&log, directory, rank, RANKS, SG_TRACE_STATS, SG_LOG_FINALIZED);
        log_put_function(&log, 0, "MPI_Send");
        log_put_profile_comm(&log, 1, 10, name);
        log_put_profile_comm(&log, 2, RANKS, WORLD_NAME);
        for (uint32_t site = 1; site <= SITES; site++) {
            log_put_site(&log, site, 1000 + site, 16 * site, module, sizeof module);
            put_profile(&log, log_profile(site, 1, 0, TIMES(site)));
        }
        log_put_peer(&log, 2, (rank + 1) % RANKS, 1, 8, 0, 0);
        log_end(&log);
    }
}

TEST("a thousand ranks are merged by call site")
{
    const char *directory = unit_fresh_directory();
    struct sg_report report;

    write_many(directory);
    read_directory(directory, NULL, &report);
    EXPECT(report.calls->function_count == 1, report.calls->site_count == SITES,
           report.calls->row_count == SITES * RANKS / 10, report.calls->pair_count == RANKS,
           report.calls->functions[0].of.calls == RANKS * SITES,
           report.calls->sites[0].of.calls == RANKS,
           report.calls->sites[0].of.time_ns == RANKS * SITES,
           report.calls->sites[0].place.comms == RANKS / 10,
           report.calls->sites[0].place.comm_size == 10);
    sg_report_clear(&report);
}

/* ---- beside an archive ----------------------------------------------------------------------- */

static const char *calls_path(const char *directory, int rank)
{
    static char path[300];

    snprintf(path, sizeof path, "%s/traces/" SG_CALLS_NAME_FORMAT, directory, rank);
    return path;
}

/* An archive of 4 ranks, and files of the first ones. */
static const char *write_archive(int ranks)
{
    static struct archive archive;
    const char *directory = unit_fresh_directory();

    known_run(&archive);
    archive_write(&archive, directory);
    for (int rank = 0; rank < ranks; rank++) {
        struct log_writer log;

        log_begin_at(&log, calls_path(directory, rank), rank, 4, SG_TRACE_OTF2, SG_LOG_FINALIZED);
        log_put_site(&log, 1, 0x3f2a9c1b, 0x11c4, "\0", 2);
        log_put_function(&log, 0, "MPI_Send");
        put_profile(&log, log_profile(1, 0, 0, TIMES(100, 200)));
        log_end(&log);
    }
    return directory;
}

TEST("files beside an archive count, under the archive's names")
{
    const char *directory = write_archive(4);
    struct capture capture;
    struct sg_report report;

    capture_begin(&capture);
    read_directory(directory, NULL, &report);
    char *said = capture_end(&capture);
    EXPECT(text_is(said, ""));
    free(said);
    ASSERT(report.calls != NULL);
    const struct sg_call_row *send =
        find(report.calls->sites, report.calls->site_count, "MPI_Send");
    EXPECT(send->of.calls == 8);
    /* As the archive names it. */
    EXPECT(text_is(send->place.function, "solve_the_system"),
           (find(report.calls->functions, report.calls->function_count, "MPI_Barrier")->of.max_ns >
            0) == true);
    sg_report_clear(&report);
}

TEST("damaged and missing files get one line, and the other files count")
{
    const char *directory = write_archive(4);
    struct capture capture;
    struct sg_report report;

    ASSERT(truncate(calls_path(directory, 1), SG_LOG_HEADER_BYTES + 64) == 0,
           truncate(calls_path(directory, 2), 100) == 0, unlink(calls_path(directory, 3)) == 0);
    capture_begin(&capture);
    read_directory(directory, NULL, &report);
    char *said = capture_end(&capture);
    EXPECT(contains(said, "traces/1.calls: "), strchr(said, '\n') == strrchr(said, '\n'));
    free(said);
    EXPECT(find(report.calls->functions, report.calls->function_count, "MPI_Send")->of.calls == 2,
           report.rank_count == 4);
    sg_report_clear(&report);
}

TEST("an archive without files has no call statistics")
{
    const char *directory = write_archive(0);
    struct capture capture;
    struct sg_report report;

    capture_begin(&capture);
    read_directory(directory, NULL, &report);
    char *said = capture_end(&capture);
    EXPECT(text_is(said, ""));
    free(said);
    EXPECT(report.calls == NULL);
    sg_report_clear(&report);
}

/* Two ranks, each with a slice on its second communicator; all three are the ranks' alike. */
TEST("only communicators with slices are kept")
{
    const struct sg_slice slice = {.number = 4, .first = UINT32_MAX};
    const char *directory = unit_fresh_directory();
    struct sg_report report;
    struct log_writer log;

    for (int rank = 0; rank < 2; rank++) {
        log_begin(&log, directory, rank, 2, SG_TRACE_STATS, SG_LOG_FINALIZED);
        log.header.counts_calls = 1;
        for (uint32_t i = 0; i < 3; i++)
            log_put_comm(&log, i, 0, i, 2, i == 1 ? "sliced" : "plain");
        log_put_slice(&log, 1, (uint32_t)rank, &slice);
        log_put_slice(&log, 9, (uint32_t)rank, &slice);
        log_end(&log);
    }
    read_directory(directory, NULL, &report);
    ASSERT(report.calls->slices.comm_count == 1);
    EXPECT(text_is(report.calls->slices.comms[0].name, "sliced"),
           report.calls->slices.row_count == 2, report.calls->slices.place_count == 2);
    sg_report_clear(&report);
}
