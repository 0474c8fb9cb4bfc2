/* Bins of a distribution. Each doubling of the value is divided into equally wide bins; their
 * number is a power of two up to SG_BINS_MOST. Values below that number have a bin each; values of
 * 2^SG_BINS_BITS and more are in the last bin. Pure functions. */
#ifndef SG_CORE_BINS_H
#define SG_CORE_BINS_H

#include <stdbool.h>
#include <stdint.h>

#define SG_BINS_MOST 16u
#define SG_BINS_BITS 48u /* 78 hours in ns, 256 TiB */
#define SG_BINS_COUNT_MOST ((SG_BINS_BITS + 1u) * SG_BINS_MOST)

static inline bool sg_bins_is_valid(uint32_t to_doubling)
{
    return to_doubling > 0 && to_doubling <= SG_BINS_MOST && (to_doubling & (to_doubling - 1)) == 0;
}

static inline uint32_t sg_bins_count(uint32_t to_doubling)
{
    return (SG_BINS_BITS + 1 - (uint32_t)__builtin_ctz(to_doubling)) * to_doubling;
}

static inline uint32_t sg_bins_index(uint32_t to_doubling, uint64_t value)
{
    uint32_t shift;

    if (value < to_doubling)
        return (uint32_t)value;
    if (value >> SG_BINS_BITS != 0)
        value = (UINT64_C(1) << SG_BINS_BITS) - 1;
    shift = 63 - (uint32_t)__builtin_clzll(value) - (uint32_t)__builtin_ctz(to_doubling);
    return shift * to_doubling + (uint32_t)(value >> shift);
}

/* The least value in a bin; for the index after the last bin, 2^SG_BINS_BITS. */
static inline uint64_t sg_bins_least(uint32_t to_doubling, uint32_t index)
{
    uint32_t shift = index / to_doubling - 1;

    if (index < 2 * to_doubling)
        return index;
    return (uint64_t)(index - shift * to_doubling) << shift;
}

#endif
