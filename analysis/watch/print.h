/* Prints what is shown of a job: plain text for people, a line of JSON for programs
 * (docs/watch-json.md). SG_OK or SG_ERR_MEMORY, logged; whether the stream takes it is the caller's
 * to see. */
#ifndef SG_WATCH_PRINT_H
#define SG_WATCH_PRINT_H

#include "core/status.h"
#include "watch/job.h"
#include "watch/view.h"

#include <stdint.h>
#include <stdio.h>

struct sg_live_print {
    uint32_t top; /* call sites, at most; 0: all */
    size_t width; /* of a line; 0: any */
};

enum sg_status sg_live_print_text(const struct sg_live_job *job, const struct sg_live_view *view,
                                  const struct sg_live_print *print, FILE *out);
enum sg_status sg_live_print_json(const struct sg_live_job *job, const struct sg_live_view *view,
                                  const struct sg_live_print *print, FILE *out);

/* What is to be told of a rank that does not run as it should; "": nothing. Clean text. */
#define SG_LIVE_STATE_BYTES 512
const char *sg_live_state_text(const struct sg_live_log *log, char text[SG_LIVE_STATE_BYTES]);

static inline uint32_t sg_live_print_count(const struct sg_live_print *print, uint32_t count)
{
    return print->top != 0 && print->top < count ? print->top : count;
}

#endif
