/* Prints all MPI calls as text, JSON and CSV: each table only if it has rows, and nothing if calls
 * are not known. Conventions as in report/text_tables.h; report->calls may be NULL.
 */
#ifndef SG_REPORT_PROFILE_TABLES_H
#define SG_REPORT_PROFILE_TABLES_H

#include "output/json_output.h"
#include "report/text_tables.h"

/* Prints a line of the head: MPI's share of the run time. */
void sg_calls_print_share(const struct sg_report *report, FILE *out);
enum sg_status sg_calls_print_functions(const struct sg_report *report,
                                        const struct sg_print_options *options, FILE *out);
/* Print the tables of call sites, and of messages and one-sided operations. */
enum sg_status sg_calls_print_sites(const struct sg_report *report,
                                    const struct sg_print_options *options, FILE *out);
enum sg_status sg_calls_print_messages(const struct sg_report *report,
                                       const struct sg_print_options *options, FILE *out);
/* Print the summary of all calls with the figures of MMDS, and the distributions of one primitive.
 * Both return SG_ERR_MISSING (logged) if these were not kept. */
enum sg_status sg_calls_print_primitives(const struct sg_report *report,
                                         const struct sg_print_options *options, FILE *out);
enum sg_status sg_calls_print_distribution(const struct sg_report *report,
                                           const struct sg_print_options *options, FILE *out);
/* Notes how many rows the text omits. */
void sg_calls_print_left_out(const struct sg_report *report, const struct sg_print_options *options,
                             FILE *out);
/* Makes the member `mpi`: MPI's share of the run time. */
json_t *sg_calls_json_share(const struct sg_calls *calls);
/* Sets the report's members about all calls; null if calls are not known. Messages and one-sided
 * operations can have a million pairs of ranks: these two members are set to null here, and
 * sg_calls_put_pairs prints their values instead. */
void sg_calls_json(json_t **root, const struct sg_report *report,
                   const struct sg_print_options *options);
/* Prints one of those two members. For any other member it prints nothing and returns false. */
bool sg_calls_put_pairs(struct sg_json_writer *writer, const char *member,
                        const struct sg_report *report, const struct sg_print_options *options);
/* Prints one of the tables of all calls. */
enum sg_status sg_calls_print_csv(const struct sg_report *report, enum sg_print_table table,
                                  const struct sg_print_options *options, FILE *out);

#endif
