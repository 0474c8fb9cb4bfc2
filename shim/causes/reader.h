/* A thread's sources of figures, and readings of all of them.
 *
 * A source that is missing or stops responding is left out: a reading's mask has a bit for each
 * figure that it has. Each thread opens its own sources; a reading takes no lock and no memory. Not
 * from a signal handler. errno is changed.
 */
#ifndef SG_CAUSES_READER_H
#define SG_CAUSES_READER_H

#include "causes/kernel_figures.h"
#include "trace/figure.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- readings, and the interval between two of them; pure but for sg_reading_plain ---- */

/* Figures count from arbitrary origins: only differences between two readings have a meaning. */
struct sg_reading {
    uint64_t time_ns; /* core/tick.h's */
    uint64_t figures[SG_FIGURE_COUNT];
    uint32_t mask;
    uint16_t processor; /* UINT16_MAX: not known */
};

/* Reads, without a reader, the calling thread's figures that need none: its clock, scheduler and
 * usage. The time is core/clock.h's. For all processes that load the library: a few us. */
void sg_reading_plain(struct sg_reading *out);
/* Adds to begin what the call between two intervals used, from end of the one to begin of the
 * next. */
void sg_reading_call(const struct sg_reading *end, struct sg_reading *begin);
/* Computes the interval between two readings, without figures that decreased. Figures of the call
 * before it are copied. */
void sg_reading_between(const struct sg_reading *begin, const struct sg_reading *end,
                        struct sg_reading *out);

#define SG_COUNTERS 3

/* Paths and events of the sources. */
struct sg_reader_places {
    const char *processes;                  /* proc(5) */
    const char *systems;                    /* sysfs(5) */
    const struct sg_counter_event *counted; /* SG_COUNTERS of them; NULL: the processor's */
    bool no_events;                         /* the kernel's events are not opened: ECANCELED */
};

struct sg_reader {
    uint32_t mask; /* figures available */
    int errors[SG_SOURCE_COUNT];
    struct sg_kernel_file scheduler, quota;
    const struct sg_counter_event *counted; /* SG_COUNTERS */
    struct sg_counter counters[SG_COUNTERS];
    struct sg_switches switches;
    struct sg_threads threads;
    uint64_t watched_switches; /* of the thread: paid for, or before its events were open */
    /* Figures that change only with a context switch, as of kept_switches switches. */
    uint64_t kept_switches, kept[SG_FIGURE_COUNT];
    uint32_t kept_mask;
};

void sg_reader_open(struct sg_reader *reader, const struct sg_reader_places *places);
void sg_reader_close(struct sg_reader *reader);
/* Read at the begin or end of an interval. Time and processor time are read closest to the
 * interval. */
void sg_reader_begin(struct sg_reader *reader, struct sg_reading *out);
void sg_reader_end(struct sg_reader *reader, struct sg_reading *out);
/* Opens or closes the kernel's events: switches, migrations and the processor's counters. They make
 * each context switch of the thread cost more. They are open after sg_reader_open; an interval
 * begins and ends with the same ones open. Returns an upper bound of the extra cost in ns of the
 * switches meanwhile, without those that sg_reader_watched has returned. */
uint64_t sg_reader_watch(struct sg_reader *reader, bool on);
/* Returns the same for the switches up to a reading, since the events were opened or the last
 * call. */
uint64_t sg_reader_watched(struct sg_reader *reader, const struct sg_reading *reading);
/* Measures one reading of each source: the least of a few. 0: the source is missing. */
void sg_reader_measure(struct sg_reader *reader, uint64_t costs_ns[SG_SOURCE_COUNT]);

#endif
