/* Events that the kernel counts for a thread (perf_event_open(2)), read without a system call where
 * it maps the counter (cap_user_rdpmc), else by read(2).
 *
 * A reading fails while the kernel lets events take turns on the processor's counters: what was
 * counted is then less than what happened.
 */
#ifndef SG_CAUSES_COUNTERS_H
#define SG_CAUSES_COUNTERS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct sg_counter_event {
    uint32_t type; /* PERF_TYPE_... */
    uint64_t config;
    bool in_kernel; /* counts what happens there, too, or is of no use */
};

struct sg_counter {
    int file; /* -1: closed */
    uint64_t id;
    struct perf_event_mmap_page *page; /* NULL: not mapped */
};

/* Whether a file is still the event of that number: the program may have closed it and opened one
 * of its own, of which nobody else must read. */
bool sg_event_is_own(int file, uint64_t id);

/* One event of a thread that has ended, kept open: it counts nothing and costs nothing. With the
 * first event on a machine, and a second after the last one, the kernel makes all processors stop
 * a moment and the caller wait for milliseconds; while one is kept, opening takes microseconds. */
struct sg_event_kept {
    int file; /* -1: none */
    uint64_t id;
};
void sg_event_keep(struct sg_event_kept *out);
void sg_event_let_go(struct sg_event_kept *kept);

/* Of the calling thread, from now on. 0, or errno: *out is then closed. */
int sg_counter_open(const struct sg_counter_event *event, struct sg_counter *out);
bool sg_counter_read(const struct sg_counter *counter, uint64_t *value);
void sg_counter_close(struct sg_counter *counter);

/* What a mapped counter stands at; false: it has to be read. read_pmc: a register of the
 * processor. is_whole: nothing took turns with it. */
bool sg_counter_of_page(const volatile struct perf_event_mmap_page *page,
                        uint64_t (*read_pmc)(uint32_t index), uint64_t *value, bool *is_whole);

#endif
