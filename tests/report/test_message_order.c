/* Tests the matching of messages, by hand: order, tags, wildcards, probes. */
#include "report/tracked.h"

/* The first of two sends on one channel is early, the second late. */
TEST("messages match first in, first out")
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
    EXPECT(states->row_count == 0, counts.messages == 2);
    end();
}

TEST("messages with different tags are matched separately")
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
    EXPECT(states->pair_count == 1);
    EXPECT_PAIR("MPI_Recv", 10, "MPI_Send", 21, 1, 40, 0);
    /* The message with the other tag was there, and could have been received first. */
    EXPECT(row_of("MPI_Recv", 10, SG_WAITSTATE_LATE_SENDER).wrong_order_waits == 1);
    end();
}

/* The receive posted first gets the message sent first, though it is waited for last. */
TEST("receives match in the order of their posts")
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
    EXPECT(states->pair_count == 1);
    EXPECT_PAIR("MPI_Wait", 11, "MPI_Send", 21, 1, 40, 0);
    end();
}

static void send_behind(uint32_t location, uint32_t line, uint32_t gap, int64_t time_ns)
{
    const struct sg_waitstate_message message = {.comm = WORLD, .peer = 1, .tag = 7, .gap = gap};

    enter(location, "MPI_Send", line, time_ns);
    need(sg_waitstate_send(tracker, location, &message));
    leave(location, time_ns + 1);
}

static void receive_behind(uint32_t location, uint32_t line, uint32_t gap, int64_t enter_ns,
                           int64_t leave_ns)
{
    const struct sg_waitstate_message message = {.comm = WORLD, .peer = 0, .tag = 7, .gap = gap};

    enter(location, "MPI_Recv", line, enter_ns);
    need(sg_waitstate_receive(tracker, location, &message, leave_ns));
    leave(location, leave_ns);
}

/* Messages 0 to 5: 1 and 2 have no send, 2 and 4 no receive, in the events. */
static void gaps(bool sends_are_first)
{
    begin();
    for (int turn = 0; turn < 2; turn++) {
        if ((turn == 0) == sends_are_first) {
            send_behind(0, 20, 0, 100);
            send_behind(0, 23, 2, 130);
            send_behind(0, 24, 0, 140);
            send_behind(0, 25, 0, 150);
        } else {
            receive_behind(1, 10, 0, 90, 101);
            receive_behind(1, 11, 0, 110, 111);
            receive_behind(1, 13, 1, 125, 131);
            receive_behind(1, 15, 1, 145, 151);
        }
    }
    finish();
    EXPECT(counts.messages == 3, counts.unmatched_sends == 1, counts.unmatched_receives == 1);
    EXPECT_PAIR("MPI_Recv", 10, "MPI_Send", 20, 1, 10, 0);
    EXPECT_PAIR("MPI_Recv", 13, "MPI_Send", 23, 1, 5, 0);
    EXPECT_PAIR("MPI_Recv", 15, "MPI_Send", 25, 1, 5, 0);
    EXPECT(states->pair_count == 3);
    end();
}

TEST("messages missing at one end do not shift messages sent before")
{
    gaps(true);
}

TEST("messages missing at one end do not shift messages received before")
{
    gaps(false);
}

/* A wildcard's sender and tag are those of its completion. */
TEST("a wildcard receive's sender is the one in its completion")
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
    EXPECT(row_of("MPI_Wait", 11, SG_WAITSTATE_LATE_SENDER).wrong_order_waits == 1,
           counts.messages == 2, counts.unmatched_sends == 0);
    end();
}

TEST("a late sender is in wrong order if an older message is received later")
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
    EXPECT(row_of("MPI_Recv", 10, SG_WAITSTATE_LATE_SENDER).wrong_order_waits == 1,
           row_of("MPI_Recv", 10, SG_WAITSTATE_LATE_SENDER).wrong_order_ns == 60,
           row_of("MPI_Recv", 12, SG_WAITSTATE_LATE_SENDER).of.waits == 1,
           row_of("MPI_Recv", 12, SG_WAITSTATE_LATE_SENDER).wrong_order_waits == 0,
           row_of("MPI_Recv", 13, SG_WAITSTATE_LATE_SENDER).wrong_order_waits == 0,
           counts.unmatched_sends == 1);
    end();
}

TEST("cancelled messages are not matched")
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
    EXPECT(states->pair_count == 1);
    EXPECT_PAIR("MPI_Recv", 12, "MPI_Send", 22, 1, 40, 0);
    EXPECT(counts.messages == 1, counts.unmatched_sends == 0);
    end();
}

/* A receive that stays open does not keep others for long, and they are all matched. */
TEST("a receive that never completes holds up a bounded number of messages")
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
    EXPECT(counts.live_max < 5 * SG_WAITSTATE_HELD);
    end();
}

/* Memory is that of what is outstanding. */
TEST("memory does not grow with the number of messages")
{
    begin();
    for (int i = 0; i < 100000; i++) {
        enter(1, "MPI_Recv", 11, 100 * i + 10);
        send_call(0, 20, 1, (uint32_t)i, 100 * i + 40);
        receive(1, 0, (uint32_t)i, 100 * i + 50);
        leave(1, 100 * i + 50);
    }
    finish();
    EXPECT(counts.live_max <= 8);
    end();
}

/* ---- probes ---------------------------------------------------------------------------------- */

TEST("MPI_Probe waits for the message received next")
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
    EXPECT(states->row_count == 1);
    EXPECT_PAIR("MPI_Probe", 10, "MPI_Send", 20, 1, 50, 0);
    end();
}

TEST("MPI_Mprobe waits for its message")
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
    EXPECT(states->row_count == 1);
    EXPECT_PAIR("MPI_Mprobe", 10, "MPI_Send", 20, 1, 30, 0);
    end();
}
