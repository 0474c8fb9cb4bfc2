/* What a thread does between two calls of MPI: figures of the interval from leaving one outermost
 * call to entering the next, taken from all of them, or from samples that are the same on all ranks
 * (docs/decisions/0042-causes.md).
 *
 * A collective on a communicator begins a stretch, which ends when the thread comes to the next
 * collective there. All intervals of a stretch are sampled or none, by a hash of the communicator
 * and the collective's number on it. Other calls begin a sample of one interval, by a hash of their
 * site and of the calls there so far.
 *
 * Each thread keeps its own, in the log, without locks: a record of each interval where events are
 * recorded, and sums by sites. What begins is decided before it begins. Any thread; not from a
 * signal handler. errno stays as it was.
 */
#ifndef SG_CAUSES_CAUSES_H
#define SG_CAUSES_CAUSES_H

#include "causes/reader.h"
#include "causes/sampler.h"
#include "trace/log.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The most of a thread's time that its readings take, with SG_CAUSES_SAMPLE. */
#define SG_CAUSES_SHARE 0.005

struct sg_causes_options {
    struct sg_log *log;
    enum sg_causes_mode mode;
    bool has_events;   /* each interval has a record */
    uint64_t begin_ns; /* of the run */
    struct sg_reader_places places;
};

extern atomic_bool sg_causes_is_on;
/* The calling thread is in an interval that is sampled. */
extern __thread bool sg_causes_samples;

/* In MPI_Init, when the log is there, on the thread that called it. */
void sg_causes_start(const struct sg_causes_options *options);
/* In MPI_Finalize, on the thread that called it: its last interval ends. */
void sg_causes_stop(void);
/* In a child of fork. */
void sg_causes_forget(void);
/* All sums to zero. */
void sg_causes_reset(void);

/* What a thread looks at in each call. */
struct sg_causes_choice {
    struct sg_sampler stretches, calls;
    bool is_busy; /* a stretch is open, or the last interval is not yet settled */
};

/* The calling thread's; NULL: there is none yet. */
extern __thread struct sg_causes_choice *sg_causes_own;

/* Whether nothing is to be done for a call that the thread leaves, which then counts as a chance
 * that was not taken: else sg_causes_leave. hash: of it. */
static inline bool sg_causes_drops(bool is_collective, uint64_t hash, uint64_t now_ns)
{
    struct sg_causes_choice *own = sg_causes_own;

    return __builtin_expect(own != NULL && !own->is_busy, 1) &&
           sg_sampler_drops(is_collective ? &own->stretches : &own->calls, hash, now_ns);
}

/* A call that a thread leaves. */
struct sg_causes_call {
    uint32_t site;   /* in the log; 0: not known, or MPI_Init */
    uint16_t thread; /* in the log */
    uint64_t key;    /* of the communicator, the same on all ranks; 0: it was no collective */
    uint32_t comm;   /* in the log */
    uint32_t number; /* of the collective */
    uint32_t calls;  /* of one that is no collective: at the site, before this one */
    uint64_t hash;   /* of it, the same on all ranks */
    uint64_t now_ns; /* core/tick.h's */
};

/* The following only while it is on. An outermost call begins: only where sg_causes_samples. */
void sg_causes_enter(void);
/* It ends; there is nothing more to be done for it. */
void sg_causes_leave(const struct sg_causes_call *call);
/* The thread's interval is not to be known: recording is switched off. */
void sg_causes_skip(void);

#endif
