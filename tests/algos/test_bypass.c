/* Tests bypass one event at a time: each rare state is set up by hand and asserted by counts.
 * test_bypass_orders.c tests it in random orders. */
#include "algos/bypass_support.h"

TEST("with arrival order a commutative operation is folded in the order of its messages")
{
    struct sg_algo_parameters parameters = {.credits = 4, .arrival_order = 1};
    struct sg_algo_call call = bypass_call(SG_CALL_COMMUTATIVE, 8, 0);
    struct mini_host *host = bypass_host(4, parameters, 1);

    mini_calls(host, &call, "0 3 2 1");
    /* Endpoint 2's value comes first and is not kept back. */
    EXPECT(mini_deliver(host, 3, 2), mini_deliver(host, 2, 0),
           mini_actions(host, 0, SG_ACTION_COPY) == 0, mini_deliver(host, 1, 0),
           mini_result(host, 0, 1, 0) ==
               mini_fold(
                   call.flags,
                   mini_fold(call.flags, mini_operand(0, 1, 0),
                             mini_fold(call.flags, mini_operand(2, 1, 0), mini_operand(3, 1, 0))),
                   mini_operand(1, 1, 0)));
    mini_end(host);
}

TEST("a leaf sends from its operand and completes")
{
    struct sg_algo_parameters parameters = {0};
    struct sg_algo_call call = bypass_call(0, 8, 0);
    struct mini_host *host = bypass_host(2, parameters, 1);

    mini_call(host, 1, &call);
    EXPECT(mini_completed(host, 1, 1), mini_finished(host, 1, 1),
           mini_head(host, 1)->outstanding == 0, mini_head(host, 1)->copies == 0,
           mini_in_flight(host, 1, 0) == 1);
    mini_call(host, 0, &call);
    EXPECT(!mini_completed(host, 0, 1));
    mini_settle(host);
    EXPECT(mini_completed(host, 0, 1));
    bypass_check(host, 2, &call, 1);
    mini_end(host);
}

/* With 4 endpoints, 2 is internal and 3 is its child. */
TEST("an internal endpoint leaves, and a late child's message is folded afterwards")
{
    struct sg_algo_parameters parameters = {0};
    struct sg_algo_call call = bypass_call(0, 8, 0);
    struct mini_host *host = bypass_host(4, parameters, 1);

    mini_call(host, 2, &call);
    EXPECT(mini_completed(host, 2, 1), !mini_finished(host, 2, 1),
           mini_head(host, 2)->outstanding == 1, mini_actions(host, 2, SG_ACTION_COPY) == 1);
    mini_call(host, 3, &call);
    EXPECT(mini_deliver(host, 3, 2), mini_head(host, 2)->late == 1,
           mini_head(host, 2)->outstanding == 0, mini_finished(host, 2, 1),
           mini_marks(host, 2) == MARK(LATE));
    /* From the message's buffer: one fold, no other copy, one message up. */
    EXPECT(mini_actions(host, 2, SG_ACTION_REDUCE) == 1, mini_actions(host, 2, SG_ACTION_COPY) == 1,
           mini_in_flight(host, 2, 0) == 1);
    mini_calls(host, &call, "0 1 .");
    bypass_check(host, 4, &call, 1);
    mini_end(host);
}

TEST("early contributions wait in slots until the call")
{
    struct sg_algo_parameters parameters = {0};
    struct sg_algo_call call = bypass_call(0, 8, 0);
    struct mini_host *host = bypass_host(4, parameters, 1);

    mini_calls(host, &call, "3 3 .");
    EXPECT(mini_head(host, 2)->early == 2, mini_head(host, 2)->outstanding == 0);
    for (uint32_t seq = 1; seq <= 2; seq++) {
        mini_call(host, 2, &call);
        EXPECT(mini_finished(host, 2, seq));
    }
    /* Each was copied into its slot, and folded from there with the operand itself. */
    EXPECT(mini_head(host, 2)->copies == 2, mini_marks(host, 2) == MARK(EARLY));
    for (uint32_t seq = 1; seq <= 2; seq++) {
        mini_calls(host, &call, "1 0 .");
        bypass_check(host, 4, &call, seq);
    }
    mini_end(host);
}

/* With 8 endpoints, 4 has the children 5 and 6: 6's value may not overtake 5's. */
TEST("a late contribution that must keep the order waits in a slot")
{
    struct sg_algo_parameters parameters = {0};
    struct sg_algo_call call = bypass_call(0, 8, 0);
    struct mini_host *host = bypass_host(8, parameters, 1);

    mini_calls(host, &call, "4 7 6 .");
    EXPECT(mini_head(host, 4)->late == 1, mini_actions(host, 4, SG_ACTION_REDUCE) == 0);
    mini_call(host, 5, &call);
    EXPECT(mini_deliver(host, 5, 4), mini_actions(host, 4, SG_ACTION_REDUCE) == 2,
           mini_finished(host, 4, 1));
    mini_calls(host, &call, "0 1 2 3 .");
    bypass_check(host, 8, &call, 1);
    mini_end(host);
}

/* Endpoint 2 of 4 is a leaf of the second instance, and over with it before the first. */
TEST("several instances are outstanding and complete in any order")
{
    struct sg_algo_parameters parameters = {0};
    struct sg_algo_call first = bypass_call(SG_CALL_COMMUTATIVE, 8, 0);
    struct sg_algo_call second = bypass_call(SG_CALL_COMMUTATIVE, 8, 3);
    struct mini_host *host = bypass_host(4, parameters, 1);

    mini_call(host, 2, &first);
    mini_call(host, 2, &second);
    EXPECT(!mini_finished(host, 2, 1), mini_finished(host, 2, 2),
           mini_head(host, 2)->outstanding == 1);
    mini_calls(host, &first, "3 1 0 .");
    EXPECT(mini_head(host, 2)->outstanding == 0);
    bypass_check(host, 4, &first, 1);
    mini_calls(host, &second, "3 1 0 .");
    bypass_check(host, 4, &second, 2);
    mini_end(host);
}

TEST("a child waits once it is `credits` instances ahead of its parent")
{
    struct sg_algo_parameters parameters = {.credits = 4};
    struct sg_algo_call call = bypass_call(0, 8, 0);
    struct mini_host *host = bypass_host(2, parameters, 1);

    for (uint32_t seq = 1; seq <= 4; seq++) {
        mini_calls(host, &call, "1 .");
        EXPECT(mini_completed(host, 1, seq));
    }
    mini_calls(host, &call, "1 .");
    EXPECT(!mini_completed(host, 1, 5), mini_marks(host, 1) == MARK(CREDIT_OUT),
           mini_head(host, 1)->stalls == 1, mini_most_in_flight(host) == 1);
    /* Credits come back two at a time. */
    mini_call(host, 0, &call);
    EXPECT(mini_in_flight(host, 0, 1) == 0);
    mini_call(host, 0, &call);
    EXPECT(mini_in_flight(host, 0, 1) == 1);
    mini_settle(host);
    EXPECT(mini_completed(host, 1, 5), mini_head(host, 1)->stalls == 1);
    for (uint32_t seq = 3; seq <= 5; seq++)
        mini_call(host, 0, &call);
    for (uint32_t seq = 1; seq <= 5; seq++)
        bypass_check(host, 2, &call, seq);
    EXPECT(mini_actions(host, 0, SG_ACTION_SEND) == 2);
    mini_end(host);
}

/* An endpoint keeps at most `credits` instances, whoever is missing. */
TEST("an endpoint waits once it has `credits` outstanding instances")
{
    struct sg_algo_parameters parameters = {.credits = 2};
    struct sg_algo_call call = bypass_call(0, 8, 0);
    struct mini_host *host = bypass_host(4, parameters, 1);

    for (int i = 0; i < 3; i++)
        mini_call(host, 2, &call);
    EXPECT(mini_completed(host, 2, 2), !mini_completed(host, 2, 3),
           mini_marks(host, 2) == MARK(CREDIT_OUT));
    mini_calls(host, &call, "3 .");
    /* The first is over; the third has its place, but not yet a credit of endpoint 0. */
    EXPECT(mini_finished(host, 2, 1), !mini_completed(host, 2, 3));
    mini_calls(host, &call, "1 0 .");
    EXPECT(mini_completed(host, 2, 3));
    for (int i = 0; i < 2; i++)
        mini_calls(host, &call, "3 . 1 . 0 .");
    for (uint32_t seq = 1; seq <= 3; seq++)
        bypass_check(host, 4, &call, seq);
    mini_end(host);
}

TEST("a call waits for the pool, and a parent pulls before its own call")
{
    struct sg_algo_parameters parameters = {.eager_bytes = 8, .pool = 2};
    struct sg_algo_call call = bypass_call(0, 16, 0);
    struct mini_host *host = bypass_host(2, parameters, 1);

    mini_hold(host, 0, true);
    for (int i = 0; i < 3; i++)
        mini_calls(host, &call, "1 .");
    EXPECT(mini_completed(host, 1, 2), !mini_finished(host, 1, 1), !mini_completed(host, 1, 3),
           mini_marks(host, 1) == MARK(POOL_OUT), mini_actions(host, 1, SG_ACTION_COPY) == 2);
    /* The parent pulls before its own call: a slow one does not hold its children's pool. */
    mini_hold(host, 0, false);
    mini_settle(host);
    EXPECT(mini_head(host, 0)->seq == 0, mini_actions(host, 0, SG_ACTION_READ) == 3,
           mini_marks(host, 0) == (MARK(EARLY) | MARK(PULLED)),
           mini_head(host, 1)->outstanding == 0);
    for (uint32_t seq = 1; seq <= 3; seq++) {
        mini_call(host, 0, &call);
        bypass_check(host, 2, &call, seq);
    }
    mini_end(host);
}

TEST("a split-phase root returns at once")
{
    struct sg_algo_parameters parameters = {.split = 1};
    struct sg_algo_call call = bypass_call(0, 8, 0);
    struct mini_host *host = bypass_host(2, parameters, 1);

    mini_calls(host, &call, "0 0");
    EXPECT(mini_completed(host, 0, 2), !mini_finished(host, 0, 1),
           mini_head(host, 0)->outstanding == 2);
    for (uint32_t seq = 1; seq <= 2; seq++) {
        mini_calls(host, &call, "1 .");
        EXPECT(mini_finished(host, 0, seq));
        bypass_check(host, 2, &call, seq);
    }
    EXPECT(mini_marks(host, 0) == (MARK(LATE) | MARK(SPLIT_FINISHED)));
    mini_end(host);
}

/* The host gives a call's result its place with the CALL: no earlier one may still be due there. */
TEST("a split-phase root waits rather than share a result buffer")
{
    struct sg_algo_parameters parameters = {.split = 1, .credits = 3};
    struct sg_algo_call call = bypass_call(0, 8, 0);
    struct mini_host *host = bypass_host(2, parameters, 1);

    for (int i = 0; i < 3; i++)
        mini_call(host, 0, &call);
    EXPECT(mini_completed(host, 0, 2), !mini_completed(host, 0, 3));
    for (uint32_t seq = 1; seq <= 3; seq++) {
        mini_calls(host, &call, "1 .");
        EXPECT(mini_completed(host, 0, 3), mini_finished(host, 0, seq));
        bypass_check(host, 2, &call, seq);
    }
    mini_end(host);
}

/* ---- linger ---- */

TEST("a child that arrives within the linger costs no signal and no copy")
{
    struct sg_algo_parameters parameters = {.linger_ns = 1000};
    struct sg_algo_call call = bypass_call(0, 8, 0);
    struct mini_host *host = bypass_host(4, parameters, 1);

    mini_call(host, 2, &call);
    EXPECT(!mini_completed(host, 2, 1));
    mini_call(host, 3, &call);
    EXPECT(mini_deliver(host, 3, 2), mini_finished(host, 2, 1),
           mini_marks(host, 2) == MARK(LINGER_PAID), mini_head(host, 2)->late == 0,
           mini_head(host, 2)->copies == 0, !mini_fire(host, 2, 0));
    mini_calls(host, &call, "1 0 .");
    bypass_check(host, 4, &call, 1);
    mini_end(host);
}

TEST("a child that arrives after the linger is handled as late")
{
    struct sg_algo_parameters parameters = {.linger_ns = 1000};
    struct sg_algo_call call = bypass_call(0, 8, 0);
    struct mini_host *host = bypass_host(4, parameters, 1);

    mini_call(host, 2, &call);
    EXPECT(mini_fire(host, 2, 0), mini_completed(host, 2, 1),
           mini_marks(host, 2) == MARK(LINGER_VAIN));
    mini_calls(host, &call, "3 1 0 .");
    EXPECT(mini_head(host, 2)->late == 1);
    bypass_check(host, 4, &call, 1);
    mini_end(host);
}

/* Endpoints 2 and 3 of 4 alone, `rounds` times: 3 comes so much later than 2's call. */
static void teach(struct mini_host *host, const struct sg_algo_call *call, int rounds,
                  uint64_t late_ns)
{
    for (int i = 0; i < rounds; i++) {
        mini_call(host, 2, call);
        mini_advance(host, late_ns);
        mini_call(host, 3, call);
        EXPECT(mini_deliver(host, 3, 2));
        mini_fire(host, 2, 0);
        mini_calls(host, call, "1 0 .");
    }
}

TEST("the automatic linger follows the lateness observed at its call site")
{
    struct sg_algo_parameters parameters = {.linger_ns = 1000, .linger_auto = 1};
    struct sg_algo_call call = bypass_call(0, 8, 0), elsewhere = call;
    struct mini_host *host = bypass_host(4, parameters, 1);
    uint32_t seq;

    elsewhere.site = 1;
    /* Far later than a signal costs: the call does not wait. */
    teach(host, &call, 3, 50000);
    mini_call(host, 2, &call);
    seq = mini_head(host, 2)->seq;
    EXPECT(mini_completed(host, 2, seq));
    mini_calls(host, &call, "3 1 0 .");
    /* The endpoint knows nothing about the other site, so it waits for as long as a signal costs.
     */
    mini_call(host, 2, &elsewhere);
    seq = mini_head(host, 2)->seq;
    EXPECT(!mini_completed(host, 2, seq));
    mini_calls(host, &elsewhere, "3 1 0 .");
    /* Soon after: once that is known the call waits again. */
    teach(host, &call, 60, 100);
    mini_call(host, 2, &call);
    seq = mini_head(host, 2)->seq;
    EXPECT(!mini_completed(host, 2, seq));
    mini_calls(host, &call, "3 .");
    EXPECT(mini_finished(host, 2, seq));
    mini_calls(host, &call, "1 0 .");
    mini_end(host);
}

/* ---- bounds ---- */

TEST("the bounds follow from the parameters")
{
    struct sg_algo_setup setup = {0, 16, {.credits = 4, .pool = 3}};
    struct sg_algo_needs needs;

    EXPECT(sg_algo_bypass.needs(&setup, &needs));
    /* Values, early contributions of the four possible children, pool. */
    EXPECT(needs.slots == 4 + 4 * 4 + 3 + 4);
    setup.parameters.credits = 65;
    EXPECT(!sg_algo_bypass.needs(&setup, &needs));
    setup.parameters.credits = 1;
    EXPECT(!sg_algo_bypass.needs(&setup, &needs));
    setup.parameters.credits = 0;
    setup.size = 0;
    EXPECT(!sg_algo_bypass.needs(&setup, &needs));
}

/* Reduces are cut into what is read, broadcasts into messages. */
TEST("reduces are cut to the parent's read size, broadcasts to messages")
{
    static const uint32_t eager_bytes[] = {0, 64, 1024, 8192, 20000, 32768};
    static const uint32_t reduced[] = {4096, 4096, 4096, 16384, 40000, 65536};
    static const uint32_t sent[] = {1024, 1024, 1024, 8192, 20000, 32768};

    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) {
        struct sg_algo_setup setup = {0, 16, {.eager_bytes = eager_bytes[i]}};
        struct sg_algo_needs needs = {0};

        EXPECT(sg_algo_bypass.needs(&setup, &needs), sg_algo_slot_bytes(&needs) == reduced[i],
               sg_algo_chunk_bytes(&needs, SG_OPERATION_REDUCE) == reduced[i],
               sg_algo_part_bytes(&needs) == sent[i],
               sg_algo_chunk_bytes(&needs, SG_OPERATION_BCAST) == sent[i]);
    }
}

/* The same endpoints 4 times as fast as their parent: what is under way stays bounded. */
TEST("a parent's credits bound the contributions in flight")
{
    struct sg_algo_parameters parameters = {.credits = 4};
    struct sg_algo_call call = bypass_call(0, 8, 0);
    struct mini_host *host = bypass_host(2, parameters, 1);

    for (int i = 0; i < 100; i++) {
        while (mini_head(host, 1)->in_call == 0 && mini_head(host, 1)->seq < 100)
            mini_call(host, 1, &call);
        if (mini_head(host, 0)->in_call == 0)
            mini_calls(host, &call, "0 .");
    }
    EXPECT(mini_head(host, 0)->seq == 100, mini_most_in_flight(host) == 4);
    mini_end(host);
}
