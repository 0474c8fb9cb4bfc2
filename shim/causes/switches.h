/* The last context switch of a thread: since when it has its processor, how long it had none
 * before, and whether it was ready to run meanwhile. The kernel records switches in a ring
 * (perf_event_open(2), PERF_RECORD_SWITCH), which is read without a system call. The same event
 * counts the thread's migrations where the kernel lets it.
 *
 * While it is open, each switch of the thread takes the kernel up to SG_SWITCH_COST_NS longer.
 *
 * A thread's own, but sg_switches_of_page; not from a signal handler.
 */
#ifndef SG_CAUSES_SWITCHES_H
#define SG_CAUSES_SWITCHES_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* On a virtual machine with Linux 6.18, where a switch takes 2.1 us without: a bound of what
 * hardware alone takes. */
#define SG_SWITCH_COST_NS 1900u

struct sg_switches {
    int file; /* -1: closed */
    uint64_t id;
    struct perf_event_mmap_page *page;
    size_t page_bytes, ring_bytes;
    uint64_t since_ns;   /* since when it is open */
    bool has_migrations; /* it counts them */
};

/* Times are core/clock.h's. */
struct sg_switch {
    uint64_t resumed_ns; /* when the thread got its processor, or it was opened: the later */
    uint64_t away_ns;    /* how long it had none before; 0: it was not switched yet */
    bool was_ready;      /* it was ready to run all that time */
};

/* Of the calling thread, from now on. 0, or errno: *out is then closed. */
int sg_switches_open(struct sg_switches *out);
/* False: they cannot be read now. */
bool sg_switches_read(const struct sg_switches *switches, struct sg_switch *out);
/* Since it was opened; false: they are not counted. */
bool sg_switches_migrations(const struct sg_switches *switches, uint64_t *out);
void sg_switches_close(struct sg_switches *switches);

/* The last one in a ring that the kernel writes backwards; bytes: of the ring, a power of two.
 * since_ns: since when it is open. */
bool sg_switches_of_page(const struct perf_event_mmap_page *page, const void *ring, size_t bytes,
                         uint64_t since_ns, struct sg_switch *out);

#endif
