/* Tests wait states of messages by hand: which rank waits where, for which other, and how long. */
#include "report/tracked.h"

/* ---- late senders ---------------------------------------------------------------------------- */

TEST("a receive waits from its begin to the begin of its send")
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
    EXPECT(states->row_count == 1);
    EXPECT_ROW("MPI_Recv", 10, SG_WAITSTATE_LATE_SENDER, 1, 50);
    EXPECT_PAIR("MPI_Recv", 10, "MPI_Send", 20, 1, 50, 0);
    EXPECT(states->ranks[1].waited.wait_ns == 50, states->ranks[1].caused.waits == 0,
           states->ranks[0].caused.wait_ns == 50, states->total.waits == 1, counts.messages == 2,
           counts.unmatched_sends + counts.unmatched_receives + counts.violations == 0);
    end();
}

TEST("a nonblocking receive waits in the call that completes it")
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
    EXPECT(states->row_count == 1);
    EXPECT_PAIR("MPI_Wait", 11, "MPI_Send", 20, 1, 120, 2);
    end();
}

TEST("MPI_Waitall waits once, for the last message")
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
    EXPECT(states->pair_count == 1);
    EXPECT_PAIR("MPI_Waitall", 11, "MPI_Send", 23, 1, 90, 3);
    end();
}

TEST("MPI_Waitany waits for the request it completes")
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
    EXPECT(counts.messages == 2);
    end();
}

TEST("a test does not wait")
{
    begin();
    post_call(0, 10, 1, 100);
    enter(0, "MPI_Test", 11, 200);
    send_call(1, 21, 0, 7, 210);
    received(0, 1, 7, 1, 220);
    leave(0, 220);
    finish();
    EXPECT(states->row_count == 0, counts.messages == 1);
    end();
}

TEST("persistent messages begin with MPI_Start")
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
    EXPECT(states->row_count == 1);
    EXPECT_PAIR("MPI_Wait", 11, "MPI_Start", 20, 3, 90, 0);
    EXPECT(row_of("MPI_Wait", 11, SG_WAITSTATE_LATE_SENDER).of.max_ns == 30);
    end();
}

/* ---- late receivers -------------------------------------------------------------------------- */

TEST("a send that ends after its receive is posted has waited for it")
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
    EXPECT(states->row_count == 1);
    EXPECT_ROW("MPI_Ssend", 20, SG_WAITSTATE_LATE_RECEIVER, 1, 80);
    EXPECT_PAIR("MPI_Ssend", 20, "MPI_Recv", 10, 1, 80, 1);
    end();
}

/* The receive was posted long before it is complete. */
TEST("a nonblocking send waits in the call that completes it")
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
    EXPECT(states->pair_count == 1);
    EXPECT_PAIR("MPI_Wait", 21, "MPI_Irecv", 10, 1, 80, 1);
    end();
}

TEST("MPI_Sendrecv waits once")
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
    EXPECT(states->total.waits == 1);
    EXPECT_PAIR("MPI_Sendrecv", 20, "MPI_Sendrecv", 30, 1, 70, 1);
    EXPECT_ROW("MPI_Sendrecv", 20, SG_WAITSTATE_LATE_SENDER, 1, 70);
    end();
}

/* ---- threads, clocks, nesting ---------------------------------------------------------------- */

TEST("threads of a rank share requests and have separate calls")
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
    EXPECT(states->ranks[1].waited.waits == 3);
    end();
}

/* By its clock the receive is over before the send begins: the wait ends with it. */
TEST("a message received before it was sent is counted")
{
    begin();
    enter(1, "MPI_Recv", 10, 100);
    receive(1, 0, 7, 140);
    leave(1, 140);
    send_call(0, 20, 1, 7, 190);
    finish();
    EXPECT(counts.violations == 1, counts.largest_violation_ns == 50);
    EXPECT_PAIR("MPI_Recv", 10, "MPI_Send", 20, 1, 40, 0);
    end();
}

TEST("a call within a call is part of it")
{
    begin();
    enter(1, "MPI_File_read_all", 10, 100);
    enter(1, "MPI_Recv", 99, 110);
    send_call(0, 20, 1, 7, 150);
    receive(1, 0, 7, 160);
    leave(1, 160);
    leave(1, 170);
    finish();
    EXPECT(states->row_count == 1);
    EXPECT_PAIR("MPI_File_read_all", 10, "MPI_Send", 20, 1, 50, 0);
    end();
}

TEST("events that match nothing are left out")
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
    EXPECT(counts.messages + counts.unmatched_sends == 0);
    end();
}

/* ---- parts ----------------------------------------------------------------------------------- */

TEST("with a filter only its waits are counted")
{
    struct sg_filter filter = {.site = "a.c:10", .ranks = "1", .time = "0ns:1us"};
    char message[200];

    ASSERT(sg_filter_parse(&filter, message, sizeof message));
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
    EXPECT(states->total.waits == 1);
    EXPECT_ROW("MPI_Recv", 10, SG_WAITSTATE_LATE_SENDER, 1, 5);
    end();
    sg_filter_clear(&filter);
}

/* If several ranks are at fault, the pair names the one that was waited for longest. */
TEST("a pair names the rank that caused the longest wait")
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
    EXPECT(states->pairs[0].ranks == 3, states->pairs[0].rank_ns == 60,
           states->pairs[0].rank_waits == 2, states->pairs[0].of.max_ns == 50);
    end();
}
