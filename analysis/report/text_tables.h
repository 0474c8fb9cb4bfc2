/* Prints a report: text for people, JSON and CSV for programs. Rows are printed in the report's
 * order.
 *
 * Functions return SG_OK, SG_ERR_MEMORY, or SG_ERR_MISSING if the data was not kept; both errors
 * are logged. The caller checks the stream for write errors (ferror, fclose).
 */
#ifndef SG_REPORT_TEXT_TABLES_H
#define SG_REPORT_TEXT_TABLES_H

#include "bcs/recorded_slices.h"
#include "core/status.h"
#include "output/table.h"
#include "report/report.h"

#include <stdint.h>
#include <stdio.h>

/* A table that can be printed as CSV. */
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
    enum sg_print_table table;      /* for CSV */
    bool primitives;                /* text: only the summary of all calls */
    bool has_slices;                /* text: only slices */
    struct sg_slices_filter slices; /* selects the slices to print */
    const char *distribution; /* text: only this primitive's distributions; NULL: the report */
};

static inline uint32_t sg_print_count(const struct sg_print_options *options, uint32_t count)
{
    return options->top != 0 && options->top < count ? options->top : count;
}

/* Row count for a table that may be long: without --top, only the first 20 rows. */
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
/* Prints the text about trials; nothing if there were none. */
enum sg_status sg_report_print_trials(const struct sg_report *report, FILE *out);
enum sg_status sg_report_print_csv(const struct sg_report *report,
                                   const struct sg_print_options *options, FILE *out);
/* Prints the three most important lines at the end of a run, or fewer; none if nothing is known. */
void sg_report_print_brief(const struct sg_report *report, FILE *out);

/* ---- parts of the text ----------------------------------------------------------------------- */

/* Print the head. */
void sg_report_print_waiting(const struct sg_report *report, FILE *out);
void sg_report_print_summary(const struct sg_report *report, FILE *out);
/* Ends a table of the text, and its paragraph. */
enum sg_status sg_print_finish(struct sg_table *table, FILE *out);
/* Print the tables of rows, and of ranks. */
enum sg_status sg_report_print_rows(const struct sg_report *report,
                                    const struct sg_print_options *options, FILE *out);
enum sg_status sg_report_print_ranks(const struct sg_report *report, FILE *out);

#endif
