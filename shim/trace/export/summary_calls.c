#include "trace/export/summary_calls.h"

#include "core/room.h"
#include "trace/export/event_messages.h"
#include "trace/export/vocabulary.h"

#include <stdlib.h>

/* ---- tables ------------------------------------------------------------------------------ */

void *sg_summary_table_add(void *table, uint32_t *count, size_t item_bytes)
{
    void **items = table;

    if (!sg_make_room(items, *count, item_bytes))
        return NULL;
    return memset((unsigned char *)*items + (size_t)(*count)++ * item_bytes, 0, item_bytes);
}

int sg_summary_table_by_index(const void *a, const void *b)
{
    const uint32_t *left = a;
    const uint32_t *right = b;

    return (*left > *right) - (*left < *right);
}

void sg_summary_table_sort(void *table, uint32_t *count, size_t item_bytes,
                           void (*clear_item)(void *item))
{
    unsigned char *items = table;
    uint32_t kept = 0;

    if (*count > 1)
        qsort(items, *count, item_bytes, sg_summary_table_by_index);
    for (uint32_t i = 0; i < *count; i++) {
        unsigned char *item = items + i * item_bytes;

        if (kept > 0 && sg_summary_table_by_index(items + (kept - 1) * item_bytes, item) == 0) {
            clear_item(item);
            continue;
        }
        if (kept != i)
            memcpy(items + kept * item_bytes, item, item_bytes);
        kept++;
    }
    *count = kept;
}

const void *sg_summary_table_find(const void *table, uint32_t count, size_t item_bytes,
                                  uint32_t index)
{
    return count == 0 ? NULL : bsearch(&index, table, count, item_bytes, sg_summary_table_by_index);
}

void sg_pack_members(struct sg_pack *pack, uint32_t **members, uint32_t size)
{
    uint32_t count = *members != NULL ? size : 0;

    sg_pack_plain_table(pack, members, &count, sizeof **members);
    if (count != size) {
        free(*members);
        *members = NULL;
    }
}

/* Reads count words from a record's text, from the word with index first after the padded name;
 * malloc'ed. NULL: the text is too short, or out of memory. */
static uint32_t *read_words(const char *text, uint32_t text_bytes, uint32_t first, uint32_t count)
{
    size_t begin_bytes = ((strlen(text) + 1 + 3) & ~(size_t)3) + (size_t)first * sizeof(uint32_t);
    size_t size_bytes = (size_t)count * sizeof(uint32_t);
    uint32_t *words;

    if (begin_bytes + size_bytes > text_bytes)
        return NULL;
    words = malloc(size_bytes);
    if (words != NULL)
        memcpy(words, text + begin_bytes, size_bytes);
    return words;
}

uint32_t *sg_summary_table_read_members(const char *text, uint32_t text_bytes, uint32_t count,
                                        int32_t world_size)
{
    uint32_t *members = read_words(text, text_bytes, 0, count);

    for (uint32_t i = 0; members != NULL && i < count; i++) {
        if (members[i] >= (uint32_t)world_size) {
            free(members);
            return NULL;
        }
    }
    return members;
}

/* ---- windows: definitions ------------------------------------------------------------------- */

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

/* Sorts the tables. Call after all entries are added. */
static void windows_sort(struct sg_summary_windows *windows)
{
    sg_summary_table_sort(windows->windows, &windows->window_count, sizeof *windows->windows,
                          clear_window);
    sg_summary_table_sort(windows->groups, &windows->group_count, sizeof *windows->groups,
                          clear_group);
}

/* ---- windows: events ------------------------------------------------------------------------ */

const struct sg_window_entry *sg_summary_window(const struct sg_summary_windows *windows,
                                                const struct sg_record_event *event)
{
    return event->from < 0 ? NULL
                           : sg_summary_table_find(windows->windows, windows->window_count,
                                                   sizeof *windows->windows, (uint32_t)event->from);
}

const struct sg_group_entry *sg_summary_group(const struct sg_summary_windows *windows,
                                              const struct sg_record_event *event)
{
    return event->to < 0 ? NULL : sg_summary_group_at(windows, (uint32_t)event->to);
}

const struct sg_group_entry *sg_summary_group_at(const struct sg_summary_windows *windows,
                                                 uint32_t index)
{
    return sg_summary_table_find(windows->groups, windows->group_count, sizeof *windows->groups,
                                 index);
}

/* Marks a group as used. group: 1 + its index; 0: none. */
static void windows_use_group(struct sg_summary_windows *windows, uint32_t group)
{
    struct sg_group_entry *entry =
        group > 0 ? (struct sg_group_entry *)sg_summary_group_at(windows, group - 1) : NULL;

    if (entry != NULL)
        entry->is_used = true;
}

/* Marks the window and the group of an event as used, and adds a collective's number. *out: the
 * window; NULL: not known. */
static enum sg_status windows_read(struct sg_summary_windows *windows,
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

/* Call after all events are read. Returns the number of collectives lost. */
static uint64_t windows_finish(struct sg_summary_windows *windows)
{
    uint64_t lost = 0;

    for (uint32_t i = 0; i < windows->window_count; i++) {
        uint64_t numbers = sg_intervals_size(&windows->windows[i].recorded);

        if (!sg_intervals_finish(&windows->windows[i].recorded))
            lost += numbers;
    }
    return lost;
}

/* ---- packing and freeing windows ------------------------------------------------------------ */

void sg_summary_windows_pack(struct sg_pack *pack, struct sg_summary_windows *windows)
{
    sg_pack_plain_table(pack, &windows->windows, &windows->window_count, sizeof *windows->windows);
    for (uint32_t i = 0; i < windows->window_count; i++) {
        sg_pack_text(pack, &windows->windows[i].name);
        sg_intervals_pack(pack, &windows->windows[i].recorded);
    }
    sg_pack_plain_table(pack, &windows->groups, &windows->group_count, sizeof *windows->groups);
    for (uint32_t i = 0; i < windows->group_count; i++)
        sg_pack_members(pack, &windows->groups[i].members, windows->groups[i].size);
}

static void windows_clear(struct sg_summary_windows *windows)
{
    for (uint32_t i = 0; i < windows->window_count; i++)
        clear_window(&windows->windows[i]);
    for (uint32_t i = 0; i < windows->group_count; i++)
        clear_group(&windows->groups[i]);
    free(windows->windows);
    free(windows->groups);
}

/* ---- calls ------------------------------------------------------------------------------- */

enum sg_status sg_summary_calls_add_function(struct sg_summary_calls *calls,
                                             const struct sg_record_function *record,
                                             const char *text)
{
    struct sg_function_entry *function =
        sg_summary_table_add(&calls->functions, &calls->function_count, sizeof *function);

    if (function == NULL)
        return SG_ERR_MEMORY;
    function->index = record->index;
    function->name = text;
    function->rma = sg_rma_of(text);
    function->about = sg_mpi_region_of(text);
    function->left_out = atomic_load_explicit(&record->left_out, memory_order_relaxed);
    return SG_OK;
}

enum sg_status sg_summary_calls_add_comm(struct sg_summary_calls *calls, int32_t world_size,
                                         const struct sg_record_profile_comm *record,
                                         const char *text)
{
    uint32_t remote_size = record->is_inter != 0 ? record->peers : 0;
    /* Members outside the world, as after MPI_Comm_spawn, have no world rank: the communicator
     * is then unknown. */
    bool is_known = record->rank < record->size && record->size <= (uint32_t)world_size &&
                    (record->is_inter == 0 || remote_size > 0) &&
                    remote_size <= (uint32_t)world_size - record->size;
    struct sg_profile_comm_entry *entry =
        sg_summary_table_add(&calls->comms, &calls->comm_count, sizeof *entry);

    if (entry == NULL)
        return SG_ERR_MEMORY;
    entry->comm.index = record->index;
    entry->comm.size = record->size;
    entry->comm.rank = record->rank;
    entry->comm.parent = record->parent;
    entry->comm.name = text;
    entry->ordinal = record->ordinal;
    entry->library_comm = UINT32_MAX;
    entry->comm.remote_size = is_known ? remote_size : 0;
    entry->identity = is_known ? record->identity : 0;
    if (entry->identity != 0 && record->has_members != 0)
        entry->comm.members = sg_summary_table_read_members(text, record->text_bytes,
                                                            record->size + remote_size, world_size);
    if (entry->identity != 0 && record->dimensions > 0)
        entry->grid = read_words(text, record->text_bytes,
                                 record->has_members != 0 ? record->size + remote_size : 0,
                                 2 * (uint32_t)record->dimensions);
    entry->dimensions = entry->grid != NULL ? record->dimensions : 0;
    entry->sources = record->sources;
    entry->created_ns = record->created_ns;
    return SG_OK;
}

/* ---- marking of used definitions ------------------------------------------------------------ */

static void use(struct sg_summary_calls *calls, struct sg_profile_comm_entry *comm,
                uint64_t messages)
{
    if (comm == NULL) {
        calls->dropped += messages;
        return;
    }
    comm->used = true;
    comm->messages += messages;
}

static struct sg_profile_comm_entry *comm_of(const struct sg_summary_calls *calls, uint32_t index)
{
    return (struct sg_profile_comm_entry *)sg_summary_profile_comm(calls, index);
}

/* Adds the number of a collective, the same on all members. The library's collectives take
 * numbers, too, but their records do not hold them. A gap as long as the number of those calls
 * is theirs, and is filled: few, long intervals remain. */
static enum sg_status add_number(struct sg_profile_comm_entry *comm, uint32_t number)
{
    uint32_t first = number;

    if (number >= comm->next_number && number - comm->next_number == comm->library_calls)
        first = comm->next_number;
    comm->next_number = number + 1;
    comm->library_calls = 0;
    for (uint32_t i = first; i < number; i++) {
        if (!sg_intervals_add(&comm->comm.recorded, i))
            return SG_ERR_MEMORY;
    }
    return sg_intervals_add(&comm->comm.recorded, number) ? SG_OK : SG_ERR_MEMORY;
}

/* Old logs have no records of windows: their events name only the communicator, and are not
 * counted as dropped. */
static enum sg_status read_on_window(struct sg_summary_calls *calls,
                                     const struct sg_record_event *event, enum sg_rma rma)
{
    const struct sg_window_entry *window;
    struct sg_profile_comm_entry *comm;
    enum sg_status status;

    if ((event->flags & SG_EVENT_FAILED) != 0)
        return SG_OK;
    status = windows_read(&calls->windows, event, rma, &window);
    comm = window != NULL ? comm_of(calls, window->comm) : NULL;
    if (comm != NULL)
        comm->used = true;
    else if (window == NULL && (event->from >= 0 || event->comm == 0))
        calls->dropped++;
    return status;
}

static enum sg_status read_event(struct sg_summary_calls *calls,
                                 const struct sg_record_event *event)
{
    struct sg_function_entry *function =
        (struct sg_function_entry *)sg_summary_function(calls, event->function);
    struct sg_profile_comm_entry *comm = comm_of(calls, event->comm), *made;

    if (function == NULL || !sg_event_is_sound(event)) {
        calls->dropped++;
        return SG_OK;
    }
    function->used = true;
    calls->events++;
    if (function->rma != SG_RMA_NONE)
        return read_on_window(calls, event, function->rma);
    if (sg_event_has_message(event))
        use(calls, comm, 1);
    made = (struct sg_profile_comm_entry *)sg_summary_made(calls, &function->about, event);
    if (made != NULL && !sg_intervals_add(&made->comm.recorded, SG_NUMBER_OF_MAKER))
        return SG_ERR_MEMORY;
    if (!sg_event_has_number(event) || !function->about.is_collective)
        return SG_OK;
    if (comm == NULL) {
        calls->dropped++;
        return SG_OK;
    }
    comm->used = true;
    if (function->about.without == SG_WITHOUT_NEIGHBORHOOD)
        windows_use_group(&calls->windows, comm->sources);
    if (function->about.without == SG_WITHOUT_NONE && event->from >= 0)
        windows_use_group(&calls->windows, (uint32_t)event->from + 1);
    if (sg_event_is_below(event))
        return sg_intervals_add(&comm->comm.recorded, sg_event_number(event)) ? SG_OK
                                                                              : SG_ERR_MEMORY;
    return add_number(comm, (uint32_t)event->from_tag);
}

static enum sg_status read_start(struct sg_summary_calls *calls,
                                 const struct sg_record_request *request)
{
    struct sg_profile_comm_entry *comm = comm_of(calls, request->comm);
    const struct sg_function_entry *function = sg_summary_function(calls, request->function);

    if (comm == NULL || function == NULL || !function->about.is_persistent)
        return SG_OK;
    comm->used = true;
    if (function->about.without == SG_WITHOUT_NEIGHBORHOOD)
        windows_use_group(&calls->windows, comm->sources);
    windows_use_group(&calls->windows, request->sources);
    return sg_intervals_add(&comm->comm.recorded, sg_request_number(request)) ? SG_OK
                                                                              : SG_ERR_MEMORY;
}

static enum sg_status read_request(struct sg_summary_calls *calls,
                                   const struct sg_record_request *request)
{
    if (!sg_request_is_sound(request))
        calls->dropped++;
    else if (sg_request_begins_message(request))
        use(calls, comm_of(calls, request->comm), 1);
    else if (sg_request_has_number(request))
        return read_start(calls, request);
    return SG_OK;
}

/* The communicator counts as used: the interval's attributes refer to it. */
static void read_interval(struct sg_summary_calls *calls, const struct sg_record_interval *interval)
{
    struct sg_profile_comm_entry *comm = comm_of(calls, interval->comm);

    if (comm != NULL)
        comm->used = true;
}

static void read_library_call(struct sg_summary_calls *calls, const struct sg_comm_entry *comms,
                              uint32_t count, uint32_t index)
{
    const struct sg_comm_entry *library_comm =
        sg_summary_table_find(comms, count, sizeof *comms, index);
    struct sg_profile_comm_entry *comm =
        library_comm != NULL ? comm_of(calls, library_comm->profile_comm) : NULL;

    if (comm != NULL)
        comm->library_calls++;
}

static void clear_comm(void *item)
{
    struct sg_profile_comm_entry *comm = item;

    free(comm->comm.members);
    free(comm->grid);
}

static void clear_nothing(void *item)
{
    (void)item;
}

static void sort_tables(struct sg_summary_calls *calls)
{
    windows_sort(&calls->windows);
    sg_summary_table_sort(calls->functions, &calls->function_count, sizeof *calls->functions,
                          clear_nothing);
    sg_summary_table_sort(calls->comms, &calls->comm_count, sizeof *calls->comms, clear_comm);
}

/* Links each communicator to its entry among those of the library's collectives. */
static void link_comms(struct sg_summary_calls *calls, const struct sg_comm_entry *library_comms,
                       uint32_t library_comm_count)
{
    for (uint32_t i = 0; i < library_comm_count; i++) {
        struct sg_profile_comm_entry *comm = comm_of(calls, library_comms[i].profile_comm);

        if (comm != NULL && library_comms[i].profile_comm != 0)
            comm->library_comm = library_comms[i].index;
    }
}

enum sg_status sg_summary_calls_read(struct sg_summary_calls *calls, struct sg_logread *log,
                                     const struct sg_comm_entry *library_comms,
                                     uint32_t library_comm_count)
{
    enum sg_status status = SG_OK;
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    sort_tables(calls);
    link_comms(calls, library_comms, library_comm_count);
    while (status == SG_OK && (record = sg_logread_next(log, &slot, &kind)) != NULL) {
        struct sg_recorded_call recorded;

        if (kind == SG_RECORD_EVENT)
            status = read_event(calls, record);
        else if (kind == SG_RECORD_REQUEST)
            status = read_request(calls, record);
        else if (kind == SG_RECORD_INTERVAL)
            read_interval(calls, record);
        else if (kind == SG_RECORD_GAP)
            status = sg_gaps_read(&calls->gaps, record);
        else if (sg_recorded_call_read(record, &recorded))
            read_library_call(calls, library_comms, library_comm_count, recorded.comm);
    }
    sg_gaps_finish(&calls->gaps);
    for (uint32_t i = 0; i < calls->comm_count && status == SG_OK; i++) {
        struct sg_intervals *recorded = &calls->comms[i].comm.recorded;
        uint64_t numbers = sg_intervals_size(recorded);

        if (!sg_intervals_finish(recorded))
            calls->dropped += numbers;
    }
    if (status == SG_OK)
        calls->dropped += windows_finish(&calls->windows);
    return status;
}

const struct sg_function_entry *sg_summary_function(const struct sg_summary_calls *calls,
                                                    uint32_t index)
{
    return sg_summary_table_find(calls->functions, calls->function_count, sizeof *calls->functions,
                                 index);
}

const struct sg_profile_comm_entry *sg_summary_profile_comm(const struct sg_summary_calls *calls,
                                                            uint32_t index)
{
    return sg_summary_table_find(calls->comms, calls->comm_count, sizeof *calls->comms, index);
}

const struct sg_profile_comm_entry *sg_summary_made(const struct sg_summary_calls *calls,
                                                    const struct sg_mpi_region *about,
                                                    const struct sg_record_event *event)
{
    if (!about->is_of_made || event->sent_bytes == 0 || (event->flags & SG_EVENT_FAILED) != 0)
        return NULL;
    for (uint32_t i = 0; i < calls->comm_count; i++) {
        if (calls->comms[i].created_ns == event->sent_bytes && calls->comms[i].identity != 0)
            return &calls->comms[i];
    }
    return NULL;
}

void sg_summary_calls_clear(struct sg_summary_calls *calls)
{
    for (uint32_t i = 0; i < calls->comm_count; i++) {
        clear_comm(&calls->comms[i]);
        sg_intervals_clear(&calls->comms[i].comm.recorded);
    }
    windows_clear(&calls->windows);
    sg_gaps_clear(&calls->gaps);
    free(calls->comms);
    free(calls->functions);
}
