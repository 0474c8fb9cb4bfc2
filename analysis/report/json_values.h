/* Values as jansson's, of which some may not be known: null. For the reports in JSON. */
#ifndef SG_REPORT_JSON_VALUES_H
#define SG_REPORT_JSON_VALUES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* NULL becomes null; bytes that are not UTF-8, which jansson refuses, stand as \xNN. NULL when out
 * of memory. */
json_t *sg_json_text(const char *text);
json_t *sg_json_count(bool known, uint64_t count);

#endif
