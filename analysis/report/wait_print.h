/* Prints places, functions at call sites. Columns of report/report_columns.h show a site alone. */
#ifndef SG_REPORT_WAIT_PRINT_H
#define SG_REPORT_WAIT_PRINT_H

#include "output/column.h"

#include <jansson.h>
#include <stdio.h>

struct sg_report;
struct sg_waitstate_place;
struct sg_waitstate_site;

/* Columns for struct sg_waitstate_place, and for struct sg_waitstate_site with the report as
 * context. */
extern const struct sg_columns sg_waitstate_place_columns, sg_waitstate_site_columns;

/* Makes an object of a place; null if there is none. */
json_t *sg_waitstate_place_json(const struct sg_waitstate_place *place);
/* Prints function and call site; "start" if there is none. */
void sg_waitstate_put_place(const struct sg_waitstate_place *place, FILE *out);
/* Prints the ranks that were awaited longest at a site: "0 (18 %), 3 ...". */
void sg_waitstate_put_late(const struct sg_waitstate_site *site, FILE *out);
/* Prints the reason for the waits there, in a few words; "-": not known. In first_screen.c. */
void sg_waitstate_put_because(const struct sg_report *report, const struct sg_waitstate_site *site,
                              FILE *out);

#endif
