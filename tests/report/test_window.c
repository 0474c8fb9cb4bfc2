/* Tests the instance window: the instances it hands on and drops, and the number it holds. */
#include "lib/unit.h"
#include "report/window.h"

struct seen {
    uint64_t instances;
    uint64_t last_seq;
    int64_t begin_sum_ns;
};

static enum sg_status take(void *context, const struct sg_instance *instance)
{
    struct seen *seen = context;

    seen->instances++;
    seen->last_seq = instance->seq;
    for (uint32_t i = 0; i < instance->size; i++)
        seen->begin_sum_ns += instance->calls[i].begin_ns;
    return SG_OK;
}

static enum sg_status refuse(void *context, const struct sg_instance *instance)
{
    return SG_ERR_FULL;
}

static struct sg_instance_window *make(struct seen *seen, uint32_t size)
{
    struct sg_instance_window *window;

    *seen = (struct seen){0};
    ASSERT(sg_window_create(take, seen, &window) == SG_OK,
           sg_window_add_comm(window, size) == SG_OK);
    return window;
}

static void add(struct sg_instance_window *window, uint64_t seq, uint32_t member,
                enum sg_operation operation, uint32_t root)
{
    struct sg_member_call call = {.begin_ns = (int64_t)(10 * seq + member), .rank = member};

    ASSERT(sg_window_add(window, 0, seq, member, operation, root, &call) == SG_OK);
}

static void barrier(struct sg_instance_window *window, uint64_t seq, uint32_t member)
{
    add(window, seq, member, SG_OPERATION_BARRIER, 0);
}

TEST("an instance is passed on with its last member's call")
{
    struct seen seen;
    struct sg_instance_window *window = make(&seen, 3);

    barrier(window, 7, 2);
    barrier(window, 7, 0);
    EXPECT(seen.instances == 0);
    barrier(window, 7, 1);
    EXPECT(seen.instances == 1, seen.last_seq == 7, seen.begin_sum_ns == 70 + 71 + 72,
           sg_window_counts(window).live == 0);
    sg_window_destroy(window);
}

TEST("the window holds one of 200000 instances in step at a time")
{
    struct seen seen;
    struct sg_instance_window *window = make(&seen, 2);

    for (uint64_t seq = 0; seq < 200000; seq++) {
        barrier(window, seq, 0);
        barrier(window, seq, 1);
    }
    EXPECT(seen.instances == 200000, sg_window_counts(window).live_max == 1);
    sg_window_destroy(window);
}

TEST("a rank 100 calls ahead extends the window to 100 instances")
{
    struct seen seen;
    struct sg_instance_window *window = make(&seen, 2);

    for (uint64_t round = 0; round < 50; round++) {
        for (uint64_t seq = 0; seq < 100; seq++)
            barrier(window, 100 * round + seq, 0);
        for (uint64_t seq = 0; seq < 100; seq++)
            barrier(window, 100 * round + seq, 1);
    }
    sg_window_finish(window);
    EXPECT(seen.instances == 5000, sg_window_counts(window).instances == 5000,
           sg_window_counts(window).live_max == 100, sg_window_counts(window).dropped_calls == 0);
    sg_window_destroy(window);
}

TEST("instances that never complete are dropped and their calls counted")
{
    struct seen seen;
    struct sg_instance_window *window = make(&seen, 3);

    barrier(window, 0, 0);
    barrier(window, 0, 1);
    barrier(window, 1, 0);
    sg_window_finish(window);
    EXPECT(seen.instances == 0, sg_window_counts(window).dropped_calls == 3,
           sg_window_counts(window).live == 0);
    sg_window_destroy(window);
}

TEST("contradictory instances are dropped")
{
    struct seen seen;
    struct sg_instance_window *window = make(&seen, 2);

    /* Two operations in one instance. */
    barrier(window, 0, 0);
    add(window, 0, 1, SG_OPERATION_ALLREDUCE, 0);
    /* Two roots. */
    add(window, 1, 0, SG_OPERATION_REDUCE, 0);
    add(window, 1, 1, SG_OPERATION_REDUCE, 1);
    /* A root that is not in the communicator. */
    add(window, 2, 0, SG_OPERATION_REDUCE, 2);
    add(window, 2, 1, SG_OPERATION_REDUCE, 2);
    /* One member twice. */
    barrier(window, 3, 0);
    barrier(window, 3, 0);
    EXPECT(seen.instances == 0, sg_window_counts(window).dropped_calls == 8);
    /* One member posted it, the other called it. */
    barrier(window, 5, 0);
    ASSERT(sg_window_add(window, 0, 5, 1, SG_OPERATION_BARRIER, 0,
                         &(struct sg_member_call){.rank = 1, .nonblocking = true}) == SG_OK);
    EXPECT(sg_window_counts(window).dropped_calls == 10);
    /* And the window goes on. */
    barrier(window, 4, 0);
    barrier(window, 4, 1);
    EXPECT(seen.instances == 1);
    sg_window_destroy(window);
}

TEST("an error of the sink reaches the caller")
{
    struct sg_instance_window *window;
    struct sg_member_call call = {0};

    ASSERT(sg_window_create(refuse, NULL, &window) == SG_OK,
           sg_window_add_comm(window, 1) == SG_OK);
    EXPECT(sg_window_add(window, 0, 0, 0, SG_OPERATION_BARRIER, 0, &call) == SG_ERR_FULL);
    sg_window_destroy(window);
}
