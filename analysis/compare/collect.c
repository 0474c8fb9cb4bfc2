#include "compare/collect.h"

#include "core/room.h"
#include "report/aggregate.h"

#include <stdlib.h>
#include <string.h>

static bool is_of(const struct sg_collected *item, uint32_t site, enum sg_operation operation,
                  bool nonblocking)
{
    return item->site == site && item->operation == operation && item->nonblocking == nonblocking;
}

/* Rows of one call site differ only by communicator: there are few, and each is looked up once. */
static enum sg_status find_item(struct sg_collection *collection,
                                const struct sg_aggregate *aggregate, uint32_t row, uint32_t *out)
{
    struct sg_report_site name;
    uint32_t item = 0;

    if (!SG_EXTEND(collection->item_of_row, collection->row_room, row))
        return SG_ERR_MEMORY;
    if (collection->item_of_row[row] > 0) {
        *out = collection->item_of_row[row] - 1;
        return SG_OK;
    }
    sg_aggregate_name_row(aggregate, row, &name);
    while (item < collection->count &&
           !is_of(&collection->items[item], name.site, name.operation, name.nonblocking))
        item++;
    if (item == collection->count &&
        !SG_APPEND(collection->items, collection->count,
                   (struct sg_collected){.site = name.site,
                                         .operation = name.operation,
                                         .nonblocking = name.nonblocking}))
        return SG_ERR_MEMORY;
    collection->item_of_row[row] = item + 1;
    *out = item;
    return SG_OK;
}

static enum sg_status add_call(struct sg_collection *collection,
                               const struct sg_aggregate *aggregate, uint32_t row,
                               const struct sg_call_measure *cost)
{
    struct sg_collected *item;
    uint32_t index;
    enum sg_status status = find_item(collection, aggregate, row, &index);

    if (status != SG_OK)
        return status;
    item = &collection->items[index];
    if (!item->touched) {
        if (!SG_APPEND(collection->touched, collection->touched_count, index))
            return SG_ERR_MEMORY;
        item->touched = true;
    }
    item->pending.calls++;
    item->pending.ns[SG_MEASURED_BLOCKED] += cost->blocked_ns;
    item->pending.ns[SG_MEASURED_WAIT] += cost->wait_ns;
    item->pending.ns[SG_MEASURED_PROCESSOR] += cost->blocked_ns;
    return SG_OK;
}

static enum sg_status on_instance(void *context, const struct sg_aggregate *aggregate,
                                  const struct sg_seen_instance *seen)
{
    struct sg_collection *collection = context;
    enum sg_status status = SG_OK;

    collection->touched_count = 0;
    for (uint32_t i = 0; i < seen->instance->size && status == SG_OK; i++)
        status = add_call(collection, aggregate, seen->rows[i], &seen->costs[i]);
    for (uint32_t i = 0; i < collection->touched_count; i++) {
        struct sg_collected *item = &collection->items[collection->touched[i]];

        if (status == SG_OK)
            status = sg_series_add(&item->series, &item->pending);
        item->pending = (struct sg_sample){0};
        item->touched = false;
    }
    return status;
}

/* Handling inside a call is already part of that call's time. */
static enum sg_status on_late(void *context, const struct sg_aggregate *aggregate,
                              const struct sg_late_cost *late, uint32_t row)
{
    struct sg_collection *collection = context;
    uint32_t item;
    enum sg_status status;

    if (late->in_call)
        return SG_OK;
    status = find_item(collection, aggregate, row, &item);
    if (status == SG_OK)
        collection->items[item].pending.ns[SG_MEASURED_PROCESSOR] += late->handler_ns;
    return status;
}

/* Contributions that came after the last instance. They were for nonblocking calls if the call site
 * has no other calls. */
static void spend_pending(const struct sg_collection *collection, struct sg_collected *item)
{
    struct sg_collected *to = item;

    for (uint32_t i = 0; i < collection->count && item->series.instances == 0; i++) {
        if (is_of(&collection->items[i], item->site, item->operation, true))
            to = &collection->items[i];
    }
    sg_series_add_processor(&to->series, item->pending.ns[SG_MEASURED_PROCESSOR]);
}

enum sg_status sg_collect(const char *path, bool progress, struct sg_report *report,
                          struct sg_collection *out)
{
    struct sg_watch watch = {.context = out,
                             .instance = on_instance,
                             .late = on_late,
                             .calls = true,
                             .waitstates = true};
    enum sg_status status;

    *out = (struct sg_collection){0};
    status = sg_report_read(path, progress, &watch, report);
    for (uint32_t i = 0; i < out->count; i++)
        spend_pending(out, &out->items[i]);
    return status;
}

void sg_collection_clear(struct sg_collection *collection)
{
    for (uint32_t i = 0; i < collection->count; i++)
        sg_series_clear(&collection->items[i].series);
    free(collection->items);
    free(collection->item_of_row);
    free(collection->touched);
    *collection = (struct sg_collection){0};
}

const struct sg_collected *sg_collection_find(const struct sg_collection *collection,
                                              const struct sg_report_site *site)
{
    for (uint32_t i = 0; i < collection->count; i++) {
        if (is_of(&collection->items[i], site->site, site->operation, site->nonblocking))
            return &collection->items[i];
    }
    return NULL;
}
