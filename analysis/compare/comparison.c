#include "compare/comparison.h"

const char *const sg_measured_names[SG_MEASURED_COUNT] = {
    [SG_MEASURED_BLOCKED] = "blocked",
    [SG_MEASURED_WAIT] = "wait",
    [SG_MEASURED_PROCESSOR] = "processor",
};

const char *const sg_verdict_names[SG_VERDICT_COUNT] = {
    [SG_VERDICT_UNKNOWN] = "unknown", [SG_VERDICT_FEW] = "few",   [SG_VERDICT_NOISE] = "noise",
    [SG_VERDICT_LESS] = "less",       [SG_VERDICT_MORE] = "more",
};

const char *sg_verdict_words(enum sg_verdict verdict, bool several)
{
    static const char *const words[SG_VERDICT_COUNT] = {
        [SG_VERDICT_UNKNOWN] = "not known",      [SG_VERDICT_FEW] = "too few instances",
        [SG_VERDICT_NOISE] = "within the noise", [SG_VERDICT_LESS] = "less in B",
        [SG_VERDICT_MORE] = "more in B",
    };

    return several && verdict == SG_VERDICT_FEW ? "too few runs" : words[verdict];
}

bool sg_side_knows(const struct sg_side *side, enum sg_measured measured)
{
    return side->present && (measured != SG_MEASURED_WAIT || side->has_wait);
}

struct sg_run_figures sg_comparison_figures(const struct sg_comparison *comparison, int side)
{
    uint32_t count = comparison->run_count[side];
    struct sg_run_figures figures = {.has_events = true};

    for (uint32_t i = 0; i < count; i++) {
        const struct sg_report *run = &comparison->runs[side][i];

        figures.run_ns += run->run_ns;
        figures.ranks_run_ns += run->ranks_run_ns;
        figures.blocked_ns += run->total.blocked_ns;
        figures.wait_ns += run->total.wait_ns;
        figures.has_events = figures.has_events && run->has_events;
        figures.partial = figures.partial || run->partial;
    }
    figures.run_ns = sg_mean_of(figures.run_ns, count);
    figures.ranks_run_ns = sg_mean_of(figures.ranks_run_ns, count);
    figures.blocked_ns = sg_mean_of(figures.blocked_ns, count);
    figures.wait_ns = sg_mean_of(figures.wait_ns, count);
    return figures;
}
