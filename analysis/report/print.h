/* Printing a report: text for people, JSON and CSV for programs. All print the first site_count
 * rows in the order they stand in.
 *
 * Functions return SG_ERR_MEMORY (logged) or SG_OK; whether the stream took everything is the
 * caller's to check (ferror, fclose).
 */
#ifndef SG_REPORT_PRINT_H
#define SG_REPORT_PRINT_H

#include "core/status.h"
#include "report/report.h"

#include <stdint.h>
#include <stdio.h>

enum sg_status sg_report_print_text(const struct sg_report *report, uint32_t site_count, FILE *out);
enum sg_status sg_report_print_json(const struct sg_report *report, uint32_t site_count, FILE *out);
/* The part of the text that is about trials; nothing where there is none. */
enum sg_status sg_report_print_trials(const struct sg_report *report, FILE *out);

enum sg_status sg_report_print_csv(const struct sg_report *report, uint32_t site_count, FILE *out);

#endif
