/* Prints all calls of MPI: each table only if there is something in it, nothing if they are not
 * known. As in report/print.h; there, report->calls may be NULL.
 */
#ifndef SG_REPORT_PROFILE_TABLES_H
#define SG_REPORT_PROFILE_TABLES_H

#include "output/json_output.h"
#include "report/text_tables.h"

/* A line of the head: MPI's share of the run time. */
void sg_calls_print_share(const struct sg_report *report, FILE *out);
enum sg_status sg_calls_print_functions(const struct sg_report *report,
                                        const struct sg_print_options *options, FILE *out);
/* Call sites; messages and one-sided operations. */
enum sg_status sg_calls_print_sites(const struct sg_report *report,
                                    const struct sg_print_options *options, FILE *out);
enum sg_status sg_calls_print_messages(const struct sg_report *report,
                                       const struct sg_print_options *options, FILE *out);
/* The summary of all calls, with what MMDS kept; a primitive's distributions. SG_ERR_MISSING
 * (logged): they were not kept. */
enum sg_status sg_calls_print_primitives(const struct sg_report *report,
                                         const struct sg_print_options *options, FILE *out);
enum sg_status sg_calls_print_distribution(const struct sg_report *report,
                                           const struct sg_print_options *options, FILE *out);
/* How many of the rows the text leaves out. */
void sg_calls_print_left_out(const struct sg_report *report, const struct sg_print_options *options,
                             FILE *out);
/* The member `mpi`: MPI's share of the run time. */
json_t *sg_calls_json_share(const struct sg_calls *calls);
/* Sets the report's members about all calls; null where they are not known. Messages, and one-sided
 * operations, may be a million pairs of ranks: these members are null, and what they are to be is
 * printed in their place. */
void sg_calls_json(json_t **root, const struct sg_report *report,
                   const struct sg_print_options *options);
/* Prints such a member; false, and nothing: it is another one. */
bool sg_calls_put_pairs(struct sg_json_writer *writer, const char *member,
                        const struct sg_report *report, const struct sg_print_options *options);
/* One of the tables of all calls. */
enum sg_status sg_calls_print_csv(const struct sg_report *report, enum sg_print_table table,
                                  const struct sg_print_options *options, FILE *out);

#endif
