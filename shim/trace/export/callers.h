/* The path to a call site of several frames (STAGGER_DEPTH), shown in its function's name: from the
 * outermost frame that counts to the function that calls MPI,
 *
 *     main (cg.c:200) > step (cg.c:120) > dot     as    main cg.c:200 > step cg.c:120 > dot
 *
 * so that every output that shows the name shows the path.
 */
#ifndef SG_TRACE_CALLERS_H
#define SG_TRACE_CALLERS_H

#include "trace/export/symbols.h"

#include <stdbool.h>
#include <stddef.h>

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

#endif
