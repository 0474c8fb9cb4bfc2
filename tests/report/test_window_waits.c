/* Tests wait states on windows by hand: fences, epochs of origins and targets, locks. */
#include "report/tracked.h"

#define WINDOW 3
#define OTHER_WINDOW 4

/* ---- fences ---------------------------------------------------------------------------------- */

static void on_window(uint32_t location, enum sg_waitstate_pattern pattern, uint32_t window,
                      uint64_t seq)
{
    const struct sg_waitstate_collective collective = {.pattern = pattern,
                                                       .comm = WORLD,
                                                       .window = 1 + window,
                                                       .seq = seq,
                                                       .size = RANKS,
                                                       .member = location,
                                                       .root = SG_WAITSTATE_NO_ROOT};

    need(sg_waitstate_collective(tracker, location, &collective));
}

/* Members enter a collective when told, and leave it together. */
static void all_together(const char *function, uint32_t line, enum sg_waitstate_pattern pattern,
                         uint64_t seq, const int64_t *enter_ns, int64_t leave_ns)
{
    int64_t last_ns = 0;

    for (uint32_t i = 0; i < RANKS; i++) {
        enter(i, function, line + i, enter_ns[i]);
        last_ns = enter_ns[i] > last_ns ? enter_ns[i] : last_ns;
    }
    for (uint32_t i = 0; i < RANKS; i++) {
        on_window(i, pattern, WINDOW, seq);
        leave(i, leave_ns + i);
    }
}

TEST("members wait for the last in fences and in calls that make or free windows")
{
    begin();
    all_together("MPI_Win_create", 10, SG_PATTERN_CREATE, 0, (int64_t[]){100, 110, 190, 120}, 200);
    all_together("MPI_Win_fence", 20, SG_PATTERN_FENCE, 1, (int64_t[]){300, 380, 310, 320}, 400);
    all_together("MPI_Win_free", 30, SG_PATTERN_FREE, 2, (int64_t[]){570, 550, 510, 500}, 600);
    finish();
    EXPECT_PAIR("MPI_Win_create", 10, "MPI_Win_create", 12, 1, 90, 2);
    EXPECT_PAIR("MPI_Win_create", 13, "MPI_Win_create", 12, 1, 70, 2);
    EXPECT_ROW("MPI_Win_create", 11, SG_WAITSTATE_CREATE, 1, 80);
    EXPECT_PAIR("MPI_Win_fence", 20, "MPI_Win_fence", 21, 1, 80, 1);
    EXPECT_ROW("MPI_Win_fence", 22, SG_WAITSTATE_FENCE, 1, 70);
    EXPECT_ROW("MPI_Win_fence", 23, SG_WAITSTATE_FENCE, 1, 60);
    EXPECT_PAIR("MPI_Win_free", 33, "MPI_Win_free", 30, 1, 70, 0);
    EXPECT_ROW("MPI_Win_free", 31, SG_WAITSTATE_FREE, 1, 20);
    EXPECT(states->total.waits == 9, states->skew_count == 12);
    end();
}

/* In the first fence three wait for the fourth; in the second each leaves before the next comes, as
 * with MPI_MODE_NOPRECEDE. */
TEST("a fence that a member left earlier has no waits")
{
    begin();
    all_together("MPI_Win_fence", 20, SG_PATTERN_FENCE, 1, (int64_t[]){100, 110, 120, 130}, 140);
    for (uint32_t i = 0; i < RANKS; i++) {
        enter(i, "MPI_Win_fence", 30, 300 + 100 * i);
        on_window(i, SG_PATTERN_FENCE, WINDOW, 2);
        leave(i, 310 + 100 * i);
    }
    finish();
    EXPECT(states->total.wait_ns == 30 + 20 + 10);
    EXPECT_ROW("MPI_Win_fence", 30, SG_WAITSTATE_FENCE, 0, 0);
    end();
}

/* Windows count apart from each other, and from the communicator. */
TEST("collectives of windows and of their communicator are counted separately")
{
    const struct sg_waitstate_collective barrier = {
        .pattern = SG_PATTERN_BARRIER, .comm = WORLD, .size = RANKS, .root = SG_WAITSTATE_NO_ROOT};

    begin();
    for (uint32_t i = 0; i < RANKS; i++) {
        enter(i, "MPI_Win_fence", 20, 100 + i);
        on_window(i, SG_PATTERN_FENCE, i < 2 ? WINDOW : OTHER_WINDOW, 0);
        leave(i, 200);
    }
    enter(0, "MPI_Barrier", 30, 300);
    need(sg_waitstate_collective(tracker, 0, &barrier));
    leave(0, 310);
    finish();
    EXPECT(states->row_count == 0);
    end();
}

/* ---- epochs ---------------------------------------------------------------------------------- */

static void with_group(uint32_t location, uint32_t window, uint32_t count, const uint32_t *ranks)
{
    need(sg_waitstate_synchronise(tracker, location,
                                  &(struct sg_waitstate_group){window, WORLD, ranks, count}));
}

/* A call that is over: the group is told at its end. */
static void group_call(uint32_t location, const char *function, uint32_t line, uint32_t other,
                       int64_t enter_ns, int64_t leave_ns)
{
    enter(location, function, line, enter_ns);
    with_group(location, WINDOW, 1, &other);
    leave(location, leave_ns);
}

#define START(rank, other, at, until) group_call(rank, "MPI_Win_start", 10, other, at, until)
#define COMPLETE(rank, other, at, until) group_call(rank, "MPI_Win_complete", 11, other, at, until)
#define POST(rank, other, at, until) group_call(rank, "MPI_Win_post", 20, other, at, until)
#define WAIT(rank, other, at, until) group_call(rank, "MPI_Win_wait", 21, other, at, until)

/* Start waits in the first round, complete in the second, in the third nobody. */
TEST("an origin waits for a late post in the start or in the complete")
{
    begin();
    enter(0, "MPI_Win_start", 10, 100);
    POST(1, 0, 160, 162);
    with_group(0, WINDOW, 1, &(uint32_t){1});
    leave(0, 170);
    COMPLETE(0, 1, 180, 190);
    WAIT(1, 0, 185, 195);

    START(0, 1, 200, 201);
    enter(0, "MPI_Win_complete", 11, 210);
    enter(1, "MPI_Win_post", 20, 280);
    with_group(0, WINDOW, 1, &(uint32_t){1});
    leave(0, 290);
    with_group(1, WINDOW, 1, &(uint32_t){0});
    leave(1, 291);
    WAIT(1, 0, 295, 299);

    POST(1, 0, 300, 301);
    START(0, 1, 310, 311);
    COMPLETE(0, 1, 320, 330);
    WAIT(1, 0, 340, 341);
    finish();
    EXPECT_PAIR("MPI_Win_start", 10, "MPI_Win_post", 20, 1, 60, 1);
    EXPECT_ROW("MPI_Win_start", 10, SG_WAITSTATE_LATE_POST, 1, 60);
    EXPECT_PAIR("MPI_Win_complete", 11, "MPI_Win_post", 20, 1, 70, 1);
    EXPECT_ROW("MPI_Win_complete", 11, SG_WAITSTATE_LATE_POST, 1, 70);
    EXPECT(states->total.waits == 2);
    end();
}

TEST("an early MPI_Win_wait waits for the complete")
{
    begin();
    POST(1, 0, 100, 101);
    START(0, 1, 102, 103);
    enter(1, "MPI_Win_wait", 21, 110);
    COMPLETE(0, 1, 150, 155);
    with_group(1, WINDOW, 1, &(uint32_t){0});
    leave(1, 160);
    /* MPI_Win_test does not wait. */
    POST(1, 0, 200, 201);
    START(0, 1, 202, 203);
    enter(1, "MPI_Win_test", 22, 210);
    COMPLETE(0, 1, 250, 255);
    with_group(1, WINDOW, 1, &(uint32_t){0});
    leave(1, 260);
    finish();
    EXPECT_ROW("MPI_Win_wait", 21, SG_WAITSTATE_EARLY_WAIT, 1, 40);
    EXPECT_PAIR("MPI_Win_wait", 21, "MPI_Win_complete", 11, 1, 40, 0);
    EXPECT(states->total.waits == 1);
    end();
}

/* A target waits for the last of its origins, an origin for the last of its targets. */
TEST("a rank waits for the last of several targets or origins")
{
    const uint32_t origins[] = {0, 2}, targets[] = {1, 3};

    begin();
    for (uint32_t i = 0; i < 2; i++) {
        enter(targets[i], "MPI_Win_post", 20 + targets[i], 100 + 50 * i);
        with_group(targets[i], WINDOW, 2, origins);
        leave(targets[i], 101 + 50 * i);
    }
    for (uint32_t i = 0; i < 2; i++)
        enter(targets[i], "MPI_Win_wait", 30 + targets[i], 160);
    for (uint32_t i = 0; i < 2; i++) {
        enter(origins[i], "MPI_Win_start", 40 + origins[i], 120);
        with_group(origins[i], WINDOW, 2, targets);
        leave(origins[i], 170);
        enter(origins[i], "MPI_Win_complete", 50 + origins[i], 180 + 40 * i);
        with_group(origins[i], WINDOW, 2, targets);
        leave(origins[i], 230);
    }
    for (uint32_t i = 0; i < 2; i++) {
        with_group(targets[i], WINDOW, 2, origins);
        leave(targets[i], 240);
    }
    finish();
    EXPECT_PAIR("MPI_Win_start", 40, "MPI_Win_post", 23, 1, 30, 3);
    EXPECT_PAIR("MPI_Win_start", 42, "MPI_Win_post", 23, 1, 30, 3);
    EXPECT_PAIR("MPI_Win_wait", 31, "MPI_Win_complete", 52, 1, 60, 2);
    EXPECT_PAIR("MPI_Win_wait", 33, "MPI_Win_complete", 52, 1, 60, 2);
    EXPECT(states->total.waits == 4);
    end();
}

/* The target posts anew while the origin is still in its MPI_Win_complete: that is the next epoch.
 * A match with the wrong one would find the origin waiting in its first start. */
TEST("a target's new post belongs to the next epoch")
{
    begin();
    POST(1, 0, 100, 101);
    START(0, 1, 110, 111);
    enter(0, "MPI_Win_complete", 11, 120);
    WAIT(1, 0, 130, 140);
    POST(1, 0, 150, 151);
    with_group(0, WINDOW, 1, &(uint32_t){1});
    leave(0, 200);
    enter(1, "MPI_Win_wait", 21, 210);
    START(0, 1, 220, 221);
    COMPLETE(0, 1, 240, 241);
    with_group(1, WINDOW, 1, &(uint32_t){0});
    leave(1, 250);
    finish();
    EXPECT_PAIR("MPI_Win_wait", 21, "MPI_Win_complete", 11, 1, 30, 0);
    EXPECT(states->total.waits == 1);
    end();
}

/* The origin's first complete returns before there is a post, as a library may let it: then the
 * second waits for the second post, not for the first. */
TEST("an origin that runs ahead waits for the post of its own epoch")
{
    begin();
    START(0, 1, 100, 101);
    COMPLETE(0, 1, 110, 111);
    START(0, 1, 120, 121);
    enter(0, "MPI_Win_complete", 11, 130);
    POST(1, 0, 150, 151);
    WAIT(1, 0, 160, 170);
    POST(1, 0, 200, 201);
    with_group(0, WINDOW, 1, &(uint32_t){1});
    leave(0, 210);
    WAIT(1, 0, 220, 221);
    finish();
    EXPECT_PAIR("MPI_Win_complete", 11, "MPI_Win_post", 20, 1, 70, 1);
    EXPECT(states->total.waits == 1);
    end();
}

/* Rank 0 did not record an epoch, rank 1 did: what follows is matched again. */
TEST("epochs match again after one that the origin did not record")
{
    begin();
    POST(1, 0, 100, 101);
    WAIT(1, 0, 110, 140);
    POST(1, 0, 200, 201);
    START(0, 1, 210, 211);
    enter(1, "MPI_Win_wait", 21, 220);
    COMPLETE(0, 1, 250, 251);
    with_group(1, WINDOW, 1, &(uint32_t){0});
    leave(1, 260);
    finish();
    EXPECT_PAIR("MPI_Win_wait", 21, "MPI_Win_complete", 11, 1, 30, 0);
    EXPECT(states->total.waits == 1);
    end();
}

/* Rank 1 did not record an epoch, rank 0 did: nothing is told that is not so. Nor are ends of which
 * the begin is missing. */
TEST("epochs that the target did not record cause no wrong waits")
{
    begin();
    COMPLETE(0, 1, 50, 60);
    WAIT(1, 0, 50, 60);
    START(0, 1, 100, 101);
    COMPLETE(0, 1, 110, 130);
    for (int64_t at_ns = 1000; at_ns < 4000; at_ns += 1000) {
        POST(1, 0, at_ns, at_ns + 1);
        START(0, 1, at_ns + 10, at_ns + 11);
        COMPLETE(0, 1, at_ns + 20, at_ns + 30);
        WAIT(1, 0, at_ns + 40, at_ns + 50);
    }
    finish();
    EXPECT(states->row_count == 0);
    end();
}

/* An origin whose targets record nothing is not remembered for ever, nor is an end that is lost. */
TEST("unanswered epochs are not kept forever")
{
    begin();
    for (int i = 0; i < 10000; i++) {
        START(0, 1, 100 * i, 100 * i + 1);
        COMPLETE(0, 1, 100 * i + 10, 100 * i + 11);
        POST(2, 3, 100 * i, 100 * i + 1);
        START(3, 2, 100 * i + 10, 100 * i + 11);
    }
    finish();
    EXPECT(counts.live_max < 5 * SG_WAITSTATE_HELD, states->row_count == 0);
    end();
}

/* ---- locks ----------------------------------------------------------------------------------- */

static uint64_t operations;

/* Reports the request or the release of a lock, at the begin or the end of a call. */
static void lock_of(uint32_t location, uint32_t target, bool is_exclusive, bool is_request)
{
    const struct sg_waitstate_lock lock = {WINDOW, WORLD, target, is_exclusive};

    need(is_request ? sg_waitstate_request_lock(tracker, location, &lock)
                    : sg_waitstate_release_lock(tracker, location, &lock));
}

static void lock(uint32_t location, uint32_t line, uint32_t target, bool is_exclusive,
                 int64_t enter_ns)
{
    enter(location, target == SG_WAITSTATE_ALL ? "MPI_Win_lock_all" : "MPI_Win_lock", line,
          enter_ns);
    lock_of(location, target, is_exclusive, true);
}

static uint64_t put(uint32_t location, uint32_t target, int64_t time_ns)
{
    enter(location, "MPI_Put", 1, time_ns);
    need(sg_waitstate_operation(tracker, location, WINDOW, target, ++operations));
    leave(location, time_ns + 1);
    return operations;
}

static void flushed(uint32_t location, uint64_t operation, int64_t leave_ns)
{
    sg_waitstate_operated(tracker, location, operation, leave_ns);
    leave(location, leave_ns);
}

static void unlock(uint32_t location, uint32_t line, uint32_t target, int64_t enter_ns)
{
    enter(location, target == SG_WAITSTATE_ALL ? "MPI_Win_unlock_all" : "MPI_Win_unlock", line,
          enter_ns);
}

/* operation: 0: none is complete only now */
static void unlocked(uint32_t location, uint64_t operation, uint32_t target, int64_t leave_ns)
{
    if (operation != 0)
        sg_waitstate_operated(tracker, location, operation, leave_ns);
    lock_of(location, target, false, false);
    leave(location, leave_ns);
}

#define TARGET 3

/* Rank 0 holds the lock from 100 to 200 and has flushed; rank 1 waits in its lock. */
TEST("a rank waits for a lock until its holder unlocks")
{
    begin();
    lock(0, 10, TARGET, true, 100);
    leave(0, 101);
    uint64_t first = put(0, TARGET, 110);
    enter(0, "MPI_Win_flush", 11, 120);
    flushed(0, first, 125);
    lock(1, 20, TARGET, true, 130);
    unlock(0, 12, TARGET, 200);
    unlocked(0, 0, TARGET, 210);
    leave(1, 215);
    uint64_t second = put(1, TARGET, 220);
    unlock(1, 21, TARGET, 230);
    unlocked(1, second, TARGET, 240);
    finish();
    EXPECT_ROW("MPI_Win_lock", 20, SG_WAITSTATE_LOCK, 1, 70);
    EXPECT_PAIR("MPI_Win_lock", 20, "MPI_Win_unlock", 12, 1, 70, 0);
    EXPECT(states->total.waits == 1);
    end();
}

/* If MPI_Win_lock returns at once, the first flush or the unlock waits instead, whichever call is
 * left first. */
TEST("a rank waits for a lazily acquired lock in a flush or in the unlock")
{
    for (int flushes = 0; flushes < 2; flushes++) {
        begin();
        lock(0, 10, TARGET, true, 100);
        leave(0, 101);
        uint64_t first = put(0, TARGET, 110);
        enter(0, "MPI_Win_flush", 11, 120);
        flushed(0, first, 125);
        lock(1, 20, TARGET, true, 130);
        leave(1, 131);
        uint64_t second = put(1, TARGET, 140);
        if (flushes) {
            enter(1, "MPI_Win_flush", 21, 150);
            unlock(0, 12, TARGET, 200);
            flushed(1, second, 205);
            unlocked(0, 0, TARGET, 210);
            unlock(1, 22, TARGET, 220);
            unlocked(1, 0, TARGET, 230);
        } else {
            unlock(1, 21, TARGET, 150);
            unlock(0, 12, TARGET, 200);
            unlocked(1, second, TARGET, 205);
            unlocked(0, 0, TARGET, 210);
        }
        finish();
        EXPECT_PAIR(flushes ? "MPI_Win_flush" : "MPI_Win_unlock", 21, "MPI_Win_unlock", 12, 1, 50,
                    0);
        EXPECT(states->total.waits == 1);
        end();
    }
}

/* Both unlock at the same time, and neither is known to have had the lock before: each may have
 * been the first. */
TEST("no rank waits if the order of two locks is unknown")
{
    begin();
    lock(0, 10, TARGET, true, 100);
    leave(0, 101);
    uint64_t first = put(0, TARGET, 110);
    lock(1, 20, TARGET, true, 130);
    leave(1, 131);
    uint64_t second = put(1, TARGET, 140);
    unlock(1, 21, TARGET, 150);
    unlock(0, 12, TARGET, 200);
    unlocked(0, first, TARGET, 210);
    unlocked(1, second, TARGET, 215);
    finish();
    EXPECT(states->row_count == 0);
    end();
}

/* Without an operation nothing says that rank 0 had the lock; locks that are shared, of other
 * targets and of other windows exclude nobody. */
TEST("no rank waits for locks that exclude no other")
{
    uint64_t operation;

    begin();
    lock(0, 10, TARGET, true, 100);
    leave(0, 101);
    lock(1, 20, TARGET, true, 130);
    unlock(0, 12, TARGET, 200);
    unlocked(0, 0, TARGET, 210);
    leave(1, 215);
    unlock(1, 21, TARGET, 220);
    unlocked(1, 0, TARGET, 230);

    for (int other = 0; other < 2; other++) {
        int64_t at_ns = 1000 + 1000 * other;

        lock(0, 10, TARGET, other, at_ns);
        leave(0, at_ns + 1);
        operation = put(0, TARGET, at_ns + 10);
        lock(1, 20, other ? TARGET - 1 : TARGET, other, at_ns + 30);
        unlock(0, 12, TARGET, at_ns + 100);
        unlocked(0, operation, TARGET, at_ns + 110);
        leave(1, at_ns + 115);
        unlock(1, 21, other ? TARGET - 1 : TARGET, at_ns + 120);
        unlocked(1, 0, other ? TARGET - 1 : TARGET, at_ns + 130);
    }
    finish();
    EXPECT(states->row_count == 0);
    end();
}

/* Both have it at the same time, as with MPI_MODE_NOCHECK. */
TEST("no rank waits for locks with MPI_MODE_NOCHECK")
{
    begin();
    lock(0, 10, TARGET, true, 100);
    leave(0, 101);
    uint64_t first = put(0, TARGET, 110);
    lock(1, 20, TARGET, true, 120);
    leave(1, 121);
    uint64_t second = put(1, TARGET, 130);
    enter(0, "MPI_Win_flush", 11, 140);
    flushed(0, first, 145);
    enter(1, "MPI_Win_flush", 22, 150);
    flushed(1, second, 155);
    enter(2, "MPI_Win_unlock", 99, 160);
    unlock(1, 21, TARGET, 180);
    unlock(0, 12, TARGET, 190);
    unlocked(0, 0, TARGET, 195);
    unlocked(1, 0, TARGET, 200);
    leave(2, 300);
    finish();
    EXPECT(states->row_count == 0);
    end();
}

/* MPI_Win_lock_all waits for one that has a target for itself, and the latter for all that share
 * it: for the last. */
TEST("locks on all targets wait and cause waits")
{
    begin();
    lock(0, 10, TARGET, true, 100);
    leave(0, 101);
    uint64_t first = put(0, TARGET, 110);
    enter(0, "MPI_Win_flush", 11, 120);
    flushed(0, first, 125);
    lock(1, 20, SG_WAITSTATE_ALL, false, 130);
    lock(2, 30, SG_WAITSTATE_ALL, false, 140);
    leave(2, 141);
    uint64_t second = put(2, TARGET, 142);
    enter(2, "MPI_Win_flush_all", 31, 150);
    unlock(0, 12, TARGET, 200);
    unlocked(0, 0, TARGET, 210);
    leave(1, 215);
    flushed(2, second, 220);
    uint64_t third = put(1, TARGET, 222);
    enter(1, "MPI_Win_flush", 21, 224);
    flushed(1, third, 226);

    lock(0, 13, TARGET, true, 230);
    unlock(1, 22, SG_WAITSTATE_ALL, 300);
    unlocked(1, 0, SG_WAITSTATE_ALL, 305);
    unlock(2, 32, SG_WAITSTATE_ALL, 310);
    unlocked(2, 0, SG_WAITSTATE_ALL, 315);
    leave(0, 320);
    unlock(0, 14, TARGET, 330);
    unlocked(0, 0, TARGET, 340);
    finish();
    EXPECT_PAIR("MPI_Win_lock_all", 20, "MPI_Win_unlock", 12, 1, 70, 0);
    EXPECT_PAIR("MPI_Win_flush_all", 31, "MPI_Win_unlock", 12, 1, 50, 0);
    EXPECT_PAIR("MPI_Win_lock", 13, "MPI_Win_unlock_all", 32, 1, 80, 2);
    EXPECT(states->total.waits == 3);
    end();
}

/* Rounds of all ranks, a flush for every operation: what is held does not grow, and releases that
 * are lost do no harm. */
TEST("memory does not grow with the number of locks")
{
    begin();
    for (int i = 0; i < 10000; i++) {
        for (uint32_t rank = 0; rank < 3; rank++) {
            int64_t at_ns = 1000 * i + 100 * rank;

            lock(rank, 10, TARGET, true, at_ns);
            leave(rank, at_ns + 1);
            uint64_t operation = put(rank, TARGET, at_ns + 2);
            enter(rank, "MPI_Win_flush", 11, at_ns + 4);
            flushed(rank, operation, at_ns + 5);
            put(rank, TARGET, at_ns + 6);
            if (rank == 2 && i % 2 == 0)
                continue;
            unlock(rank, 12, TARGET, at_ns + 10);
            unlocked(rank, 0, TARGET, at_ns + 11);
        }
    }
    finish();
    EXPECT(counts.live_max < 40, states->row_count == 0);
    end();
}

/* ---- anything -------------------------------------------------------------------------------- */

static uint32_t below(unsigned *seed, uint32_t limit)
{
    return (uint32_t)rand_r(seed) % limit;
}

static void do_anything(unsigned *seed, int64_t time_ns)
{
    static const char *const functions[] = {
        "MPI_Win_start", "MPI_Win_complete", "MPI_Win_post",  "MPI_Win_wait",      "MPI_Win_fence",
        "MPI_Win_lock",  "MPI_Win_unlock",   "MPI_Win_flush", "MPI_Win_unlock_all"};
    const uint32_t ranks[] = {0, below(seed, RANKS), below(seed, RANKS)};
    uint32_t location = below(seed, 2 * RANKS), target = below(seed, 3);
    const struct sg_waitstate_lock of = {below(seed, 2), WORLD,
                                         target == 0 ? SG_WAITSTATE_ALL : target, below(seed, 2)};

    switch (below(seed, 8)) {
    case 0:
    case 1:
        enter(location, functions[below(seed, sizeof functions / sizeof *functions)],
              1 + below(seed, 5), time_ns);
        break;
    case 2:
        leave(location, time_ns);
        break;
    case 3:
        with_group(location, below(seed, 2), 1 + below(seed, 3), ranks);
        break;
    case 4:
        need(sg_waitstate_request_lock(tracker, location, &of));
        break;
    case 5:
        need(sg_waitstate_release_lock(tracker, location, &of));
        break;
    case 6:
        need(sg_waitstate_operation(tracker, location, of.window, target, below(seed, 20)));
        break;
    case 7:
        sg_waitstate_operated(tracker, location, below(seed, 20), time_ns);
        break;
    }
}

/* Events in no order that a program could have: nothing is lost, and nobody waits longer than his
 * call. */
TEST("contradictory events are handled safely")
{
    uint64_t waits = 0;

    for (unsigned seed = 1; seed <= 50; seed++) {
        unsigned state = seed;

        begin();
        for (int64_t at_ns = 0; at_ns < 2000; at_ns++)
            do_anything(&state, at_ns);
        finish();
        EXPECT(states->total.max_ns < 2000);
        waits += states->total.waits;
        end();
    }
    EXPECT(waits > 0);
}
