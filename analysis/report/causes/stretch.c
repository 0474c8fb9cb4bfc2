#include "report/causes/stretch.h"

#include "report/causes/in_call.h"

#include <stddef.h>

bool sg_stretch_is_sampled(const struct sg_stretch *stretch)
{
    return stretch->unsampled_ns <= 0.05 * stretch->between_ns;
}

/* ---- between calls --------------------------------------------------------------------------- */

static double at_most(double value, double limit)
{
    return value < limit ? value : limit;
}

/* Between two calls; NULL: there is none. */
struct gap {
    const struct sg_history_call *after, *until;
    int64_t from_ns, to_ns;
};

static void take_threads(const struct sg_sampled_interval *interval, double runnable_ns,
                         struct sg_stretch *out)
{
    bool is_known = (interval->known & SG_KNOWN_THREADS) != 0;

    out->threads.here_ns += at_most((double)interval->threads_here_ns, runnable_ns);
    out->threads.elsewhere_ns += is_known ? (double)interval->threads_elsewhere_ns : runnable_ns;
}

/* Of a group's throttled time an interval has only what it was not on a processor; the scheduler
 * counts it as runnable. */
static void take(const struct sg_sampled_interval *interval, double left, struct sg_stretch *out)
{
    double part, throttled;

    part = at_most((double)interval->cpu_ns, left);
    out->ns[SG_PART_CPU] += part;
    left -= part;
    throttled = at_most((double)interval->throttled_ns, left);
    out->ns[SG_PART_THROTTLED] += throttled;
    left -= throttled;
    part = at_most((double)interval->runnable_ns - throttled, left);
    if (part > 0) {
        out->ns[SG_PART_RUNNABLE] += part;
        take_threads(interval, part, out);
        left -= part;
    }
    if ((interval->known & SG_KNOWN_RUNNABLE) == 0)
        out->ns[SG_PART_UNKNOWN] += left;
    else
        out->ns[interval->blocks > 0 ? SG_PART_IO : SG_PART_ASLEEP] += left;
    out->asides[SG_ASIDE_USER] += (double)interval->user_ns;
    out->asides[SG_ASIDE_SYSTEM] += (double)interval->system_ns;
    out->asides[SG_ASIDE_FAULTS] += (double)interval->faults;
    out->asides[SG_ASIDE_INSTRUCTIONS] += (double)interval->instructions;
    out->has_usage = out->has_usage && (interval->known & SG_KNOWN_USAGE) != 0;
    out->has_instructions = out->has_instructions && (interval->known & SG_KNOWN_INSTRUCTIONS) != 0;
}

/* Readings at both ends of an interval take so long at most. */
#define READINGS_NS 100000

/* The interval that was sampled in the gap; NULL: none. */
static const struct sg_sampled_interval *find_sample(const struct sg_intervals_kept *intervals,
                                                     uint32_t location, int64_t from_ns,
                                                     int64_t to_ns)
{
    const struct sg_sampled_interval *interval =
        sg_intervals_kept_first(intervals, location, from_ns);
    int64_t middle_ns;

    if (interval == NULL || (interval->known & SG_KNOWN_CPU) == 0)
        return NULL;
    middle_ns = interval->begin_ns + (interval->end_ns - interval->begin_ns) / 2;
    if (middle_ns < from_ns || middle_ns >= to_ns)
        return NULL;
    return (to_ns - from_ns) - (interval->end_ns - interval->begin_ns) <= READINGS_NS ? interval
                                                                                      : NULL;
}

static void take_gap(const struct gap *gap, const struct sg_sampled_interval *sample,
                     struct sg_stretch *out)
{
    double ns = (double)gap->to_ns - (double)gap->from_ns, sampled_ns;

    if (ns <= 0)
        return;
    out->between_ns += ns;
    if (sample != NULL) {
        sampled_ns = at_most((double)sample->end_ns - (double)sample->begin_ns, ns);
        take(sample, sampled_ns, out);
        /* What is not in it is the readings themselves. */
        out->ns[SG_PART_CALLS] += ns - sampled_ns;
    } else {
        out->unsampled_ns += ns;
        out->ns[SG_PART_UNKNOWN] += ns;
    }
    if (ns <= out->longest_ns)
        return;
    out->longest_ns = ns;
    out->after = gap->after != NULL ? gap->after->place : SG_NO_PLACE;
    out->until = gap->until != NULL ? gap->until->place : SG_NO_PLACE;
}

/* ---- calls ----------------------------------------------------------------------------------- */

struct calls {
    const struct sg_intervals_kept *intervals;
    uint32_t location;
    int64_t from_ns, to_ns;
};

static void add_in_call(const struct sg_history_call *call, enum sg_part part, double ns,
                        struct sg_stretch *out)
{
    out->ns[part] += ns;
    if (ns <= out->call_ns[part])
        return;
    out->call_ns[part] = ns;
    out->call[part] = call->place;
}

static void take_call(const struct calls *calls, const struct sg_history_call *call,
                      struct sg_stretch *out)
{
    const struct sg_in_call part = {
        .begin_ns = call->begin_ns,
        .end_ns = call->end_ns,
        .from_ns = call->begin_ns > calls->from_ns ? call->begin_ns : calls->from_ns,
        .to_ns = call->end_ns < calls->to_ns ? call->end_ns : calls->to_ns};
    struct sg_in_call_spent spent;

    if (part.to_ns <= part.from_ns)
        return;
    sg_in_call_split(&part, sg_in_call_find(calls->intervals, calls->location, call->end_ns),
                     &spent);
    add_in_call(call, SG_PART_CALLS_CPU, spent.cpu_ns, out);
    add_in_call(call, SG_PART_CALLS_RUNNABLE, spent.ready_ns, out);
    add_in_call(call, SG_PART_CALLS_THROTTLED, spent.throttled_ns, out);
    out->threads_in_calls.here_ns += spent.threads_here_ns;
    out->threads_in_calls.elsewhere_ns += spent.threads_elsewhere_ns;
    add_in_call(call, SG_PART_CALLS_ASLEEP, spent.asleep_ns, out);
    add_in_call(call, SG_PART_CALLS, spent.untold_ns, out);
}

void sg_stretch_measure(struct sg_history *history, const struct sg_intervals_kept *intervals,
                        uint32_t location, int64_t from_ns, int64_t to_ns, struct sg_stretch *out)
{
    const struct calls calls = {intervals, location, from_ns, to_ns};
    uint64_t count = sg_history_count(history, location);
    uint64_t number = sg_history_before(history, location, from_ns);
    struct gap gap = {.after = number > 0 ? sg_history_at(history, location, number - 1) : NULL,
                      .from_ns = from_ns};

    *out = (struct sg_stretch){
        .has_usage = true, .has_instructions = true, .after = SG_NO_PLACE, .until = SG_NO_PLACE};
    for (int i = 0; i < SG_PARTS; i++)
        out->call[i] = SG_NO_PLACE;
    if (gap.after != NULL && gap.after->end_ns > from_ns) {
        take_call(&calls, gap.after, out);
        gap.from_ns = gap.after->end_ns;
    }
    while (gap.from_ns < to_ns) {
        gap.until = number < count ? sg_history_at(history, location, number++) : NULL;
        gap.to_ns = gap.until != NULL && gap.until->begin_ns < to_ns ? gap.until->begin_ns : to_ns;
        take_gap(&gap, find_sample(intervals, location, gap.from_ns, gap.to_ns), out);
        if (gap.until == NULL)
            break;
        take_call(&calls, gap.until, out);
        gap.after = gap.until;
        gap.from_ns = gap.until->end_ns;
    }
}
