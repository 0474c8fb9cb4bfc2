/* Numbers for the places that calls are at: function and call site. All that sums up by place uses
 * one table of them.
 *
 * Functions that return a status: SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_WAITSTATES_PLACES_H
#define SG_REPORT_WAITSTATES_PLACES_H

#include "core/status.h"
#include "report/waitstates/waitstates.h"

#include <stdint.h>

struct sg_aggregate;
struct sg_places;

/* No place, as before a thread's first call. */
#define SG_NO_PLACE UINT32_MAX

/* Where a rank is. */
struct sg_waitstate_end {
    uint32_t function; /* sg_places_function() */
    uint32_t site;     /* index in the aggregate */
    uint32_t rank;     /* in MPI_COMM_WORLD */
    uint32_t location; /* its thread; sums do not tell threads apart */
};

/* The aggregate has the call sites, and outlives the places. */
enum sg_status sg_places_create(const struct sg_aggregate *aggregate, struct sg_places **out);
void sg_places_destroy(struct sg_places *places);

/* The number of a function of this name, which is copied. */
enum sg_status sg_places_function(struct sg_places *places, const char *name, uint32_t *out);

/* The number of the place where the rank is, from 0; -1: out of memory. */
int64_t sg_places_find(struct sg_places *places, const struct sg_waitstate_end *end);

/* The call site of a place, as an index of the aggregate. */
uint32_t sg_places_site(const struct sg_places *places, uint32_t place);

/* Sets function and names; nothing of SG_NO_PLACE. Texts are those of places and aggregate. */
void sg_places_name(const struct sg_places *places, uint32_t place, struct sg_waitstate_place *out);

#endif
