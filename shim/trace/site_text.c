/* Formats and parses the text form of a call site. */
#include "trace/site_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A text buffer that is appended to; length counts what did not fit, too. */
struct piece_writer {
    char *text;
    size_t size_bytes;
    size_t length;
};

static __attribute__((format(printf, 2, 3))) void append(struct piece_writer *out,
                                                         const char *format, ...)
{
    size_t room = out->length < out->size_bytes ? out->size_bytes - out->length : 0;
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(room > 0 ? out->text + out->length : NULL, room, format, arguments);
    va_end(arguments);
    out->length += length > 0 ? (size_t)length : 0;
}

static int is_known(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* True if find_open finds the bracket before the name. */
static bool is_clear(const char *name, char open, char close)
{
    int depth = 1;

    for (size_t i = strlen(name); i-- > 0 && depth > 0;)
        depth += (name[i] == close) - (name[i] == open);
    return depth == 1 && strstr(name, "\\x") == NULL;
}

static void append_name(struct piece_writer *out, const char *name, char open, char close)
{
    if (is_clear(name, open, close)) {
        append(out, "%s", name);
        return;
    }
    for (; *name != '\0'; name++) {
        if (*name == open || *name == close || *name == '\\')
            append(out, "\\x%02x", (unsigned)*name);
        else
            append(out, "%c", *name);
    }
}

int sg_site_format(const struct sg_site_text *site, char *text, size_t size_bytes)
{
    struct piece_writer out = {.text = text, .size_bytes = size_bytes};

    if (size_bytes > 0)
        text[0] = '\0';
    if (is_known(site->function))
        append(&out, "%s ", site->function);
    if (is_known(site->file)) {
        append(&out, "(");
        append_name(&out, site->file, '(', ')');
        append(&out, ":%" PRIu32 ") ", site->line);
    }
    if (is_known(site->module)) {
        append(&out, "[");
        append_name(&out, site->module, '[', ']');
        append(&out, "+0x%" PRIx64 "] ", site->offset);
    }
    append(&out, "#%08" PRIx32, site->id);
    return (int)out.length;
}

/* The opening bracket for the last character, at the start of the text or after a blank; NULL if
 * there is none. Names may contain balanced brackets of their own. */
static char *find_open(char *text, size_t length, char open, char close)
{
    int depth = 0;

    for (size_t i = length; i-- > 0;) {
        if (text[i] == close)
            depth++;
        else if (text[i] == open && --depth == 0)
            return i == 0 || text[i - 1] == ' ' ? text + i : NULL;
    }
    return NULL;
}

/* Reads digits of a base up to end; false if there are none, other characters or too many. */
static int parse_number(const char *text, const char *end, int base, uint64_t limit,
                        uint64_t *number)
{
    uint64_t value = 0;

    if (text == end)
        return 0;
    for (; text < end; text++) {
        int digit = isdigit((unsigned char)*text)    ? *text - '0'
                    : isxdigit((unsigned char)*text) ? tolower((unsigned char)*text) - 'a' + 10
                                                     : base;

        if (digit >= base || value > (limit - (uint64_t)digit) / (uint64_t)base)
            return 0;
        value = value * (uint64_t)base + (uint64_t)digit;
    }
    *number = value;
    return 1;
}

/* Restores the characters that append_name has replaced. */
static char *restore(char *name)
{
    char *to = name;

    for (const char *from = name; *from != '\0'; from++) {
        uint64_t character;

        if (strncmp(from, "\\x", 2) == 0 && strnlen(from, 4) == 4 &&
            parse_number(from + 2, from + 4, 16, UINT8_MAX, &character) &&
            strchr("()[]\\", (int)character) != NULL && character != 0) {
            *to++ = (char)character;
            from += 3;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
    return name;
}

/* Cuts "[MODULE+0xOFFSET]" off the end of text[0..*length). */
static void take_module(char *text, size_t *length, struct sg_site_text *site)
{
    char *end = text + *length - 1;
    char *open, *plus;

    if (*length == 0 || *end != ']' || (open = find_open(text, *length, '[', ']')) == NULL)
        return;
    for (plus = end - 1; plus > open && *plus != '+'; plus--) {
    }
    if (plus == open || plus[1] != '0' || plus[2] != 'x' ||
        !parse_number(plus + 3, end, 16, UINT64_MAX, &site->offset))
        return;
    *plus = '\0';
    site->module = restore(open + 1);
    *length = open == text ? 0 : (size_t)(open - text) - 1;
}

/* Cuts "(FILE:LINE)" off the end of text[0..*length). */
static void take_file(char *text, size_t *length, struct sg_site_text *site)
{
    char *end = text + *length - 1;
    char *open, *colon;
    uint64_t line;

    if (*length == 0 || *end != ')' || (open = find_open(text, *length, '(', ')')) == NULL)
        return;
    for (colon = end - 1; colon > open && *colon != ':'; colon--) {
    }
    if (colon <= open + 1 || !parse_number(colon + 1, end, 10, UINT32_MAX, &line))
        return;
    *colon = '\0';
    site->file = restore(open + 1);
    site->line = (uint32_t)line;
    *length = open == text ? 0 : (size_t)(open - text) - 1;
}

enum sg_status sg_site_parse(char *text, struct sg_site_text *out)
{
    struct sg_site_text site = {0};
    size_t length = strlen(text);
    uint64_t id;

    if (length < 9 || text[length - 9] != '#' || (length > 9 && text[length - 10] != ' ') ||
        !parse_number(text + length - 8, text + length, 16, UINT32_MAX, &id))
        return SG_ERR_SYNTAX;
    site.id = (uint32_t)id;
    length = length > 9 ? length - 10 : 0;
    take_module(text, &length, &site);
    take_file(text, &length, &site);
    text[length] = '\0';
    site.function = length > 0 ? text : NULL;
    *out = site;
    return SG_OK;
}
