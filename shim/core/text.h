/* Users' text: numbers in it, columns, and excerpts that are safe to show.
 *
 * Pure functions, thread-safe; any bytes are accepted, malformed UTF-8 included.
 */
#ifndef SG_CORE_TEXT_H
#define SG_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the UTF-8 character that text of length bytes (at least 1) begins with; 0 where it
 * begins with none. Overlong forms, surrogates and values past U+10FFFF are none. */
size_t sg_text_character(const char *text, size_t length);

/* Whether the character of so many bytes is C0, C1 or DEL: what could move a terminal's cursor. */
bool sg_text_is_control(const char *text, size_t bytes);

/* Room for an excerpt in a message. */
#define SG_EXCERPT_BYTES 80

/* Copies length bytes of text for a message: control characters and bytes that are not UTF-8
 * become '?', and what does not fit size_bytes (at least 8) ends in "...". Returns excerpt. */
const char *sg_text_excerpt(const char *text, size_t length, char *excerpt, size_t size_bytes);

/* Room for a path of PATH_MAX bytes as a word of the shell. */
#define SG_WORD_BYTES 16400

/* The text as one word to paste into a shell: itself where it needs no quotes, else quoted in word,
 * control characters and bytes that are not UTF-8 as bash and zsh read them ($'\x0a'). What does
 * not fit size_bytes is returned as it is. */
const char *sg_text_word(const char *text, char *word, size_t size_bytes);

/* The column, from 1, of text[position]: characters, not bytes. */
int sg_text_column(const char *text, size_t position);

/* What follows the last '/' of a path, unless that is nothing; NULL for NULL. */
const char *sg_text_base_name(const char *path);

/* Copies text to size_bytes (at least 1) at to; of one that is too long the end. */
void sg_text_tail(const char *text, char *to, size_t size_bytes);

/* Levenshtein's distance of two texts of at most SG_DISTANCE_BYTES bytes. */
#define SG_DISTANCE_BYTES 60
int sg_text_distance(const char *a, const char *b);

/* Reads decimal digits at begin and, with suffixes, a k, m or g (powers of 1024, either case).
 * Returns where the number ends, NULL where there is none or it exceeds 64 bits. */
const char *sg_text_number(const char *begin, const char *end, bool suffixes, uint64_t *out);

#endif
