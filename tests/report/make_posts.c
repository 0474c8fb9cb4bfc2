/* make_posts KIND DIRECTORY: writes logs of two ranks with nonblocking collectives, late
 * contributions, and figures of the log's header, for tests/report/report.sh. */
#include "trace/fabricate.h"

enum { BARRIER, REDUCE, ALLREDUCE, BCAST };
enum { SELF = 1, ROW = 2, WORLD_PROFILE = 1, ROW_PROFILE = 3 };

/* 3 calls of 600 ns are timed, and a long one; ranks on a quota yield 30 times for 50 ns and sleep
 * 6 times for 1000 ns. */
static void begin(struct fabricated *log, int rank, enum sg_trace_mode mode)
{
    uint64_t times = (uint64_t)rank + 1;

    fabricate_start(log, rank, 2);
    log->header.trace_mode = mode;
    log->header.finalize_begin_ns = 8000;
    log->header.overhead_calls = times;
    log->header.overhead_ns = rank == 0 ? 100 : 500;
    log->header.overhead_long_calls = (uint64_t)rank;
    log->header.wait_mode = 1 + SG_WAIT_SLEEP;
    log->header.wait_ranks = 2;
    log->header.wait_processors = 8;
    log->header.wait_quota = 1;
    strcpy(log->header.wait_hook, "ucx");
    log->header.yields = times * 10;
    log->header.yield_ns = times * 500;
    log->header.sleeps = times * 2;
    log->header.sleep_ns = times * 2000;
    for (uint32_t site = 1; site < 4; site++)
        fabricate_site(log, site, 9 + site, "/opt/bin/cg", "", 0x10 * (uint64_t)site);
}

static void put_post(struct fabricated *log, int operation, uint32_t seq, uint64_t begin_ns,
                     uint32_t start_ns, uint64_t exposed_ns, uint64_t end_ns)
{
    static const uint32_t sites[] = {[BARRIER] = 3, [REDUCE] = 2, [ALLREDUCE] = 1, [BCAST] = 1};
    struct sg_record_nonblocking *post =
        fabricate_nonblocking(log, operation, 0, seq, begin_ns, start_ns, exposed_ns, end_ns);

    post->site = sites[operation];
    post->bytes = operation == BARRIER ? 0 : 8 * (uint64_t)operation;
    post->root = operation == REDUCE ? 1 : operation == BCAST ? 0 : -1;
}

static struct sg_record_call *put_call(struct fabricated *log, int operation, uint32_t comm,
                                       uint32_t seq, uint64_t begin_ns, uint64_t end_ns)
{
    struct sg_record_call *call = fabricate_call(log, operation, comm, seq, begin_ns, end_ns);

    call->site = 1;
    call->bytes = 8 * (uint64_t)operation;
    call->root = operation == REDUCE ? comm != ROW : -1;
    return call;
}

static struct sg_record_late *put_late(struct fabricated *log, uint32_t comm, uint32_t seq,
                                       uint64_t begin_ns, uint64_t end_ns)
{
    struct sg_record_late *late = fabricate_late(log, begin_ns, end_ns);

    late->site = 1;
    late->comm = comm;
    late->seq = seq;
    late->child = 1;
    return late;
}

/* Site a: an iallreduce that rank 1 posts 1000 late, an allreduce, an ibcast from rank 0, and an
 * iallreduce of rank 0 alone; site b: an ireduce to rank 1, which something is late for on rank 0;
 * site c: an ibarrier that rank 0 never completes, and one that is whole.
 *
 * The figures of rank 0 and rank 1, and of the arrivals:
 *
 *        begin      post   exposed  end        hidden
 *   a 0  2000 3000  50 60  300 20   3500 3400  1150 320  exposed after rank 1's post; avoided 650
 *   b 1  4000 3600  10 20  5 500    4100 4200  85 80     the root's wait 300
 *   a 2  5000 5050 until 5100: wait 50, blocked 150
 *   c 4  7000 7000  1 2    0 98     7100 7100  99 0
 *   a 5  7500 7200  5 5    0 200    7520 7600  15 195    rank 1's wait 300, 100 of it exposed
 *   self 7700       50     100      7900       50
 */
static void posts(struct fabricated *log, int rank)
{
    begin(log, rank, SG_TRACE_OTF2);
    if (rank == 0) {
        put_post(log, ALLREDUCE, 0, 2000, 50, 300, 3500);
        put_post(log, REDUCE, 1, 4000, 10, 5, 4100);
        struct sg_record_late *late = put_late(log, 0, 1, 4050, 4080);
        late->site = 2;
        late->avoided_ns = 77;
        put_call(log, ALLREDUCE, 0, 2, 5000, 5100);
        put_post(log, BARRIER, 3, 6000, 10, 20, 0);
        put_post(log, BARRIER, 4, 7000, 1, 0, 7100);
        put_post(log, BCAST, 5, 7500, 5, 0, 7520);
        fabricate_nonblocking(log, ALLREDUCE, SELF, 0, 7700, 50, 100, 7900)->site = 1;
    } else {
        put_post(log, ALLREDUCE, 0, 3000, 60, 20, 3400);
        put_post(log, REDUCE, 1, 3600, 20, 500, 4200);
        put_call(log, ALLREDUCE, 0, 2, 5050, 5100);
        put_post(log, BARRIER, 3, 6000, 10, 20, 6100);
        put_post(log, BARRIER, 4, 7000, 2, 98, 7100);
        put_post(log, BCAST, 5, 7200, 5, 200, 7600);
    }
}

/* Blocked and hidden time of posts, and the counts of handlers, of which rank 0 has all. */
static void statistics(struct fabricated *log, int rank)
{
    begin(log, rank, SG_TRACE_STATS);
    struct sg_record_stat *stat = fabricate_stat(log, ALLREDUCE, 1, 0, 10);
    stat->nonblocking = 1;
    stat->bytes = 160;
    stat->blocked_ns = 1000;
    stat->hidden_ns = 4000;
    stat->outstanding_max = rank == 0 ? 8 : 5;
    stat->handler_ns = 30;
    if (rank == 0) {
        stat->early = 1;
        stat->late = 2;
        stat->signals = 3;
        stat->ignored = 4;
        stat->stalls = 5;
        stat->moves = 6;
        stat->repeats = 7;
    }
    stat = fabricate_stat(log, ALLREDUCE, 1, 0, 3);
    stat->bytes = 48;
    stat->blocked_ns = 700;
}

/* An archive that lacks two events, with statistics: blocked and hidden time are of all calls,
 * exposed time of those in the events. */
static void both(struct fabricated *log, int rank)
{
    begin(log, rank, SG_TRACE_OTF2);
    log->header.dropped_events = 2;
    put_post(log, ALLREDUCE, 0, 2000 + 100 * (uint64_t)rank, 50, 300, 3500);
    struct sg_record_stat *stat = fabricate_stat(log, ALLREDUCE, 1, 0, 3);
    stat->nonblocking = 1;
    stat->blocked_ns = 1000;
    stat->hidden_ns = 4000;
}

/* Rank 0 leaves its first reduce at 2050. Contributions to it come at 2500 and 2700, and within
 * the second a third one is handled; rank 1, the root, waits from 2100 on. A fourth is of a call
 * that is in no instance. Rank 0 then has every count in its second reduce: early 1 to
 * outstanding 8. */
static void handled(struct fabricated *log, int rank)
{
    begin(log, rank, SG_TRACE_OTF2);
    if (rank == 1) {
        put_call(log, REDUCE, 0, 0, 2100, 2760);
        put_call(log, REDUCE, 0, 1, 2800, 2900);
        return;
    }
    put_call(log, REDUCE, 0, 0, 2000, 2050)->outstanding = 3;
    put_late(log, 0, 0, 2500, 2540)->avoided_ns = 450;
    put_late(log, 0, 0, 2700, 2750)->avoided_ns = 200;
    put_late(log, 0, 0, 2710, 2720);
    struct sg_record_late *odd = put_late(log, 0, 0, 2780, 2790);
    odd->site = 2;
    odd->avoided_ns = 5;
    struct sg_record_call *call = put_call(log, REDUCE, 0, 1, 2800, 2850);
    call->early = 1;
    call->late = 2;
    call->signals = 3;
    call->ignored = 4;
    call->stalls = 5;
    call->moves = 6;
    call->repeats = 7;
    call->outstanding = 8;
}

/* Three reduces to rank 0 on a communicator made of the world. Rank 0 returns before rank 1 comes
 * to the first and the second: a signal brings the first contribution, the next call the second. */
static void ahead(struct fabricated *log, int rank)
{
    static const uint32_t members[] = {0, 1};

    begin(log, rank, SG_TRACE_OTF2);
    fabricate_profile_comm(log, WORLD_PROFILE, 50, 0, 2, (uint32_t)rank, "MPI_COMM_WORLD", members);
    fabricate_profile_comm(log, ROW_PROFILE, 60, 0, 2, (uint32_t)rank, "row", members)->parent =
        WORLD_PROFILE;
    fabricate_comm(log, ROW, 0, 2, 2, (uint32_t)rank, "row", members)->profile_comm = ROW_PROFILE;
    if (rank == 0) {
        put_call(log, REDUCE, ROW, 0, 2000, 2100)->executed = 1;
        put_late(log, ROW, 0, 3050, 3060)->by_signal = true;
        put_call(log, REDUCE, ROW, 1, 4000, 4100)->executed = 1;
        put_late(log, ROW, 1, 6000, 6010);
        put_call(log, REDUCE, ROW, 2, 6000, 6300)->executed = 1;
    } else {
        put_call(log, REDUCE, ROW, 0, 3000, 3040)->executed = 1;
        put_call(log, REDUCE, ROW, 1, 5000, 5040)->executed = 1;
        put_call(log, REDUCE, ROW, 2, 6200, 6240)->executed = 1;
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*put)(struct fabricated *log, int rank);
    } kinds[] = {{"posts", posts},
                 {"post-statistics", statistics},
                 {"both", both},
                 {"handled", handled},
                 {"ahead", ahead}};

    for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(argv[1], kinds[i].name) != 0)
            continue;
        for (int rank = 0; rank < 2; rank++) {
            struct fabricated log;

            kinds[i].put(&log, rank);
            fabricate_finish(&log, argv[2]);
        }
        return 0;
    }
    fputs("usage: make_posts KIND DIRECTORY\n", stderr);
    return 2;
}
