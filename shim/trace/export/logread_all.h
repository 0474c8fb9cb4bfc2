/* The path to a call site of several frames (STAGGER_DEPTH), shown in its function's name: from the
 * outermost frame that counts to the function that calls MPI,
 *
 *     main (cg.c:200) > step (cg.c:120) > dot     as    main cg.c:200 > step cg.c:120 > dot
 *
 * so that every output that shows the name shows the path.
 */
#ifndef SG_TRACE_EXPORT_LOGREAD_ALL_H
#define SG_TRACE_EXPORT_LOGREAD_ALL_H

#include "core/status.h"
#include "trace/export/strings.h"
#include "trace/export/symbols.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* symbol: of the innermost frame, in the module. callers: as in struct sg_record_site. The name
 * lives until sg_symbols_close; NULL: nothing is known, or there is no memory. */
const char *sg_callers_name(struct sg_symbols *symbols, const char *module,
                            const struct sg_symbol *symbol, uint64_t offset, const char *callers);

/* A frame's function in such a name: within the name, and not terminated. */
struct sg_callers_frame {
    const char *function;
    size_t length;
};

/* The next frame, outermost first; *at: the name at first, then what is left of it, NULL behind the
 * last one. False: none is left. */
bool sg_callers_next(const char **at, struct sg_callers_frame *frame);
/* Whether the name is a path. */
bool sg_callers_are_named(const char *name);

/* Which messages come behind others that the log does not have (struct sg_record_gap), by the slots
 * of their records. */

struct sg_gaps { /* zeroed at first */
    struct sg_gap {
        uint64_t slot;
        bool is_send;
        uint32_t count;
    } * items; /* by slot, once finished */
    uint32_t count;
};

enum sg_status sg_gaps_read(struct sg_gaps *gaps, const struct sg_record_gap *record);
/* When all are read. */
void sg_gaps_finish(struct sg_gaps *gaps);
/* How many messages are missing before the one that the slot's record sends or receives. */
uint32_t sg_gaps_before(const struct sg_gaps *gaps, uint64_t slot, bool is_send);
void sg_gaps_clear(struct sg_gaps *gaps);

/* Sets of instance numbers as sorted, disjoint intervals: the instances that a rank recorded on a
 * communicator are nearly always one interval, and if recording was switched on and off there are
 * still few numbers to send.
 */

struct sg_interval {
    uint64_t first, last; /* inclusive */
};

struct sg_intervals {
    struct sg_interval *runs; /* malloc'ed */
    uint32_t count;
};

/* Adds a number, in any order; false when out of memory. Call sg_intervals_finish before any
 * other use. */
bool sg_intervals_add(struct sg_intervals *set, uint64_t number);
/* Sorts and joins runs. False when a number was added twice: the set is then emptied, since
 * nobody can tell which of the two is meant. */
bool sg_intervals_finish(struct sg_intervals *set);
bool sg_intervals_contain(const struct sg_intervals *set, uint64_t number);
uint64_t sg_intervals_size(const struct sg_intervals *set);
/* Makes an empty set that of all numbers; false when out of memory. */
bool sg_intervals_fill(struct sg_intervals *set);
/* Leaves in set what is also in other; false when out of memory (set is then unchanged). */
bool sg_intervals_intersect(struct sg_intervals *set, const struct sg_intervals *other);
/* A set that is read is not to be added to. */
void sg_intervals_pack(struct sg_pack *pack, struct sg_intervals *set);
void sg_intervals_clear(struct sg_intervals *set);

#endif
