/* The figures read of a thread between two MPI calls, and the sources that they come from. Logs
 * store them by these numbers, archives by these names.
 */
#ifndef SG_TRACE_FIGURE_H
#define SG_TRACE_FIGURE_H

#include <stdint.h>

enum sg_figure {
    SG_FIGURE_CPU, /* ns on a processor */
    SG_FIGURE_RUNNABLE,
    SG_FIGURE_MINOR_FAULTS,
    SG_FIGURE_MAJOR_FAULTS,
    SG_FIGURE_VOLUNTARY,
    SG_FIGURE_INVOLUNTARY,
    SG_FIGURE_BLOCKS_IN,
    SG_FIGURE_BLOCKS_OUT,
    SG_FIGURE_USER,
    SG_FIGURE_SYSTEM,
    SG_FIGURE_MOVES, /* between processors: 0 or 1, by comparing the two ends */
    SG_FIGURE_MIGRATIONS,
    SG_FIGURE_THROTTLES,
    SG_FIGURE_THROTTLED,
    SG_FIGURE_INSTRUCTIONS,
    SG_FIGURE_CYCLES,
    SG_FIGURE_CACHE_MISSES,
    /* The call before the interval, at its end. */
    SG_FIGURE_RESUMED, /* ns since the thread got its processor back */
    SG_FIGURE_AWAY,    /* ns without one before that; 0: never since the source was opened */
    SG_FIGURE_READY,   /* 1: it was ready to run all that time */
    SG_FIGURE_CALL_CPU,
    SG_FIGURE_CALL_RUNNABLE,
    /* ns on a processor of the process's other threads: */
    SG_FIGURE_THREADS_HERE, /* bound to the single processor of this thread */
    SG_FIGURE_THREADS_ELSEWHERE,
    /* The call before the interval. */
    SG_FIGURE_CALL_THREADS_HERE,
    SG_FIGURE_CALL_THREADS_ELSEWHERE,
    SG_FIGURE_CALL_THROTTLED, /* 0: there is no quota */
    SG_FIGURE_COUNT
};

enum sg_source {
    SG_SOURCE_CLOCK,
    SG_SOURCE_SCHEDULER,
    SG_SOURCE_USAGE,
    SG_SOURCE_PROCESSOR,
    SG_SOURCE_MIGRATIONS,
    SG_SOURCE_QUOTA,
    SG_SOURCE_COUNTERS,
    SG_SOURCE_SWITCHES,
    SG_SOURCE_CALL, /* the call before, from other sources' readings at its ends */
    SG_SOURCE_THREADS,
    SG_SOURCE_CALL_OTHERS, /* as SG_SOURCE_CALL */
    SG_SOURCE_COUNT
};

struct sg_figure_facts {
    const char *name, *description, *unit;
    uint8_t source; /* enum sg_source */
};
extern const struct sg_figure_facts sg_figure_table[SG_FIGURE_COUNT];

/* The figures of a source have adjacent numbers. */
struct sg_source_facts {
    const char *name;
    const char *needs;
    uint8_t first, count; /* figures */
};
extern const struct sg_source_facts sg_source_table[SG_SOURCE_COUNT];

/* The bits of the source's figures. */
static inline uint32_t sg_source_mask(enum sg_source source)
{
    return ((1u << sg_source_table[source].count) - 1) << sg_source_table[source].first;
}

#endif
