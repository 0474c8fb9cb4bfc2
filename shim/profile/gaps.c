#include "profile/gaps.h"

#include "core/hash.h"
#include "profile/events.h"
#include "runtime/process.h"

#include <pthread.h>
#include <stdlib.h>

#define BUCKETS 1024u

struct gap {
    struct sg_gap_channel channel;
    int by_begin, by_completion; /* what is to be told */
    struct gap *next;
};

_Atomic uint32_t sg_gaps_open;

static struct gap *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool has_complained;

static bool is_same(const struct sg_gap_channel *a, const struct sg_gap_channel *b)
{
    return a->comm == b->comm && a->is_send == b->is_send && a->peer == b->peer && a->tag == b->tag;
}

/* Where the link to a channel's gap is, or would be. */
static struct gap **find(const struct sg_gap_channel *channel)
{
    uint64_t who = (uint64_t)(uint32_t)channel->peer << 32 | (uint32_t)channel->tag;
    uint64_t hash = sg_hash_mix(who ^ sg_hash_mix((uint64_t)channel->comm << 1 | channel->is_send));
    struct gap **link = &buckets[hash % BUCKETS];

    while (*link != NULL && !is_same(&(*link)->channel, channel))
        link = &(*link)->next;
    return link;
}

static struct gap *make(struct gap **link, const struct sg_gap_channel *channel)
{
    uint32_t open = atomic_load_explicit(&sg_gaps_open, memory_order_relaxed);
    struct gap *gap = open < SG_GAPS_LIMIT ? calloc(1, sizeof *gap) : NULL;

    if (gap == NULL) {
        if (!has_complained)
            sg_log("rank %d leaves out messages with more than %u ranks and tags: later ones of "
                   "these are not matched rightly",
                   sg_process.rank, open);
        has_complained = true;
        return NULL;
    }
    gap->channel = *channel;
    *link = gap;
    atomic_store_explicit(&sg_gaps_open, open + 1, memory_order_relaxed);
    return gap;
}

static void drop_if_closed(struct gap **link)
{
    struct gap *gap = *link;

    if (gap->by_begin != 0 || gap->by_completion != 0)
        return;
    *link = gap->next;
    free(gap);
    atomic_fetch_sub_explicit(&sg_gaps_open, 1, memory_order_relaxed);
}

void sg_gaps_add(const struct sg_gap_channel *channel, enum sg_gap_told told, int count)
{
    struct gap **link, *gap;

    if (sg_process.config.trace != SG_TRACE_OTF2 || channel->comm == 0 || !sg_events_have_room())
        return;
    pthread_mutex_lock(&lock);
    link = find(channel);
    gap = *link != NULL ? *link : make(link, channel);
    if (gap != NULL) {
        *(told == SG_GAP_BY_BEGIN ? &gap->by_begin : &gap->by_completion) += count;
        drop_if_closed(link);
    }
    pthread_mutex_unlock(&lock);
}

/* What one of the two counts has to tell: what was taken back may have been told before. */
static uint32_t take(int *count)
{
    uint32_t taken = *count > 0 ? (uint32_t)*count : 0;

    *count -= (int)taken;
    return taken;
}

/* Goes beyond the events' room, as there is at most one for each message that is left out. */
static void record(const struct sg_gap_channel *channel, uint32_t count, uint64_t slot)
{
    struct sg_record_gap *gap = sg_log_definition(sg_process.log, NULL, 0);

    if (gap == NULL)
        return;
    gap->is_send = channel->is_send;
    gap->count = count;
    gap->slot = slot;
    sg_log_publish(gap, SG_RECORD_GAP);
}

void sg_gaps_take(const struct sg_gap_channel *channel, unsigned told, uint64_t slot)
{
    uint32_t count = 0;
    struct gap **link;

    pthread_mutex_lock(&lock);
    link = find(channel);
    if (*link != NULL) {
        if ((told & SG_GAP_BY_BEGIN) != 0)
            count += take(&(*link)->by_begin);
        if ((told & SG_GAP_BY_COMPLETION) != 0)
            count += take(&(*link)->by_completion);
        drop_if_closed(link);
    }
    pthread_mutex_unlock(&lock);
    if (count > 0)
        record(channel, count, slot);
}
