/* Tests the emptying of caches: the size of the sweep, and that nothing is lost by it. */
#include "bench/sampling.h"
#include "lib/unit.h"

#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static void test_sizes(void)
{
    static const size_t cases[][2] = {{0, 64},  {1, 64},    {31, 64},   {32, 64},
                                      {48, 96}, {127, 254}, {128, 256}, {1024, 256}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT_EQUAL(sg_bench_sweep_bytes(cases[i][0] * MIB), cases[i][1] * MIB);
}

/* Bytes at any place, not only whole lines; what is next to them as well. */
static void test_nothing_is_lost(void)
{
    enum { BYTES = 1000 };
    unsigned char data[BYTES], copy[BYTES];

    CU_ASSERT_EQUAL_FATAL(sg_bench_sweep_open(4 * MIB), SG_OK);
    for (int i = 0; i < BYTES; i++)
        data[i] = copy[i] = (unsigned char)(i * 7);
    for (size_t first = 0; first < 130; first += 13) {
        data[first] = copy[first] = (unsigned char)(first + 1);
        sg_bench_sweep();
        sg_bench_flush(data + first, BYTES - 2 * first);
        CU_ASSERT_EQUAL(memcmp(data, copy, BYTES), 0);
    }
    sg_bench_flush(data, 0);
    CU_ASSERT_EQUAL(memcmp(data, copy, BYTES), 0);
    sg_bench_sweep_close();
    /* Nothing to sweep, and nothing to free. */
    sg_bench_sweep();
    sg_bench_sweep_close();
}

const struct unit_test unit_tests[] = {
    {"twice the largest cache is swept, within limits", test_sizes},
    {"what leaves the caches is still in memory", test_nothing_is_lost},
    {NULL, NULL},
};
