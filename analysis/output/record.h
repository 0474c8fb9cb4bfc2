/* A row of results under construction: names with numbers and words, which all ways of printing
 * take from it (output/line.h, output/csv.h, and JSON as it is).
 *
 * A name and its unit are one ("delay_us"). Numbers that are not finite become null. What does not
 * fit into memory is told when the row is taken. Not thread-safe.
 */
#ifndef SG_OUTPUT_RECORD_H
#define SG_OUTPUT_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_record;

/* NULL when out of memory, which all functions below take. */
struct sg_record *sg_record_new(void);

/* Frees the record; its row is the caller's, NULL when something did not fit into memory. */
json_t *sg_record_take(struct sg_record *record);

/* NULL becomes null. */
void sg_record_text(struct sg_record *record, const char *name, const char *text);
void sg_record_count(struct sg_record *record, const char *name, uint64_t count);
void sg_record_flag(struct sg_record *record, const char *name, bool flag);
void sg_record_number(struct sg_record *record, const char *name, double value);
/* "NAME_us", from ns. */
void sg_record_us(struct sg_record *record, const char *name, double ns);
/* "NAME": an array of us. */
void sg_record_list(struct sg_record *record, const char *name, const double *ns, size_t count);

#endif
