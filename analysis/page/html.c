/* Writes HTML text, data elements and the frame of a page, and embeds the pages' styles and scripts
 * in the program.
 */
#include "page/html.h"

#include "output/json_output.h"
#include "report/report_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void sg_html_text(const char *text, FILE *out)
{
    static const char specials[] = "&<>\"'";
    static const char *const escaped[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    char *clean = text != NULL ? sg_format_clean(text, true) : NULL;

    for (const char *at = clean; at != NULL && *at != '\0'; at++) {
        const char *special = strchr(specials, *at);

        if (special != NULL)
            fputs(escaped[special - specials], out);
        else
            fputc(*at, out);
    }
    free(clean);
}

const char *sg_html_signed(double ns, const char *plus, char text[SG_FORMAT_BYTES])
{
    if (llround(ns) >= 0)
        return sg_format_signed(ns, plus, text);
    snprintf(text, SG_FORMAT_BYTES, SG_HTML_MINUS "%s", SG_UNSIGNED(-ns));
    return text;
}

void sg_html_column(const char *name, const struct sg_report *report,
                    const struct sg_report_site *site, FILE *out)
{
    char *text = sg_site_text(name, report, site);

    sg_html_text(text, out);
    free(text);
}

/* In JSON only "<" could end the element or change how it is parsed, and it occurs only in
 * strings. */
enum sg_status sg_html_data(const char *id, json_t *data, FILE *out)
{
    char *text = data != NULL ? json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;

    json_decref(data);
    if (text == NULL) {
        sg_log("page: out of memory");
        return SG_ERR_MEMORY;
    }
    fprintf(out, "<script type=\"application/json\" id=\"%s\">", id);
    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, "<");

        sg_json_write(at, length, out);
        at += length;
        if (*at == '<') {
            fputs("\\u003c", out);
            at++;
        }
    }
    fputs("</script>\n", out);
    free(text);
    return SG_OK;
}

enum sg_status sg_html_begin(const char *title, char nonce[33], FILE *out)
{
    unsigned char random[16];

    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        sg_log("page: no random numbers: %m");
        return SG_ERR_SYSTEM;
    }
    for (size_t i = 0; i < sizeof random; i++)
        sprintf(nonce + 2 * i, "%02x", random[i]);
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src 'unsafe-inline'; script-src 'nonce-%s'; img-src data:; base-uri 'none'; "
            "form-action 'none'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n"
            "<meta name=\"generator\" content=\"stagger " SG_VERSION "\">\n"
            "<link rel=\"icon\" href=\"data:,\">\n<title>",
            nonce);
    sg_html_text(title, out);
    fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", sg_page_css);
    return SG_OK;
}

void sg_html_end(const char *const scripts[], const char nonce[33], FILE *out)
{
    for (int i = 0; scripts[i] != NULL; i++)
        fprintf(out, "<script nonce=\"%s\">\n%s</script>\n", nonce, scripts[i]);
    fputs("</body>\n</html>\n", out);
}

void sg_html_section(const char *id, const char *title, FILE *out)
{
    fprintf(out, "<section aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n", id, id,
            title);
}

/* The pages' styles and scripts as strings: the assembler includes the files in
 * analysis/page/assets, by paths relative to the top of the tree.
 */

#define ASSET(symbol, file)                                                                        \
    __asm__(".section .rodata\n"                                                                   \
            ".global " #symbol "\n"                                                                \
            ".hidden " #symbol "\n"                                                                \
            ".type " #symbol ", @object\n" #symbol ":\n"                                           \
            ".incbin \"analysis/page/assets/" file "\"\n"                                          \
            ".byte 0\n"                                                                            \
            ".size " #symbol ", . - " #symbol "\n"                                                 \
            ".previous\n")

ASSET(sg_page_css, "page.css");
ASSET(sg_charts_js, "charts.js");
ASSET(sg_table_js, "table.js");
ASSET(sg_report_js, "report.js");
ASSET(sg_messages_js, "messages.js");
ASSET(sg_stretch_js, "stretch.js");
ASSET(sg_causes_js, "causes.js");
ASSET(sg_slices_js, "slices.js");
ASSET(sg_compare_js, "compare.js");
ASSET(sg_history_js, "history.js");
