/* Runs with scripted arrivals, whose advice is worked out by hand.
 *
 * The machine (PLANTED_COSTS), in ns: between nodes L 5000, o 500, 1 a byte; inside a node L
 * 1000, o 200, 0.5 a byte; a step in shared memory 100, a wake-up 30000; 0.25 a byte copied, 0.5
 * folded.
 *
 * Each run repeats one call site's instance PLANTED_INSTANCES times.
 */
#ifndef SG_TESTS_ADVISE_PLANTED_H
#define SG_TESTS_ADVISE_PLANTED_H

#include "report/archive.h"

#define PLANTED_COSTS                                                                              \
    "latency_us=5 overhead_us=0.5 gap_ns_per_byte=1 inside_latency_us=1 inside_overhead_us=0.2 "   \
    "inside_gap_ns_per_byte=0.5 copy_ns_per_byte=0.25 reduce_ns_per_byte=0.5 signal_us=20 "        \
    "wake_us=30 local_us=0.1 processors=8 ranks=8"
#define PLANTED_INSTANCES 20
#define PLANTED_NS 10000000
#define PLANTED_SITE "solve (/home/user/src/solver.c:88) [cg+0x11c4] #0000000a"
#define PLANTED_OTHER "norm (/home/user/src/solver.c:120) [cg+0x2000] #0000000b"

static inline void planted_begin(struct archive *archive, int ranks)
{
    *archive = (struct archive){.ranks = ranks,
                                .ticks_per_ns = 1,
                                .half_size = 1,
                                .partial = "0",
                                .dropped = "0",
                                .program = "cg",
                                .calibration = PLANTED_COSTS,
                                .repeat = PLANTED_INSTANCES,
                                .repeat_ns = PLANTED_NS,
                                .repeat_seq = 1};
    for (int rank = 0; rank < ranks; rank++)
        archive->finalize_ns[rank] = (uint64_t)PLANTED_INSTANCES * PLANTED_NS;
}

/* Adds a call that arrives late_ns late and blocks for blocked_ns. The caller may change the
 * rest. */
static inline struct archive_call *planted_call(struct archive *archive, int rank,
                                                enum sg_operation operation, uint64_t late_ns,
                                                uint64_t blocked_ns, const char *algorithm)
{
    struct archive_call *call = &archive->calls[archive->call_count++];

    if (archive->call_count > ARCHIVE_CALLS_MAX)
        abort();
    *call = (struct archive_call){.rank = rank,
                                  .operation = operation,
                                  .comm = ARCHIVE_WORLD,
                                  .begin_ns = 1000 + late_ns,
                                  .end_ns = 1000 + late_ns + blocked_ns,
                                  .bytes = operation == SG_OPERATION_BARRIER ? 0 : 64,
                                  .site = PLANTED_SITE,
                                  .algorithm = algorithm};
    return call;
}

/* Two ranks of a node, the second 1000 late, under MPICH: for each an exchange of messages.
 *   mpich     0 leaves at 1000+200+1000+200, 1 after 200 for the message that was there and 200 for
 *             its own: blocked 2400 + 400, a call 1400
 *   handoff   0 leaves its arrival (100) and waits; 1 finds it (200); 0 sees the release 100 later:
 *             1300 + 200, a call 750
 *   srm       both leave when the last line is written and read: 1200 + 200, a call 700 */
static inline void planted_pair(struct archive *archive)
{
    planted_begin(archive, 2);
    planted_call(archive, 0, SG_OPERATION_BARRIER, 0, 2400, "mpich");
    planted_call(archive, 1, SG_OPERATION_BARRIER, 1000, 400, "mpich");
}

/* Eight machines, rank 5 always 1 ms late to a barrier by a tree of degree 8: it notifies rank 0
 * (500 + 5000 + 500), which releases all by a multicast (6000) after which it leaves itself (500).
 * Blocked are rank 5 for 12000, rank 0 for 1006500, the others for 1012000: together 7090500.
 * By adaptive the token is with rank 5, which releases all itself: nearly 6000 less for each. */
static inline void planted_late_rank(struct archive *archive)
{
    planted_begin(archive, 8);
    archive->machines = true;
    for (int rank = 0; rank < 8; rank++)
        planted_call(archive, rank, SG_OPERATION_BARRIER, rank == 5 ? 1000000 : 0,
                     rank == 5   ? 12000
                     : rank == 0 ? 1006500
                                 : 1012000,
                     "tree");
}

/* Four ranks of a node come to an allreduce in an order that differs from round to round, within
 * 900 ns of each other, under MPICH. */
static inline void planted_small_skew(struct archive *archive)
{
    static const int order[][4] = {{0, 1, 2, 3}, {2, 0, 3, 1}, {3, 2, 1, 0}, {1, 3, 0, 2}};

    planted_begin(archive, 4);
    archive->repeat_seq = 4;
    for (uint64_t round = 0; round < 4; round++) {
        for (int rank = 0; rank < 4; rank++) {
            uint64_t late_ns = 300 * (uint64_t)order[round][rank];
            struct archive_call *call = planted_call(archive, rank, SG_OPERATION_ALLREDUCE, late_ns,
                                                     900 - late_ns + 2500, "mpich");

            call->seq = round;
            call->begin_ns += 100000 * round;
            call->end_ns += 100000 * round;
        }
    }
}

/* Two ranks of a node, the second 5000 late to a broadcast of 64 bytes by the first, under MPICH:
 *   mpich     0 leaves after its send (200), 1 takes what was there (200, and twice 16 to copy it)
 *   srm       0 leaves when its slot is written (100 and 16), 1 copies it out (100 and 16) */
static inline void planted_broadcast(struct archive *archive)
{
    planted_begin(archive, 2);
    planted_call(archive, 0, SG_OPERATION_BCAST, 0, 200, "mpich");
    planted_call(archive, 1, SG_OPERATION_BCAST, 5000, 232, "mpich");
}

/* Eight machines, ranks 4 and 5 always 1 ms late to a broadcast of 64 bytes by rank 0. Under MPICH,
 * whose binomial tree has rank 4 send to 5 and 6, and 6 to 7, these two wait for it; by a tree of
 * degree 4 rank 6 waits for 5; by bypass nobody does. */
static inline void planted_late_inner(struct archive *archive)
{
    static const uint64_t blocked_ns[] = {1500, 6064, 6564, 12628, 2000, 1000, 1006564, 1012628};

    planted_begin(archive, 8);
    archive->machines = true;
    for (int rank = 0; rank < 8; rank++)
        planted_call(archive, rank, SG_OPERATION_BCAST, rank == 4 || rank == 5 ? 1000000 : 0,
                     blocked_ns[rank], "mpich");
}

/* Four machines; the root of a reduce comes 500 us after the others. By MPICH's binomial tree a
 * leaf blocks for its send (500), rank 2 for rank 3's message (500 + 5000 + 64 + 500 and 32 to fold
 * it, 500 to send it on, and what its own network interface takes), and nobody for the root. */
static inline void planted_late_root(struct archive *archive)
{
    static const uint64_t blocked_ns[] = {1200, 500, 7096, 500};

    planted_begin(archive, 4);
    archive->machines = true;
    for (int rank = 0; rank < 4; rank++)
        planted_call(archive, rank, SG_OPERATION_REDUCE, rank == 0 ? 500000 : 0, blocked_ns[rank],
                     "mpich");
}

#endif
