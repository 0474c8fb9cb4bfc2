/* The output of the simulator's commands: one JSON object {version, command, commit, seed, ...,
 * "rows": [...]}, printed as JSON, as CSV or as text. All rows have the same keys.
 */
#ifndef SG_SIM_SIM_OUTPUT_H
#define SG_SIM_SIM_OUTPUT_H

#include "output/commit.h"
#include "output/progress_line.h"
#include "sim/lists.h"

#include <jansson.h>

/* Measures case number i of a command. The caller owns *row, which is NULL when memory runs out. */
typedef enum sg_status (*sg_sim_measure_row)(const void *options, int i, json_t **row);

/* Measures a command's cases, 0 to total - 1, shows progress as `what`, and prints the rows to
 * stdout. If the command has a network, prints it and the other values that all rows share. Returns
 * the command's exit status. */
int sg_sim_print_rows(const char *command, const char *what, const struct sg_sim_common *common,
                      int total, sg_sim_measure_row measure, const void *options);
/* A number rounded to three decimals. */
json_t *sg_sim_real(double value);
/* Names of the network's fitted values. */
json_t *sg_sim_fitted(const struct sg_network *network);
/* Adds the figures of --stats to a row. */
void sg_sim_add_stats(json_t *row, const struct sg_world_result *result);
void sg_sim_show(struct sg_progress_line *progress, const char *what, int done, int total);

#endif
