/* Tests quantiles: exact for few samples, close for any number. */
#include "lib/unit.h"
#include "report/quantiles.h"

#include <stdlib.h>

static void add(struct sg_quantiles *quantiles, uint64_t value)
{
    CU_ASSERT_EQUAL_FATAL(sg_quantiles_add(quantiles, value), SG_OK);
}

static void test_empty(void)
{
    struct sg_quantiles quantiles = {0};

    CU_ASSERT_EQUAL(sg_quantiles_get(&quantiles, 0.5), 0);
}

/* The ceil(q n)-th smallest of 50 30 10 40 20. */
static void test_few(void)
{
    static const uint64_t values[] = {50, 30, 10, 40, 20};
    struct sg_quantiles quantiles = {0};

    for (int i = 0; i < 5; i++)
        add(&quantiles, values[i]);
    CU_ASSERT_EQUAL(sg_quantiles_get(&quantiles, 0.20), 10);
    CU_ASSERT_EQUAL(sg_quantiles_get(&quantiles, 0.21), 20);
    CU_ASSERT_EQUAL(sg_quantiles_get(&quantiles, 0.50), 30);
    CU_ASSERT_EQUAL(sg_quantiles_get(&quantiles, 0.95), 50);
    CU_ASSERT_EQUAL(quantiles.max, 50);
    /* Asking sorts: what is added afterwards counts all the same. */
    add(&quantiles, 5);
    CU_ASSERT_EQUAL(sg_quantiles_get(&quantiles, 0.10), 5);
    sg_quantiles_clear(&quantiles);
}

static void test_exact_to_the_limit(void)
{
    struct sg_quantiles quantiles = {0};

    for (uint64_t i = 0; i < SG_QUANTILE_EXACT; i++)
        add(&quantiles, 1000003 * (SG_QUANTILE_EXACT - i));
    CU_ASSERT_EQUAL(sg_quantiles_get(&quantiles, 0.5), 1000003 * (SG_QUANTILE_EXACT / 2));
    CU_ASSERT_PTR_NULL(quantiles.buckets);
    add(&quantiles, 1);
    CU_ASSERT_PTR_NOT_NULL(quantiles.buckets);
    CU_ASSERT_PTR_NULL(quantiles.samples);
    sg_quantiles_clear(&quantiles);
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* Two streams together are one, whichever of them is in buckets. */
static void test_merged(void)
{
    static const uint64_t halves[][2] = {{10, 20}, {2000, 30}, {30, 2000}, {2000, 2000}};

    for (size_t i = 0; i < sizeof halves / sizeof halves[0]; i++) {
        struct sg_quantiles one = {0}, other = {0}, whole = {0};

        for (uint64_t value = 0; value < halves[i][0]; value++) {
            add(&one, 7 * value);
            add(&whole, 7 * value);
        }
        for (uint64_t value = 0; value < halves[i][1]; value++) {
            add(&other, 9000 + 3 * value);
            add(&whole, 9000 + 3 * value);
        }
        CU_ASSERT_EQUAL(sg_quantiles_merge(&one, &other), SG_OK);
        CU_ASSERT_EQUAL(one.count, whole.count);
        CU_ASSERT_EQUAL(one.max, whole.max);
        CU_ASSERT_EQUAL(sg_quantiles_get(&one, 0.5), sg_quantiles_get(&whole, 0.5));
        CU_ASSERT_EQUAL(sg_quantiles_get(&one, 0.95), sg_quantiles_get(&whole, 0.95));
        sg_quantiles_clear(&one);
        sg_quantiles_clear(&other);
        sg_quantiles_clear(&whole);
    }
}

/* Values over all magnitudes, from a generator of fixed seed. */
static void test_many(void)
{
    enum { COUNT = 50000 };
    static uint64_t values[COUNT];
    static const double shares[] = {0.001, 0.05, 0.25, 0.5, 0.75, 0.95, 0.999};
    struct sg_quantiles quantiles = {0};
    uint64_t state = 42;

    for (int i = 0; i < COUNT; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        values[i] = state >> (state >> 58);
        add(&quantiles, values[i]);
    }
    qsort(values, COUNT, sizeof values[0], compare);
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        uint64_t exact = values[(size_t)(shares[i] * COUNT + 0.5) - 1];
        uint64_t found = sg_quantiles_get(&quantiles, shares[i]);
        uint64_t error = found > exact ? found - exact : exact - found;

        CU_ASSERT(error <= exact / 256);
    }
    CU_ASSERT_EQUAL(sg_quantiles_get(&quantiles, 1.0), values[COUNT - 1]);
    sg_quantiles_clear(&quantiles);
}

static void test_extremes(void)
{
    struct sg_quantiles quantiles = {0};

    for (int i = 0; i < 2 * SG_QUANTILE_EXACT; i++)
        add(&quantiles, i % 2 ? UINT64_MAX : 0);
    CU_ASSERT_EQUAL(sg_quantiles_get(&quantiles, 0.5), 0);
    CU_ASSERT(sg_quantiles_get(&quantiles, 0.75) >= UINT64_MAX - UINT64_MAX / 256);
    CU_ASSERT_EQUAL(sg_quantiles_get(&quantiles, 1.0), UINT64_MAX);
    sg_quantiles_clear(&quantiles);
}

const struct unit_test unit_tests[] = {
    {"a quantile of no samples is 0", test_empty},
    {"a quantile of few samples is the ceil(q n)-th smallest", test_few},
    {"quantiles are exact up to the limit and change to buckets past it", test_exact_to_the_limit},
    {"quantiles of many samples are off by at most 1/256", test_many},
    {"quantiles take the smallest and the largest value there is", test_extremes},
    {"two streams together are one", test_merged},
    {NULL, NULL},
};
