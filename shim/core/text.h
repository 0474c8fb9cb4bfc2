/* Users' text: numbers in it, columns, and excerpts that are safe to show.
 *
 * Pure functions, thread-safe; any bytes are accepted, malformed UTF-8 included.
 */
#ifndef SG_CORE_TEXT_H
#define SG_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for an excerpt in a message. */
#define SG_EXCERPT_BYTES 80

/* Copies length bytes of text for a message: control characters and bytes that are not UTF-8
 * become '?', and what does not fit size_bytes (at least 8) ends in "...". Returns excerpt. */
const char *sg_text_excerpt(const char *text, size_t length, char *excerpt, size_t size_bytes);

/* The column, from 1, of text[position]: characters, not bytes. */
int sg_text_column(const char *text, size_t position);

/* Copies text to size_bytes (at least 1) at to; of one that is too long the end. */
void sg_text_tail(const char *text, char *to, size_t size_bytes);

/* Reads decimal digits at begin and, with suffixes, a k, m or g (powers of 1024, either case).
 * Returns where the number ends, NULL where there is none or it exceeds 64 bits. */
const char *sg_text_number(const char *begin, const char *end, bool suffixes, uint64_t *out);

#endif
