/* Tests the stretches that a thread has open (causes/sampler.h). */
#include "causes/sampler.h"
#include "lib/unit.h"

static struct sg_open_stretches stretches;

static void add(uint64_t key, uint32_t number, bool is_armed)
{
    const struct sg_open_stretch stretch = {.key = key, .number = number, .is_armed = is_armed};

    sg_stretches_add(&stretches, &stretch);
}

/* The number of the one that is taken out; -1: there is none. */
static int take(uint64_t key, bool is_armed)
{
    struct sg_open_stretch out = {.number = 77};

    if (sg_stretches_take(&stretches, key, is_armed, &out))
        return (int)out.number;
    EXPECT(out.number == 77);
    return -1;
}

static int current(void)
{
    const struct sg_open_stretch *stretch = sg_stretches_current(&stretches);

    return stretch != NULL ? (int)stretch->number : -1;
}

TEST("an interval belongs to the series that began last, not to an armed one")
{
    stretches.count = 0;
    EXPECT(current() == -1);
    add(1, 10, true);
    EXPECT(current() == -1);
    add(2, 20, false);
    add(1, 11, false);
    add(3, 30, true);
    EXPECT(current() == 11, take(1, false) == 11, current() == 20, take(2, false) == 20,
           current() == -1, stretches.count == 2);
}

TEST("a communicator's series is removed, armed or begun")
{
    stretches.count = 0;
    EXPECT(take(1, true) == -1);
    add(1, 10, true);
    add(1, 11, false);
    EXPECT(take(2, true) == -1, take(1, true) == 10, take(1, true) == -1, take(1, false) == 11,
           stretches.count == 0);
}

TEST("the oldest series is dropped when there are too many")
{
    stretches.count = 0;
    for (uint32_t i = 0; i <= SG_STRETCHES_MOST; i++)
        add(i + 1, i, false);
    EXPECT(stretches.count == SG_STRETCHES_MOST, take(1, false) == -1, take(2, false) == 1,
           current() == SG_STRETCHES_MOST);
}
