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

/* wait_reasons.c */

#define SG_REASON_SAMPLES 10 /* fewer samples give no reason */

/* Prints the reason for the waits at a site, in a few words; "-": not known. A rank is named if the
 * reason began on another one than the late one. */
void sg_waitstate_put_because(const struct sg_report *report, const struct sg_waitstate_site *site,
                              FILE *out);
/* The setting that would give reasons for more of these sites; NULL: none would. */
const char *sg_waitstate_samples_note(const struct sg_report *report,
                                      const struct sg_waitstate_site *sites, uint32_t count);
/* The rank where that reason began; null: not known, or several ranks. */
json_t *sg_waitstate_because_rank(const struct sg_report *report,
                                  const struct sg_waitstate_site *site);
/* True if late ranks lose the processor to threads of their own. */
bool sg_waitstate_is_by_threads(const struct sg_report *report,
                                const struct sg_waitstate_site *site);
/* Prints both ends of an interval between calls, as short as tells them apart. */
void sg_waitstate_put_interval(const struct sg_waitstate_place *after,
                               const struct sg_waitstate_place *until, FILE *out);

#endif
