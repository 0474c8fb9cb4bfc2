/* Text for people and for files: durations and sizes with units, and names of any bytes made safe
 * for a terminal or for JSON.
 *
 * Columns are counted as one for each code point, which is right for the names in programs.
 */
#ifndef SG_OUTPUT_FORMAT_H
#define SG_OUTPUT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SG_FORMAT_BYTES 32 /* capacity for any figure below; the functions return text */

/* "0ns", "950ns", "12.3us", "1.23ms", "45.6s", "5000s", "3h25m", "2d3h": three digits
 * below 1000 s. */
const char *sg_format_ns(uint64_t ns, char text[SG_FORMAT_BYTES]);

/* Rounds to whole ns; "-" precedes negative values and `plus` positive ones. */
const char *sg_format_signed(double ns, const char *plus, char text[SG_FORMAT_BYTES]);

/* "0B", "640B", "1.50KiB", ..., "3.20EiB". */
const char *sg_format_bytes(uint64_t bytes, char text[SG_FORMAT_BYTES]);

/* "12.3%", "0.04%", "100%"; "-" if whole is 0. */
const char *sg_format_share(uint64_t part, uint64_t whole, char text[SG_FORMAT_BYTES]);

/* The same in a buffer that lives to the end of the enclosing block. */
#define SG_ROOM ((char[SG_FORMAT_BYTES]){0})
#define SG_NS(ns) sg_format_ns(ns, SG_ROOM)
#define SG_SIGNED(ns) sg_format_signed(ns, "+", SG_ROOM)
#define SG_UNSIGNED(ns) sg_format_signed(ns, "", SG_ROOM)
#define SG_BYTES(bytes) sg_format_bytes(bytes, SG_ROOM)
#define SG_SHARE(part, whole) sg_format_share(part, whole, SG_ROOM)

/* A copy in which \xNN replaces each byte that is not part of valid UTF-8. With controls, \n, \t or
 * \xNN also replaces control characters. malloc'ed; NULL if out of memory. */
char *sg_format_clean(const char *text, bool controls);

/* Writes the text without control characters; "?" if out of memory. */
void sg_format_put(const char *text, FILE *out);

size_t sg_format_columns(const char *text);

/* Shortens clean text in place to at most columns, with ".." for its middle. */
void sg_format_shorten(char *text, size_t columns);

/* Shortens the text of a call site. The part after the last blank, or a text that is only file and
 * line or module and offset, stays whole, so the result may be longer than columns. */
void sg_format_shorten_site(char *text, size_t columns);

/* Collects in memory the text that a function prints. */
struct sg_format_text {
    FILE *out;
    char *of;
    size_t bytes;
};

/* False: out of memory. */
bool sg_format_open(struct sg_format_text *text);
/* Ends it, and returns the text, malloc'ed; NULL: out of memory. */
char *sg_format_take(struct sg_format_text *text);
/* Likewise, without control characters. */
char *sg_format_take_clean(struct sg_format_text *text);

/* Shortens "text a -> b": without a, or with a shorter a if b is only the number of a line. */
void sg_format_shorten_interval(char *text, size_t columns);

#endif
