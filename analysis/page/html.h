/* Writing HTML: text from a program never becomes markup. */
#ifndef SG_PAGE_HTML_H
#define SG_PAGE_HTML_H

#include "core/status.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* Any bytes, as text or as the value of an attribute in double quotes: what is special to HTML is
 * escaped, what is no UTF-8 or a control character is shown as \xNN. NULL writes nothing. */
void sg_html_text(const char *text, FILE *out);

/* Formatted as sg_format_*() do. */
void sg_html_ns(uint64_t ns, FILE *out);
void sg_html_share(uint64_t part, uint64_t whole, FILE *out);

/* A script element of data that scripts of the page parse; owns data. SG_ERR_MEMORY (logged):
 * also where data is NULL. */
enum sg_status sg_html_data(const char *id, json_t *data, FILE *out);

/* A string for sg_html_data(); NULL becomes null. Any bytes, as sg_html_text(). */
json_t *sg_html_string(const char *text);

/* Everything up to the page's own content, and after it: the styles and the scripts of the page are
 * in it, and nothing is ever loaded. scripts end with NULL. SG_ERR_SYSTEM (logged): no random
 * number for the policy that lets these scripts run and no others. */
enum sg_status sg_html_begin(const char *title, char nonce[33], FILE *out);
void sg_html_end(const char *const scripts[], const char nonce[33], FILE *out);

/* Texts of analysis/page/assets, in the program. */
extern const char sg_page_css[], sg_charts_js[], sg_table_js[], sg_report_js[], sg_compare_js[];

#endif
