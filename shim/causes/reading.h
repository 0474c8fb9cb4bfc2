/* What a reader has read (reader.h), and what is between two of them. Pure. */
#ifndef SG_CAUSES_READING_H
#define SG_CAUSES_READING_H

#include "trace/figure.h"

#include <stdint.h>

/* Figures since some time of their own: only what is between two readings means anything. */
struct sg_reading {
    uint64_t time_ns; /* core/tick.h's */
    uint64_t figures[SG_FIGURE_COUNT];
    uint32_t mask;
    uint16_t processor; /* UINT16_MAX: not known */
};

/* What the call between two intervals spent, from the end of the one to the begin of the next,
 * which then tells of it. */
void sg_reading_call(const struct sg_reading *end, struct sg_reading *begin);

/* What is between the two; what has gone backwards is left out. Of the call before, as it is. */
void sg_reading_between(const struct sg_reading *begin, const struct sg_reading *end,
                        struct sg_reading *out);

#endif
