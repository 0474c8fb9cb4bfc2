/* Strings and bytes of the export.
 *
 * The string table holds each text of the archive once, numbered in order of first use. Texts
 * are UTF-8, as readers of an archive require.
 *
 * A pack carries tables of definitions between ranks as bytes, in host byte order, which the
 * ranks of a run share. One function visits the fields of a structure, and either writes or
 * reads them. The first failure persists, so callers check the status once, at the end. */
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
    uint32_t slot_count; /* power of two */
    bool failed;         /* out of memory: later numbers are 0 */
};

/* Replaces each byte that is not UTF-8, or is a control character, with '?': names and paths may
 * be in any encoding, and a damaged log may hold anything. */
void sg_text_clean(char *text);
uint32_t sg_strings_add(struct sg_strings *strings, const char *text);
uint32_t sg_strings_addf(struct sg_strings *strings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sg_strings_clear(struct sg_strings *strings);

/* ---- packing --------------------------------------------------------------------------------- */

struct sg_pack {
    bool reading;
    enum sg_status status; /* SG_ERR_FORMAT: too few bytes, or not a text; or SG_ERR_MEMORY */
    /* writing */
    unsigned char *data; /* malloc'ed; the caller frees it */
    size_t size_bytes, capacity_bytes;
    /* reading */
    const unsigned char *at, *end;
};

/* A zeroed structure is a pack for writing. */
static inline struct sg_pack sg_pack_reader(const void *data, size_t size_bytes)
{
    return (struct sg_pack){
        .reading = true, .at = data, .end = (const unsigned char *)data + size_bytes};
}

/* When reading fails, the field is unchanged. */
void sg_pack_bytes(struct sg_pack *pack, void *field, size_t size_bytes);

#define SG_PACK(pack, field) sg_pack_bytes((pack), &(field), sizeof(field))

/* Writes NULL as "". A text that is read points into the bytes; NULL on failure. */
void sg_pack_text(struct sg_pack *pack, const char **text);
/* Packs the count of a table; the caller then visits the items. When reading, allocates the
 * table, zeroed; NULL only on failure, and the count is then 0. Such a table must not grow. */
void sg_pack_table(struct sg_pack *pack, void *table, uint32_t *count, size_t item_bytes);
/* Packs a table with the items as they are in memory. */
void sg_pack_plain_table(struct sg_pack *pack, void *table, uint32_t *count, size_t item_bytes);

#endif
