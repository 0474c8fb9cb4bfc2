/* Posts of nonblocking collectives, which outlive the region that they are made in: each is kept by
 * its location, under its request, until it is complete.
 */
#include "report/archive_events_impl.h"
#include "report/room.h"

enum sg_status sg_open_posts_add(struct sg_open_posts *posts, const struct sg_open_call *post)
{
    if (!sg_make_room((void **)&posts->items, posts->count, sizeof *posts->items))
        return SG_ERR_MEMORY;
    posts->items[posts->count++] = *post;
    return SG_OK;
}

bool sg_open_posts_take(struct sg_open_posts *posts, uint64_t request, struct sg_open_call *out)
{
    for (uint32_t i = 0; i < posts->count; i++) {
        if (posts->items[i].request != request)
            continue;
        *out = posts->items[i];
        posts->items[i] = posts->items[--posts->count];
        return true;
    }
    return false;
}

bool sg_open_post_read(const struct sg_archive_defs *defs, OTF2_AttributeList *attributes,
                       struct sg_open_call *post)
{
    return sg_archive_has(defs, attributes, SG_ATTRIBUTE_EXPOSED) &&
           sg_archive_has(defs, attributes, SG_ATTRIBUTE_HIDDEN) &&
           OTF2_AttributeList_GetUint64(attributes, defs->attributes[SG_ATTRIBUTE_EXPOSED],
                                        &post->call.exposed_ns) == OTF2_SUCCESS &&
           OTF2_AttributeList_GetUint64(attributes, defs->attributes[SG_ATTRIBUTE_HIDDEN],
                                        &post->call.hidden_ns) == OTF2_SUCCESS;
}
