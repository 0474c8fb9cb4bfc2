/* Tests quantiles: exact for few samples, close for any number. */
#include "lib/unit.h"
#include "report/quantiles.h"

static void add(struct sg_quantiles *quantiles, uint64_t value)
{
    ASSERT(sg_quantiles_add(quantiles, value) == SG_OK);
}

TEST("a quantile of no samples is 0")
{
    struct sg_quantiles quantiles = {0};

    EXPECT(sg_quantiles_get(&quantiles, 0.5) == 0);
}

/* The ceil(q n)-th smallest of 50 30 10 40 20. */
TEST("a quantile of few samples is the ceil(q n)-th smallest")
{
    static const uint64_t values[] = {50, 30, 10, 40, 20};
    struct sg_quantiles quantiles = {0};

    for (int i = 0; i < 5; i++)
        add(&quantiles, values[i]);
    EXPECT(sg_quantiles_get(&quantiles, 0.20) == 10, sg_quantiles_get(&quantiles, 0.21) == 20,
           sg_quantiles_get(&quantiles, 0.50) == 30, sg_quantiles_get(&quantiles, 0.95) == 50,
           quantiles.max == 50);
    /* Asking sorts: what is added afterwards counts all the same. */
    add(&quantiles, 5);
    EXPECT(sg_quantiles_get(&quantiles, 0.10) == 5);
    sg_quantiles_clear(&quantiles);
}

TEST("quantiles are exact up to the limit and use buckets beyond it")
{
    struct sg_quantiles quantiles = {0};

    for (uint64_t i = 0; i < SG_QUANTILE_EXACT; i++)
        add(&quantiles, 1000003 * (SG_QUANTILE_EXACT - i));
    EXPECT(sg_quantiles_get(&quantiles, 0.5) == 1000003 * (SG_QUANTILE_EXACT / 2),
           quantiles.buckets == NULL);
    add(&quantiles, 1);
    EXPECT(quantiles.buckets != NULL, quantiles.samples == NULL);
    sg_quantiles_clear(&quantiles);
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* Two streams together are one, whichever of them is in buckets. */
TEST("two streams merge into one")
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
        EXPECT(sg_quantiles_merge(&one, &other) == SG_OK, one.count == whole.count,
               one.max == whole.max, sg_quantiles_get(&one, 0.5) == sg_quantiles_get(&whole, 0.5),
               sg_quantiles_get(&one, 0.95) == sg_quantiles_get(&whole, 0.95));
        sg_quantiles_clear(&one);
        sg_quantiles_clear(&other);
        sg_quantiles_clear(&whole);
    }
}

/* Values over all magnitudes, from a generator of fixed seed. */
TEST("quantiles of many samples are off by at most 1/256")
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

        EXPECT(error <= exact / 256);
    }
    EXPECT(sg_quantiles_get(&quantiles, 1.0) == values[COUNT - 1]);
    sg_quantiles_clear(&quantiles);
}

TEST("quantiles include the smallest and the largest representable value")
{
    struct sg_quantiles quantiles = {0};

    for (int i = 0; i < 2 * SG_QUANTILE_EXACT; i++)
        add(&quantiles, i % 2 ? UINT64_MAX : 0);
    EXPECT(sg_quantiles_get(&quantiles, 0.5) == 0,
           sg_quantiles_get(&quantiles, 0.75) >= UINT64_MAX - UINT64_MAX / 256,
           sg_quantiles_get(&quantiles, 1.0) == UINT64_MAX);
    sg_quantiles_clear(&quantiles);
}
