#include "compare/calls.h"

#include "core/room.h"

#include <stdlib.h>
#include <string.h>

typedef bool same_row(const struct sg_call_row *a, const struct sg_call_row *b);

static bool is_same_function(const struct sg_call_row *a, const struct sg_call_row *b)
{
    return strcmp(a->function, b->function) == 0;
}

static bool is_same_id(const struct sg_call_row *a, const struct sg_call_row *b)
{
    return is_same_function(a, b) && a->place.has_id == b->place.has_id &&
           (!a->place.has_id || a->place.id == b->place.id);
}

static bool is_same_text(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static bool is_same_line(const struct sg_call_row *a, const struct sg_call_row *b)
{
    return is_same_function(a, b) && a->place.line > 0 && a->place.line == b->place.line &&
           is_same_text(a->place.file, b->place.file) &&
           is_same_text(a->place.function, b->place.function);
}

/* The one that is the same and has nothing of this run yet; NULL if several are. */
static struct sg_compared_call *find(const struct sg_compared_call_list *list,
                                     const struct sg_call_row *row, same_row *same, uint32_t run)
{
    struct sg_compared_call *found = NULL;

    for (uint32_t i = 0; i < list->count; i++) {
        if (list->of[i].run == run || !same(list->of[i].row, row))
            continue;
        if (found != NULL)
            return NULL;
        found = &list->of[i];
    }
    return found;
}

static void add_row(struct sg_compared_call *to, int side, const struct sg_call_row *row,
                    uint32_t run)
{
    struct sg_call_side *of = &to->side[side];

    to->run = run;
    of->run_count++;
    of->calls += row->of.calls;
    of->time_ns += row->of.time_ns;
    of->sent_bytes += row->of.sent_bytes;
    of->received_bytes += row->of.received_bytes;
    sg_run_means_add(&to->times[side], (double)row->of.time_ns);
}

/* taken: by row, whether it has been added. */
static void add_known(struct sg_compared_call_list *list, int side, const struct sg_call_row *rows,
                      uint32_t count, uint32_t run, same_row *same, bool *taken)
{
    for (uint32_t i = 0; i < count; i++) {
        struct sg_compared_call *to = taken[i] ? NULL : find(list, &rows[i], same, run);

        if (to == NULL)
            continue;
        add_row(to, side, &rows[i], run);
        to->by_place = to->by_place || same == is_same_line;
        taken[i] = true;
    }
}

/* same: in this order of preference; ends with NULL. */
static enum sg_status add_rows(struct sg_compared_call_list *list, int side,
                               const struct sg_call_row *rows, uint32_t count, uint32_t run,
                               same_row *const same[])
{
    bool *taken = calloc((size_t)count + 1, sizeof *taken);
    enum sg_status status = taken != NULL ? SG_OK : SG_ERR_MEMORY;

    for (int i = 0; status == SG_OK && same[i] != NULL; i++)
        add_known(list, side, rows, count, run, same[i], taken);
    for (uint32_t i = 0; i < count && status == SG_OK; i++) {
        if (taken[i])
            continue;
        if (SG_APPEND(list->of, list->count, (struct sg_compared_call){.row = &rows[i]}))
            add_row(&list->of[list->count - 1], side, &rows[i], run);
        else
            status = SG_ERR_MEMORY;
    }
    free(taken);
    return status;
}

enum sg_status sg_compared_call_list_add(struct sg_compared_call_list *list, int side,
                                         const struct sg_call_row *rows, uint32_t count,
                                         uint32_t run)
{
    static same_row *const by_site[] = {is_same_id, is_same_line, NULL};

    return add_rows(list, side, rows, count, run, by_site);
}

enum sg_status sg_compared_calls_add(struct sg_compared_calls *calls, int side,
                                     const struct sg_report *runs, uint32_t run_count)
{
    static same_row *const by_name[] = {is_same_function, NULL};
    enum sg_status status = SG_OK;

    if (side == 0)
        calls->is_known = true;
    for (uint32_t i = 0; i < run_count && status == SG_OK; i++) {
        const struct sg_calls *of = runs[i].calls;
        uint32_t run = 1 + 2 * i + (uint32_t)side;

        if (of == NULL) {
            calls->is_known = false;
            continue;
        }
        calls->time_ns[side] += of->time_ns;
        calls->processor_ns[side] += of->processor_ns;
        status = add_rows(&calls->functions, side, of->functions, of->function_count, run, by_name);
        if (status == SG_OK)
            status = sg_compared_call_list_add(&calls->sites, side, of->sites, of->site_count, run);
    }
    return status;
}

/* ---- means and order ------------------------------------------------------------------------- */

static uint64_t most_ns(const struct sg_compared_call *call)
{
    return call->side[0].time_ns > call->side[1].time_ns ? call->side[0].time_ns
                                                         : call->side[1].time_ns;
}

static int compare_calls(const void *left, const void *right)
{
    const struct sg_compared_call *a = left, *b = right;
    int order = (most_ns(a) < most_ns(b)) - (most_ns(a) > most_ns(b));

    if (order == 0)
        order = strcmp(a->row->function, b->row->function);
    return order != 0
               ? order
               : (a->row->place.id > b->row->place.id) - (a->row->place.id < b->row->place.id);
}

void sg_compared_call_list_finish(struct sg_compared_call_list *list, bool several)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct sg_compared_call *call = &list->of[i];

        for (int side = 0; side < 2; side++) {
            struct sg_call_side *of = &call->side[side];
            uint32_t runs = of->run_count > 0 ? of->run_count : 1;

            of->calls = sg_mean_of(of->calls, runs);
            of->time_ns = sg_mean_of(of->time_ns, runs);
            of->sent_bytes = sg_mean_of(of->sent_bytes, runs);
            of->received_bytes = sg_mean_of(of->received_bytes, runs);
        }
        if (several && call->side[0].run_count > 0 && call->side[1].run_count > 0)
            call->difference = sg_run_spread(&call->times[0], &call->times[1]);
    }
    if (list->count > 0)
        qsort(list->of, list->count, sizeof *list->of, compare_calls);
}

void sg_compared_calls_finish(struct sg_compared_calls *calls, bool several)
{
    sg_compared_call_list_finish(&calls->functions, several);
    sg_compared_call_list_finish(&calls->sites, several);
}

void sg_compared_calls_clear(struct sg_compared_calls *calls)
{
    free(calls->functions.of);
    free(calls->sites.of);
    *calls = (struct sg_compared_calls){0};
}
