/* Running statistics of all calls, as entries in the log: one per (site, function, communicator,
 * size class) and thread, and one per (communicator, peer) and thread for messages and for
 * one-sided operations.
 *
 * Each thread has its own tables, so it counts without locks or atomic updates; a new thread reuses
 * the tables of one that has ended. Memory grows with use. Not from a signal handler.
 */
#ifndef SG_PROFILE_ENTRIES_H
#define SG_PROFILE_ENTRIES_H

#include "profile/counted_functions.h"
#include "profile/moved.h"
#include "profile/site.h"
#include "trace/record.h"

#include <stdatomic.h>
#include <stdbool.h>

/* A call that has ended. */
struct sg_profile_sample {
    enum sg_function function;
    uint32_t comm; /* number in the log; 0: none */
    bool failed;
    uint64_t time_ns;
    struct sg_moved moved;
};

/* Completion of an operation that a call had begun. */
struct sg_profile_completion {
    enum sg_function function;
    uint32_t comm;
    uint8_t size_class; /* of the call that began it */
    uint64_t latency_ns;
    uint64_t received_bytes;
    int from;
};

/* Returns the size class of the bytes known when the call returns. */
static inline uint8_t sg_profile_size_class(const struct sg_moved *moved)
{
    return sg_size_class(moved->sent_bytes > moved->received_bytes ? moved->sent_bytes
                                                                   : moved->received_bytes);
}

/* Counts a call of the calling thread, and returns its entry. NULL: without capacity it counts as
 * unmanaged. */
struct sg_record_profile *sg_profile_add(const struct sg_site *site,
                                         const struct sg_profile_sample *sample);
/* Adds the times of calls that the entry counts already: time_ns of each, more_ns of one. */
void sg_profile_add_repeats(struct sg_record_profile *entry, uint64_t calls, uint64_t time_ns,
                            uint64_t more_ns);

void sg_profile_add_completion(const struct sg_site *site,
                               const struct sg_profile_completion *completion);
/* Counts a message to a rank of comm, besides those of calls. */
void sg_profile_add_message(uint32_t comm, const struct sg_moved *moved);

/* ---- entries of the calling thread, once they are found ---- */

/* NULL: no capacity, or no peer. They stay where they are. */
struct sg_record_profile *sg_entry_of(const struct sg_site *site, uint32_t comm,
                                      enum sg_function function, uint8_t size_class);
struct sg_record_peer *sg_peer_of(uint32_t comm, int peer);

/* One thread adds; others read. */
static inline void sg_entry_add(_Atomic uint64_t *counter, uint64_t value)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + value,
                          memory_order_relaxed);
}

static inline void sg_entry_add_square(struct sg_record_profile *entry, double square)
{
    double sum = atomic_load_explicit(&entry->time_square, memory_order_relaxed);

    atomic_store_explicit(&entry->time_square, sum + square, memory_order_relaxed);
}

/* is_first: the counters hold no value yet. */
static inline void sg_entry_add_extremes(_Atomic uint64_t *least, _Atomic uint64_t *most,
                                         uint64_t value, bool is_first)
{
    if (is_first || value < atomic_load_explicit(least, memory_order_relaxed))
        atomic_store_explicit(least, value, memory_order_relaxed);
    if (value > atomic_load_explicit(most, memory_order_relaxed))
        atomic_store_explicit(most, value, memory_order_relaxed);
}

static inline void sg_entry_add_call(struct sg_record_profile *entry, uint64_t time_ns,
                                     uint64_t sent_bytes, uint64_t received_bytes)
{
    sg_entry_add_extremes(&entry->time_min_ns, &entry->time_max_ns, time_ns,
                          atomic_load_explicit(&entry->calls, memory_order_relaxed) == 0);
    sg_entry_add(&entry->calls, 1);
    sg_entry_add(&entry->time_ns, time_ns);
    sg_entry_add_square(entry, (double)time_ns * (double)time_ns);
    if (sent_bytes > 0)
        sg_entry_add(&entry->sent_bytes, sent_bytes);
    if (received_bytes > 0)
        sg_entry_add(&entry->received_bytes, received_bytes);
}

static inline void sg_entry_add_completion(struct sg_record_profile *entry, uint64_t latency_ns,
                                           uint64_t received_bytes)
{
    sg_entry_add_extremes(&entry->latency_min_ns, &entry->latency_max_ns, latency_ns,
                          atomic_load_explicit(&entry->completed, memory_order_relaxed) == 0);
    sg_entry_add(&entry->completed, 1);
    sg_entry_add(&entry->latency_ns, latency_ns);
    sg_entry_add(&entry->received_bytes, received_bytes);
}

/* entry: NULL: nothing is added. */
static inline void sg_peer_add_sent(struct sg_record_peer *entry, uint64_t bytes)
{
    if (entry == NULL)
        return;
    sg_entry_add(&entry->sent_messages, 1);
    sg_entry_add(&entry->sent_bytes, bytes);
}

static inline void sg_peer_add_received(struct sg_record_peer *entry, uint64_t bytes)
{
    if (entry == NULL)
        return;
    sg_entry_add(&entry->received_messages, 1);
    sg_entry_add(&entry->received_bytes, bytes);
}

/* Returns the calling thread's number, which the next thread reuses when it ends; UINT16_MAX: it
 * has none. */
uint16_t sg_profile_thread(void);

/* ---- the calling thread's present call, or its last one (struct sg_record_thread) ---- */

/* NULL before the thread's first call. Without capacity: a record outside the log. initial-exec: as
 * in core/tick.h. */
extern __thread struct sg_record_thread *sg_present __attribute__((tls_model("initial-exec")));

void sg_present_make(void);

/* Begins to change it when a counted call begins: the caller fills the plain fields, and calls
 * entered. Readers are other processes: they see the odd turn before a changed field ... */
static inline struct sg_record_thread *sg_present_enter(void)
{
    uint32_t turn;

    if (__builtin_expect(sg_present == NULL, 0))
        sg_present_make();
    turn = atomic_load_explicit(&sg_present->turn, memory_order_relaxed);
    atomic_store_explicit(&sg_present->turn, turn + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    return sg_present;
}

/* ... and the even one after them. */
static inline void sg_present_entered(struct sg_record_thread *own)
{
    uint32_t turn = atomic_load_explicit(&own->turn, memory_order_relaxed);

    atomic_store_explicit(&own->end_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&own->turn, turn + 1, memory_order_release);
}

/* True if the thread's last call was the same, which is entered again then: a loop of tests counts
 * as one call. */
static inline bool sg_present_repeats(uint32_t site, uint32_t function)
{
    struct sg_record_thread *own = sg_present;

    if (own == NULL || own->site != site || own->function != function)
        return false;
    atomic_store_explicit(&own->end_ns, 0, memory_order_relaxed);
    return true;
}

/* Call when it ends, if the log is still there. */
static inline void sg_present_leave(uint64_t end_ns)
{
    if (sg_present != NULL)
        atomic_store_explicit(&sg_present->end_ns, end_ns, memory_order_release);
}

/* Describes by its log the present call of a rank of MPI_COMM_WORLD on this machine, as
 * "in MPI_Recv from rank 0 at solve solver.c:88, for 31 s". False: it is not known. Makes system
 * calls. */
bool sg_present_of(int world_rank, char *text, size_t text_bytes);

/* Returns memory of the calling thread, valid until its next call; NULL: none. */
void *sg_profile_scratch(size_t bytes);

/* Gives the calling thread the number 0, if no other has it. */
void sg_profile_entries_start(void);
/* Sets seen for functions with a counted call; leaves the others unchanged. */
void sg_profile_entries_seen(bool seen[SG_FUNCTION_COUNT]);
/* Sets all entries to zero; a thread that counts meanwhile may keep a call. */
void sg_profile_entries_reset(void);

#endif
