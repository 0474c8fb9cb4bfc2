#include "trace/export/pack.h"

#include <stdlib.h>
#include <string.h>

/* Every table's items take at least so many bytes, so that a damaged count cannot ask for much. */
#define ITEM_BYTES_MIN 4

static bool make_room(struct sg_pack *pack, size_t size_bytes)
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

/* The next size_bytes, unaligned; NULL: there are not so many. */
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
    } else if (make_room(pack, size_bytes)) {
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
