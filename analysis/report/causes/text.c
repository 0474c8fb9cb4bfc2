/* Why ranks were late, for people at a terminal. */
#include "output/format.h"
#include "output/style.h"
#include "output/table.h"
#include "report/causes/causes.h"
#include "report/causes/columns.h"
#include "report/causes/print.h"
#include "report/filter.h"
#include "report/waiting.h"
#include "report/waitstates/columns.h"

#include <inttypes.h>

/* Causes of less than this share of what is waited at a site are left out; of one site alone, those
 * that would be shown as 0%. */
#define SHARE_SHOWN 0.05
#define SHARE_OF_NOTHING 0.005

/* Over all sites. */
static const struct sg_cause_row *find_greatest(const struct sg_causes_found *found,
                                                const struct sg_cause_site **site)
{
    const struct sg_cause_row *greatest = NULL;

    for (uint32_t i = 0; i < found->site_count; i++) {
        const struct sg_cause_row *row = found->sites[i].rows;

        if (found->sites[i].row_count > 0 && (greatest == NULL || row->ns > greatest->ns)) {
            greatest = row;
            *site = &found->sites[i];
        }
    }
    return greatest;
}

void sg_causes_print_summary(const struct sg_report *report, FILE *out)
{
    const struct sg_causes_found *found = report->causes;
    const struct sg_cause_site *site = NULL;
    const struct sg_cause_row *row = found != NULL ? find_greatest(found, &site) : NULL;

    if (row == NULL || found->late_ns == 0)
        return;
    sg_style_put_label("why", out);
    fprintf(out, "%s of %" PRIu64 " sampled instances' lateness: %s on rank %u, ",
            SG_SHARE(row->ns, found->late_ns), found->instances, sg_cause_names[row->cause],
            (unsigned)row->rank);
    fputs("late for ", out);
    sg_waitstate_put_place(&site->at, out);
    fputc('\n', out);
}

static bool is_shown(const struct sg_cause_site *site, uint32_t row, double share)
{
    return row == 0 || (double)site->rows[row].ns >= share * (double)site->late_ns;
}

static void add_rows(struct sg_table *table, const struct sg_cause_site *site, double share)
{
    for (uint32_t i = 0; i < site->row_count; i++) {
        if (is_shown(site, i, share))
            sg_table_row(table, &site->rows[i], site);
    }
}

enum sg_status sg_causes_print(const struct sg_report *report,
                               const struct sg_print_options *options, FILE *out)
{
    const struct sg_causes_found *found = report->causes;
    struct sg_table table = {0};
    uint32_t count;

    if (found == NULL || found->site_count == 0)
        return SG_OK;
    count = sg_print_count_of_long(options, found->site_count);
    sg_table_show(&table, sg_cause_columns, "late share cause rank steps at where");
    for (uint32_t i = 0; i < count; i++)
        add_rows(&table, &found->sites[i], SHARE_SHOWN);
    return sg_print_finish(&table, out);
}

/* ---- one site -------------------------------------------------------------------------------- */

/* is_named: the causes that are shown. */
static enum sg_status put_why(const struct sg_cause_site *site, bool is_named[SG_CAUSES], FILE *out)
{
    struct sg_table table = {0};
    enum sg_status status;

    sg_waitstate_put_place(&site->at, out);
    fprintf(out, ": %" PRIu64 " sampled instances, others waited %s for the last one\n",
            site->instances, SG_NS(site->late_ns));
    sg_table_show(&table, sg_cause_columns, "share cause rank steps instances where");
    add_rows(&table, site, SHARE_OF_NOTHING);
    status = sg_print_finish(&table, out);
    for (uint32_t i = 0; i < site->row_count; i++) {
        if (is_shown(site, i, SHARE_OF_NOTHING))
            is_named[site->rows[i].cause] = true;
    }
    return status;
}

static void put_legend(const struct sg_report *report, const bool is_named[SG_CAUSES], FILE *out)
{
    for (unsigned i = 0; i < SG_CAUSES; i++) {
        if (is_named[i])
            fprintf(out, "%-18s %s%s\n", sg_cause_names[i], sg_cause_texts[i],
                    sg_cause_is_crowding(i) && sg_report_is_oversubscribed(report)
                        ? " (there are more ranks than processors)"
                        : "");
    }
}

enum sg_status sg_causes_print_why(const struct sg_report *report, const struct sg_filter *sites,
                                   FILE *out)
{
    const struct sg_causes_found *found = report->causes;
    bool is_named[SG_CAUSES] = {false};
    enum sg_status status = SG_OK;
    uint32_t taken = 0;

    if (found == NULL) {
        sg_log("why is not known: no intervals between calls were sampled in all ranks' events"
               " (STAGGER_TRACE=otf2, STAGGER_CAUSES)");
        return SG_ERR_MISSING;
    }
    for (uint32_t i = 0; i < found->site_count && status == SG_OK; i++) {
        if (!sg_filter_takes_row(sites, &found->sites[i].at.site))
            continue;
        status = put_why(&found->sites[i], is_named, out);
        taken++;
    }
    if (taken == 0) {
        sg_log("no collective that ranks were late for and that was sampled is at '%s'",
               sites->site);
        return SG_ERR_MISSING;
    }
    if (status == SG_OK)
        put_legend(report, is_named, out);
    return status;
}
