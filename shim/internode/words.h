/* Words that the first rank to reach a thing writes for the other ranks of its machine.
 *
 * Things that all ranks reach in the same order are numbered from 0. Thing n has a word in the
 * segment, at n modulo the number of words. It contains n + 1, the rank that came first, and what
 * that rank brought, which the others read. A word is written again only when all ranks have read
 * it.
 *
 *   choices      calls whose operation has rules by call site, including those that go to MPICH
 *   openings     quarters of the choices' words (agree.c)
 *   signatures   instances (consistency.h)
 */
#ifndef SG_INTERNODE_WORDS_H
#define SG_INTERNODE_WORDS_H

#include "internode/communicator.h"

#define SG_INTERNODE_FIELD_BITS 16
#define SG_INTERNODE_FIELD_MASK 0xffffu

struct sg_internode_found {
    uint32_t brought;
    int rank;
};

static inline uint64_t sg_internode_word_of(uint64_t number, int rank, uint32_t brings)
{
    return ((uint64_t)(uint32_t)(number + 1) << SG_INTERNODE_FIELD_BITS | (uint64_t)rank)
               << SG_INTERNODE_FIELD_BITS |
           brings;
}

static inline struct sg_internode_found sg_internode_found_in(uint64_t word)
{
    return (struct sg_internode_found){
        (uint32_t)(word & SG_INTERNODE_FIELD_MASK),
        (int)(word >> SG_INTERNODE_FIELD_BITS & SG_INTERNODE_FIELD_MASK)};
}

/* Whether some rank has reached the thing. */
static inline bool sg_internode_is_taken(const _Atomic uint64_t *word, uint64_t number)
{
    /* Acquire: what its writer says of its call was written before. */
    uint64_t seen = atomic_load_explicit(word, memory_order_acquire);

    return seen >> 2 * SG_INTERNODE_FIELD_BITS == (uint32_t)(number + 1);
}

/* All have read what the word held before. */
static inline struct sg_internode_found sg_internode_meet(const struct sg_internode *internode,
                                                          _Atomic uint64_t *word, uint64_t number,
                                                          uint32_t brings)
{
    uint64_t wanted = sg_internode_word_of(number, internode->rank, brings);
    /* Acquire, here and below: as above. */
    uint64_t seen = atomic_load_explicit(word, memory_order_acquire);

    /* A rank that is faster brings the same number: nobody gets a whole ring ahead of another. */
    if (seen >> 2 * SG_INTERNODE_FIELD_BITS != wanted >> 2 * SG_INTERNODE_FIELD_BITS &&
        atomic_compare_exchange_strong_explicit(word, &seen, wanted, memory_order_acq_rel,
                                                memory_order_acquire))
        seen = wanted;
    return sg_internode_found_in(seen);
}

/* read_at: the member of struct sg_rank_state that counts what its rank has read. all_read: a count
 * that all ranks are known to have reached. */
static inline bool sg_internode_is_read_by_all(const struct sg_internode *internode, size_t read_at,
                                               uint64_t *all_read, uint64_t count)
{
    uint64_t least = UINT64_MAX;

    if (*all_read >= count)
        return true;
    for (int rank = 0; rank < internode->ranks; rank++) {
        const char *info;
        const _Atomic uint64_t *read;
        uint64_t now;

        if (!sg_internode_is_here(internode, rank))
            continue;
        info = (const char *)sg_internode_rank_state(internode, rank);
        read = (const void *)(info + read_at);
        /* Acquire: its reading is over. */
        now = atomic_load_explicit(read, memory_order_acquire);
        least = now < least ? now : least;
    }
    *all_read = least;
    return least >= count;
}

#endif
