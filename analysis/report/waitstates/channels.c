#include "report/waitstates/channels.h"

#include "core/hash.h"

#include <stdlib.h>

static uint64_t key_hash(const struct sg_message_key *key)
{
    return sg_hash_mix(((uint64_t)key->from << 32 | key->to) ^
                       sg_hash_mix((uint64_t)key->comm << 32 | key->tag));
}

static bool is_same(const struct sg_message_key *a, const struct sg_message_key *b)
{
    return a->comm == b->comm && a->from == b->from && a->to == b->to && a->tag == b->tag;
}

struct sg_channel *sg_channels_find(const struct sg_link_table *channels,
                                    const struct sg_message_key *key)
{
    struct sg_table_link *link = sg_link_table_first(channels, key_hash(key));

    while (link != NULL && !is_same(&((struct sg_channel *)link)->key, key))
        link = sg_link_table_next(link);
    return (struct sg_channel *)link;
}

enum sg_status sg_channels_append(struct sg_link_table *channels, struct sg_channel *channel,
                                  struct sg_waitstate_message_end *end)
{
    if (channel == NULL) {
        channel = calloc(1, sizeof *channel);
        if (channel == NULL)
            return SG_ERR_MEMORY;
        channel->key = end->key;
        if (sg_link_table_add(channels, &channel->link, key_hash(&end->key)) != SG_OK) {
            free(channel);
            return SG_ERR_MEMORY;
        }
    }
    end->next = NULL;
    *(channel->last != NULL ? &channel->last->next : &channel->first) = end;
    channel->last = end;
    return SG_OK;
}

void sg_channels_remove(struct sg_link_table *channels, struct sg_channel *channel,
                        struct sg_waitstate_message_end *end)
{
    struct sg_waitstate_message_end *before = NULL;

    for (struct sg_waitstate_message_end *at = channel->first; at != end; at = at->next)
        before = at;
    if (end->next != NULL)
        end->next->gap += end->gap;
    *(before != NULL ? &before->next : &channel->first) = end->next;
    if (channel->last == end)
        channel->last = before;
    if (channel->first == NULL) {
        sg_link_table_remove(channels, &channel->link);
        free(channel);
    }
}

struct sg_waitstate_message_end *sg_channel_opposite(const struct sg_channel *channel,
                                                     const struct sg_waitstate_message_end *end)
{
    struct sg_waitstate_message_end *first = channel != NULL ? channel->first : NULL;

    return first != NULL && first->is_send != end->is_send ? first : NULL;
}

static void free_channel(void *context, struct sg_table_link *link)
{
    (void)context;
    free((struct sg_channel *)link);
}

void sg_channels_clear(struct sg_link_table *channels)
{
    sg_link_table_clear(channels, free_channel, NULL);
}
