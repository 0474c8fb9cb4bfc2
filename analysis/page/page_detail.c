/* Collects the detail of a page while the archive is read: distributions and courses over time,
 * ranks' lateness and waits, and the worst instances.
 */
#include "page/page_detail.h"

#include "core/room.h"
#include "report/aggregate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum sg_status sg_detail_keep_worst(struct sg_detail *detail,
                                           const struct sg_seen_instance *seen, uint32_t sum);
static void sg_detail_take_late(struct sg_detail *detail, const struct sg_late_cost *late);
static enum sg_status sg_detail_recent_create(struct sg_detail *detail);

static uint32_t log2_of(uint64_t value)
{
    return 63 - (uint32_t)__builtin_clzll(value);
}

static uint32_t no_more_than(uint32_t value, uint32_t limit)
{
    return value < limit ? value : limit;
}

uint32_t sg_detail_skew_bin(uint64_t ns)
{
    if (ns == 0)
        return 0;
    return no_more_than(1 + (uint32_t)(SG_DETAIL_SKEWS_OCTAVE * log2((double)ns)),
                        SG_DETAIL_SKEWS - 1);
}

uint32_t sg_detail_cost_bin(uint64_t ns)
{
    if (ns >> SG_DETAIL_COST_FIRST_LOG2 == 0)
        return 0;
    return no_more_than(1 + log2_of(ns) - SG_DETAIL_COST_FIRST_LOG2, SG_DETAIL_COSTS - 1);
}

static uint32_t size_bin(uint64_t bytes)
{
    return bytes == 0 ? 0 : 1 + log2_of(bytes);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void add_time(struct sg_detail_time *into, const struct sg_detail_time *more)
{
    into->instances += more->instances;
    into->skew_sum_ns += more->skew_sum_ns;
    if (more->skew_max_ns > into->skew_max_ns)
        into->skew_max_ns = more->skew_max_ns;
    into->wait_ns += more->wait_ns;
    into->blocked_ns += more->blocked_ns;
    into->early += more->early;
    into->late += more->late;
    into->signals += more->signals;
}

static void widen(struct sg_detail_row *row)
{
    for (uint32_t i = 0; i < SG_DETAIL_TIMES / 2; i++) {
        row->times[i] = row->times[2 * i];
        add_time(&row->times[i], &row->times[2 * i + 1]);
    }
    memset(&row->times[SG_DETAIL_TIMES / 2], 0, SG_DETAIL_TIMES / 2 * sizeof row->times[0]);
    row->time_width_ns *= 2;
}

static struct sg_detail_time *time_of(struct sg_detail_row *row, int64_t time_ns)
{
    uint64_t at_ns = time_ns > 0 ? (uint64_t)time_ns : 0;

    while (at_ns / row->time_width_ns >= SG_DETAIL_TIMES)
        widen(row);
    return &row->times[at_ns / row->time_width_ns];
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* *out is NULL beyond the limit. */
static enum sg_status find_row(struct sg_detail *detail, uint32_t index, struct sg_detail_row **out)
{
    *out = NULL;
    if (index >= SG_DETAIL_ROWS)
        return SG_OK;
    if (!SG_EXTEND(detail->rows, detail->row_room, index))
        return SG_ERR_MEMORY;
    if (detail->rows[index] == NULL) {
        detail->rows[index] = calloc(1, sizeof **detail->rows);
        if (detail->rows[index] == NULL)
            return SG_ERR_MEMORY;
        detail->rows[index]->time_width_ns = SG_DETAIL_TIME_FIRST_NS;
    }
    *out = detail->rows[index];
    return SG_OK;
}

static enum sg_status make_ranks(struct sg_detail_row *row, const struct sg_instance *instance,
                                 uint32_t rank_count)
{
    if (row->ranks != NULL || instance->size < 2)
        return SG_OK;
    row->ranks = calloc(rank_count, sizeof *row->ranks);
    row->rank_count = row->ranks != NULL ? rank_count : 0;
    return row->ranks != NULL ? SG_OK : SG_ERR_MEMORY;
}

static void add_call(struct sg_detail_row *row, const struct sg_seen_instance *seen,
                     uint32_t member)
{
    const struct sg_member_call *call = &seen->instance->calls[member];
    const struct sg_call_measure *cost = &seen->costs[member];
    struct sg_detail_time *time = time_of(row, seen->measure->first_begin_ns);

    time->wait_ns += cost->wait_ns;
    time->blocked_ns += cost->blocked_ns;
    time->early += call->counts.of[SG_COUNT_EARLY];
    time->late += call->counts.of[SG_COUNT_LATE];
    time->signals += call->counts.of[SG_COUNT_SIGNALS];
    row->costs[sg_detail_cost_bin(cost->wait_ns)][sg_detail_cost_bin(cost->blocked_ns)]++;
    row->sizes[size_bin(call->bytes)]++;
    if (seen->instance->size > 1) {
        row->ranks[call->rank].calls++;
        row->ranks[call->rank].wait_ns += cost->wait_ns;
    }
}

static void add_instance(struct sg_detail_row *row, const struct sg_seen_instance *seen)
{
    const struct sg_instance *instance = seen->instance;
    uint64_t skew_ns = seen->measure->skew_ns;

    add_time(
        time_of(row, seen->measure->first_begin_ns),
        &(struct sg_detail_time){.instances = 1, .skew_sum_ns = skew_ns, .skew_max_ns = skew_ns});
    row->skews[sg_detail_skew_bin(skew_ns)]++;
    for (uint32_t i = 0; i < instance->size && instance->size > 1; i++) {
        struct sg_detail_rank *rank = &row->ranks[instance->calls[i].rank];

        rank->instances++;
        rank->late_ns += (uint64_t)(instance->calls[i].begin_ns - seen->measure->first_begin_ns);
    }
}

/* ---- the watch ------------------------------------------------------------------------------- */

static enum sg_status on_instance(void *context, const struct sg_aggregate *aggregate,
                                  const struct sg_seen_instance *seen)
{
    struct sg_detail *detail = context;
    uint32_t sum = sg_aggregate_sum_of(aggregate, seen->row);
    struct sg_detail_row *row;
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < seen->instance->size && status == SG_OK; i++) {
        status = find_row(detail, sg_aggregate_sum_of(aggregate, seen->rows[i]), &row);
        if (status == SG_OK && row != NULL)
            status = make_ranks(row, seen->instance, sg_aggregate_ranks(aggregate));
        if (status == SG_OK && row != NULL)
            add_call(row, seen, i);
    }
    if (status == SG_OK)
        status = find_row(detail, sum, &row);
    if (status == SG_OK && row != NULL)
        add_instance(row, seen);
    if (status == SG_OK)
        status = sg_stretches_instance(detail->stretches, aggregate, seen);
    return status == SG_OK ? sg_detail_keep_worst(detail, seen, sum) : status;
}

static enum sg_status on_late(void *context, const struct sg_aggregate *aggregate,
                              const struct sg_late_cost *late, uint32_t row)
{
    sg_detail_take_late(context, late);
    return SG_OK;
}

static enum sg_status on_clock(void *context, const struct sg_seen_clock *clock)
{
    struct sg_detail *detail = context;

    if (!SG_EXTEND(detail->clocks, detail->clock_room, clock->rank))
        return SG_ERR_MEMORY;
    detail->clocks[clock->rank].known = true;
    detail->clocks[clock->rank].seen = *clock;
    return SG_OK;
}

static enum sg_status on_call(void *context, const struct sg_aggregate *aggregate,
                              const struct sg_seen_call *call)
{
    return sg_stretches_call(((struct sg_detail *)context)->stretches, aggregate, call);
}

static enum sg_status on_message(void *context, const struct sg_seen_message *message)
{
    return sg_stretches_message(((struct sg_detail *)context)->stretches, message);
}

static enum sg_status on_wait(void *context, const struct sg_seen_wait *wait)
{
    return sg_stretches_wait(((struct sg_detail *)context)->stretches, wait);
}

struct sg_watch sg_detail_watch(struct sg_detail *detail)
{
    return (struct sg_watch){.waitstates = true,
                             .paths = true,
                             .context = detail,
                             .clock = on_clock,
                             .instance = on_instance,
                             .late = on_late,
                             .call = on_call,
                             .message = on_message,
                             .wait = on_wait};
}

const struct sg_detail_row *sg_detail_row(const struct sg_detail *detail, uint32_t row)
{
    return row < detail->row_room ? detail->rows[row] : NULL;
}

enum sg_status sg_detail_create(struct sg_detail *out)
{
    enum sg_status status;

    *out = (struct sg_detail){0};
    status = sg_stretches_create(&out->stretches);
    if (status == SG_OK)
        status = sg_detail_recent_create(out);
    if (status != SG_OK)
        sg_detail_clear(out);
    return status;
}

void sg_detail_clear(struct sg_detail *detail)
{
    for (uint32_t i = 0; i < detail->row_room; i++) {
        struct sg_detail_row *row = detail->rows[i];

        if (row == NULL)
            continue;
        free(row->ranks);
        free(row);
    }
    for (uint32_t i = 0; i < detail->worst_count; i++)
        free(detail->worst[i].parts);
    free(detail->rows);
    free(detail->clocks);
    free(detail->recent);
    sg_stretches_destroy(detail->stretches);
    *detail = (struct sg_detail){0};
}

/* The worst instances are those of largest skew, one for each call site, with their late
 * contributions. A late contribution may be handled before its instance is complete (another member
 * is still in its call) or after it, so recent ones are kept in a ring for their instance.
 */

#define RECENT 1024u /* a power of two */

struct sg_detail_recent {
    struct sg_late_cost items[RECENT];
    uint64_t count; /* in all, overwritten ones included */
};

static enum sg_status sg_detail_recent_create(struct sg_detail *detail)
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

static void sg_detail_take_late(struct sg_detail *detail, const struct sg_late_cost *late)
{
    struct sg_detail_recent *recent = detail->recent;

    recent->items[recent->count++ % RECENT] = *late;
    for (uint32_t i = 0; i < detail->worst_count; i++) {
        if (is_for(late, &detail->worst[i]))
            add_late(&detail->worst[i], late);
    }
}

/* The slot for an instance of that skew; NULL: all that are kept are worse. */
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

/* Keeps the instance if it is one of the worst; sum: the sum that its row belongs to. */
static enum sg_status sg_detail_keep_worst(struct sg_detail *detail,
                                           const struct sg_seen_instance *seen, uint32_t sum)
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
