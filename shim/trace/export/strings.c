#include "trace/export/strings.h"

#include "core/hash.h"
#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the bytes of the UTF-8 character at text; 0: invalid, or an ASCII control character. */
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

/* Returns the slot with the text's number, or the free slot where it belongs. */
static uint32_t *find_slot(const struct sg_strings *strings, const char *text)
{
    uint32_t slot = first_slot(strings, text);

    while (strings->slots[slot] != 0 && strcmp(strings->texts[strings->slots[slot] - 1], text) != 0)
        slot = (slot + 1) & (strings->slot_count - 1);
    return &strings->slots[slot];
}

/* Doubles both tables when the hash table is half full. */
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
    char *text;
    va_list arguments;
    uint32_t number = 0;
    int length;

    va_start(arguments, format);
    length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        strings->failed = true;
        return 0;
    }
    number = sg_strings_add(strings, text);
    free(text);
    return number;
}

void sg_strings_clear(struct sg_strings *strings)
{
    for (uint32_t number = 0; number < strings->count; number++)
        free(strings->texts[number]);
    free(strings->texts);
    free(strings->slots);
    *strings = (struct sg_strings){0};
}

/* ---- packing -------------------------------------------------------------------------------- */

/* Each item of a table takes at least this many bytes. It limits the memory that a damaged count
 * can request. */
#define ITEM_BYTES_MIN 4

static bool pack_make_room(struct sg_pack *pack, size_t size_bytes)
{
    size_t larger = 2 * pack->capacity_bytes + size_bytes + 256;
    unsigned char *moved;

    if (size_bytes <= pack->capacity_bytes - pack->size_bytes)
        return true;
    moved = realloc(pack->data, larger);
    if (moved == NULL) {
        pack->status = SG_ERR_MEMORY;
        return false;
    }
    pack->data = moved;
    pack->capacity_bytes = larger;
    return true;
}

/* Returns the next size_bytes, unaligned; NULL: fewer are left, or an earlier step failed. */
static const void *take(struct sg_pack *pack, size_t size_bytes)
{
    const unsigned char *at = pack->at;

    if (pack->status == SG_OK && size_bytes > (size_t)(pack->end - at))
        pack->status = SG_ERR_FORMAT;
    if (pack->status != SG_OK)
        return NULL;
    pack->at += size_bytes;
    return at;
}

void sg_pack_bytes(struct sg_pack *pack, void *field, size_t size_bytes)
{
    if (pack->status != SG_OK || size_bytes == 0)
        return;
    if (pack->reading) {
        const void *at = take(pack, size_bytes);

        if (at != NULL)
            memcpy(field, at, size_bytes);
    } else if (pack_make_room(pack, size_bytes)) {
        memcpy(pack->data + pack->size_bytes, field, size_bytes);
        pack->size_bytes += size_bytes;
    }
}

void sg_pack_text(struct sg_pack *pack, const char **text)
{
    const char *written = *text != NULL ? *text : "";
    uint32_t size_bytes = pack->reading ? 0 : (uint32_t)strlen(written) + 1;

    SG_PACK(pack, size_bytes);
    if (!pack->reading) {
        sg_pack_bytes(pack, (void *)written, size_bytes);
        return;
    }
    *text = take(pack, size_bytes);
    if (*text != NULL && (size_bytes == 0 || (*text)[size_bytes - 1] != '\0')) {
        pack->status = SG_ERR_FORMAT;
        *text = NULL;
    }
}

void sg_pack_table(struct sg_pack *pack, void *table, uint32_t *count, size_t item_bytes)
{
    void **items = table;

    SG_PACK(pack, *count);
    if (!pack->reading)
        return;
    *items = NULL;
    if (pack->status == SG_OK && *count > (size_t)(pack->end - pack->at) / ITEM_BYTES_MIN)
        pack->status = SG_ERR_FORMAT;
    if (pack->status == SG_OK) {
        *items = calloc((size_t)*count + 1, item_bytes);
        if (*items == NULL)
            pack->status = SG_ERR_MEMORY;
    }
    if (pack->status != SG_OK)
        *count = 0;
}

void sg_pack_plain_table(struct sg_pack *pack, void *table, uint32_t *count, size_t item_bytes)
{
    sg_pack_table(pack, table, count, item_bytes);
    sg_pack_bytes(pack, *(void **)table, *count * item_bytes);
}
