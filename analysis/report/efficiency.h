/* POP's efficiencies of a run (pop-coe.eu), and the division of its rank time. Useful time is
 * a thread's time outside of MPI calls. A rank's first thread counts for the rank's run, another
 * one from its first call to the end of its last: threads are counted in units of their rank's run,
 * and a rank's useful time, of which the greatest is taken, is the mean over these units.
 *
 *   load balance                mean of useful time / greatest useful time
 *   communication efficiency    greatest useful time / run time
 *     transfer                  ideal run time / run time
 *     serialization             greatest useful time / ideal run time
 *   parallel efficiency         load balance * communication efficiency
 *
 * The ideal run time is that of the recorded calls if messages and collectives took no time
 * (efficiency.c). Without events it is unknown, and with it transfer and serialization.
 * A filter makes all of them unknown: they are of a whole run.
 */
#ifndef SG_REPORT_EFFICIENCY_H
#define SG_REPORT_EFFICIENCY_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_history;

#define SG_EFFICIENCY_SLICES 50

/* A part of the run; all have the same length. */
struct sg_efficiency_slice {
    int64_t begin_ns, end_ns; /* since the run's start */
    uint64_t useful_ns, useful_max_ns;
    double threads; /* of the slice; a rank that does not run counts as one */
};

/* A rank's useful time, the sum over its threads. */
struct sg_efficiency_rank {
    uint32_t rank;
    uint32_t node; /* any number, the same for all ranks of a machine; or SG_EFFICIENCY_NO_NODE */
    uint64_t useful_ns;
    double threads;
};

#define SG_EFFICIENCY_NO_NODE UINT32_MAX

struct sg_efficiency {
    struct sg_efficiency_rank *ranks; /* those that count; owned */
    uint32_t rank_count;
    uint64_t run_ns;                   /* the longest run time of a rank */
    uint64_t useful_ns, useful_max_ns; /* outside MPI: sum, and the greatest of a rank */
    double threads;                    /* over which load balance is the mean */
    uint64_t ideal_ns;                 /* valid if has_ideal */
    bool is_known, has_ideal;
    /* 0 to 1; below 0: unknown */
    double load_balance, serialization, transfer, communication, parallel;
    /* Parts of all rank time, with off_ns: useful time; waiting for ranks; MPI itself; MPI_Init and
     * MPI_Finalize without their waits. They add up to the report's ranks_run_ns. Without events
     * waits are unknown, and count as MPI itself. */
    uint64_t work_ns, waiting_ns, mpi_ns, ends_ns;
    uint64_t off_ns; /* outside MPI without a processor, where useful time is bounded by it; or 0 */
    /* Load balance = between machines * inside machines: the mean of useful time / the greatest
     * mean of a machine, and this / the greatest useful time. Below 0: unknown, as is the next. */
    double between_machines, inside_machines;
    uint32_t machines;
    /* The shares of useful time for which the thread had a processor, and was ready without one,
     * from sampled intervals. */
    double on_processor, runnable;
    uint64_t unmatched; /* receives whose sends, on which they depend, are not known */
    bool has_slices;    /* valid: slices */
    struct sg_efficiency_slice slices[SG_EFFICIENCY_SLICES];
};

/* Sets the efficiencies that follow from run time and useful time; transfer and serialization are
 * unknown. All are unknown for 0 threads or a run time of 0. */
void sg_efficiency_set(struct sg_efficiency *efficiency, uint64_t run_ns, uint64_t useful_ns,
                       uint64_t useful_max_ns, double threads);

/* The same from the useful time of the efficiency's ranks; sorts these by node. */
void sg_efficiency_set_ranks(struct sg_efficiency *efficiency, uint64_t run_ns);

void sg_efficiency_clear(struct sg_efficiency *efficiency);

/* Sets the ideal run time, from the greatest useful time to the run time, and the efficiencies that
 * follow from it. */
void sg_efficiency_set_ideal(struct sg_efficiency *efficiency, uint64_t ideal_ns);

/* The efficiencies of a slice; NAN: unknown. */
struct sg_efficiency_part {
    uint64_t begin_ns, end_ns; /* from the start of the run */
    double parallel, load_balance, communication;
};

/* slice: below SG_EFFICIENCY_SLICES; there must be slices. */
struct sg_efficiency_part sg_efficiency_part_of(const struct sg_efficiency *efficiency, int slice);

/* A thread of a rank. */
struct sg_efficiency_thread {
    int64_t begin_ns, end_ns; /* for which it counts; equal: it does not */
    uint32_t rank;
    uint32_t first; /* the location of the rank's first thread, which counts for its run */
    uint32_t node;  /* as of struct sg_efficiency_rank */
};

/* Sets all that follows from the history: efficiencies, slices and machines; nothing if it is lost.
 * threads: by location. Overwrites the waits in the history. SG_ERR_MEMORY only, not logged. */
enum sg_status sg_efficiency_of_events(struct sg_history *history,
                                       const struct sg_efficiency_thread *threads, uint32_t count,
                                       struct sg_efficiency *out);

#endif
