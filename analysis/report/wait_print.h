/* Columns and printers of the tables of wait states. Columns of report/report_columns.h show their
 * call sites.
 *
 * Printers print nothing if wait states are unknown. Conventions as in report/text_tables.h;
 * report->waitstates may be NULL. */
#ifndef SG_REPORT_WAIT_PRINT_H
#define SG_REPORT_WAIT_PRINT_H

#include "output/column.h"
#include "report/text_tables.h"

#include <jansson.h>

struct sg_waitstate_place;

/* Columns for struct sg_waitstate_row, struct sg_waitstate_pair and struct sg_waitstate_rank. In
 * JSON the last ones are part of an object. */
extern const struct sg_columns sg_waitstate_row_columns;

extern const struct sg_columns sg_waitstate_pair_columns;

extern const struct sg_columns sg_waitstate_rank_columns;

/* Columns for struct sg_waitstate_place. */
extern const struct sg_columns sg_waitstate_place_columns;

/* Makes an object of a place; null if there is none. */
json_t *sg_waitstate_place_json(const struct sg_waitstate_place *place);
/* Prints function and call site; "start" if there is none. */
void sg_waitstate_put_place(const struct sg_waitstate_place *place, FILE *out);

/* Prints the arrival skew of the collectives that MPICH carried out. */
enum sg_status sg_waitstates_print_skews(const struct sg_report *report,
                                         const struct sg_print_options *options, FILE *out);
/* Prints the wait states by call site, and the pairs of waiting and awaited call sites. */
enum sg_status sg_waitstates_print(const struct sg_report *report,
                                   const struct sg_print_options *options, FILE *out);
/* Notes how many rows the text omits, and which figures are unreliable. */
void sg_waitstates_print_notes(const struct sg_report *report,
                               const struct sg_print_options *options, FILE *out);
/* Sets the report's members about skews and wait states; null if unknown. */
void sg_waitstates_json(json_t **root, const struct sg_report *report,
                        const struct sg_print_options *options);
/* Prints SG_PRINT_WAITS, SG_PRINT_PAIRS or SG_PRINT_COLLECTIVES. */
enum sg_status sg_waitstates_print_csv(const struct sg_report *report,
                                       const struct sg_print_options *options, FILE *out);

#endif
