/* libstagger-verbs.so if it was built without libibverbs: it only reports that. */
#include "transport/verbs/verbs.h"

static bool start(const struct sg_verbs_settings *settings, const struct sg_exchange *exchange,
                  const char **reason)
{
    *reason = "stagger was built without libibverbs and librdmacm";
    return false;
}

static void describe(struct sg_verbs_description *out)
{
    *out = (struct sg_verbs_description){.link_layer = ""};
}

static void nothing(void)
{
}

static const struct sg_transport_ops ops = {.name = "verbs"};

__attribute__((visibility("default"))) const struct sg_verbs sg_verbs = {
    .version = SG_VERBS_VERSION,
    .ops = &ops,
    .start = start,
    .describe = describe,
    .stop = nothing,
    .forget = nothing,
};
