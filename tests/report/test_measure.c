/* Tests Scalasca's wait states, by hand. */
#include "lib/unit.h"
#include "report/quantiles.h"

#define MEMBERS 3

static void find_costs(struct sg_instance *instance, struct sg_measure *whole,
                       struct sg_call_measure each[MEMBERS])
{
    static struct sg_arrival arrivals[MEMBERS];

    for (uint32_t i = 0; i < MEMBERS; i++)
        arrivals[i] = (struct sg_arrival){instance->calls[i].begin_ns, i};
    sg_arrivals_sort(arrivals, MEMBERS);
    instance->arrivals = arrivals;
    sg_measure_instance(instance, whole);
    for (uint32_t i = 0; i < MEMBERS; i++)
        sg_measure_call(instance, whole, i, &each[i]);
}

static void measure_bytes(enum sg_operation operation, uint32_t root, uint64_t bytes,
                          const int64_t begin_ns[MEMBERS], const int64_t end_ns[MEMBERS],
                          struct sg_measure *whole, struct sg_call_measure each[MEMBERS])
{
    struct sg_member_call calls[MEMBERS] = {0};
    struct sg_instance instance = {
        .size = MEMBERS, .operation = operation, .root = root, .calls = calls};

    for (uint32_t i = 0; i < MEMBERS; i++) {
        calls[i].begin_ns = begin_ns[i];
        calls[i].end_ns = end_ns[i];
        calls[i].bytes = bytes;
    }
    find_costs(&instance, whole, each);
}

static void measure(enum sg_operation operation, uint32_t root, const int64_t begin_ns[MEMBERS],
                    const int64_t end_ns[MEMBERS], struct sg_measure *whole,
                    struct sg_call_measure each[MEMBERS])
{
    measure_bytes(operation, root, operation == SG_OPERATION_BARRIER ? 0 : 8, begin_ns, end_ns,
                  whole, each);
}

TEST("a barrier's members wait for the last and complete after the first")
{
    const int64_t begin_ns[] = {-100, 50, 20}, end_ns[] = {60, 70, 90};
    struct sg_measure whole;
    struct sg_call_measure each[MEMBERS];

    measure(SG_OPERATION_BARRIER, 0, begin_ns, end_ns, &whole, each);
    EXPECT(whole.skew_ns == 150, whole.last == 1, whole.violation_ns == 0, each[0].wait_ns == 150,
           each[1].wait_ns == 0, each[2].wait_ns == 30);
    /* The first leaves at 60. */
    EXPECT(each[0].completion_ns == 0, each[1].completion_ns == 10, each[2].completion_ns == 30,
           each[0].blocked_ns == 160,
           each[0].avoided_ns + each[1].avoided_ns + each[2].avoided_ns == 0);
}

TEST("a member that leaves before the last enters is a clock violation")
{
    const int64_t begin_ns[] = {0, 10, 100}, end_ns[] = {40, 110, 110};
    struct sg_measure whole;
    struct sg_call_measure each[MEMBERS];

    measure(SG_OPERATION_ALLREDUCE, 0, begin_ns, end_ns, &whole, each);
    EXPECT(whole.violation_ns == 60, !each[0].ran_ahead);
    /* The wait ends where the member has left. */
    EXPECT(each[0].wait_ns == 40, each[0].avoided_ns == 0, each[1].wait_ns == 90);
}

/* Nothing is exchanged: rank 0 is there when rank 1 comes, and nobody when rank 2 does. */
TEST("an allreduce without data contradicts no clock and need not make ranks wait")
{
    const int64_t begin_ns[] = {0, 10, 100}, end_ns[] = {40, 50, 110},
                  late_end_ns[] = {120, 120, 120};
    struct sg_measure whole;
    struct sg_call_measure each[MEMBERS];

    measure_bytes(SG_OPERATION_ALLREDUCE, 0, 0, begin_ns, end_ns, &whole, each);
    EXPECT(whole.violation_ns == 0, each[0].ran_ahead && each[1].ran_ahead, !each[2].ran_ahead,
           whole.skew_ns == 100);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        EXPECT(each[i].wait_ns == (i == 0 ? 10 : 0), each[i].completion_ns == 0,
               each[i].avoided_ns == 0);
    }
    EXPECT(each[0].blocked_ns == 40);

    /* An algorithm that lets none leave before all are there makes them wait all the same. */
    measure_bytes(SG_OPERATION_ALLREDUCE, 0, 0, begin_ns, late_end_ns, &whole, each);
    EXPECT(whole.violation_ns == 0, each[0].wait_ns == 100);
}

/* A barrier has no data and synchronises. */
TEST("a barrier that a member leaves early is a clock violation")
{
    const int64_t begin_ns[] = {0, 10, 100}, end_ns[] = {40, 110, 110};
    struct sg_measure whole;
    struct sg_call_measure each[MEMBERS];

    measure(SG_OPERATION_BARRIER, 0, begin_ns, end_ns, &whole, each);
    EXPECT(whole.violation_ns == 60);
}

TEST("only the root of a reduce waits, for its senders")
{
    const int64_t begin_ns[] = {30, 10, 50}, end_ns[] = {35, 60, 55};
    struct sg_measure whole;
    struct sg_call_measure each[MEMBERS];

    measure(SG_OPERATION_REDUCE, 1, begin_ns, end_ns, &whole, each);
    EXPECT(each[1].wait_ns == 40, each[0].wait_ns + each[2].wait_ns == 0,
           each[1].completion_ns == 0, each[1].avoided_ns == 0);
    /* Senders leave when they like: no contradiction. */
    EXPECT(whole.violation_ns == 0);
}

TEST("a root that arrives last waits for no sender")
{
    const int64_t begin_ns[] = {30, 70, 50}, end_ns[] = {35, 80, 55};
    struct sg_measure whole;
    struct sg_call_measure each[MEMBERS];

    measure(SG_OPERATION_REDUCE, 1, begin_ns, end_ns, &whole, each);
    EXPECT(each[1].wait_ns == 0, each[1].avoided_ns == 0);
}

TEST("a root that leaves before its senders arrive avoids the rest of its wait")
{
    const int64_t begin_ns[] = {100, 10, 50}, end_ns[] = {105, 25, 55};
    struct sg_measure whole;
    struct sg_call_measure each[MEMBERS];

    measure(SG_OPERATION_REDUCE, 1, begin_ns, end_ns, &whole, each);
    EXPECT(each[1].wait_ns == 15, each[1].avoided_ns == 75,
           each[0].avoided_ns + each[2].avoided_ns == 0);
}

/* Begins, posts and exposed times as given; all are complete at 200. */
static void measure_nonblocking_calls(enum sg_operation operation, uint32_t root, uint64_t bytes,
                                      const int64_t begin_ns[MEMBERS],
                                      const uint64_t start_ns[MEMBERS],
                                      const uint64_t exposed_ns[MEMBERS], struct sg_measure *whole,
                                      struct sg_call_measure each[MEMBERS])
{
    struct sg_member_call calls[MEMBERS] = {0};
    struct sg_instance instance = {
        .size = MEMBERS, .operation = operation, .nonblocking = true, .root = root, .calls = calls};

    for (uint32_t i = 0; i < MEMBERS; i++)
        calls[i] = (struct sg_member_call){.begin_ns = begin_ns[i],
                                           .end_ns = 200,
                                           .start_ns = start_ns[i],
                                           .exposed_ns = exposed_ns[i],
                                           .bytes = bytes,
                                           .nonblocking = true};
    find_costs(&instance, whole, each);
}

TEST("the exposed part before the last post is waited, the rest avoided")
{
    const int64_t begin_ns[] = {10, 100, 40};
    const uint64_t start_ns[] = {5, 6, 7}, exposed_ns[] = {30, 40, 160};
    struct sg_measure whole;
    struct sg_call_measure each[MEMBERS];

    measure_nonblocking_calls(SG_OPERATION_ALLREDUCE, 0, 8, begin_ns, start_ns, exposed_ns, &whole,
                              each);
    EXPECT(whole.skew_ns == 90, whole.last == 1, whole.violation_ns == 0);
    /* The arrivals define 90, 0 and 60. */
    EXPECT(each[0].wait_ns == 0, each[1].wait_ns == 0, each[2].wait_ns == 60,
           each[0].blocked_ns == 35, each[1].blocked_ns == 46, each[2].blocked_ns == 167,
           each[0].avoided_ns == 90 - 35, each[1].avoided_ns + each[2].avoided_ns == 0,
           each[0].completion_ns + each[1].completion_ns + each[2].completion_ns == 0);
}

TEST("only the root of posted reduces waits")
{
    const int64_t begin_ns[] = {10, 20, 90};
    const uint64_t start_ns[] = {5, 6, 7}, exposed_ns[] = {60, 130, 80};
    struct sg_measure whole;
    struct sg_call_measure each[MEMBERS];

    measure_nonblocking_calls(SG_OPERATION_REDUCE, 1, 8, begin_ns, start_ns, exposed_ns, &whole,
                              each);
    EXPECT(each[1].wait_ns == 20, each[1].avoided_ns == 0, each[0].wait_ns + each[2].wait_ns == 0,
           each[0].avoided_ns + each[2].avoided_ns == 0, each[0].blocked_ns == 65);
}

/* Completion before the last post contradicts the clocks. */
TEST("a completion before the last post is a clock violation")
{
    const int64_t begin_ns[] = {10, 20, 230};
    const uint64_t none[MEMBERS] = {0};
    struct sg_measure whole;
    struct sg_call_measure each[MEMBERS];

    measure_nonblocking_calls(SG_OPERATION_BARRIER, 0, 0, begin_ns, none, none, &whole, each);
    EXPECT(whole.violation_ns == 30);
}

TEST("a post without data contradicts no clock and waits for no rank")
{
    const int64_t begin_ns[] = {10, 20, 230};
    const uint64_t start_ns[] = {5, 5, 5}, exposed_ns[] = {30, 40, 80};
    struct sg_measure whole;
    struct sg_call_measure each[MEMBERS];

    measure_nonblocking_calls(SG_OPERATION_ALLREDUCE, 0, 0, begin_ns, start_ns, exposed_ns, &whole,
                              each);
    EXPECT(whole.violation_ns == 0, each[0].wait_ns + each[1].wait_ns == 0,
           each[0].avoided_ns + each[1].avoided_ns == 0, each[0].blocked_ns == 35);
}

TEST("a single member waits for no rank")
{
    struct sg_member_call call = {.begin_ns = 5, .end_ns = 9};
    struct sg_instance instance = {.size = 1, .operation = SG_OPERATION_REDUCE, .calls = &call};
    struct sg_measure whole;
    struct sg_call_measure own;

    sg_measure_instance(&instance, &whole);
    sg_measure_call(&instance, &whole, 0, &own);
    EXPECT(whole.skew_ns == 0, own.wait_ns == 0, own.avoided_ns == 0, own.blocked_ns == 4);
}

TEST("the lowest of members that are last together counts as last")
{
    const int64_t begin_ns[] = {10, 40, 40}, end_ns[] = {50, 50, 50};
    struct sg_measure whole;
    struct sg_call_measure each[MEMBERS];

    measure(SG_OPERATION_BARRIER, 0, begin_ns, end_ns, &whole, each);
    EXPECT(whole.last == 1);
}

/* ---- the flow of data alone does not require these waits ------------------------------------- */

TEST("a blocking call waits for the last member that enters before it leaves")
{
    const int64_t begin_ns[] = {0, 20, 50}, end_ns[] = {30, 60, 52};
    struct sg_measure whole;
    struct sg_call_measure each[MEMBERS];

    measure(SG_OPERATION_BCAST, 0, begin_ns, end_ns, &whole, each);
    EXPECT(each[0].wait_ns == 20, each[1].wait_ns == 30, each[2].wait_ns == 0);
    measure(SG_OPERATION_REDUCE, 2, begin_ns, end_ns, &whole, each);
    EXPECT(each[0].wait_ns == 20, each[1].wait_ns == 30, each[2].wait_ns == 0,
           each[0].avoided_ns + each[1].avoided_ns == 0);
    measure_bytes(SG_OPERATION_ALLREDUCE, 0, 0, begin_ns, end_ns, &whole, each);
    EXPECT(whole.unsynchronised, each[0].wait_ns == 20, each[1].wait_ns == 30);
}

TEST("the lowest of members that enter together is awaited")
{
    struct sg_arrival arrivals[] = {{7, 0}, {9, 1}, {9, 2}, {30, 3}};

    sg_arrivals_sort(arrivals, 4);
    EXPECT(
        sg_arrivals_awaited(arrivals, 4, 0, 10) == 1, sg_arrivals_awaited(arrivals, 4, 0, 9) == 0,
        sg_arrivals_awaited(arrivals, 4, 3, 31) == 3, sg_arrivals_awaited(arrivals, 4, 2, 7) == 2);
}
