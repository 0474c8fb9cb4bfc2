/* Two runs of two ranks, whose comparison is worked out by hand.
 *
 * Barrier at A, 16 instances of 10000 ns each (round r at 10000 r):
 *   run a   B 1000 1400   E 1500 1500    wait 400 + 0, blocked 500 + 100
 *   run b   B 1000 1100   E 1300 1300    wait 100 + 0, blocked 300 + 200
 *   per call: blocked 300 -> 250, wait 200 -> 50, processor as blocked
 * Reduce to rank 0 at B, 16 instances:
 *   run a   B 3000 3100   E 3200 3150    the root waits 100; blocked 200 + 50
 *   run b   the same in even rounds; in odd ones the root leaves at 3100: blocked 100 + 50
 *   per call: blocked 125 -> 100, wait 50 -> 50
 * Allreduce, 4 instances, at C in run a and at D in run b: one is only in a, one only in b.
 *   blocked 30 + 30 each
 */
#ifndef SG_TESTS_COMPARE_PAIR_H
#define SG_TESTS_COMPARE_PAIR_H

#include "report/archive.h"

#define PAIR_A "solve (/home/user/src/solver.c:88) [cg+0x11c4] #0000000a"
#define PAIR_A_BUILT_ANEW "solve (/home/user/src/solver.c:88) [cg+0x1234] #0000aaaa"
#define PAIR_B "norm (/home/user/src/solver.c:120) [cg+0x2000] #0000000b"
#define PAIR_C "</script><script>alert(1)</script> \"\xce\xbb\" (a&b.c:7) [cg+0x3000] #0000000c"
#define PAIR_D "\"quoted\" (d'.c:8) [cg+0x4000] #0000000d"
#define PAIR_ROUNDS 16

static inline void pair_add(struct archive *archive, int rank, enum sg_operation operation,
                            uint64_t seq, uint64_t begin_ns, uint64_t end_ns, const char *site)
{
    if (archive->call_count == ARCHIVE_CALLS_MAX)
        abort();
    archive->calls[archive->call_count++] =
        (struct archive_call){.rank = rank,
                              .operation = operation,
                              .comm = ARCHIVE_WORLD,
                              .seq = seq,
                              .begin_ns = begin_ns,
                              .end_ns = end_ns,
                              .bytes = operation == SG_OPERATION_BARRIER ? 0 : 8,
                              .site = site,
                              .algorithm = "mpich"};
}

/* run: 0 or 1. a_site: call site of the barrier. */
static inline void pair_run(struct archive *archive, int run, const char *a_site)
{
    uint64_t seq = 0;

    *archive = (struct archive){.ranks = 2,
                                .ticks_per_ns = 1,
                                .half_size = 1,
                                .partial = "0",
                                .dropped = "0",
                                .program = run == 0 ? "cg" : "cg <b>"};
    for (int rank = 0; rank < 2; rank++)
        archive->finalize_ns[rank] = 10000 * PAIR_ROUNDS;
    for (uint64_t round = 0; round < PAIR_ROUNDS; round++) {
        uint64_t at = 10000 * round;
        bool short_root = run == 1 && round % 2 == 1;

        pair_add(archive, 0, SG_OPERATION_BARRIER, seq, at + 1000, at + (run == 0 ? 1500 : 1300),
                 a_site);
        pair_add(archive, 1, SG_OPERATION_BARRIER, seq++, at + (run == 0 ? 1400 : 1100),
                 at + (run == 0 ? 1500 : 1300), a_site);
        pair_add(archive, 0, SG_OPERATION_REDUCE, seq, at + 3000, at + (short_root ? 3100 : 3200),
                 PAIR_B);
        pair_add(archive, 1, SG_OPERATION_REDUCE, seq++, at + 3100, at + 3150, PAIR_B);
        for (int rank = 0; rank < 2 && round % 4 == 0; rank++)
            pair_add(archive, rank, SG_OPERATION_ALLREDUCE, seq, at + 5000, at + 5030,
                     run == 0 ? PAIR_C : PAIR_D);
        seq += round % 4 == 0;
    }
}

#endif
