/* Tests the records kept of objects by their handles. */
#include "lib/unit.h"
#include "profile/handles.h"

#define NONE 7
#define MANY 5000 /* more than there are buckets */

struct known {
    struct sg_handle handle;
    int value;
};

static struct sg_handles handles = {.none = NONE};

static struct known *put(int handle, int value)
{
    struct known *known = sg_handles_take(&handles, handle, sizeof *known);

    ASSERT(known != NULL);
    known->value = value;
    sg_handles_set(known, handle);
    return known;
}

static void add(void *known, void *sum)
{
    *(long *)sum += ((struct known *)known)->value;
}

TEST("a known object is found by its handle")
{
    long sum = 0;

    EXPECT(sg_handles_find(&handles, 100) == NULL);
    for (int i = 0; i < MANY; i++)
        put(100 + i, i);
    for (int i = 0; i < MANY; i++) {
        const struct known *known = sg_handles_find(&handles, 100 + i);

        ASSERT(known != NULL);
        EXPECT(known->value == i, sg_handles_of(known) == 100 + i);
    }
    sg_handles_each(&handles, add, &sum);
    EXPECT(sum == (long)MANY * (MANY - 1) / 2);
}

TEST("a freed handle is not found, and the next object reuses its storage")
{
    struct known *known = sg_handles_take(&handles, 100, sizeof *known);
    long before = 0, after = 0;

    EXPECT(known == sg_handles_find(&handles, 100));
    known->value = 1000000;
    sg_handles_each(&handles, add, &before);
    sg_handles_set(known, NONE);
    EXPECT(sg_handles_find(&handles, 100) == NULL);
    sg_handles_each(&handles, add, &after);
    EXPECT(before - after == 1000000, put(100, 3) == known);
}
