/* Measures what a thread does between two MPI calls: figures of the interval from leaving one
 * outermost call to entering the next. It reads all intervals, or a sample that is the same on all
 * ranks (docs/decisions/12).
 *
 * A stretch is all intervals between two consecutive collectives of a thread on one communicator.
 * It is sampled as a whole or not at all, by a hash of the communicator and the collective's number
 * on it. Other calls begin a sample of one interval, by a hash of their site and of the number of
 * calls there so far.
 *
 * Each thread writes its own part of the log, without locks: a record of each interval if events
 * are recorded, and sums by site. What is sampled is decided before it begins. Any thread; not from
 * a signal handler. errno is preserved.
 */
#ifndef SG_CAUSES_CAUSES_H
#define SG_CAUSES_CAUSES_H

#include "causes/reader.h"
#include "causes/sampler.h"
#include "trace/log.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Limit of a thread's time that its readings may take, with SG_CAUSES_SAMPLE. */
#define SG_CAUSES_SHARE 0.005

struct sg_causes_options {
    struct sg_log *log;
    enum sg_causes_mode mode;
    bool has_events;   /* each interval gets a record */
    uint64_t begin_ns; /* of the run */
    struct sg_reader_places places;
};

extern atomic_bool sg_causes_is_on;
/* True while the calling thread is in a sampled interval. */
extern __thread bool sg_causes_samples;

/* Call at the begin of MPI_Init: ends the interval since the library was loaded. */
void sg_causes_init(void);
/* Call in MPI_Init, when the log is open, on the thread that called it. */
void sg_causes_start(const struct sg_causes_options *options);
/* The last call before MPI_Finalize. */
struct sg_causes_last {
    uint32_t site;   /* in the log */
    uint64_t end_ns; /* 0: not known */
};

/* Call in MPI_Finalize, on the thread that called it: ends its last interval. */
void sg_causes_stop(const struct sg_causes_last *last);
/* Call in a child of fork. */
void sg_causes_forget(void);
/* Sets all sums to zero. */
void sg_causes_reset(void);

/* The part of a thread's state that each call checks. */
struct sg_causes_choice {
    struct sg_sampler stretches, calls;
    bool is_busy; /* a stretch is open, or the last interval is not settled */
};

/* The calling thread's; NULL: none yet. */
extern __thread struct sg_causes_choice *sg_causes_own;

/* Returns true if nothing has to be done for a call that the thread leaves; it then counts as a
 * candidate that was not sampled. Else the caller calls sg_causes_leave. hash: the call's. */
static inline bool sg_causes_drops(bool is_collective, uint64_t hash, uint64_t now_ns)
{
    struct sg_causes_choice *own = sg_causes_own;

    return __builtin_expect(own != NULL && !own->is_busy, 1) &&
           sg_sampler_drops(is_collective ? &own->stretches : &own->calls, hash, now_ns);
}

/* True if a call that the thread leaves may be part of a sample. */
static inline bool sg_causes_is_busy(void)
{
    return sg_causes_own == NULL || sg_causes_own->is_busy;
}

/* A call that a thread is leaving. */
struct sg_causes_call {
    uint32_t site;   /* in the log; 0: not known, or MPI_Init */
    uint16_t thread; /* in the log */
    uint64_t key;    /* of the communicator, the same on all ranks; 0: no collective */
    uint32_t comm;   /* in the log */
    uint32_t number; /* of the collective on the communicator */
    uint32_t calls;  /* if no collective: calls at the site before this one */
    uint64_t hash;   /* of the call, the same on all ranks */
    uint64_t now_ns; /* core/tick.h's */
};

/* Call the following only while sg_causes_is_on. Enter: an outermost call begins; only if
 * sg_causes_samples. */
void sg_causes_enter(void);
/* An outermost call ends; the caller has nothing more to do for it. */
void sg_causes_leave(const struct sg_causes_call *call);
/* Discards the thread's current interval: recording is switched off. */
void sg_causes_skip(void);

#endif
