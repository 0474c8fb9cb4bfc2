/* Tests the event queue and the random streams of the simulator. */
#include "lib/unit.h"
#include "sim/random.h"
#include "sim/timed_queue.h"

TEST("the event queue pops in order of time")
{
    struct sg_queue queue = {0};
    struct sg_queue_entry entry;
    uint64_t before_ns = 0;
    int count = 0;

    for (uint64_t i = 0; i < 5000; i++)
        ASSERT(sg_queue_push(&queue, sg_random(1, SG_RANDOM_SKEW, 0, i) % 1000, 0, 0));
    while (sg_queue_pop(&queue, &entry)) {
        EXPECT(entry.time_ns >= before_ns);
        before_ns = entry.time_ns;
        count++;
    }
    EXPECT(count == 5000);
    sg_queue_clear(&queue);
}

TEST("events of equal time are popped in the order of their pushes")
{
    struct sg_queue queue = {0};
    struct sg_queue_entry entry;

    for (uint32_t i = 0; i < 3000; i++)
        ASSERT(sg_queue_push(&queue, i % 3, 0, i));
    for (uint32_t time = 0; time < 3; time++) {
        for (uint32_t i = time; i < 3000; i += 3) {
            ASSERT(sg_queue_pop(&queue, &entry));
            EXPECT(entry.index == i);
        }
    }
    EXPECT(!sg_queue_pop(&queue, &entry));
    sg_queue_clear(&queue);
}

TEST("events pushed between pops are sorted in")
{
    struct sg_queue queue = {0};
    struct sg_queue_entry entry;

    sg_queue_push(&queue, 10, 0, 1);
    sg_queue_push(&queue, 30, 0, 3);
    EXPECT(sg_queue_pop(&queue, &entry), entry.index == 1);
    sg_queue_push(&queue, 20, 0, 2);
    EXPECT(sg_queue_pop(&queue, &entry), entry.index == 2, sg_queue_pop(&queue, &entry),
           entry.index == 3);
    sg_queue_clear(&queue);
}

TEST("random streams differ by seed, purpose, process and number")
{
    EXPECT(sg_random(7, SG_RANDOM_SKEW, 3, 9) == sg_random(7, SG_RANDOM_SKEW, 3, 9),
           sg_random(7, SG_RANDOM_SKEW, 3, 9) != sg_random(8, SG_RANDOM_SKEW, 3, 9),
           sg_random(7, SG_RANDOM_SKEW, 3, 9) != sg_random(7, SG_RANDOM_NOISE, 3, 9),
           sg_random(7, SG_RANDOM_SKEW, 3, 9) != sg_random(7, SG_RANDOM_SKEW, 4, 9),
           sg_random(7, SG_RANDOM_SKEW, 3, 9) != sg_random(7, SG_RANDOM_SKEW, 3, 10));
}

TEST("uniform and exponential draws have their means")
{
    double uniform = 0, exponential = 0;

    for (uint64_t i = 0; i < 100000; i++) {
        uniform += sg_random_unit(sg_random(1, SG_RANDOM_SKEW, 0, i));
        exponential += sg_random_exponential(sg_random(1, SG_RANDOM_NOISE, 0, i), 4);
    }
    EXPECT(is_near(uniform / 100000, 0.5, 0.005), is_near(exponential / 100000, 4, 0.06));
}
