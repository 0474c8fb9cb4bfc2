#include "bcs/bcs_advice.h"

#include "advise/recorded.h"
#include "bcs/program_run.h"
#include "bcs/program_stock.h"
#include "core/room.h"
#include "core/status.h"
#include "output/format.h"
#include "output/json_output.h"
#include "output/section.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

struct work {
    struct sg_coscheduling *found;
    struct sg_recording recording;
    struct sg_recorded_program programs[2]; /* [0]: as recorded, [1]: nonblocking */
    struct sg_network
        inside; /* between ranks of a node; latency includes the wait for a shared processor */
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
    row->gain = found->row_count == 1 || !row->ends ? NAN
                : found->rows[0].run_ns > 0         ? row->gain_ns / found->rows[0].run_ns
                                                    : 0;
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
        work->found->obstacle = "some of its messages and collectives do not match";
    else if (status == SG_OK)
        add_row(work, way, 0, &result);
    return status;
}

/* Models coscheduling as the library runs it: the host is the agent, each rank an endpoint. */
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
        status = sg_machine_make(&out->report, options->network, &out->machine);
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

/* ---- programs of a recording: as it ran, or with nonblocking calls */

/* A message of a blocking call made nonblocking: posted, and not awaited yet. */
struct pending {
    uint32_t peer, tag, comm;
    bool is_send;
    uint32_t number; /* number of the post */
};

/* A rank's program under construction. */
struct maker {
    const struct sg_recording_rank *rank;
    bool nonblocking;
    struct sg_step *steps;
    uint32_t step_count;
    uint32_t *numbers; /* number of each post, by index of the recorded step */
    uint32_t posted;
    struct pending *pending;
    uint32_t pending_count;
    const int32_t *const
        *places; /* [communicator][rank in MPI_COMM_WORLD]: the rank in the communicator */
    int32_t self;
};

static bool emit(struct maker *maker, const struct sg_step *step)
{
    return SG_APPEND(maker->steps, maker->step_count, *step);
}

static bool emit_wait(struct maker *maker, uint32_t number)
{
    struct sg_step wait = {.kind = SG_STEP_WAIT, .request = number};

    return emit(maker, &wait);
}

/* ---- blocking calls made nonblocking */

static bool wait_for_all(struct maker *maker)
{
    for (uint32_t i = 0; i < maker->pending_count; i++) {
        if (!emit_wait(maker, maker->pending[i].number))
            return false;
    }
    maker->pending_count = 0;
    return true;
}

/* Posts the message after a wait for the pending one of the same peer, tag, comm and direction. */
static bool defer(struct maker *maker, const struct sg_step *step, bool is_send)
{
    struct pending now = {(uint32_t)step->peer, step->tag, step->comm, is_send, maker->posted++};
    struct sg_step posted = *step;
    uint32_t i = 0;

    posted.kind = is_send ? SG_STEP_ISEND : SG_STEP_IRECV;
    while (i < maker->pending_count &&
           (maker->pending[i].peer != now.peer || maker->pending[i].tag != now.tag ||
            maker->pending[i].comm != now.comm || maker->pending[i].is_send != is_send))
        i++;
    if (i == SG_RECORDED_PENDING_MAX && !wait_for_all(maker))
        return false;
    if (i >= maker->pending_count)
        return emit(maker, &posted) && SG_APPEND(maker->pending, maker->pending_count, now);
    if (!emit_wait(maker, maker->pending[i].number) || !emit(maker, &posted))
        return false;
    maker->pending[i] = now;
    return true;
}

/* ---- steps */

static bool add_collective(struct maker *maker, const struct sg_recorded_step *recorded)
{
    struct sg_step step = recorded->step;

    step.own = maker->places[step.comm][maker->self];
    step.peer = maker->places[step.comm][recorded->root];
    return wait_for_all(maker) && emit(maker, &step);
}

static bool add_step(struct maker *maker, uint32_t place)
{
    const struct sg_recorded_step *recorded = &maker->rank->steps[place];
    struct sg_step step = recorded->step;
    bool is_send = step.kind == SG_STEP_SEND || step.kind == SG_STEP_ISEND;

    if (recorded->incomplete)
        return true;
    if (maker->nonblocking && recorded->blocking)
        return step.kind == SG_STEP_WAIT || defer(maker, &step, is_send);
    switch (step.kind) {
    case SG_STEP_ISEND:
    case SG_STEP_IRECV:
        maker->numbers[place] = maker->posted++;
        break;
    case SG_STEP_WAIT:
        if (maker->rank->steps[step.request].incomplete)
            return true;
        step.request = maker->numbers[step.request];
        break;
    case SG_STEP_COLLECTIVE:
        return add_collective(maker, recorded);
    default:
        break;
    }
    return emit(maker, &step);
}

static bool make_rank(struct maker *maker, int64_t begin_ns)
{
    const struct sg_recording_rank *rank = maker->rank;
    int64_t before_ns = begin_ns;
    struct sg_step end = {.kind = SG_STEP_END};

    for (uint32_t i = 0; i < rank->call_count; i++) {
        const struct sg_program_call *call = &rank->calls[i];
        struct sg_step compute = {.kind = SG_STEP_COMPUTE};

        if (call->begin_ns > before_ns) {
            compute.ns = (uint64_t)(call->begin_ns - before_ns);
            if (!emit(maker, &compute))
                return false;
        }
        if (call->collective > 0 &&
            !add_collective(maker, &rank->collectives[call->collective - 1]))
            return false;
        for (uint32_t j = 0; j < call->count; j++) {
            if (!add_step(maker, call->first + j))
                return false;
        }
        if (call->end_ns > before_ns)
            before_ns = call->end_ns;
    }
    return wait_for_all(maker) && emit(maker, &end);
}

static void step_of(const struct sg_program *program, int32_t process, uint64_t index,
                    struct sg_step *out)
{
    const struct sg_recorded_program *recorded = program->context;

    *out = recorded->steps[process][index];
}

/* ---- communicators: members in the order of their ranks in MPI_COMM_WORLD */

static bool make_comm(const struct sg_recording_comm *comm, uint32_t ranks,
                      struct sg_program_comm *out, int32_t **places)
{
    int32_t *members = calloc((size_t)ranks + 1, sizeof *members);

    out->members = members;
    *places = calloc((size_t)ranks + 1, sizeof **places);
    if (members == NULL || *places == NULL)
        return false;
    for (uint32_t rank = 0; rank < comm->size; rank++) {
        if (!comm->is_member[rank])
            continue;
        (*places)[rank] = out->size;
        members[out->size++] = (int32_t)rank;
    }
    return true;
}

static bool make_all(const struct sg_recording *recording, bool nonblocking,
                     struct sg_recorded_program *out, int32_t **places)
{
    for (uint32_t i = 0; i < recording->comm_count; i++) {
        if (!make_comm(&recording->comms[i], recording->rank_count, &out->comms[i], &places[i]))
            return false;
    }
    for (uint32_t i = 0; i < recording->rank_count; i++) {
        struct maker maker = {.rank = &recording->ranks[i],
                              .nonblocking = nonblocking,
                              .places = (const int32_t *const *)places,
                              .self = (int32_t)i};
        bool made;

        maker.numbers = calloc((size_t)maker.rank->step_count + 1, sizeof *maker.numbers);
        made = maker.numbers != NULL && make_rank(&maker, recording->begin_ns);
        free(maker.numbers);
        free(maker.pending);
        out->steps[i] = maker.steps;
        if (!made)
            return false;
    }
    return true;
}

enum sg_status sg_recording_program(const struct sg_recording *recording, bool nonblocking,
                                    struct sg_recorded_program *out)
{
    int32_t **places = calloc((size_t)recording->comm_count + 1, sizeof *places);
    bool made = false;

    *out = (struct sg_recorded_program){
        .comms = calloc((size_t)recording->comm_count + 1, sizeof *out->comms),
        .steps = calloc((size_t)recording->rank_count + 1, sizeof *out->steps)};
    out->program = (struct sg_program){.processes = (int32_t)recording->rank_count,
                                       .comms = out->comms,
                                       .comm_count = recording->comm_count,
                                       .context = out,
                                       .step = step_of};
    if (places != NULL && out->comms != NULL && out->steps != NULL)
        made = make_all(recording, nonblocking, out, places);
    for (uint32_t i = 0; i < recording->comm_count && places != NULL; i++)
        free(places[i]);
    free(places);
    if (made)
        return SG_OK;
    sg_log("advise: out of memory");
    return SG_ERR_MEMORY;
}

void sg_recorded_program_clear(struct sg_recorded_program *program, uint32_t ranks)
{
    for (uint32_t i = 0; i < program->program.comm_count && program->comms != NULL; i++)
        free((void *)program->comms[i].members);
    for (uint32_t i = 0; i < ranks && program->steps != NULL; i++)
        free(program->steps[i]);
    free(program->comms);
    free(program->steps);
    *program = (struct sg_recorded_program){0};
}

/* ---- output: the replays of a run as text and as JSON */

#define JSON_VERSION 1

static bool is_sliced(const void *row)
{
    return ((const struct sg_coscheduling_row *)row)->slice_us > 0;
}

static bool ends(const void *row)
{
    return ((const struct sg_coscheduling_row *)row)->ends;
}

static json_t *json_sliced(const void *row, const void *context)
{
    return json_boolean(is_sliced(row));
}

static void print_slice(const void *row, const void *context, FILE *out)
{
    if (is_sliced(row))
        fprintf(out, "  slices of %gus", ((const struct sg_coscheduling_row *)row)->slice_us);
    else
        fputs("  as usual", out);
}

static void print_note(const void *of, const void *context, FILE *out)
{
    const struct sg_coscheduling_row *row = of;

    fputs(!row->ends          ? "deadlock: its blocking sends need buffers"
          : row->within_error ? "within the error"
                              : "",
          out);
}

#define IS(which, member)                                                                          \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_coscheduling_row, member)

/* In JSON order. */
static const struct sg_column columns[] = {
    {"coscheduled", .json = json_sliced},
    {"messages", "messages", "messages", .left = true, IS(TEXT, messages)},
    {"slice_us", "slice", "", .left = true, IS(REAL_NS, slice_us), .known = is_sliced,
     .print = print_slice},
    {"ends", IS(FLAG, ends)},
    {"run_ns", "run", "run time", IS(REAL_NS, run_ns), .known = ends},
    {"in_calls_ns", "calls", "in calls, a rank", IS(REAL_NS, in_calls_ns), .known = ends},
    {"gain_ns", IS(REAL_NS, gain_ns), .known = ends},
    {NULL, "gain", "shorter by", IS(CHANGE, gain)},
    {"within_error", "note", "", .left = true, IS(FLAG, within_error), .print = print_note},
};
static const struct sg_columns all = SG_COLUMNS(columns);
static const struct sg_section section = {
    .json = {&all}, .text = {&all}, .shown = "slice messages run calls gain note"};

static struct sg_rows rows_of(const struct sg_coscheduling *found)
{
    return SG_ROWS(found->rows, (uint32_t)found->row_count, NULL);
}

static void put_head(const struct sg_coscheduling *found, FILE *out)
{
    const struct sg_report *report = &found->report;

    sg_format_put(report->program != NULL ? report->program : "program not known", out);
    fprintf(out, ", %" PRIu32 " rank%s, run time %s%s\n", report->rank_count,
            report->rank_count == 1 ? "" : "s", SG_NS(report->run_ns),
            report->partial ? ", PARTIAL" : "");
    fprintf(out, "costs: %s%s\n",
            found->machine.measured ? "measured on the run's machine when it began"
                                    : "of the network ",
            found->machine.measured ? "" : found->machine.between.name);
    if (sg_machine_was_busy(&found->machine))
        fputs("       the machine was busy meanwhile: the costs may be inaccurate\n", out);
}

enum sg_status sg_coscheduling_print_text(const struct sg_coscheduling *found, FILE *out)
{
    const struct sg_rows rows = rows_of(found);
    enum sg_status status;

    put_head(found, out);
    if (found->obstacle != NULL) {
        fprintf(out, "\nThe run cannot be replayed: %s.\n", found->obstacle);
        return SG_OK;
    }
    fprintf(out,
            "\nfrom the first call to the end of the last one, %" PRIu64
            " messages and collectives: measured %s,\nreplayed as usual %s: the error of the model "
            "is %s (%.1f%%)\n\n",
            found->calls, SG_NS(found->measured_ns), SG_UNSIGNED(found->rows[0].run_ns),
            SG_UNSIGNED(found->error_ns),
            found->measured_ns > 0 ? 100 * found->error_ns / (double)found->measured_ns : 0);
    status = sg_section_print_rows(&section, &rows, "advise", out);
    if (status != SG_OK)
        return status;
    if (found->buffers)
        fputs("\nas usual: all sends are buffered; otherwise blocking sends would wait for each "
              "other\n",
              out);
    fprintf(out,
            "\nnonblocking: blocking sends and receives are posted at their call and completed "
            "where the rank next\nexchanges with the same rank and tag, calls a collective or "
            "ends: the upper limit of nonblocking calls\n"
            "slices: calls return with %s; each rank is an endpoint, its processor the agent\n",
            found->restart_slice ? "the next slice" : "their phase of a slice");
    fputs("no advice: coscheduling does not speed up blocking calls\n", out);
    return SG_OK;
}

enum sg_status sg_coscheduling_print_json(const struct sg_coscheduling *found, FILE *out)
{
    const struct sg_report *report = &found->report;
    const struct sg_rows rows = rows_of(found);
    json_t *coscheduling, *root;

    coscheduling = json_pack(
        "{s:o, s:I, s:I, s:o, s:b, s:s, s:o}", "why_not", sg_json_text(found->obstacle), "calls",
        (json_int_t)found->calls, "measured_ns", (json_int_t)found->measured_ns, "error_ns",
        sg_json_real(found->row_count > 0, found->error_ns), "buffers", found->buffers, "restart",
        found->restart_slice ? "slice" : "phase", "rows", sg_section_list(&section, &rows));
    root = json_pack("{s:i, s:o, s:o, s:i, s:b, s:o}", "version", JSON_VERSION, "path",
                     sg_json_text(report->path), "program", sg_json_text(report->program), "ranks",
                     (int)report->rank_count, "partial", report->partial, "coscheduling",
                     coscheduling);
    return sg_json_print(root, 12, "advise", out);
}
