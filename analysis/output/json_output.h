/* JSON with jansson: values that may be unknown (null), lists and objects of them, and the one way
 * to print them.
 *
 * A value that does not fit into memory becomes NULL, which every function accepts; the whole then
 * also becomes NULL.
 */
#ifndef SG_OUTPUT_JSON_OUTPUT_H
#define SG_OUTPUT_JSON_OUTPUT_H

#include "core/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* NULL becomes null. \xNN replaces bytes that are not UTF-8, which jansson refuses. */
json_t *sg_json_text(const char *text);
/* A count beyond json_int_t becomes its largest value. */
json_t *sg_json_count(bool known, uint64_t count);
json_t *sg_json_real(bool known, double value);
/* part / whole; null if whole is 0. */
json_t *sg_json_share(uint64_t part, uint64_t whole);
/* "%08x". */
json_t *sg_json_id(bool known, uint32_t id);
/* Take over the value. If it is NULL, or memory runs out, *whole is freed and becomes NULL.
 */
void sg_json_append(json_t **whole, json_t *value);
void sg_json_set(json_t **whole, const char *name, json_t *value);
/* Prints and frees root, with `digits` digits of reals. Returns SG_ERR_MEMORY if root is NULL,
 * logged in a line that begins with who. The caller checks the stream for write errors. */
enum sg_status sg_json_print(json_t *root, int digits, const char *who, FILE *out);
/* The same on one line. */
enum sg_status sg_json_print_line(json_t *root, int digits, const char *who, FILE *out);
/* Writes text printed by jansson, with control characters escaped. */
void sg_json_write(const char *text, size_t bytes, FILE *out);

/* Prints the same text part by part, for documents too long to hold. Members of an object have
 * names in plain ASCII; elements of a list, and the outermost value, have NULL. */
struct sg_json_writer {
    FILE *out;
    int digits;
    int depth;       /* open lists and objects */
    bool has_before; /* the innermost one has an element */
    bool failed;     /* a value did not fit into memory */
};

/* bracket: '{' or '[', and at the end '}' or ']'. */
void sg_json_begin(struct sg_json_writer *writer, const char *name, char bracket);
void sg_json_end(struct sg_json_writer *writer, char bracket);
/* Takes over the value. */
void sg_json_put(struct sg_json_writer *writer, const char *name, json_t *value);
void sg_json_put_count(struct sg_json_writer *writer, const char *name, uint64_t count);
/* Puts the members of an object, which is taken over. */
void sg_json_put_members(struct sg_json_writer *writer, json_t *object);
/* Ends the line after the outermost value. Returns SG_OK or SG_ERR_MEMORY, logged in a line that
 * begins with who. */
enum sg_status sg_json_finish(struct sg_json_writer *writer, const char *who);

#endif
