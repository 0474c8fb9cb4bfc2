#include "compare/columns.h"

#include "report/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIGURE(name) static double figure_##name(const struct sg_compared *row)

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Of the side that has more. */
#define LARGER(name, known, value)                                                                 \
    FIGURE(name)                                                                                   \
    {                                                                                              \
        double of[2];                                                                              \
                                                                                                   \
        for (int i = 0; i < 2; i++) {                                                              \
            const struct sg_side *side = &row->side[i];                                            \
                                                                                                   \
            of[i] = side->present && (known) ? (double)(value) : -1;                               \
        }                                                                                          \
        return larger(of[0], of[1]);                                                               \
    }

LARGER(calls, true, side->calls)
LARGER(instances, sg_side_knows(side, SG_MEASURED_WAIT), side->instances)
LARGER(bytes, true, side->bytes)
LARGER(blocked, true, side->ns[SG_MEASURED_BLOCKED])
LARGER(wait, sg_side_knows(side, SG_MEASURED_WAIT), side->ns[SG_MEASURED_WAIT])
LARGER(processor, true, side->ns[SG_MEASURED_PROCESSOR])

/* Of the time blocked per call, whichever side has more. */
FIGURE(difference)
{
    if (!sg_compared_in_both(row))
        return -1;
    return fabs(row->side[1].mean_ns[SG_MEASURED_BLOCKED] -
                row->side[0].mean_ns[SG_MEASURED_BLOCKED]);
}

FIGURE(change)
{
    double a_ns = row->side[0].mean_ns[SG_MEASURED_BLOCKED];

    return sg_compared_in_both(row) && a_ns > 0 ? figure_difference(row) / a_ns : -1;
}

FIGURE(verdict)
{
    return (double)row->difference[SG_MEASURED_BLOCKED].verdict;
}

/* The report's first, in its order. */
const struct sg_compared_column sg_compared_columns[] = {
    {"id", "id", NULL},
    {"op", "op", NULL},
    {"site", "call site", NULL},
    {"algorithm", "algo", NULL},
    {"calls", "calls", figure_calls},
    {"instances", "inst", figure_instances},
    {"bytes", "bytes", figure_bytes},
    {"wait", "wait", figure_wait},
    {"blocked", "blocked", figure_blocked},
    {"where", "where", NULL},
    {"processor", "processor", figure_processor},
    {"difference", "B - A", figure_difference},
    {"change", "change", figure_change},
    {"verdict", "verdict", figure_verdict},
};
const size_t sg_compared_column_count = sizeof sg_compared_columns / sizeof sg_compared_columns[0];

const struct sg_compared_column *sg_compared_column_find(const char *name)
{
    for (size_t i = 0; i < sg_compared_column_count; i++) {
        const struct sg_compared_column *column = &sg_compared_columns[i];

        if (strcmp(column->name, name) == 0 || strcmp(column->header, name) == 0)
            return column;
    }
    return NULL;
}

/* ---- sorting ----------------------------------------------------------------------------------
 */

struct sorted {
    struct sg_compared row;
    char *text; /* where the column has no figure */
    double figure;
    double blocked_ns;
};

/* In both first, then in a alone, then in b. */
static int group_of(const struct sg_compared *row)
{
    return sg_compared_in_both(row) ? 0 : row->side[0].present ? 1 : 2;
}

static int downwards(double a, double b)
{
    return (a < b) - (a > b);
}

static int compare(const void *left, const void *right)
{
    const struct sorted *a = left, *b = right;
    const struct sg_report_site *a_site = a->row.site, *b_site = b->row.site;
    int order = group_of(&a->row) - group_of(&b->row);

    if (order == 0 && a->text != NULL)
        order = strcmp(a->text, b->text);
    if (order == 0)
        order = downwards(a->figure, b->figure);
    if (order == 0)
        order = downwards(a->blocked_ns, b->blocked_ns);
    if (order == 0)
        order = (a_site->id > b_site->id) - (a_site->id < b_site->id);
    if (order == 0)
        order = (int)a_site->operation - (int)b_site->operation;
    return order != 0 ? order : (int)a_site->nonblocking - (int)b_site->nonblocking;
}

/* A site's algorithm is that of one communicator; a row's is that of the side that it begins with.
 */
static char *text_of(const struct sg_compared_column *column, const struct sg_compared *row)
{
    if (strcmp(column->name, "algorithm") == 0)
        return strdup(row->side[row->side[0].present ? 0 : 1].algorithm);
    return sg_column_text(sg_column_find(column->name), NULL, row->site);
}

enum sg_status sg_comparison_sort(struct sg_comparison *comparison,
                                  const struct sg_compared_column *column)
{
    uint32_t count = comparison->row_count;
    struct sorted *rows = calloc((size_t)count + 1, sizeof *rows);
    enum sg_status status = rows == NULL ? SG_ERR_MEMORY : SG_OK;

    for (uint32_t i = 0; i < count && status == SG_OK; i++) {
        rows[i].row = comparison->rows[i];
        rows[i].blocked_ns = figure_blocked(&rows[i].row);
        if (column->figure != NULL)
            rows[i].figure = column->figure(&rows[i].row);
        else if ((rows[i].text = text_of(column, &rows[i].row)) == NULL)
            status = SG_ERR_MEMORY;
    }
    if (status == SG_OK) {
        qsort(rows, count, sizeof *rows, compare);
        for (uint32_t i = 0; i < count; i++)
            comparison->rows[i] = rows[i].row;
    }
    for (uint32_t i = 0; rows != NULL && i < count; i++)
        free(rows[i].text);
    free(rows);
    return status;
}

void sg_comparison_keep(struct sg_comparison *comparison, uint32_t top)
{
    uint32_t kept = 0, count[3] = {0};

    for (uint32_t i = 0; i < comparison->row_count && top > 0; i++) {
        if (count[group_of(&comparison->rows[i])]++ < top)
            comparison->rows[kept++] = comparison->rows[i];
    }
    if (top == 0)
        return;
    comparison->row_count = kept;
    comparison->both_shown = count[0] < top ? count[0] : top;
}
