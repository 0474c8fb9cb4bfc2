#include "trace/export/event_writer.h"

#include "trace/export/vocabulary.h"

#include <stdlib.h>

static void check(struct sg_event_writer *writer, OTF2_ErrorCode code)
{
    if (code != OTF2_SUCCESS)
        sg_archive_check(writer->archive, code);
}

/* ---- locations ------------------------------------------------------------------------------ */

/* A function without events has no region in the plan, and its entry here is not used. */
static void resolve_calls(struct sg_event_writer *writer)
{
    const struct sg_summary *summary = writer->summary;

    for (uint32_t i = 0; i < summary->calls.function_count; i++) {
        const char *name = summary->calls.functions[i].name;

        sg_plan_find_region(writer->plan, name, &writer->functions[i].region);
        writer->functions[i].about = sg_mpi_region_of(name);
    }
    for (uint32_t i = 0; i < summary->calls.comm_count; i++) {
        const struct sg_plan_profile_comm *comm =
            sg_plan_find_profile_comm(writer->plan, &summary->calls.comms[i]);

        if (comm != NULL && comm->ref != SG_NO_COMM)
            writer->comms[i] = comm;
    }
}

bool sg_event_writer_start(struct sg_event_writer *writer, struct sg_archive *archive,
                           const struct sg_plan *plan, const struct sg_summary *summary,
                           struct sg_logread *log)
{
    *writer =
        (struct sg_event_writer){.archive = archive, .plan = plan, .summary = summary, .log = log};
    writer->sites = calloc((size_t)summary->site_count + 1, sizeof *writer->sites);
    writer->attributes = OTF2_AttributeList_New();
    writer->functions =
        calloc((size_t)summary->calls.function_count + 1, sizeof *writer->functions);
    writer->comms = calloc((size_t)summary->calls.comm_count + 1, sizeof *writer->comms);
    if (writer->sites == NULL || writer->attributes == NULL || writer->functions == NULL ||
        writer->comms == NULL)
        return false;
    for (uint32_t i = 0; i < summary->site_count; i++)
        writer->sites[i] = sg_plan_find_site(plan, summary->sites[i].id);
    resolve_calls(writer);
    return true;
}

void sg_event_writer_clear(struct sg_event_writer *writer)
{
    free(writer->sites);
    free(writer->functions);
    free(writer->comms);
    OTF2_AttributeList_Delete(writer->attributes);
}

void sg_event_writer_open(struct sg_event_writer *writer, uint32_t thread)
{
    uint64_t id = sg_location_id((uint32_t)writer->summary->rank, thread);

    writer->location = (struct sg_location){.id = id};
    writer->now_ns = 0;
    writer->events = OTF2_Archive_GetEvtWriter(writer->archive->handle, id);
    if (writer->events == NULL)
        sg_archive_note(writer->archive, SG_ERR_MEMORY);
}

void sg_event_writer_close(struct sg_event_writer *writer)
{
    check(writer, OTF2_EvtWriter_GetNumberOfEvents(writer->events, &writer->location.events));
    check(writer, OTF2_Archive_CloseEvtWriter(writer->archive->handle, writer->events));
    writer->events = NULL;
}

uint64_t sg_event_advance(struct sg_event_writer *writer, uint64_t time_ns)
{
    if (time_ns > writer->now_ns)
        writer->now_ns = time_ns;
    if (writer->location.first_ns == 0)
        writer->location.first_ns = writer->now_ns;
    writer->location.last_ns = writer->now_ns;
    return writer->now_ns;
}

void sg_event_enter_region(struct sg_event_writer *writer, uint32_t region, uint64_t time_ns)
{
    check(writer,
          OTF2_EvtWriter_Enter(writer->events, NULL, sg_event_advance(writer, time_ns), region));
}

void sg_event_leave_region(struct sg_event_writer *writer, uint32_t region, uint64_t time_ns)
{
    check(writer,
          OTF2_EvtWriter_Leave(writer->events, NULL, sg_event_advance(writer, time_ns), region));
}

/* ---- collectives ---------------------------------------------------------------------------- */

/* Algorithm 0 is MPICH's own implementation (shim/rule/rule.h). */
#define PASSED_THROUGH 0

static const struct sg_plan_site *site_of(const struct sg_event_writer *writer, uint32_t index)
{
    const struct sg_site_entry *site = sg_summary_site(writer->summary, index);

    return site != NULL ? writer->sites[site - writer->summary->sites]
                        : sg_plan_find_site(writer->plan, 0);
}

uint32_t sg_event_site_text(const struct sg_event_writer *writer, uint32_t index)
{
    const struct sg_plan_site *site = site_of(writer, index);

    return site != NULL ? site->text : 0;
}

void sg_event_enter_path(struct sg_event_writer *writer, uint32_t site, uint64_t time_ns)
{
    const struct sg_plan_site *of = site_of(writer, site);

    for (uint32_t i = 0; of != NULL && i < of->frame_count; i++)
        sg_event_enter_region(writer, writer->plan->frames[of->first_frame + i], time_ns);
}

void sg_event_leave_path(struct sg_event_writer *writer, uint32_t site, uint64_t time_ns)
{
    const struct sg_plan_site *of = site_of(writer, site);

    for (uint32_t i = of != NULL ? of->frame_count : 0; i-- > 0;)
        sg_event_leave_region(writer, writer->plan->frames[of->first_frame + i], time_ns);
}

static uint32_t algorithm_name(const struct sg_event_writer *writer, uint8_t algorithm)
{
    uint32_t last = writer->plan->algorithm_count - 1;

    return writer->plan->algorithms[algorithm < last ? algorithm : last];
}

/* Adds the attributes that every Enter of a collective has. */
static void describe(struct sg_event_writer *writer, const struct sg_recorded_call *recorded)
{
    OTF2_AttributeList *attributes = writer->attributes;

    check(writer, OTF2_AttributeList_AddStringRef(attributes, SG_ATTRIBUTE_SITE,
                                                  sg_event_site_text(writer, recorded->site)));
    check(writer, OTF2_AttributeList_AddStringRef(attributes, SG_ATTRIBUTE_ALGORITHM,
                                                  algorithm_name(writer, recorded->algorithm)));
    check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_SEQ, recorded->seq));
    check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_BYTES, recorded->bytes));
    if (recorded->flags & SG_CALL_SLICE)
        check(writer,
              OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_SLICE, recorded->slice));
    if (writer->plan->arms[recorded->arm].text == 0)
        return;
    check(writer, OTF2_AttributeList_AddStringRef(attributes, SG_ATTRIBUTE_TRIAL,
                                                  writer->plan->arms[recorded->arm].place));
    check(writer, OTF2_AttributeList_AddStringRef(attributes, SG_ATTRIBUTE_ARM,
                                                  writer->plan->arms[recorded->arm].text));
}

void sg_event_enter(struct sg_event_writer *writer, const struct sg_recorded_call *recorded,
                    uint32_t slot)
{
    const struct sg_comm_entry *comm = sg_summary_comm(writer->summary, recorded->comm);
    uint64_t time_ns = sg_event_advance(writer, recorded->begin_ns);

    sg_event_enter_path(writer, recorded->site, time_ns);
    describe(writer, recorded);
    if (recorded->call != NULL) {
        check(writer, OTF2_EvtWriter_Enter(writer->events, writer->attributes, time_ns,
                                           recorded->operation));
        check(writer, OTF2_EvtWriter_MpiCollectiveBegin(writer->events, NULL, time_ns));
        return;
    }
    /* If a nonblocking call never completes, no other event of it names the communicator. */
    check(writer, OTF2_AttributeList_AddCommRef(writer->attributes, SG_ATTRIBUTE_COMM,
                                                sg_plan_comm_ref(writer->plan, comm)));
    check(writer, OTF2_EvtWriter_Enter(writer->events, writer->attributes, time_ns,
                                       SG_REGION_REF_POSTS + recorded->operation));
    check(writer, OTF2_EvtWriter_NonBlockingCollectiveRequest(writer->events, NULL, time_ns,
                                                              sg_event_request_of(slot)));
}

static void write_metrics(struct sg_event_writer *writer, const struct sg_record_call *call)
{
    uint64_t skew_ns = (call->flags & SG_CALL_SKEW) != 0 ? call->skew_ns : 0;
    OTF2_Type types[SG_METRIC_COUNT];
    OTF2_MetricValue values[SG_METRIC_COUNT] = {
        [SG_METRIC_SKEW].unsigned_int = skew_ns,
        [SG_METRIC_LATE].unsigned_int = call->late,
        [SG_METRIC_EARLY].unsigned_int = call->early,
        [SG_METRIC_SIGNALS].unsigned_int = call->signals,
        [SG_METRIC_OUTSTANDING].unsigned_int = call->outstanding,
        [SG_METRIC_STALLS].unsigned_int = call->stalls,
        [SG_METRIC_COPIES].unsigned_int = call->copies,
        [SG_METRIC_IGNORED].unsigned_int = call->ignored,
        [SG_METRIC_MOVES].unsigned_int = call->moves,
        [SG_METRIC_REPEATS].unsigned_int = call->repeats,
    };
    bool known = sg_executed_algorithm(call->executed) != PASSED_THROUGH;

    for (int i = 0; i < SG_METRIC_COUNT; i++) {
        types[i] = OTF2_TYPE_UINT64;
        known = known || values[i].unsigned_int != 0;
    }
    if (known)
        check(writer, OTF2_EvtWriter_Metric(writer->events, NULL, writer->now_ns,
                                            SG_CLASS_COLLECTIVES, SG_METRIC_COUNT, types, values));
}

/* Fields of the events that end or complete a collective. */
struct result {
    OTF2_CollectiveOp operation;
    OTF2_CommRef comm;
    uint32_t root;
    uint64_t sent, received; /* as Score-P counts them */
};

static struct result result_of(const struct sg_event_writer *writer,
                               const struct sg_recorded_call *recorded)
{
    static const OTF2_CollectiveOp operations[SG_OPERATION_COUNT] = {
        [SG_OPERATION_BARRIER] = OTF2_COLLECTIVE_OP_BARRIER,
        [SG_OPERATION_REDUCE] = OTF2_COLLECTIVE_OP_REDUCE,
        [SG_OPERATION_ALLREDUCE] = OTF2_COLLECTIVE_OP_ALLREDUCE,
        [SG_OPERATION_BCAST] = OTF2_COLLECTIVE_OP_BCAST,
    };
    const struct sg_comm_entry *comm = sg_summary_comm(writer->summary, recorded->comm);
    bool in_place = (recorded->flags & SG_CALL_IN_PLACE) != 0;
    uint64_t ranks = comm->size - (in_place ? 1 : 0);
    struct result result = {.operation = operations[recorded->operation],
                            .comm = sg_plan_comm_ref(writer->plan, comm),
                            .root = OTF2_COLLECTIVE_ROOT_NONE};

    if (recorded->operation == SG_OPERATION_ALLREDUCE) {
        result.sent = result.received = recorded->bytes * ranks;
    } else if (recorded->operation == SG_OPERATION_REDUCE) {
        result.root = (uint32_t)recorded->root;
        result.sent = in_place ? 0 : recorded->bytes;
        result.received = recorded->root == (int32_t)comm->rank ? recorded->bytes * ranks : 0;
    } else if (recorded->operation == SG_OPERATION_BCAST) {
        result.root = (uint32_t)recorded->root;
        result.sent = recorded->root == (int32_t)comm->rank ? recorded->bytes * ranks : 0;
        result.received = recorded->bytes;
    }
    return result;
}

void sg_event_leave(struct sg_event_writer *writer, const struct sg_recorded_call *recorded,
                    uint64_t end_ns)
{
    uint32_t region = recorded->operation;

    if (recorded->call != NULL) {
        struct result result = result_of(writer, recorded);

        check(writer, OTF2_EvtWriter_MpiCollectiveEnd(
                          writer->events, NULL, sg_event_advance(writer, end_ns), result.operation,
                          result.comm, result.root, result.sent, result.received));
        write_metrics(writer, recorded->call);
    } else {
        region += SG_REGION_REF_POSTS;
    }
    sg_event_leave_region(writer, region, end_ns);
    sg_event_leave_path(writer, recorded->site, end_ns);
}

void sg_event_complete(struct sg_event_writer *writer, const struct sg_recorded_call *recorded,
                       uint32_t slot)
{
    OTF2_AttributeList *attributes = writer->attributes;
    struct result result = result_of(writer, recorded);

    check(writer,
          OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_EXPOSED, recorded->exposed_ns));
    check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_HIDDEN,
                                               sg_recorded_call_hidden_ns(recorded)));
    check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_TESTS, recorded->tests));
    check(writer, OTF2_EvtWriter_NonBlockingCollectiveComplete(
                      writer->events, attributes, sg_event_advance(writer, recorded->complete_ns),
                      result.operation, result.comm, result.root, result.sent, result.received,
                      sg_event_request_of(slot)));
}

/* ---- late contributions --------------------------------------------------------------------- */

void sg_event_enter_late(struct sg_event_writer *writer, const struct sg_record_late *late)
{
    OTF2_AttributeList *attributes = writer->attributes;
    const struct sg_comm_entry *comm = sg_summary_comm(writer->summary, late->comm);
    uint32_t ref = comm != NULL ? sg_plan_comm_ref(writer->plan, comm) : SG_NO_COMM;

    check(writer, OTF2_AttributeList_AddStringRef(attributes, SG_ATTRIBUTE_SITE,
                                                  sg_event_site_text(writer, late->site)));
    check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_SEQ, late->seq));
    check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_BYTES, late->bytes));
    if (ref != SG_NO_COMM)
        check(writer, OTF2_AttributeList_AddCommRef(attributes, SG_ATTRIBUTE_COMM, ref));
    check(writer,
          OTF2_AttributeList_AddRegionRef(attributes, SG_ATTRIBUTE_OPERATION, late->operation));
    check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_CHILD,
                                               late->child >= 0 ? (uint64_t)late->child : 0));
    check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_AVOIDED, late->avoided_ns));
    if (late->by_signal != 0)
        check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_BY_SIGNAL, 1));
    check(writer,
          OTF2_EvtWriter_Enter(writer->events, attributes, sg_event_advance(writer, late->begin_ns),
                               SG_REGION_REF_LATE));
}
