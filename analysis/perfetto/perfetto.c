/* Writes the events of a run as Chrome trace JSON while the archive is read.
 *
 * Process and thread numbers are unique over the run and not 0, which stands for the idle task:
 * rank + 1, plus thread * 2
 * 21 for further threads. Process number ranks + 1 stands for all ranks and has the counters of the
 * run.
 */
#include "perfetto/perfetto.h"

#include "core/room.h"
#include "core/text.h"
#include "output/format.h"
#include "report/aggregate.h"
#include "report/filter.h"
#include "report/report.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The common part of all slices of a row, as JSON, made once. */

struct sg_label {
    char *name;      /* "allreduce dot cg.c:83", with its quotes; NULL: not made yet */
    char *late_name; /* for contributions that came late for it */
    char *comm;
    char *arguments; /* `"comm":...,"site":...` */
};

struct sg_slice_label {
    char *name; /* "MPI_Recv halo cg.c:40", with its quotes */
    char *site; /* `"site":"..."`, or empty */
};

/* All zero: empty. */
struct sg_labels {
    struct sg_label *rows;
    uint32_t row_room;
    struct sg_slice_label *calls; /* by number; call_of maps function and site to it */
    uint32_t call_count;
    struct sg_map call_of;
    char **comms; /* by index, with quotes */
    uint32_t comm_room;
    char **algorithms; /* by number, with quotes */
    uint32_t algorithm_room;
};

static void sg_labels_clear(struct sg_labels *labels);

/* A JSON string, with quotes; malloc'ed; NULL if out of memory. */
static char *sg_label_quote(const char *text)
{
    char *clean = sg_format_clean(text, true);
    json_t *string = clean != NULL ? json_string(clean) : NULL;
    char *quoted = string != NULL ? json_dumps(string, JSON_ENCODE_ANY) : NULL;

    json_decref(string);
    free(clean);
    return quoted;
}

/* Makes "allreduce dot cg.c:83", as far as known. */
static char *title_of(const char *operation, const struct sg_report_site *site)
{
    char *title = NULL, *quoted;
    int length;

    if (site->file != NULL)
        length = asprintf(
            &title, "%s %s%s%s:%" PRIu32, operation, site->function != NULL ? site->function : "",
            site->function != NULL ? " " : "", sg_text_base_name(site->file), site->line);
    else if (site->function != NULL)
        length = asprintf(&title, "%s %s", operation, site->function);
    else if (site->module != NULL)
        length = asprintf(&title, "%s %s+0x%" PRIx64, operation, sg_text_base_name(site->module),
                          site->offset);
    else
        length = asprintf(&title, "%s", operation);
    if (length < 0)
        return NULL;
    quoted = sg_label_quote(title);
    free(title);
    return quoted;
}

static enum sg_status make_label(const struct sg_aggregate *aggregate, uint32_t row,
                                 struct sg_label *label)
{
    struct sg_report_site name;
    char id[32] = "";

    sg_aggregate_name_row(aggregate, row, &name);
    if (name.has_id)
        snprintf(id, sizeof id, ",\"site\":\"%08" PRIx32 "\"", name.id);
    label->name = title_of(sg_site_operation(&name), &name);
    label->comm = sg_label_quote(name.comm);
    if (label->name == NULL || label->comm == NULL ||
        asprintf(&label->arguments, "\"comm\":%s%s", label->comm, id) < 0) {
        label->arguments = NULL;
        return SG_ERR_MEMORY;
    }
    if (asprintf(&label->late_name, "\"late for %s", label->name + 1) < 0) {
        label->late_name = NULL;
        return SG_ERR_MEMORY;
    }
    return SG_OK;
}

/* The functions below return SG_OK or SG_ERR_MEMORY (not logged). Texts live until
 * sg_labels_clear(), the address of a label until the next call. */
static enum sg_status sg_label_of(struct sg_labels *labels, const struct sg_aggregate *aggregate,
                                  uint32_t row, const struct sg_label **out)
{
    enum sg_status status = SG_OK;

    if (!SG_EXTEND(labels->rows, labels->row_room, row))
        return SG_ERR_MEMORY;
    if (labels->rows[row].name == NULL)
        status = make_label(aggregate, row, &labels->rows[row]);
    *out = &labels->rows[row];
    return status;
}

static enum sg_status make_call_label(const struct sg_aggregate *aggregate,
                                      const struct sg_seen_call *call, struct sg_slice_label *out)
{
    struct sg_report_site site = {0};
    char id[32] = "";

    sg_aggregate_name_site(aggregate, call->site, &site);
    if (site.has_id)
        snprintf(id, sizeof id, "\"site\":\"%08" PRIx32 "\"", site.id);
    out->name = title_of(call->name, &site);
    out->site = strdup(id);
    if (out->name != NULL && out->site != NULL)
        return SG_OK;
    free(out->name);
    free(out->site);
    return SG_ERR_MEMORY;
}

static enum sg_status sg_label_call(struct sg_labels *labels, const struct sg_aggregate *aggregate,
                                    const struct sg_seen_call *call,
                                    const struct sg_slice_label **out)
{
    uint64_t key = (uint64_t)call->function << 32 | call->site;
    int64_t found = sg_map_get(&labels->call_of, key);
    struct sg_slice_label label;
    enum sg_status status;

    if (found >= 0) {
        *out = &labels->calls[found];
        return SG_OK;
    }
    status = make_call_label(aggregate, call, &label);
    if (status != SG_OK)
        return status;
    if (!SG_APPEND(labels->calls, labels->call_count, label)) {
        free(label.name);
        free(label.site);
        return SG_ERR_MEMORY;
    }
    *out = &labels->calls[labels->call_count - 1];
    return sg_map_put(&labels->call_of, key, labels->call_count - 1);
}

static enum sg_status sg_label_comm(struct sg_labels *labels, const struct sg_aggregate *aggregate,
                                    uint32_t comm, const char **out)
{
    struct sg_report_site of = {0};

    if (!SG_EXTEND(labels->comms, labels->comm_room, comm))
        return SG_ERR_MEMORY;
    if (labels->comms[comm] == NULL) {
        sg_aggregate_name_comm(aggregate, comm, &of);
        labels->comms[comm] = sg_label_quote(of.comm);
    }
    *out = labels->comms[comm];
    return *out != NULL ? SG_OK : SG_ERR_MEMORY;
}

static enum sg_status sg_label_algorithm(struct sg_labels *labels,
                                         const struct sg_aggregate *aggregate, uint32_t algorithm,
                                         const char **out)
{
    if (!SG_EXTEND(labels->algorithms, labels->algorithm_room, algorithm))
        return SG_ERR_MEMORY;
    if (labels->algorithms[algorithm] == NULL)
        labels->algorithms[algorithm] =
            sg_label_quote(sg_aggregate_algorithm_name(aggregate, algorithm));
    *out = labels->algorithms[algorithm];
    return *out != NULL ? SG_OK : SG_ERR_MEMORY;
}

static void sg_labels_clear(struct sg_labels *labels)
{
    for (uint32_t row = 0; row < labels->row_room; row++) {
        free(labels->rows[row].name);
        free(labels->rows[row].late_name);
        free(labels->rows[row].comm);
        free(labels->rows[row].arguments);
    }
    for (uint32_t i = 0; i < labels->call_count; i++) {
        free(labels->calls[i].name);
        free(labels->calls[i].site);
    }
    for (uint32_t i = 0; i < labels->comm_room; i++)
        free(labels->comms[i]);
    for (uint32_t i = 0; i < labels->algorithm_room; i++)
        free(labels->algorithms[i]);
    free(labels->calls);
    sg_map_clear(&labels->call_of);
    free(labels->comms);
    free(labels->rows);
    free(labels->algorithms);
}

#define THREAD_STEP (UINT64_C(1) << 21)

struct counter {
    uint64_t of[SG_COUNT_COUNT];
};

struct writer {
    FILE *out;
    bool any; /* true if an event was written */
    struct sg_labels labels;
    struct counter *counters; /* by rank */
    uint32_t rank_count;
    uint64_t next_id; /* for flows and spans */
    struct sg_perfetto_counts counts;
};

/* ---- JSON ------------------------------------------------------------------------------------ */

static void begin_event(struct writer *writer)
{
    fputs(writer->any ? ",\n" : "\n", writer->out);
    writer->any = true;
}

/* The format has all times in microseconds. */
static void put_time(struct writer *writer, const char *field, int64_t ns)
{
    uint64_t size = ns < 0 ? (uint64_t)-ns : (uint64_t)ns;

    fprintf(writer->out, ",\"%s\":%s%" PRIu64 ".%03u", field, ns < 0 ? "-" : "", size / 1000,
            (unsigned)(size % 1000));
}

static void put_track(struct writer *writer, uint32_t rank, uint32_t thread)
{
    fprintf(writer->out, ",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64, (uint64_t)rank + 1,
            (uint64_t)rank + 1 + thread * THREAD_STEP);
}

static void put_metadata(struct writer *writer, const char *what, uint64_t pid, uint64_t tid,
                         const char *field, const char *value)
{
    begin_event(writer);
    fprintf(writer->out,
            "{\"ph\":\"M\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64
            ",\"name\":\"%s\",\"args\":{\"%s\":%s}}",
            pid, tid, what, field, value);
}

/* ---- names ----------------------------------------------------------------------------------- */

static enum sg_status name_rank(struct writer *writer, uint32_t rank)
{
    char text[32];

    if (!SG_EXTEND(writer->counters, writer->rank_count, rank))
        return SG_ERR_MEMORY;
    snprintf(text, sizeof text, "\"rank %" PRIu32 "\"", rank);
    put_metadata(writer, "process_name", (uint64_t)rank + 1, (uint64_t)rank + 1, "name", text);
    snprintf(text, sizeof text, "%" PRIu32, rank);
    put_metadata(writer, "process_sort_index", (uint64_t)rank + 1, (uint64_t)rank + 1, "sort_index",
                 text);
    return SG_OK;
}

static enum sg_status on_location(void *context, const struct sg_seen_location *location)
{
    struct writer *writer = context;
    enum sg_status status = location->thread == 0 ? name_rank(writer, location->rank) : SG_OK;
    char *name = sg_label_quote(location->name[0] != '\0' ? location->name : "thread");

    if (status == SG_OK && name != NULL)
        put_metadata(writer, "thread_name", (uint64_t)location->rank + 1,
                     location->rank + 1 + location->thread * THREAD_STEP, "name", name);
    else
        status = SG_ERR_MEMORY;
    free(name);
    return status;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void put_slice(struct writer *writer, const struct sg_label *label, const char *algorithm,
                      const struct sg_seen_instance *seen, uint32_t member)
{
    const struct sg_member_call *call = &seen->instance->calls[member];
    int64_t duration_ns =
        call->nonblocking ? (int64_t)call->start_ns : call->end_ns - call->begin_ns;

    begin_event(writer);
    fputs("{\"ph\":\"X\"", writer->out);
    put_track(writer, call->rank, call->thread);
    put_time(writer, "ts", call->begin_ns);
    put_time(writer, "dur", duration_ns > 0 ? duration_ns : 0);
    fprintf(writer->out,
            ",\"cat\":\"collective\",\"name\":%s,\"args\":{%s,\"seq\":%" PRIu64
            ",\"bytes\":%" PRIu64 ",\"algorithm\":%s",
            label->name, label->arguments, seen->instance->seq, call->bytes, algorithm);
    if (!call->nonblocking)
        put_time(writer, "wait_us", (int64_t)seen->costs[member].wait_ns);
    fputs("}}", writer->out);
    writer->counts.slices++;
}

/* A nonblocking call from start to completion: a span beside the slices, because it need not nest
 * with them. */
static void put_span(struct writer *writer, const struct sg_label *label,
                     const struct sg_member_call *call)
{
    uint64_t id = ++writer->next_id;

    begin_event(writer);
    fprintf(writer->out, "{\"ph\":\"b\",\"cat\":\"nonblocking\",\"id\":%" PRIu64, id);
    put_track(writer, call->rank, call->thread);
    put_time(writer, "ts", call->begin_ns);
    fprintf(writer->out, ",\"name\":%s,\"args\":{%s", label->name, label->arguments);
    put_time(writer, "exposed_us", (int64_t)call->exposed_ns);
    put_time(writer, "hidden_us", (int64_t)call->hidden_ns);
    fputs("}}", writer->out);
    begin_event(writer);
    fprintf(writer->out, "{\"ph\":\"e\",\"cat\":\"nonblocking\",\"id\":%" PRIu64, id);
    put_track(writer, call->rank, call->thread);
    put_time(writer, "ts", call->end_ns > call->begin_ns ? call->end_ns : call->begin_ns);
    fprintf(writer->out, ",\"name\":%s}", label->name);
}

static void put_flow(struct writer *writer, const struct sg_seen_thread *at, const char *name,
                     char phase, uint64_t id, int64_t time_ns)
{
    begin_event(writer);
    fprintf(writer->out, "{\"ph\":\"%c\"%s,\"id\":%" PRIu64, phase,
            phase == 'f' ? ",\"bp\":\"e\"" : "", id);
    put_track(writer, at->rank, at->thread);
    put_time(writer, "ts", time_ns);
    fprintf(writer->out, ",\"cat\":\"%s\",\"name\":\"%s\"}", name, name);
}

/* An arrow ends inside the slice of the rank that waited, one nanosecond after the last arrival, so
 * that it never ends before it begins. */
static void put_flows(struct writer *writer, const struct sg_seen_instance *seen)
{
    const struct sg_instance *instance = seen->instance;
    const struct sg_member_call *last =
        &instance->calls[sg_measure_awaited(seen->instance, seen->measure)];
    uint64_t id = 0;

    if (instance->nonblocking || last->end_ns <= last->begin_ns)
        return;
    for (uint32_t i = 0; i < instance->size; i++) {
        const struct sg_member_call *call = &instance->calls[i];

        if (seen->costs[i].wait_ns == 0 || call == last || call->end_ns <= last->begin_ns + 1)
            continue;
        if (id == 0) {
            id = ++writer->next_id;
            put_flow(writer, &(struct sg_seen_thread){last->rank, last->thread}, "release", 's', id,
                     last->begin_ns);
        }
        put_flow(writer, &(struct sg_seen_thread){call->rank, call->thread}, "release", 'f', id,
                 last->begin_ns + 1);
        writer->counts.flows++;
    }
}

static void put_counter(struct writer *writer, uint64_t pid, int64_t time_ns, const char *name,
                        uint64_t value)
{
    begin_event(writer);
    fprintf(writer->out, "{\"ph\":\"C\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64, pid, pid);
    put_time(writer, "ts", time_ns);
    fprintf(writer->out, ",\"name\":%s,\"args\":{\"value\":%" PRIu64 "}}", name, value);
}

/* Writes each of the rank's counters that the call changes: the sum so far, or the level for
 * SG_COUNT_OUTSTANDING. */
static void put_counters(struct writer *writer, const struct sg_member_call *call)
{
    struct counter *counter = &writer->counters[call->rank];
    char name[64];

    for (int count = 0; count < SG_COUNT_COUNT; count++) {
        uint64_t value = call->counts.of[count];

        if (count == SG_COUNT_OUTSTANDING ? value == counter->of[count] : value == 0)
            continue;
        counter->of[count] = count == SG_COUNT_OUTSTANDING ? value : counter->of[count] + value;
        snprintf(name, sizeof name, "\"%s\"", sg_metrics[sg_count_metrics[count]].name);
        put_counter(writer, (uint64_t)call->rank + 1, call->end_ns, name, counter->of[count]);
    }
}

/* Skew in us, at the last arrival: one counter for each communicator. */
static void put_skew(struct writer *writer, const struct sg_label *label,
                     const struct sg_seen_instance *seen)
{
    begin_event(writer);
    fprintf(writer->out, "{\"ph\":\"C\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64,
            (uint64_t)writer->rank_count + 1, (uint64_t)writer->rank_count + 1);
    put_time(writer, "ts", seen->measure->last_begin_ns);
    fprintf(writer->out, ",\"name\":\"skew (us) on %s,\"args\":{\"value\":%" PRIu64 ".%03u}}",
            label->comm + 1, seen->measure->skew_ns / 1000,
            (unsigned)(seen->measure->skew_ns % 1000));
}

static enum sg_status on_instance(void *context, const struct sg_aggregate *aggregate,
                                  const struct sg_seen_instance *seen)
{
    struct writer *writer = context;
    const struct sg_label *label = NULL;
    const char *algorithm;
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < seen->instance->size && status == SG_OK; i++) {
        const struct sg_member_call *call = &seen->instance->calls[i];

        status = sg_label_of(&writer->labels, aggregate, seen->rows[i], &label);
        if (status == SG_OK)
            status = sg_label_algorithm(&writer->labels, aggregate, call->algorithm, &algorithm);
        if (status != SG_OK)
            return status;
        put_slice(writer, label, algorithm, seen, i);
        if (call->nonblocking)
            put_span(writer, label, call);
        put_counters(writer, call);
    }
    put_flows(writer, seen);
    if (seen->instance->size > 1)
        put_skew(writer, label, seen);
    /* A full disk ends the reading; the caller reports it. */
    return ferror(writer->out) ? SG_ERR_SYSTEM : SG_OK;
}

static enum sg_status on_late(void *context, const struct sg_aggregate *aggregate,
                              const struct sg_late_cost *late, uint32_t row)
{
    struct writer *writer = context;
    const struct sg_label *label;
    enum sg_status status = sg_label_of(&writer->labels, aggregate, row, &label);

    if (status != SG_OK)
        return status;
    begin_event(writer);
    fputs("{\"ph\":\"X\"", writer->out);
    put_track(writer, late->rank, late->thread);
    put_time(writer, "ts", late->begin_ns);
    put_time(writer, "dur", (int64_t)late->handler_ns);
    fprintf(writer->out, ",\"cat\":\"late\",\"name\":%s,\"args\":{%s", label->late_name,
            label->arguments);
    if (late->has_seq)
        fprintf(writer->out, ",\"seq\":%" PRIu64, late->seq);
    put_time(writer, "wait_avoided_us", (int64_t)late->avoided_ns);
    if (late->by_signal)
        fputs(",\"by_signal\":true", writer->out);
    fputs("}}", writer->out);
    writer->counts.slices++;
    return SG_OK;
}

/* ---- other calls, and messages --------------------------------------------------------------- */

/* Begins an argument of a call; first: true before the first one. */
static void begin_argument(struct writer *writer, bool *first, const char *name)
{
    fprintf(writer->out, "%s\"%s\":", *first ? "" : ",", name);
    *first = false;
}

static void put_number(struct writer *writer, bool *first, const char *name, uint64_t value)
{
    begin_argument(writer, first, name);
    fprintf(writer->out, "%" PRIu64, value);
}

/* Writes peer and tag of a single message, or the number of several. */
static void put_messages(struct writer *writer, bool *first,
                         const struct sg_seen_messages *messages, bool is_sent)
{
    if (messages->count == 1) {
        put_number(writer, first, is_sent ? "to" : "from", messages->peer);
        put_number(writer, first, is_sent ? "sent_tag" : "received_tag", messages->tag);
    } else if (messages->count > 1) {
        put_number(writer, first, is_sent ? "sent_messages" : "received_messages", messages->count);
    }
}

/* The communicator of the call; SG_SEEN_NO_COMM: none, or possibly several. */
static uint32_t comm_of(const struct sg_seen_call *call)
{
    uint64_t all = call->sent.count + call->received.count + call->collectives;

    if (all == 2 && call->sent.count == 1 && call->received.count == 1 &&
        call->sent.comm == call->received.comm)
        return call->sent.comm;
    if (all != 1)
        return SG_SEEN_NO_COMM;
    if (call->collectives == 1)
        return call->comm;
    return call->sent.count == 1 ? call->sent.comm : call->received.comm;
}

static void put_arguments(struct writer *writer, const struct sg_seen_call *call, const char *site,
                          const char *comm)
{
    bool first = site[0] == '\0', is_collective = call->collectives > 0;

    fputs(site, writer->out);
    if (comm != NULL) {
        begin_argument(writer, &first, "comm");
        fputs(comm, writer->out);
    }
    put_messages(writer, &first, &call->sent, true);
    put_messages(writer, &first, &call->received, false);
    if (call->collectives == 1 && call->root >= 0)
        put_number(writer, &first, "root", (uint64_t)call->root);
    if (call->sent.count > 0 || is_collective)
        put_number(writer, &first, "sent_bytes", call->sent.bytes + call->sent_bytes);
    if (call->received.count > 0 || is_collective)
        put_number(writer, &first, "received_bytes", call->received.bytes + call->received_bytes);
}

static enum sg_status on_call(void *context, const struct sg_aggregate *aggregate,
                              const struct sg_seen_call *call)
{
    struct writer *writer = context;
    int64_t duration_ns = call->end_ns - call->begin_ns;
    uint32_t comm_index = comm_of(call);
    const struct sg_slice_label *label;
    const char *comm = NULL;
    enum sg_status status = sg_label_call(&writer->labels, aggregate, call, &label);

    if (status == SG_OK && comm_index != SG_SEEN_NO_COMM)
        status = sg_label_comm(&writer->labels, aggregate, comm_index, &comm);
    if (status != SG_OK)
        return status;
    begin_event(writer);
    fputs("{\"ph\":\"X\"", writer->out);
    put_track(writer, call->at.rank, call->at.thread);
    put_time(writer, "ts", call->begin_ns);
    put_time(writer, "dur", duration_ns > 0 ? duration_ns : 0);
    fprintf(writer->out, ",\"cat\":\"call\",\"name\":%s,\"args\":{", label->name);
    put_arguments(writer, call, label->site, comm);
    fputs("}}", writer->out);
    writer->counts.slices++;
    return ferror(writer->out) ? SG_ERR_SYSTEM : SG_OK;
}

/* The arrow ends a nanosecond before the message was received, which may be when the slice ends. If
 * the clocks say that it was received before it was sent, there is no arrow. */
static enum sg_status on_message(void *context, const struct sg_seen_message *message)
{
    struct writer *writer = context;
    int64_t end_ns = message->received_ns > message->completing_ns ? message->received_ns - 1
                                                                   : message->completing_ns;
    uint64_t id = ++writer->next_id;

    if (end_ns < message->sent_ns)
        return SG_OK;
    put_flow(writer, &message->from, "message", 's', id, message->sent_ns);
    put_flow(writer, &message->to, "message", 'f', id, end_ns);
    writer->counts.flows++;
    return SG_OK;
}

/* ---- the whole document ---------------------------------------------------------------------- */

static void put_end(struct writer *writer, const struct sg_report *report)
{
    char *program = sg_label_quote(report->program != NULL ? report->program : "");

    put_metadata(writer, "process_name", (uint64_t)writer->rank_count + 1,
                 (uint64_t)writer->rank_count + 1, "name", "\"all ranks\"");
    put_metadata(writer, "process_sort_index", (uint64_t)writer->rank_count + 1,
                 (uint64_t)writer->rank_count + 1, "sort_index", "-1");
    fprintf(writer->out,
            "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":%s,"
            "\"partial\":%s,\"creator\":\"stagger " SG_VERSION "\"}}\n",
            program != NULL ? program : "\"\"", report->partial ? "true" : "false");
    free(program);
}

static void clear(struct writer *writer)
{
    sg_labels_clear(&writer->labels);
    free(writer->counters);
}

enum sg_status sg_perfetto_write(const char *path, bool progress, FILE *out,
                                 struct sg_perfetto_counts *counts)
{
    struct writer writer = {.out = out};
    struct sg_watch watch = {.waitstates = true,
                             .context = &writer,
                             .location = on_location,
                             .instance = on_instance,
                             .late = on_late,
                             .call = on_call,
                             .message = on_message};
    struct sg_report report;
    enum sg_status status;

    fputs("{\"traceEvents\":[", out);
    status = sg_report_read(path, progress, &watch, &report);
    if (status == SG_OK) {
        if (report.has_events) {
            put_end(&writer, &report);
        } else {
            sg_log("%s: contains statistics but no events (STAGGER_TRACE=otf2 records them)", path);
            status = SG_ERR_MISSING;
        }
        writer.counts.dropped_calls = report.dropped_calls;
        sg_report_clear(&report);
    }
    clear(&writer);
    *counts = writer.counts;
    return status;
}
