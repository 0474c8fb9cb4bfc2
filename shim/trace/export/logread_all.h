/* Helpers of the log readers: names of call paths, gaps between messages, and sets of instance
 * numbers. logread_all.c also opens all logs of a run (logread.h).
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

/* ---- names of call paths --------------------------------------------------------------------- */

/* The path to a call site of several frames (STAGGER_DEPTH) is shown in its function's name, so
 * that every output with the name shows the path. It leads from the outermost counted frame to the
 * function that calls MPI:
 *
 *     main (cg.c:200) > step (cg.c:120) > dot     as    main cg.c:200 > step cg.c:120 > dot
 */

/* Names a call site. symbol, offset: of the innermost frame, in module. callers: as in struct
 * sg_record_site. The name lives until sg_symbols_close. NULL: nothing is known, or there is no
 * memory. */
const char *sg_callers_name(struct sg_symbols *symbols, const char *module,
                            const struct sg_symbol *symbol, uint64_t offset, const char *callers);

/* A frame's function in such a name: points into the name, not terminated. */
struct sg_callers_frame {
    const char *function;
    size_t length;
};

/* Sets *frame to the next frame, outermost first. *at: initially the name, then its rest, NULL
 * after the last frame. False: there is no frame left. */
bool sg_callers_next(const char **at, struct sg_callers_frame *frame);
/* True if the name is a path. */
bool sg_callers_are_named(const char *name);

/* ---- gaps between messages ------------------------------------------------------------------- */

/* A gap is a number of messages without a record that precede a recorded one (struct
 * sg_record_gap). Gaps are found by the slot of that message's record. */

struct sg_gaps { /* zeroed at first */
    struct sg_gap {
        uint64_t slot;
        bool is_send;
        uint32_t count;
    } * items; /* by slot, once finished */
    uint32_t count;
};

enum sg_status sg_gaps_read(struct sg_gaps *gaps, const struct sg_record_gap *record);
/* Call it when all gaps are read and before any query. */
void sg_gaps_finish(struct sg_gaps *gaps);
/* Counts the messages that are missing before the one that the slot's record sends or receives. */
uint32_t sg_gaps_before(const struct sg_gaps *gaps, uint64_t slot, bool is_send);
void sg_gaps_clear(struct sg_gaps *gaps);

/* ---- sets of instance numbers ---------------------------------------------------------------- */

/* A set consists of sorted, disjoint intervals. The instances that a rank recorded on a
 * communicator are nearly always one interval; if recording was switched on and off, there are
 * still few numbers to send. */

struct sg_interval {
    uint64_t first, last; /* inclusive */
};

struct sg_intervals {
    struct sg_interval *runs; /* malloc'ed */
    uint32_t count;
};

/* Adds a number, in any order; false: no memory. Call sg_intervals_finish before any other use. */
bool sg_intervals_add(struct sg_intervals *set, uint64_t number);
/* Sorts and joins runs. False: a number was added twice, and the set is emptied, because either of
 * the two may be meant. */
bool sg_intervals_finish(struct sg_intervals *set);
bool sg_intervals_contain(const struct sg_intervals *set, uint64_t number);
uint64_t sg_intervals_size(const struct sg_intervals *set);
/* Adds all numbers to an empty set; false: out of memory. */
bool sg_intervals_fill(struct sg_intervals *set);
/* Keeps in set only the numbers that other also has. False: out of memory; set is unchanged. */
bool sg_intervals_intersect(struct sg_intervals *set, const struct sg_intervals *other);
/* Packs or reads a set. Do not add to a set that was read: it has no spare capacity. */
void sg_intervals_pack(struct sg_pack *pack, struct sg_intervals *set);
void sg_intervals_clear(struct sg_intervals *set);

#endif
