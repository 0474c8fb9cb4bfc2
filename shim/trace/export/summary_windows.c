#include "trace/export/summary_windows.h"

#include "trace/export/summary_tables.h"

#include <stdlib.h>

enum sg_status sg_summary_windows_add(struct sg_summary_windows *windows,
                                      const struct sg_record_window *record, const char *text)
{
    struct sg_window_entry *window =
        sg_summary_table_add(&windows->windows, &windows->window_count, sizeof *window);

    if (window == NULL)
        return SG_ERR_MEMORY;
    window->index = record->index;
    window->comm = record->comm;
    window->ordinal = record->ordinal;
    window->name = text;
    return SG_OK;
}

enum sg_status sg_summary_windows_add_group(struct sg_summary_windows *windows, int32_t world_size,
                                            const struct sg_record_group *record, const char *text)
{
    struct sg_group_entry *group =
        sg_summary_table_add(&windows->groups, &windows->group_count, sizeof *group);

    if (group == NULL)
        return SG_ERR_MEMORY;
    group->index = record->index;
    group->size = record->size;
    if (record->size > 0 && record->size <= (uint32_t)world_size)
        group->members =
            sg_summary_table_read_members(text, record->text_bytes, record->size, world_size);
    return SG_OK;
}

static void clear_window(void *item)
{
    sg_intervals_clear(&((struct sg_window_entry *)item)->recorded);
}

static void clear_group(void *item)
{
    free(((struct sg_group_entry *)item)->members);
}

void sg_summary_windows_sort(struct sg_summary_windows *windows)
{
    sg_summary_table_sort(windows->windows, &windows->window_count, sizeof *windows->windows,
                          clear_window);
    sg_summary_table_sort(windows->groups, &windows->group_count, sizeof *windows->groups,
                          clear_group);
}

/* ---- events --------------------------------------------------------------------------------- */

const struct sg_window_entry *sg_summary_window(const struct sg_summary_windows *windows,
                                                const struct sg_record_event *event)
{
    uint32_t index = (uint32_t)event->from;

    return event->from < 0 || windows->window_count == 0
               ? NULL
               : bsearch(&index, windows->windows, windows->window_count, sizeof *windows->windows,
                         sg_summary_table_by_index);
}

const struct sg_group_entry *sg_summary_group(const struct sg_summary_windows *windows,
                                              const struct sg_record_event *event)
{
    return event->to < 0 ? NULL : sg_summary_group_at(windows, (uint32_t)event->to);
}

const struct sg_group_entry *sg_summary_group_at(const struct sg_summary_windows *windows,
                                                 uint32_t index)
{
    return windows->group_count == 0 ? NULL
                                     : bsearch(&index, windows->groups, windows->group_count,
                                               sizeof *windows->groups, sg_summary_table_by_index);
}

void sg_summary_windows_use_group(struct sg_summary_windows *windows, uint32_t group)
{
    struct sg_group_entry *entry =
        group > 0 ? (struct sg_group_entry *)sg_summary_group_at(windows, group - 1) : NULL;

    if (entry != NULL)
        entry->is_used = true;
}

enum sg_status sg_summary_windows_read(struct sg_summary_windows *windows,
                                       const struct sg_record_event *event, enum sg_rma rma,
                                       const struct sg_window_entry **out)
{
    struct sg_window_entry *window = (struct sg_window_entry *)sg_summary_window(windows, event);
    struct sg_group_entry *group =
        sg_rma_has_group(rma) ? (struct sg_group_entry *)sg_summary_group(windows, event) : NULL;

    *out = window;
    if (window == NULL)
        return SG_OK;
    window->is_used = true;
    if (group != NULL)
        group->is_used = true;
    if (!sg_rma_is_collective(rma)) {
        window->events++;
        return SG_OK;
    }
    if ((event->flags & SG_EVENT_ORDERED) == 0 || event->from_tag < 0)
        return SG_OK;
    return sg_intervals_add(&window->recorded, (uint32_t)event->from_tag) ? SG_OK : SG_ERR_MEMORY;
}

uint64_t sg_summary_windows_finish(struct sg_summary_windows *windows)
{
    uint64_t lost = 0;

    for (uint32_t i = 0; i < windows->window_count; i++) {
        uint64_t numbers = sg_intervals_size(&windows->windows[i].recorded);

        if (!sg_intervals_finish(&windows->windows[i].recorded))
            lost += numbers;
    }
    return lost;
}

/* ---- as bytes, and freeing ------------------------------------------------------------------ */

static void pack_group(struct sg_pack *pack, struct sg_group_entry *group)
{
    uint32_t count = group->members != NULL ? group->size : 0;

    SG_PACK(pack, group->index);
    SG_PACK(pack, group->is_used);
    SG_PACK(pack, group->size);
    sg_pack_plain_table(pack, &group->members, &count, sizeof *group->members);
    if (count != group->size) {
        free(group->members);
        group->members = NULL;
    }
}

void sg_summary_windows_pack(struct sg_pack *pack, struct sg_summary_windows *windows)
{
    sg_pack_table(pack, &windows->windows, &windows->window_count, sizeof *windows->windows);
    for (uint32_t i = 0; i < windows->window_count; i++) {
        struct sg_window_entry *window = &windows->windows[i];

        SG_PACK(pack, window->index);
        SG_PACK(pack, window->comm);
        SG_PACK(pack, window->ordinal);
        SG_PACK(pack, window->is_used);
        sg_pack_text(pack, &window->name);
        SG_PACK(pack, window->events);
        sg_intervals_pack(pack, &window->recorded);
    }
    sg_pack_table(pack, &windows->groups, &windows->group_count, sizeof *windows->groups);
    for (uint32_t i = 0; i < windows->group_count; i++)
        pack_group(pack, &windows->groups[i]);
}

void sg_summary_windows_clear(struct sg_summary_windows *windows)
{
    for (uint32_t i = 0; i < windows->window_count; i++)
        clear_window(&windows->windows[i]);
    for (uint32_t i = 0; i < windows->group_count; i++)
        clear_group(&windows->groups[i]);
    free(windows->windows);
    free(windows->groups);
}
