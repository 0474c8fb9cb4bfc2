#include "report/columns.h"

#include "output/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PRINTER(name)                                                                              \
    static void print_##name(const struct sg_report *report, const struct sg_report_site *site,    \
                             FILE *out)
#define FIGURE(name)                                                                               \
    static double figure_##name(const struct sg_report *report, const struct sg_report_site *site)

static void put_ns(uint64_t ns, bool known, FILE *out)
{
    char text[SG_FORMAT_BYTES] = "-";

    if (known)
        sg_format_ns(ns, text);
    fputs(text, out);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

PRINTER(op)
{
    fputs(sg_site_operation(site), out);
}

/* What is known, the most telling first: the function, and file and line or else the place in the
 * module; or the id. A rule takes it as it stands. */
PRINTER(site)
{
    const char *blank = site->function != NULL ? " " : "";

    if (site->function != NULL)
        fputs(site->function, out);
    if (site->file != NULL)
        fprintf(out, "%s%s:%" PRIu32, blank, base_name(site->file), site->line);
    else if (site->module != NULL)
        fprintf(out, "%s%s+0x%" PRIx64, blank, base_name(site->module), site->offset);
    if (site->function == NULL && site->file == NULL && site->module == NULL) {
        if (site->has_id)
            fprintf(out, "#%08" PRIx32, site->id);
        else
            fputs("-", out);
    }
}

/* Function, file and line, place in the module: all that is known. */
PRINTER(where)
{
    const char *blank = "";

    if (site->function != NULL) {
        fputs(site->function, out);
        blank = " ";
    }
    if (site->file != NULL) {
        fprintf(out, "%s(%s:%" PRIu32 ")", blank, site->file, site->line);
        blank = " ";
    }
    if (site->module != NULL) {
        fprintf(out, "%s[%s+0x%" PRIx64 "]", blank, site->module, site->offset);
        blank = " ";
    }
    if (blank[0] == '\0')
        fputs("-", out);
}

static void put_comm(const char *name, uint32_t size, FILE *out)
{
    static const char prefix[] = "MPI_COMM_";

    if (strncmp(name, prefix, sizeof prefix - 1) == 0)
        name += sizeof prefix - 1;
    fprintf(out, "%s(%" PRIu32 ")", name, size);
}

PRINTER(worst)
{
    if (!sg_site_has_skew(site)) {
        fputs("-", out);
        return;
    }
    fprintf(out, "#%" PRIu64, site->worst_seq);
    if (site->comm == NULL) {
        fputs(" ", out);
        put_comm(site->worst_comm, site->worst_comm_size, out);
    }
}

PRINTER(at)
{
    put_ns(site->worst_time_ns > 0 ? (uint64_t)site->worst_time_ns : 0, sg_site_has_skew(site),
           out);
}

PRINTER(id)
{
    if (site->has_id)
        fprintf(out, "%08" PRIx32, site->id);
    else
        fputs("-", out);
}

PRINTER(comm)
{
    if (site->comm != NULL)
        put_comm(site->comm, site->comm_size, out);
    else
        fprintf(out, "%" PRIu32 " comms", site->comms);
}

PRINTER(size)
{
    if (site->comm_size > 0)
        fprintf(out, "%" PRIu32, site->comm_size);
    else
        fputs("-", out);
}

PRINTER(algorithm)
{
    fputs(site->algorithm[0] != '\0' ? site->algorithm : "-", out);
}

PRINTER(calls)
{
    fprintf(out, "%" PRIu64, site->calls);
}

PRINTER(instances)
{
    if (sg_site_has_skew(site))
        fprintf(out, "%" PRIu64, site->instances);
    else
        fputs("-", out);
}

PRINTER(bytes)
{
    char text[SG_FORMAT_BYTES];

    sg_format_bytes(site->bytes, text);
    fputs(text, out);
}

PRINTER(run)
{
    char text[SG_FORMAT_BYTES];

    sg_format_share(site->blocked_ns, report->ranks_run_ns, text);
    fputs(text, out);
}

PRINTER(last)
{
    char text[SG_FORMAT_BYTES];

    if (site->last_rank < 0) {
        fputs("-", out);
        return;
    }
    snprintf(text, sizeof text, "%.0f%%",
             100.0 * (double)site->last_count / (double)site->instances);
    fprintf(out, "%" PRId64 " %4s", site->last_rank, text);
}

FIGURE(size)
{
    return site->comm_size > 0 ? (double)site->comm_size : -1;
}

FIGURE(calls)
{
    return (double)site->calls;
}

FIGURE(instances)
{
    return sg_site_has_skew(site) ? (double)site->instances : -1;
}

FIGURE(bytes)
{
    return (double)site->bytes;
}

FIGURE(last)
{
    return site->last_rank < 0 ? -1 : (double)site->last_count / (double)site->instances;
}

FIGURE(at)
{
    return sg_site_has_skew(site) ? (double)site->worst_time_ns : -1;
}

#define TIME(name, known, ns)                                                                      \
    PRINTER(name)                                                                                  \
    {                                                                                              \
        put_ns(ns, known, out);                                                                    \
    }                                                                                              \
    FIGURE(name)                                                                                   \
    {                                                                                              \
        return (known) ? (double)(ns) : -1;                                                        \
    }

TIME(p50, sg_site_has_skew(site), site->skew_p50_ns)
TIME(p95, sg_site_has_skew(site), site->skew_p95_ns)
TIME(max, sg_site_has_skew(site), site->skew_max_ns)
TIME(wait, sg_site_has_wait(site), site->wait_ns)
TIME(avoided, sg_site_has_wait(site), site->wait_avoided_ns)
TIME(exposed, sg_site_has_exposed(site), site->exposed_ns)
TIME(hidden, site->nonblocking, site->hidden_ns)
TIME(blocked, true, site->blocked_ns)
TIME(handler, true, site->handler_ns)

#define COUNT(name, count)                                                                         \
    PRINTER(name)                                                                                  \
    {                                                                                              \
        fprintf(out, "%" PRIu64, site->counts.of[count]);                                          \
    }                                                                                              \
    FIGURE(name)                                                                                   \
    {                                                                                              \
        return (double)site->counts.of[count];                                                     \
    }

COUNT(early, SG_COUNT_EARLY)
COUNT(late, SG_COUNT_LATE)
COUNT(outstanding, SG_COUNT_OUTSTANDING)
COUNT(signals, SG_COUNT_SIGNALS)
COUNT(ignored, SG_COUNT_IGNORED)
COUNT(stalls, SG_COUNT_STALLS)
COUNT(moves, SG_COUNT_MOVES)
COUNT(repeats, SG_COUNT_REPEATS)

#define ALL (SG_COLUMN_COSTS | SG_COLUMN_PLACES | SG_COLUMN_MESSAGES)
#define NAMES (SG_COLUMN_PLACES | SG_COLUMN_MESSAGES)
#define RARE (SG_COLUMN_MESSAGES | SG_COLUMN_NONZERO)

/* In the order of the tables. */
const struct sg_column sg_columns[] = {
    {"id", "id", true, 0, false, NAMES, print_id, NULL},
    {"op", "op", true, 0, false, ALL, print_op, NULL},
    {"site", "call site", true, 0, true, SG_COLUMN_COSTS, print_site, NULL},
    {"comm", "comm", true, 16, false, ALL, print_comm, NULL},
    {"size", "size", false, 0, false, 0, print_size, figure_size},
    {"algorithm", "algo", true, 12, false, SG_COLUMN_COSTS, print_algorithm, NULL},
    {"calls", "calls", false, 0, false, SG_COLUMN_COSTS, print_calls, figure_calls},
    {"instances", "inst", false, 0, false, SG_COLUMN_COSTS, print_instances, figure_instances},
    {"bytes", "bytes", false, 0, false, SG_COLUMN_COSTS, print_bytes, figure_bytes},
    {"p50", "skew50", false, 0, false, SG_COLUMN_COSTS, print_p50, figure_p50},
    {"p95", "skew95", false, 0, false, SG_COLUMN_COSTS, print_p95, figure_p95},
    {"max", "skewmax", false, 0, false, SG_COLUMN_COSTS, print_max, figure_max},
    {"wait", "wait", false, 0, false, SG_COLUMN_COSTS, print_wait, figure_wait},
    {"blocked", "blocked", false, 0, false, SG_COLUMN_COSTS, print_blocked, figure_blocked},
    {"run", "run", false, 0, false, SG_COLUMN_COSTS, print_run, figure_blocked},
    {"last", "last", false, 0, false, SG_COLUMN_COSTS, print_last, figure_last},
    {"where", "where", true, 0, false, SG_COLUMN_PLACES, print_where, NULL},
    {"worst", "worst", false, 0, false, SG_COLUMN_PLACES, print_worst, figure_max},
    {"at", "at", false, 0, false, SG_COLUMN_PLACES, print_at, figure_at},
    {"avoided", "avoided", false, 0, false, RARE, print_avoided, figure_avoided},
    {"exposed", "exposed", false, 0, false, RARE, print_exposed, figure_exposed},
    {"hidden", "hidden", false, 0, false, RARE, print_hidden, figure_hidden},
    {"early", "early", false, 0, false, RARE, print_early, figure_early},
    {"late", "late", false, 0, false, RARE, print_late, figure_late},
    {"handler", "handler", false, 0, false, RARE, print_handler, figure_handler},
    {"outstanding", "outstanding", false, 0, false, RARE, print_outstanding, figure_outstanding},
    {"signals", "signals", false, 0, false, RARE, print_signals, figure_signals},
    {"ignored", "ignored", false, 0, false, RARE, print_ignored, figure_ignored},
    {"stalls", "stalls", false, 0, false, RARE, print_stalls, figure_stalls},
    {"moves", "moves", false, 0, false, RARE, print_moves, figure_moves},
    {"repeats", "repeats", false, 0, false, RARE, print_repeats, figure_repeats},
};
const size_t sg_column_count = sizeof sg_columns / sizeof sg_columns[0];

const struct sg_column *sg_column_find(const char *name)
{
    for (size_t i = 0; i < sg_column_count; i++) {
        if (strcmp(sg_columns[i].name, name) == 0 || strcmp(sg_columns[i].header, name) == 0)
            return &sg_columns[i];
    }
    return NULL;
}

char *sg_column_text(const struct sg_column *column, const struct sg_report *report,
                     const struct sg_report_site *site)
{
    char *raw = NULL, *clean = NULL;
    size_t size_bytes;
    FILE *stream = open_memstream(&raw, &size_bytes);

    if (stream == NULL)
        return NULL;
    column->print(report, site, stream);
    if (fclose(stream) == 0)
        clean = sg_format_clean(raw, true);
    free(raw);
    return clean;
}

/* ---- sorting ----------------------------------------------------------------------------------
 */

struct sorted {
    struct sg_report_site site;
    char *text; /* where the column has no figure */
    double figure;
};

static int compare(const void *left, const void *right)
{
    const struct sorted *a = left, *b = right;
    int order = a->text != NULL ? strcmp(a->text, b->text) : 0;

    if (order == 0)
        order = (a->figure < b->figure) - (a->figure > b->figure);
    if (order == 0)
        order =
            (a->site.blocked_ns < b->site.blocked_ns) - (a->site.blocked_ns > b->site.blocked_ns);
    if (order == 0)
        order = (a->site.id > b->site.id) - (a->site.id < b->site.id);
    if (order == 0)
        order =
            (a->site.comm_index > b->site.comm_index) - (a->site.comm_index < b->site.comm_index);
    if (order == 0)
        order = (int)a->site.operation - (int)b->site.operation;
    if (order == 0)
        order = (int)a->site.nonblocking - (int)b->site.nonblocking;
    return order;
}

static enum sg_status sort(const struct sg_report *report, struct sg_report_site *sites,
                           uint32_t count, const struct sg_column *column)
{
    struct sorted *rows = calloc((size_t)count + 1, sizeof *rows);
    enum sg_status status = rows == NULL ? SG_ERR_MEMORY : SG_OK;

    for (uint32_t i = 0; i < count && status == SG_OK; i++) {
        rows[i].site = sites[i];
        if (column->figure != NULL) {
            rows[i].figure = column->figure(report, &rows[i].site);
        } else {
            rows[i].text = sg_column_text(column, report, &rows[i].site);
            if (rows[i].text == NULL)
                status = SG_ERR_MEMORY;
        }
    }
    if (status == SG_OK) {
        qsort(rows, count, sizeof *rows, compare);
        for (uint32_t i = 0; i < count; i++)
            sites[i] = rows[i].site;
    } else {
        sg_log("report: out of memory");
    }
    for (uint32_t i = 0; rows != NULL && i < count; i++)
        free(rows[i].text);
    free(rows);
    return status;
}

enum sg_status sg_report_sort(struct sg_report *report, const struct sg_column *column)
{
    enum sg_status status = sort(report, report->sites, report->site_count, column);

    return status == SG_OK ? sort(report, report->sums, report->sum_count, column) : status;
}
