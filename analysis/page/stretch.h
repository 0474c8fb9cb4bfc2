/* The window of a run in which ranks waited most: its calls, and the messages received in it. The
 * run's calls, in the order in which they ended, are cut into windows of a limited number of calls.
 * The search runs while the archive is read, in the memory of three windows: the current one; the
 * one before, of whose calls not all waits are known yet; and the one with the most waiting so far.
 *
 * MPI_Init and MPI_Finalize are left out. Not thread-safe.
 */
#ifndef SG_PAGE_STRETCH_H
#define SG_PAGE_STRETCH_H

#include "core/status.h"
#include "report/watched.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_STRETCH_BARS_MIN 200u
#define SG_STRETCH_BARS_OF_RANK 40u
#define SG_STRETCH_BARS_MAX 2000u
#define SG_STRETCH_LINES_MAX 1000u

/* A call of a rank. */
struct sg_stretch_bar {
    uint32_t rank, thread;
    uint32_t label; /* identifies a function at a call site */
    int64_t begin_ns, end_ns;
    uint64_t wait_ns;
    uint32_t before; /* 1 + the rank's preceding bar; 0: none */
};

/* A message. */
struct sg_stretch_line {
    uint32_t from, to;
    int64_t sent_ns, received_ns;
};

struct sg_worst_stretch {
    struct sg_stretch_bar *bars;
    struct sg_stretch_line *lines;
    uint32_t bar_count, line_count;
    uint32_t lines_left_out; /* messages that exceeded the capacity */
    uint32_t bars_left_out;  /* calls of a collective that exceeded the capacity */
    uint64_t wait_ns;
    uint32_t *last_of_rank; /* 1 + the rank's last bar; 0: none */
};

struct sg_stretches; /* all three windows */

/* SG_ERR_MEMORY only (not logged), as are the following. */
enum sg_status sg_stretches_create(struct sg_stretches **out);
void sg_stretches_destroy(struct sg_stretches *stretches);

enum sg_status sg_stretches_instance(struct sg_stretches *stretches,
                                     const struct sg_aggregate *aggregate,
                                     const struct sg_seen_instance *seen);
enum sg_status sg_stretches_call(struct sg_stretches *stretches,
                                 const struct sg_aggregate *aggregate,
                                 const struct sg_seen_call *call);
enum sg_status sg_stretches_message(struct sg_stretches *stretches,
                                    const struct sg_seen_message *message);
enum sg_status sg_stretches_wait(struct sg_stretches *stretches, const struct sg_seen_wait *wait);

/* Call it after the last event. Returns the window with the most waiting; NULL: no rank waited. It
 * lives as long as the stretches. */
const struct sg_worst_stretch *sg_stretches_most(const struct sg_stretches *stretches);
/* "MPI_Send halo cg.c:40". */
const char *sg_stretches_label(const struct sg_stretches *stretches, uint32_t label);

#endif
