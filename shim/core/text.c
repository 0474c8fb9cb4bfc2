#include "core/text.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

size_t sg_text_character(const char *text, size_t length)
{
    unsigned char first = (unsigned char)text[0];
    unsigned char second = length > 1 ? (unsigned char)text[1] : 0;
    size_t bytes = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

    if (first > 0xf4 || bytes > length)
        return 0;
    for (size_t i = 1; i < bytes; i++) {
        if (!is_continuation(text[i]))
            return 0;
    }
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90))
        return 0;
    return bytes;
}

bool sg_text_is_control(const char *text, size_t bytes)
{
    unsigned char first = (unsigned char)text[0];

    return (bytes == 1 && (first < 0x20 || first == 0x7f)) ||
           (bytes == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0);
}

const char *sg_text_excerpt(const char *text, size_t length, char *excerpt, size_t size_bytes)
{
    static const char cut[] = "...";
    size_t limit = size_bytes - sizeof cut;
    size_t used = 0;
    size_t at = 0;

    while (at < length) {
        size_t bytes = sg_text_character(text + at, length - at);

        if (sg_text_is_control(text + at, bytes))
            bytes = 0;
        if (used + (bytes > 0 ? bytes : 1) > limit) {
            memcpy(excerpt + used, cut, sizeof cut);
            return excerpt;
        }
        if (bytes > 0)
            memcpy(excerpt + used, text + at, bytes);
        else
            excerpt[used] = '?';
        used += bytes > 0 ? bytes : 1;
        at += bytes > 0 ? bytes : 1;
    }
    excerpt[used] = '\0';
    return excerpt;
}

/* Bytes of the first character of text; 0: it must not appear literally in a shell word. */
static size_t shown_bytes(const char *text)
{
    size_t bytes = sg_text_character(text, strnlen(text, 4));

    return sg_text_is_control(text, bytes) ? 0 : bytes;
}

const char *sg_text_word(const char *text, char *word, size_t size_bytes)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_@%+=:,./-";
    bool escapes = false;
    char *at = word;

    if (text[0] != '\0' && text[0] != '-' && text[strspn(text, plain)] == '\0')
        return text;
    /* At most four bytes for each byte, plus quotes and prefix. */
    if (4 * strlen(text) + 6 > size_bytes)
        return text;
    for (const char *from = text; *from != '\0' && !escapes; from += shown_bytes(from))
        escapes = shown_bytes(from) == 0;
    if (escapes)
        *at++ = '$';
    *at++ = '\'';
    if (text[0] == '-') { /* must not look like an option */
        *at++ = '.';
        *at++ = '/';
    }
    while (*text != '\0') {
        size_t bytes = shown_bytes(text);

        if (bytes == 0)
            at += sprintf(at, "\\x%02x", (unsigned char)*text);
        else if (*text == '\'')
            at = stpcpy(at, escapes ? "\\'" : "'\\''");
        else if (escapes && *text == '\\')
            at = stpcpy(at, "\\\\");
        else
            at = mempcpy(at, text, bytes);
        text += bytes > 0 ? bytes : 1;
    }
    *at++ = '\'';
    *at = '\0';
    return word;
}

int sg_text_column(const char *text, size_t position)
{
    int column = 1;

    for (size_t i = 0; i < position && column < INT_MAX; i++) {
        if (!is_continuation(text[i]))
            column++;
    }
    return column;
}

const char *sg_text_number(const char *begin, const char *end, bool suffixes, uint64_t *out)
{
    const char *at = begin;
    uint64_t value = 0;
    int shift = 0;

    for (; at < end && isdigit((unsigned char)*at); at++) {
        if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
            return NULL;
    }
    if (at == begin)
        return NULL;
    if (suffixes && at < end) {
        int letter = tolower((unsigned char)*at);

        shift = letter == 'k' ? 10 : letter == 'm' ? 20 : letter == 'g' ? 30 : 0;
        at += shift > 0;
    }
    if (value > UINT64_MAX >> shift)
        return NULL;
    *out = value << shift;
    return at;
}

const char *sg_text_base_name(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;

    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

void sg_text_tail(const char *text, char *to, size_t size_bytes)
{
    size_t length = strlen(text);
    size_t cut = length < size_bytes ? 0 : length + 1 - size_bytes;

    memcpy(to, text + cut, length - cut + 1);
}

static int smallest(int a, int b, int c)
{
    int least = a < b ? a : b;

    return least < c ? least : c;
}

int sg_text_distance(const char *a, const char *b)
{
    int row[SG_DISTANCE_BYTES + 1];
    int width = (int)strlen(b);

    for (int j = 0; j <= width; j++)
        row[j] = j;
    for (int i = 1; a[i - 1] != '\0'; i++) {
        int diagonal = row[0];

        row[0] = i;
        for (int j = 1; j <= width; j++) {
            int above = row[j];

            row[j] = smallest(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[width];
}

bool sg_rank_list_parse(const char *text, struct sg_rank_list *out)
{
    struct sg_rank_list list = {0};

    while (text != NULL) {
        unsigned long first, last;
        char *end;

        errno = 0;
        if (*text < '0' || *text > '9' || list.count == SG_RANK_RANGES)
            return false;
        first = last = strtoul(text, &end, 10);
        if (*end == '-' && end[1] >= '0' && end[1] <= '9')
            last = strtoul(end + 1, &end, 10);
        if ((*end != ',' && *end != '\0') || errno != 0 || last < first || last > UINT32_MAX)
            return false;
        list.ranges[list.count].first = (uint32_t)first;
        list.ranges[list.count++].last = (uint32_t)last;
        text = *end == ',' ? end + 1 : NULL;
    }
    *out = list;
    return true;
}

bool sg_rank_list_has(const struct sg_rank_list *list, uint32_t rank)
{
    bool has = false;

    for (uint32_t i = 0; !has && i < list->count; i++)
        has = rank >= list->ranges[i].first && rank <= list->ranges[i].last;
    return has;
}

/* Index of a word in "auto|off", or -1. */
static int choice_index(const char *choices, const char *begin, const char *end)
{
    for (int index = 0; choices != NULL; index++) {
        const char *bar = strchrnul(choices, '|');

        if (bar - choices == end - begin && memcmp(choices, begin, (size_t)(end - begin)) == 0)
            return index;
        choices = *bar == '|' ? bar + 1 : NULL;
    }
    return -1;
}

/* Parses a whole number with an optional sign and suffix k, m or g; false for anything else. */
static bool parse_integer(const char *begin, const char *end, int64_t *out)
{
    bool negative = begin < end && *begin == '-';
    uint64_t magnitude;

    if (sg_text_number(begin + negative, end, true, &magnitude) != end || magnitude > INT64_MAX)
        return false;
    *out = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

bool sg_parameter_parse(const struct sg_parameter *parameter, const char *begin, const char *end,
                        int64_t *value)
{
    int index = choice_index(parameter->choices, begin, end);
    int64_t number;

    if (index >= 0) {
        *value = parameter->kind == SG_PARAMETER_CHOICE ? index : parameter->low - 1 - index;
        return true;
    }
    if (parameter->kind != SG_PARAMETER_INTEGER || !parse_integer(begin, end, &number) ||
        number < parameter->low || number > parameter->high)
        return false;
    *value = number;
    return true;
}

const char *const sg_operation_names[SG_OPERATION_COUNT] = {
    [SG_OPERATION_BARRIER] = "barrier",
    [SG_OPERATION_REDUCE] = "reduce",
    [SG_OPERATION_ALLREDUCE] = "allreduce",
    [SG_OPERATION_BCAST] = "bcast",
};

const char *const sg_operation_regions[SG_OPERATION_COUNT] = {
    [SG_OPERATION_BARRIER] = "MPI_Barrier",
    [SG_OPERATION_REDUCE] = "MPI_Reduce",
    [SG_OPERATION_ALLREDUCE] = "MPI_Allreduce",
    [SG_OPERATION_BCAST] = "MPI_Bcast",
};

const char *const sg_operation_nonblocking_names[SG_OPERATION_COUNT] = {
    [SG_OPERATION_BARRIER] = "ibarrier",
    [SG_OPERATION_REDUCE] = "ireduce",
    [SG_OPERATION_ALLREDUCE] = "iallreduce",
    [SG_OPERATION_BCAST] = "ibcast",
};

const char *const sg_operation_nonblocking_regions[SG_OPERATION_COUNT] = {
    [SG_OPERATION_BARRIER] = "MPI_Ibarrier",
    [SG_OPERATION_REDUCE] = "MPI_Ireduce",
    [SG_OPERATION_ALLREDUCE] = "MPI_Iallreduce",
    [SG_OPERATION_BCAST] = "MPI_Ibcast",
};
