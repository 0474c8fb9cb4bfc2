/* Printing a report: text for people, JSON and CSV for programs. All print rows in the order they
 * stand in.
 *
 * Functions return SG_ERR_MEMORY (logged) or SG_OK; whether the stream took everything is the
 * caller's to check (ferror, fclose).
 */
#ifndef SG_REPORT_PRINT_H
#define SG_REPORT_PRINT_H

#include "core/status.h"
#include "report/report.h"

#include <stdint.h>
#include <stdio.h>

struct sg_print_options {
    uint32_t top; /* rows at most, and sums; 0: all */
    bool comms;   /* text: a row for each communicator, not their sums */
};

static inline uint32_t sg_print_count(const struct sg_print_options *options, uint32_t count)
{
    return options->top != 0 && options->top < count ? options->top : count;
}

enum sg_status sg_report_print_text(const struct sg_report *report,
                                    const struct sg_print_options *options, FILE *out);
enum sg_status sg_report_print_json(const struct sg_report *report,
                                    const struct sg_print_options *options, FILE *out);
/* The part of the text that is about trials; nothing where there is none. */
enum sg_status sg_report_print_trials(const struct sg_report *report, FILE *out);

enum sg_status sg_report_print_csv(const struct sg_report *report,
                                   const struct sg_print_options *options, FILE *out);

/* ---- inside ---------------------------------------------------------------------------------- */

/* The text's tables of rows, and of ranks. */
enum sg_status sg_report_print_rows(const struct sg_report *report,
                                    const struct sg_print_options *options, FILE *out);
enum sg_status sg_report_print_ranks(const struct sg_report *report, FILE *out);

#endif
