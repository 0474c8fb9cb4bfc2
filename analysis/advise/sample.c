#include "advise/sample.h"

#include "core/room.h"
#include "report/aggregate.h"
#include "report/filter.h"
#include "sim/random.h"
#include "trace/record.h"

#include <stdlib.h>
#include <string.h>

#define SEED 1
/* Limits the arrival times in memory, over all samples: 2^25 of 8 bytes, 256 MiB. */
#define LATE_ROOM (UINT64_C(1) << 25)
#define LATE_ROOM_OF_ONE 65536u

struct sg_sampling_work {
    uint32_t *row_group; /* by row: 1 + the index of its latest group */
    uint32_t row_room;
    uint32_t *rank_node; /* 1 + the machine; 0: unknown, which UINT32_MAX wraps to */
    uint32_t rank_room;
    uint64_t order;
    uint64_t held; /* arrival times in memory */
    uint32_t room; /* most samples of a group */
};

/* ---- locations of ranks */

static enum sg_status on_location(void *context, const struct sg_seen_location *location)
{
    struct sg_sampling *sampling = context;
    struct sg_sampling_work *work = sampling->work;

    if (!SG_EXTEND(work->rank_node, work->rank_room, location->rank))
        return SG_ERR_MEMORY;
    work->rank_node[location->rank] = location->node + 1;
    return SG_OK;
}

static uint32_t machine_of(const struct sg_sampling *sampling, uint32_t rank)
{
    return rank < sampling->work->rank_room ? sampling->work->rank_node[rank] : 0;
}

/* Identifies a rank's node. A virtual node is a run of consecutive ranks of a machine. */
static uint64_t node_key(const struct sg_sampling *sampling, uint32_t rank)
{
    uint32_t machine = machine_of(sampling, rank), before = 0;

    if (sampling->ranks_per_node == 0)
        return (uint64_t)machine << 32;
    for (uint32_t other = 0; other < rank; other++)
        before += machine_of(sampling, other) == machine;
    return (uint64_t)machine << 32 | before / sampling->ranks_per_node;
}

static enum sg_status place(const struct sg_sampling *sampling, struct sg_group *group,
                            const struct sg_instance *instance)
{
    struct sg_map numbers = {0};
    enum sg_status status = SG_OK;

    group->node = calloc(group->size, sizeof *group->node);
    if (group->node == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < group->size && status == SG_OK; i++) {
        uint64_t key = node_key(sampling, instance->calls[i].rank);
        int64_t number = sg_map_get(&numbers, key);

        if (number < 0) {
            number = group->nodes++;
            status = sg_map_put(&numbers, key, (uint32_t)number);
        }
        group->node[i] = (uint32_t)number;
        group->several_machines |= machine_of(sampling, instance->calls[i].rank) !=
                                   machine_of(sampling, instance->calls[0].rank);
    }
    sg_map_clear(&numbers);
    return status;
}

/* ---- groups */

static enum sg_status add_group(struct sg_sampling *sampling, const struct sg_instance *instance,
                                uint32_t row, uint8_t size_class, const char *algorithm)
{
    struct sg_sampling_work *work = sampling->work;
    struct sg_group group = {.row = row,
                             .size_class = size_class,
                             .algorithm = strdup(algorithm),
                             .operation = instance->operation,
                             .nonblocking = instance->nonblocking,
                             .size = instance->size,
                             .least_bytes = UINT64_MAX};
    enum sg_status status = group.algorithm != NULL ? SG_OK : SG_ERR_MEMORY;

    if (status == SG_OK)
        status = place(sampling, &group, instance);
    group.next = work->row_group[row];
    if (status == SG_OK && !SG_APPEND(sampling->groups, sampling->group_count, group))
        status = SG_ERR_MEMORY;
    if (status == SG_OK) {
        work->row_group[row] = sampling->group_count;
    } else {
        free(group.algorithm);
        free(group.node);
    }
    return status;
}

static enum sg_status find_group(struct sg_sampling *sampling, const struct sg_aggregate *aggregate,
                                 const struct sg_instance *instance, uint32_t row,
                                 struct sg_group **out)
{
    struct sg_sampling_work *work = sampling->work;
    const char *algorithm = sg_aggregate_algorithm_name(aggregate, instance->calls[0].algorithm);
    uint8_t size_class = sg_size_class(instance->calls[0].bytes);
    enum sg_status status;

    if (!SG_EXTEND(work->row_group, work->row_room, row))
        return SG_ERR_MEMORY;
    for (uint32_t i = work->row_group[row]; i > 0; i = sampling->groups[i - 1].next) {
        struct sg_group *group = &sampling->groups[i - 1];

        if (group->size_class == size_class && strcmp(group->algorithm, algorithm) == 0) {
            *out = group;
            return SG_OK;
        }
    }
    status = add_group(sampling, instance, row, size_class, algorithm);
    if (status == SG_OK)
        *out = &sampling->groups[sampling->group_count - 1];
    return status;
}

static void note_site(struct sg_group *group, uint32_t row)
{
    for (int i = 0; i < group->site_count; i++) {
        if (group->site_rows[i] == row)
            return;
    }
    if (group->site_count == SG_GROUP_SITES)
        group->many_sites = true;
    else
        group->site_rows[group->site_count++] = row;
}

/* ---- samples */

static void drop_last(struct sg_sampling_work *work, struct sg_group *group)
{
    free(group->samples[--group->count].late_ns);
    work->held -= group->size;
}

/* Drops half of each group's samples at random: the rest is still a uniform sample. */
static void halve_all(struct sg_sampling *sampling)
{
    struct sg_sampling_work *work = sampling->work;

    work->room /= 2;
    for (uint32_t i = 0; i < sampling->group_count; i++) {
        struct sg_group *group = &sampling->groups[i];

        while (group->count > work->room) {
            uint64_t random = sg_random(SEED, SG_RANDOM_LOSS, i, group->count);
            uint32_t at = (uint32_t)(random % group->count);
            struct sg_arrival_sample last = group->samples[group->count - 1];

            group->samples[group->count - 1] = group->samples[at];
            group->samples[at] = last;
            drop_last(work, group);
        }
    }
}

static uint32_t room_of(const struct sg_sampling_work *work, const struct sg_group *group)
{
    uint32_t room = LATE_ROOM_OF_ONE / group->size;

    if (room > work->room)
        room = work->room;
    return room < SG_SAMPLE_MIN ? SG_SAMPLE_MIN : room;
}

static void fill(struct sg_arrival_sample *sample, uint64_t order,
                 const struct sg_seen_instance *seen)
{
    const struct sg_instance *instance = seen->instance;
    uint64_t *late_ns = sample->late_ns;

    *sample = (struct sg_arrival_sample){.order = order,
                                         .bytes = instance->calls[0].bytes,
                                         .late_ns = late_ns,
                                         .root = instance->root};
    for (uint32_t i = 0; i < instance->size; i++) {
        late_ns[i] = (uint64_t)(instance->calls[i].begin_ns - seen->measure->first_begin_ns);
        sample->blocked_ns += seen->costs[i].blocked_ns;
    }
}

/* Reservoir sampling: the n-th instance becomes a sample with probability room / n. */
static enum sg_status take_sample(struct sg_sampling *sampling, struct sg_group *group,
                                  const struct sg_seen_instance *seen)
{
    struct sg_sampling_work *work = sampling->work;
    uint64_t random =
        sg_random(SEED, SG_RANDOM_SKEW, (uint64_t)(group - sampling->groups), group->instances);
    uint32_t room;
    uint64_t at;

    while (work->held + group->size > LATE_ROOM && work->room > SG_SAMPLE_MIN)
        halve_all(sampling);
    room = room_of(work, group);
    at = group->count < room ? group->count : random % group->instances;
    if (at >= room || (group->count < room && work->held + group->size > LATE_ROOM))
        return SG_OK;
    group->sampled = true;
    if (at == group->count) {
        struct sg_arrival_sample sample = {.late_ns = calloc(group->size, sizeof(uint64_t))};

        if (sample.late_ns == NULL || !SG_APPEND(group->samples, group->count, sample)) {
            free(sample.late_ns);
            return SG_ERR_MEMORY;
        }
        work->held += group->size;
    }
    fill(&group->samples[at], work->order, seen);
    return SG_OK;
}

static void count_instance(struct sg_group *group, const struct sg_seen_instance *seen)
{
    const struct sg_instance *instance = seen->instance;
    uint64_t bytes = instance->calls[0].bytes;

    group->instances++;
    group->least_bytes = bytes < group->least_bytes ? bytes : group->least_bytes;
    group->most_bytes = bytes > group->most_bytes ? bytes : group->most_bytes;
    group->root_last +=
        instance->operation == SG_OPERATION_REDUCE && seen->measure->last == instance->root;
    for (uint32_t i = 0; i < instance->size; i++) {
        group->blocked_ns += seen->costs[i].blocked_ns;
        note_site(group, seen->rows[i]);
    }
}

static enum sg_status on_instance(void *context, const struct sg_aggregate *aggregate,
                                  const struct sg_seen_instance *seen)
{
    struct sg_sampling *sampling = context;
    struct sg_group *group;
    enum sg_status status;

    status = find_group(sampling, aggregate, seen->instance, seen->row, &group);
    if (status != SG_OK)
        return status;
    sampling->work->order++;
    count_instance(group, seen);
    return seen->instance->nonblocking || seen->instance->size < 2
               ? SG_OK
               : take_sample(sampling, group, seen);
}

/* Handling inside a call is already part of that call's time. The cost counts for the latest group
 * of the row, because its instance is not always known. */
static enum sg_status on_late(void *context, const struct sg_aggregate *aggregate,
                              const struct sg_late_cost *late, uint32_t row)
{
    struct sg_sampling *sampling = context;
    struct sg_sampling_work *work = sampling->work;

    if (!late->in_call && row < work->row_room && work->row_group[row] > 0)
        sampling->groups[work->row_group[row] - 1].handler_ns += late->handler_ns;
    return SG_OK;
}

/* ---- reading a run */

static int compare_order(const void *left, const void *right)
{
    const struct sg_arrival_sample *a = left, *b = right;

    return (a->order > b->order) - (a->order < b->order);
}

enum sg_status sg_sample_run(const char *path, bool progress, uint32_t ranks_per_node,
                             struct sg_report *report, struct sg_sampling *out)
{
    struct sg_watch watch = {.calls = true,
                             .waitstates = true,
                             .paths = true,
                             .context = out,
                             .location = on_location,
                             .instance = on_instance,
                             .late = on_late};
    enum sg_status status;

    *report = (struct sg_report){0};
    *out = (struct sg_sampling){.ranks_per_node = ranks_per_node,
                                .work = calloc(1, sizeof *out->work)};
    if (out->work == NULL) {
        sg_log("advise: out of memory");
        return SG_ERR_MEMORY;
    }
    out->work->room = SG_SAMPLE_MAX;
    status = sg_report_read(path, progress, &watch, report);
    for (uint32_t i = 0; i < out->group_count; i++) {
        if (out->groups[i].count > 0)
            qsort(out->groups[i].samples, out->groups[i].count, sizeof *out->groups[i].samples,
                  compare_order);
    }
    return status;
}

void sg_sampling_clear(struct sg_sampling *sampling)
{
    for (uint32_t i = 0; i < sampling->group_count; i++) {
        struct sg_group *group = &sampling->groups[i];

        for (uint32_t j = 0; j < group->count; j++)
            free(group->samples[j].late_ns);
        free(group->samples);
        free(group->algorithm);
        free(group->node);
    }
    free(sampling->groups);
    if (sampling->work != NULL) {
        free(sampling->work->row_group);
        free(sampling->work->rank_node);
    }
    free(sampling->work);
    *sampling = (struct sg_sampling){0};
}
