/* Prints the run's rules, as text and JSON. Separate from rule_use.c because the aggregate calls
 * that file, and the names of call sites need the report.
 */
#include "report/rule_use.h"

#include "output/format.h"
#include "output/json_output.h"
#include "report/report_columns.h"

#include <inttypes.h>
#include <stdlib.h>

static void put_reason(const struct sg_rule_use *use, FILE *out)
{
    char *site = use->has_nearest ? sg_site_text("site", NULL, &use->nearest) : NULL;

    fprintf(out, "%s%s%s", use->reason, site != NULL ? "; nearest: " : "",
            site != NULL ? site : "");
    free(site);
}

static void put_use(const struct sg_rule_use *use, FILE *out)
{
    if (use->reason != NULL)
        put_reason(use, out);
    else if (use->calls == 0)
        fputs("may have matched: the sizes of its calls are not known", out);
    else
        fprintf(out, "matched %" PRIu32 " site%s, %s%" PRIu64 " call%s", use->sites,
                use->sites == 1 ? "" : "s", use->is_least ? "at least " : "", use->calls,
                use->calls == 1 ? "" : "s");
}

void sg_rule_use_put(const struct sg_rule_use *use, size_t columns, FILE *out)
{
    char *rule = sg_format_clean(use->rule, true), *text = NULL, *clean = NULL;
    size_t bytes, least = columns / 3;
    FILE *stream = open_memstream(&text, &bytes);

    if (stream != NULL) {
        put_use(use, stream);
        clean = fclose(stream) == 0 ? sg_format_clean(text, true) : NULL;
    }
    if (rule != NULL && clean != NULL) {
        size_t taken = sg_format_columns(clean) + 2;

        sg_format_shorten(rule, taken + least < columns ? columns - taken : least);
        sg_format_shorten(clean, columns - 2 - sg_format_columns(rule));
        fprintf(out, "%s  %s", rule, clean);
    }
    free(rule);
    free(clean);
    free(text);
}

/* Without a reason: null. */
static json_t *reason_json(const struct sg_rule_use *use)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = use->reason != NULL ? open_memstream(&text, &bytes) : NULL;
    json_t *value = NULL;

    if (out != NULL) {
        put_reason(use, out);
        value = fclose(out) == 0 ? sg_json_text(text) : NULL;
    }
    free(text);
    return use->reason != NULL ? value : json_null();
}

json_t *sg_rule_uses_json(const struct sg_report *report)
{
    json_t *rules = report->rules != NULL ? json_array() : json_null();

    for (uint32_t i = 0; i < report->rule_count; i++) {
        const struct sg_rule_use *use = &report->rules[i];

        json_array_append_new(
            rules, json_pack("{s:o, s:I, s:I, s:b, s:o}", "rule", sg_json_text(use->rule), "sites",
                             (json_int_t)use->sites, "calls", (json_int_t)use->calls, "at_least",
                             use->is_least, "reason", reason_json(use)));
    }
    return rules;
}
