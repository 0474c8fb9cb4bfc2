/* Messages that are not in the log, while others of the same communicator, ranks and tag are: the
 * next one that is tells how many came before it, so that both ends count alike.
 *
 * Messages match in the order in which sends begin and receives are posted. What was left out
 * unawares when a receive was posted, because it asked for any rank or any tag, or because its post
 * is in the log and its completion is not, is told by the next completion.
 *
 * Nothing is counted where there are no events. Any thread; takes a lock only where something has
 * been left out. Not from a signal handler. Memory grows with the ranks and tags of what is left
 * out; beyond SG_GAPS_LIMIT of them at a time the rank says once that no more are followed.
 */
#ifndef SG_PROFILE_GAPS_H
#define SG_PROFILE_GAPS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SG_GAPS_LIMIT 65536u

struct sg_gap_channel {
    uint32_t comm; /* number in the log */
    bool is_send;
    int peer, tag;
};

/* What tells of a gap, and takes it; bits. */
enum sg_gap_told { SG_GAP_BY_BEGIN = 1, SG_GAP_BY_COMPLETION = 2 };

/* Messages have been left out: -1 takes one back. told: one of its bits. */
void sg_gaps_add(const struct sg_gap_channel *channel, enum sg_gap_told told, int count);

extern _Atomic uint32_t sg_gaps_open; /* channels that something is left out of */
void sg_gaps_take(const struct sg_gap_channel *channel, unsigned told, uint64_t slot);

/* The record in slot is of the channel's next message. told: bits. */
static inline void sg_gaps_tell(const struct sg_gap_channel *channel, unsigned told, uint64_t slot)
{
    if (__builtin_expect(atomic_load_explicit(&sg_gaps_open, memory_order_relaxed) != 0, 0))
        sg_gaps_take(channel, told, slot);
}

#endif
