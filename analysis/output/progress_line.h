/* A line that shows a command's progress: updated in place on a terminal, erased at the end. Silent
 * elsewhere. Not thread-safe.
 */
#ifndef SG_OUTPUT_PROGRESS_LINE_H
#define SG_OUTPUT_PROGRESS_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct sg_progress_line {
    FILE *terminal; /* NULL: no terminal */
    bool shown;
    uint64_t next_ns; /* time of the next update */
    uint64_t pause_ns;
};

/* Shows the line on stderr if that is a terminal, after a second of work, and then a few times a
 * second. wanted: false keeps it silent. */
void sg_progress_line_start(struct sg_progress_line *progress, bool wanted);
/* Shows each line at once, on a terminal that the caller closes, or nowhere if NULL. */
void sg_progress_line_start_on(struct sg_progress_line *progress, FILE *terminal);
void sg_progress_line_show(struct sg_progress_line *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "stagger: reading WHAT, 12%". */
void sg_progress_line_step(struct sg_progress_line *progress, const char *what, uint64_t done,
                           uint64_t total);
void sg_progress_line_end(struct sg_progress_line *progress);

#endif
