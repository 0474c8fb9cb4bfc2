/* Clock offsets between machines, in forked processes whose clocks are told apart by an offset. */
#include "core/clock.h"
#include "core/clocksync.h"
#include "lib/exchange_fork.h"
#include "lib/unit.h"

#include <stdlib.h>

#define RANKS 5

/* Two ranks on rank 0's machine, three on two others. */
static const uint64_t machines[RANKS] = {7, 8, 7, 9, 8};
static int64_t clock_offset_ns; /* of this process */

static uint64_t shifted_clock_ns(void)
{
    return sg_clock_ns() + (uint64_t)clock_offset_ns;
}

static int64_t offset_of(uint64_t machine)
{
    return machine == 8 ? INT64_C(5000000000000) : machine == 9 ? -INT64_C(77000000) : 0;
}

/* 0 when the offset is recovered within the bound that is told, and the bound is no evasion. */
static int measure(const struct sg_exchange *exchange, void *context)
{
    uint64_t machine = machines[exchange->rank];
    struct sg_clock_offset found;
    int64_t wrong_ns;

    clock_offset_ns = offset_of(machine);
    if (sg_clocksync_measure(exchange, machine, shifted_clock_ns, &found) != SG_OK)
        return 1;
    if (machine == machines[0])
        return found.offset_ns == 0 && found.error_ns == 0 ? 0 : 2;
    wrong_ns = found.offset_ns + clock_offset_ns;
    if (llabs(wrong_ns) > (int64_t)found.error_ns)
        return 3;
    if (found.error_ns == 0 || found.error_ns > UINT64_C(1000000000))
        return 4;
    return found.local_ns > shifted_clock_ns() ? 5 : 0;
}

static void test_offsets(void)
{
    CU_ASSERT_TRUE(exchange_fork(RANKS, measure, NULL));
}

/* Ranks of one machine take their leader's result, to the bit. */
static int compare_with_leader(const struct sg_exchange *exchange, void *context)
{
    struct sg_clock_offset found;
    struct sg_clock_offset *all = NULL;
    size_t sizes[RANKS];
    int same;

    clock_offset_ns = offset_of(machines[exchange->rank]);
    if (sg_clocksync_measure(exchange, machines[exchange->rank], shifted_clock_ns, &found) !=
            SG_OK ||
        exchange->gather(exchange->context, &found, sizeof found, (void **)&all, sizes) != SG_OK)
        return 1;
    if (exchange->rank != 0)
        return 0;
    same = all[1].offset_ns == all[4].offset_ns && all[1].error_ns == all[4].error_ns &&
           all[3].offset_ns != all[1].offset_ns;
    free(all);
    return same ? 0 : 2;
}

static void test_leaders(void)
{
    CU_ASSERT_TRUE(exchange_fork(RANKS, compare_with_leader, NULL));
}

static void test_machine(void)
{
    CU_ASSERT_EQUAL(sg_clocksync_machine(), sg_clocksync_machine());
    CU_ASSERT_NOT_EQUAL(sg_clocksync_machine(), 0);
}

static int agree_on(const struct sg_exchange *exchange, void *context)
{
    const int *bad = context;
    int first = 99;

    if (sg_exchange_agree(exchange, exchange->rank != bad[0] && exchange->rank != bad[1], &first) !=
        SG_OK)
        return 1;
    return first == (bad[0] < 0 ? -1 : bad[0]) ? 0 : 2;
}

static void test_agree(void)
{
    int none[2] = {-1, -1};
    int two[2] = {1, 3};

    CU_ASSERT_TRUE(exchange_fork(RANKS, agree_on, none));
    CU_ASSERT_TRUE(exchange_fork(RANKS, agree_on, two));
}

/* More than one piece of sg_exchange_share. */
#define SHARED_BYTES 200001

static int share_blob(const struct sg_exchange *exchange, void *context)
{
    unsigned char *data = exchange->rank == 0 ? malloc(SHARED_BYTES) : NULL;
    void *shared = data;
    size_t size_bytes = exchange->rank == 0 ? SHARED_BYTES : 0;
    int wrong = 0;

    for (size_t i = 0; data != NULL && i < SHARED_BYTES; i++)
        data[i] = (unsigned char)(i * 31 >> 3);
    if (sg_exchange_share(exchange, &shared, &size_bytes) != SG_OK || size_bytes != SHARED_BYTES)
        return 1;
    data = shared;
    for (size_t i = 0; i < SHARED_BYTES; i++)
        wrong += data[i] != (unsigned char)(i * 31 >> 3);
    free(data);
    return wrong > 0;
}

static void test_share(void)
{
    CU_ASSERT_TRUE(exchange_fork(3, share_blob, NULL));
}

const struct unit_test unit_tests[] = {
    {"offsets between machines are found within the bound that is told", test_offsets},
    {"ranks of one machine take their leader's offset", test_leaders},
    {"a machine is told by the same number each time", test_machine},
    {"ranks agree, or learn the first that does not", test_agree},
    {"rank 0's data reaches all whole, whatever its size", test_share},
    {NULL, NULL},
};
