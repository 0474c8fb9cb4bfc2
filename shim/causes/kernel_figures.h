/* Events that the kernel counts for a thread (perf_event_open(2)), read without a system call where
 * it maps the counter (cap_user_rdpmc), else by read(2).
 *
 * A reading fails while the kernel lets events take turns on the processor's counters: what was
 * counted is then less than what happened.
 */
#ifndef SG_CAUSES_KERNEL_FIGURES_H
#define SG_CAUSES_KERNEL_FIGURES_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

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

/* A file of the kernel's that is read again and again. A few of a process stay open, whose reading
 * is cheap; others are opened each time. The program may close an open one unknowingly, and be
 * given its number for one of its own, which nobody else must read or close: it is then opened each
 * time.
 */

#define SG_KERNEL_FILE_BYTES 512 /* the most that is read of it */

struct sg_kernel_file {
    char *path; /* malloc'ed; NULL: closed */
    int file;   /* -1: it does not stay open */
    dev_t device;
    ino_t inode;
};

/* 0, or errno: *file is then closed. */
int sg_kernel_file_open(struct sg_kernel_file *file, const char *directory, const char *name);
void sg_kernel_file_close(struct sg_kernel_file *file);
/* All of it, as a text; false: it cannot be read. */
bool sg_kernel_file_read(struct sg_kernel_file *file, char text[SG_KERNEL_FILE_BYTES]);

/* The last context switch of a thread: since when it has its processor, how long it had none
 * before, and whether it was ready to run meanwhile. The kernel records switches in a ring
 * (perf_event_open(2), PERF_RECORD_SWITCH), which is read without a system call. The same event
 * counts the thread's migrations where the kernel lets it.
 *
 * While it is open, each switch of the thread takes the kernel up to SG_SWITCH_COST_NS longer.
 *
 * A thread's own, but sg_switches_of_page; not from a signal handler.
 */

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
