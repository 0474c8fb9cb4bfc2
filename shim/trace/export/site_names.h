/* Call sites of all ranks, each once: names from the logs where a rank found them during the run,
 * from the modules' debug information otherwise.
 */
#ifndef SG_TRACE_SITE_NAMES_H
#define SG_TRACE_SITE_NAMES_H

#include "core/status.h"
#include "trace/export/summary.h"
#include "trace/export/symbols.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_site_names {
    const struct sg_site_entry *site;
    const char *function, *file; /* NULL: not known; they live as long as symbols and summaries */
    uint32_t line;
    bool recorded; /* a log tells the names */
};

/* By id; *out is malloc'ed. */
enum sg_status sg_site_names_find(const struct sg_summary *summaries, int count,
                                  struct sg_symbols *symbols, struct sg_site_names **out,
                                  uint32_t *out_count);

#endif
