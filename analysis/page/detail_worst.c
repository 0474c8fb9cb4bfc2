/* The worst instances: those of largest skew, one for each call site, with their late
 * contributions. A late contribution may be handled before its instance is complete (another member
 * is still in its call) or after: recent ones wait in a ring for their instance.
 */
#include "page/detail.h"

#include "report/aggregate.h"

#include <stdlib.h>

#define RECENT 1024u /* a power of two */

struct sg_detail_recent {
    struct sg_late_cost items[RECENT];
    uint64_t count; /* ever */
};

enum sg_status sg_detail_recent_create(struct sg_detail *detail)
{
    detail->recent = calloc(1, sizeof *detail->recent);
    return detail->recent != NULL ? SG_OK : SG_ERR_MEMORY;
}

static bool is_for(const struct sg_late_cost *late, const struct sg_detail_worst *worst)
{
    return late->has_seq && late->seq == worst->seq && late->comm == worst->comm &&
           late->operation == worst->operation;
}

static void add_late(struct sg_detail_worst *worst, const struct sg_late_cost *late)
{
    if (worst->late_count < SG_DETAIL_LATE)
        worst->late[worst->late_count] =
            (struct sg_detail_late){late->rank, late->begin_ns, late->handler_ns};
    worst->late_count++;
}

void sg_detail_take_late(struct sg_detail *detail, const struct sg_late_cost *late)
{
    struct sg_detail_recent *recent = detail->recent;

    recent->items[recent->count++ % RECENT] = *late;
    for (uint32_t i = 0; i < detail->worst_count; i++) {
        if (is_for(late, &detail->worst[i]))
            add_late(&detail->worst[i], late);
    }
}

/* The place for an instance of that skew; NULL: all that are kept are worse. */
static struct sg_detail_worst *place_of(struct sg_detail *detail, uint32_t sum, uint64_t skew_ns)
{
    struct sg_detail_worst *least = NULL;

    for (uint32_t i = 0; i < detail->worst_count; i++) {
        struct sg_detail_worst *worst = &detail->worst[i];

        if (worst->sum == sum)
            return skew_ns > worst->skew_ns ? worst : NULL;
        if (least == NULL || worst->skew_ns < least->skew_ns)
            least = worst;
    }
    if (detail->worst_count < SG_DETAIL_WORST)
        return &detail->worst[detail->worst_count++];
    return skew_ns > least->skew_ns ? least : NULL;
}

enum sg_status sg_detail_keep_worst(struct sg_detail *detail, const struct sg_seen_instance *seen,
                                    uint32_t sum)
{
    const struct sg_instance *instance = seen->instance;
    struct sg_detail_worst *worst;
    struct sg_detail_part *parts;

    if (instance->size < 2 || seen->measure->skew_ns == 0)
        return SG_OK;
    worst = place_of(detail, sum, seen->measure->skew_ns);
    if (worst == NULL)
        return SG_OK;
    parts = realloc(worst->parts, instance->size * sizeof *parts);
    if (parts == NULL)
        return SG_ERR_MEMORY;
    worst->parts = parts;
    worst->row = seen->row;
    worst->sum = sum;
    worst->comm = instance->comm;
    worst->operation = instance->operation;
    worst->seq = instance->seq;
    worst->skew_ns = seen->measure->skew_ns;
    worst->size = instance->size;
    worst->late_count = 0;
    for (uint32_t i = 0; i < instance->size; i++)
        parts[i] = (struct sg_detail_part){.rank = instance->calls[i].rank,
                                           .begin_ns = instance->calls[i].begin_ns,
                                           .end_ns = instance->calls[i].end_ns,
                                           .wait_ns = seen->costs[i].wait_ns};
    for (uint64_t i = detail->recent->count > RECENT ? detail->recent->count - RECENT : 0;
         i < detail->recent->count; i++) {
        if (is_for(&detail->recent->items[i % RECENT], worst))
            add_late(worst, &detail->recent->items[i % RECENT]);
    }
    return SG_OK;
}
