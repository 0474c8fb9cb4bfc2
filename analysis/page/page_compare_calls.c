/* All calls of MPI on a comparison's page: functions, call sites, and waits by kind and call site,
 * per run. There are intervals with several runs a side only.
 */
#include "page/differences.h"
#include "page/html.h"
#include "page/page.h"
#include "page/tables.h"
#include "report/waitstates/waitstates.h"

#include <inttypes.h>

struct table {
    const char *id, *title, *about;
    bool has_sites, has_states;
    bool several;
};

static void put_head(const struct table *table, FILE *out)
{
    fprintf(out,
            "<section aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n"
            "<p class=\"quiet\">%s</p>\n"
            "<div id=\"%s-filters\" class=\"controls\"></div>\n"
            "<div class=\"scroll\" role=\"region\" aria-labelledby=\"%s-title\" tabindex=\"0\">\n"
            "<table id=\"%s\" class=\"calls\">\n<thead><tr>",
            table->id, table->id, table->title, table->about, table->id, table->id, table->id);
    if (table->has_states)
        fputs("<th scope=\"col\" class=\"text\">wait state</th>", out);
    fputs("<th scope=\"col\" class=\"text\">function</th>", out);
    if (table->has_sites)
        fputs("<th scope=\"col\" class=\"text\">call site</th>", out);
    fprintf(out,
            "<th scope=\"col\">%s</th><th scope=\"col\">A</th><th scope=\"col\">B</th>"
            "<th scope=\"col\">B " SG_HTML_MINUS " A</th><th scope=\"col\">change</th>",
            table->has_states ? "waits" : "calls");
    if (table->several)
        fputs("<th scope=\"col\">95% interval</th><th scope=\"col\" class=\"text\">verdict</th>",
              out);
    fputs("</tr></thead>\n<tbody>\n", out);
}

static void put_count(const struct sg_call_side *side, FILE *out)
{
    if (side->run_count > 0)
        fprintf(out, "%" PRIu64, side->calls);
    else
        fputc('-', out);
}

static void put_calls(const struct sg_compared_call *call, FILE *out)
{
    const struct sg_call_side *a = &call->side[0], *b = &call->side[1];

    fprintf(out, "<td data-v=\"%" PRIu64 "\">", b->run_count > 0 ? b->calls : a->calls);
    put_count(a, out);
    if (a->run_count == 0 || b->run_count == 0 || a->calls != b->calls) {
        fputs(" &rarr; ", out);
        put_count(b, out);
    }
    fputs("</td>", out);
}

/* state: NULL where the table has none; what the table's filter chooses by is the first cell. */
static void put_row(const struct table *table, const char *state,
                    const struct sg_compared_call *call, FILE *out)
{
    const struct sg_measured_row measured = sg_measured_call_of(call);

    fprintf(out, "<tr data-op=\"%s\">", state != NULL ? state : call->row->function);
    if (state != NULL)
        fprintf(out, "<th scope=\"row\" class=\"text\">%s</th>", state);
    fprintf(out, state != NULL ? "<td class=\"text\">" : "<th scope=\"row\" class=\"text\">");
    sg_html_text(call->row->function, out);
    fputs(state != NULL ? "</td>" : "</th>", out);
    if (table->has_sites) {
        fputs("<td class=\"text\">", out);
        sg_html_column("site", NULL, &call->row->place, out);
        fputs("</td>", out);
    }
    put_calls(call, out);
    sg_page_put_time(measured.a_ns, out);
    sg_page_put_time(measured.b_ns, out);
    sg_page_put_difference(&measured, out);
    if (table->several)
        sg_page_put_verdict(&measured, true, out);
    fputs("</tr>\n", out);
}

static void put_end(const struct table *table, uint32_t left_out, FILE *out)
{
    fprintf(out,
            "</tbody>\n</table>\n</div>\n<p id=\"%s-shown\" class=\"quiet\" role=\"status\"></p>\n",
            table->id);
    if (left_out > 0)
        fprintf(out,
                "<p class=\"quiet\">%" PRIu32
                " further rows are left out: <code>--top</code> says how many to show, "
                "<code>stagger compare --csv=%s</code> has all.</p>\n",
                left_out, table->id);
    fputs("</section>\n", out);
}

static void put_list(const struct table *table, const struct sg_compared_call_list *list,
                     uint32_t row_limit, FILE *out)
{
    uint32_t count = sg_page_rows(list->count, row_limit);

    if (count == 0)
        return;
    put_head(table, out);
    for (uint32_t i = 0; i < count; i++)
        put_row(table, NULL, &list->of[i], out);
    put_end(table, list->count - count, out);
}

static void put_waits(const struct table *table, const struct sg_compared_waits *waits,
                      uint32_t row_limit, FILE *out)
{
    uint32_t all = 0, shown = 0;

    for (int kind = 0; kind < SG_WAITSTATE_KINDS; kind++)
        all += waits->of[kind].count;
    if (!waits->is_known || all == 0)
        return;
    put_head(table, out);
    for (int kind = 0; kind < SG_WAITSTATE_KINDS; kind++) {
        uint32_t count = sg_page_rows(waits->of[kind].count, row_limit);

        for (uint32_t i = 0; i < count; i++)
            put_row(table, sg_waitstate_names[kind], &waits->of[kind].of[i], out);
        shown += count;
    }
    put_end(table, all - shown, out);
}

void sg_page_write_compared_calls(const struct sg_comparison *comparison, uint32_t row_limit,
                                  FILE *out)
{
    bool several = sg_comparison_has_several(comparison);
    const struct table functions = {"functions", "MPI functions", "Time per run, over all ranks.",
                                    false,       false,           several};
    const struct table calls = {
        "calls", "Call sites of all MPI functions", "Time per run, over all ranks.", true, false,
        several};
    const struct table waits = {
        "waits", "Wait states", "Time per run that ranks waited for others.", true, true, several};

    if (comparison->calls.is_known) {
        put_list(&functions, &comparison->calls.functions, row_limit, out);
        put_list(&calls, &comparison->calls.sites, row_limit, out);
    }
    put_waits(&waits, &comparison->waits, row_limit, out);
}
