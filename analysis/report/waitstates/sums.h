/* Sums up wait states: by kind and place, by pair of places, and by rank.
 *
 * Memory grows with places and pairs of them, and with the ranks that are waited for at each; not
 * with waits. Functions that return a status: SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_WAITSTATES_SUMS_H
#define SG_REPORT_WAITSTATES_SUMS_H

#include "core/status.h"
#include "report/waitstates/places.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_aggregate;
struct sg_filter;
struct sg_waitstate_sums;

/* One wait. */
struct sg_waitstate {
    enum sg_waitstate_kind kind;
    struct sg_waitstate_end at, other; /* who waits, and for whom */
    uint32_t comm;                     /* index in the aggregate */
    int64_t begin_ns;                  /* since the run's start */
    uint64_t wait_ns;
    uint32_t skew; /* the row of waitstates/skews.h that it counts for; 0: none */
};

#define SG_WAITSTATE_LEFT_OUT UINT32_MAX

/* The aggregate has the communicators; it, the places and the filter (NULL: none) outlive the
 * sums. Only waits whose place, communicator, waiting rank and begin the filter takes are counted.
 */
enum sg_status sg_waitstate_sums_create(const struct sg_aggregate *aggregate,
                                        const struct sg_filter *filter, struct sg_places *places,
                                        struct sg_waitstate_sums **out);
void sg_waitstate_sums_destroy(struct sg_waitstate_sums *sums);

/* *row, where row is not NULL: what the wait counts for, or SG_WAITSTATE_LEFT_OUT. */
enum sg_status sg_waitstate_sums_add(struct sg_waitstate_sums *sums,
                                     const struct sg_waitstate *wait, uint32_t *row);
/* A wait that was added to the row turned out to be in wrong order. */
void sg_waitstate_sums_wrong_order(struct sg_waitstate_sums *sums, uint32_t row, uint64_t wait_ns);

/* By function, then by call site. */
int sg_waitstate_compare_places(const struct sg_waitstate_place *a,
                                const struct sg_waitstate_place *b);

/* The result, of which the figures of messages and the skews are missing; it refers to the
 * aggregate and the places, which it may own. The sums are empty afterwards, and to be destroyed.
 */
enum sg_status sg_waitstate_sums_finish(struct sg_waitstate_sums *sums, struct sg_waitstates **out);

#endif
