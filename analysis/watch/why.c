#include "watch/why.h"

#include "report/map.h"

#include <string.h>

#define WORLD 1 /* as the profile numbers communicators */

/* ---- in the run ------------------------------------------------------------------------------ */

static int64_t late_rank(const struct sg_live_figures *run)
{
    return run->last_rank >= 0 ? run->last_rank : run->least_rank;
}

/* What was done before calls comes with the longest beyond the others first. */
enum sg_status sg_live_why_find(struct sg_live_view *view)
{
    const struct sg_before *before = view->report.calls != NULL ? view->report.calls->before : NULL;
    struct sg_map row_by_site = {0};
    enum sg_status status = SG_OK;

    for (uint32_t i = view->row_count; before != NULL && i > 0 && status == SG_OK; i--)
        status = sg_map_put(&row_by_site, view->rows[i - 1].call.place.site, i - 1);
    for (uint32_t i = 0; before != NULL && i < before->row_count && status == SG_OK; i++) {
        const struct sg_before_row *found = &before->rows[i];
        int64_t at =
            found->until->function != NULL ? sg_map_get(&row_by_site, found->until->site.site) : -1;

        if (found->has_cause && at >= 0 && view->rows[at].why == NULL &&
            late_rank(&view->rows[at].run) == found->rank)
            view->rows[at].why = found;
    }
    sg_map_clear(&row_by_site);
    return status;
}

/* ---- now ------------------------------------------------------------------------------------- */

/* A receive from a rank of MPI_COMM_WORLD. Its message may be on its way for a moment: it has to
 * wait for as long as is known what the rank does. */
static bool receives_from(const struct sg_live_stay *stay, const char *function,
                          const struct sg_live_rank *other)
{
    const struct sg_record_event *event = &stay->call->record.event;

    return (strcmp(function, "MPI_Recv") == 0 || strcmp(function, "MPI_Probe") == 0 ||
            strcmp(function, "MPI_Mprobe") == 0) &&
           event->comm == WORLD && event->from == (int64_t)other->rank &&
           stay->open_ns >= other->outside.ns;
}

static bool waits_for(const struct sg_live_stay *stay, const char *function,
                      const struct sg_live_rank *other, const struct sg_live_arrivals *arrivals)
{
    if (stay->call->record.bytes[0] == SG_RECORD_CALL)
        return sg_live_arrivals_awaits(arrivals, (uint32_t)stay->log->rank,
                                       &stay->call->record.call, other->rank);
    return receives_from(stay, function, other);
}

static struct sg_live_row *row_of(struct sg_live_view *view, uint32_t id, const char *function)
{
    for (uint32_t i = 0; i < view->row_count; i++) {
        struct sg_live_row *row = &view->rows[i];

        if (row->call.place.id == id && strcmp(row->call.function, function) == 0)
            return row;
    }
    return NULL;
}

/* The longest outside of those that the call waits for; NULL: none. */
static const struct sg_live_rank *find_awaited(const struct sg_live_view *view,
                                               const struct sg_live_stay *stay,
                                               const char *function,
                                               const struct sg_live_arrivals *arrivals)
{
    const struct sg_live_rank *longest = NULL;

    for (uint32_t i = 0; i < view->rank_count; i++) {
        const struct sg_live_rank *rank = &view->per_rank[i];

        if (rank->outside.is_known &&
            (longest == NULL || rank->outside.out_ns > longest->outside.out_ns) &&
            waits_for(stay, function, rank, arrivals))
            longest = rank;
    }
    return longest;
}

void sg_live_why_find_awaited(struct sg_live_view *view, const struct sg_live_tally *tally,
                              const struct sg_live_arrivals *arrivals)
{
    for (uint32_t i = 0; i < tally->stay_count; i++) {
        const struct sg_live_stay *stay = &tally->stays[i];
        const struct sg_live_place *place = &tally->places[stay->place];
        const char *function = tally->functions[place->function];
        struct sg_live_row *row = row_of(view, place->id, function);
        const struct sg_live_rank *awaited =
            row != NULL ? find_awaited(view, stay, function, arrivals) : NULL;

        if (awaited != NULL &&
            (row->awaited == NULL || awaited->outside.out_ns > row->awaited->outside.out_ns))
            row->awaited = awaited;
    }
}
