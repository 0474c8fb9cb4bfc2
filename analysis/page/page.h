/* The report, the comparison and the history as pages: each is one HTML file that loads nothing.
 * Text, figures and tables are HTML and need no scripts. The page's own scripts draw charts, sort
 * and filter, from aggregated data: the size of a page depends on rows and ranks, not on calls, and
 * both are limited.
 */
#ifndef SG_PAGE_PAGE_H
#define SG_PAGE_PAGE_H

#include "compare/compare.h"
#include "compare/run_history.h"
#include "core/status.h"
#include "page/page_detail.h"
#include "report/report.h"

#include <jansson.h>
#include <stdio.h>

#define SG_PAGE_ROWS 500u   /* default rows of a table */
#define SG_PAGE_STATES 150u /* default rows of wait states and of skews */
#define SG_PAGE_SITES 24u   /* call sites with charts of their own */
/* columns of ranks in a heat map; beyond that, several ranks share one */
#define SG_PAGE_COLUMNS 125u
/* rows and columns of the message map; beyond that, several ranks share one */
#define SG_PAGE_BLOCKS 100u
#define SG_PAGE_WORST 8u    /* instances in the timeline */
#define SG_PAGE_LANES 2000u /* lanes of ranks in an instance; more ranks share lanes */

struct sg_page {
    const struct sg_report *report; /* sorted in the table's order */
    const struct sg_detail *detail;
    const char *configuration; /* text of stagger.conf; NULL: there is none */
    uint32_t row_limit;        /* of a table */
    uint32_t state_limit;      /* of a table of wait states, or of skews */
};

/* Each writes a whole page. On failure one line has been logged; the caller checks whether the
 * stream took everything. */
enum sg_status sg_page_write(const struct sg_page *page, FILE *out);
enum sg_status sg_page_write_comparison(const struct sg_comparison *comparison, uint32_t row_limit,
                                        FILE *out);

enum sg_status sg_page_write_history(const struct sg_run_history *history, FILE *out);
/* An SVG image for a web page: the run time, and how it changed. */
void sg_page_write_badge(const struct sg_run_history *history, FILE *out);

/* ---- inside ---------------------------------------------------------------------------------- */

/* The sections of a comparison about all MPI calls; nothing if they are not known. */
void sg_page_write_compared_calls(const struct sg_comparison *comparison, uint32_t row_limit,
                                  FILE *out);
/* The first screen: the run, the calls that are open, tiles of efficiency, the bar of rank time and
 * notes, in the header; where ranks wait for others, and what would help. */
void sg_page_write_open_calls(const struct sg_report *report, FILE *out);
void sg_page_write_run(const struct sg_report *report, FILE *out);
void sg_page_write_tiles(const struct sg_report *report, FILE *out);
void sg_page_write_screen(const struct sg_report *report, FILE *out);
/* The data of the charts. */
enum sg_status sg_page_write_data(const struct sg_page *page, FILE *out);
/* The sections about all MPI calls: the functions, and the call sites and messages. Each writes
 * nothing if the data is not known. */
void sg_page_write_functions(const struct sg_page *page, FILE *out);
void sg_page_write_calls(const struct sg_page *page, FILE *out);
/* The skew of the collectives that MPICH carried out, and wait states; nothing without any. */
void sg_page_write_skews(const struct sg_page *page, FILE *out);
void sg_page_write_waits(const struct sg_page *page, FILE *out);
/* The window of calls with the most waiting, and its chart data; nothing if no rank waited. */
void sg_page_write_stretch(const struct sg_page *page, FILE *out);
void sg_page_set_stretch(json_t **data, const struct sg_page *page);
/* Causes of lateness, and the critical path; nothing if they are not known. */
void sg_page_write_causes(const struct sg_page *page, FILE *out);
void sg_page_write_slices(const struct sg_page *page, FILE *out);
void sg_page_write_path(const struct sg_page *page, FILE *out);
/* The activity of ranks before calls, for runs without events. */
void sg_page_write_before(const struct sg_page *page, FILE *out);
void sg_page_set_causes(json_t **data, const struct sg_page *page);
void sg_page_set_slices(json_t **data, const struct sg_page *page);

/* The number of ranks that share a column. */
static inline uint32_t sg_page_group(const struct sg_report *report)
{
    uint32_t group = (report->rank_count + SG_PAGE_COLUMNS - 1) / SG_PAGE_COLUMNS;

    return group > 0 ? group : 1;
}

/* The sums of messages in blocks of ranks; NULL: out of memory. */
json_t *sg_page_messages_data(const struct sg_calls *calls);
/* The section about trials; writes nothing if there were none. */
void sg_page_write_trials(const struct sg_report *report, FILE *out);

#endif
