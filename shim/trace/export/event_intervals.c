/* What a thread did between two calls, as metrics: at the interval's end, a metric event of its
 * length, whose attributes tell the sites at both ends and the stretch, and one of each source of
 * figures that has told of it. A reader of the archive needs nothing else. */
#include "trace/export/event_writer.h"
#include "trace/export/vocabulary.h"

static void check(struct sg_event_writer *writer, OTF2_ErrorCode code)
{
    if (code != OTF2_SUCCESS)
        sg_archive_check(writer->archive, code);
}

/* The communicator's number in the archive; SG_NO_COMM: it is not there. */
static uint32_t comm_of(const struct sg_event_writer *writer, uint32_t index)
{
    const struct sg_profile_comm_entry *comm =
        sg_summary_profile_comm(&writer->summary->calls, index);
    const struct sg_plan_profile_comm *known =
        comm != NULL ? writer->comms[comm - writer->summary->calls.comms] : NULL;

    return known != NULL ? known->ref : SG_NO_COMM;
}

static void describe(struct sg_event_writer *writer, const struct sg_record_interval *interval)
{
    OTF2_AttributeList *attributes = writer->attributes;
    uint8_t flags = atomic_load_explicit(&interval->flags, memory_order_relaxed);
    uint32_t entered = atomic_load_explicit(&interval->entered, memory_order_relaxed);
    uint32_t comm = comm_of(writer, interval->comm);

    check(writer, OTF2_AttributeList_AddStringRef(attributes, SG_ATTRIBUTE_LEFT,
                                                  sg_event_site_text(writer, interval->left)));
    check(writer, OTF2_AttributeList_AddStringRef(attributes, SG_ATTRIBUTE_ENTERED,
                                                  sg_event_site_text(writer, entered)));
    if ((flags & SG_INTERVAL_STRETCH) == 0 || comm == SG_NO_COMM)
        return;
    check(writer, OTF2_AttributeList_AddCommRef(attributes, SG_ATTRIBUTE_COMM, comm));
    check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_STRETCH, interval->number));
    check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_BOUNDS,
                                               (uint64_t)((flags & SG_INTERVAL_FIRST) != 0) +
                                                   2 * ((flags & SG_INTERVAL_LAST) != 0)));
}

static void write_source(struct sg_event_writer *writer, const struct sg_record_interval *interval,
                         enum sg_source source)
{
    OTF2_Type types[SG_FIGURE_COUNT];
    OTF2_MetricValue values[SG_FIGURE_COUNT];
    uint8_t count = sg_source_table[source].count;

    for (unsigned i = 0; i < count; i++) {
        types[i] = OTF2_TYPE_UINT64;
        values[i].unsigned_int =
            sg_figure_read(interval->figures, sg_source_table[source].first + i);
    }
    check(writer, OTF2_EvtWriter_Metric(writer->events, NULL, writer->now_ns,
                                        SG_CLASS_OF_SOURCE(source), count, types, values));
}

void sg_event_interval(struct sg_event_writer *writer, const struct sg_record_interval *interval)
{
    const OTF2_Type type = OTF2_TYPE_UINT64;
    const OTF2_MetricValue length = {.unsigned_int = interval->end_ns - interval->begin_ns};

    sg_event_advance(writer, interval->end_ns);
    describe(writer, interval);
    check(writer, OTF2_EvtWriter_Metric(writer->events, writer->attributes, writer->now_ns,
                                        SG_CLASS_INTERVAL, 1, &type, &length));
    for (int source = 0; source < SG_SOURCE_COUNT; source++) {
        uint32_t mask = sg_source_mask(source);

        /* A source of which a figure went backwards tells nothing. */
        if ((interval->mask & mask) == mask)
            write_source(writer, interval, source);
    }
}
