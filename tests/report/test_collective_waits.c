/* Tests wait states of collectives by hand: which rank waits where, for which other, and how
 * long. */
#include "report/tracked.h"

static void collective(uint32_t rank, enum sg_waitstate_pattern pattern, uint64_t seq,
                       uint32_t root)
{
    const struct sg_waitstate_collective of = {.pattern = pattern,
                                               .seq = seq,
                                               .size = RANKS,
                                               .member = rank,
                                               .root = root,
                                               .has_data = pattern != SG_PATTERN_BARRIER};

    need(sg_waitstate_collective(tracker, rank, &of));
}

/* Reports enters and leaves up to 500 in the order of time, and a rank's part when it leaves. */
static void in_order(const char *function, const struct sg_waitstate_collective of[RANKS],
                     const int64_t begin_ns[RANKS], const int64_t leave_ns[RANKS])
{
    begin();
    for (int64_t time_ns = 0; time_ns <= 500; time_ns++) {
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            if (begin_ns[rank] == time_ns)
                enter(rank, function, 10 + rank, time_ns);
            if (leave_ns[rank] == time_ns) {
                need(sg_waitstate_collective(tracker, rank, &of[rank]));
                leave(rank, time_ns);
            }
        }
    }
    finish();
}

/* Ranks 0, 1 and 3 enter at 100, 130 and 150, rank 2 last, at 180. */
static void all_ranks(const char *function, enum sg_waitstate_pattern pattern, uint32_t root,
                      const int64_t leave_ns[RANKS])
{
    static const int64_t begin_ns[RANKS] = {100, 130, 180, 150};
    struct sg_waitstate_collective of[RANKS];

    for (uint32_t rank = 0; rank < RANKS; rank++)
        of[rank] = (struct sg_waitstate_collective){
            .pattern = pattern, .size = RANKS, .member = rank, .root = root, .has_data = true};
    in_order(function, of, begin_ns, leave_ns);
}

TEST("in all-to-all operations every rank waits for the last")
{
    all_ranks("MPI_Alltoall", SG_PATTERN_NXN, 0, (const int64_t[RANKS]){500, 500, 500, 500});
    EXPECT(states->row_count == 3);
    EXPECT_PAIR("MPI_Alltoall", 10, "MPI_Alltoall", 12, 1, 80, 2);
    EXPECT_PAIR("MPI_Alltoall", 11, "MPI_Alltoall", 12, 1, 50, 2);
    EXPECT_PAIR("MPI_Alltoall", 13, "MPI_Alltoall", 12, 1, 30, 2);
    EXPECT_ROW("MPI_Alltoall", 10, SG_WAITSTATE_NXN, 1, 80);
    end();
}

/* Rank 3 is the root, or needs all lower ones. Ranks 0 and 1 leave before rank 2 comes. */
TEST("a rank waits for the last that enters before it leaves")
{
    all_ranks("MPI_Bcast", SG_PATTERN_BROADCAST, 3, (const int64_t[RANKS]){160, 190, 200, 152});
    EXPECT(states->row_count == 2);
    EXPECT_ROW("MPI_Bcast", 10, SG_WAITSTATE_LATE_BROADCAST, 1, 50);
    EXPECT_PAIR("MPI_Bcast", 11, "MPI_Bcast", 12, 1, 50, 2);
    end();
    all_ranks("MPI_Gather", SG_PATTERN_REDUCE, 3, (const int64_t[RANKS]){110, 151, 200, 200});
    EXPECT(states->row_count == 2);
    EXPECT_ROW("MPI_Gather", 11, SG_WAITSTATE_EARLY_REDUCE, 1, 20);
    EXPECT_PAIR("MPI_Gather", 11, "MPI_Gather", 13, 1, 20, 3);
    EXPECT_PAIR("MPI_Gather", 13, "MPI_Gather", 12, 1, 30, 2);
    end();
    all_ranks("MPI_Scan", SG_PATTERN_SCAN, 0, (const int64_t[RANKS]){110, 190, 200, 200});
    EXPECT(states->row_count == 2);
    EXPECT_ROW("MPI_Scan", 13, SG_WAITSTATE_EARLY_SCAN, 1, 30);
    EXPECT_PAIR("MPI_Scan", 11, "MPI_Scan", 12, 1, 50, 2);
    end();
}

/* Its clock, or another's, is wrong. */
TEST("a rank that needs another's data waits until it leaves")
{
    all_ranks("MPI_Bcast", SG_PATTERN_BROADCAST, 2, (const int64_t[RANKS]){170, 130, 200, 190});
    EXPECT_PAIR("MPI_Bcast", 10, "MPI_Bcast", 12, 1, 70, 2);
    EXPECT_PAIR("MPI_Bcast", 13, "MPI_Bcast", 12, 1, 30, 2);
    EXPECT(states->total.waits == 2);
    end();
    all_ranks("MPI_Scan", SG_PATTERN_SCAN, 0, (const int64_t[RANKS]){110, 131, 200, 170});
    EXPECT_PAIR("MPI_Scan", 13, "MPI_Scan", 12, 1, 20, 2);
    EXPECT(states->total.waits == 1);
    end();
}

/* On a line: rank 0 gets data of 1, 1 of 0 and 2, 2 of 1 and 3, 3 of 2. */
static struct sg_waitstate_collective on_line(uint32_t rank)
{
    static const uint32_t sources[RANKS][2] = {{1}, {0, 2}, {1, 3}, {2}};

    return (struct sg_waitstate_collective){.pattern = SG_PATTERN_NEIGHBORS,
                                            .seq = 3,
                                            .size = RANKS,
                                            .member = rank,
                                            .root = SG_WAITSTATE_NO_ROOT,
                                            .sources = sources[rank],
                                            .source_count = rank == 0 || rank == 3 ? 1 : 2};
}

/* Rank 0 comes last, when rank 3 has left: only rank 1 waits for it. */
TEST("in neighborhood collectives ranks wait for their neighbors only")
{
    static const uint32_t order[RANKS] = {3, 1, 2, 0};
    static const int64_t begin_ns[RANKS] = {300, 120, 170, 100};

    begin();
    for (uint32_t i = 0; i < RANKS; i++) {
        const struct sg_waitstate_collective of = on_line(order[i]);

        enter(of.member, "MPI_Neighbor_alltoall", 10 + of.member, begin_ns[of.member]);
        need(sg_waitstate_collective(tracker, of.member, &of));
        if (i == 2)
            leave(3, 200);
    }
    leave(0, 310);
    leave(1, 320);
    leave(2, 330);
    finish();
    EXPECT(states->row_count == 2, states->skew_count == 0);
    EXPECT_ROW("MPI_Neighbor_alltoall", 11, SG_WAITSTATE_LATE_NEIGHBOR, 1, 180);
    EXPECT_PAIR("MPI_Neighbor_alltoall", 11, "MPI_Neighbor_alltoall", 10, 1, 180, 0);
    EXPECT_PAIR("MPI_Neighbor_alltoall", 13, "MPI_Neighbor_alltoall", 12, 1, 70, 2);
    end();
}

/* Rank 1 leaves before rank 2 comes: no data come from there. It has waited for rank 0 alone. */
TEST("no rank waits for a neighbor that arrives after the call has ended")
{
    static const uint32_t order[RANKS] = {1, 0, 3, 2};
    static const int64_t begin_ns[RANKS] = {130, 100, 400, 150};

    begin();
    for (uint32_t i = 0; i < RANKS; i++) {
        const struct sg_waitstate_collective of = on_line(order[i]);

        if (i == 3)
            leave(1, 200);
        enter(of.member, "MPI_Neighbor_alltoall", 10 + of.member, begin_ns[of.member]);
        need(sg_waitstate_collective(tracker, of.member, &of));
    }
    leave(0, 500);
    leave(2, 500);
    leave(3, 500);
    finish();
    EXPECT_PAIR("MPI_Neighbor_alltoall", 11, "MPI_Neighbor_alltoall", 10, 1, 30, 0);
    EXPECT_PAIR("MPI_Neighbor_alltoall", 13, "MPI_Neighbor_alltoall", 12, 1, 250, 2);
    EXPECT(states->row_count == 2);
    end();
}

/* Members with counts enter at 150, 100, 400 and 120. In a reduction only rank 1, the root,
 * receives, otherwise all but rank 0. */
static void with_counts(enum sg_waitstate_pattern pattern, const uint32_t *sources[RANKS],
                        const int64_t leave_ns[RANKS])
{
    static const int64_t begin_ns[RANKS] = {150, 100, 400, 120};
    struct sg_waitstate_collective of[RANKS];

    for (uint32_t rank = 0; rank < RANKS; rank++) {
        bool receives = pattern == SG_PATTERN_REDUCE ? rank == 1 : rank != 0;

        of[rank] =
            (struct sg_waitstate_collective){.pattern = pattern,
                                             .size = RANKS,
                                             .member = rank,
                                             .root = 1,
                                             .has_data = true,
                                             .receives = receives,
                                             .has_counts = true,
                                             .is_direct = true,
                                             .sources = receives ? sources[rank] : NULL,
                                             .source_count = receives && sources[rank] != NULL};
    }
    in_order("MPI_Alltoallv", of, begin_ns, leave_ns);
}

/* Rank 1 gets data of rank 0 only, rank 2 of itself, and rank 0 of none. Rank 0 sends rank 1 its
 * data, and rank 2 does rank 3. */
TEST("with counts ranks wait only for those that they exchange data with")
{
    static const uint32_t first[1] = {0}, second[1] = {2}, third[1] = {3};
    const uint32_t *sources[RANKS] = {NULL, first, second, second};
    const uint32_t *to_late[RANKS] = {NULL, first, third, first};

    with_counts(SG_PATTERN_NXN, sources, (const int64_t[RANKS]){450, 430, 401, 405});
    EXPECT(states->row_count == 2);
    EXPECT_PAIR("MPI_Alltoallv", 11, "MPI_Alltoallv", 10, 1, 50, 0);
    EXPECT_PAIR("MPI_Alltoallv", 13, "MPI_Alltoallv", 12, 1, 280, 2);
    end();
    with_counts(SG_PATTERN_NXN, to_late, (const int64_t[RANKS]){450, 430, 401, 405});
    EXPECT_PAIR("MPI_Alltoallv", 13, "MPI_Alltoallv", 12, 1, 280, 2);
    end();
    with_counts(SG_PATTERN_REDUCE, sources, (const int64_t[RANKS]){151, 430, 401, 121});
    EXPECT(states->row_count == 1);
    EXPECT_PAIR("MPI_Alltoallv", 11, "MPI_Alltoallv", 10, 1, 50, 0);
    end();
}

/* Rank 1 has left before the last came. */
TEST("with unknown counts a rank waits for the last that enters before it leaves")
{
    const uint32_t *sources[RANKS] = {NULL};

    with_counts(SG_PATTERN_NXN, sources, (const int64_t[RANKS]){450, 300, 401, 405});
    EXPECT(states->row_count == 3);
    EXPECT_PAIR("MPI_Alltoallv", 10, "MPI_Alltoallv", 12, 1, 250, 2);
    EXPECT_PAIR("MPI_Alltoallv", 11, "MPI_Alltoallv", 10, 1, 50, 0);
    EXPECT_PAIR("MPI_Alltoallv", 13, "MPI_Alltoallv", 12, 1, 280, 2);
    end();
    with_counts(SG_PATTERN_REDUCE, sources, (const int64_t[RANKS]){151, 300, 401, 121});
    EXPECT(states->row_count == 1);
    EXPECT_PAIR("MPI_Alltoallv", 11, "MPI_Alltoallv", 10, 1, 50, 0);
    end();
}

static void post_neighbors(uint32_t rank, int64_t time_ns)
{
    enter(rank, "MPI_Ineighbor_alltoall", 10 + rank, time_ns);
    need(sg_waitstate_begin_collective(tracker, rank, 7));
    leave(rank, time_ns + 1);
}

/* Its wait is in the call that completes it. A source that is no member is damage. */
TEST("a nonblocking neighborhood collective waits in the call that completes it")
{
    static const uint32_t nobody[1] = {RANKS};

    begin();
    for (uint32_t rank = 1; rank < RANKS; rank++)
        post_neighbors(rank, 100 + rank);
    enter(1, "MPI_Wait", 21, 250);
    post_neighbors(0, 300);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct sg_waitstate_collective of = on_line(rank);

        if (rank == 3)
            of.sources = nobody;
        if (rank != 1)
            enter(rank, "MPI_Wait", 20 + rank, 310);
        need(sg_waitstate_end_collective(tracker, rank, &of, 7));
    }
    for (uint32_t rank = 0; rank < RANKS; rank++)
        leave(rank, 400);
    finish();
    EXPECT(states->row_count == 1);
    EXPECT_PAIR("MPI_Wait", 21, "MPI_Ineighbor_alltoall", 10, 1, 50, 0);
    end();
}

/* It waits in the call that completes it, for the call that starts it elsewhere. */
TEST("a nonblocking collective waits in the call that completes it")
{
    static const int64_t start_ns[RANKS] = {100, 130, 180, 150};
    struct sg_waitstate_collective of = {
        .pattern = SG_PATTERN_NXN, .size = RANKS, .has_data = true};

    begin();
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        enter(rank, "MPI_Ialltoall", 10 + rank, start_ns[rank]);
        need(sg_waitstate_begin_collective(tracker, rank, 1));
        leave(rank, start_ns[rank] + 1);
    }
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        of.member = rank;
        enter(rank, "MPI_Wait", 20 + rank, rank == 0 ? 110 : 300);
        need(sg_waitstate_end_collective(tracker, rank, &of, 1));
        leave(rank, 310);
    }
    finish();
    EXPECT(states->pair_count == 1);
    EXPECT_PAIR("MPI_Wait", 20, "MPI_Ialltoall", 12, 1, 70, 2);
    end();
}

/* The collectives carry no data and a rank leaves before another comes, so nobody waits. */
TEST("operations without data may not have waited")
{
    begin();
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        const struct sg_waitstate_collective of = {
            .pattern = SG_PATTERN_NXN, .size = RANKS, .member = rank};

        enter(rank, "MPI_Allgather", 10, 100 * rank);
        need(sg_waitstate_collective(tracker, rank, &of));
        leave(rank, 100 * rank + 10);
    }
    finish();
    EXPECT(states->row_count == 0);
    end();
}

/* Groups of ranks 0 and 1, and of 2 and 3, which enter at 100, 130, 180, 150. root: told by the
 * other group and by itself. Only ranks from receiving on receive something. */
static void between_groups(const char *function, enum sg_waitstate_pattern pattern, uint32_t root,
                           uint32_t receiving, const int64_t leave_ns[RANKS])
{
    static const int64_t begin_ns[RANKS] = {100, 130, 180, 150};
    struct sg_waitstate_collective of[RANKS];

    for (uint32_t rank = 0; rank < RANKS; rank++) {
        bool knows = rank == root || (root < RANKS && rank / 2 != root / 2);

        of[rank] = (struct sg_waitstate_collective){.pattern = pattern,
                                                    .size = RANKS,
                                                    .first_size = 2,
                                                    .member = rank,
                                                    .root = knows ? root : SG_WAITSTATE_NO_ROOT,
                                                    .has_data = true,
                                                    .receives = rank >= receiving};
    }
    in_order(function, of, begin_ns, leave_ns);
}

TEST("each group of an intercommunicator waits for the other group, and a rank for one of its own")
{
    between_groups("MPI_Barrier", SG_PATTERN_BARRIER, SG_WAITSTATE_NO_ROOT, RANKS,
                   (const int64_t[RANKS]){500, 170, 500, 500});
    EXPECT_PAIR("MPI_Barrier", 10, "MPI_Barrier", 12, 1, 80, 2);
    EXPECT_PAIR("MPI_Barrier", 11, "MPI_Barrier", 12, 1, 40, 2); /* a wrong clock */
    EXPECT_PAIR("MPI_Barrier", 13, "MPI_Barrier", 12, 1, 30, 2);
    EXPECT(states->total.waits == 3);
    end();
    between_groups("MPI_Allgather", SG_PATTERN_NXN, SG_WAITSTATE_NO_ROOT, 1,
                   (const int64_t[RANKS]){105, 500, 500, 155});
    EXPECT_PAIR("MPI_Allgather", 11, "MPI_Allgather", 12, 1, 50, 2);
    EXPECT(states->total.waits == 1);
    end();
    between_groups("MPI_Bcast", SG_PATTERN_BROADCAST, 3, 0,
                   (const int64_t[RANKS]){160, 165, 185, 155});
    EXPECT_PAIR("MPI_Bcast", 10, "MPI_Bcast", 13, 1, 50, 3);
    EXPECT_PAIR("MPI_Bcast", 11, "MPI_Bcast", 13, 1, 20, 3);
    EXPECT(states->total.waits == 2);
    end();
    between_groups("MPI_Reduce", SG_PATTERN_REDUCE, 0, 0,
                   (const int64_t[RANKS]){500, 135, 190, 190});
    EXPECT_PAIR("MPI_Reduce", 10, "MPI_Reduce", 12, 1, 80, 2);
    EXPECT_PAIR("MPI_Reduce", 13, "MPI_Reduce", 12, 1, 30, 2);
    EXPECT(states->total.waits == 2);
    end();
}

TEST("incomplete and contradictory collectives are left out")
{
    begin();
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        enter(rank, "MPI_Bcast", 10, 100 + rank);
        collective(rank, rank == 2 ? SG_PATTERN_NXN : SG_PATTERN_BROADCAST, 0, 3);
        if (rank != 1)
            collective(rank, SG_PATTERN_BROADCAST, 1, 3);
        leave(rank, 200);
    }
    finish();
    EXPECT(states->row_count == 0);
    end();
}
