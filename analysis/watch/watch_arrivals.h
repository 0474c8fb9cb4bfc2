/* Arrival statistics of a running job, and safe copies from logs that are being written.
 *
 * Matches the ranks' records of each collective that stagger carried out, by the report's own rules
 * (report/window.h, report/quantiles.h), and sums the cost of skew by call site, since the run's
 * begin and since the last display.
 *
 * Memory grows with call sites, communicators and ranks. When there are too many collectives that
 * some member has not recorded, they are dropped. Not thread-safe. */
#ifndef SG_WATCH_WATCH_ARRIVALS_H
#define SG_WATCH_WATCH_ARRIVALS_H

#include "core/status.h"
#include "core/text.h"
#include "report/quantiles.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_live_arrivals;

struct sg_live_arrived {
    uint64_t calls; /* in complete instances, whichever call site they count for */
    uint64_t wait_ns;
    uint64_t instances; /* instances counted for this call site */
    double skew_sum_ns;
    struct sg_quantiles skews; /* of these instances */
    uint64_t *last_counts;     /* by rank in MPI_COMM_WORLD, of these instances; NULL: all are 0 */
};

/* Figures of one call site and operation, over all communicators. */
struct sg_live_site {
    struct sg_live_arrived total, recent;
};

enum sg_status sg_live_arrivals_create(uint32_t ranks, struct sg_live_arrivals **out);
void sg_live_arrivals_destroy(struct sg_live_arrivals *arrivals);
/* Takes a record of a rank's log: a call site, a communicator, a clock point or a complete call;
 * ignores other kinds. SG_ERR_MEMORY. */
enum sg_status sg_live_arrivals_take(struct sg_live_arrivals *arrivals, uint32_t rank,
                                     enum sg_record_kind kind, const void *record);
/* Time on the common clock up to which the rank's calls have been taken; the log with the least is
 * read next. */
uint64_t sg_live_arrivals_until_ns(const struct sg_live_arrivals *arrivals, uint32_t rank);
/* Number of calls in no figure, because some member recorded none, or a different one. */
uint64_t sg_live_arrivals_left_out(const struct sg_live_arrivals *arrivals);
/* NULL if no collective from that call site is complete. */
struct sg_live_site *sg_live_arrivals_find(const struct sg_live_arrivals *arrivals, uint32_t id,
                                           enum sg_operation operation, bool nonblocking);
/* True if a rank's open call waits for the other rank: the other has not reached this call, is in
 * none itself, and all its records have been taken. False: it does not wait, or that is unknown. */
bool sg_live_arrivals_awaits(const struct sg_live_arrivals *arrivals, uint32_t rank,
                             const struct sg_record_call *call, uint32_t other);
/* Resets the recent figures. */
void sg_live_arrivals_renew(struct sg_live_arrivals *arrivals);
/* The rank that arrived last most often, the lowest of several, and its count; -1: none. */
int64_t sg_live_arrived_last(const struct sg_live_arrived *arrived, uint32_t ranks,
                             uint64_t *count);

/* Copies slots of a log while its writer writes them and any process may truncate the file.
 *
 * Each value is copied whole, never torn between two stores. The copy reads a slot's kind before
 * its fields and, if the kind has an end time, the end time before the other fields. So a copy that
 * has them also has everything written before them.
 *
 * Truncating a mapped file makes reads of it raise SIGBUS. Not thread-safe: one copy at a time in a
 * process. */

/* Installs a SIGBUS handler for good; a SIGBUS outside a copy still ends the program. */
void sg_slots_guard(void);
/* from: in the mapping; to: as large. False: the file ends before the slots. */
bool sg_slots_copy(void *to, const void *from, uint64_t count);
/* The same for bytes, a multiple of 8, without kinds. */
bool sg_slots_copy_words(void *to, const void *from, size_t bytes);

#endif
