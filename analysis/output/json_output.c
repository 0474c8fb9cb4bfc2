/* Makes JSON values with jansson, and prints documents as a whole or part by part. Both ways give
 * the same text, without control characters.
 */
#include "output/json_output.h"

#include "core/text.h"
#include "output/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LAYOUT(digits) (JSON_INDENT(1) | JSON_REAL_PRECISION(digits))

json_t *sg_json_text(const char *text)
{
    char *clean;
    json_t *value;

    if (text == NULL)
        return json_null();
    clean = sg_format_clean(text, false);
    value = clean != NULL ? json_string(clean) : NULL;
    free(clean);
    return value;
}

static json_int_t bounded(uint64_t count)
{
    return (json_int_t)(count < INT64_MAX ? count : INT64_MAX);
}

json_t *sg_json_count(bool known, uint64_t count)
{
    return known ? json_integer(bounded(count)) : json_null();
}

json_t *sg_json_real(bool known, double value)
{
    return known ? json_real(value) : json_null();
}

json_t *sg_json_share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? json_real((double)part / (double)whole) : json_null();
}

json_t *sg_json_id(bool known, uint32_t id)
{
    return known ? json_sprintf("%08x", id) : json_null();
}

static void drop(json_t **whole)
{
    json_decref(*whole);
    *whole = NULL;
}

void sg_json_append(json_t **whole, json_t *value)
{
    if (json_array_append_new(*whole, value) != 0)
        drop(whole);
}

void sg_json_set(json_t **whole, const char *name, json_t *value)
{
    if (json_object_set_new(*whole, name, value) != 0)
        drop(whole);
}

/* Writes control characters as \u00XX. jansson escapes only those below a blank, but a terminal
 * also acts on the others. */
void sg_json_write(const char *text, size_t bytes, FILE *out)
{
    size_t begin = 0;

    for (size_t at = 0; at < bytes; at++) {
        size_t length = text[at] == 0x7f ? 1 : text[at] == '\xc2' && at + 1 < bytes ? 2 : 0;

        if (length == 0 || !sg_text_is_control(text + at, length))
            continue;
        fwrite(text + begin, 1, at - begin, out);
        fprintf(out, "\\u%04x", (unsigned char)text[at + length - 1]);
        begin = at + length;
        at = begin - 1;
    }
    fwrite(text + begin, 1, bytes - begin, out);
}

static int put(const char *text, size_t bytes, void *out)
{
    sg_json_write(text, bytes, out);
    return 0;
}

static enum sg_status print(json_t *root, size_t layout, const char *who, FILE *out)
{
    if (root == NULL) {
        sg_log("%s: out of memory", who);
        return SG_ERR_MEMORY;
    }
    if (json_dump_callback(root, put, out, layout) == 0)
        fputc('\n', out);
    json_decref(root);
    return SG_OK;
}

enum sg_status sg_json_print(json_t *root, int digits, const char *who, FILE *out)
{
    return print(root, LAYOUT(digits), who, out);
}

enum sg_status sg_json_print_line(json_t *root, int digits, const char *who, FILE *out)
{
    return print(root, JSON_REAL_PRECISION(digits), who, out);
}

/* ---- part by part ---------------------------------------------------------------------------- */

static void break_line(const struct sg_json_writer *writer)
{
    fputc('\n', writer->out);
    for (int i = 0; i < writer->depth; i++)
        fputc(' ', writer->out);
}

static void begin_value(struct sg_json_writer *writer, const char *name)
{
    if (writer->has_before)
        fputc(',', writer->out);
    if (writer->depth > 0)
        break_line(writer);
    if (name != NULL) {
        fputc('"', writer->out);
        fputs(name, writer->out);
        fputs("\": ", writer->out);
    }
    writer->has_before = true;
}

void sg_json_begin(struct sg_json_writer *writer, const char *name, char bracket)
{
    begin_value(writer, name);
    fputc(bracket, writer->out);
    writer->depth++;
    writer->has_before = false;
}

void sg_json_end(struct sg_json_writer *writer, char bracket)
{
    writer->depth--;
    if (writer->has_before)
        break_line(writer);
    fputc(bracket, writer->out);
    writer->has_before = true;
}

/* jansson escapes line ends inside texts, so a line end in its output is always layout. */
static int put_part(const char *text, size_t bytes, void *to)
{
    const struct sg_json_writer *writer = to;

    while (bytes > 0) {
        const char *end = memchr(text, '\n', bytes);
        size_t part = end != NULL ? (size_t)(end - text) : bytes;

        sg_json_write(text, part, writer->out);
        if (end != NULL) {
            break_line(writer);
            part++;
        }
        text += part;
        bytes -= part;
    }
    return 0;
}

void sg_json_put(struct sg_json_writer *writer, const char *name, json_t *value)
{
    writer->failed = writer->failed || value == NULL;
    begin_value(writer, name);
    json_dump_callback(value, put_part, writer, LAYOUT(writer->digits) | JSON_ENCODE_ANY);
    json_decref(value);
}

void sg_json_put_count(struct sg_json_writer *writer, const char *name, uint64_t count)
{
    begin_value(writer, name);
    fprintf(writer->out, "%" JSON_INTEGER_FORMAT, bounded(count));
}

void sg_json_put_members(struct sg_json_writer *writer, json_t *object)
{
    const char *name;
    json_t *value;

    writer->failed = writer->failed || object == NULL;
    json_object_foreach(object, name, value)
    {
        sg_json_put(writer, name, json_incref(value));
    }
    json_decref(object);
}

enum sg_status sg_json_finish(struct sg_json_writer *writer, const char *who)
{
    fputc('\n', writer->out);
    if (!writer->failed)
        return SG_OK;
    sg_log("%s: out of memory", who);
    return SG_ERR_MEMORY;
}
