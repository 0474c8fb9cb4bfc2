/* Finds the window of consecutive calls with the most waiting while the archive is read. It keeps
 * three windows: the current one, the one before, and the one with the most waiting so far.
 */
#include "page/page_detail.h"

#include "core/room.h"
#include "core/text.h"
#include "report/aggregate.h"
#include "report/filter.h"
#include "report/report_columns.h"
#include "trace/export/vocabulary.h"

#include <stdlib.h>
#include <string.h>

#define OF_OPERATIONS (UINT64_C(1) << 31) /* above the numbers of functions */

enum { NOW, BEFORE, MOST, STRETCHES };

struct sg_stretches {
    struct sg_worst_stretch of[STRETCHES];
    uint32_t bar_room, rank_count; /* 0: not known yet */
    char **labels;
    uint32_t label_count;
    struct sg_map label_by_key;
};

enum sg_status sg_stretches_create(struct sg_stretches **out)
{
    *out = calloc(1, sizeof **out);
    return *out != NULL ? SG_OK : SG_ERR_MEMORY;
}

void sg_stretches_destroy(struct sg_stretches *stretches)
{
    if (stretches == NULL)
        return;
    for (int i = 0; i < STRETCHES; i++) {
        free(stretches->of[i].bars);
        free(stretches->of[i].lines);
        free(stretches->of[i].last_of_rank);
    }
    for (uint32_t i = 0; i < stretches->label_count; i++)
        free(stretches->labels[i]);
    free(stretches->labels);
    sg_map_clear(&stretches->label_by_key);
    free(stretches);
}

/* ---- labels ---------------------------------------------------------------------------------- */

static char *make_label(const struct sg_aggregate *aggregate, const char *function, uint32_t site)
{
    struct sg_report_site name = {0};
    char *text, *label = NULL;

    sg_aggregate_name_site(aggregate, site, &name);
    text = sg_site_text("site", NULL, &name);
    if (text != NULL && asprintf(&label, "%s %s", function, text) < 0)
        label = NULL;
    free(text);
    return label;
}

static enum sg_status find_label(struct sg_stretches *stretches,
                                 const struct sg_aggregate *aggregate, uint64_t number,
                                 const char *function, uint32_t site, uint32_t *out)
{
    bool is_new;
    int64_t index = sg_map_number(&stretches->label_by_key, number << 32 | site,
                                  stretches->label_count, &is_new);
    char *label;

    if (index < 0)
        return SG_ERR_MEMORY;
    *out = (uint32_t)index;
    if (!is_new)
        return SG_OK;
    label = make_label(aggregate, function, site);
    if (label != NULL && SG_APPEND(stretches->labels, stretches->label_count, label))
        return SG_OK;
    free(label);
    return SG_ERR_MEMORY;
}

const char *sg_stretches_label(const struct sg_stretches *stretches, uint32_t label)
{
    return stretches->labels[label];
}

/* ---- windows --------------------------------------------------------------------------------- */

static uint32_t bars_for(uint32_t ranks)
{
    if (ranks >= SG_STRETCH_BARS_MAX / SG_STRETCH_BARS_OF_RANK)
        return SG_STRETCH_BARS_MAX;
    return ranks * SG_STRETCH_BARS_OF_RANK > SG_STRETCH_BARS_MIN ? ranks * SG_STRETCH_BARS_OF_RANK
                                                                 : SG_STRETCH_BARS_MIN;
}

static enum sg_status make_room(struct sg_stretches *stretches, uint32_t ranks)
{
    if (stretches->bar_room > 0)
        return SG_OK;
    stretches->rank_count = ranks;
    for (int i = 0; i < STRETCHES; i++) {
        struct sg_worst_stretch *stretch = &stretches->of[i];

        stretch->bars = calloc(bars_for(ranks), sizeof *stretch->bars);
        stretch->lines = calloc(SG_STRETCH_LINES_MAX, sizeof *stretch->lines);
        stretch->last_of_rank = calloc((size_t)ranks + 1, sizeof *stretch->last_of_rank);
        if (stretch->bars == NULL || stretch->lines == NULL || stretch->last_of_rank == NULL)
            return SG_ERR_MEMORY;
    }
    stretches->bar_room = bars_for(ranks);
    return SG_OK;
}

static void empty(struct sg_worst_stretch *stretch, uint32_t ranks)
{
    memset(stretch->last_of_rank, 0, ranks * sizeof *stretch->last_of_rank);
    stretch->bar_count = stretch->line_count = 0;
    stretch->bars_left_out = stretch->lines_left_out = 0;
    stretch->wait_ns = 0;
}

static void swap(struct sg_worst_stretch *a, struct sg_worst_stretch *b)
{
    const struct sg_worst_stretch kept = *a;

    *a = *b;
    *b = kept;
}

/* Retires the window before the current one: by now nearly all waits of its calls are known. */
static void next_stretch(struct sg_stretches *stretches)
{
    struct sg_worst_stretch *of = stretches->of;

    if (of[BEFORE].wait_ns > of[MOST].wait_ns)
        swap(&of[BEFORE], &of[MOST]);
    swap(&of[NOW], &of[BEFORE]);
    empty(&of[NOW], stretches->rank_count);
}

/* NULL: the window is full. */
static struct sg_stretch_bar *add_bar(struct sg_stretches *stretches, uint32_t rank)
{
    struct sg_worst_stretch *now = &stretches->of[NOW];
    struct sg_stretch_bar *bar;

    if (now->bar_count == stretches->bar_room)
        return NULL;
    bar = &now->bars[now->bar_count++];
    *bar = (struct sg_stretch_bar){.rank = rank, .before = now->last_of_rank[rank]};
    now->last_of_rank[rank] = now->bar_count;
    return bar;
}

/* ---- events of the archive ------------------------------------------------------------------- */

enum sg_status sg_stretches_call(struct sg_stretches *stretches,
                                 const struct sg_aggregate *aggregate,
                                 const struct sg_seen_call *call)
{
    enum sg_status status = make_room(stretches, sg_aggregate_ranks(aggregate));
    struct sg_stretch_bar *bar;
    uint32_t label;

    if (status != SG_OK || strncmp(call->name, "MPI_Init", 8) == 0 ||
        strcmp(call->name, "MPI_Finalize") == 0)
        return status;
    status = find_label(stretches, aggregate, call->function, call->name, call->site, &label);
    if (status != SG_OK)
        return status;
    if (stretches->of[NOW].bar_count == stretches->bar_room)
        next_stretch(stretches);
    bar = add_bar(stretches, call->at.rank);
    bar->thread = call->at.thread;
    bar->label = label;
    bar->begin_ns = call->begin_ns;
    bar->end_ns = call->end_ns;
    return SG_OK;
}

static const char *name_of(const struct sg_instance *instance)
{
    return (instance->nonblocking ? sg_operation_nonblocking_regions
                                  : sg_operation_regions)[instance->operation];
}

/* Puts all calls of the instance into one window, as far as it has capacity. */
enum sg_status sg_stretches_instance(struct sg_stretches *stretches,
                                     const struct sg_aggregate *aggregate,
                                     const struct sg_seen_instance *seen)
{
    const struct sg_instance *instance = seen->instance;
    uint64_t number = OF_OPERATIONS | (uint64_t)instance->operation << 1 | instance->nonblocking;
    enum sg_status status = make_room(stretches, sg_aggregate_ranks(aggregate));
    struct sg_worst_stretch *now = &stretches->of[NOW];

    if (status == SG_OK && stretches->bar_room - now->bar_count < instance->size &&
        now->bar_count > 0)
        next_stretch(stretches);
    for (uint32_t i = 0; i < instance->size && status == SG_OK; i++) {
        const struct sg_member_call *call = &instance->calls[i];
        struct sg_stretch_bar *bar = add_bar(stretches, call->rank);

        if (bar == NULL) {
            now->bars_left_out++;
            continue;
        }
        status =
            find_label(stretches, aggregate, number, name_of(instance), call->site, &bar->label);
        bar->thread = call->thread;
        bar->begin_ns = call->begin_ns;
        bar->end_ns =
            instance->nonblocking ? call->begin_ns + (int64_t)call->start_ns : call->end_ns;
        /* A nonblocking collective's waiting happens in other calls. */
        bar->wait_ns = instance->nonblocking ? 0 : seen->costs[i].wait_ns;
        now->wait_ns += bar->wait_ns;
    }
    return status;
}

enum sg_status sg_stretches_message(struct sg_stretches *stretches,
                                    const struct sg_seen_message *message)
{
    struct sg_worst_stretch *now = &stretches->of[NOW];

    if (stretches->bar_room == 0 || message->received_ns < message->sent_ns)
        return SG_OK;
    if (now->line_count == SG_STRETCH_LINES_MAX)
        now->lines_left_out++;
    else
        now->lines[now->line_count++] = (struct sg_stretch_line){
            message->from.rank, message->to.rank, message->sent_ns, message->received_ns};
    return SG_OK;
}

/* NULL: it is not in the window. */
static struct sg_stretch_bar *find_bar(const struct sg_worst_stretch *stretch,
                                       const struct sg_seen_wait *wait)
{
    uint32_t at = stretch->last_of_rank[wait->at.rank];

    while (at > 0 && (stretch->bars[at - 1].begin_ns != wait->begin_ns ||
                      stretch->bars[at - 1].thread != wait->at.thread))
        at = stretch->bars[at - 1].before;
    return at > 0 ? &stretch->bars[at - 1] : NULL;
}

enum sg_status sg_stretches_wait(struct sg_stretches *stretches, const struct sg_seen_wait *wait)
{
    for (int i = 0; i < STRETCHES && stretches->bar_room > 0; i++) {
        struct sg_stretch_bar *bar = find_bar(&stretches->of[i], wait);

        if (bar == NULL)
            continue;
        bar->wait_ns = wait->wait_ns;
        stretches->of[i].wait_ns += wait->wait_ns;
        break;
    }
    return SG_OK;
}

const struct sg_worst_stretch *sg_stretches_most(const struct sg_stretches *stretches)
{
    const struct sg_worst_stretch *most = &stretches->of[MOST];

    for (int i = BEFORE; i >= NOW; i--) {
        if (stretches->of[i].wait_ns > most->wait_ns)
            most = &stretches->of[i];
    }
    return most->wait_ns > 0 ? most : NULL;
}
