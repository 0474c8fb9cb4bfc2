/* What one record is written as: the events of a collective call, of a post and its completion, and
 * the beginning of a late contribution. */
#include "trace/export/events_impl.h"

/* Algorithm 0 is MPICH's own (shim/rule/algorithm.h). */
#define PASSED_THROUGH 0

static uint32_t site_text(const struct sg_event_writer *writer, uint32_t index)
{
    const struct sg_site_entry *site = sg_summary_site(writer->summary, index);

    return site != NULL ? writer->site_texts[site - writer->summary->sites]
                        : sg_plan_site_text(writer->plan, 0);
}

static uint32_t algorithm_name(const struct sg_event_writer *writer, uint8_t algorithm)
{
    uint32_t last = writer->plan->algorithm_count - 1;

    return writer->plan->algorithms[algorithm < last ? algorithm : last];
}

/* SG_NO_COMM: it is not in the archive. */
static uint32_t comm_ref(const struct sg_event_writer *writer, const struct sg_comm_entry *comm)
{
    const struct sg_plan_comm *found;

    if (comm->index == SG_COMM_WORLD_INDEX)
        return SG_COMM_WORLD_REF;
    if (comm->index == SG_COMM_SELF_INDEX)
        return SG_COMM_SELF_REF;
    found = sg_plan_find_comm(writer->plan, comm->root_world_rank, comm->root_counter);
    return found != NULL ? found->ref : SG_NO_COMM;
}

/* The attributes that every Enter of a collective has. */
static void describe(struct sg_event_writer *writer, const struct sg_part *part)
{
    OTF2_AttributeList *attributes = writer->attributes;

    sg_event_check(writer, OTF2_AttributeList_AddStringRef(attributes, SG_ATTRIBUTE_SITE,
                                                           site_text(writer, part->site)));
    sg_event_check(writer,
                   OTF2_AttributeList_AddStringRef(attributes, SG_ATTRIBUTE_ALGORITHM,
                                                   algorithm_name(writer, part->algorithm)));
    sg_event_check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_SEQ, part->seq));
    sg_event_check(writer,
                   OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_BYTES, part->bytes));
    if (writer->plan->arms[part->arm].text == 0)
        return;
    sg_event_check(writer, OTF2_AttributeList_AddStringRef(attributes, SG_ATTRIBUTE_TRIAL,
                                                           writer->plan->arms[part->arm].place));
    sg_event_check(writer, OTF2_AttributeList_AddStringRef(attributes, SG_ATTRIBUTE_ARM,
                                                           writer->plan->arms[part->arm].text));
}

/* Unique on its rank, and never 0. */
static uint64_t request_of(uint32_t slot)
{
    return (uint64_t)slot + 1;
}

void sg_event_enter(struct sg_event_writer *writer, const struct sg_part *part, uint32_t slot)
{
    const struct sg_comm_entry *comm = sg_summary_comm(writer->summary, part->comm);
    uint64_t time_ns = sg_event_advance(writer, part->begin_ns);

    describe(writer, part);
    if (part->call != NULL) {
        sg_event_check(writer, OTF2_EvtWriter_Enter(writer->events, writer->attributes, time_ns,
                                                    part->operation));
        sg_event_check(writer, OTF2_EvtWriter_MpiCollectiveBegin(writer->events, NULL, time_ns));
        return;
    }
    /* A post that is never completed has no other event to say whose it is. */
    sg_event_check(writer, OTF2_AttributeList_AddCommRef(writer->attributes, SG_ATTRIBUTE_COMM,
                                                         comm_ref(writer, comm)));
    sg_event_check(writer, OTF2_EvtWriter_Enter(writer->events, writer->attributes, time_ns,
                                                SG_REGION_POSTS + part->operation));
    sg_event_check(writer, OTF2_EvtWriter_NonBlockingCollectiveRequest(writer->events, NULL,
                                                                       time_ns, request_of(slot)));
}

static void write_metrics(struct sg_event_writer *writer, const struct sg_record_call *call)
{
    uint64_t skew_ns = (call->flags & SG_CALL_SKEW) != 0 ? call->skew_ns : 0;
    OTF2_Type types[SG_METRIC_COUNT];
    OTF2_MetricValue values[SG_METRIC_COUNT] = {
        {.unsigned_int = skew_ns},           {.unsigned_int = call->late},
        {.unsigned_int = call->early},       {.unsigned_int = call->signals},
        {.unsigned_int = call->outstanding}, {.unsigned_int = call->stalls},
        {.unsigned_int = call->copies},      {.unsigned_int = call->ignored},
        {.unsigned_int = call->moves},       {.unsigned_int = call->repeats},
    };
    bool known = sg_ran_algorithm(call->ran) != PASSED_THROUGH;

    for (int i = 0; i < SG_METRIC_COUNT; i++) {
        types[i] = OTF2_TYPE_UINT64;
        known = known || values[i].unsigned_int != 0;
    }
    if (known)
        sg_event_check(writer, OTF2_EvtWriter_Metric(writer->events, NULL, writer->now_ns, 0,
                                                     SG_METRIC_COUNT, types, values));
}

/* What the events that end a collective tell. */
struct outcome {
    OTF2_CollectiveOp operation;
    OTF2_CommRef comm;
    uint32_t root;
    uint64_t sent, received; /* as Score-P counts them */
};

static struct outcome outcome_of(const struct sg_event_writer *writer, const struct sg_part *part)
{
    static const OTF2_CollectiveOp operations[SG_OPERATION_COUNT] = {
        [SG_OPERATION_BARRIER] = OTF2_COLLECTIVE_OP_BARRIER,
        [SG_OPERATION_REDUCE] = OTF2_COLLECTIVE_OP_REDUCE,
        [SG_OPERATION_ALLREDUCE] = OTF2_COLLECTIVE_OP_ALLREDUCE,
    };
    const struct sg_comm_entry *comm = sg_summary_comm(writer->summary, part->comm);
    bool in_place = (part->flags & SG_CALL_IN_PLACE) != 0;
    uint64_t ranks = comm->size - (in_place ? 1 : 0);
    struct outcome outcome = {.operation = operations[part->operation],
                              .comm = comm_ref(writer, comm),
                              .root = OTF2_COLLECTIVE_ROOT_NONE};

    if (part->operation == SG_OPERATION_ALLREDUCE) {
        outcome.sent = outcome.received = part->bytes * ranks;
    } else if (part->operation == SG_OPERATION_REDUCE) {
        outcome.root = (uint32_t)part->root;
        outcome.sent = in_place ? 0 : part->bytes;
        outcome.received = part->root == (int32_t)comm->rank ? part->bytes * ranks : 0;
    }
    return outcome;
}

void sg_event_leave(struct sg_event_writer *writer, const struct sg_part *part, uint64_t end_ns)
{
    uint64_t time_ns = sg_event_advance(writer, end_ns);
    uint32_t region = part->operation;

    if (part->call != NULL) {
        struct outcome outcome = outcome_of(writer, part);

        sg_event_check(writer, OTF2_EvtWriter_MpiCollectiveEnd(
                                   writer->events, NULL, time_ns, outcome.operation, outcome.comm,
                                   outcome.root, outcome.sent, outcome.received));
        write_metrics(writer, part->call);
    } else {
        region += SG_REGION_POSTS;
    }
    sg_event_check(writer, OTF2_EvtWriter_Leave(writer->events, NULL, time_ns, region));
}

void sg_event_complete(struct sg_event_writer *writer, const struct sg_part *part, uint32_t slot)
{
    OTF2_AttributeList *attributes = writer->attributes;
    struct outcome outcome = outcome_of(writer, part);

    sg_event_check(
        writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_EXPOSED, part->exposed_ns));
    sg_event_check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_HIDDEN,
                                                        sg_part_hidden_ns(part)));
    sg_event_check(writer,
                   OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_TESTS, part->tests));
    sg_event_check(writer,
                   OTF2_EvtWriter_NonBlockingCollectiveComplete(
                       writer->events, attributes, sg_event_advance(writer, part->complete_ns),
                       outcome.operation, outcome.comm, outcome.root, outcome.sent,
                       outcome.received, request_of(slot)));
}

void sg_event_enter_late(struct sg_event_writer *writer, const struct sg_record_late *late)
{
    OTF2_AttributeList *attributes = writer->attributes;
    const struct sg_comm_entry *comm = sg_summary_comm(writer->summary, late->comm);
    uint32_t ref = comm != NULL ? comm_ref(writer, comm) : SG_NO_COMM;

    sg_event_check(writer, OTF2_AttributeList_AddStringRef(attributes, SG_ATTRIBUTE_SITE,
                                                           site_text(writer, late->site)));
    sg_event_check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_SEQ, late->seq));
    sg_event_check(writer,
                   OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_BYTES, late->bytes));
    if (ref != SG_NO_COMM)
        sg_event_check(writer, OTF2_AttributeList_AddCommRef(attributes, SG_ATTRIBUTE_COMM, ref));
    sg_event_check(writer, OTF2_AttributeList_AddRegionRef(attributes, SG_ATTRIBUTE_OPERATION,
                                                           late->operation));
    sg_event_check(writer,
                   OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_CHILD,
                                                late->child >= 0 ? (uint64_t)late->child : 0));
    sg_event_check(
        writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_AVOIDED, late->avoided_ns));
    sg_event_check(writer,
                   OTF2_EvtWriter_Enter(writer->events, attributes,
                                        sg_event_advance(writer, late->begin_ns), SG_REGION_LATE));
}
