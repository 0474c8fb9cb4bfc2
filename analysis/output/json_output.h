/* Values as jansson's, of which some may not be known: null; lists and objects of them, and the one
 * way in which they are printed. What does not fit into memory becomes NULL, which every function
 * takes, and the whole is NULL in the end.
 */
#ifndef SG_OUTPUT_JSON_OUTPUT_H
#define SG_OUTPUT_JSON_OUTPUT_H

#include "core/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* NULL becomes null; bytes that are not UTF-8, which jansson refuses, stand as \xNN. */
json_t *sg_json_text(const char *text);
json_t *sg_json_count(bool known, uint64_t count);
json_t *sg_json_real(bool known, double value);
/* Of a whole; null where that is 0. */
json_t *sg_json_share(uint64_t part, uint64_t whole);
/* "%08x". */
json_t *sg_json_id(bool known, uint32_t id);
/* Take the value, which may be NULL: then, as when memory is out, *whole is freed and becomes NULL.
 */
void sg_json_append(json_t **whole, json_t *value);
void sg_json_set(json_t **whole, const char *name, json_t *value);
/* Prints and frees root, reals with so many digits. SG_ERR_MEMORY where root is NULL, logged in a
 * line that begins with who; a stream that does not take it is the caller's to notice. */
enum sg_status sg_json_print(json_t *root, int digits, const char *who, FILE *out);
/* Likewise, on one line. */
enum sg_status sg_json_print_line(json_t *root, int digits, const char *who, FILE *out);
/* Writes what jansson has printed, with no control character in it. */
void sg_json_write(const char *text, size_t bytes, FILE *out);

/* Prints the same text part by part, for what is too long to be held as a whole. An object's
 * members have names, which are plain ASCII; the elements of a list, and the outermost value, have
 * NULL. */
struct sg_json_writer {
    FILE *out;
    int digits;
    int depth;       /* of lists and objects that are open */
    bool has_before; /* in the innermost one */
};

/* bracket: '{' or '[', and at the end '}' or ']'. */
void sg_json_begin(struct sg_json_writer *writer, const char *name, char bracket);
void sg_json_end(struct sg_json_writer *writer, char bracket);
/* Takes the value. */
void sg_json_put(struct sg_json_writer *writer, const char *name, json_t *value);
void sg_json_put_count(struct sg_json_writer *writer, const char *name, uint64_t count);

#endif
