/* A thread's sources of figures, and readings of all of them.
 *
 * A source that is not there, or stops to answer, is left out: the mask of a reading has a bit for
 * each figure that it has. Each thread opens its own; a reading is one thread's, takes no lock and
 * no memory. Not from a signal handler. errno is changed.
 */
#ifndef SG_CAUSES_READER_H
#define SG_CAUSES_READER_H

#include "causes/kernel_figures.h"
#include "trace/figure.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What a reader has read (reader.h), and what is between two of them. Pure. */

/* Figures since some time of their own: only what is between two readings means anything. */
struct sg_reading {
    uint64_t time_ns; /* core/tick.h's */
    uint64_t figures[SG_FIGURE_COUNT];
    uint32_t mask;
    uint16_t processor; /* UINT16_MAX: not known */
};

/* What the call between two intervals spent, from the end of the one to the begin of the next,
 * which then tells of it. */
void sg_reading_call(const struct sg_reading *end, struct sg_reading *begin);
/* What is between the two; what has gone backwards is left out. Of the call before, as it is. */
void sg_reading_between(const struct sg_reading *begin, const struct sg_reading *end,
                        struct sg_reading *out);

#define SG_COUNTERS 3

/* Where the sources are. */
struct sg_reader_places {
    const char *processes;                  /* proc(5) */
    const char *systems;                    /* sysfs(5) */
    const struct sg_counter_event *counted; /* SG_COUNTERS of them; NULL: of the processor */
};

struct sg_reader {
    uint32_t mask; /* figures that there are */
    int errors[SG_SOURCE_COUNT];
    struct sg_kernel_file scheduler, quota;
    const struct sg_counter_event *counted; /* SG_COUNTERS */
    struct sg_counter counters[SG_COUNTERS];
    struct sg_switches switches;
    struct sg_threads threads;
    uint64_t watched_switches; /* of the thread, which are paid for or were before its events */
    /* What changes with a context switch alone, as it was after so many of them. */
    uint64_t kept_switches, kept[SG_FIGURE_COUNT];
    uint32_t kept_mask;
};

void sg_reader_open(struct sg_reader *reader, const struct sg_reader_places *places);
void sg_reader_close(struct sg_reader *reader);
/* An interval begins, or ends: time and processor time are read next to the interval. */
void sg_reader_begin(struct sg_reader *reader, struct sg_reading *out);
void sg_reader_end(struct sg_reader *reader, struct sg_reading *out);
/* Opens or closes the kernel's events, which make each switch of the thread dearer: switches,
 * migrations and the processor's counters. They are open when the reader is; an interval begins and
 * ends with the same ones open. Returns the ns that the switches meanwhile cost more, at most, but
 * for those that sg_reader_watched has told. */
uint64_t sg_reader_watch(struct sg_reader *reader, bool on);
/* The same of the switches until a reading, since the events are open or since the last call. */
uint64_t sg_reader_watched(struct sg_reader *reader, const struct sg_reading *reading);
/* What one reading of each source costs, measured: the least of a few. 0: it is not there. */
void sg_reader_measure(struct sg_reader *reader, uint64_t costs_ns[SG_SOURCE_COUNT]);

#endif
