/* Writes HTML. Text from a program is escaped and never becomes markup. */
#ifndef SG_PAGE_HTML_H
#define SG_PAGE_HTML_H

#include "core/status.h"
#include "output/format.h"
#include "report/report.h"

#include <jansson.h>
#include <stdio.h>

/* Writes any bytes, as text or as an attribute value in double quotes: escapes HTML's special
 * characters, and shows invalid UTF-8 and control characters as \xNN. NULL writes nothing. */
void sg_html_text(const char *text, FILE *out);

/* As sg_format_signed(), but with a typographic minus sign. */
#define SG_HTML_MINUS "\xe2\x88\x92"

const char *sg_html_signed(double ns, const char *plus, char text[SG_FORMAT_BYTES]);
/* Writes the cell for a column of the report (report/report_columns.h). */
void sg_html_column(const char *name, const struct sg_report *report,
                    const struct sg_report_site *site, FILE *out);
/* Writes a script element with data that the page's scripts parse; owns data. SG_ERR_MEMORY
 * (logged): also if data is NULL. */
enum sg_status sg_html_data(const char *id, json_t *data, FILE *out);
/* Write everything before and after the page's own content, including the styles and scripts: the
 * page loads nothing. scripts end with NULL. SG_ERR_SYSTEM (logged): no random number for the
 * policy that allows these scripts and no others. */
enum sg_status sg_html_begin(const char *title, char nonce[33], FILE *out);
void sg_html_end(const char *const scripts[], const char nonce[33], FILE *out);

/* Begins a section with a title; "</section>" ends it. */
void sg_html_section(const char *id, const char *title, FILE *out);

/* The files in analysis/page/assets. */
extern const char sg_page_css[], sg_charts_js[], sg_table_js[], sg_report_js[], sg_messages_js[],
    sg_stretch_js[], sg_causes_js[], sg_slices_js[], sg_compare_js[], sg_history_js[];

#endif
