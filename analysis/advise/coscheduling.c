#include "advise/coscheduling.h"

#include "advise/recorded.h"
#include "sim/program/slices.h"
#include "sim/program/stock.h"

#include <math.h>

struct work {
    struct sg_coscheduling *found;
    struct sg_recording recording;
    struct sg_recorded_program programs[2]; /* as recorded, nonblocking */
    struct sg_network inside; /* as MPICH's messages find it where ranks share processors */
    uint32_t nodes;
};

static const char *const messages[] = {"as recorded", "nonblocking"};

static void add_row(struct work *work, int way, double slice_us,
                    const struct sg_program_result *result)
{
    struct sg_coscheduling *found = work->found;
    struct sg_coscheduling_row *row = &found->rows[found->row_count++];
    double ranks = work->recording.rank_count;

    *row = (struct sg_coscheduling_row){
        .messages = messages[way],
        .slice_us = slice_us,
        .ends = !result->stuck,
        .run_ns = (double)result->run_ns,
        .in_calls_ns = (result->blocked_ns + result->busy_ns) / ranks,
    };
    if (found->row_count == 1)
        found->error_ns = fabs(row->run_ns - (double)found->measured_ns);
    row->gain_ns = found->rows[0].run_ns - row->run_ns;
    row->within_error = found->row_count > 1 && row->ends && fabs(row->gain_ns) <= found->error_ns;
}

static enum sg_status run_usual(struct work *work, int way)
{
    const struct sg_machine *machine = &work->found->machine;
    struct sg_stock_setup setup = {.network = &machine->between,
                                   .inside = &work->inside,
                                   .node = work->recording.node,
                                   .eager_bytes = SG_STOCK_EAGER_DEFAULT};
    struct sg_program_result result = {0};
    enum sg_status status = SG_OK;

    if (work->found->buffers)
        setup.eager_bytes = UINT64_MAX;
    status = sg_stock_run(&setup, &work->programs[way].program, &result);
    if (status == SG_OK && result.stuck && !work->found->buffers) {
        work->found->buffers = true;
        setup.eager_bytes = UINT64_MAX;
        status = sg_stock_run(&setup, &work->programs[way].program, &result);
    }
    if (status == SG_OK && result.stuck)
        work->found->obstacle = "not all of its messages and collectives match";
    else if (status == SG_OK)
        add_row(work, way, 0, &result);
    return status;
}

/* As the library would run it: the agent is the host, a rank an endpoint. */
static enum sg_status run_slices(struct work *work, int way, double slice_us)
{
    const struct sg_machine *machine = &work->found->machine;
    struct sg_network network = work->nodes > 1 ? machine->between : machine->inside;
    struct sg_sliced_setup setup = {.network = &network,
                                    .slice_ns = sg_network_ns(slice_us),
                                    .restart_slice = work->found->restart_slice,
                                    .always = work->recording.has_messages,
                                    .on_host = true};
    struct sg_program_result result = {0};
    enum sg_status status;

    network.post_us = machine->between.local_us;
    status = sg_sliced_run(&setup, &work->programs[way].program, &result);
    if (status == SG_OK)
        add_row(work, way, slice_us, &result);
    return status;
}

static enum sg_status run_all(struct work *work, const struct sg_numbers *slices_us)
{
    enum sg_status status = SG_OK;

    for (int way = 0; way < 2 && status == SG_OK; way++)
        status = sg_recording_program(&work->recording, way == 1, &work->programs[way]);
    for (int way = 0; way < 2 && status == SG_OK && work->found->obstacle == NULL; way++)
        status = run_usual(work, way);
    for (int i = 0; i < slices_us->count && status == SG_OK && work->found->obstacle == NULL; i++) {
        for (int way = 0; way < 2 && status == SG_OK; way++)
            status = run_slices(work, way, slices_us->list[i]);
    }
    return status;
}

static void lay_out(struct work *work)
{
    const struct sg_recording *recording = &work->recording;

    work->inside = work->found->machine.inside;
    work->inside.latency_us += sg_machine_turn_us(&work->found->machine);
    work->nodes = 1;
    for (uint32_t i = 1; i < recording->rank_count && recording->node != NULL; i++) {
        if (recording->node[i] != recording->node[0])
            work->nodes = 2;
    }
}

enum sg_status sg_coscheduling_find(const char *path, const struct sg_coscheduling_options *options,
                                    struct sg_coscheduling *out)
{
    struct work work = {.found = out};
    enum sg_status status;

    *out = (struct sg_coscheduling){.restart_slice = options->restart_slice};
    status = sg_recording_read(path, options->progress, &out->report, &work.recording);
    if (status == SG_OK)
        status = sg_machine_make(&out->report.calibration, options->network, &out->machine);
    out->obstacle = work.recording.obstacle;
    out->measured_ns = work.recording.measured_ns;
    out->calls = work.recording.steps;
    if (status == SG_OK && out->obstacle == NULL) {
        lay_out(&work);
        status = run_all(&work, &options->slices_us);
    }
    for (int way = 0; way < 2; way++)
        sg_recorded_program_clear(&work.programs[way], work.recording.rank_count);
    sg_recording_clear(&work.recording);
    return status;
}

void sg_coscheduling_clear(struct sg_coscheduling *found)
{
    sg_report_clear(&found->report);
}
