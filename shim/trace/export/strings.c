#include "trace/export/strings.h"

#include "core/hash.h"
#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the character at text, 0 when it is none of UTF-8, or an ASCII control character. */
static size_t character_bytes(const char *text)
{
    size_t bytes = sg_text_character(text, strnlen(text, 4));

    return bytes == 1 && sg_text_is_control(text, 1) ? 0 : bytes;
}

void sg_text_clean(char *text)
{
    while (*text != '\0') {
        size_t bytes = character_bytes(text);

        if (bytes == 0)
            *text = '?';
        text += bytes > 0 ? bytes : 1;
    }
}

static uint32_t first_slot(const struct sg_strings *strings, const char *text)
{
    return (uint32_t)sg_hash_mix(sg_hash_bytes(SG_HASH_START, text, strlen(text))) &
           (strings->slot_count - 1);
}

/* The slot that holds the text's number, or the free one where it belongs. */
static uint32_t *find_slot(const struct sg_strings *strings, const char *text)
{
    uint32_t slot = first_slot(strings, text);

    while (strings->slots[slot] != 0 && strcmp(strings->texts[strings->slots[slot] - 1], text) != 0)
        slot = (slot + 1) & (strings->slot_count - 1);
    return &strings->slots[slot];
}

/* Doubles both tables while the hash table is half full. */
static bool make_room(struct sg_strings *strings)
{
    uint32_t capacity = strings->capacity > 0 ? 2 * strings->capacity : 64;
    uint32_t *slots;
    char **texts;

    if (strings->count < strings->capacity)
        return true;
    texts = realloc(strings->texts, capacity * sizeof *texts);
    if (texts == NULL)
        return false;
    strings->texts = texts;
    slots = calloc((size_t)2 * capacity, sizeof *slots);
    if (slots == NULL)
        return false;
    free(strings->slots);
    strings->slots = slots;
    strings->slot_count = 2 * capacity;
    strings->capacity = capacity;
    for (uint32_t number = 0; number < strings->count; number++)
        *find_slot(strings, strings->texts[number]) = number + 1;
    return true;
}

uint32_t sg_strings_add(struct sg_strings *strings, const char *text)
{
    uint32_t *slot;
    char *copy;

    if (strings->count == 0 && text[0] != '\0')
        sg_strings_add(strings, "");
    copy = strdup(text);
    if (strings->failed || copy == NULL || !make_room(strings)) {
        strings->failed = true;
        free(copy);
        return 0;
    }
    sg_text_clean(copy);
    slot = find_slot(strings, copy);
    if (*slot == 0) {
        strings->texts[strings->count++] = copy;
        *slot = strings->count;
    } else {
        free(copy);
    }
    return *slot - 1;
}

uint32_t sg_strings_addf(struct sg_strings *strings, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return sg_strings_add(strings, text);
}

void sg_strings_clear(struct sg_strings *strings)
{
    for (uint32_t number = 0; number < strings->count; number++)
        free(strings->texts[number]);
    free(strings->texts);
    free(strings->slots);
    *strings = (struct sg_strings){0};
}
