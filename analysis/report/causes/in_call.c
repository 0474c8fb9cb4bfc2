#include "report/causes/in_call.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* Readings behind a call take so long at most. */
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

/* What is known of a call: it had no processor from away_ns on, and one from resumed_ns on. */
struct known {
    int64_t away_ns, resumed_ns;
    bool was_ready; /* meanwhile */
    /* Of the whole call. */
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

/* Off the processor for so long, when the thread was ready and asleep for so long at most. */
static void take_off(double ns, double ready_ns, double asleep_ns, struct sg_in_call_spent *out)
{
    double ready = within(ns - asleep_ns, ns), asleep = within(ns - ready_ns, ns - ready);

    out->ready_ns += ready;
    out->asleep_ns += asleep;
    out->untold_ns += ns - ready - asleep;
}

/* Of the time before the last switch: so long, and so long there was besides it. */
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

/* What two stretches of time have in common. */
static double common(const struct sg_in_call *call, int64_t begin_ns, int64_t end_ns)
{
    int64_t low_ns = call->from_ns > begin_ns ? call->from_ns : begin_ns;
    int64_t high_ns = call->to_ns < end_ns ? call->to_ns : end_ns;

    return high_ns > low_ns ? (double)(high_ns - low_ns) : 0;
}

/* Of what the whole call had of something while the thread had no processor: so much of it lies in
 * its ready_ns for sure, as there was no room for more besides. The rest may. */
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
