/* The progress line: shown on a terminal's stderr once the work takes over a second, renewed in
 * place, erased at the end. Silent anywhere else. Not thread-safe.
 */
#ifndef SG_REPORT_PROGRESS_H
#define SG_REPORT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct sg_progress {
    bool wanted;
    bool shown;
    uint64_t next_ns; /* when to print next */
};

/* wanted: as far as the caller is concerned; stderr must be a terminal too. */
void sg_progress_start(struct sg_progress *progress, bool wanted);
void sg_progress_step(struct sg_progress *progress, const char *what, uint64_t done,
                      uint64_t total);
void sg_progress_end(struct sg_progress *progress);

#endif
