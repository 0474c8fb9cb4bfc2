/* What the simulator's commands print: one JSON object {version, command, commit, seed, ...,
 * "rows": [...]}, as JSON, as CSV or as text. Rows all have the same keys.
 */
#ifndef SG_SIM_OUTPUT_H
#define SG_SIM_OUTPUT_H

#include "sim/options.h"

#include <jansson.h>
#include <stdio.h>

/* The git commit this was built from, "unknown" without one. */
extern const char sg_sim_commit[];

/* The object for a command, with no rows yet; NULL when memory runs out. */
json_t *sg_sim_output_new(const char *command, const struct sg_sim_common *common);

/* Takes the row over; NULL counts as memory run out. */
enum sg_status sg_sim_output_add(json_t *output, json_t *row);

/* Prints and frees it. */
enum sg_status sg_sim_output_print(json_t *output, enum sg_sim_format format, FILE *out);

/* A number with three decimals. */
json_t *sg_sim_real(double value);
/* The names of the network's fitted values. */
json_t *sg_sim_fitted(const struct sg_network *network);
/* Adds --stats' figures to a row. */
void sg_sim_add_stats(json_t *row, const struct sg_world_result *result);

/* The progress line: on a terminal, once the work takes over a second. total 0: erases it. */
void sg_sim_progress(const char *what, int done, int total);

#endif
