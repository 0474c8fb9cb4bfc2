/* Figures of a thread from the kernel: event counters, files, context switches, and the processor
 * time of the process's other threads.
 *
 * Events (perf_event_open(2)) are read without a system call if the kernel maps the counter
 * (cap_user_rdpmc), else by read(2). A reading fails while the kernel multiplexes events on the
 * processor's counters: the count is then too low. A descriptor that the program may have closed
 * and reused is checked before each use.
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
    bool in_kernel; /* must count in the kernel, too, to be useful */
};

struct sg_counter {
    int file; /* -1: closed */
    uint64_t id;
    struct perf_event_mmap_page *page; /* NULL: not mapped */
};

/* True if the file is still the event with that id. The program may have closed it and opened an
 * event of its own, which the library must not read. */
bool sg_event_is_own(int file, uint64_t id);

/* One event of a thread that has ended, kept open at no cost. With the first event on a machine,
 * and a second after the last one, the kernel stops all processors for a moment and the caller
 * waits for milliseconds; while one event stays open, opening takes microseconds. */
struct sg_event_kept {
    int file; /* -1: none */
    uint64_t id;
};

void sg_event_keep(struct sg_event_kept *out);
void sg_event_let_go(struct sg_event_kept *kept);
/* Opens an event of the calling thread, counting from now on. Returns 0, or errno: *out is then
 * closed. */
int sg_counter_open(const struct sg_counter_event *event, struct sg_counter *out);
bool sg_counter_read(const struct sg_counter *counter, uint64_t *value);
void sg_counter_close(struct sg_counter *counter);
/* Reads a mapped counter; false: use read(2). read_pmc: reads a register of the processor.
 * *is_whole: the event was not multiplexed. */
bool sg_counter_of_page(const volatile struct perf_event_mmap_page *page,
                        uint64_t (*read_pmc)(uint32_t index), uint64_t *value, bool *is_whole);

/* ---- kernel files that are read repeatedly ----
 *
 * A few files of a process stay open, which makes reading cheap; others are opened for each
 * reading. The program may close an open one unknowingly and get its number for a file of its own,
 * which the library must not read or close: the file is then opened for each reading.
 */

#define SG_KERNEL_FILE_BYTES 512 /* read at most */

struct sg_kernel_file {
    char *path; /* malloc'ed; NULL: closed */
    int file;   /* -1: opened for each reading */
    dev_t device;
    ino_t inode;
};

/* Returns 0, or errno: *file is then closed. */
int sg_kernel_file_open(struct sg_kernel_file *file, const char *directory, const char *name);
void sg_kernel_file_close(struct sg_kernel_file *file);
/* Reads all of it as a string; false: it cannot be read. */
bool sg_kernel_file_read(struct sg_kernel_file *file, char text[SG_KERNEL_FILE_BYTES]);

/* ---- the last context switch of a thread ----
 *
 * Reports since when the thread has its processor, how long it had none before, and whether it was
 * runnable meanwhile. The kernel records switches in a ring (perf_event_open(2),
 * PERF_RECORD_SWITCH), which is read without a system call. The same event counts the thread's
 * migrations if the kernel permits.
 *
 * While the event is open, each switch of the thread takes the kernel up to SG_SWITCH_COST_NS
 * longer. One thread's, except sg_switches_of_page; not from a signal handler.
 */

/* Measured on a virtual machine with Linux 6.18, where a switch takes 2.1 us without the event: a
 * bound for hardware. */
#define SG_SWITCH_COST_NS 1900u

struct sg_switches {
    int file; /* -1: closed */
    uint64_t id;
    struct perf_event_mmap_page *page;
    size_t page_bytes, ring_bytes;
    uint64_t since_ns;   /* when it was opened */
    bool has_migrations; /* it counts migrations */
};

/* Times of core/clock.h. */
struct sg_switch {
    uint64_t resumed_ns; /* when the thread got its processor, or the event was opened: the later */
    uint64_t away_ns;    /* how long it had none before; 0: not switched yet */
    bool was_ready;      /* it was runnable all that time */
};

/* Opens the event for the calling thread, from now on. Returns 0, or errno: *out is then closed. */
int sg_switches_open(struct sg_switches *out);
/* False: unreadable at the moment. */
bool sg_switches_read(const struct sg_switches *switches, struct sg_switch *out);
/* Returns migrations since the event was opened; false: they are not counted. */
bool sg_switches_migrations(const struct sg_switches *switches, uint64_t *out);
void sg_switches_close(struct sg_switches *switches);
/* Reads the last switch from a ring that the kernel writes backwards. bytes: the ring's, a power of
 * two. since_ns: when the event was opened. */
bool sg_switches_of_page(const struct perf_event_mmap_page *page, const void *ring, size_t bytes,
                         uint64_t since_ns, struct sg_switch *out);

/* ---- threads that may use a runnable thread's processor ----
 *
 * Measures the processor time of the other threads of the process, as far as it is known. Time that
 * is neither theirs nor a quota's is another process's.
 *
 * A thread bound to one processor shares it with threads of its process bound to the same one only:
 * their time is taken from it. The processors of the other threads are not known. Their time may
 * lack up to a kernel tick for each running thread, so only sums over many intervals have a
 * meaning.
 *
 * One thread's; not from a signal handler. Takes no lock and no memory. errno is changed.
 */

#define SG_THREADS_BOUND 8 /* bound threads that are read one by one */

/* A thread bound to the calling thread's processor. */
struct sg_thread_bound {
    clockid_t clock;
    uint64_t ns; /* its processor time at the last reading */
};

struct sg_threads {
    const char *processes;          /* proc(5) */
    uint64_t time_ns;               /* of the process's other threads, at the last reading */
    uint64_t here_ns, elsewhere_ns; /* since it was opened */
    struct sg_thread_bound bound[SG_THREADS_BOUND];
    int bound_count;
    uint64_t looked_ns; /* when bound threads were last looked up */
    uint64_t pause_ns;  /* until the next look-up */
};

/* processes must outlive it. */
void sg_threads_open(struct sg_threads *threads, const char *processes);
/* Adds processor time since the last reading: to here_ns for threads bound to the calling thread's
 * processor, to elsewhere_ns for all others. Bound threads are looked up after 2 ms, 4, 8 and so
 * on, and finally ten times a second; time of a thread before it was found counts as elsewhere. */
void sg_threads_read(struct sg_threads *threads);

#endif
