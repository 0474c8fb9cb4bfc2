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

static void logs(const char *directory, enum sg_trace_mode mode, enum sg_log_state state)
{
    static const char module[] = "/opt/cg\0";
    static const char name[] = "solve\0/home/user/src/solver.c";

    for (int rank = 0; rank < 2; rank++) {
        struct log_writer log;

        log_begin(&log, directory, rank, 2, mode, state);
        log_put_comm(&log, 0, 0, 0, 2, "MPI_COMM_WORLD");
        log_put_site(&log, 1, 0x3f2a9c1b, 0x11c4, module, sizeof module);
        if (rank == 0)
            log_put_name(&log, 0x3f2a9c1b, 88, name, sizeof name);
        log_put_stat(&log, SG_OPERATION_BARRIER, 1, 0, 10, 0, 4000);
        log_end(&log);
    }
}

/* Two ranks that send each other messages, with the statistics of all calls. */
static void all_calls(const char *directory)
{
    static const char module[] = "/opt/cg\0";
    static const char name[] = "exchange\0/home/user/src/halo.c";
    static const uint64_t times_ns[] = {400, 600, 2000};

    for (int rank = 0; rank < 2; rank++) {
        struct sg_record_profile sent = log_profile(2, 1, 0, 3, times_ns);
        struct sg_record_profile waited = log_profile(2, 0, 1, 1 + rank, times_ns);
        struct log_writer log;

        sent.sent_bytes = 3 << 10;
        sent.completed = 3;
        sent.latency_ns = 12000;
        waited.failed = (uint64_t)rank;
        log_begin(&log, directory, rank, 2, SG_TRACE_STATS, SG_LOG_FINALIZED);
        log_put_comm(&log, 0, 0, 0, 2, "MPI_COMM_WORLD");
        log_put_site(&log, 1, 0x3f2a9c1b, 0x11c4, module, sizeof module);
        log_put_site(&log, 2, 0x0a0b0c0d, 0x2200, module, sizeof module);
        log_put_name(&log, 0x0a0b0c0d, 31, name, sizeof name);
        log_put_stat(&log, SG_OPERATION_ALLREDUCE, 1, 0, 10, 80, 4000);
        log_put_function(&log, 0, "MPI_Isend");
        log_put_function(&log, 1, "MPI_Wait");
        log_put_profile_comm(&log, 1, 2, "MPI_COMM_WORLD");
        log_put(&log, &sent, sizeof sent);
        log_put(&log, &waited, sizeof waited);
        log_put_peer(&log, 1, 1 - rank, 3, 3 << 10, 3, 3 << 10);
        log_end(&log);
    }
}

#define MS 1000000
#define VALUES(...)                                                                                \
    sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[])                             \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* Two ranks that MMDS followed for 20 ms each, of which rank 1 is without 2 ms: there recording was
 * off, and a second thread was in a call for 3 ms. */
static void mmds(const char *directory)
{
    static const char module[] = "/opt/cg\0";

    for (int rank = 0; rank < 2; rank++) {
        struct log_writer log;

        log_begin(&log, directory, rank, 2, SG_TRACE_STATS, SG_LOG_FINALIZED);
        log.header.finalize_begin_ns = log.header.init_end_ns + 20 * MS;
        struct sg_record_profile sent = log_profile(1, 1, 0, VALUES(1000, 3000, 2000, 2000));
        sent.completed = 3;
        sent.latency_ns = 6 * MS;
        sent.latency_min_ns = MS;
        sent.latency_max_ns = 3 * MS;
        struct sg_record_profile waited = log_profile(1, 0, 1, VALUES(MS / 2, 5 * MS / 2));
        struct sg_record_profile other = log_profile(1, 1, 2, VALUES(2 * MS, 4 * MS));
        log_put_comm(&log, 0, 0, 0, 2, "MPI_COMM_WORLD");
        log_put_site(&log, 1, 0x0a0b0c0d, 0x2200, module, sizeof module);
        log_put_stat(&log, SG_OPERATION_BARRIER, 1, 0, 2, 0, MS);
        log_put_function(&log, 0, "MPI_Isend");
        log_put_function(&log, 1, "MPI_Waitall");
        log_put_function(&log, 2, "MPI_Sendrecv");
        log_put_profile_comm(&log, 1, 2, "MPI_COMM_WORLD");
        log_put(&log, &sent, sizeof sent);
        log_put(&log, &waited, sizeof waited);
        log_put(&log, &other, sizeof other);
        log_put_distribution(&log, SG_DISTRIBUTION_GRANULARITY, 0, 0,
                             VALUES(MS, MS, 2 * MS, MS, MS, 2 * MS, (2 - (uint64_t)rank) * 2 * MS));
        log_put_distribution(&log, SG_DISTRIBUTION_OVERHEAD, 0, 0,
                             VALUES(MS / 2, MS / 2, MS / 2, 5 * MS / 2, 2 * MS, 2 * MS));
        log_put_distribution(&log, SG_DISTRIBUTION_LATENCY, 0, 1, VALUES(MS / 2, 5 * MS / 2));
        log_put_distribution(&log, SG_DISTRIBUTION_LATENCY, 0, 2, VALUES(2 * MS, 4 * MS));
        log_put_distribution(&log, SG_DISTRIBUTION_BYTES, 0, 2, VALUES(8, 4096));
        if (rank == 1)
            log_put_distribution(&log, SG_DISTRIBUTION_OVERHEAD, 1, 0, VALUES(3 * MS));
        log_end(&log);
    }
}

/* Slices of 250 us at two nodes, of which the first has two ranks that wrote them; every third one
 * runs a barrier. */
static void slices(const char *directory)
{
    for (int rank = 0; rank < 3; rank++) {
        uint32_t node = rank == 2;
        struct log_writer log;

        log_begin(&log, directory, rank, 3, SG_TRACE_STATS, SG_LOG_FINALIZED);
        log.header.counts_calls = 1;
        log_put_comm(&log, (uint32_t)rank, 0, 0, 3, "MPI_COMM_WORLD");
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
    struct log_writer log;

    log_begin(&log, directory, 0, 1, SG_TRACE_STATS, SG_LOG_FINALIZED);
    log.header.counts_calls = 1;
    log_put_comm(&log, 0, 0, 0, 1, "MPI_COMM_WORLD");
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
