/* A run of four ranks whose report is worked out by hand.
 *
 * Rank r enters MPI_Init at 100 r and leaves MPI_Finalize at 100000 + 100 r: each runs 100000 ns.
 * Ranks 1 and 2 have clocks of their own. `half` has the ranks 2, 0 in this order; rank 0 calls on
 * it from its second thread, so that there are 500000 ns of processor time.
 *
 * Call sites: A named in full, B without a file, C with bytes that are not UTF-8 and a control
 * character, D known by its module only.
 *
 *   instance        site  B by rank                    E by rank                    last  skew
 *   world 0 barrier A     2000  3000  5000  4000       5100  5200  5050  5300       2     3000
 *     max B 5000, min E 5050: wait 3000+2000+0+1000 = 6000, completion 50+150+0+250 = 450,
 *     blocked 3100+2200+50+1300 = 6650
 *   world 1 barrier A     10000 10500 11000 10200      11100 11100 11100 11100      2     1000
 *     wait 1000+500+0+800 = 2300, blocked 1100+600+100+900 = 2700
 *   world 2 barrier A     20000 26000 20000 20000      26100 26100 26100 26100      1     6000
 *     wait 3 * 6000 = 18000, blocked 6100+100+6100+6100 = 18400
 *   world 3 reduce to 1   30000 29000 31000 29500      30100 31200 31100 29600      2     2000
 *     of 64 bytes; root 1 at C, the others at B: B's instance by majority.
 *     root waits min(31000, 31200) - 29000 = 2000, blocked 100+2200+100+100
 *   world 4 reduce to 1   40000 39000 42000 39000      40050 39500 42050 39050      2     3000
 *     as before but `bypass`, and the root leaves before its senders come: it waits
 *     min(42000, 39500) - 39000 = 500 and avoids 42000 - 39500 = 2500; blocked 50+500+50+50
 *   half 0 allreduce      rank 2 at D: 50000..51900    rank 0 at A: 52000..52100    0     2000
 *     of 8 bytes; one member each: the instance is D's, the site of half's rank 0 (world rank 2).
 *     Rank 2 leaves 100 before rank 0 enters: a clock violation.
 *     late = min(52000, 51900) = 51900 for rank 2: wait 1900; rank 0: wait 0,
 *     completion 52100 - max(51900, 52000) = 100; blocked 1900 and 100
 *   self 0, 1 allreduce D rank 3: 60000..60010, 60100..60130, of 16 bytes each: blocked 40
 *   world 5 barrier A     ranks 0 and 1 only: never complete, 2 calls dropped
 *
 *   rows                 calls bytes wait  blocked completion  skews
 *   A barrier   world    12    0     26300 27750   450         1000 3000 6000
 *   B reduce    world    6     384   0     450     0           2000 3000
 *   C reduce    world    2     128   2500  2700    0           none of its own
 *   D allreduce half     1     8     1900  1900    0           2000
 *   A allreduce half     1     8     0     100     100         none of its own
 *   D allreduce self     2     32    0     40      0           0 0
 *                              wait: 30700 blocked: 32940
 *   blocked by rank: 3100+1100+6100+100+50+100 = 10550, 2200+600+100+2200+500 = 5600,
 *                    50+100+6100+100+50+1900 = 8300, 1300+900+6100+100+50+10+30 = 8490
 */
#ifndef SG_TESTS_REPORT_KNOWN_H
#define SG_TESTS_REPORT_KNOWN_H

#include "report/archive.h"

#define KNOWN_A "solve_the_system (/home/user/src/solver.c:88) [cg+0x11c4] #3f2a9c1b"
#define KNOWN_B "norm [cg+0x2000] #0000beef"
#define KNOWN_C "f\xff\x1b (dir/na\xefme,\"x\".c:7) [lib.so+0x30] #00000c0c"
#define KNOWN_D "[lib.so+0x20] #00000d0d"

struct known_times {
    uint64_t begin_ns, end_ns;
};

static inline void known_add(struct archive *archive, struct archive_call call)
{
    if (archive->call_count == ARCHIVE_CALLS_MAX)
        abort();
    archive->calls[archive->call_count++] = call;
}

static inline void known_barrier(struct archive *archive, uint64_t seq, int members,
                                 const struct known_times *times)
{
    for (int rank = 0; rank < members; rank++)
        known_add(archive, (struct archive_call){.rank = rank,
                                                 .operation = SG_OPERATION_BARRIER,
                                                 .comm = ARCHIVE_WORLD,
                                                 .seq = seq,
                                                 .begin_ns = times[rank].begin_ns,
                                                 .end_ns = times[rank].end_ns,
                                                 .site = KNOWN_A,
                                                 .algorithm = "mpich",
                                                 .nested = rank == 2});
}

static inline void known_reduce(struct archive *archive, uint64_t seq, const char *algorithm,
                                const struct known_times *times)
{
    bool bypass = strcmp(algorithm, "bypass") == 0;

    for (int rank = 0; rank < 4; rank++)
        known_add(archive, (struct archive_call){.rank = rank,
                                                 .operation = SG_OPERATION_REDUCE,
                                                 .comm = ARCHIVE_WORLD,
                                                 .seq = seq,
                                                 .begin_ns = times[rank].begin_ns,
                                                 .end_ns = times[rank].end_ns,
                                                 .bytes = 64,
                                                 .root = 1,
                                                 .site = rank == 1 ? KNOWN_C : KNOWN_B,
                                                 .algorithm = algorithm,
                                                 .early = bypass && rank == 1 ? 1 : 0,
                                                 .late = bypass && rank == 1 ? 2 : 0,
                                                 .signals = bypass && rank == 1 ? 3 : 0});
}

static inline void known_allreduce(struct archive *archive, enum archive_comm comm, uint64_t seq,
                                   int rank, uint64_t bytes, const char *site,
                                   struct known_times times)
{
    known_add(archive, (struct archive_call){.rank = rank,
                                             .thread = comm == ARCHIVE_HALF && rank == 0,
                                             .operation = SG_OPERATION_ALLREDUCE,
                                             .comm = comm,
                                             .seq = seq,
                                             .begin_ns = times.begin_ns,
                                             .end_ns = times.end_ns,
                                             .bytes = bytes,
                                             .site = site,
                                             .algorithm = "mpich"});
}

static inline void known_run(struct archive *archive)
{
    *archive = (struct archive){.ranks = 4,
                                .ticks_per_ns = 1,
                                .offset_ns = {0, 5000000, -3000000, 0},
                                .offset_error_ticks = {0, 40, 70, 0},
                                .half = {2, 0},
                                .half_size = 2,
                                .partial = "0",
                                .dropped = "0",
                                .program = "cg"};
    for (uint64_t rank = 0; rank < 4; rank++) {
        archive->init_ns[rank] = 100 * rank;
        archive->finalize_ns[rank] = 100000 + 100 * rank;
    }
    known_barrier(archive, 0, 4,
                  (struct known_times[]){{2000, 5100}, {3000, 5200}, {5000, 5050}, {4000, 5300}});
    known_barrier(
        archive, 1, 4,
        (struct known_times[]){{10000, 11100}, {10500, 11100}, {11000, 11100}, {10200, 11100}});
    known_barrier(
        archive, 2, 4,
        (struct known_times[]){{20000, 26100}, {26000, 26100}, {20000, 26100}, {20000, 26100}});
    known_reduce(
        archive, 3, "mpich",
        (struct known_times[]){{30000, 30100}, {29000, 31200}, {31000, 31100}, {29500, 29600}});
    known_reduce(
        archive, 4, "bypass",
        (struct known_times[]){{40000, 40050}, {39000, 39500}, {42000, 42050}, {39000, 39050}});
    known_allreduce(archive, ARCHIVE_HALF, 0, 2, 8, KNOWN_D, (struct known_times){50000, 51900});
    known_allreduce(archive, ARCHIVE_HALF, 0, 0, 8, KNOWN_A, (struct known_times){52000, 52100});
    known_allreduce(archive, ARCHIVE_SELF, 0, 3, 16, KNOWN_D, (struct known_times){60000, 60010});
    known_allreduce(archive, ARCHIVE_SELF, 1, 3, 16, KNOWN_D, (struct known_times){60100, 60130});
    known_barrier(archive, 5, 2, (struct known_times[]){{70000, 70100}, {70000, 70100}});
}

#endif
