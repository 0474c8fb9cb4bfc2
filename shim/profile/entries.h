/* Running statistics of all calls: entries in the log, one of a (site, function, communicator, size
 * class) and thread, and one of a (communicator, peer) and thread, for messages and for one-sided
 * operations.
 *
 * Each thread has tables of its own, so that it counts without locks and atomically updates
 * nothing; those of a thread that has ended are the next one's. Memory grows with what is used.
 * Not from a signal handler.
 */
#ifndef SG_PROFILE_ENTRIES_H
#define SG_PROFILE_ENTRIES_H

#include "profile/counted_functions.h"
#include "profile/moved.h"
#include "profile/site.h"

/* A call that has ended. */
struct sg_profile_sample {
    enum sg_function function;
    uint32_t comm; /* number in the log; 0: none */
    bool failed;
    uint64_t time_ns;
    struct sg_moved moved;
};

/* What a call had begun that is complete. */
struct sg_profile_completion {
    enum sg_function function;
    uint32_t comm;
    uint8_t size_class; /* of the call */
    uint64_t latency_ns;
    uint64_t received_bytes;
    int from;
};

/* Of what a call moved, as far as that is known when it returns. */
static inline uint8_t sg_profile_size_class(const struct sg_moved *moved)
{
    return sg_size_class(moved->sent_bytes > moved->received_bytes ? moved->sent_bytes
                                                                   : moved->received_bytes);
}

/* Of the calling thread. What there is no room for is counted as unmanaged. */
void sg_profile_add(const struct sg_site *site, const struct sg_profile_sample *sample);

void sg_profile_add_completion(const struct sg_site *site,
                               const struct sg_profile_completion *completion);
/* A message to or from a rank of a communicator, besides those of calls. */
void sg_profile_add_message(uint32_t comm, const struct sg_moved *moved);

/* The calling thread's number, which the next thread has when it ends; UINT16_MAX: it has none. */
uint16_t sg_profile_thread(void);

/* Memory of the calling thread's, until it asks again; NULL: there is none. */
void *sg_profile_scratch(size_t bytes);

/* The calling thread gets the number 0, if no other has it. */
void sg_profile_entries_start(void);
/* The functions of which a call was counted are set; the others stay as they are. */
void sg_profile_entries_seen(bool seen[SG_FUNCTION_COUNT]);
/* All entries to zero; threads that count meanwhile may keep a call. */
void sg_profile_entries_reset(void);

#endif
