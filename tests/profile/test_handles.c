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

    CU_ASSERT_PTR_NOT_NULL_FATAL(known);
    known->value = value;
    sg_handles_set(known, handle);
    return known;
}

static void add(void *known, void *sum)
{
    *(long *)sum += ((struct known *)known)->value;
}

static void test_find(void)
{
    long sum = 0;

    CU_ASSERT_PTR_NULL(sg_handles_find(&handles, 100));
    for (int i = 0; i < MANY; i++)
        put(100 + i, i);
    for (int i = 0; i < MANY; i++) {
        const struct known *known = sg_handles_find(&handles, 100 + i);

        CU_ASSERT_PTR_NOT_NULL_FATAL(known);
        CU_ASSERT_EQUAL(known->value, i);
        CU_ASSERT_EQUAL(sg_handles_of(known), 100 + i);
    }
    sg_handles_each(&handles, add, &sum);
    CU_ASSERT_EQUAL(sum, (long)MANY * (MANY - 1) / 2);
}

static void test_given_up(void)
{
    struct known *known = sg_handles_take(&handles, 100, sizeof *known);
    long before = 0, after = 0;

    CU_ASSERT_PTR_EQUAL(known, sg_handles_find(&handles, 100));
    known->value = 1000000;
    sg_handles_each(&handles, add, &before);
    sg_handles_set(known, NONE);
    CU_ASSERT_PTR_NULL(sg_handles_find(&handles, 100));
    sg_handles_each(&handles, add, &after);
    CU_ASSERT_EQUAL(before - after, 1000000);
    CU_ASSERT_PTR_EQUAL(put(100, 3), known);
}

const struct unit_test unit_tests[] = {
    {"what is known is found by its handle", test_find},
    {"what was given up is not found, and is the next one's", test_given_up},
    {NULL, NULL},
};
