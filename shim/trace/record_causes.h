/* The log's records of what a thread did between two calls of MPI. As trace/record.h says, which
 * includes this.
 *
 * An interval is the time from leaving one outermost call to entering the next on the same thread.
 */
#ifndef SG_TRACE_RECORD_CAUSES_H
#define SG_TRACE_RECORD_CAUSES_H

#include "trace/figure.h"

#include <stdatomic.h>
#include <stdint.h>

/* Why an interval was sampled, and where it lies. */
enum sg_interval_flags {
    SG_INTERVAL_STRETCH = 1, /* comm and number are of the collective that began the stretch */
    SG_INTERVAL_FIRST = 2,   /* ... whose call it follows */
    SG_INTERVAL_LAST = 4,    /* it ends where the communicator's next collective begins */
};

/* In continuation slots a word is left free for the slot's kind. */
#define SG_WORDS_A_SLOT 7u
#define SG_FIGURE_SLOTS ((SG_FIGURE_COUNT + SG_WORDS_A_SLOT - 1) / SG_WORDS_A_SLOT)
struct sg_figure_slot {
    uint8_t kind; /* SG_RECORD_CONT */
    uint8_t reserved[7];
    _Atomic uint64_t words[SG_WORDS_A_SLOT];
};

/* One interval that was sampled. There when it ends; entered comes with the end of the call that
 * ends it. */
struct sg_record_interval {
    _Atomic uint8_t kind;
    _Atomic uint8_t flags; /* enum sg_interval_flags */
    uint16_t thread;       /* of this rank: 0 is the thread that called MPI_Init */
    uint32_t left;         /* site of the call before it; 0: not known, or MPI_Init */
    _Atomic uint32_t entered;
    uint32_t comm;   /* as in struct sg_record_event; 0: sampled for itself, by the calls of left */
    uint32_t number; /* of the collective among all on comm; or of left's calls, from 0 */
    uint32_t mask;   /* a bit a figure that is there */
    uint64_t begin_ns;
    uint64_t end_ns;
    uint16_t processor; /* at its end; UINT16_MAX: not known */
    uint8_t reserved[22];
    struct sg_figure_slot figures[SG_FIGURE_SLOTS];
};

/* Sums over the intervals that were sampled from one site to another on one thread, updated in
 * place. A figure that some of them lack is in none of the sums. */
struct sg_record_interval_sum {
    _Atomic uint8_t kind;
    uint8_t reserved;
    uint16_t thread; /* of this rank; one that has ended leaves its number to the next */
    uint32_t left;
    uint32_t entered;
    _Atomic uint32_t mask;
    _Atomic uint64_t intervals;
    _Atomic uint64_t time_ns;
    uint64_t reserved2[4];
    struct sg_figure_slot figures[SG_FIGURE_SLOTS];
};

/* What was sampled in all, and what it cost; one a rank. */
struct sg_record_causes {
    _Atomic uint8_t kind;
    uint8_t mode; /* enum sg_causes_mode */
    uint16_t reserved;
    uint32_t mask;              /* figures that there are on this rank */
    _Atomic uint64_t intervals; /* sampled */
    _Atomic uint64_t left_out;  /* of them: without a record, as there was no room */
    _Atomic uint64_t cost_ns;   /* of taking the readings */
    _Atomic uint64_t time_ns;   /* of the threads that did, together */
    uint64_t reserved2[3];
};

enum sg_causes_mode { SG_CAUSES_OFF = 0, SG_CAUSES_SAMPLE = 1, SG_CAUSES_ALL = 2 };

/* A source of figures on this rank. */
struct sg_record_source {
    _Atomic uint8_t kind;
    uint8_t source; /* enum sg_source */
    uint8_t is_there;
    uint8_t reserved;
    int32_t error;    /* errno, where it is not there; 0: there is nothing to be read */
    uint64_t cost_ns; /* of one reading */
    uint64_t reserved2[6];
};

static inline uint64_t sg_figure_read(const struct sg_figure_slot *slots, unsigned figure)
{
    return atomic_load_explicit(&slots[figure / SG_WORDS_A_SLOT].words[figure % SG_WORDS_A_SLOT],
                                memory_order_relaxed);
}

/* One thread writes; others read. */
static inline void sg_figure_write(struct sg_figure_slot *slots, unsigned figure, uint64_t value)
{
    atomic_store_explicit(&slots[figure / SG_WORDS_A_SLOT].words[figure % SG_WORDS_A_SLOT], value,
                          memory_order_relaxed);
}

#endif
