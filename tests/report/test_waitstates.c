/* Wait states by hand: who waits where, for whom, and how long. Times are ns; rank r is location r,
 * its second thread location RANKS + r. */
#include "lib/unit.h"
#include "report/aggregate.h"
#include "report/filter.h"
#include "report/waitstates/tracker.h"

#include <stdlib.h>
#include <string.h>

#define RANKS 4
#define THREAD RANKS
#define WORLD 0

static struct sg_aggregate *aggregate;
static struct sg_waitstate_sums *sums;
static struct sg_waitstate_tracker *tracker;
static struct sg_waitstates *states;
static struct sg_waitstate_counts counts;

static void need(enum sg_status status)
{
    if (status != SG_OK)
        abort();
}

static void begin_filtered(const struct sg_filter *filter)
{
    uint32_t comm;

    need(sg_aggregate_create(RANKS, &aggregate));
    need(sg_aggregate_comm(aggregate, "MPI_COMM_WORLD", RANKS, 0, &comm));
    need(sg_aggregate_comm(aggregate, "half", 2, 0, &comm));
    need(sg_waitstate_sums_create(aggregate, filter, &sums));
    need(sg_waitstate_tracker_create(sums, RANKS, 2 * RANKS, &tracker));
}

static void begin(void)
{
    begin_filtered(NULL);
}

static void finish(void)
{
    need(sg_waitstate_tracker_finish(tracker, &counts));
    need(sg_waitstate_sums_finish(sums, &states));
    CU_ASSERT_EQUAL(counts.live, 0);
}

static void end(void)
{
    sg_waitstate_tracker_destroy(tracker);
    sg_waitstate_sums_destroy(sums);
    sg_waitstates_free(states);
    sg_aggregate_destroy(aggregate);
}

/* A call site by its line. */
static uint32_t site_of(uint32_t line)
{
    const struct sg_site_text text = {
        .id = line, .function = "f", .file = "a.c", .line = line, .module = "a"};
    uint32_t site;

    need(sg_aggregate_site(aggregate, &text, &site));
    return site;
}

static void enter(uint32_t location, const char *function, uint32_t line, int64_t time_ns)
{
    struct sg_waitstate_enter call = {.time_ns = time_ns};

    need(sg_waitstate_sums_function(sums, function, &call.who.function));
    call.who.site = site_of(line);
    call.who.rank = location % RANKS;
    call.only_tests = strncmp(function, "MPI_Test", 8) == 0;
    call.is_buffered = strncmp(function, "MPI_Bsend", 9) == 0;
    call.is_probe = strcmp(function, "MPI_Probe") == 0 || strcmp(function, "MPI_Mprobe") == 0;
    need(sg_waitstate_enter(tracker, location, &call));
}

static void leave(uint32_t location, int64_t time_ns)
{
    need(sg_waitstate_leave(tracker, location, time_ns));
}

static struct sg_waitstate_message message_of(uint32_t peer, uint32_t tag)
{
    return (struct sg_waitstate_message){.comm = WORLD, .peer = peer, .tag = tag};
}

static void send(uint32_t location, uint32_t to, uint32_t tag)
{
    const struct sg_waitstate_message message = message_of(to, tag);

    need(sg_waitstate_send(tracker, location, &message));
}

static void isend(uint32_t location, uint32_t to, uint32_t tag, uint64_t request)
{
    const struct sg_waitstate_message message = message_of(to, tag);

    need(sg_waitstate_isend(tracker, location, &message, request));
}

static void sent(uint32_t location, uint64_t request)
{
    need(sg_waitstate_sent(tracker, location, request));
}

static void receive(uint32_t location, uint32_t from, uint32_t tag, int64_t time_ns)
{
    const struct sg_waitstate_message message = message_of(from, tag);

    need(sg_waitstate_receive(tracker, location, &message, time_ns));
}

static void post(uint32_t location, uint64_t request)
{
    need(sg_waitstate_post(tracker, location, request));
}

static void received(uint32_t location, uint32_t from, uint32_t tag, uint64_t request,
                     int64_t time_ns)
{
    const struct sg_waitstate_message message = message_of(from, tag);

    need(sg_waitstate_received(tracker, location, &message, request, time_ns));
}

/* Whole calls that wait for nothing. */
static void send_call(uint32_t location, uint32_t line, uint32_t to, uint32_t tag, int64_t time_ns)
{
    enter(location, "MPI_Send", line, time_ns);
    send(location, to, tag);
    leave(location, time_ns + 1);
}

static void post_call(uint32_t location, uint32_t line, uint64_t request, int64_t time_ns)
{
    enter(location, "MPI_Irecv", line, time_ns);
    post(location, request);
    leave(location, time_ns + 1);
}

static bool is_at(const struct sg_waitstate_place *place, const char *function, uint32_t line)
{
    return strcmp(place->function, function) == 0 && place->site.line == line;
}

static struct sg_waitstate_row row_of(const char *function, uint32_t line,
                                      enum sg_waitstate_kind kind)
{
    for (uint32_t i = 0; i < states->row_count; i++) {
        if (is_at(&states->rows[i].at, function, line) && states->rows[i].kind == kind)
            return states->rows[i];
    }
    return (struct sg_waitstate_row){0};
}

static struct sg_waitstate_pair pair_of(const char *function, uint32_t line, const char *other,
                                        uint32_t other_line)
{
    for (uint32_t i = 0; i < states->pair_count; i++) {
        if (is_at(&states->pairs[i].at, function, line) &&
            is_at(&states->pairs[i].other, other, other_line))
            return states->pairs[i];
    }
    return (struct sg_waitstate_pair){0};
}

#define EXPECT_ROW(function, line, kind_, waits_, sum_ns)                                          \
    do {                                                                                           \
        const struct sg_waitstate_row row = row_of(function, line, kind_);                         \
                                                                                                   \
        CU_ASSERT_EQUAL(row.of.waits, waits_);                                                     \
        CU_ASSERT_EQUAL(row.of.wait_ns, sum_ns);                                                   \
    } while (0)

#define EXPECT_PAIR(function, line, other, other_line, waits_, sum_ns, rank_)                      \
    do {                                                                                           \
        const struct sg_waitstate_pair pair = pair_of(function, line, other, other_line);          \
                                                                                                   \
        CU_ASSERT_EQUAL(pair.of.waits, waits_);                                                    \
        CU_ASSERT_EQUAL(pair.of.wait_ns, sum_ns);                                                  \
        CU_ASSERT_EQUAL(pair.rank, rank_);                                                         \
    } while (0)

/* ---- late senders ---------------------------------------------------------------------------- */

static void test_late_sender(void)
{
    begin();
    enter(1, "MPI_Recv", 10, 100);
    send_call(0, 20, 1, 7, 150);
    receive(1, 0, 7, 160);
    leave(1, 161);
    /* This one is on time. */
    send_call(0, 20, 1, 7, 200);
    enter(1, "MPI_Recv", 10, 250);
    receive(1, 0, 7, 260);
    leave(1, 261);
    finish();
    CU_ASSERT_EQUAL(states->row_count, 1);
    EXPECT_ROW("MPI_Recv", 10, SG_WAITSTATE_LATE_SENDER, 1, 50);
    EXPECT_PAIR("MPI_Recv", 10, "MPI_Send", 20, 1, 50, 0);
    CU_ASSERT_EQUAL(states->ranks[1].waited.wait_ns, 50);
    CU_ASSERT_EQUAL(states->ranks[1].caused.waits, 0);
    CU_ASSERT_EQUAL(states->ranks[0].caused.wait_ns, 50);
    CU_ASSERT_EQUAL(states->total.waits, 1);
    CU_ASSERT_EQUAL(counts.messages, 2);
    CU_ASSERT_EQUAL(counts.unmatched_sends + counts.unmatched_receives + counts.violations, 0);
    end();
}

static void test_wait_call(void)
{
    begin();
    post_call(1, 10, 5, 100);
    enter(1, "MPI_Wait", 11, 300);
    send_call(2, 20, 1, 7, 420);
    received(1, 2, 7, 5, 440);
    leave(1, 450);
    /* Sent between post and wait: no wait. */
    post_call(1, 10, 5, 500);
    send_call(2, 20, 1, 7, 520);
    enter(1, "MPI_Wait", 11, 600);
    received(1, 2, 7, 5, 610);
    leave(1, 611);
    finish();
    CU_ASSERT_EQUAL(states->row_count, 1);
    EXPECT_PAIR("MPI_Wait", 11, "MPI_Send", 20, 1, 120, 2);
    end();
}

static void test_waitall(void)
{
    begin();
    post_call(0, 10, 1, 100);
    post_call(0, 10, 2, 110);
    post_call(0, 10, 3, 120);
    enter(0, "MPI_Waitall", 11, 200);
    send_call(1, 21, 0, 7, 250);
    send_call(3, 23, 0, 7, 290);
    send_call(2, 22, 0, 7, 270);
    received(0, 1, 7, 1, 300);
    received(0, 2, 7, 2, 300);
    received(0, 3, 7, 3, 300);
    leave(0, 300);
    finish();
    /* One wait, for the last. */
    CU_ASSERT_EQUAL(states->pair_count, 1);
    EXPECT_PAIR("MPI_Waitall", 11, "MPI_Send", 23, 1, 90, 3);
    end();
}

static void test_waitany(void)
{
    begin();
    post_call(0, 10, 1, 100);
    post_call(0, 10, 2, 110);
    enter(0, "MPI_Waitany", 11, 200);
    send_call(2, 22, 0, 7, 270);
    received(0, 2, 7, 2, 280);
    leave(0, 280);
    enter(0, "MPI_Waitany", 12, 300);
    send_call(1, 21, 0, 7, 340);
    received(0, 1, 7, 1, 350);
    leave(0, 350);
    finish();
    EXPECT_PAIR("MPI_Waitany", 11, "MPI_Send", 22, 1, 70, 2);
    EXPECT_PAIR("MPI_Waitany", 12, "MPI_Send", 21, 1, 40, 1);
    CU_ASSERT_EQUAL(counts.messages, 2);
    end();
}

static void test_tests_do_not_wait(void)
{
    begin();
    post_call(0, 10, 1, 100);
    enter(0, "MPI_Test", 11, 200);
    send_call(1, 21, 0, 7, 210);
    received(0, 1, 7, 1, 220);
    leave(0, 220);
    finish();
    CU_ASSERT_EQUAL(states->row_count, 0);
    CU_ASSERT_EQUAL(counts.messages, 1);
    end();
}

static void test_persistent(void)
{
    begin();
    for (int round = 0; round < 3; round++) {
        int64_t at_ns = 1000 * round;

        enter(1, "MPI_Start", 10, at_ns);
        post(1, 5);
        leave(1, at_ns + 1);
        enter(1, "MPI_Wait", 11, at_ns + 100);
        enter(0, "MPI_Start", 20, at_ns + 130);
        isend(0, 1, 7, 6);
        leave(0, at_ns + 131);
        received(1, 0, 7, 5, at_ns + 150);
        leave(1, at_ns + 150);
        enter(0, "MPI_Wait", 21, at_ns + 160);
        sent(0, 6);
        leave(0, at_ns + 170);
    }
    finish();
    CU_ASSERT_EQUAL(states->row_count, 1);
    EXPECT_PAIR("MPI_Wait", 11, "MPI_Start", 20, 3, 90, 0);
    CU_ASSERT_EQUAL(row_of("MPI_Wait", 11, SG_WAITSTATE_LATE_SENDER).of.max_ns, 30);
    end();
}

/* ---- late receivers -------------------------------------------------------------------------- */

static void test_late_receiver(void)
{
    begin();
    enter(0, "MPI_Ssend", 20, 100);
    send(0, 1, 7);
    enter(1, "MPI_Recv", 10, 180);
    receive(1, 0, 7, 190);
    leave(1, 190);
    leave(0, 200);
    /* A send that ended before the receive was posted has not waited for it. */
    send_call(0, 21, 1, 7, 300);
    enter(1, "MPI_Recv", 10, 350);
    receive(1, 0, 7, 360);
    leave(1, 360);
    /* Nor has a buffered one, whatever it did. */
    enter(0, "MPI_Bsend", 22, 400);
    send(0, 1, 7);
    enter(1, "MPI_Recv", 10, 450);
    receive(1, 0, 7, 460);
    leave(1, 460);
    leave(0, 470);
    finish();
    CU_ASSERT_EQUAL(states->row_count, 1);
    EXPECT_ROW("MPI_Ssend", 20, SG_WAITSTATE_LATE_RECEIVER, 1, 80);
    EXPECT_PAIR("MPI_Ssend", 20, "MPI_Recv", 10, 1, 80, 1);
    end();
}

/* The receive was posted long before it is complete. */
static void test_late_receiver_of_requests(void)
{
    begin();
    enter(0, "MPI_Isend", 20, 100);
    isend(0, 1, 7, 1);
    leave(0, 101);
    enter(0, "MPI_Wait", 21, 150);
    post_call(1, 10, 9, 230);
    sent(0, 1);
    leave(0, 240);
    enter(1, "MPI_Wait", 11, 500);
    received(1, 0, 7, 9, 510);
    leave(1, 510);
    finish();
    CU_ASSERT_EQUAL(states->pair_count, 1);
    EXPECT_PAIR("MPI_Wait", 21, "MPI_Irecv", 10, 1, 80, 1);
    end();
}

static void test_sendrecv(void)
{
    begin();
    enter(0, "MPI_Sendrecv", 20, 100);
    send(0, 1, 7);
    enter(1, "MPI_Sendrecv", 30, 170);
    send(1, 0, 8);
    receive(0, 1, 8, 180);
    leave(0, 180);
    receive(1, 0, 7, 185);
    leave(1, 185);
    finish();
    /* Its peer was late with both: that is one wait. */
    CU_ASSERT_EQUAL(states->total.waits, 1);
    EXPECT_PAIR("MPI_Sendrecv", 20, "MPI_Sendrecv", 30, 1, 70, 1);
    EXPECT_ROW("MPI_Sendrecv", 20, SG_WAITSTATE_LATE_SENDER, 1, 70);
    end();
}

/* ---- order ----------------------------------------------------------------------------------- */

/* The first of two sends on one channel is early, the second late. */
static void test_first_in_first_out(void)
{
    begin();
    send_call(0, 20, 1, 7, 100);
    send_call(0, 21, 1, 7, 110);
    enter(1, "MPI_Recv", 10, 105);
    receive(1, 0, 7, 120);
    leave(1, 120);
    enter(1, "MPI_Recv", 11, 130);
    receive(1, 0, 7, 140);
    leave(1, 140);
    finish();
    CU_ASSERT_EQUAL(states->row_count, 0);
    CU_ASSERT_EQUAL(counts.messages, 2);
    end();
}

static void test_tags_are_apart(void)
{
    begin();
    send_call(0, 20, 1, 8, 100);
    enter(1, "MPI_Recv", 10, 150);
    send_call(0, 21, 1, 7, 190);
    receive(1, 0, 7, 200);
    leave(1, 200);
    enter(1, "MPI_Recv", 11, 210);
    receive(1, 0, 8, 220);
    leave(1, 220);
    finish();
    CU_ASSERT_EQUAL(states->pair_count, 1);
    EXPECT_PAIR("MPI_Recv", 10, "MPI_Send", 21, 1, 40, 0);
    /* The message with the other tag was there, and could have been received first. */
    CU_ASSERT_EQUAL(row_of("MPI_Recv", 10, SG_WAITSTATE_LATE_SENDER).wrong_order_waits, 1);
    end();
}

/* The receive posted first gets the message sent first, though it is waited for last. */
static void test_order_of_posts(void)
{
    begin();
    post_call(1, 10, 1, 50);
    post_call(1, 10, 2, 60);
    send_call(0, 20, 1, 7, 100);
    enter(1, "MPI_Wait", 11, 150);
    send_call(0, 21, 1, 7, 190);
    received(1, 0, 7, 2, 200);
    leave(1, 200);
    enter(1, "MPI_Wait", 12, 210);
    received(1, 0, 7, 1, 220);
    leave(1, 220);
    finish();
    CU_ASSERT_EQUAL(states->pair_count, 1);
    EXPECT_PAIR("MPI_Wait", 11, "MPI_Send", 21, 1, 40, 0);
    end();
}

/* A wildcard's sender and tag are those of its completion. */
static void test_wildcards(void)
{
    begin();
    post_call(1, 10, 1, 50); /* of any */
    post_call(1, 10, 2, 60); /* of rank 0 */
    send_call(2, 22, 1, 9, 100);
    enter(1, "MPI_Wait", 11, 150);
    send_call(0, 20, 1, 7, 190);
    received(1, 0, 7, 2, 200);
    leave(1, 200);
    enter(1, "MPI_Wait", 12, 210);
    received(1, 2, 9, 1, 220);
    leave(1, 220);
    finish();
    EXPECT_PAIR("MPI_Wait", 11, "MPI_Send", 20, 1, 40, 0);
    CU_ASSERT_EQUAL(row_of("MPI_Wait", 11, SG_WAITSTATE_LATE_SENDER).wrong_order_waits, 1);
    CU_ASSERT_EQUAL(counts.messages, 2);
    CU_ASSERT_EQUAL(counts.unmatched_sends, 0);
    end();
}

static void test_wrong_order(void)
{
    begin();
    send_call(2, 22, 1, 7, 100);
    enter(1, "MPI_Recv", 10, 200);
    send_call(0, 20, 1, 7, 260);
    receive(1, 0, 7, 270);
    leave(1, 270);
    enter(1, "MPI_Recv", 11, 280);
    receive(1, 2, 7, 290);
    leave(1, 290);
    /* In order: the other message is sent after the late one. */
    enter(1, "MPI_Recv", 12, 300);
    send_call(0, 20, 1, 7, 330);
    send_call(2, 22, 1, 7, 335);
    receive(1, 0, 7, 340);
    leave(1, 340);
    enter(1, "MPI_Recv", 11, 350);
    receive(1, 2, 7, 360);
    leave(1, 360);
    /* And one that is never received is no reason. */
    send_call(3, 23, 1, 7, 400);
    enter(1, "MPI_Recv", 13, 410);
    send_call(0, 20, 1, 7, 430);
    receive(1, 0, 7, 440);
    leave(1, 440);
    finish();
    CU_ASSERT_EQUAL(row_of("MPI_Recv", 10, SG_WAITSTATE_LATE_SENDER).wrong_order_waits, 1);
    CU_ASSERT_EQUAL(row_of("MPI_Recv", 10, SG_WAITSTATE_LATE_SENDER).wrong_order_ns, 60);
    CU_ASSERT_EQUAL(row_of("MPI_Recv", 12, SG_WAITSTATE_LATE_SENDER).of.waits, 1);
    CU_ASSERT_EQUAL(row_of("MPI_Recv", 12, SG_WAITSTATE_LATE_SENDER).wrong_order_waits, 0);
    CU_ASSERT_EQUAL(row_of("MPI_Recv", 13, SG_WAITSTATE_LATE_SENDER).wrong_order_waits, 0);
    CU_ASSERT_EQUAL(counts.unmatched_sends, 1);
    end();
}

static void test_cancelled(void)
{
    begin();
    post_call(1, 10, 1, 50);
    enter(1, "MPI_Wait", 11, 60);
    need(sg_waitstate_cancelled(tracker, 1, 1));
    leave(1, 61);
    enter(0, "MPI_Isend", 20, 70);
    isend(0, 1, 7, 3);
    leave(0, 71);
    enter(0, "MPI_Wait", 21, 80);
    need(sg_waitstate_cancelled(tracker, 0, 3));
    leave(0, 81);
    /* Neither takes part. */
    enter(1, "MPI_Recv", 12, 100);
    send_call(0, 22, 1, 7, 140);
    receive(1, 0, 7, 150);
    leave(1, 150);
    finish();
    CU_ASSERT_EQUAL(states->pair_count, 1);
    EXPECT_PAIR("MPI_Recv", 12, "MPI_Send", 22, 1, 40, 0);
    CU_ASSERT_EQUAL(counts.messages, 1);
    CU_ASSERT_EQUAL(counts.unmatched_sends, 0);
    end();
}

/* A receive that stays open does not keep others for long, and they are all matched. */
static void test_open_receive(void)
{
    const int rounds = 20 * SG_WAITSTATE_HELD;

    begin();
    post_call(1, 10, 1, 1);
    for (int i = 0; i < rounds; i++) {
        enter(1, "MPI_Recv", 11, 100 * i + 10);
        send_call(0, 20, 1, 7, 100 * i + 40);
        receive(1, 0, 7, 100 * i + 50);
        leave(1, 100 * i + 50);
    }
    finish();
    EXPECT_ROW("MPI_Recv", 11, SG_WAITSTATE_LATE_SENDER, (uint64_t)rounds, 30u * rounds);
    CU_ASSERT(counts.live_max < 5 * SG_WAITSTATE_HELD);
    end();
}

/* Memory is that of what is outstanding. */
static void test_memory(void)
{
    begin();
    for (int i = 0; i < 100000; i++) {
        enter(1, "MPI_Recv", 11, 100 * i + 10);
        send_call(0, 20, 1, (uint32_t)i, 100 * i + 40);
        receive(1, 0, (uint32_t)i, 100 * i + 50);
        leave(1, 100 * i + 50);
    }
    finish();
    CU_ASSERT(counts.live_max <= 8);
    end();
}

/* ---- probes ---------------------------------------------------------------------------------- */

static void test_probe(void)
{
    begin();
    enter(1, "MPI_Probe", 10, 100);
    send_call(0, 20, 1, 7, 150);
    leave(1, 160);
    enter(1, "MPI_Recv", 11, 170);
    receive(1, 0, 7, 180);
    leave(1, 180);
    /* A probe whose message was there has not waited for it. */
    send_call(0, 20, 1, 7, 200);
    enter(1, "MPI_Probe", 10, 210);
    leave(1, 220);
    enter(1, "MPI_Recv", 11, 230);
    receive(1, 0, 7, 240);
    leave(1, 240);
    finish();
    CU_ASSERT_EQUAL(states->row_count, 1);
    EXPECT_PAIR("MPI_Probe", 10, "MPI_Send", 20, 1, 50, 0);
    end();
}

static void test_mprobe(void)
{
    begin();
    enter(1, "MPI_Mprobe", 10, 100);
    send_call(0, 20, 1, 7, 130);
    send_call(0, 21, 1, 7, 135);
    post(1, 4);
    leave(1, 140);
    /* Another receive in between takes the next message. */
    enter(1, "MPI_Recv", 12, 150);
    receive(1, 0, 7, 155);
    leave(1, 155);
    enter(1, "MPI_Mrecv", 11, 170);
    received(1, 0, 7, 4, 180);
    leave(1, 180);
    finish();
    CU_ASSERT_EQUAL(states->row_count, 1);
    EXPECT_PAIR("MPI_Mprobe", 10, "MPI_Send", 20, 1, 30, 0);
    end();
}

/* ---- threads, clocks, nesting ---------------------------------------------------------------- */

static void test_threads(void)
{
    begin();
    enter(1, "MPI_Recv", 10, 100);
    enter(1 + THREAD, "MPI_Recv", 11, 110);
    send_call(0, 20, 1, 8, 150);
    receive(1 + THREAD, 0, 8, 160);
    leave(1 + THREAD, 160);
    send_call(0 + THREAD, 21, 1, 7, 180);
    receive(1, 0, 7, 190);
    leave(1, 190);
    /* One thread posts, another waits. */
    post_call(1, 12, 3, 200);
    enter(1 + THREAD, "MPI_Wait", 13, 210);
    send_call(0, 22, 1, 9, 260);
    received(1 + THREAD, 0, 9, 3, 270);
    leave(1 + THREAD, 270);
    finish();
    EXPECT_PAIR("MPI_Recv", 11, "MPI_Send", 20, 1, 40, 0);
    EXPECT_PAIR("MPI_Recv", 10, "MPI_Send", 21, 1, 80, 0);
    EXPECT_PAIR("MPI_Wait", 13, "MPI_Send", 22, 1, 50, 0);
    CU_ASSERT_EQUAL(states->ranks[1].waited.waits, 3);
    end();
}

/* By its clock the receive is over before the send begins: the wait ends with it. */
static void test_clock_violation(void)
{
    begin();
    enter(1, "MPI_Recv", 10, 100);
    receive(1, 0, 7, 140);
    leave(1, 140);
    send_call(0, 20, 1, 7, 190);
    finish();
    CU_ASSERT_EQUAL(counts.violations, 1);
    CU_ASSERT_EQUAL(counts.largest_violation_ns, 50);
    EXPECT_PAIR("MPI_Recv", 10, "MPI_Send", 20, 1, 40, 0);
    end();
}

static void test_calls_within_calls(void)
{
    begin();
    enter(1, "MPI_File_read_all", 10, 100);
    enter(1, "MPI_Recv", 99, 110);
    send_call(0, 20, 1, 7, 150);
    receive(1, 0, 7, 160);
    leave(1, 160);
    leave(1, 170);
    finish();
    CU_ASSERT_EQUAL(states->row_count, 1);
    EXPECT_PAIR("MPI_File_read_all", 10, "MPI_Send", 20, 1, 50, 0);
    end();
}

static void test_nonsense(void)
{
    begin();
    send(0, 1, 7); /* in no call */
    sent(0, 77);
    leave(3, 5);
    enter(0, "MPI_Wait", 10, 10);
    received(0, 1, 7, 4711, 12);
    sent(0, 4711);
    isend(0, RANKS, 7, 1);
    need(sg_waitstate_cancelled(tracker, 0, 4711));
    enter(2 * RANKS, "MPI_Wait", 10, 10);
    finish();
    CU_ASSERT_EQUAL(counts.messages + counts.unmatched_sends, 0);
    end();
}

/* ---- collectives ----------------------------------------------------------------------------- */

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

/* All enter at different times, rank 2 last, and leave at 500. */
static void all_ranks(const char *function, enum sg_waitstate_pattern pattern, uint32_t root)
{
    static const int64_t begin_ns[RANKS] = {100, 130, 180, 150};
    static const uint32_t order[RANKS] = {0, 1, 3, 2};

    begin();
    for (uint32_t i = 0; i < RANKS; i++)
        enter(order[i], function, 10 + order[i], begin_ns[order[i]]);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        collective(rank, pattern, 3, root);
        leave(rank, 500);
    }
    finish();
}

static void test_everybody_waits(void)
{
    all_ranks("MPI_Alltoall", SG_PATTERN_NXN, 0);
    CU_ASSERT_EQUAL(states->row_count, 3);
    EXPECT_PAIR("MPI_Alltoall", 10, "MPI_Alltoall", 12, 1, 80, 2);
    EXPECT_PAIR("MPI_Alltoall", 11, "MPI_Alltoall", 12, 1, 50, 2);
    EXPECT_PAIR("MPI_Alltoall", 13, "MPI_Alltoall", 12, 1, 30, 2);
    EXPECT_ROW("MPI_Alltoall", 10, SG_WAITSTATE_NXN, 1, 80);
    end();
}

static void test_late_broadcast(void)
{
    all_ranks("MPI_Bcast", SG_PATTERN_BROADCAST, 3);
    CU_ASSERT_EQUAL(states->row_count, 2);
    EXPECT_ROW("MPI_Bcast", 10, SG_WAITSTATE_LATE_BROADCAST, 1, 50);
    EXPECT_PAIR("MPI_Bcast", 11, "MPI_Bcast", 13, 1, 20, 3);
    end();
}

static void test_early_reduce(void)
{
    all_ranks("MPI_Gather", SG_PATTERN_REDUCE, 1);
    CU_ASSERT_EQUAL(states->row_count, 1);
    EXPECT_ROW("MPI_Gather", 11, SG_WAITSTATE_EARLY_REDUCE, 1, 50);
    EXPECT_PAIR("MPI_Gather", 11, "MPI_Gather", 12, 1, 50, 2);
    end();
}

static void test_early_scan(void)
{
    all_ranks("MPI_Scan", SG_PATTERN_SCAN, 0);
    CU_ASSERT_EQUAL(states->row_count, 1);
    EXPECT_ROW("MPI_Scan", 13, SG_WAITSTATE_EARLY_SCAN, 1, 30);
    EXPECT_PAIR("MPI_Scan", 13, "MPI_Scan", 12, 1, 30, 2);
    end();
}

/* It waits in the call that completes it, for the call that starts it elsewhere. */
static void test_nonblocking_collective(void)
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
    CU_ASSERT_EQUAL(states->pair_count, 1);
    EXPECT_PAIR("MPI_Wait", 20, "MPI_Ialltoall", 12, 1, 70, 2);
    end();
}

/* Of nothing, and one left before another came: nobody waited. */
static void test_without_data(void)
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
    CU_ASSERT_EQUAL(states->row_count, 0);
    end();
}

static void test_incomplete_collectives(void)
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
    CU_ASSERT_EQUAL(states->row_count, 0);
    end();
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void test_filter(void)
{
    struct sg_filter filter = {.site = "a.c:10", .ranks = "1", .time = "0ns:1us"};
    char message[200];

    CU_ASSERT_FATAL(sg_filter_parse(&filter, message, sizeof message));
    begin_filtered(&filter);
    for (int64_t at_ns = 0; at_ns <= 2000; at_ns += 2000) {
        for (uint32_t line = 10; line < 12; line++) {
            for (uint32_t rank = 1; rank < 3; rank++) {
                int64_t begin_ns = at_ns + 100 * line + 10 * rank - 1000;

                enter(rank, "MPI_Recv", line, begin_ns);
                send_call(0, 20, rank, 7, begin_ns + 5);
                receive(rank, 0, 7, begin_ns + 8);
                leave(rank, begin_ns + 8);
            }
        }
    }
    finish();
    CU_ASSERT_EQUAL(states->total.waits, 1);
    EXPECT_ROW("MPI_Recv", 10, SG_WAITSTATE_LATE_SENDER, 1, 5);
    end();
    sg_filter_clear(&filter);
}

/* Of several ranks at fault the pair names the one that was waited for longest. */
static void test_rank_at_fault(void)
{
    static const int64_t late_ns[] = {0, 30, 50, 30};

    begin();
    for (uint32_t rank = 1; rank < RANKS; rank++) {
        for (int i = 0; i < (rank == 3 ? 2 : 1); i++) {
            int64_t begin_ns = 1000 * rank + 100 * i;

            enter(0, "MPI_Recv", 10, begin_ns);
            send_call(rank, 20, 0, 7, begin_ns + late_ns[rank]);
            receive(0, rank, 7, begin_ns + 60);
            leave(0, begin_ns + 60);
        }
    }
    finish();
    EXPECT_PAIR("MPI_Recv", 10, "MPI_Send", 20, 4, 140, 3);
    CU_ASSERT_EQUAL(states->pairs[0].ranks, 3);
    CU_ASSERT_EQUAL(states->pairs[0].rank_ns, 60);
    CU_ASSERT_EQUAL(states->pairs[0].rank_waits, 2);
    CU_ASSERT_EQUAL(states->pairs[0].of.max_ns, 50);
    end();
}

const struct unit_test unit_tests[] = {
    {"a receive waits from its begin to its send's", test_late_sender},
    {"the wait of a nonblocking receive is in the call that completes it", test_wait_call},
    {"MPI_Waitall waits once, for the last message", test_waitall},
    {"MPI_Waitany waits for what it completes", test_waitany},
    {"a test does not wait", test_tests_do_not_wait},
    {"persistent messages begin with MPI_Start", test_persistent},
    {"a send that ends after its receive is posted has waited for it", test_late_receiver},
    {"the wait of a nonblocking send is in the call that completes it",
     test_late_receiver_of_requests},
    {"MPI_Sendrecv waits once", test_sendrecv},
    {"messages match first in, first out", test_first_in_first_out},
    {"messages with different tags are apart", test_tags_are_apart},
    {"receives match in the order of their posts", test_order_of_posts},
    {"a wildcard's sender is that of its completion", test_wildcards},
    {"a late sender is in wrong order if an older message is received later", test_wrong_order},
    {"what is cancelled takes no part", test_cancelled},
    {"a receive that is never complete holds up only so many", test_open_receive},
    {"memory does not grow with messages", test_memory},
    {"MPI_Probe waits for the message received next", test_probe},
    {"MPI_Mprobe waits for its message", test_mprobe},
    {"threads of a rank share requests, and have calls of their own", test_threads},
    {"a message received before it was sent is counted", test_clock_violation},
    {"a call within a call is part of it", test_calls_within_calls},
    {"events that fit nothing are left out", test_nonsense},
    {"in all-to-all operations everybody waits for the last", test_everybody_waits},
    {"in broadcasts everybody waits for the root", test_late_broadcast},
    {"in reductions the root waits for the last of the others", test_early_reduce},
    {"in prefix operations ranks wait for the lower ones", test_early_scan},
    {"a nonblocking collective waits where it is completed", test_nonblocking_collective},
    {"operations without data need not have waited", test_without_data},
    {"incomplete and contradictory collectives are left out", test_incomplete_collectives},
    {"a filter's waits are counted alone", test_filter},
    {"a pair names the rank that was waited for longest", test_rank_at_fault},
    {NULL, NULL},
};
