/* Finds which calls each of the run's rules decided: matches the rules that the run saved beside
 * its archive (stagger.conf) against its calls, with the matcher of the library. Rules for messages
 * are left out.
 *
 * A directory may come from a stranger: with more than 1024 rules, or a million pairs of a rule and
 * a call site, the rules are not known.
 */
#ifndef SG_REPORT_RULE_USE_H
#define SG_REPORT_RULE_USE_H

#include "report/report.h"

#include <jansson.h>
#include <stdio.h>

/* A rule of the user's that decided calls, or a rule or a trial that likely contains a mistake. */
struct sg_rule_use {
    char *rule;     /* "allreduce@main=handoff", "trial allreduce@main"; owned */
    char *reason;   /* why it decided no call; owned; NULL: it did */
    uint32_t sites; /* call sites and calls that it decided */
    uint64_t calls;
    bool has_nearest;
    struct sg_report_site nearest; /* if no call site matches: the one with the most similar name */
    bool is_least; /* the sizes of some calls, which it may have decided, are not known */
};

struct sg_rule_uses;

/* Reads the text of stagger.conf in the directory, or beside the archive; at most 65535 bytes of
 * it. malloc'ed; NULL: there is none. */
char *sg_run_configuration(const char *path);

/* Reads the rules of the run at path. waiting tells whether its ranks were on one machine. *out is
 * NULL if the rules are not known. SG_ERR_MEMORY only, not logged. */
enum sg_status sg_rule_uses_create(const char *path, const struct sg_run_waiting *waiting,
                                   uint32_t ranks, struct sg_rule_uses **out);
void sg_rule_uses_destroy(struct sg_rule_uses *uses);
/* Call for each row of the aggregate, in order, and then for its calls. SG_ERR_MEMORY only. */
enum sg_status sg_rule_uses_row(struct sg_rule_uses *uses, const struct sg_report_site *row);
void sg_rule_uses_call(struct sg_rule_uses *uses, uint32_t row, uint64_t bytes);
/* Sets the rules of the report, whose rows are complete. SG_ERR_MEMORY only. */
enum sg_status sg_rule_uses_finish(struct sg_rule_uses *uses, struct sg_report *report);
void sg_rule_use_clear(struct sg_rule_use *use);

/* ---- rule_use_print.c ---- */

/* Prints the rule and its calls, or the reason, in at most that many columns; no line end. */
void sg_rule_use_put(const struct sg_rule_use *use, size_t columns, FILE *out);
/* The rules of the report; null if they are not known. NULL: out of memory. */
json_t *sg_rule_uses_json(const struct sg_report *report);

#endif
