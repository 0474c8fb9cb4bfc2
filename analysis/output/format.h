/* Text for people and for files: durations and sizes with units, and names of any bytes made fit
 * for a terminal or for JSON.
 *
 * Columns are counted in code points: one for each, which is right for the names programs have.
 */
#ifndef SG_OUTPUT_FORMAT_H
#define SG_OUTPUT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SG_FORMAT_BYTES 32 /* room for any of the figures below, which return text */

/* "0ns", "950ns", "12.3us", "1.23ms", "45.6s", "12345s": three digits below 1000 s. */
const char *sg_format_ns(uint64_t ns, char text[SG_FORMAT_BYTES]);

/* Rounded to whole ns, "-" before what is negative and `plus` before what is positive. */
const char *sg_format_signed(double ns, const char *plus, char text[SG_FORMAT_BYTES]);

/* "0B", "640B", "1.50KiB", ..., "3.20EiB". */
const char *sg_format_bytes(uint64_t bytes, char text[SG_FORMAT_BYTES]);

/* "12.3%", "0.04%", "100%"; "-" where whole is 0. */
const char *sg_format_share(uint64_t part, uint64_t whole, char text[SG_FORMAT_BYTES]);

/* The same as texts that live to the end of the block that they stand in. */
#define SG_ROOM ((char[SG_FORMAT_BYTES]){0})
#define SG_NS(ns) sg_format_ns(ns, SG_ROOM)
#define SG_SIGNED(ns) sg_format_signed(ns, "+", SG_ROOM)
#define SG_UNSIGNED(ns) sg_format_signed(ns, "", SG_ROOM)
#define SG_BYTES(bytes) sg_format_bytes(bytes, SG_ROOM)
#define SG_SHARE(part, whole) sg_format_share(part, whole, SG_ROOM)

/* A copy in which each byte that is not part of valid UTF-8 stands as \xNN; with controls also
 * each control character (\n, \t or \xNN). malloc'ed; NULL when out of memory. */
char *sg_format_clean(const char *text, bool controls);

/* Writes it, without controls; "?" when out of memory. */
void sg_format_put(const char *text, FILE *out);

size_t sg_format_columns(const char *text);

/* Shortens clean text to at most columns by putting ".." for its middle. In place. */
void sg_format_shorten(char *text, size_t columns);

/* The same of a call site's text: what is behind the last blank, or what there is of file and line
 * or of module and offset, stays whole, and so it may remain longer. */
void sg_format_shorten_site(char *text, size_t columns);

#endif
