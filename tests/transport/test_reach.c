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

    ASSERT(sg_verbs_lay_out(&setup, &layout));
    return layout;
}

TEST("each of up to 64 endpoints may be connected to all of them")
{
    for (int32_t endpoints = 1; endpoints <= 64; endpoints++)
        EXPECT(lay_out(endpoints, 32).channels == (uint32_t)endpoints);
}

TEST("above 64 endpoints the number of peers grows with the levels of a tree")
{
    EXPECT(lay_out(65, 32).channels < 65,
           lay_out(SG_VERBS_ENDPOINTS_MAX, 32).channels <= 2 * 23 + 34);
}

/* In flight: what messages in slices need (bcs/live/shared_posts.h), and calls beside. */
TEST("the total size of all rings of 64 endpoints is bounded")
{
    for (int32_t endpoints = 2; endpoints <= 64; endpoints++) {
        uint32_t posts = 4096 / (uint32_t)endpoints < 1024 ? 4096 / (uint32_t)endpoints : 1024;
        struct sg_verbs_layout layout = lay_out(endpoints, 3 * posts + 64);

        EXPECT(layout.held_at - layout.rings_at <= CHANNELS_BYTES);
    }
}
