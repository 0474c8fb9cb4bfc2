/* Tables of definitions on their way between ranks: a growing buffer to write and a bounded
 * cursor to read. Host byte order; the ranks of a run share it. A failure sticks, so that callers
 * check once at the end.
 */
#ifndef SG_TRACE_BYTES_H
#define SG_TRACE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct sg_bytes {
    unsigned char *data; /* malloc'ed */
    size_t size_bytes, capacity_bytes;
    bool failed; /* out of memory */
};

static inline void sg_bytes_put(struct sg_bytes *bytes, const void *data, size_t size_bytes)
{
    if (size_bytes == 0 || bytes->failed)
        return;
    if (size_bytes > bytes->capacity_bytes - bytes->size_bytes) {
        size_t larger = 2 * bytes->capacity_bytes + size_bytes + 256;
        unsigned char *moved = realloc(bytes->data, larger);

        if (moved == NULL) {
            bytes->failed = true;
            return;
        }
        bytes->data = moved;
        bytes->capacity_bytes = larger;
    }
    memcpy(bytes->data + bytes->size_bytes, data, size_bytes);
    bytes->size_bytes += size_bytes;
}

static inline void sg_bytes_put_u32(struct sg_bytes *bytes, uint32_t value)
{
    sg_bytes_put(bytes, &value, sizeof value);
}

static inline void sg_bytes_put_u64(struct sg_bytes *bytes, uint64_t value)
{
    sg_bytes_put(bytes, &value, sizeof value);
}

/* With its NUL; NULL is written as "". */
static inline void sg_bytes_put_text(struct sg_bytes *bytes, const char *text)
{
    uint32_t size_bytes = text != NULL ? (uint32_t)strlen(text) + 1 : 1;

    sg_bytes_put_u32(bytes, size_bytes);
    sg_bytes_put(bytes, text != NULL ? text : "", size_bytes);
}

struct sg_cursor {
    const unsigned char *at, *end;
    bool failed; /* the bytes were too few, or not a text */
};

static inline struct sg_cursor sg_cursor_start(const void *data, size_t size_bytes)
{
    return (struct sg_cursor){.at = data, .end = (const unsigned char *)data + size_bytes};
}

/* The next size_bytes, unaligned; NULL when there are not so many. */
static inline const void *sg_cursor_take(struct sg_cursor *cursor, size_t size_bytes)
{
    const unsigned char *at = cursor->at;

    if (cursor->failed || size_bytes > (size_t)(cursor->end - at)) {
        cursor->failed = true;
        return NULL;
    }
    cursor->at += size_bytes;
    return at;
}

static inline uint32_t sg_cursor_u32(struct sg_cursor *cursor)
{
    const void *at = sg_cursor_take(cursor, sizeof(uint32_t));
    uint32_t value = 0;

    if (at != NULL)
        memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t sg_cursor_u64(struct sg_cursor *cursor)
{
    const void *at = sg_cursor_take(cursor, sizeof(uint64_t));
    uint64_t value = 0;

    if (at != NULL)
        memcpy(&value, at, sizeof value);
    return value;
}

/* Lives as long as the bytes read; "" on failure. */
static inline const char *sg_cursor_text(struct sg_cursor *cursor)
{
    uint32_t size_bytes = sg_cursor_u32(cursor);
    const char *text = sg_cursor_take(cursor, size_bytes);

    if (text == NULL || size_bytes == 0 || text[size_bytes - 1] != '\0') {
        cursor->failed = true;
        return "";
    }
    return text;
}

/* A count of things of at least item_bytes each, so that a table of them can be allocated. */
static inline uint32_t sg_cursor_count(struct sg_cursor *cursor, size_t item_bytes)
{
    uint32_t count = sg_cursor_u32(cursor);

    if (cursor->failed || count > (size_t)(cursor->end - cursor->at) / item_bytes) {
        cursor->failed = true;
        return 0;
    }
    return count;
}

#endif
