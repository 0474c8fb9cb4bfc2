/* Who came when: brings the ranks' calls of each collective that stagger carried out together, as
 * they are recorded, by the report's own rules (report/window.h, report/measure.h), and sums up by
 * call site what skew cost, since the run's begin and since the last time that was shown.
 *
 * Memory grows with call sites, communicators and ranks. Collectives that some member never
 * records are forgotten when there are too many of them. Not thread-safe.
 */
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
    uint64_t calls; /* in complete instances, of whichever call site */
    uint64_t wait_ns;
    uint64_t instances; /* that count for the call site */
    double skew_sum_ns;
    struct sg_quantiles skews; /* of these */
    uint64_t *last_counts;     /* likewise, by rank in MPI_COMM_WORLD; NULL: all are 0 */
};

/* Of one call site and operation, over all communicators. */
struct sg_live_site {
    struct sg_live_arrived total, recent;
};

enum sg_status sg_live_arrivals_create(uint32_t ranks, struct sg_live_arrivals **out);
void sg_live_arrivals_destroy(struct sg_live_arrivals *arrivals);
/* A record of a rank's log: of a call site, a communicator, the clock, or of a call that is
 * complete; others are ignored. SG_ERR_MEMORY. */
enum sg_status sg_live_arrivals_take(struct sg_live_arrivals *arrivals, uint32_t rank,
                                     enum sg_record_kind kind, const void *record);
/* Up to when the rank's calls have been taken, on the common clock: whose log to read on. */
uint64_t sg_live_arrivals_until_ns(const struct sg_live_arrivals *arrivals, uint32_t rank);
/* Calls that are in no figure, as some member did not record its part, or another one. */
uint64_t sg_live_arrivals_left_out(const struct sg_live_arrivals *arrivals);
/* NULL: no collective from there is complete. */
struct sg_live_site *sg_live_arrivals_find(const struct sg_live_arrivals *arrivals, uint32_t id,
                                           enum sg_operation operation, bool nonblocking);
/* Whether a call that a rank is in waits for the other rank, which has not come to it: it is in
 * none itself, and all that it has recorded was taken. False: it does not, or that is not known. */
bool sg_live_arrivals_awaits(const struct sg_live_arrivals *arrivals, uint32_t rank,
                             const struct sg_record_call *call, uint32_t other);
/* Begins anew with what is recent. */
void sg_live_arrivals_renew(struct sg_live_arrivals *arrivals);
/* The rank that came last most often, the lowest of several, and how often; -1: none did. */
int64_t sg_live_arrived_last(const struct sg_live_arrived *arrived, uint32_t ranks,
                             uint64_t *count);

/* Copies slots of a log that its writer is writing to, and that anybody may cut off meanwhile.
 *
 * Each value is copied as a whole, never half of one store and half of another. A slot's kind is
 * read before its fields, and the end of what has one before the rest: a copy that has them has all
 * that was written before them.
 *
 * A file that is cut off while it is mapped raises SIGBUS where it is read. Not thread-safe: one
 * copy at a time in a process. */

/* Takes SIGBUS over, for good: one that no copy raised ends the program, as ever. */
void sg_slots_guard(void);
/* from: in the mapping; to: as long. False: the file ends before them. */
bool sg_slots_copy(void *to, const void *from, uint64_t count);
/* The same of bytes, a multiple of 8, without kinds. */
bool sg_slots_copy_words(void *to, const void *from, size_t bytes);

#endif
