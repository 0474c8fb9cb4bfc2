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

#define SG_FORMAT_BYTES 32 /* room for any of the figures below */

/* "0ns", "950ns", "12.3us", "1.23ms", "45.6s", "12345s": three digits below 1000 s. */
void sg_format_ns(uint64_t ns, char text[SG_FORMAT_BYTES]);

/* "0B", "640B", "1.50KiB", ..., "3.20EiB". */
void sg_format_bytes(uint64_t bytes, char text[SG_FORMAT_BYTES]);

/* "12.3%", "0.04%", "100%"; "-" where whole is 0. */
void sg_format_share(uint64_t part, uint64_t whole, char text[SG_FORMAT_BYTES]);

/* A copy in which each byte that is not part of valid UTF-8 stands as \xNN; with controls also
 * each control character (\n, \t or \xNN). malloc'ed; NULL when out of memory. */
char *sg_format_clean(const char *text, bool controls);

size_t sg_format_columns(const char *text);

/* Shortens clean text to at most columns by putting ".." for its middle. In place. */
void sg_format_shorten(char *text, size_t columns);

/* The same of a call site's text: what is behind the last blank, or what there is of file and line
 * or of module and offset, stays whole, and so it may remain longer. */
void sg_format_shorten_place(char *text, size_t columns);

#endif
