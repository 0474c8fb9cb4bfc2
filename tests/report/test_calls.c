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
#include <sys/stat.h>
#include <unistd.h>

#define WORLD_NAME "MPI_COMM_WORLD"

static const char *fresh_directory(void)
{
    static char path[256];
    static int number;

    snprintf(path, sizeof path, "%s/%d", unit_directory(), number++);
    CU_ASSERT_EQUAL_FATAL(mkdir(path, 0777), 0);
    return path;
}

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
    struct sg_record_profile send, receive, wait;
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
    send = log_profile(1, 1, 0, TIMES(100, 300));
    send.sent_bytes = 16;
    put_profile(&log, send);
    send = log_profile(1, 2, 0, TIMES(500));
    send.sent_bytes = 64;
    put_profile(&log, send);
    log_put_peer(&log, 1, 1, 2, 16, 0, 0);
    log_put_peer(&log, 2, 1, 1, 64, 0, 0);
    log_end(&log);

    log_begin(&log, directory, 1, 2, SG_TRACE_STATS, SG_LOG_FINALIZED);
    receive = log_profile(7, 4, 1, TIMES(200, 200, 800));
    receive.failed = 1;
    receive.received_bytes = 80;
    receive.thread = 1;
    put_profile(&log, receive);
    wait = log_profile(6, 0, 0, TIMES(1000));
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

    CU_ASSERT_EQUAL_FATAL(sg_report_read(directory, false, &watch, report), SG_OK);
}

static const struct sg_calls *read_run(struct sg_report *report)
{
    const char *directory = fresh_directory();

    write_run(directory);
    read_directory(directory, NULL, report);
    CU_ASSERT_PTR_NOT_NULL_FATAL(report->calls);
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

static void test_functions(void)
{
    struct sg_report report;
    const struct sg_calls *calls = read_run(&report);
    const struct sg_call_row *send = find(calls->functions, calls->function_count, "MPI_Send");
    const struct sg_call_row *receive = find(calls->functions, calls->function_count, "MPI_Recv");

    CU_ASSERT_EQUAL(calls->function_count, 4);
    CU_ASSERT_STRING_EQUAL(calls->functions[0].function, "MPI_Barrier");
    CU_ASSERT_STRING_EQUAL(calls->functions[1].function, "MPI_Send");
    CU_ASSERT_EQUAL(send->of.calls, 4);
    CU_ASSERT_EQUAL(send->of.time_ns, 1600);
    CU_ASSERT_EQUAL(send->of.min_ns, 100);
    CU_ASSERT_EQUAL(send->of.max_ns, 700);
    CU_ASSERT_EQUAL(send->of.sent_bytes, 88);
    CU_ASSERT_DOUBLE_EQUAL(send->mean_ns, 400, 1e-9);
    /* (300^2 + 100^2 + 100^2 + 300^2) / 4 */
    CU_ASSERT_DOUBLE_EQUAL(send->deviation_ns, sqrt(50000), 1e-6);
    CU_ASSERT_EQUAL(receive->of.calls, 3);
    CU_ASSERT_EQUAL(receive->of.failed, 1);
    CU_ASSERT_EQUAL(receive->of.received_bytes, 80);
    sg_report_clear(&report);
}

static void test_carried_out(void)
{
    struct sg_report report;
    const struct sg_calls *calls = read_run(&report);
    const struct sg_call_row *barrier =
        find(calls->functions, calls->function_count, "MPI_Barrier");

    CU_ASSERT_EQUAL(barrier->of.calls, 20);
    CU_ASSERT_EQUAL(barrier->of.time_ns, 10000);
    CU_ASSERT_DOUBLE_EQUAL(barrier->mean_ns, 500, 1e-9);
    CU_ASSERT_TRUE(barrier->is_carried_out);
    CU_ASSERT_EQUAL(barrier->of.min_ns, 400);
    CU_ASSERT_EQUAL(barrier->of.max_ns, 600);
    CU_ASSERT_DOUBLE_EQUAL(barrier->deviation_ns, 100, 1e-6);
    sg_report_clear(&report);
}

static void test_latency(void)
{
    struct sg_report report;
    const struct sg_calls *calls = read_run(&report);

    CU_ASSERT_DOUBLE_EQUAL(find(calls->functions, calls->function_count, "MPI_Wait")->latency_ns,
                           1500, 1e-9);
    CU_ASSERT_TRUE(isnan(find(calls->functions, calls->function_count, "MPI_Send")->latency_ns));
    sg_report_clear(&report);
}

/* Rank 0: (4000 + 900) of 100000; rank 1: (6000 + 1200 + 1000 + 700) of 200000. */
static void test_share(void)
{
    struct sg_report report;
    const struct sg_calls *calls = read_run(&report);

    CU_ASSERT_EQUAL(calls->time_ns, 13800);
    CU_ASSERT_EQUAL(calls->processor_ns, 300000);
    CU_ASSERT_EQUAL(calls->greatest_rank, 0);
    CU_ASSERT_DOUBLE_EQUAL(calls->greatest_share, 0.049, 1e-9);
    CU_ASSERT_EQUAL(calls->least_rank, 1);
    CU_ASSERT_DOUBLE_EQUAL(calls->least_share, 0.0445, 1e-9);
    sg_report_clear(&report);
}

static void test_sites(void)
{
    struct sg_report report;
    const struct sg_calls *calls = read_run(&report);
    const struct sg_call_row *send = find(calls->sites, calls->site_count, "MPI_Send");
    const struct sg_call_row *wait = find(calls->sites, calls->site_count, "MPI_Wait");

    CU_ASSERT_EQUAL(calls->site_count, 4);
    CU_ASSERT_EQUAL(calls->row_count, 5);
    CU_ASSERT_EQUAL(send->of.calls, 4);
    CU_ASSERT_EQUAL(send->place.comms, 2);
    CU_ASSERT_PTR_NULL(send->place.comm);
    CU_ASSERT_EQUAL(send->place.comm_size, 2);
    CU_ASSERT_EQUAL(send->place.id, 0xa);
    CU_ASSERT_STRING_EQUAL(send->place.function, "solve");
    CU_ASSERT_EQUAL(send->place.line, 88);
    CU_ASSERT_EQUAL(wait->place.comms, 0);
    CU_ASSERT_STRING_EQUAL(wait->place.function, "norm");
    sg_report_clear(&report);
}

static void test_messages(void)
{
    struct sg_report report;
    const struct sg_calls *calls = read_run(&report);

    CU_ASSERT_EQUAL_FATAL(calls->pair_count, 2);
    CU_ASSERT_EQUAL(calls->pairs[0].from, 0);
    CU_ASSERT_EQUAL(calls->pairs[0].to, 1);
    CU_ASSERT_EQUAL(calls->pairs[0].messages, 2);
    CU_ASSERT_EQUAL(calls->pairs[0].bytes, 16);
    CU_ASSERT_EQUAL(calls->pairs[1].from, 1);
    CU_ASSERT_EQUAL(calls->pairs[1].messages, 1);
    CU_ASSERT_EQUAL(calls->pairs[1].bytes, 8);
    CU_ASSERT_EQUAL(calls->other_messages, 1);
    CU_ASSERT_EQUAL(calls->other_bytes, 64);
    sg_report_clear(&report);
}

/* As when its send was left out. */
static void test_receiver_alone(void)
{
    const char *directory = fresh_directory();
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
    CU_ASSERT_EQUAL_FATAL(report.calls->pair_count, 1);
    CU_ASSERT_EQUAL(report.calls->pairs[0].from, 0);
    CU_ASSERT_EQUAL(report.calls->pairs[0].to, 1);
    CU_ASSERT_EQUAL(report.calls->pairs[0].messages, 3);
    CU_ASSERT_EQUAL(report.calls->pairs[0].bytes, 4096);
    CU_ASSERT_EQUAL(report.calls->pairs[0].sent_messages, 0);
    sg_report_clear(&report);
}

/* Two threads of rank 1 put and get; a target that there is not is damage. */
static void test_targets(void)
{
    const char *directory = fresh_directory();
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
    CU_ASSERT_EQUAL(report.calls->pair_count, 0);
    CU_ASSERT_EQUAL_FATAL(report.calls->one_sided.count, 2);
    CU_ASSERT_EQUAL(report.calls->one_sided.rows[0].origin, 1);
    CU_ASSERT_EQUAL(report.calls->one_sided.rows[0].target, 0);
    CU_ASSERT_EQUAL(report.calls->one_sided.rows[0].puts, 3);
    CU_ASSERT_EQUAL(report.calls->one_sided.rows[0].put_bytes, 116);
    CU_ASSERT_EQUAL(report.calls->one_sided.rows[0].gets, 3);
    CU_ASSERT_EQUAL(report.calls->one_sided.rows[0].got_bytes, 4096);
    CU_ASSERT_EQUAL(report.calls->one_sided.rows[1].target, 1);
    CU_ASSERT_EQUAL(report.calls->one_sided.others.puts, 5);
    CU_ASSERT_EQUAL(report.calls->one_sided.others.got_bytes, 60);
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
    const char *directory = fresh_directory();
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

static void test_targets_elsewhere(void)
{
    const char *directory = write_swapped();
    struct sg_filter first = {.ranks = "0"};
    struct sg_report report;
    char message[200];

    read_directory(directory, NULL, &report);
    CU_ASSERT_EQUAL_FATAL(report.calls->one_sided.count, 2);
    CU_ASSERT_EQUAL(report.calls->one_sided.rows[0].target, 1);
    CU_ASSERT_EQUAL(report.calls->one_sided.rows[0].put_bytes, 200);
    CU_ASSERT_EQUAL(report.calls->one_sided.rows[1].target, 0);
    CU_ASSERT_EQUAL(report.calls->one_sided.rows[1].put_bytes, 36);
    CU_ASSERT_EQUAL(report.calls->one_sided.others.put_bytes, 5);
    sg_report_clear(&report);

    CU_ASSERT_TRUE_FATAL(sg_filter_parse(&first, message, sizeof message));
    read_directory(directory, &first, &report);
    CU_ASSERT_EQUAL_FATAL(report.calls->one_sided.count, 1);
    CU_ASSERT_EQUAL(report.calls->one_sided.rows[0].target, 0);
    CU_ASSERT_EQUAL(report.calls->one_sided.rows[0].put_bytes, 36);
    CU_ASSERT_EQUAL(report.calls->one_sided.others.put_bytes, 205);
    sg_report_clear(&report);
    sg_filter_clear(&first);
}

static void test_messages_elsewhere(void)
{
    const char *directory = write_swapped();
    struct sg_filter first = {.ranks = "0"};
    struct sg_report report;
    char message[200];

    read_directory(directory, NULL, &report);
    CU_ASSERT_EQUAL_FATAL(report.calls->pair_count, 2);
    CU_ASSERT_EQUAL(report.calls->pairs[0].from, 0);
    CU_ASSERT_EQUAL(report.calls->pairs[0].to, 1);
    CU_ASSERT_EQUAL(report.calls->pairs[0].sent_messages, 2);
    CU_ASSERT_EQUAL(report.calls->pairs[0].sent_bytes, 500);
    CU_ASSERT_EQUAL(report.calls->pairs[0].received_messages, 3);
    CU_ASSERT_EQUAL(report.calls->pairs[0].received_bytes, 7);
    CU_ASSERT_EQUAL(report.calls->pairs[1].from, 1);
    CU_ASSERT_EQUAL(report.calls->pairs[1].sent_bytes, 500);
    /* No member 2, and nobody who says who the first of the other is. */
    CU_ASSERT_EQUAL(report.calls->other_messages, 3);
    CU_ASSERT_EQUAL(report.calls->other_bytes, 38);
    sg_report_clear(&report);

    CU_ASSERT_TRUE_FATAL(sg_filter_parse(&first, message, sizeof message));
    read_directory(directory, &first, &report);
    CU_ASSERT_EQUAL(report.calls->pair_count, 0);
    CU_ASSERT_EQUAL(report.calls->other_bytes, 529);
    sg_report_clear(&report);
    sg_filter_clear(&first);
}

/* 4 ranks reduce 8 bytes twice: all send, the root receives. A nonblocking call's own time is that
 * of its start, its latency also what came after. */
static void test_bytes_of_reductions(void)
{
    const char *directory = fresh_directory();
    const struct sg_call_row *reduce, *all, *posted;
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
    reduce = find(report.calls->functions, report.calls->function_count, "MPI_Reduce");
    all = find(report.calls->functions, report.calls->function_count, "MPI_Allreduce");
    posted = find(report.calls->functions, report.calls->function_count, "MPI_Ibarrier");
    CU_ASSERT_EQUAL(reduce->of.sent_bytes, 64);
    CU_ASSERT_EQUAL(reduce->of.received_bytes, 16);
    CU_ASSERT_EQUAL(all->of.received_bytes, 64);
    CU_ASSERT_EQUAL(posted->of.calls, 4);
    CU_ASSERT_EQUAL(posted->of.time_ns, 206);
    CU_ASSERT_EQUAL(posted->of.min_ns, 50);
    CU_ASSERT_EQUAL(posted->of.max_ns, 53);
    CU_ASSERT_DOUBLE_EQUAL(posted->deviation_ns, sqrt(1.25), 1e-6);
    CU_ASSERT_EQUAL(posted->of.completed, 4);
    CU_ASSERT_DOUBLE_EQUAL(posted->latency_ns, 1500, 1e-9);
    CU_ASSERT_EQUAL(report.calls->time_ns, 1006);
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

static void test_mmds(void)
{
    const char *directory = fresh_directory();
    struct sg_filter rank = {.ranks = "1-2"}, site = {.site = "norm"};
    struct sg_mmds_points points;
    struct sg_report report;
    char message[200];

    write_mmds(directory);
    read_directory(directory, NULL, &report);
    CU_ASSERT_PTR_NOT_NULL_FATAL(report.calls);
    CU_ASSERT_EQUAL(report.calls->mmds.rank_count, 2);
    CU_ASSERT_EQUAL(report.calls->mmds.run_ns, 2 * 99900);
    CU_ASSERT_EQUAL(sg_mmds_sum_ns(&report.calls->mmds), 5 + 9 + 3 + 4);
    CU_ASSERT_EQUAL(sg_mmds_gap_ns(&report.calls->mmds), 2 * 99900 - 21);
    points = sg_mmds_points_of(&report.calls->mmds, SG_DISTRIBUTION_GRANULARITY, true);
    CU_ASSERT_EQUAL(points.count, 4);
    CU_ASSERT_EQUAL(points.min, 2);
    CU_ASSERT_EQUAL(points.max, 7);
    points = sg_mmds_points_of(&report.calls->mmds, SG_DISTRIBUTION_OVERHEAD, false);
    CU_ASSERT_EQUAL(points.count, 2);
    CU_ASSERT_EQUAL(points.sum, 100);
    CU_ASSERT_EQUAL_FATAL(report.calls->mmds.distribution_count, 4);
    CU_ASSERT_STRING_EQUAL(report.calls->mmds.distributions[0].primitive, "Comp Granularity");
    CU_ASSERT_STRING_EQUAL(report.calls->mmds.distributions[2].primitive, "MPI_Recv");
    CU_ASSERT_EQUAL(report.calls->mmds.distributions[2].bins[3], 2);
    sg_report_clear(&report);

    CU_ASSERT_TRUE_FATAL(sg_filter_parse(&rank, message, sizeof message));
    read_directory(directory, &rank, &report);
    CU_ASSERT_EQUAL(report.calls->mmds.rank_count, 1);
    CU_ASSERT_EQUAL(sg_mmds_sum_ns(&report.calls->mmds), 9 + 4);
    sg_report_clear(&report);

    /* It is not kept by call site. */
    CU_ASSERT_TRUE_FATAL(sg_filter_parse(&site, message, sizeof message));
    read_directory(directory, &site, &report);
    CU_ASSERT_EQUAL(report.calls->mmds.rank_count, 0);
    CU_ASSERT_EQUAL(report.calls->mmds.distribution_count, 0);
    sg_report_clear(&report);
    sg_filter_clear(&rank);
    sg_filter_clear(&site);
}

/* Distributions of kinds, functions and bins that do not exist. */
static void test_damaged_distributions(void)
{
    const char *directory = fresh_directory();
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
    CU_ASSERT_EQUAL(report.calls->mmds.distribution_count, 0);
    sg_report_clear(&report);
}

static void test_unknown(void)
{
    const char *directory = fresh_directory();
    struct sg_report report;
    struct log_writer log;

    log_begin(&log, directory, 0, 1, SG_TRACE_STATS, SG_LOG_FINALIZED);
    log_put_stat(&log, SG_OPERATION_BARRIER, 1, 0, 10, 0, 4000);
    log_end(&log);
    read_directory(directory, NULL, &report);
    CU_ASSERT_PTR_NULL(report.calls);
    sg_report_clear(&report);

    directory = fresh_directory();
    write_run(directory);
    CU_ASSERT_EQUAL_FATAL(sg_report_read(directory, false, NULL, &report), SG_OK);
    CU_ASSERT_PTR_NULL(report.calls);
    sg_report_clear(&report);
}

/* Functions, communicators and peers that are not there, and figures that are no numbers. */
static void test_damaged_records(void)
{
    const char *directory = fresh_directory();
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
    CU_ASSERT_EQUAL_FATAL(report.calls->row_count, 1);
    CU_ASSERT_EQUAL(report.calls->rows[0].of.calls, 1);
    CU_ASSERT_EQUAL(report.calls->rows[0].place.comms, 0);
    CU_ASSERT_TRUE(isnan(report.calls->rows[0].deviation_ns));
    CU_ASSERT_EQUAL(report.calls->pair_count, 0);
    CU_ASSERT_EQUAL(report.calls->other_messages, 0);
    sg_report_clear(&report);
}

static void test_filtered(void)
{
    const char *directory = fresh_directory();
    struct sg_filter site = {.site = "norm"}, rank = {.ranks = "0"}, comm = {.comm = "row"};
    struct sg_report report;
    char message[200];

    write_run(directory);
    CU_ASSERT_TRUE_FATAL(sg_filter_parse(&site, message, sizeof message));
    read_directory(directory, &site, &report);
    CU_ASSERT_EQUAL(report.calls->function_count, 1);
    CU_ASSERT_EQUAL(report.calls->time_ns, 1000);
    CU_ASSERT_EQUAL(report.calls->pair_count, 0);
    sg_report_clear(&report);

    CU_ASSERT_TRUE_FATAL(sg_filter_parse(&rank, message, sizeof message));
    read_directory(directory, &rank, &report);
    CU_ASSERT_EQUAL(report.calls->function_count, 2);
    CU_ASSERT_EQUAL(report.calls->time_ns, 4900);
    CU_ASSERT_EQUAL(report.calls->processor_ns, 100000);
    sg_report_clear(&report);

    CU_ASSERT_TRUE_FATAL(sg_filter_parse(&comm, message, sizeof message));
    read_directory(directory, &comm, &report);
    CU_ASSERT_EQUAL(report.calls->time_ns, 500);
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

static void test_many(void)
{
    const char *directory = fresh_directory();
    struct sg_report report;

    write_many(directory);
    read_directory(directory, NULL, &report);
    CU_ASSERT_EQUAL(report.calls->function_count, 1);
    CU_ASSERT_EQUAL(report.calls->site_count, SITES);
    CU_ASSERT_EQUAL(report.calls->row_count, SITES * RANKS / 10);
    CU_ASSERT_EQUAL(report.calls->pair_count, RANKS);
    CU_ASSERT_EQUAL(report.calls->functions[0].of.calls, RANKS * SITES);
    CU_ASSERT_EQUAL(report.calls->sites[0].of.calls, RANKS);
    CU_ASSERT_EQUAL(report.calls->sites[0].of.time_ns, RANKS * SITES);
    CU_ASSERT_EQUAL(report.calls->sites[0].place.comms, RANKS / 10);
    CU_ASSERT_EQUAL(report.calls->sites[0].place.comm_size, 10);
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
    const char *directory = fresh_directory();

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

static void test_archive(void)
{
    const char *directory = write_archive(4);
    const struct sg_call_row *send;
    struct capture capture;
    struct sg_report report;
    char *said;

    capture_begin(&capture);
    read_directory(directory, NULL, &report);
    said = capture_end(&capture);
    CU_ASSERT_STRING_EQUAL(said, "");
    free(said);
    CU_ASSERT_PTR_NOT_NULL_FATAL(report.calls);
    send = find(report.calls->sites, report.calls->site_count, "MPI_Send");
    CU_ASSERT_EQUAL(send->of.calls, 8);
    /* As the archive names it. */
    CU_ASSERT_STRING_EQUAL(send->place.function, "solve_the_system");
    CU_ASSERT_EQUAL(
        find(report.calls->functions, report.calls->function_count, "MPI_Barrier")->of.max_ns > 0,
        true);
    sg_report_clear(&report);
}

static void test_damaged_files(void)
{
    const char *directory = write_archive(4);
    struct capture capture;
    struct sg_report report;
    char *said;

    CU_ASSERT_EQUAL_FATAL(truncate(calls_path(directory, 1), SG_LOG_HEADER_BYTES + 64), 0);
    CU_ASSERT_EQUAL_FATAL(truncate(calls_path(directory, 2), 100), 0);
    CU_ASSERT_EQUAL_FATAL(unlink(calls_path(directory, 3)), 0);
    capture_begin(&capture);
    read_directory(directory, NULL, &report);
    said = capture_end(&capture);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "traces/1.calls: "));
    CU_ASSERT_PTR_EQUAL(strchr(said, '\n'), strrchr(said, '\n'));
    free(said);
    CU_ASSERT_EQUAL(
        find(report.calls->functions, report.calls->function_count, "MPI_Send")->of.calls, 2);
    CU_ASSERT_EQUAL(report.rank_count, 4);
    sg_report_clear(&report);
}

static void test_old_archive(void)
{
    const char *directory = write_archive(0);
    struct capture capture;
    struct sg_report report;
    char *said;

    capture_begin(&capture);
    read_directory(directory, NULL, &report);
    said = capture_end(&capture);
    CU_ASSERT_STRING_EQUAL(said, "");
    free(said);
    CU_ASSERT_PTR_NULL(report.calls);
    sg_report_clear(&report);
}

/* Two ranks, each with a slice on its second communicator; all three are the ranks' alike. */
static void test_slices(void)
{
    const struct sg_slice slice = {.number = 4, .first = UINT32_MAX};
    const char *directory = fresh_directory();
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
    CU_ASSERT_EQUAL_FATAL(report.calls->slices.comm_count, 1);
    CU_ASSERT_STRING_EQUAL(report.calls->slices.comms[0].name, "sliced");
    CU_ASSERT_EQUAL(report.calls->slices.row_count, 2);
    CU_ASSERT_EQUAL(report.calls->slices.place_count, 2);
    sg_report_clear(&report);
}

const struct unit_test unit_tests[] = {
    {"a function's figures are of all its calls", test_functions},
    {"what the library carried out is a function like others", test_carried_out},
    {"the latency of what was posted is a mean over what is complete", test_latency},
    {"MPI's share is of the run time of all threads that call it", test_share},
    {"a call site is the sum of its communicators", test_sites},
    {"messages are told by ranks, those with ranks that are not known are summed apart",
     test_messages},
    {"messages that only their receiver counted count", test_receiver_alone},
    {"one-sided operations are told by origin and target, those on other windows apart",
     test_targets},
    {"on other communicators, too, if their members are known", test_targets_elsewhere},
    {"so are messages there", test_messages_elsewhere},
    {"reductions send and receive as in the statistics of all calls", test_bytes_of_reductions},
    {"what MMDS kept is summed over its ranks, other threads apart", test_mmds},
    {"damaged distributions are left out", test_damaged_distributions},
    {"logs without such statistics, and readers who do not ask, have none", test_unknown},
    {"damaged records are left out", test_damaged_records},
    {"filters take sites, communicators and ranks", test_filtered},
    {"a thousand ranks are merged by call site", test_many},
    {"of communicators only those are kept that have slices", test_slices},
    {"files beside an archive count, with the archive's names", test_archive},
    {"damaged and missing files get one line, and the others count", test_damaged_files},
    {"an archive without files has no such figures", test_old_archive},
    {NULL, NULL},
};
