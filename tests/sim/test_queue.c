/* Tests the event queue and the random streams of the simulator. */
#include "lib/unit.h"
#include "sim/random.h"
#include "sim/timed_queue.h"

static void pops_in_order_of_time(void)
{
    struct sg_queue queue = {0};
    struct sg_queue_entry entry;
    uint64_t before_ns = 0;
    int count = 0;

    for (uint64_t i = 0; i < 5000; i++)
        CU_ASSERT_TRUE_FATAL(
            sg_queue_push(&queue, sg_random(1, SG_RANDOM_SKEW, 0, i) % 1000, 0, 0));
    while (sg_queue_pop(&queue, &entry)) {
        CU_ASSERT_TRUE(entry.time_ns >= before_ns);
        before_ns = entry.time_ns;
        count++;
    }
    CU_ASSERT_EQUAL(count, 5000);
    sg_queue_clear(&queue);
}

static void equal_times_keep_the_order_of_pushes(void)
{
    struct sg_queue queue = {0};
    struct sg_queue_entry entry;

    for (uint32_t i = 0; i < 3000; i++)
        CU_ASSERT_TRUE_FATAL(sg_queue_push(&queue, i % 3, 0, i));
    for (uint32_t time = 0; time < 3; time++) {
        for (uint32_t i = time; i < 3000; i += 3) {
            CU_ASSERT_TRUE_FATAL(sg_queue_pop(&queue, &entry));
            CU_ASSERT_EQUAL(entry.index, i);
        }
    }
    CU_ASSERT_FALSE(sg_queue_pop(&queue, &entry));
    sg_queue_clear(&queue);
}

static void pushes_between_pops_are_sorted_in(void)
{
    struct sg_queue queue = {0};
    struct sg_queue_entry entry;

    sg_queue_push(&queue, 10, 0, 1);
    sg_queue_push(&queue, 30, 0, 3);
    CU_ASSERT_TRUE(sg_queue_pop(&queue, &entry));
    CU_ASSERT_EQUAL(entry.index, 1);
    sg_queue_push(&queue, 20, 0, 2);
    CU_ASSERT_TRUE(sg_queue_pop(&queue, &entry));
    CU_ASSERT_EQUAL(entry.index, 2);
    CU_ASSERT_TRUE(sg_queue_pop(&queue, &entry));
    CU_ASSERT_EQUAL(entry.index, 3);
    sg_queue_clear(&queue);
}

static void streams_are_apart(void)
{
    CU_ASSERT_EQUAL(sg_random(7, SG_RANDOM_SKEW, 3, 9), sg_random(7, SG_RANDOM_SKEW, 3, 9));
    CU_ASSERT_NOT_EQUAL(sg_random(7, SG_RANDOM_SKEW, 3, 9), sg_random(8, SG_RANDOM_SKEW, 3, 9));
    CU_ASSERT_NOT_EQUAL(sg_random(7, SG_RANDOM_SKEW, 3, 9), sg_random(7, SG_RANDOM_NOISE, 3, 9));
    CU_ASSERT_NOT_EQUAL(sg_random(7, SG_RANDOM_SKEW, 3, 9), sg_random(7, SG_RANDOM_SKEW, 4, 9));
    CU_ASSERT_NOT_EQUAL(sg_random(7, SG_RANDOM_SKEW, 3, 9), sg_random(7, SG_RANDOM_SKEW, 3, 10));
}

static void draws_have_the_mean_asked_for(void)
{
    double uniform = 0, exponential = 0;

    for (uint64_t i = 0; i < 100000; i++) {
        uniform += sg_random_unit(sg_random(1, SG_RANDOM_SKEW, 0, i));
        exponential += sg_random_exponential(sg_random(1, SG_RANDOM_NOISE, 0, i), 4);
    }
    CU_ASSERT_DOUBLE_EQUAL(uniform / 100000, 0.5, 0.005);
    CU_ASSERT_DOUBLE_EQUAL(exponential / 100000, 4, 0.06);
}

const struct unit_test unit_tests[] = {
    {"the event queue pops in order of time", pops_in_order_of_time},
    {"events of one time come in the order of their pushes", equal_times_keep_the_order_of_pushes},
    {"events pushed between pops are sorted in", pushes_between_pops_are_sorted_in},
    {"random streams differ by seed, purpose, process and number", streams_are_apart},
    {"uniform and exponential draws have their means", draws_have_the_mean_asked_for},
    {NULL, NULL},
};
