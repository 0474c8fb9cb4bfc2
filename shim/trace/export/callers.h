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

/* symbol: of the innermost frame, in the module. callers: as in struct sg_record_site. The name
 * lives until sg_symbols_close; NULL: nothing is known, or there is no memory. */
const char *sg_callers_name(struct sg_symbols *symbols, const char *module,
                            const struct sg_symbol *symbol, uint64_t offset, const char *callers);

#endif
