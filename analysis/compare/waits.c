#include "compare/waits.h"

#include "core/room.h"

#include <stdlib.h>

static uint32_t rows_of_kind(const struct sg_waitstates *states, enum sg_waitstate_kind kind,
                             struct sg_call_row *out)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < states->row_count; i++) {
        const struct sg_waitstate_row *row = &states->rows[i];

        if (row->kind == kind)
            out[count++] =
                (struct sg_call_row){.place = row->at.site,
                                     .function = row->at.function,
                                     .of = {.calls = row->of.waits, .time_ns = row->of.wait_ns}};
    }
    return count;
}

static enum sg_status add_run(struct sg_compared_waits *waits, int side,
                              const struct sg_waitstates *states, uint32_t run)
{
    struct sg_call_row *rows = calloc((size_t)states->row_count + 1, sizeof *rows);
    enum sg_status status = SG_OK;

    if (rows == NULL || !SG_APPEND(waits->rows, waits->row_count, rows)) {
        free(rows);
        return SG_ERR_MEMORY;
    }
    for (int kind = 0; kind < SG_WAITSTATE_KINDS && status == SG_OK; kind++) {
        uint32_t count = rows_of_kind(states, (enum sg_waitstate_kind)kind, rows);

        status = sg_compared_call_list_add(&waits->of[kind], side, rows, count, run);
        rows += count;
    }
    return status;
}

enum sg_status sg_compared_waits_add(struct sg_compared_waits *waits, int side,
                                     const struct sg_report *runs, uint32_t run_count)
{
    enum sg_status status = SG_OK;

    if (side == 0)
        waits->is_known = true;
    for (uint32_t i = 0; i < run_count && status == SG_OK; i++) {
        if (runs[i].waitstates == NULL)
            waits->is_known = false;
        else
            status = add_run(waits, side, runs[i].waitstates, 1 + 2 * i + (uint32_t)side);
    }
    return status;
}

void sg_compared_waits_finish(struct sg_compared_waits *waits, bool several)
{
    for (int kind = 0; kind < SG_WAITSTATE_KINDS; kind++)
        sg_compared_call_list_finish(&waits->of[kind], several);
}

void sg_compared_waits_clear(struct sg_compared_waits *waits)
{
    for (int kind = 0; kind < SG_WAITSTATE_KINDS; kind++)
        free(waits->of[kind].of);
    for (uint32_t i = 0; i < waits->row_count; i++)
        free(waits->rows[i]);
    free(waits->rows);
    *waits = (struct sg_compared_waits){0};
}
