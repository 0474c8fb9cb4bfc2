#include "algos/kernels/element.h"

#include <string.h>

#define SIZE(name, size_bytes, extent_bytes) [SG_ELEMENT_##name] = size_bytes,
static const unsigned char sizes_bytes[] = {SG_ELEMENTS(SIZE)};

#define EXTENT(name, size_bytes, extent_bytes) [SG_ELEMENT_##name] = extent_bytes,
static const unsigned char extents_bytes[] = {SG_ELEMENTS(EXTENT)};

size_t sg_element_size_bytes(enum sg_element element)
{
    return sizes_bytes[element];
}

size_t sg_element_extent_bytes(enum sg_element element)
{
    return extents_bytes[element];
}

#define ELEMENT_TEXT(name, size_bytes, extent_bytes) [SG_ELEMENT_##name] = #name,
const char *const sg_element_names[SG_ELEMENT_COUNT] = {SG_ELEMENTS(ELEMENT_TEXT)};

#define REDUCTION_TEXT(name) [SG_REDUCTION_##name] = #name,
const char *const sg_reduction_names[SG_REDUCTION_COUNT] = {SG_REDUCTIONS(REDUCTION_TEXT)};

/* ---- copying --------------------------------------------------------------------------------- */

#define COPY(name, first_bytes, second_at, second_bytes, extent_bytes)                             \
    static void name(void *to, const void *from, size_t count)                                     \
    {                                                                                              \
        unsigned char *target = to;                                                                \
        const unsigned char *source = from;                                                        \
                                                                                                   \
        for (size_t i = 0; i < count; i++) {                                                       \
            memcpy(target, source, first_bytes);                                                   \
            memcpy(target + (second_at), source + (second_at), second_bytes);                      \
            target += (extent_bytes);                                                              \
            source += (extent_bytes);                                                              \
        }                                                                                          \
    }

COPY(copy_8_4, 8, 8, 4, 16)
COPY(copy_2_4, 2, 4, 4, 8)
COPY(copy_16_4, 16, 16, 4, 32)

static const sg_copy copies[SG_ELEMENT_COUNT] = {
    [SG_ELEMENT_DOUBLE_INT] = copy_8_4,
    [SG_ELEMENT_LONG_INT] = copy_8_4,
    [SG_ELEMENT_SHORT_INT] = copy_2_4,
    [SG_ELEMENT_LONG_DOUBLE_INT] = copy_16_4,
};

sg_copy sg_copy_find(enum sg_element element)
{
    return copies[element];
}
