/* Tests the emptying of caches: the size of the sweep, and that nothing is lost by it. */
#include "bench/sampling.h"
#include "lib/unit.h"

#define MIB ((size_t)1 << 20)

TEST("a sweep covers twice the largest cache, within limits")
{
    static const size_t cases[][2] = {{0, 64},  {1, 64},    {31, 64},   {32, 64},
                                      {48, 96}, {127, 254}, {128, 256}, {1024, 256}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        EXPECT(sg_bench_sweep_bytes(cases[i][0] * MIB) == cases[i][1] * MIB);
}

/* Bytes at any place, not only whole lines; what is next to them as well. */
TEST("data evicted from the caches is still in memory")
{
    enum { BYTES = 1000 };
    unsigned char data[BYTES], copy[BYTES];

    ASSERT(sg_bench_sweep_open(4 * MIB) == SG_OK);
    for (int i = 0; i < BYTES; i++)
        data[i] = copy[i] = (unsigned char)(i * 7);
    for (size_t first = 0; first < 130; first += 13) {
        data[first] = copy[first] = (unsigned char)(first + 1);
        sg_bench_sweep();
        sg_bench_flush(data + first, BYTES - 2 * first);
        EXPECT(memcmp(data, copy, BYTES) == 0);
    }
    sg_bench_flush(data, 0);
    EXPECT(memcmp(data, copy, BYTES) == 0);
    sg_bench_sweep_close();
    /* Nothing to sweep, and nothing to free. */
    sg_bench_sweep();
    sg_bench_sweep_close();
}
