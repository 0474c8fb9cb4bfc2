/* Hashes: FNV-1a for bytes (stable across runs and machines: call-site ids are made of it) and
 * a 64-bit finalizer (MurmurHash3's) for table slots. Pure functions.
 */
#ifndef SG_CORE_HASH_H
#define SG_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define SG_HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t sg_hash_bytes(uint64_t hash, const void *data, size_t size_bytes)
{
    const unsigned char *byte = data;

    for (size_t i = 0; i < size_bytes; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static inline uint64_t sg_hash_mix(uint64_t value)
{
    value ^= value >> 33;
    value *= UINT64_C(0xff51afd7ed558ccd);
    value ^= value >> 33;
    value *= UINT64_C(0xc4ceb9fe1a85ec53);
    return value ^ (value >> 33);
}

/* 32 bits of a 64-bit hash, all of them contributing. */
static inline uint32_t sg_hash_fold(uint64_t hash)
{
    hash = sg_hash_mix(hash);
    return (uint32_t)(hash ^ (hash >> 32));
}

#endif
