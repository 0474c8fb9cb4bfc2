/* Who has a thread's processor while it is ready to run: the other threads of its process, as far
 * as that can be told. What is neither theirs nor a quota's is another process's.
 *
 * A thread that is bound to one processor shares it with those of its process that are bound to the
 * same one, and to no other: their time is taken from it. Of the others' time nobody knows where
 * they were, and it may lack up to a tick of the kernel for each that runs: only sums over many
 * intervals mean something.
 *
 * A thread's own; not from a signal handler. Takes no lock and no memory. errno is changed.
 */
#ifndef SG_CAUSES_THREADS_H
#define SG_CAUSES_THREADS_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define SG_THREADS_BOUND 8 /* the most that are read one by one */

/* A thread that is bound to the calling one's processor. */
struct sg_thread_bound {
    clockid_t clock;
    uint64_t ns; /* of its processor time, as it was last */
};

struct sg_threads {
    const char *processes;          /* proc(5) */
    uint64_t time_ns;               /* of the process's other threads, as it was last */
    uint64_t here_ns, elsewhere_ns; /* since it was opened */
    struct sg_thread_bound bound[SG_THREADS_BOUND];
    int bound_count;
    uint64_t looked_ns; /* when it was last looked for them */
    uint64_t pause_ns;  /* until it is looked again */
};

/* processes outlives it. */
void sg_threads_open(struct sg_threads *threads, const char *processes);

/* Adds what they took since the last time: here of those that are bound to the calling thread's
 * processor, elsewhere of all others. Who is bound is looked up after 2 ms, 4, 8 and so on, and ten
 * times a second in the end; what one took before it was found is elsewhere. */
void sg_threads_read(struct sg_threads *threads);

#endif
