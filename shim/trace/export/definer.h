/* Inside definitions: what the functions that write rank 0's tables share. */
#ifndef SG_TRACE_DEFINER_H
#define SG_TRACE_DEFINER_H

#include "trace/export/definitions.h"

/* The tables are gone through twice: once to collect the strings, which stand first in the
 * archive, once to write. */
struct sg_definer {
    struct sg_archive *archive;
    struct sg_unified *unified;
    OTF2_GlobalDefWriter *writer;
    bool collecting;
    const struct sg_location_record *locations; /* by rank, then thread */
    size_t location_count;
    uint32_t *nodes; /* by rank: number of its host */
    uint32_t node_count;
};

static inline uint32_t sg_definer_text(struct sg_definer *definer, const char *string)
{
    return sg_strings_add(&definer->unified->strings, string);
}

static inline void sg_definer_check(struct sg_definer *definer, OTF2_ErrorCode code)
{
    sg_archive_check(definer->archive, code);
}

/* In definitions_comms.c. */
void sg_define_comms(struct sg_definer *definer);

#endif
