#include "page/differences.h"

#include "page/html.h"

#include <math.h>

#define SIGNED(ns) sg_html_signed(ns, "+", SG_ROOM)

void sg_page_put_change(double a, double b, FILE *out)
{
    if (a > 0)
        fprintf(out, "%s%.1f%%", b > a ? "+" : b < a ? SG_HTML_MINUS : "", 100 * fabs(b - a) / a);
    else
        fputs(b > 0 ? "from none" : "none", out);
}

void sg_page_put_time(double ns, FILE *out)
{
    if (isnan(ns))
        fputs("<td>-</td>", out);
    else
        fprintf(out, "<td data-v=\"%.15g\">%s</td>", ns, SG_UNSIGNED(ns));
}

void sg_page_put_difference(const struct sg_measured_row *row, FILE *out)
{
    if (isnan(row->difference_ns))
        fputs("<td>-</td>", out);
    else
        fprintf(out, "<td data-v=\"%.15g\">%s</td>", row->difference_ns,
                SIGNED(row->difference_ns));
    if (isnan(row->change)) {
        fputs("<td>-</td>", out);
    } else {
        fprintf(out, "<td data-v=\"%.10g\">", row->change);
        sg_page_put_change(row->a_ns, row->b_ns, out);
        fputs("</td>", out);
    }
}

void sg_page_put_verdict(const struct sg_measured_row *row, bool several, FILE *out)
{
    if (isnan(row->low_ns))
        fputs("<td>-</td>", out);
    else
        fprintf(out, "<td data-v=\"%.15g\" data-low=\"%.15g\" data-high=\"%.15g\">%s to %s</td>",
                row->high_ns - row->low_ns, row->low_ns, row->high_ns, SIGNED(row->low_ns),
                SIGNED(row->high_ns));
    fprintf(out, "<td class=\"text %s\">%s</td>", sg_verdict_names[row->verdict],
            sg_verdict_words(row->verdict, several));
}
