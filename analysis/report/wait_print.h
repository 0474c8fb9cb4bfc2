/* The columns of the tables of wait states. Columns of report/columns.h show their call sites. */
#ifndef SG_REPORT_WAIT_PRINT_H
#define SG_REPORT_WAIT_PRINT_H

#include "output/column.h"
#include "report/text_tables.h"

#include <jansson.h>

struct sg_waitstate_place;

/* Of struct sg_waitstate_row, struct sg_waitstate_pair and struct sg_waitstate_rank. In JSON the
 * last is a part of an object. */
extern const struct sg_columns sg_waitstate_row_columns;

extern const struct sg_columns sg_waitstate_pair_columns;

extern const struct sg_columns sg_waitstate_rank_columns;

/* Of struct sg_waitstate_place. */
extern const struct sg_columns sg_waitstate_place_columns;

/* The place as an object; null where there is none. */
json_t *sg_waitstate_place_json(const struct sg_waitstate_place *place);
/* Function and call site; where there is none, "start". */
void sg_waitstate_put_place(const struct sg_waitstate_place *place, FILE *out);

/* Prints wait states: nothing if they are not known. As in report/print.h; there,
 * report->waitstates may be NULL.
 */

/* How far apart the members of the collectives arrive that MPICH carried out. */
enum sg_status sg_waitstates_print_skews(const struct sg_report *report,
                                         const struct sg_print_options *options, FILE *out);
/* Where ranks wait, and for whom. */
enum sg_status sg_waitstates_print(const struct sg_report *report,
                                   const struct sg_print_options *options, FILE *out);
/* How many of the rows the text leaves out, and what is not reliable. */
void sg_waitstates_print_notes(const struct sg_report *report,
                               const struct sg_print_options *options, FILE *out);
/* Sets the report's members about skews and wait states; null where they are not known. */
void sg_waitstates_json(json_t **root, const struct sg_report *report,
                        const struct sg_print_options *options);
/* SG_PRINT_WAITS, SG_PRINT_PAIRS or SG_PRINT_COLLECTIVES. */
enum sg_status sg_waitstates_print_csv(const struct sg_report *report,
                                       const struct sg_print_options *options, FILE *out);

#endif
