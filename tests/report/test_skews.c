/* Tests the skew of collectives by hand: how far apart members arrive, which is last, how long
 * they wait. Times are ns; rank r is location r. */
#include "report/tracked.h"

static uint64_t orders[3];

static void begin_orders(const struct sg_filter *filter)
{
    begin_filtered(filter);
    memset(orders, 0, sizeof orders);
}

static struct sg_waitstate_collective of_member(uint32_t comm, uint32_t member,
                                                enum sg_waitstate_pattern pattern, uint64_t seq)
{
    return (struct sg_waitstate_collective){.pattern = pattern,
                                            .comm = comm,
                                            .seq = seq,
                                            .size = comm == WORLD ? RANKS : 2,
                                            .member = member,
                                            .has_data = true};
}

/* All members of a communicator call at these times, in these lines, and leave together. */
static void call_at(uint32_t comm, const char *function, enum sg_waitstate_pattern pattern,
                    const int64_t *begin_ns, const uint32_t *lines, int64_t end_ns)
{
    uint32_t first = comm == QUARTER ? 2 : 0, count = comm == WORLD ? RANKS : 2;

    for (uint32_t i = 0; i < count; i++)
        enter(first + i, function, lines[i], begin_ns[i]);
    for (uint32_t i = 0; i < count; i++) {
        const struct sg_waitstate_collective of = of_member(comm, i, pattern, orders[comm]);

        need(sg_waitstate_collective(tracker, first + i, &of));
        need(sg_waitstate_leave(tracker, first + i, end_ns));
    }
    orders[comm]++;
}

static const uint32_t one_line[RANKS] = {10, 10, 10, 10};

/* The row of a call site; ends the test where there is none. */
static const struct sg_report_site *skew_of(const char *function, uint32_t line)
{
    static const struct sg_report_site none;

    for (uint32_t i = 0; i < states->skew_count; i++) {
        const struct sg_waitstate_place *skew = &states->skews[i];

        if (strcmp(skew->function, function) == 0 && skew->site.line == line)
            return &skew->site;
    }
    CU_FAIL("no such row");
    return &none;
}

/* ---- figures --------------------------------------------------------------------------------- */

/* Skews of 80, 10 and 30; rank 2 is last twice, rank 0 once; the others wait 80 + 50 + 30,
 * 10 + 10 + 5 and 30 + 20 + 10. */
TEST("a call site has its instances' skew, their last rank, and the waits")
{
    static const int64_t at_ns[3][RANKS] = {
        {100, 130, 180, 150}, {1010, 1000, 1000, 1005}, {2000, 2010, 2030, 2020}};

    begin_orders(NULL);
    for (int i = 0; i < 3; i++)
        call_at(WORLD, "MPI_Alltoall", SG_PATTERN_NXN, at_ns[i], one_line, at_ns[i][0] + 500);
    finish();
    EXPECT(states->skew_count == 1);
    const struct sg_report_site *skew = skew_of("MPI_Alltoall", 10);
    EXPECT(skew->instances == 3, skew->event_calls == 12, skew->skew_sum_ns == 120,
           skew->skew_p50_ns == 30, skew->skew_p95_ns == 80, skew->skew_max_ns == 80,
           skew->worst_time_ns == 100, skew->last_rank == 2, skew->last_count == 2,
           skew->wait_ns == 160 + 25 + 60, text_is(skew->comm, "MPI_COMM_WORLD"),
           skew->comm_size == RANKS);
    end();
}

/* All stay until rank 2 has come. */
TEST("a broadcast's waits follow from the members' arrivals, not from the skew")
{
    static const int64_t at_ns[RANKS] = {150, 130, 180, 120};

    begin_orders(NULL);
    call_at(WORLD, "MPI_Bcast", SG_PATTERN_BROADCAST, at_ns, one_line, 500);
    finish();
    const struct sg_report_site *skew = skew_of("MPI_Bcast", 10);
    EXPECT(skew->skew_max_ns == 60, skew->last_rank == 2, skew->wait_ns == 30 + 50 + 60);
    end();
}

/* A collective in which nobody waits has skew, too. */
TEST("a collective in which no rank waits has skew")
{
    static const int64_t at_ns[RANKS] = {150, 130, 180, 120};

    begin_orders(NULL);
    call_at(WORLD, "MPI_Win_create", SG_PATTERN_NONE, at_ns, one_line, 500);
    finish();
    EXPECT(states->row_count == 0, skew_of("MPI_Win_create", 10)->skew_max_ns == 60,
           skew_of("MPI_Win_create", 10)->wait_ns == 0);
    end();
}

/* Calls and waits are at each member's own call site, the instance at that of most. */
TEST("calls count at their own site, an instance at the site of most members")
{
    static const int64_t at_ns[RANKS] = {100, 130, 180, 150};
    static const uint32_t lines[RANKS] = {11, 12, 12, 12};

    begin_orders(NULL);
    call_at(WORLD, "MPI_Alltoall", SG_PATTERN_NXN, at_ns, lines, 500);
    finish();
    EXPECT(
        skew_of("MPI_Alltoall", 11)->instances == 0, skew_of("MPI_Alltoall", 11)->event_calls == 1,
        skew_of("MPI_Alltoall", 11)->wait_ns == 80, skew_of("MPI_Alltoall", 11)->last_rank == -1,
        skew_of("MPI_Alltoall", 12)->instances == 1, skew_of("MPI_Alltoall", 12)->event_calls == 3,
        skew_of("MPI_Alltoall", 12)->skew_max_ns == 80,
        skew_of("MPI_Alltoall", 12)->wait_ns == 50 + 30);
    end();
}

/* As many at one as at another: that of the lowest rank. */
TEST("among sites with equally many members the lowest rank's site has the instance")
{
    static const int64_t at_ns[RANKS] = {100, 130, 180, 150};
    static const uint32_t lines[RANKS] = {12, 11, 11, 12};

    begin_orders(NULL);
    call_at(WORLD, "MPI_Alltoall", SG_PATTERN_NXN, at_ns, lines, 500);
    finish();
    EXPECT(skew_of("MPI_Alltoall", 12)->instances == 1,
           skew_of("MPI_Alltoall", 11)->instances == 0);
    end();
}

/* It is at the call that began it, in line 10, as is what was waited for it, in line 20. */
TEST("a nonblocking collective belongs to the call that began it")
{
    static const int64_t start_ns[RANKS] = {100, 130, 180, 150};
    struct sg_waitstate_collective of = of_member(WORLD, 0, SG_PATTERN_BARRIER, 0);

    begin_orders(NULL);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        enter(rank, "MPI_Ibarrier", 10, start_ns[rank]);
        need(sg_waitstate_begin_collective(tracker, rank, 1));
        need(sg_waitstate_leave(tracker, rank, start_ns[rank] + 1));
    }
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        of.member = rank;
        enter(rank, "MPI_Wait", 20, rank == 0 ? 110 : 300);
        need(sg_waitstate_end_collective(tracker, rank, &of, 1));
        need(sg_waitstate_leave(tracker, rank, 310));
    }
    finish();
    EXPECT(states->skew_count == 1, skew_of("MPI_Ibarrier", 10)->event_calls == RANKS,
           skew_of("MPI_Ibarrier", 10)->skew_max_ns == 80,
           skew_of("MPI_Ibarrier", 10)->last_rank == 2, skew_of("MPI_Ibarrier", 10)->wait_ns == 70);
    end();
}

/* A call site on two communicators is one row; last ranks are those of MPI_COMM_WORLD. */
TEST("a call site on several communicators is one row")
{
    static const int64_t at_ns[2] = {100, 130}, later_ns[2] = {200, 250};

    begin_orders(NULL);
    call_at(HALF, "MPI_Allgather", SG_PATTERN_NXN, at_ns, one_line, 500);
    call_at(QUARTER, "MPI_Allgather", SG_PATTERN_NXN, later_ns, one_line, 500);
    finish();
    const struct sg_report_site *skew = skew_of("MPI_Allgather", 10);
    EXPECT(skew->instances == 2, skew->comms == 2, skew->comm == NULL, skew->comm_size == 2,
           skew->skew_sum_ns == 80);
    /* Ranks 1 and 3 once each: the lower one. */
    EXPECT(skew->last_rank == 1, skew->last_count == 1);
    end();
}

/* Members that contradict each other are no instance. */
TEST("contradictory members form no instance")
{
    begin_orders(NULL);
    for (uint32_t rank = 0; rank < 2; rank++) {
        const struct sg_waitstate_collective of =
            of_member(HALF, rank, rank == 0 ? SG_PATTERN_NXN : SG_PATTERN_BARRIER, 0);

        enter(rank, "MPI_Allgather", 10, 100);
        need(sg_waitstate_collective(tracker, rank, &of));
        need(sg_waitstate_leave(tracker, rank, 200));
    }
    finish();
    EXPECT(states->skew_count == 0);
    end();
}

/* ---- parts, and memory ----------------------------------------------------------------------- */

/* Two call sites on two communicators each at two times; the filter takes some. */
static void filtered(struct sg_filter filter)
{
    static const uint32_t lines[2][2] = {{10, 10}, {11, 11}};
    char message[200];

    ASSERT(sg_filter_parse(&filter, message, sizeof message));
    begin_orders(&filter);
    for (int64_t at_ns = 100; at_ns <= 2100; at_ns += 2000) {
        for (int i = 0; i < 4; i++) {
            const int64_t begin_ns[2] = {at_ns, at_ns + 30};

            call_at(i < 2 ? HALF : QUARTER, "MPI_Allgather", SG_PATTERN_NXN, begin_ns, lines[i % 2],
                    at_ns + 50);
        }
    }
    finish();
    sg_filter_clear(&filter);
}

TEST("with a filter only its instances, calls and waits are counted")
{
    filtered((struct sg_filter){.site = "a.c:10"});
    EXPECT(states->skew_count == 1, skew_of("MPI_Allgather", 10)->instances == 4,
           skew_of("MPI_Allgather", 10)->wait_ns == 4 * 30);
    end();
    filtered((struct sg_filter){.comm = "half"});
    EXPECT(states->skew_count == 2, skew_of("MPI_Allgather", 11)->instances == 2,
           skew_of("MPI_Allgather", 11)->comms == 1);
    end();
    filtered((struct sg_filter){.time = "1us:9us"});
    EXPECT(skew_of("MPI_Allgather", 11)->instances == 2,
           skew_of("MPI_Allgather", 11)->wait_ns == 2 * 30);
    end();
    /* Rank 3 is last in `quarter`, and waits for nobody. */
    filtered((struct sg_filter){.ranks = "3"});
    EXPECT(skew_of("MPI_Allgather", 11)->instances == 2,
           skew_of("MPI_Allgather", 11)->event_calls == 2,
           skew_of("MPI_Allgather", 11)->wait_ns == 0,
           skew_of("MPI_Allgather", 11)->last_rank == 3);
    end();
}

TEST("memory does not grow with the number of instances, and quantiles are right")
{
    begin_orders(NULL);
    for (int64_t i = 0; i < 100000; i++) {
        const int64_t begin_ns[2] = {1000 * i, 1000 * i + i % 100};

        call_at(HALF, "MPI_Allgather", SG_PATTERN_NXN, begin_ns, one_line, 1000 * i + 200);
    }
    finish();
    EXPECT(counts.live_max < 10, skew_of("MPI_Allgather", 10)->instances == 100000,
           skew_of("MPI_Allgather", 10)->skew_p50_ns == 49,
           skew_of("MPI_Allgather", 10)->skew_p95_ns == 94,
           skew_of("MPI_Allgather", 10)->skew_max_ns == 99,
           skew_of("MPI_Allgather", 10)->skew_sum_ns == 4950 * 1000);
    /* Without skew the lower rank counts as the last. */
    EXPECT(skew_of("MPI_Allgather", 10)->last_rank == 1,
           skew_of("MPI_Allgather", 10)->last_count == 99000);
    end();
}
