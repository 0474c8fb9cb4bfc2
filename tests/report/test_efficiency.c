/* Tests POP's efficiencies and the ideal run time by hand: calls, messages and collectives that are
 * reported to a tracker, and the replay of them. Times are ns; each rank runs from 0 to `end_ns`.
 */
#include "lib/unit.h"
#include "report/critical_path.h"
#include "report/efficiency.h"
#include "report/path_history.h"
#include "report/tracked.h"

static struct sg_critical *critical;
static struct sg_efficiency efficiency;

static void start(void)
{
    begin();
    need(sg_critical_create(places, 2 * RANKS, &critical));
    sg_waitstate_tracker_follow(tracker, critical, NULL);
}

static void call(uint32_t rank, const char *function, int64_t begin_ns, int64_t end_ns)
{
    enter(rank, function, 10, begin_ns);
    leave(rank, end_ns);
}

/* Ranks 0 and 1 are on one machine, 2 and 3 on another. A second thread of rank 0 counts from
 * begin_ns to until_ns. */
static void replay_with(int64_t end_ns, int64_t begin_ns, int64_t until_ns)
{
    struct sg_efficiency_thread threads[2 * RANKS] = {[RANKS] = {begin_ns, until_ns, 0, 0, 0}};

    finish();
    for (uint32_t rank = 0; rank < RANKS; rank++)
        threads[rank] = (struct sg_efficiency_thread){0, end_ns, rank, rank, rank / 2};
    efficiency = (struct sg_efficiency){0};
    need(sg_efficiency_of_events(sg_critical_history(critical), threads, 2 * RANKS, &efficiency));
}

static void replay(int64_t end_ns)
{
    replay_with(end_ns, 0, 0);
}

static void stop(void)
{
    end();
    sg_critical_destroy(critical);
    sg_efficiency_clear(&efficiency);
}

static bool is_equal(double a, double b)
{
    return is_near(a, b, 1e-12);
}

static void expect_identities(void)
{
    uint64_t useful_ns = 0;

    EXPECT(is_equal(efficiency.communication, efficiency.serialization * efficiency.transfer));
    EXPECT(is_equal(efficiency.parallel, efficiency.load_balance * efficiency.communication));
    EXPECT(is_equal(efficiency.load_balance,
                    efficiency.between_machines * efficiency.inside_machines));
    for (int i = 0; i < SG_EFFICIENCY_SLICES; i++) {
        const struct sg_efficiency_slice *slice = &efficiency.slices[i];

        useful_ns += slice->useful_ns;
        EXPECT(slice->useful_max_ns <= (uint64_t)(slice->end_ns - slice->begin_ns),
               (double)slice->useful_ns <= slice->threads * (double)slice->useful_max_ns,
               i == 0 || slice->begin_ns == efficiency.slices[i - 1].end_ns);
    }
    EXPECT(useful_ns == efficiency.useful_ns, efficiency.has_slices);
    EXPECT(efficiency.useful_max_ns <= efficiency.ideal_ns,
           efficiency.ideal_ns <= efficiency.run_ns);
}

static void join(uint32_t rank, enum sg_waitstate_pattern pattern, uint64_t seq, int64_t begin_ns)
{
    const struct sg_waitstate_collective of = {
        .pattern = pattern, .size = RANKS, .member = rank, .seq = seq, .has_data = true};

    enter(rank, "MPI_Alltoall", 20, begin_ns);
    need(sg_waitstate_collective(tracker, rank, &of));
}

/* In 300 ns rank 0 computes for 250, rank 1 for 150; the transfer takes from 150 to 200. */
TEST("a receive ends in the replay when its send begins")
{
    const struct sg_waitstate_message sent = {.peer = 1}, received = {.peer = 0};

    start();
    enter(1, "MPI_Recv", 11, 50);
    enter(0, "MPI_Send", 10, 100);
    need(sg_waitstate_send(tracker, 0, &sent));
    leave(0, 150);
    need(sg_waitstate_receive(tracker, 1, &received, 200));
    leave(1, 200);
    replay(300);
    EXPECT(efficiency.run_ns == 300, efficiency.threads == 2, efficiency.useful_ns == 400,
           efficiency.useful_max_ns == 250, efficiency.ideal_ns == 250, efficiency.machines == 1);
    EXPECT(is_equal(efficiency.load_balance, 0.8), is_equal(efficiency.transfer, 250. / 300),
           is_equal(efficiency.serialization, 1), is_equal(efficiency.parallel, 400. / 600));
    expect_identities();
    stop();
}

/* Each rank computes 100 ns, after the one before it: no balance and no network helps. */
TEST("ranks that compute one after the other are serialized")
{
    start();
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        const struct sg_waitstate_message message = {.peer = rank > 0 ? rank - 1 : 0};
        const struct sg_waitstate_message next = {.peer = rank + 1};
        int64_t now_ns = 100 * (int64_t)rank;

        if (rank > 0) {
            enter(rank, "MPI_Recv", 11, 0);
            need(sg_waitstate_receive(tracker, rank, &message, now_ns));
            leave(rank, now_ns);
        }
        if (rank + 1 < RANKS) {
            enter(rank, "MPI_Send", 10, now_ns + 100);
            need(sg_waitstate_send(tracker, rank, &next));
            leave(rank, now_ns + 100);
        }
    }
    for (uint32_t rank = 0; rank < RANKS; rank++)
        call(rank, "MPI_Finalize", 100 * (int64_t)rank + 100, 400);
    replay(400);
    EXPECT(efficiency.useful_ns == 400, efficiency.ideal_ns == 400, efficiency.machines == 2);
    EXPECT(is_equal(efficiency.load_balance, 1), is_equal(efficiency.serialization, 0.25),
           is_equal(efficiency.transfer, 1), is_equal(efficiency.parallel, 0.25));
    expect_identities();
    stop();
}

/* A slow message makes rank 0 the last to arrive. Without its cost, rank 1 is, at 100. */
TEST("the last in the run need not be the last in the replay")
{
    const struct sg_waitstate_message sent = {.peer = 0}, received = {.peer = 1};

    start();
    enter(1, "MPI_Send", 10, 10);
    need(sg_waitstate_send(tracker, 1, &sent));
    leave(1, 20);
    enter(0, "MPI_Recv", 11, 10);
    for (uint32_t rank = 1; rank < RANKS; rank++)
        join(rank, SG_PATTERN_NXN, 0, 110);
    need(sg_waitstate_receive(tracker, 0, &received, 120));
    leave(0, 120);
    join(0, SG_PATTERN_NXN, 0, 120);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        leave(rank, 121);
    replay(200);
    EXPECT(efficiency.useful_max_ns == 189, efficiency.ideal_ns == 110 + 79);
    expect_identities();
    stop();

    start();
    enter(1, "MPI_Send", 10, 10);
    need(sg_waitstate_send(tracker, 1, &sent));
    leave(1, 60);
    enter(0, "MPI_Recv", 11, 10);
    for (uint32_t rank = 1; rank < RANKS; rank++)
        join(rank, SG_PATTERN_NXN, 0, rank == 1 ? 110 : 50);
    need(sg_waitstate_receive(tracker, 0, &received, 120));
    leave(0, 120);
    join(0, SG_PATTERN_NXN, 0, 120);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        leave(rank, 121);
    replay(200);
    EXPECT(efficiency.ideal_ns == 10 + 50 + 79);
    expect_identities();
    stop();
}

/* Each computes 100 ns more than the one before it. In a scan ranks wait for higher ones only if
 * the algorithm makes them. */
TEST("members need those whose data they get, and those that they waited for")
{
    static const struct {
        enum sg_waitstate_pattern pattern;
        bool leave_at_once;
        uint64_t ideal_ns;
    } cases[] = {{SG_PATTERN_SCAN, true, 1000},
                 {SG_PATTERN_SCAN, false, 1300},
                 {SG_PATTERN_NXN, false, 1300}};

    for (int i = 0; i < 3; i++) {
        int64_t left_ns[RANKS];

        start();
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            left_ns[rank] = cases[i].leave_at_once ? 100 * (int64_t)(rank + 1) + 10 : 1000;
            join(rank, cases[i].pattern, 0, 100 * (int64_t)(rank + 1));
            if (cases[i].leave_at_once)
                leave(rank, left_ns[rank]);
        }
        for (uint32_t rank = 0; rank < RANKS && !cases[i].leave_at_once; rank++)
            leave(rank, left_ns[rank]);
        /* Rank r has 900 - 300 r between both calls. */
        for (uint32_t rank = 0; rank < RANKS; rank++)
            call(rank, "MPI_Finalize", left_ns[rank] + 900 - 300 * (int64_t)rank, 2000);
        replay(2000);
        EXPECT(efficiency.ideal_ns == cases[i].ideal_ns);
        expect_identities();
        stop();
    }
}

/* The library's collectives are known when the last member's call has ended, or later. */
TEST("a member that has gone on still needs the last one's begin")
{
    uint32_t list = 0;

    start();
    call(0, "MPI_Barrier", 10, 100);
    call(0, "MPI_Send", 120, 130);
    call(1, "MPI_Barrier", 90, 140);
    for (uint32_t rank = 0; rank < 2; rank++)
        sg_history_link(sg_critical_history(critical), &list, rank, rank == 0 ? 10 : 90);
    for (uint32_t rank = 0; rank < 2; rank++)
        sg_critical_need(critical, rank, rank == 0 ? 10 : 90, list);
    replay(200);
    EXPECT(efficiency.ideal_ns == 90 + 20 + 70, efficiency.useful_max_ns == 150);
    expect_identities();
    stop();
}

/* A list on a call that has not ended, and one on top of another. */
TEST("a call needs all that it was told of before its end and after")
{
    struct sg_history *history;
    uint32_t first = 0, second = 0;

    start();
    history = sg_critical_history(critical);
    call(1, "MPI_Send", 70, 75);
    call(2, "MPI_Send", 90, 95);
    sg_history_link(history, &first, 1, 70);
    sg_history_link(history, &second, 2, 90);
    enter(0, "MPI_Waitall", 10, 20);
    sg_critical_need(critical, 0, 60, first);
    leave(0, 100);
    sg_critical_need(critical, 0, 100, second);
    replay(200);
    EXPECT(efficiency.ideal_ns == 195, efficiency.useful_max_ns == 195);
    stop();
}

/* Nothing can need what begins after its end; a list may have none that begins before. */
TEST("no thread is later in the replay than in the run")
{
    uint32_t list = 0, nobody = 0;

    start();
    call(0, "MPI_Barrier", 10, 50);
    call(1, "MPI_Barrier", 90, 140);
    sg_history_link(sg_critical_history(critical), &list, 1, 90);
    sg_history_link(sg_critical_history(critical), &nobody, 1, 77);
    sg_critical_need(critical, 0, 10, list);
    sg_critical_need(critical, 1, 90, nobody);
    sg_critical_need(critical, 1, 5, list);
    replay(200);
    EXPECT(efficiency.ideal_ns == 160, efficiency.useful_max_ns == 160);
    expect_identities();
    stop();
}

TEST("an eager send needs no receive, one that is held up does")
{
    const struct sg_waitstate_message sent = {.peer = 1}, received = {.peer = 0};

    start();
    enter(0, "MPI_Send", 10, 10);
    need(sg_waitstate_send(tracker, 0, &sent));
    leave(0, 110);
    enter(1, "MPI_Recv", 11, 120);
    need(sg_waitstate_receive(tracker, 1, &received, 210));
    leave(1, 210);
    replay(300);
    EXPECT(efficiency.ideal_ns == 210, efficiency.useful_max_ns == 210);
    expect_identities();
    stop();

    start();
    enter(0, "MPI_Ssend", 10, 10);
    need(sg_waitstate_send(tracker, 0, &sent));
    enter(1, "MPI_Recv", 11, 200);
    need(sg_waitstate_receive(tracker, 1, &received, 210));
    leave(0, 220);
    leave(1, 280);
    replay(300);
    EXPECT(efficiency.ideal_ns == 200 + 80, efficiency.useful_max_ns == 220);
    expect_identities();
    stop();
}

/* Rank 0 waits for rank 1 from 100 to 800 and computes to the end; from 900 on its second thread
 * computes for 20 ns between two calls. */
TEST("a thread counts from its first call to its last, and begins where its rank is")
{
    const struct sg_waitstate_message sent = {.peer = 0}, received = {.peer = 1};

    start();
    enter(0, "MPI_Recv", 11, 100);
    enter(1, "MPI_Send", 10, 200);
    need(sg_waitstate_send(tracker, 1, &sent));
    leave(1, 300);
    need(sg_waitstate_receive(tracker, 0, &received, 800));
    leave(0, 800);
    call(RANKS, "MPI_Send", 900, 910);
    call(RANKS, "MPI_Send", 930, 940);
    replay_with(1000, 900, 940);
    EXPECT(efficiency.useful_ns == 300 + 20 + 900, efficiency.run_ns == 1000,
           is_equal(efficiency.threads, 1040. / 1000 + 1), efficiency.useful_max_ns == 900);
    /* The thread begins 100 ns after the receive, which ends at 200 in the replay. */
    EXPECT(efficiency.ideal_ns == 900);
    EXPECT(is_equal(efficiency.slices[45].threads, 2 + 1), efficiency.slices[45].useful_ns == 50,
           is_equal(efficiency.slices[10].threads, 2));
    expect_identities();
    stop();
}

/* The thread has a tenth of the rank's run, all of it outside of MPI but 2 ns. */
TEST("a short thread that computes makes no rank useful beyond its ideal run time")
{
    start();
    call(0, "MPI_Recv", 0, 1000);
    call(RANKS, "MPI_Send", 900, 901);
    call(RANKS, "MPI_Send", 999, 1000);
    replay_with(1000, 900, 1000);
    EXPECT(efficiency.useful_ns == 98, efficiency.useful_max_ns == (98 * 1000 + 1099) / 1100,
           is_equal(efficiency.parallel, 98. / 1100));
    expect_identities();
    stop();
}

TEST("without calls nothing is known, and a run without MPI is efficient")
{
    start();
    replay(100);
    EXPECT(!efficiency.is_known, !efficiency.has_ideal);
    stop();
    sg_efficiency_set(&efficiency, 100, 200, 100, 2);
    EXPECT(is_equal(efficiency.parallel, 1), efficiency.transfer < 0, efficiency.is_known);
    sg_efficiency_set(&efficiency, 0, 0, 0, 0);
    EXPECT(!efficiency.is_known, efficiency.parallel < 0, efficiency.load_balance < 0);
}

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(state >> 33) % below;
}

/* Random calls that need each other as they overlap. */
TEST("the identities hold for any calls")
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct sg_history *history;
        int64_t at_ns[RANKS] = {0};

        state = seed;
        start();
        history = sg_critical_history(critical);
        for (int i = 0; i < 60; i++) {
            uint32_t rank = draw(RANKS), other = draw(RANKS), list = 0;
            int64_t begin_ns = at_ns[rank] + draw(30), end_ns = begin_ns + draw(40);

            call(rank, "MPI_Wait", begin_ns, end_ns);
            at_ns[rank] = end_ns;
            for (uint32_t j = draw(4); j > 0; j--) {
                uint64_t count = sg_history_count(history, other);

                if (count > 0)
                    sg_history_link(history, &list, other,
                                    sg_history_at(history, other, count - 1)->begin_ns);
            }
            sg_critical_need(critical, rank, begin_ns, list);
        }
        replay(3000);
        expect_identities();
        stop();
    }
}
