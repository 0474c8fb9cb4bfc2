/* make_archive KIND DIRECTORY: writes the fixtures of the report's system test. */
#include "report/known.h"
#include "report/logs.h"

#define MANY_RANKS 40
#define COPIES 40u

static void whole(const char *directory)
{
    static struct archive archive;

    known_run(&archive);
    archive_write(&archive, directory);
}

static void foreign(const char *directory)
{
    static struct archive archive;

    known_run(&archive);
    archive.no_attributes = true;
    archive_write(&archive, directory);
}

static void without_events(const char *directory)
{
    static struct archive archive;

    known_run(&archive);
    archive.no_events = true;
    archive_write(&archive, directory);
}

static void without_collectives(const char *directory)
{
    static struct archive archive;

    known_run(&archive);
    archive.call_count = 0;
    archive_write(&archive, directory);
}

/* Rank r blocks for 100 (r + 1): rank MANY_RANKS - 1 comes first and waits longest. */
static void many(const char *directory)
{
    static struct archive archive;

    archive = (struct archive){.ranks = MANY_RANKS, .ticks_per_ns = 1, .half_size = 1};
    for (int rank = 0; rank < MANY_RANKS; rank++) {
        archive.finalize_ns[rank] = 1000000;
        known_add(&archive, (struct archive_call){.rank = rank,
                                                  .operation = SG_OPERATION_BARRIER,
                                                  .comm = ARCHIVE_WORLD,
                                                  .begin_ns = 50000 - 100 * (uint64_t)(rank + 1),
                                                  .end_ns = 50000,
                                                  .site = KNOWN_A,
                                                  .algorithm = "mpich"});
    }
    archive_write(&archive, directory);
}

/* A barrier whose first member waits for so long, in a run of so long. */
static void one_barrier(const char *directory, uint64_t run_ns, uint64_t wait_ns)
{
    static struct archive archive;

    archive = (struct archive){.ranks = 2, .ticks_per_ns = 1, .half_size = 1};
    for (int rank = 0; rank < 2; rank++) {
        archive.finalize_ns[rank] = run_ns;
        known_add(&archive, (struct archive_call){.rank = rank,
                                                  .operation = SG_OPERATION_BARRIER,
                                                  .comm = ARCHIVE_WORLD,
                                                  .begin_ns = 1000 + (uint64_t)rank * wait_ns,
                                                  .end_ns = 1000 + wait_ns,
                                                  .site = KNOWN_A,
                                                  .algorithm = "mpich"});
    }
    archive_write(&archive, directory);
}

/* The shorter run loses less time, but a greater share of it. */
static void longer(const char *directory)
{
    one_barrier(directory, 500000, 20000);
}

static void shorter(const char *directory)
{
    one_barrier(directory, 100000, 15000);
}

/* Allreduces of nothing, which the first member leaves before the other enters. */
static void without_data(const char *directory)
{
    static struct archive archive;

    archive = (struct archive){.ranks = 2, .ticks_per_ns = 1, .half_size = 1};
    for (uint64_t seq = 0; seq < 3; seq++) {
        for (int rank = 0; rank < 2; rank++) {
            uint64_t begin_ns = 1000 * seq + 500 * (uint64_t)rank + 100;

            archive.finalize_ns[rank] = 10000;
            known_add(&archive, (struct archive_call){.rank = rank,
                                                      .operation = SG_OPERATION_ALLREDUCE,
                                                      .comm = ARCHIVE_WORLD,
                                                      .seq = seq,
                                                      .begin_ns = begin_ns,
                                                      .end_ns = begin_ns + 40,
                                                      .site = KNOWN_A,
                                                      .algorithm = "mpich"});
        }
    }
    archive_write(&archive, directory);
}

/* Rank 1 is 100 late for each of A's barriers, one on each of COPIES communicators, and 400 late
 * for B's allreduce. */
static void many_comms(const char *directory)
{
    static struct archive archive;

    archive = (struct archive){.ranks = 2, .ticks_per_ns = 1, .half_size = 1, .copies = COPIES};
    for (uint64_t rank = 0; rank < 2; rank++) {
        archive.finalize_ns[rank] = 100000;
        for (uint32_t i = 0; i < COPIES; i++)
            known_add(&archive,
                      (struct archive_call){.rank = (int)rank,
                                            .operation = SG_OPERATION_BARRIER,
                                            .comm = (enum archive_comm)(ARCHIVE_COMM_COUNT + i),
                                            .begin_ns = 1000 * i + 100 + 100 * rank,
                                            .end_ns = 1000 * i + 210,
                                            .site = KNOWN_A,
                                            .algorithm = i % 2 ? "srm" : "mpich"});
        known_add(&archive, (struct archive_call){.rank = (int)rank,
                                                  .operation = SG_OPERATION_ALLREDUCE,
                                                  .comm = ARCHIVE_WORLD,
                                                  .begin_ns = 90000 + 400 * rank,
                                                  .end_ns = 90500,
                                                  .bytes = 8,
                                                  .site = KNOWN_B,
                                                  .algorithm = "mpich"});
    }
    archive_write(&archive, directory);
}

#define TIMES(...)                                                                                 \
    sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[])                             \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const char module[] = "/opt/cg";

/* Two ranks and two communicators named "row", both with rank 0 as their first, made in this order
 * but met by rank 1 in the other; rank 1 does not know their names. Rank 1's log has its statistics
 * before the definitions they need. */
static void logs(const char *directory, enum sg_trace_mode mode, enum sg_log_state state)
{
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct fabricated log;

        log_begin(&log, directory, (int)rank, 2, mode, rank == 0 ? SG_LOG_FINALIZED : state);
        for (int turn = 0; turn < 2; turn++) {
            if (turn == (int)rank) {
                fabricate_comm(&log, 0, 0, 0, 2, 0, rank == 0 ? "MPI_COMM_WORLD" : "", NULL);
                fabricate_comm(&log, 2 + rank, 0, 1, 2, 0, rank == 0 ? "row" : "", NULL);
                fabricate_comm(&log, 3 - rank, 0, 2, 2, 0, rank == 0 ? "row" : "", NULL);
                fabricate_comm(&log, 4, 0, 3, 2, 0, "", NULL);
                fabricate_site(&log, 1, 0x3f2a9c1b, module, "", 0x11c4);
                if (rank == 0)
                    fabricate_site_name(&log, 0x3f2a9c1b, "solve", "/home/user/src/solver.c", 88);
                continue;
            }
            log_put_stat(&log, SG_OPERATION_BARRIER, 1, 0, 10, 0, 4000 + 2000 * rank);
            log_put_stat(&log, SG_OPERATION_ALLREDUCE, 1, 2 + rank, 3, 24, 300);
            log_put_stat(&log, SG_OPERATION_ALLREDUCE, 1, 3 - rank, 5, 40, 500);
            log_put_stat(&log, SG_OPERATION_ALLREDUCE, 1, 4, 1, 8, 7);
            log_put_stat(&log, SG_OPERATION_ALLREDUCE, 1, 1, 2, 16, 20);
        }
        log_end(&log);
    }
}

static void put_profile(struct fabricated *log, struct sg_record_profile record)
{
    log_put(log, &record, sizeof record);
}

/* A nonblocking barrier's own time is that of its start, its latency also that which came after. */
static void put_ibarrier(struct fabricated *log, uint32_t site, uint64_t own_ns)
{
    struct sg_record_stat *stat = fabricate_stat(log, SG_OPERATION_BARRIER, site, 0, 1);

    stat->nonblocking = 1;
    stat->blocked_ns = 500;
    stat->hidden_ns = 1000;
    stat->own_ns = stat->own_min_ns = stat->own_max_ns = own_ns;
    stat->own_square = (double)own_ns * (double)own_ns;
}

/* Ranks number sites, functions and communicators differently, and rank 1 has figures before what
 * they refer to. Both run for 100000 ns, rank 1 with two threads.
 *
 *   barriers      10 of 400 and 10 of 600
 *   reduces       2 a rank, 8 bytes each of 50: both ranks send, the root receives
 *   Ibarrier      a rank's of 50, one of 51: latency 1500
 *   MPI_Send      in solve 100, 300 on WORLD, 500 on row, and 700: 88 bytes; one site of 2
 *                 communicators; deviation sqrt(50000)
 *   MPI_Recv      200, 200, 800 on a thread, one of them failed; MPI_Wait of 4 posts: latency 1500
 *   messages      0 to 1: 2 of 16 bytes; 1 to 0: 1 of 8; 1 to 1: 3, told by the receiver alone; 1
 *                 of 64 on row to an unknown rank
 *   one-sided     1 to 1, 1 to 0 by two threads, 5 and 6 on row; a target that there is not
 *   time in MPI   of rank 0 900 + 4000 + 100 + 50 of 100000, of rank 1 2900 + 6000 + 100 + 51 of
 *                 200000
 */
static void all_calls(const char *directory)
{
    struct fabricated log;

    log_begin(&log, directory, 0, 2, SG_TRACE_STATS, SG_LOG_FINALIZED);
    fabricate_comm(&log, 0, 0, 0, 2, 0, "MPI_COMM_WORLD", NULL);
    fabricate_site(&log, 1, 0xa, module, "", 0x11c4);
    fabricate_site(&log, 2, 0xb, module, "", 0x2000);
    fabricate_site_name(&log, 0xa, "solve", "/src/solver.c", 88);
    fabricate_site_name(&log, 0xb, "norm", "/src/norm.c", 7);
    log_put_stat(&log, SG_OPERATION_BARRIER, 1, 0, 10, 0, 4000);
    log_put_stat(&log, SG_OPERATION_REDUCE, 1, 0, 2, 16, 100);
    put_ibarrier(&log, 1, 50);
    fabricate_function(&log, 0, "MPI_Send");
    log_put_profile_comm(&log, 1, 2, "MPI_COMM_WORLD");
    log_put_profile_comm(&log, 2, 2, "row");
    struct sg_record_profile send = log_profile(1, 1, 0, TIMES(100, 300));
    send.sent_bytes = 16;
    put_profile(&log, send);
    send = log_profile(1, 2, 0, TIMES(500));
    send.sent_bytes = 64;
    put_profile(&log, send);
    log_put_peer(&log, 1, 1, 2, 16, 0, 0);
    log_put_peer(&log, 2, 1, 1, 64, 0, 0);
    log_put_target(&log, 2, 0, 5, 50, 6, 60);
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
    log_put_peer(&log, 4, 1, 0, 0, 3, 4096);
    log_put_target(&log, 4, 1, 1, 8, 0, 0);
    log_put_target(&log, 4, 0, 2, 16, 3, 4096);
    log_put_target(&log, 4, 0, 1, 100, 0, 0);
    log_put_target(&log, 4, 2, 1, 1, 1, 1);
    log_put_stat(&log, SG_OPERATION_BARRIER, 7, 0, 10, 0, 6000);
    log_put_stat(&log, SG_OPERATION_REDUCE, 7, 0, 2, 16, 100);
    put_ibarrier(&log, 7, 51);
    fabricate_function(&log, 0, "MPI_Wait");
    fabricate_function(&log, 1, "MPI_Recv");
    fabricate_function(&log, 5, "MPI_Send");
    log_put_profile_comm(&log, 4, 2, "MPI_COMM_WORLD");
    fabricate_comm(&log, 0, 0, 0, 2, 0, "", NULL);
    fabricate_site(&log, 6, 0xb, module, "", 0x2000);
    fabricate_site(&log, 7, 0xa, module, "", 0x11c4);
    log_end(&log);
}

/* A communicator of ranks 1 and 0, in this order, in the log of a rank; the first has the members
 * if it is told to. */
static void put_swapped(struct fabricated *log, uint32_t rank, uint32_t index, bool is_told)
{
    static const uint32_t members[] = {1, 0};

    fabricate_profile_comm(log, index, 70 + index, 0, 2, 1 - rank, "swap",
                           rank == 1 && is_told ? members : NULL);
}

/* Rank 0 operates on, and sends to, itself and rank 1 on a communicator, and its log tells only who
 * itself is; of another one no log tells the members. Neither has a member 2. */
static void swapped(const char *directory)
{
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct fabricated log;

        log_begin(&log, directory, (int)rank, 2, SG_TRACE_STATS, SG_LOG_FINALIZED);
        log.header.counts_calls = 1;
        put_swapped(&log, rank, 3, true);
        log_put_peer(&log, 3, (int32_t)rank, 2, 500, 3, 7);
        log_put_peer(&log, 3, 2, 1, 9, 0, 0);
        if (rank == 0) {
            put_swapped(&log, rank, 4, false);
            log_put_target(&log, 3, 0, 2, 200, 0, 0);
            log_put_target(&log, 3, 1, 1, 30, 0, 0);
            log_put_target(&log, 3, 2, 1, 4, 0, 0);
            log_put_target(&log, 4, 0, 1, 1, 0, 0);
            log_put_target(&log, 4, 1, 1, 6, 0, 0);
            log_put_peer(&log, 4, 0, 1, 20, 0, 0);
        }
        log_end(&log);
    }
}

#define MS 1000000
/* Two of three ranks that MMDS followed for 20 ms each, of which rank 1 is without 2 ms: there
 * recording was off, and a second thread was in a call for 3 ms. They number functions differently.
 */
static void mmds(const char *directory)
{
    for (uint32_t rank = 0; rank < 3; rank++) {
        uint32_t function = 4 * rank;
        struct fabricated log;

        log_begin(&log, directory, (int)rank, 3, SG_TRACE_STATS, SG_LOG_FINALIZED);
        log.header.counts_calls = 1;
        if (rank == 2) {
            log_end(&log);
            continue;
        }
        log.header.finalize_begin_ns = log.header.init_end_ns + 20 * MS;
        struct sg_record_profile sent = log_profile(1, 1, function, TIMES(1000, 3000, 2000, 2000));
        sent.completed = 3;
        sent.latency_ns = 6 * MS;
        sent.latency_min_ns = MS;
        sent.latency_max_ns = 3 * MS;
        struct sg_record_profile waited =
            log_profile(1, 0, function + 1, TIMES(MS / 2, 5 * MS / 2));
        struct sg_record_profile other = log_profile(1, 1, function + 2, TIMES(2 * MS, 4 * MS));
        fabricate_comm(&log, 0, 0, 0, 3, 0, "MPI_COMM_WORLD", NULL);
        fabricate_site(&log, 1, 0x0a0b0c0d, module, "", 0x2200);
        log_put_stat(&log, SG_OPERATION_BARRIER, 1, 0, 2, 0, MS);
        fabricate_function(&log, function, "MPI_Isend");
        fabricate_function(&log, function + 1, "MPI_Waitall");
        fabricate_function(&log, function + 2, "MPI_Sendrecv");
        log_put_profile_comm(&log, 1, 3, "MPI_COMM_WORLD");
        log_put(&log, &sent, sizeof sent);
        log_put(&log, &waited, sizeof waited);
        log_put(&log, &other, sizeof other);
        log_put_distribution(&log, SG_DISTRIBUTION_GRANULARITY, 0, 0,
                             TIMES(MS, MS, 2 * MS, MS, MS, 2 * MS, (2 - (uint64_t)rank) * 2 * MS));
        log_put_distribution(&log, SG_DISTRIBUTION_OVERHEAD, 0, 0,
                             TIMES(MS / 2, MS / 2, MS / 2, 5 * MS / 2, 2 * MS, 2 * MS));
        log_put_distribution(&log, SG_DISTRIBUTION_LATENCY, 0, function + 1,
                             TIMES(MS / 2, 5 * MS / 2));
        log_put_distribution(&log, SG_DISTRIBUTION_LATENCY, 0, function + 2, TIMES(2 * MS, 4 * MS));
        log_put_distribution(&log, SG_DISTRIBUTION_BYTES, 0, function + 2, TIMES(8, 4096));
        if (rank == 1)
            log_put_distribution(&log, SG_DISTRIBUTION_OVERHEAD, 1, 0, TIMES(3 * MS));
        log_end(&log);
    }
}

/* Slices of 250 us at two nodes, of which the first has two ranks that wrote them; every third one
 * runs a barrier. A communicator without slices and slices of one that is not there are left
 * out. */
static void slices(const char *directory)
{
    for (int rank = 0; rank < 3; rank++) {
        uint32_t node = rank == 2;
        struct fabricated log;

        log_begin(&log, directory, rank, 3, SG_TRACE_STATS, SG_LOG_FINALIZED);
        log.header.counts_calls = 1;
        fabricate_comm(&log, (uint32_t)rank, 0, 0, 3, 0, "MPI_COMM_WORLD", NULL);
        fabricate_comm(&log, 3, 0, 1, 3, 0, "plain", NULL);
        log_put_slice(&log, 9, node, &(struct sg_slice){.number = 100, .first = UINT32_MAX});
        for (uint64_t number = 100; number < 109; number++) {
            struct sg_slice slice = {.number = number,
                                     .begin_ns = number * 250000 + node * 3000,
                                     .first = number % 3 == 0 ? (uint32_t)number / 3 : UINT32_MAX};

            if (rank < 2 && (number % 2 == 0) != (rank == 0))
                continue;
            sg_slice_put(&slice, SG_SLICE_LETTS, 250000 + number % 3 * 1000);
            sg_slice_put(&slice, SG_SLICE_LTTS, 2000 + node * 100);
            sg_slice_put(&slice, SG_SLICE_NCOLLDEM, number % 3 == 0);
            sg_slice_put(&slice, SG_SLICE_NCOLLMSM, number % 3 == 0);
            if (number % 3 == 0)
                sg_slice_put(&slice, SG_SLICE_LTR4, 1500);
            if (node == 0) {
                sg_slice_put(&slice, SG_SLICE_GETTS, 250000 + number % 3 * 1000);
                sg_slice_put(&slice, SG_SLICE_GTTS, 9000);
                sg_slice_put(&slice, SG_SLICE_USRTS, 0);
            }
            log_put_slice(&log, (uint32_t)rank, node, &slice);
        }
        if (rank == 2)
            log_put_slice_sum(&log, 2, 1, 10, SG_SLICE_LTTS, 4100);
        log_end(&log);
    }
}

/* Damaged: some are as far apart as a word holds; of a chart up to their 95th percentile and a
 * quarter more, the end is 0 then. */
static void far_slices(const char *directory)
{
    struct fabricated log;

    log_begin(&log, directory, 0, 1, SG_TRACE_STATS, SG_LOG_FINALIZED);
    log.header.counts_calls = 1;
    fabricate_comm(&log, 0, 0, 0, 1, 0, "MPI_COMM_WORLD", NULL);
    for (uint64_t number = 0; number < 9; number++) {
        struct sg_slice slice = {.number = number, .first = UINT32_MAX};

        sg_slice_put(&slice, SG_SLICE_GETTS, number == 0 ? 0 : (UINT64_MAX - 40) / 5 * 4 + 1);
        log_put_slice(&log, 0, 0, &slice);
    }
    log_end(&log);
}

static void statistics(const char *directory)
{
    logs(directory, SG_TRACE_STATS, SG_LOG_FINALIZED);
}

static void killed_statistics(const char *directory)
{
    logs(directory, SG_TRACE_STATS, SG_LOG_RUNNING);
}

static void unrecovered(const char *directory)
{
    logs(directory, SG_TRACE_OTF2, SG_LOG_RUNNING);
}

static const struct {
    const char *name;
    void (*write)(const char *directory);
} kinds[] = {
    {"known", whole},
    {"foreign", foreign},
    {"without-events", without_events},
    {"without-collectives", without_collectives},
    {"many", many},
    {"many-comms", many_comms},
    {"long", longer},
    {"short", shorter},
    {"without-data", without_data},
    {"statistics", statistics},
    {"all-calls", all_calls},
    {"swapped", swapped},
    {"mmds", mmds},
    {"slices", slices},
    {"far-slices", far_slices},
    {"killed-statistics", killed_statistics},
    {"unrecovered", unrecovered},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(argv[1], kinds[i].name) == 0) {
            kinds[i].write(argv[2]);
            return 0;
        }
    }
    fprintf(stderr, "usage: make_archive KIND DIRECTORY\n");
    return 2;
}
