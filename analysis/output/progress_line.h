/* The line that says what a command is at: renewed in place on a terminal, wiped at the end. Silent
 * anywhere else. Not thread-safe.
 */
#ifndef SG_OUTPUT_PROGRESS_LINE_H
#define SG_OUTPUT_PROGRESS_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct sg_progress_line {
    FILE *terminal; /* NULL: there is none to show it on */
    bool shown;
    uint64_t next_ns; /* when to print next */
    uint64_t pause_ns;
};

/* On stderr, where that is a terminal, once the work takes over a second, a few times a second.
 * wanted: as far as the caller is concerned. */
void sg_progress_line_start(struct sg_progress_line *progress, bool wanted);
/* On a terminal that is the caller's to close, or NULL; each line at once. */
void sg_progress_line_start_on(struct sg_progress_line *progress, FILE *terminal);
void sg_progress_line_show(struct sg_progress_line *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "stagger: reading WHAT, 12%". */
void sg_progress_line_step(struct sg_progress_line *progress, const char *what, uint64_t done,
                           uint64_t total);
void sg_progress_line_end(struct sg_progress_line *progress);

#endif
