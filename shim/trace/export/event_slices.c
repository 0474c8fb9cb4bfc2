/* Slices of buffered coscheduling as metrics, on the location of the thread that wrote them: at the
 * slice's end those of the node and, where the communicator's endpoint 0 is, the global ones. What
 * is not known is 0. Attributes tell the slice, its communicator and the node. */
#include "trace/export/event_writer.h"
#include "trace/export/vocabulary.h"

static void check(struct sg_event_writer *writer, OTF2_ErrorCode code)
{
    if (code != OTF2_SUCCESS)
        sg_archive_check(writer->archive, code);
}

static void describe(struct sg_event_writer *writer, const struct sg_record_slice *record,
                     const struct sg_comm_entry *comm)
{
    OTF2_AttributeList *attributes = writer->attributes;

    check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_SLICE, record->number));
    check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_NODE, record->node));
    check(writer, OTF2_AttributeList_AddCommRef(attributes, SG_ATTRIBUTE_COMM,
                                                sg_plan_comm_ref(writer->plan, comm)));
}

static void write_metrics(struct sg_event_writer *writer, const struct sg_slice *slice,
                          uint32_t class, unsigned first, unsigned end)
{
    OTF2_Type types[SG_SLICE_METRICS];
    OTF2_MetricValue values[SG_SLICE_METRICS];

    for (unsigned metric = first; metric < end; metric++) {
        types[metric - first] = OTF2_TYPE_UINT64;
        values[metric - first].unsigned_int =
            sg_slice_knows(slice, metric) ? sg_slice_value(slice, metric) : 0;
    }
    check(writer,
          OTF2_EvtWriter_Metric(writer->events, writer->attributes, writer->now_ns, class,
                                (uint8_t)(end - first), types, values));
}

void sg_event_slice(struct sg_event_writer *writer, const struct sg_record_slice *record)
{
    const struct sg_comm_entry *comm = sg_summary_comm(writer->summary, record->comm);
    const struct sg_slice slice = sg_record_slice_read(record);
    const uint32_t global = (UINT32_C(1) << SG_SLICE_LETTS) - 1;

    if (comm == NULL)
        return;
    sg_event_advance(writer, record->begin_ns + record->until_ns);
    describe(writer, record, comm);
    write_metrics(writer, &slice, SG_CLASS_SLICE, SG_SLICE_LETTS, SG_SLICE_METRICS);
    if ((record->known & global) == 0)
        return;
    describe(writer, record, comm);
    write_metrics(writer, &slice, SG_CLASS_SLICE_GLOBAL, SG_SLICE_GETTS, SG_SLICE_LETTS);
}
