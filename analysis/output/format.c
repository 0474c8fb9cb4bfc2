/* Formats durations, sizes and shares with units, and cleans and shortens names for a terminal or
 * for JSON.
 */
#include "output/format.h"

#include "core/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_MIN 8 /* columns of a function's name that always stay */

/* Formats three digits, rounded, in the smallest unit in which they suffice. 999.6 must not become
 * "1000" of the smaller unit, so the next unit begins half below it. */
static const char *scale(double value, double step, const char *const units[], char *text)
{
    for (value /= step; value >= step - 0.5 && units[1] != NULL; value /= step)
        units++;
    snprintf(text, SG_FORMAT_BYTES, "%.*f%s",
             value < 9.995   ? 2
             : value < 99.95 ? 1
                             : 0,
             value, *units);
    return text;
}

#define HOUR 3600
#define DAY (24 * HOUR)

const char *sg_format_ns(uint64_t ns, char text[SG_FORMAT_BYTES])
{
    static const char *const units[] = {"us", "ms", "s", NULL};

    uint64_t seconds = ns / 1000000000;

    if (seconds >= DAY)
        snprintf(text, SG_FORMAT_BYTES, "%" PRIu64 "d%" PRIu64 "h", seconds / DAY,
                 seconds % DAY / HOUR);
    else if (seconds >= 3 * HOUR)
        snprintf(text, SG_FORMAT_BYTES, "%" PRIu64 "h%" PRIu64 "m", seconds / HOUR,
                 seconds % HOUR / 60);
    else if (ns >= 1000)
        return scale((double)ns, 1000, units, text);
    else
        snprintf(text, SG_FORMAT_BYTES, "%" PRIu64 "ns", ns);
    return text;
}

const char *sg_format_signed(double ns, const char *plus, char text[SG_FORMAT_BYTES])
{
    long long whole = llround(ns);

    snprintf(text, SG_FORMAT_BYTES, "%s%s",
             whole < 0   ? "-"
             : whole > 0 ? plus
                         : "",
             SG_NS((uint64_t)llabs(whole)));
    return text;
}

const char *sg_format_bytes(uint64_t bytes, char text[SG_FORMAT_BYTES])
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB", NULL};

    if (bytes >= 1024)
        return scale((double)bytes, 1024, units, text);
    snprintf(text, SG_FORMAT_BYTES, "%" PRIu64 "B", bytes);
    return text;
}

const char *sg_format_share(uint64_t part, uint64_t whole, char text[SG_FORMAT_BYTES])
{
    double percent = whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
    int decimals = part == 0 || percent >= 99.95 ? 0 : percent < 0.995 ? 2 : 1;

    if (whole == 0)
        return strcpy(text, "-");
    snprintf(text, SG_FORMAT_BYTES, "%.*f%%", decimals, percent);
    return text;
}

static char *escape(char *out, const char *text, size_t length)
{
    if (text[0] == '\n' || text[0] == '\t')
        return stpcpy(out, text[0] == '\n' ? "\\n" : "\\t");
    for (size_t i = 0; i < length; i++)
        out += sprintf(out, "\\x%02x", (unsigned char)text[i]);
    return out;
}

char *sg_format_clean(const char *text, bool controls)
{
    char *clean = malloc(4 * strlen(text) + 1);
    char *out = clean;

    if (clean == NULL)
        return NULL;
    while (*text != '\0') {
        size_t length = sg_text_character(text, strnlen(text, 4));

        if (length == 0 || (controls && sg_text_is_control(text, length))) {
            length = length == 0 ? 1 : length;
            out = escape(out, text, length);
        } else {
            out = mempcpy(out, text, length);
        }
        text += length;
    }
    *out = '\0';
    return clean;
}

void sg_format_put(const char *text, FILE *out)
{
    char *clean = sg_format_clean(text, true);

    fputs(clean != NULL ? clean : "?", out);
    free(clean);
}

static bool is_inside(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

size_t sg_format_columns(const char *text)
{
    size_t columns = 0;

    for (; *text != '\0'; text++)
        columns += !is_inside(*text);
    return columns;
}

/* The start of the nth character. */
static char *nth(char *text, size_t n)
{
    for (; *text != '\0'; text++) {
        if (!is_inside(*text) && n-- == 0)
            break;
    }
    return text;
}

void sg_format_shorten(char *text, size_t columns)
{
    static const char gap[] = "..";
    const size_t gap_columns = sizeof gap - 1;
    size_t all = sg_format_columns(text);
    size_t head;
    char *cut, *tail;

    if (all <= columns)
        return;
    if (columns <= gap_columns) {
        *nth(text, columns) = '\0';
        return;
    }
    head = (columns - gap_columns + 1) / 2;
    cut = nth(text, head);
    tail = nth(text, all - (columns - gap_columns - head));
    memcpy(cut, gap, gap_columns);
    memmove(cut + gap_columns, tail, strlen(tail) + 1);
}

void sg_format_shorten_site(char *text, size_t columns)
{
    char *blank = strrchr(text, ' ');
    size_t kept = blank != NULL ? sg_format_columns(blank) : 0;
    char *tail;

    if (blank == NULL) {
        if (strchr(text, ':') == NULL && strstr(text, "+0x") == NULL)
            sg_format_shorten(text, columns);
        return;
    }
    tail = strdup(blank);
    if (tail == NULL)
        return;
    *blank = '\0';
    sg_format_shorten(text, columns > kept + HEAD_MIN ? columns - kept : HEAD_MIN);
    strcat(text, tail);
    free(tail);
}

void sg_format_shorten_interval(char *text, size_t columns)
{
    char *arrow = strstr(text, " -> "), *from, *tail;

    if (sg_format_columns(text) <= columns)
        return;
    if (arrow != NULL && (tail = strdup(arrow)) != NULL) {
        size_t kept;

        *arrow = '\0';
        from = strrchr(text, ' ') != NULL ? strrchr(text, ' ') + 1 : text;
        kept = sg_format_columns(text) - sg_format_columns(from) + sg_format_columns(tail);
        if (tail[4] >= '0' && tail[4] <= '9') {
            sg_format_shorten(from, columns > kept + HEAD_MIN ? columns - kept : HEAD_MIN);
            strcat(text, tail);
        } else {
            strcpy(from, tail + 1);
        }
        free(tail);
    }
    sg_format_shorten(text, columns);
}

bool sg_format_open(struct sg_format_text *text)
{
    *text = (struct sg_format_text){0};
    text->out = open_memstream(&text->of, &text->bytes);
    return text->out != NULL;
}

char *sg_format_take(struct sg_format_text *text)
{
    if (fclose(text->out) == 0)
        return text->of;
    free(text->of);
    return NULL;
}

char *sg_format_take_clean(struct sg_format_text *text)
{
    char *raw = sg_format_take(text), *clean = raw != NULL ? sg_format_clean(raw, true) : NULL;

    free(raw);
    return clean;
}
