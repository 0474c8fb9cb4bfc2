/* Tests how many others an endpoint may be connected to between machines, and the memory that
 * connections take. */
#include "lib/unit.h"
#include "transport/verbs/verbs_layout.h"

#define CHANNELS_BYTES (2 * SG_VERBS_CHANNELS_BYTES)

static struct sg_verbs_layout lay_out(int32_t endpoints, uint32_t inflight)
{
    const struct sg_transport_setup setup = {
        .endpoints = endpoints, .here = 1, .inflight = inflight, .staged = 32, .eager_bytes = 1024};
    struct sg_verbs_layout layout = {0};

    CU_ASSERT_FATAL(sg_verbs_lay_out(&setup, &layout));
    return layout;
}

static void test_few(void)
{
    for (int32_t endpoints = 1; endpoints <= 64; endpoints++)
        CU_ASSERT(lay_out(endpoints, 32).channels == (uint32_t)endpoints);
}

static void test_many(void)
{
    CU_ASSERT(lay_out(65, 32).channels < 65);
    CU_ASSERT(lay_out(SG_VERBS_ENDPOINTS_MAX, 32).channels <= 2 * 16 + 34);
}

/* In flight: what messages in slices need (bcs/live/shared_posts.h), and calls beside. */
static void test_bytes(void)
{
    for (int32_t endpoints = 2; endpoints <= 64; endpoints++) {
        uint32_t posts = 4096 / (uint32_t)endpoints < 1024 ? 4096 / (uint32_t)endpoints : 1024;
        struct sg_verbs_layout layout = lay_out(endpoints, 3 * posts + 64);

        CU_ASSERT(layout.held_at - layout.rings_at <= CHANNELS_BYTES);
    }
}

const struct unit_test unit_tests[] = {
    {"each of up to 64 endpoints may be connected to all of them", test_few},
    {"of more, to a number that grows with the levels of a tree", test_many},
    {"the rings of all messages of 64 endpoints are bounded", test_bytes},
    {NULL, NULL},
};
