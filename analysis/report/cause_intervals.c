#include "report/cause_intervals.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* A ring buffer that grows up to SG_INTERVALS_KEPT. */
struct ring {
    struct sg_sampled_interval *of;
    uint32_t room, first, count;
};

struct sg_intervals_kept {
    struct ring *rings;
    uint32_t location_count;
};

enum sg_status sg_intervals_kept_create(uint32_t locations, struct sg_intervals_kept **out)
{
    struct sg_intervals_kept *kept = calloc(1, sizeof *kept);

    if (kept == NULL)
        return SG_ERR_MEMORY;
    kept->location_count = locations;
    kept->rings = calloc((size_t)locations + 1, sizeof *kept->rings);
    if (kept->rings == NULL) {
        free(kept);
        return SG_ERR_MEMORY;
    }
    *out = kept;
    return SG_OK;
}

void sg_intervals_kept_destroy(struct sg_intervals_kept *kept)
{
    if (kept == NULL)
        return;
    for (uint32_t i = 0; i < kept->location_count; i++)
        free(kept->rings[i].of);
    free(kept->rings);
    free(kept);
}

/* The capacity (room) is a power of two. */
static struct sg_sampled_interval *at(const struct ring *ring, uint32_t index)
{
    return &ring->of[(ring->first + index) & (ring->room - 1)];
}

static bool grow(struct ring *ring)
{
    uint32_t room = ring->room > 0 ? 2 * ring->room : 16;
    struct sg_sampled_interval *larger = malloc(room * sizeof *larger);

    if (larger == NULL)
        return false;
    for (uint32_t i = 0; i < ring->count; i++)
        larger[i] = *at(ring, i);
    free(ring->of);
    *ring = (struct ring){.of = larger, .room = room, .count = ring->count};
    return true;
}

enum sg_status sg_intervals_kept_add(struct sg_intervals_kept *kept, uint32_t location,
                                     const struct sg_sampled_interval *interval)
{
    struct ring *ring = &kept->rings[location];

    if (ring->count > 0 && interval->end_ns < at(ring, ring->count - 1)->end_ns)
        return SG_OK;
    if (ring->count == SG_INTERVALS_KEPT) {
        ring->first = (ring->first + 1) & (ring->room - 1);
        ring->count--;
    } else if (ring->count == ring->room && !grow(ring)) {
        return SG_ERR_MEMORY;
    }
    *at(ring, ring->count++) = *interval;
    return SG_OK;
}

struct sg_sampled_interval *sg_intervals_kept_last(struct sg_intervals_kept *kept,
                                                   uint32_t location)
{
    const struct ring *ring = &kept->rings[location];

    return ring->count > 0 ? at(ring, ring->count - 1) : NULL;
}

/* Returns the first interval that ends after time_ns; NULL: none. */
static const struct sg_sampled_interval *
sg_intervals_kept_first(const struct sg_intervals_kept *kept, uint32_t location, int64_t time_ns)
{
    const struct ring *ring = &kept->rings[location];
    uint32_t low = 0, high = ring->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (at(ring, middle)->end_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ring->count ? at(ring, low) : NULL;
}

/* Maximum time that readings after a call take. */
#define READING_NS 100000

const struct sg_sampled_interval *sg_in_call_find(const struct sg_intervals_kept *intervals,
                                                  uint32_t location, int64_t end_ns)
{
    const struct sg_sampled_interval *behind = sg_intervals_kept_first(intervals, location, end_ns);

    return behind != NULL && behind->begin_ns >= end_ns && behind->begin_ns - end_ns <= READING_NS
               ? behind
               : NULL;
}

static double within(double value, double most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

static int64_t between(int64_t low_ns, int64_t value_ns, int64_t high_ns)
{
    return value_ns < low_ns ? low_ns : value_ns > high_ns ? high_ns : value_ns;
}

/* The figures of a call: the thread had no processor from away_ns on, and had one again from
 * resumed_ns on. */
struct known {
    int64_t away_ns, resumed_ns;
    bool was_ready; /* between the two */
    /* Sums over the whole call. */
    bool has_sums;
    double cpu_ns, ready_ns, asleep_ns;
};

static struct known find_known(const struct sg_in_call *call,
                               const struct sg_sampled_interval *behind)
{
    struct known known = {.away_ns = call->end_ns, .resumed_ns = call->end_ns};
    double whole_ns = (double)(call->end_ns - call->begin_ns);

    if ((behind->known & SG_KNOWN_SWITCH) != 0) {
        int64_t resumed_ns = behind->begin_ns - (int64_t)behind->resumed_ns;
        int64_t away_ns = resumed_ns - (int64_t)behind->away_ns;

        known.resumed_ns = between(call->begin_ns, resumed_ns, call->end_ns);
        known.away_ns = between(call->begin_ns, away_ns, call->end_ns);
        known.was_ready = behind->was_ready != 0;
    }
    if ((behind->known & SG_KNOWN_CALL) != 0) {
        known.has_sums = true;
        known.cpu_ns = within((double)behind->call_cpu_ns, whole_ns);
        known.ready_ns = within((double)behind->call_runnable_ns, whole_ns - known.cpu_ns);
        known.asleep_ns = whole_ns - known.cpu_ns - known.ready_ns;
    }
    return known;
}

/* Attributes ns off the processor, given the most that the thread was ready and asleep. */
static void take_off(double ns, double ready_ns, double asleep_ns, struct sg_in_call_spent *out)
{
    double ready = within(ns - asleep_ns, ns), asleep = within(ns - ready_ns, ns - ready);

    out->ready_ns += ready;
    out->asleep_ns += asleep;
    out->untold_ns += ns - ready - asleep;
}

/* Attributes ns of the time before the last switch; other_ns is the rest of that time. */
static void take_before(const struct sg_in_call *call, const struct known *known, double ns,
                        double other_ns, struct sg_in_call_spent *out)
{
    double away_ns = (double)(known->resumed_ns - known->away_ns);
    double cpu_ns =
        within(known->cpu_ns - (double)(call->end_ns - known->resumed_ns), ns + other_ns);
    double cpu = within(cpu_ns - other_ns, ns), off = within(ns - cpu_ns, ns - cpu);

    out->cpu_ns += cpu;
    out->untold_ns += ns - cpu - off;
    take_off(off, known->ready_ns - (known->was_ready ? away_ns : 0), known->asleep_ns, out);
}

/* Returns how much of the part of the call is between two moments. */
static double common(const struct sg_in_call *call, int64_t begin_ns, int64_t end_ns)
{
    int64_t low_ns = call->from_ns > begin_ns ? call->from_ns : begin_ns;
    int64_t high_ns = call->to_ns < end_ns ? call->to_ns : end_ns;

    return high_ns > low_ns ? (double)(high_ns - low_ns) : 0;
}

/* Returns how much of ns lies in ready_ns for sure; the rest may. ns is of the whole call while the
 * thread had no processor, and besides_ns the most of it that can lie outside ready_ns. */
static double sure(double ns, double besides_ns, double ready_ns)
{
    return within(ns - besides_ns, ready_ns);
}

static void find_others(const struct sg_in_call *call, const struct known *known,
                        const struct sg_sampled_interval *behind, struct sg_in_call_spent *out)
{
    double here_ns = (double)behind->call_threads_here_ns;
    double throttled_ns = (double)behind->call_throttled_ns, besides_ns;

    if (!known->has_sums || (behind->known & SG_KNOWN_CALL_OTHERS) == 0) {
        out->threads_elsewhere_ns = out->ready_ns;
        return;
    }
    besides_ns =
        within((double)(call->end_ns - call->begin_ns) - known->cpu_ns - out->ready_ns, INFINITY);
    out->throttled_ns = sure(throttled_ns, besides_ns, out->ready_ns);
    out->ready_ns -= out->throttled_ns;
    out->threads_here_ns = sure(here_ns, besides_ns, out->ready_ns);
    out->threads_elsewhere_ns = (double)behind->call_threads_elsewhere_ns +
                                (throttled_ns - out->throttled_ns) +
                                (here_ns - out->threads_here_ns);
}

static void split_time(const struct sg_in_call *call, const struct known *known,
                       struct sg_in_call_spent *out)
{
    double away_ns = common(call, known->away_ns, known->resumed_ns);
    double before_ns = common(call, call->begin_ns, known->away_ns);

    out->cpu_ns = common(call, known->resumed_ns, call->end_ns);
    if (known->was_ready)
        out->ready_ns = away_ns;
    else if (known->has_sums)
        take_off(away_ns, known->ready_ns, known->asleep_ns, out);
    else
        out->untold_ns = away_ns;
    if (known->has_sums)
        take_before(call, known, before_ns, (double)(known->away_ns - call->begin_ns) - before_ns,
                    out);
    else
        out->untold_ns += before_ns;
}

void sg_in_call_split(const struct sg_in_call *call, const struct sg_sampled_interval *behind,
                      struct sg_in_call_spent *out)
{
    struct known known;

    *out = (struct sg_in_call_spent){0};
    if (behind == NULL) {
        out->untold_ns = common(call, call->begin_ns, call->end_ns);
        return;
    }
    known = find_known(call, behind);
    split_time(call, &known, out);
    find_others(call, &known, behind, out);
}

bool sg_stretch_is_sampled(const struct sg_stretch *stretch)
{
    return stretch->unsampled_ns <= 0.05 * stretch->between_ns;
}

/* ---- between calls --------------------------------------------------------------------------- */

static double at_most(double value, double limit)
{
    return value < limit ? value : limit;
}

/* The time between two calls; NULL: no call at that end. */
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

/* Takes a control group's throttled time only as far as the interval was off a processor; the
 * scheduler counts that as runnable. */
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

/* Maximum time that readings at both ends of an interval take. */
#define READINGS_NS 100000

/* Returns the interval that was sampled in the gap; NULL: none. */
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
        /* The rest is the readings themselves. */
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
