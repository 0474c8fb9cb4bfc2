/* The data for the report's charts: of the first SG_PAGE_SITES rows, and of all ranks in at most
 * SG_PAGE_COLUMNS columns. Times are ns, and relative where that is shorter.
 */
#include "output/json_output.h"
#include "page/html.h"
#include "page/page.h"
#include "report/profile_calls.h"
#include "report/report_columns.h"

#include <stdlib.h>

/* Jansson propagates NULL: a call with a NULL value fails and returns NULL, so errors reach the
 * top. */
static json_t *integer(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* Bins without trailing empty ones. */
#define BINS(bits)                                                                                 \
    static json_t *bins##bits(const uint##bits##_t *bins, uint32_t count)                          \
    {                                                                                              \
        json_t *array = json_array();                                                              \
                                                                                                   \
        while (count > 0 && bins[count - 1] == 0)                                                  \
            count--;                                                                               \
        for (uint32_t i = 0; i < count; i++)                                                       \
            json_array_append_new(array, integer(bins[i]));                                        \
        return array;                                                                              \
    }

BINS(32)
BINS(64)

/* [wait bin, blocked bin, calls] of each bin that is not empty. */
static json_t *costs_of(const struct sg_detail_row *row)
{
    json_t *array = json_array();

    for (uint32_t wait = 0; wait < SG_DETAIL_COSTS; wait++) {
        for (uint32_t blocked = 0; blocked < SG_DETAIL_COSTS; blocked++) {
            if (row->costs[wait][blocked] > 0)
                json_array_append_new(array, json_pack("[i, i, I]", (int)wait, (int)blocked,
                                                       (json_int_t)row->costs[wait][blocked]));
        }
    }
    return array;
}

/* [instances, sum of skews, largest skew, wait, blocked, early, late, signals] of each bin. */
static json_t *times_of(const struct sg_detail_row *row)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < SG_DETAIL_TIMES; i++) {
        const struct sg_detail_time *time = &row->times[i];

        json_array_append_new(array,
                              json_pack("[I, I, I, I, I, I, I, I]", (json_int_t)time->instances,
                                        (json_int_t)time->skew_sum_ns,
                                        (json_int_t)time->skew_max_ns, (json_int_t)time->wait_ns,
                                        (json_int_t)time->blocked_ns, (json_int_t)time->early,
                                        (json_int_t)time->late, (json_int_t)time->signals));
    }
    return array;
}

/* The mean lateness of a rank, in ns; -1: it took part in no instance. */
static int64_t late_of(const struct sg_detail_rank *rank)
{
    return rank->instances > 0 ? (int64_t)(rank->late_ns / rank->instances) : -1;
}

static int64_t wait_of(const struct sg_detail_rank *rank)
{
    return rank->calls > 0 ? (int64_t)rank->wait_ns : -1;
}

/* For each column [ns, rank] of the rank with the most; null if no rank of the column took part. */
static json_t *ranks_of(const struct sg_report *report, const struct sg_detail_row *row,
                        int64_t (*ns_of)(const struct sg_detail_rank *rank))
{
    uint32_t group = sg_page_group(report);
    json_t *array = json_array();

    for (uint32_t first = 0; first < row->rank_count; first += group) {
        uint32_t most = first;

        for (uint32_t rank = first; rank < row->rank_count && rank < first + group; rank++) {
            if (ns_of(&row->ranks[rank]) > ns_of(&row->ranks[most]))
                most = rank;
        }
        json_array_append_new(
            array, ns_of(&row->ranks[most]) < 0
                       ? json_null()
                       : json_pack("[I, i]", (json_int_t)ns_of(&row->ranks[most]), (int)most));
    }
    return array;
}

static json_t *text_of(const struct sg_page *page, const struct sg_report_site *site,
                       const char *column)
{
    char *text = sg_site_text(column, page->report, site);
    json_t *value = text != NULL ? json_string(text) : NULL;

    free(text);
    return value;
}

static json_t *site_of(const struct sg_page *page, uint32_t index, const struct sg_detail_row *row)
{
    const struct sg_report_site *site = &page->report->sums[index];
    json_t *value = json_pack(
        "{s:i, s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:I, s:o, s:o, s:o}", "row",
        (int)index, "op", sg_site_operation(site), "site", text_of(page, site, "site"), "where",
        text_of(page, site, "where"), "comm", text_of(page, site, "comm"), "id",
        text_of(page, site, "id"), "calls", (json_int_t)site->event_calls, "instances",
        (json_int_t)site->instances, "p50", (json_int_t)site->skew_p50_ns, "p95",
        (json_int_t)site->skew_p95_ns, "skews", bins32(row->skews, SG_DETAIL_SKEWS), "width_ns",
        (json_int_t)row->time_width_ns, "times", times_of(row), "costs", costs_of(row), "sizes",
        bins64(row->sizes, SG_DETAIL_SIZES));

    if (value == NULL || row->ranks == NULL)
        return value;
    json_object_set_new(value, "late", ranks_of(page->report, row, late_of));
    json_object_set_new(value, "wait", ranks_of(page->report, row, wait_of));
    return value;
}

static json_t *sites_of(const struct sg_page *page)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < page->report->sum_count && json_array_size(array) < SG_PAGE_SITES;
         i++) {
        const struct sg_detail_row *row = sg_detail_row(page->detail, page->report->sums[i].row);

        if (row != NULL && json_array_append_new(array, site_of(page, i, row)) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* ---- worst instances ------------------------------------------------------------------------- */

static const struct sg_report_site *site_of_row(const struct sg_report *report, uint32_t row)
{
    for (uint32_t i = 0; i < report->site_count; i++) {
        if (report->sites[i].row == row)
            return &report->sites[i];
    }
    return NULL;
}

static int by_skew(const void *left, const void *right)
{
    const struct sg_detail_worst *a = *(struct sg_detail_worst *const *)left;
    const struct sg_detail_worst *b = *(struct sg_detail_worst *const *)right;

    if (a->skew_ns != b->skew_ns)
        return a->skew_ns < b->skew_ns ? 1 : -1;
    return (a->row > b->row) - (a->row < b->row);
}

static int by_rank(const void *left, const void *right)
{
    const struct sg_detail_part *a = left, *b = right;

    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* For each group of `step` ranks in rank order, the part of the one that arrives last. */
static json_t *parts_of(const struct sg_detail_worst *worst, uint32_t step, int64_t first_ns)
{
    json_t *array = json_array();

    for (uint32_t from = 0; from < worst->size; from += step) {
        const struct sg_detail_part *part = &worst->parts[from];

        for (uint32_t i = from; i < worst->size && i < from + step; i++) {
            if (worst->parts[i].begin_ns > part->begin_ns)
                part = &worst->parts[i];
        }
        json_array_append_new(array, json_pack("[i, I, I, I]", (int)part->rank,
                                               (json_int_t)(part->begin_ns - first_ns),
                                               (json_int_t)(part->end_ns - first_ns),
                                               (json_int_t)part->wait_ns));
    }
    return array;
}

/* Times since the instance's first arrival: parts are [rank, arrival, departure, wait], late
 * contributions [rank, begin, length]. */
static json_t *worst_of(const struct sg_page *page, const struct sg_detail_worst *worst,
                        const struct sg_report_site *site)
{
    uint32_t step = (worst->size + SG_PAGE_LANES - 1) / SG_PAGE_LANES;
    json_t *late = json_array();
    int64_t first_ns = worst->parts[0].begin_ns;

    qsort(worst->parts, worst->size, sizeof *worst->parts, by_rank);
    for (uint32_t i = 0; i < worst->size; i++) {
        if (worst->parts[i].begin_ns < first_ns)
            first_ns = worst->parts[i].begin_ns;
    }
    for (uint32_t i = 0; i < worst->late_count && i < SG_DETAIL_LATE; i++)
        json_array_append_new(late, json_pack("[i, I, I]", (int)worst->late[i].rank,
                                              (json_int_t)(worst->late[i].begin_ns - first_ns),
                                              (json_int_t)worst->late[i].handler_ns));
    return json_pack("{s:s, s:o, s:o, s:I, s:I, s:I, s:i, s:i, s:o, s:o, s:i}", "op",
                     sg_site_operation(site), "site", text_of(page, site, "site"), "comm",
                     text_of(page, site, "comm"), "seq", (json_int_t)worst->seq, "at_ns",
                     (json_int_t)first_ns, "skew_ns", (json_int_t)worst->skew_ns, "ranks",
                     (int)worst->size, "step", (int)step, "parts", parts_of(worst, step, first_ns),
                     "late", late, "late_count", (int)worst->late_count);
}

static json_t *all_worst_of(const struct sg_page *page)
{
    const struct sg_detail *detail = page->detail;
    const struct sg_detail_worst *sorted[SG_DETAIL_WORST] = {NULL};
    json_t *array = json_array();

    for (uint32_t i = 0; i < detail->worst_count; i++)
        sorted[i] = &detail->worst[i];
    qsort(sorted, detail->worst_count, sizeof *sorted, by_skew);
    for (uint32_t i = 0; i < detail->worst_count && json_array_size(array) < SG_PAGE_WORST; i++) {
        const struct sg_report_site *site = site_of_row(page->report, sorted[i]->row);

        if (site != NULL && json_array_append_new(array, worst_of(page, sorted[i], site)) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* The time each rank waited, as part of its time blocked. */
static uint64_t *waits_of(const struct sg_page *page)
{
    uint64_t *waits = calloc((size_t)page->report->rank_count + 1, sizeof *waits);

    for (uint32_t i = 0; i < page->detail->row_room && waits != NULL; i++) {
        const struct sg_detail_row *row = page->detail->rows[i];

        for (uint32_t rank = 0; row != NULL && rank < row->rank_count; rank++)
            waits[rank] += row->ranks[rank].wait_ns;
    }
    return waits;
}

/* For each column means over its ranks: [rank time, blocked, wait]. */
static json_t *by_rank_of(const struct sg_page *page)
{
    const struct sg_report *report = page->report;
    uint32_t group = sg_page_group(report);
    uint64_t *waits = waits_of(page);
    json_t *array = json_array();

    for (uint32_t first = 0; first < report->rank_count && waits != NULL; first += group) {
        uint64_t run_ns = 0, blocked_ns = 0, wait_ns = 0;
        uint32_t count = 0;

        do {
            run_ns += report->ranks[first + count].thread_ns;
            blocked_ns += report->ranks[first + count].blocked_ns;
            wait_ns += waits[first + count];
        } while (++count < group && first + count < report->rank_count);
        json_array_append_new(array, json_pack("[I, I, I]", (json_int_t)(run_ns / count),
                                               (json_int_t)(blocked_ns / count),
                                               (json_int_t)(wait_ns / count)));
    }
    if (waits == NULL) {
        json_decref(array);
        return NULL;
    }
    free(waits);
    return array;
}

enum sg_status sg_page_write_data(const struct sg_page *page, FILE *out)
{
    const struct sg_report *report = page->report;
    json_t *data = NULL;

    if (report->has_events && report->rank_count > 0)
        data = json_pack("{s:b, s:I, s:I, s:I, s:i, s:i, s:i, s:o, s:o, s:o}", "events", 1, "ranks",
                         (json_int_t)report->rank_count, "group", (json_int_t)sg_page_group(report),
                         "run_ns", (json_int_t)report->run_ns, "skew_octave",
                         SG_DETAIL_SKEWS_OCTAVE, "cost_log2", SG_DETAIL_COST_FIRST_LOG2,
                         "late_limit", (int)SG_DETAIL_LATE, "sites", sites_of(page), "worst",
                         all_worst_of(page), "by_rank", by_rank_of(page));
    else
        data = json_pack("{s:b}", "events", 0);
    if (report->calls != NULL && report->calls->pair_count > 0)
        sg_json_set(&data, "messages", sg_page_messages_data(report->calls));
    if (report->has_events)
        sg_page_set_stretch(&data, page);
    sg_page_set_causes(&data, page);
    sg_page_set_slices(&data, page);
    return sg_html_data("data", data, out);
}
