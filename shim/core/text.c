#include "core/text.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Bytes of the UTF-8 character at text, or 0 where there is none. Overlong forms and surrogates
 * pass as far as a terminal cares: only the structure is checked. */
static size_t character_bytes(const char *text, size_t length)
{
    unsigned char first = (unsigned char)text[0];
    size_t bytes;

    if (first < 0x80)
        return first >= 0x20 && first != 0x7f ? 1 : 0;
    if (first >= 0xc2 && first < 0xe0)
        bytes = 2;
    else if (first >= 0xe0 && first < 0xf0)
        bytes = 3;
    else if (first >= 0xf0 && first < 0xf5)
        bytes = 4;
    else
        return 0;
    if (bytes > length)
        return 0;
    for (size_t i = 1; i < bytes; i++) {
        if (!is_continuation(text[i]))
            return 0;
    }
    /* U+0080 to U+009F are control characters, which terminals obey. */
    return first == 0xc2 && (unsigned char)text[1] < 0xa0 ? 0 : bytes;
}

const char *sg_text_excerpt(const char *text, size_t length, char *excerpt, size_t size_bytes)
{
    static const char cut[] = "...";
    size_t limit = size_bytes - sizeof cut;
    size_t used = 0;
    size_t at = 0;

    while (at < length) {
        size_t bytes = character_bytes(text + at, length - at);

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

void sg_text_tail(const char *text, char *to, size_t size_bytes)
{
    size_t length = strlen(text);
    size_t cut = length < size_bytes ? 0 : length + 1 - size_bytes;

    memcpy(to, text + cut, length - cut + 1);
}
