/* Prints a report: text for people, JSON and CSV for programs. Rows are printed in their order in
 * the report.
 *
 * Functions return SG_OK, SG_ERR_MEMORY or, where what is to be printed was not kept,
 * SG_ERR_MISSING, both logged; the caller checks whether the stream took
 * everything (ferror, fclose).
 */
#ifndef SG_REPORT_TEXT_TABLES_H
#define SG_REPORT_TEXT_TABLES_H

#include "bcs/recorded_slices.h"
#include "core/status.h"
#include "output/table.h"
#include "report/report.h"

#include <stdint.h>
#include <stdio.h>

/* A table that may be printed as CSV. */
enum sg_print_table {
    SG_PRINT_SITES,
    SG_PRINT_FUNCTIONS,
    SG_PRINT_CALLS,
    SG_PRINT_MESSAGES,
    SG_PRINT_ONE_SIDED,
    SG_PRINT_PRIMITIVES,
    SG_PRINT_DISTRIBUTIONS,
    SG_PRINT_WAITS,
    SG_PRINT_PAIRS,
    SG_PRINT_COLLECTIVES,
    SG_PRINT_PATH,
    SG_PRINT_CAUSES,
    SG_PRINT_INTERVALS,
    SG_PRINT_SLICES,
    SG_PRINT_TABLES
};

struct sg_print_options {
    uint32_t top;                   /* the most rows, and sums, to print; 0: all */
    bool comms;                     /* text: a row for each communicator instead of the sums */
    enum sg_print_table table;      /* CSV */
    bool primitives;                /* text: the summary of all calls, and nothing else */
    bool has_slices;                /* text: slices, and nothing else */
    struct sg_slices_filter slices; /* of them, those that are printed */
    const char *distribution; /* text: of this primitive, and nothing else; NULL: the report */
};

static inline uint32_t sg_print_count(const struct sg_print_options *options, uint32_t count)
{
    return options->top != 0 && options->top < count ? options->top : count;
}

/* Of a table that may be long: some rows where no number is given. */
static inline uint32_t sg_print_count_of_long(const struct sg_print_options *options,
                                              uint32_t count)
{
    const struct sg_print_options few = {.top = options->top != 0 ? options->top : 20};

    return sg_print_count(&few, count);
}

enum sg_status sg_report_print_text(const struct sg_report *report,
                                    const struct sg_print_options *options, FILE *out);
enum sg_status sg_report_print_json(const struct sg_report *report,
                                    const struct sg_print_options *options, FILE *out);
/* The text about trials; prints nothing if there were none. */
enum sg_status sg_report_print_trials(const struct sg_report *report, FILE *out);
enum sg_status sg_report_print_csv(const struct sg_report *report,
                                   const struct sg_print_options *options, FILE *out);
/* The three lines that are worth reading when a run has just ended, or fewer; none where nothing is
 * known. */
void sg_report_print_brief(const struct sg_report *report, FILE *out);

/* ---- inside ---------------------------------------------------------------------------------- */

/* The text's head. */
void sg_report_print_waiting(const struct sg_report *report, FILE *out);
void sg_report_print_summary(const struct sg_report *report, FILE *out);
/* Ends a table of the text, and the paragraph. */
enum sg_status sg_print_finish(struct sg_table *table, FILE *out);
/* The text's tables of rows, and of ranks. */
enum sg_status sg_report_print_rows(const struct sg_report *report,
                                    const struct sg_print_options *options, FILE *out);
enum sg_status sg_report_print_ranks(const struct sg_report *report, FILE *out);

#endif
