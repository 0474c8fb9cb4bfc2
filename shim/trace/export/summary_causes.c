#include "trace/export/summary_causes.h"

static uint64_t load(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

struct sg_summary_causes sg_summary_causes_of(struct sg_logread *log)
{
    struct sg_summary_causes out = {0};
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    while ((record = sg_logread_next(log, &slot, &kind)) != NULL) {
        const struct sg_record_causes *causes = record;

        if (kind != SG_RECORD_CAUSES || causes->mode > SG_CAUSES_ALL)
            continue;
        out = (struct sg_summary_causes){.ranks = 1,
                                         .mode = causes->mode,
                                         .intervals = load(&causes->intervals),
                                         .left_out = load(&causes->left_out),
                                         .cost_ns = load(&causes->cost_ns),
                                         .time_ns = load(&causes->time_ns)};
        for (int source = 0; source < SG_SOURCE_COUNT; source++)
            out.lacking[source] = (causes->mask & sg_source_mask(source)) == 0;
    }
    return out;
}

void sg_summary_causes_add(struct sg_summary_causes *sum, const struct sg_summary_causes *one)
{
    sum->ranks += one->ranks;
    if (one->ranks > 0)
        sum->mode = one->mode;
    sum->intervals += one->intervals;
    sum->left_out += one->left_out;
    sum->cost_ns += one->cost_ns;
    sum->time_ns += one->time_ns;
    for (int source = 0; source < SG_SOURCE_COUNT; source++)
        sum->lacking[source] += one->lacking[source];
}
