/* Source: an OTF2 archive, stagger's own or another tool's (Score-P).
 *
 * Events are read by OTF2's global reader, in time order over all locations with clock offsets
 * applied. Instances are matched by communicator and the `seq` attribute; where that is missing,
 * by the order of a rank's calls on the communicator, which MPI demands to be the same for all.
 */
#ifndef SG_REPORT_SOURCE_OTF2_H
#define SG_REPORT_SOURCE_OTF2_H

#include "core/calibration.h"
#include "core/status.h"
#include "output/progress.h"
#include "report/aggregate.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_archive_facts {
    char *program; /* NULL: not known; the caller frees */
    bool partial;
    uint64_t dropped_calls; /* left out of the archive, and found incomplete in it */
    uint64_t unmanaged_calls, unmanaged_posts;
    uint64_t overhead_calls, overhead_ns, overhead_long_calls; /* as in struct sg_report */
    bool has_offset_error;
    bool has_offsets; /* some that are not 0 */
    uint64_t offset_error_ns;
    uint64_t locations_without_offset; /* while others have some */
    uint64_t trial_block;              /* collectives; 0: no trial */
    struct sg_calibration calibration;
    size_t window_max; /* instances held at once, at most */
};

/* Creates and fills the aggregate. On failure one line has been logged: SG_ERR_FORMAT (no archive,
 * damaged, or OTF2 refuses it), SG_ERR_MISSING (no events, no ranks), SG_ERR_MEMORY, or what the
 * watch (NULL: nobody) returned. */
enum sg_status sg_source_otf2(const char *anchor, struct sg_progress_line *progress,
                              const struct sg_watch *watch, struct sg_aggregate **out,
                              struct sg_archive_facts *facts);

#endif
