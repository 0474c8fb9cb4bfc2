#include "causes/reading.h"

#include <stdbool.h>

/* Where there is no quota, nothing is throttled. */
static void call_others(const struct sg_reading *end, struct sg_reading *begin)
{
    const uint32_t threads = sg_source_mask(SG_SOURCE_THREADS);
    const uint32_t quota = 1u << SG_FIGURE_THROTTLED;
    const uint64_t *from = end->figures;
    uint64_t *to = begin->figures;

    if ((end->mask & begin->mask & threads) != threads || ((end->mask ^ begin->mask) & quota) != 0)
        return;
    to[SG_FIGURE_CALL_THREADS_HERE] = to[SG_FIGURE_THREADS_HERE] - from[SG_FIGURE_THREADS_HERE];
    to[SG_FIGURE_CALL_THREADS_ELSEWHERE] =
        to[SG_FIGURE_THREADS_ELSEWHERE] - from[SG_FIGURE_THREADS_ELSEWHERE];
    to[SG_FIGURE_CALL_THROTTLED] = 0;
    if ((begin->mask & quota) != 0 && to[SG_FIGURE_THROTTLED] > from[SG_FIGURE_THROTTLED])
        to[SG_FIGURE_CALL_THROTTLED] = to[SG_FIGURE_THROTTLED] - from[SG_FIGURE_THROTTLED];
    begin->mask |= sg_source_mask(SG_SOURCE_CALL_OTHERS);
}

void sg_reading_call(const struct sg_reading *end, struct sg_reading *begin)
{
    const uint32_t needed = 1u << SG_FIGURE_CPU | 1u << SG_FIGURE_RUNNABLE;
    const uint64_t *from = end->figures;
    uint64_t *to = begin->figures;

    if ((end->mask & begin->mask & needed) != needed || to[SG_FIGURE_CPU] < from[SG_FIGURE_CPU] ||
        to[SG_FIGURE_RUNNABLE] < from[SG_FIGURE_RUNNABLE])
        return;
    to[SG_FIGURE_CALL_CPU] = to[SG_FIGURE_CPU] - from[SG_FIGURE_CPU];
    to[SG_FIGURE_CALL_RUNNABLE] = to[SG_FIGURE_RUNNABLE] - from[SG_FIGURE_RUNNABLE];
    begin->mask |= sg_source_mask(SG_SOURCE_CALL);
    call_others(end, begin);
}

void sg_reading_between(const struct sg_reading *begin, const struct sg_reading *end,
                        struct sg_reading *out)
{
    uint32_t before = sg_source_mask(SG_SOURCE_SWITCHES) | sg_source_mask(SG_SOURCE_CALL) |
                      sg_source_mask(SG_SOURCE_CALL_OTHERS);

    out->time_ns = end->time_ns - begin->time_ns;
    out->mask = begin->mask & (end->mask | before);
    out->processor = end->processor;
    for (unsigned figure = 0; figure < SG_FIGURE_COUNT; figure++) {
        bool is_before = (before & 1u << figure) != 0;

        out->figures[figure] =
            is_before ? begin->figures[figure] : end->figures[figure] - begin->figures[figure];
        if (!is_before && figure != SG_FIGURE_MOVES &&
            end->figures[figure] < begin->figures[figure])
            out->mask &= ~(1u << figure);
        if ((out->mask & 1u << figure) == 0)
            out->figures[figure] = 0;
    }
    out->figures[SG_FIGURE_MOVES] = out->figures[SG_FIGURE_MOVES] != 0;
}
