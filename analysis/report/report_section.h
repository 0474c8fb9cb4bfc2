/* The sections of a report. Each is defined in the file that prints its rows.
 *
 * Functions return SG_OK, SG_ERR_MEMORY, or SG_ERR_MISSING if the data was not kept; both errors
 * are logged. Parts of a report may be NULL: they are unknown, null in JSON, and left out of the
 * text.
 */
#ifndef SG_REPORT_REPORT_SECTION_H
#define SG_REPORT_REPORT_SECTION_H

#include "bcs/recorded_slices.h"
#include "core/status.h"
#include "output/section.h"
#include "report/report.h"

#include <stdint.h>
#include <stdio.h>

struct sg_report_section;

/* Parts of the report that options select. */
enum sg_report_part {
    SG_PART_CALLS = 1 << 0,
    SG_PART_COLLECTIVES = 1 << 1,
    SG_PART_MESSAGES = 1 << 2,
    SG_PART_RMA = 1 << 3,
    SG_PART_WAITS = 1 << 4,
    SG_PART_WHY = 1 << 5,
    SG_PART_PATH = 1 << 6,
    SG_PART_TRIALS = 1 << 7,
    SG_PART_RANKS = 1 << 8,
    SG_PART_PRIMITIVES = 1 << 9,
};

#define SG_COVERAGE_BYTES 128

struct sg_print_options {
    unsigned parts;                        /* text: the parts to print; 0: the first screen */
    bool all;                              /* text: all parts, after the first screen */
    uint32_t top;                          /* the most rows, and sums, to print; 0: all */
    bool comms;                            /* text: a row for each communicator, not the sums */
    const struct sg_report_section *table; /* CSV: NULL: the rows */
    bool has_slices;                       /* text: only slices */
    struct sg_slices_filter slices;        /* selects the slices to print */
    const char *distribution; /* text: only this primitive's distributions; NULL: the report */
};

/* The limit of the rows that are printed. */
enum sg_rows_limit {
    SG_ROWS_FEW, /* as --top says; without, text has 20 */
    SG_ROWS_TOP, /* as --top says; without, all */
    SG_ROWS_ALL
};

struct sg_report_section {
    const char *name;  /* of the table in CSV; NULL: none */
    unsigned part;     /* enum sg_report_part; 0: not in the report's text */
    const char *title; /* text: a line above the table; NULL: none, or `print` has its own */
    bool is_of_events; /* the table covers recorded events: a log may have left out the others */
    struct sg_section table;
    const char *rows_are;      /* text notes how many of these it leaves out; NULL: no note */
    const char *comm_rows_are; /* ... with --comms; NULL: the same */
    enum sg_rows_limit limit;
    struct sg_rows (*rows)(const struct sg_report *report, const struct sg_print_options *options);
    bool (*is_shown)(const struct sg_report *report); /* in text; NULL: if there are rows */
    /* Text: prints lines before the table, which shows `shown` rows. NULL: none. */
    void (*lead)(const struct sg_report *report, uint32_t shown, FILE *out);
    /* Text and CSV that are more than the table; NULL: the table. */
    enum sg_status (*print)(const struct sg_report *report, const struct sg_print_options *options,
                            FILE *out);
    enum sg_status (*csv)(const struct sg_report *report, const struct sg_print_options *options,
                          FILE *out);
    bool is_member; /* JSON: its rows are a member of the report */
};

/* ---- for the sections ------------------------------------------------------------------------ */

static inline uint32_t sg_print_count(const struct sg_print_options *options, uint32_t count)
{
    return options->top != 0 && options->top < count ? options->top : count;
}

/* Row count for a table that may be long: without --top, only the first 20 rows. */
static inline uint32_t sg_print_count_of_long(const struct sg_print_options *options,
                                              uint32_t count)
{
    const struct sg_print_options few = {.top = options->top != 0 ? options->top : 20};

    return sg_print_count(&few, count);
}

/* Notes in the text that the section has more rows than are shown. */
void sg_report_put_left_out(const struct sg_report_section *section, const struct sg_report *report,
                            const struct sg_print_options *options, FILE *out);
/* Puts the section's member. */
void sg_report_put(const struct sg_report_section *section, const struct sg_report *report,
                   const struct sg_print_options *options, struct sg_json_writer *writer);
/* Prints the section's table as text, with the lines before it. */
enum sg_status sg_report_print_table(const struct sg_report_section *section,
                                     const struct sg_report *report,
                                     const struct sg_print_options *options, FILE *out);
/* "the first 8.1s of 15.3s": the part of the run that figures from events cover, because a log was
 * full then. NULL: the whole run. */
const char *sg_report_coverage(const struct sg_report *report, char text[SG_COVERAGE_BYTES]);
enum sg_status sg_report_section_csv(const struct sg_report_section *section,
                                     const struct sg_report *report,
                                     const struct sg_print_options *options, FILE *out);
/* Prints the section's title, and the part of the run that its table covers unless that is all. */
void sg_report_put_title(const struct sg_report_section *section, const struct sg_report *report,
                         FILE *out);
/* Ends a table of the text, and its paragraph. */
static inline enum sg_status sg_print_finish(struct sg_table *table, FILE *out)
{
    return sg_section_end(table, "report", out);
}

#define SG_REPORT_PRINTER(name)                                                                    \
    enum sg_status name(const struct sg_report *report, const struct sg_print_options *options,    \
                        FILE *out)
#define SG_REPORT_MEMBER(name)                                                                     \
    void name(const struct sg_report *report, const struct sg_print_options *options,              \
              struct sg_json_writer *writer)

/* ---- sections -------------------------------------------------------------------------------- */

/* All, in the order of the text: sg_functions_section, ... */
#define SG_REPORT_SECTIONS(SECTION)                                                                \
    SECTION(efficiency)                                                                            \
    SECTION(functions)                                                                             \
    SECTION(rows)                                                                                  \
    SECTION(skews)                                                                                 \
    SECTION(calls)                                                                                 \
    SECTION(messages)                                                                              \
    SECTION(one_sided)                                                                             \
    SECTION(wait_sites)                                                                            \
    SECTION(waits)                                                                                 \
    SECTION(pairs)                                                                                 \
    SECTION(causes)                                                                                \
    SECTION(path)                                                                                  \
    SECTION(intervals)                                                                             \
    SECTION(trials)                                                                                \
    SECTION(learned)                                                                               \
    SECTION(ranks)                                                                                 \
    SECTION(primitives)                                                                            \
    SECTION(distributions)                                                                         \
    SECTION(slices)

#define SG_REPORT_DECLARE(name) extern const struct sg_report_section sg_##name##_section;
SG_REPORT_SECTIONS(SG_REPORT_DECLARE)

/* report_section.c: call sites and ranks. */
SG_REPORT_MEMBER(sg_rows_put);

/* profile_print.c: all calls. */
json_t *sg_calls_json_share(const struct sg_calls *calls);
SG_REPORT_MEMBER(sg_calls_put);
/* Prints the distributions of one primitive. */
SG_REPORT_PRINTER(sg_calls_print_distribution);

/* wait_print.c: wait states, and the skew of the collectives that MPICH carried out. */
SG_REPORT_MEMBER(sg_waitstates_put);
/* Notes which figures are unreliable. */
void sg_waitstates_print_notes(const struct sg_report *report, FILE *out);

/* efficiency_print.c */
SG_REPORT_MEMBER(sg_efficiency_put);

/* cause_print.c: causes of lateness. */
SG_REPORT_MEMBER(sg_causes_put);

/* first_screen.c */
/* Prints the program, the ranks and the path of the run. */
void sg_report_put_heading(const struct sg_report *report, FILE *out);
void sg_report_print_screen(const struct sg_report *report, const struct sg_print_options *options,
                            FILE *out);
SG_REPORT_MEMBER(sg_summary_put);
/* Parts of the screen, also for the page. */
/* Prints a line that says why there is no table of waits. */
void sg_screen_put_no_sites(const struct sg_report *report, FILE *out);
/* Prints the ranks, the machine and the time: "8 ranks on 2 processors (node1), 1.44 s". */
void sg_screen_put_run(const struct sg_report *report, FILE *out);
#define SG_SCREEN_INNER "without start and end, parallel efficiency is "
/* In a short run start and end hide the rest. Below 0: they are short themselves. */
double sg_screen_inner_efficiency(const struct sg_report *report);
/* Prints what the reader must know about the machine, with labels; a line that continues another is
 * indented under its text. all: also what is seldom needed. Returns whether there are facts. */
bool sg_screen_put_facts(const struct sg_report *report, bool all, FILE *out);
/* Prints the number of sites that are not among the first `shown`, and their share; nothing if all
 * are. */
void sg_screen_put_more(const struct sg_report *report, uint32_t shown, FILE *out);
#define SG_SCREEN_NO_LINES "compile with -g for files and lines"
#define SG_SCREEN_SITES 8 /* at most, in a table of the screen */

/* screen_parts.c */
/* A share below 0, and NAN, is unknown. */
static inline double sg_screen_share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : -1;
}
/* Prints "-" for an unknown share. */
void sg_screen_put_share(double share, int decimals, FILE *out);
/* Returns the number of sites that the table of waits lists; there must be wait states. */
uint32_t sg_screen_sites(const struct sg_report *report, const struct sg_print_options *options);
/* Prints a line for each help, of at most so many columns; 0: of any length. */
void sg_screen_put_help(const struct sg_report *report, const struct sg_print_options *options,
                        size_t columns, FILE *out);
/* Prints a time with a blank before its unit. */
void sg_screen_put_time(uint64_t ns, FILE *out);
/* Prints reasons why figures do not cover the whole run, or are wrong; a line that
 * continues another is indented. all: also calls that are left out of some tables. */
void sg_report_put_notes(const struct sg_report *report, bool all, FILE *out);

/* critical_path.c, between_calls.c. */
SG_REPORT_MEMBER(sg_path_put);
SG_REPORT_MEMBER(sg_before_put);
/* Prints one line with the sources that no rank has had; nothing if all are there. */
void sg_before_print_missing(const struct sg_report *report, FILE *out);

/* trial_verdicts.c */
SG_REPORT_MEMBER(sg_trials_put);

/* bcs/slices_print.c. */
SG_REPORT_PRINTER(sg_slices_print_text);
SG_REPORT_MEMBER(sg_slices_put);

/* ---- prints of their own --------------------------------------------------------------------- */

/* Prints all causes at the call sites that the filter takes, and their meaning. SG_ERR_MISSING
 * (logged): none are known there. */
enum sg_status sg_causes_print_why(const struct sg_report *report, const struct sg_filter *sites,
                                   FILE *out);
/* Prints what auto has learned as rules for STAGGER_RULES, one a line. SG_ERR_MISSING, logged:
 * there are none. */
enum sg_status sg_learned_print_rules(const struct sg_report *report, FILE *out);

#endif
