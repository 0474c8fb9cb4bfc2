/* The archive's strings: each text once, numbered in the order of first use, in UTF-8, which
 * readers insist on. */
#ifndef SG_TRACE_EXPORT_STRINGS_H
#define SG_TRACE_EXPORT_STRINGS_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_strings {
    char **texts; /* by number; 0 is "" */
    uint32_t count, capacity;
    uint32_t *slots;     /* hash table of number + 1 */
    uint32_t slot_count; /* a power of two */
    bool failed;         /* out of memory: numbers given out since are 0 */
};

/* Puts '?' for every byte that is not UTF-8 or is a control character: names and paths may be in
 * any encoding, damaged logs hold anything. */
void sg_text_clean(char *text);
uint32_t sg_strings_add(struct sg_strings *strings, const char *text);
uint32_t sg_strings_addf(struct sg_strings *strings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sg_strings_clear(struct sg_strings *strings);

/* Tables of definitions as bytes, for sending between ranks: one function goes through the fields
 * of a structure, and either writes or reads them. Host byte order, which the ranks of a run share.
 * A failure is kept, so that callers check once at the end.
 */

struct sg_pack {
    bool reading;
    enum sg_status status; /* SG_ERR_MEMORY; SG_ERR_FORMAT: too few bytes, or not a text */
    /* writing */
    unsigned char *data; /* malloc'ed, the caller's */
    size_t size_bytes, capacity_bytes;
    /* reading */
    const unsigned char *at, *end;
};

/* To write with, a zeroed structure serves. */
static inline struct sg_pack sg_pack_reader(const void *data, size_t size_bytes)
{
    return (struct sg_pack){
        .reading = true, .at = data, .end = (const unsigned char *)data + size_bytes};
}

/* A field that is read is left as it is on failure. */
void sg_pack_bytes(struct sg_pack *pack, void *field, size_t size_bytes);

#define SG_PACK(pack, field) sg_pack_bytes((pack), &(field), sizeof(field))

/* NULL is written as "". A text that is read lives as long as the bytes; NULL on failure. */
void sg_pack_text(struct sg_pack *pack, const char **text);
/* The count of a table, whose items the caller then goes through. Reading makes the table: zeroed
 * and malloc'ed, never NULL but on failure, when the count is 0. It is not to grow. */
void sg_pack_table(struct sg_pack *pack, void *table, uint32_t *count, size_t item_bytes);
/* A table whose items are written as they are in memory. */
void sg_pack_plain_table(struct sg_pack *pack, void *table, uint32_t *count, size_t item_bytes);

#endif
