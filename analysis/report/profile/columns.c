#include "report/profile/columns.h"

#include "output/format.h"
#include "output/json.h"
#include "report/columns.h"
#include "report/profile/calls.h"

#include <inttypes.h>

#define KNOWN(name, condition)                                                                     \
    static bool knows_##name(const void *of)                                                       \
    {                                                                                              \
        const struct sg_call_row *row = of;                                                        \
                                                                                                   \
        return condition;                                                                          \
    }

KNOWN(id, row->place.has_id)
KNOWN(line, row->place.line > 0)
KNOWN(offset, row->place.module != NULL)
KNOWN(size, row->place.comm_size > 0)

static void print_comm(const void *of, const void *context, FILE *out)
{
    const struct sg_call_row *row = of;

    (void)context;
    if (row->place.comms == 0)
        fputs("-", out);
    else if (row->place.comm != NULL)
        sg_comm_put(row->place.comm, row->place.comm_size, out);
    else
        fprintf(out, "%" PRIu32 " comms", row->place.comms);
}

static void print_run(const void *of, const void *context, FILE *out)
{
    const struct sg_call_row *row = of;
    const struct sg_calls *calls = context;

    fputs(SG_SHARE(row->of.time_ns, calls->processor_ns), out);
}

static json_t *json_run(const void *of, const void *context)
{
    const struct sg_call_row *row = of;
    const struct sg_calls *calls = context;

    return sg_json_share(row->of.time_ns, calls->processor_ns);
}

#define IS(which, member) .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_call_row, member)

/* In the order of JSON. */
static const struct sg_column columns[] = {
    {"mpi_function", "function", "function", .left = true, IS(TEXT, function)},
    {"id", IS(ID, place.id), .known = knows_id},
    {"function", IS(TEXT, place.function)},
    {"file", IS(TEXT, place.file)},
    {"line", IS(COUNT32, place.line), .known = knows_line},
    {"module", IS(TEXT, place.module)},
    {"offset", IS(COUNT, place.offset), .known = knows_offset},
    {"comm", "comm", "comm", .left = true, .max_width = 16, IS(TEXT, place.comm),
     .print = print_comm},
    {"comm_size", IS(COUNT32, place.comm_size), .known = knows_size},
    {"calls", "calls", "calls", IS(COUNT, of.calls)},
    {"failed_calls", "failed", "failed", IS(COUNT, of.failed)},
    {"time_ns", "time", "time", IS(NS, of.time_ns)},
    {"run_share", "run", "run", .print = print_run, .json = json_run},
    {"mean_ns", "mean", "mean", IS(REAL_NS, mean_ns)},
    {"min_ns", "min", "min", IS(NS, of.min_ns)},
    {"max_ns", "max", "max", IS(NS, of.max_ns)},
    {"deviation_ns", "deviation", "stddev", IS(REAL_NS, deviation_ns)},
    {"sent_bytes", "sent", "sent", IS(BYTES, of.sent_bytes)},
    {"received_bytes", "received", "received", IS(BYTES, of.received_bytes)},
    {"completed_calls", IS(COUNT, of.completed)},
    {"latency_mean_ns", "latency", "latency", IS(REAL_NS, latency_ns)},
};
#define ALL (sizeof columns / sizeof *columns)
#define FUNCTIONS 1
#define PLACES 8
#define SITES 6 /* of the places */

const struct sg_columns sg_call_columns = {columns, ALL};
const struct sg_columns sg_call_function_columns = {columns, FUNCTIONS};
const struct sg_columns sg_call_place_columns = {columns + FUNCTIONS, PLACES};
const struct sg_columns sg_call_site_columns = {columns + FUNCTIONS, SITES};
const struct sg_columns sg_call_figure_columns = {columns + FUNCTIONS + PLACES,
                                                  ALL - FUNCTIONS - PLACES};

#define OF_PAIR(which, member)                                                                     \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_call_pair, member)

static const struct sg_column pair_columns[] = {
    {"from", "from", "from", OF_PAIR(COUNT32, from)},
    {"to", "to", "to", OF_PAIR(COUNT32, to)},
    {"messages", "messages", "messages", OF_PAIR(COUNT, messages)},
    {"bytes", "bytes", "bytes", OF_PAIR(BYTES, bytes)},
    {"sent_messages", OF_PAIR(COUNT, sent_messages)},
    {"sent_bytes", OF_PAIR(COUNT, sent_bytes)},
    {"received_messages", OF_PAIR(COUNT, received_messages)},
    {"received_bytes", OF_PAIR(COUNT, received_bytes)},
};
const struct sg_columns sg_call_pair_columns = {pair_columns,
                                                sizeof pair_columns / sizeof *pair_columns};

#define OF_TARGET(which, member)                                                                   \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_call_target, member)

static const struct sg_column target_columns[] = {
    {"origin", "origin", "origin", OF_TARGET(COUNT32, origin)},
    {"target", "target", "target", OF_TARGET(COUNT32, target)},
    {"puts", "puts", "puts", OF_TARGET(COUNT, puts)},
    {"put_bytes", "put", "put", OF_TARGET(BYTES, put_bytes)},
    {"gets", "gets", "gets", OF_TARGET(COUNT, gets)},
    {"got_bytes", "got", "got", OF_TARGET(BYTES, got_bytes)},
};
const struct sg_columns sg_call_target_columns = {target_columns,
                                                  sizeof target_columns / sizeof *target_columns};
