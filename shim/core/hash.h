/* Hashes: FNV-1a for bytes, a 64-bit finalizer (MurmurHash3's) for table slots, and a fast hash
 * for words. FNV-1a is stable across runs and machines: call-site ids are made of it. Pure
 * functions. */
#ifndef SG_CORE_HASH_H
#define SG_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

static inline uint64_t sg_hash_word(uint64_t hash, uint64_t word)
{
    hash ^= word * UINT64_C(0x9e3779b185ebca87);
    hash = (hash << 27 | hash >> 37) * UINT64_C(0xc2b2ae3d27d4eb4f);
    return hash + UINT64_C(0x165667b19e3779f9);
}

/* Hashes size_bytes, a multiple of 8, in four streams; detects a message that has arrived only in
 * part. Not stable across versions. */
static inline uint64_t sg_hash_words(const void *data, size_t size_bytes)
{
    uint64_t streams[4] = {size_bytes, ~(uint64_t)size_bytes, UINT64_C(0x60ea27eeadc0b5d6),
                           UINT64_C(0x61c8864e7a143579)};
    const unsigned char *at = data;
    uint64_t words[4], hash = 0;

    for (; size_bytes >= sizeof words; size_bytes -= sizeof words, at += sizeof words) {
        memcpy(words, at, sizeof words);
        for (int i = 0; i < 4; i++)
            streams[i] = sg_hash_word(streams[i], words[i]);
    }
    for (; size_bytes > 0; size_bytes -= 8, at += 8) {
        memcpy(words, at, 8);
        streams[0] = sg_hash_word(streams[0], words[0]);
    }
    for (int i = 0; i < 4; i++)
        hash = sg_hash_word(hash, streams[i]);
    return sg_hash_mix(hash);
}

/* Folds a 64-bit hash into 32 bits; every input bit contributes. */
static inline uint32_t sg_hash_fold(uint64_t hash)
{
    hash = sg_hash_mix(hash);
    return (uint32_t)(hash ^ (hash >> 32));
}

#endif
