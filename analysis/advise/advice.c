#include "advise/advice.h"

#include <stdlib.h>

const char *const sg_advice_verdict_names[SG_ADVICE_VERDICTS] = {
    [SG_ADVICE_CHANGE] = "change",
    [SG_ADVICE_BEST] = "best already",
    [SG_ADVICE_WITHIN_ERROR] = "within the error",
    [SG_ADVICE_FEW] = "too few instances",
    [SG_ADVICE_SITES] = "different rules in one instance",
    [SG_ADVICE_CONFLICT] = "conflict",
    [SG_ADVICE_OBSTACLE] = "not simulated",
    [SG_ADVICE_LEFT_OUT] = "left out",
};

static int compare_sites(const void *left, const void *right)
{
    const struct sg_report_site *a = left, *b = right;

    return (a->row > b->row) - (a->row < b->row);
}

void sg_advice_sort_sites(struct sg_advice *advice)
{
    qsort(advice->report.sites, advice->report.site_count, sizeof *advice->report.sites,
          compare_sites);
}

const struct sg_report_site *sg_advice_site(const struct sg_advice *advice, uint32_t row)
{
    struct sg_report_site key = {.row = row};

    return advice->report.site_count == 0
               ? NULL
               : bsearch(&key, advice->report.sites, advice->report.site_count, sizeof key,
                         compare_sites);
}

void sg_advice_clear(struct sg_advice *advice)
{
    free(advice->items);
    sg_remedies_clear(&advice->remedies);
    sg_sampling_clear(&advice->sampling);
    sg_report_clear(&advice->report);
    *advice = (struct sg_advice){.items = NULL};
}
