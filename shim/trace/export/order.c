#include "trace/export/order.h"

#include "core/room.h"
#include "trace/export/recorded_call.h"

#include <stdlib.h>

struct list {
    struct sg_order_entry *entries;
    size_t count;
    bool sorted;
};

static int compare(const struct sg_order_entry *a, const struct sg_order_entry *b)
{
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->what != b->what)
        return a->what < b->what ? -1 : 1;
    return (a->slot > b->slot) - (a->slot < b->slot);
}

static int compare_entries(const void *a, const void *b)
{
    return compare(a, b);
}

static enum sg_status add(struct list *list, struct sg_order_entry entry)
{
    if (!sg_make_room((void **)&list->entries, list->count, sizeof entry))
        return SG_ERR_MEMORY;
    if (list->count > 0 && compare(&list->entries[list->count - 1], &entry) > 0)
        list->sorted = false;
    list->entries[list->count++] = entry;
    return SG_OK;
}

static enum sg_status add_record(struct list *list, const void *record, enum sg_record_kind kind,
                                 uint32_t slot)
{
    enum sg_status status = SG_OK;
    struct sg_recorded_call recorded;

    if (kind == SG_RECORD_LATE) {
        const struct sg_record_late *late = record;

        if (sg_late_is_sound(late))
            status = add(
                list, (struct sg_order_entry){late->begin_ns, slot, late->thread, SG_ORDER_LATE});
    } else if (kind == SG_RECORD_EVENT) {
        const struct sg_record_event *event = record;

        if (sg_event_is_sound(event))
            status = add(
                list, (struct sg_order_entry){event->begin_ns, slot, event->thread, SG_ORDER_CALL});
    } else if (kind == SG_RECORD_INTERVAL) {
        const struct sg_record_interval *interval = record;

        if (sg_interval_is_sound(interval))
            status = add(list, (struct sg_order_entry){interval->end_ns, slot, interval->thread,
                                                       SG_ORDER_INTERVAL});
    } else if (kind == SG_RECORD_SLICE) {
        const struct sg_record_slice *slice = record;

        if (sg_slice_is_sound(slice))
            status = add(list, (struct sg_order_entry){slice->begin_ns + slice->until_ns, slot,
                                                       slice->thread, SG_ORDER_SLICE});
    } else if (kind == SG_RECORD_REQUEST) {
        const struct sg_record_request *request = record;

        if (sg_request_is_sound(request))
            status = add(list, (struct sg_order_entry){request->time_ns, slot, request->thread,
                                                       SG_ORDER_REQUEST});
    } else if (sg_recorded_call_read(record, &recorded) && (recorded.flags & SG_CALL_FAILED) == 0 &&
               sg_recorded_call_is_sound(&recorded)) {
        status = add(
            list, (struct sg_order_entry){recorded.begin_ns, slot, recorded.thread, SG_ORDER_CALL});
        if (status == SG_OK && recorded.complete_ns > 0)
            status = add(list, (struct sg_order_entry){recorded.complete_ns, slot, recorded.thread,
                                                       SG_ORDER_COMPLETE});
    }
    return status;
}

enum sg_status sg_order_make(struct sg_logread *log, struct sg_order_entry **out, size_t *count)
{
    const struct sg_log_header *header = sg_logread_header(log);
    struct list list = {.sorted = true};
    enum sg_status status = SG_OK;
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    if (header->init_begin_ns > 0)
        status = add(
            &list, (struct sg_order_entry){header->init_begin_ns, SG_SLOT_INIT, 0, SG_ORDER_CALL});
    while (status == SG_OK && (record = sg_logread_next(log, &slot, &kind)) != NULL) {
        /* Of the others that are taken each has one slot. */
        uint64_t slots = kind == SG_RECORD_INTERVAL ? SG_INTERVAL_SLOTS
                         : kind == SG_RECORD_SLICE  ? SG_SLICE_SLOTS
                                                    : 1;

        status = add_record(&list, record, kind, (uint32_t)(slot - slots));
    }
    if (status == SG_OK && header->finalize_begin_ns > 0)
        status = add(&list, (struct sg_order_entry){header->finalize_begin_ns, SG_SLOT_FINALIZE, 0,
                                                    SG_ORDER_CALL});
    if (status != SG_OK) {
        free(list.entries);
        return status;
    }
    if (!list.sorted)
        qsort(list.entries, list.count, sizeof *list.entries, compare_entries);
    *out = list.entries;
    *count = list.count;
    return SG_OK;
}
