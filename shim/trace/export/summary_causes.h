/* What a log tells of the recording of causes as a whole (struct sg_record_causes). */
#ifndef SG_TRACE_SUMMARY_CAUSES_H
#define SG_TRACE_SUMMARY_CAUSES_H

#include "trace/export/logread.h"

#include <stdint.h>

/* Of one rank, or of several. */
struct sg_summary_causes {
    uint64_t ranks; /* that told; 0: nothing was recorded */
    uint64_t mode;  /* enum sg_causes_mode */
    uint64_t intervals, left_out;
    uint64_t cost_ns, time_ns;
    uint64_t lacking[SG_SOURCE_COUNT]; /* ranks that do not have the source */
};

struct sg_summary_causes sg_summary_causes_of(struct sg_logread *log);

void sg_summary_causes_add(struct sg_summary_causes *sum, const struct sg_summary_causes *one);

#endif
