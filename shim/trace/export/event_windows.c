/* Writes the OTF2 events of calls on windows, in Score-P's order. After Enter: one-sided
 * operations, lock requests and begins of collectives. Before Leave: completions, then
 * synchronisations, ends of collectives and lock releases. A call on a window that the archive does
 * not have is written as a region only.
 *
 * Also writes the metrics of intervals between calls and of slices.
 */
#include "trace/export/event_writer.h"

#include "core/room.h"

#include <stdlib.h>

/* ---- calls that complete operations ------------------------------------------------------ */

/* By MPI's rules, a call that synchronises a window, or one target of it, completes the operations
 * that its rank began there earlier, on any thread.
 *
 *    at the origin   MPI_Win_flush_local, MPI_Win_complete, and an operation's own request
 *    at both ends    MPI_Win_fence, MPI_Win_flush, MPI_Win_unlock, MPI_Win_free
 *
 * An operation that only gets is complete at both ends once it is complete at the origin. */

#define ALL_TARGETS (-1)
#define NOT_OPEN (-1)

/* An operation that is not yet complete at both ends, or a lock that is held. */
struct open {
    uint32_t slot;
    int32_t window, target;            /* window: NOT_OPEN once complete */
    bool is_lock, only_gets, is_local; /* is_local: complete at the origin, or a lock */
};

struct finding {
    struct sg_rma_completions *out;
    const struct sg_summary_calls *calls;
    struct open *open; /* by slot */
    uint32_t open_count;
    uint32_t local_count; /* leading entries that are complete at the origin, or locks */
    bool failed;
};

static void end(struct finding *finding, uint32_t by, uint32_t of, uint32_t ends)
{
    const struct sg_rma_completion item = {by, of, ends};

    if (!SG_APPEND(finding->out->items, finding->out->count, item))
        finding->failed = true;
}

static void begin(struct finding *finding, const struct open *open)
{
    if (!SG_APPEND(finding->open, finding->open_count, *open))
        finding->failed = true;
}

/* Returns the ends (enum sg_rma_end) at which a call completes operations; 0: none. */
static uint32_t ends_of(enum sg_rma rma)
{
    switch (rma) {
    case SG_RMA_FENCE:
    case SG_RMA_FREE:
    case SG_RMA_UNLOCK:
    case SG_RMA_UNLOCK_ALL:
    case SG_RMA_FLUSH:
    case SG_RMA_FLUSH_ALL:
        return SG_RMA_END_LOCAL | SG_RMA_END_REMOTE;
    case SG_RMA_COMPLETE:
    case SG_RMA_FLUSH_LOCAL:
    case SG_RMA_FLUSH_LOCAL_ALL:
        return SG_RMA_END_LOCAL;
    default:
        return 0;
    }
}

static bool is_of_target(enum sg_rma rma)
{
    return rma == SG_RMA_UNLOCK || rma == SG_RMA_FLUSH || rma == SG_RMA_FLUSH_LOCAL;
}

/* Records the ends at which the call completes the operation. far: the call's ends. Returns true
 * if a later call must complete it at the target. */
static bool complete(struct finding *finding, uint32_t by, uint32_t far, struct open *open)
{
    uint32_t ends = far;

    if (open->only_gets)
        ends |= SG_RMA_END_REMOTE;
    if (open->is_local)
        ends &= ~(uint32_t)SG_RMA_END_LOCAL;
    if (ends != 0)
        end(finding, by, open->slot, ends);
    open->is_local = true;
    return (ends & SG_RMA_END_REMOTE) == 0;
}

static void synchronise(struct finding *finding, const struct sg_record_event *event, uint32_t slot,
                        enum sg_rma rma)
{
    bool of_target = is_of_target(rma);
    uint32_t far = ends_of(rma);
    bool unlocks = rma == SG_RMA_UNLOCK || rma == SG_RMA_UNLOCK_ALL;
    int32_t lock_target = rma == SG_RMA_UNLOCK ? event->to : ALL_TARGETS;
    /* A call that completes operations only at the origin skips those already complete there. */
    uint32_t kept = (far & SG_RMA_END_REMOTE) != 0 ? 0 : finding->local_count;

    for (uint32_t i = kept; i < finding->open_count; i++) {
        struct open *open = &finding->open[i];
        bool stays = open->window != NOT_OPEN;

        if (open->window == event->from && open->is_lock) {
            stays = !unlocks || open->target != lock_target;
            if (!stays)
                end(finding, slot, open->slot, SG_RMA_END_LOCK);
            unlocks = unlocks && stays; /* a call releases one lock */
        } else if (open->window == event->from && (!of_target || open->target == event->to)) {
            stays = complete(finding, slot, far, open);
            /* After MPI_Win_complete, no later call shows completion at the target. */
            stays = stays && rma != SG_RMA_COMPLETE;
        }
        if (stays)
            finding->open[kept++] = *open;
    }
    finding->open_count = kept;
    if (finding->local_count > kept || (far & SG_RMA_END_REMOTE) != 0)
        finding->local_count = 0;
    while (finding->local_count < kept && finding->open[finding->local_count].is_local)
        finding->local_count++;
}

static void read_event(struct finding *finding, const struct sg_record_event *event, uint32_t slot)
{
    const struct sg_function_entry *function = sg_summary_function(finding->calls, event->function);
    enum sg_rma rma = function != NULL ? function->rma : SG_RMA_NONE;

    if (rma == SG_RMA_NONE || event->from < 0 || (event->flags & SG_EVENT_FAILED) != 0 ||
        !sg_event_is_sound(event) ||
        atomic_load_explicit(&event->end_ns, memory_order_relaxed) == 0)
        return;
    if (sg_rma_is_operation(rma) && event->to >= 0)
        begin(finding, &(struct open){.slot = slot,
                                      .window = event->from,
                                      .target = event->to,
                                      .only_gets = rma == SG_RMA_GET});
    else if (rma == SG_RMA_LOCK || rma == SG_RMA_LOCK_ALL)
        begin(finding, &(struct open){.slot = slot,
                                      .window = event->from,
                                      .target = rma == SG_RMA_LOCK ? event->to : ALL_TARGETS,
                                      .is_lock = true,
                                      .is_local = true});
    else if (ends_of(rma) != 0)
        synchronise(finding, event, slot, rma);
}

static int compare_slots(const void *slot, const void *open)
{
    uint32_t left = *(const uint32_t *)slot, right = ((const struct open *)open)->slot;

    return (left > right) - (left < right);
}

static struct open *find_open(const struct finding *finding, uint32_t slot)
{
    return finding->open_count == 0 ? NULL
                                    : bsearch(&slot, finding->open, finding->open_count,
                                              sizeof *finding->open, compare_slots);
}

/* Handles the completion of an operation's own request. */
static void read_request(struct finding *finding, const struct sg_record_request *request,
                         uint32_t slot)
{
    struct open *open;

    if (request->what != SG_REQUEST_COMPLETE || !sg_request_is_sound(request) ||
        request->request >= slot)
        return;
    open = find_open(finding, (uint32_t)request->request);
    if (open == NULL || open->is_local || open->window == NOT_OPEN)
        return;
    if (!complete(finding, slot, SG_RMA_END_LOCAL, open))
        open->window = NOT_OPEN;
}

static int compare(const void *a, const void *b)
{
    const struct sg_rma_completion *left = a, *right = b;

    if (left->by != right->by)
        return left->by > right->by ? 1 : -1;
    return (left->of > right->of) - (left->of < right->of);
}

enum sg_status sg_rma_completions_find(struct sg_rma_completions *completions,
                                       struct sg_logread *log, const struct sg_summary *summary)
{
    struct finding finding = {.out = completions, .calls = &summary->calls};
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    if (summary->calls.windows.window_count == 0)
        return SG_OK;
    while (!finding.failed && (record = sg_logread_next(log, &slot, &kind)) != NULL) {
        if (kind == SG_RECORD_EVENT)
            read_event(&finding, record, (uint32_t)(slot - 1));
        else if (kind == SG_RECORD_REQUEST)
            read_request(&finding, record, (uint32_t)(slot - 1));
    }
    free(finding.open);
    if (completions->count > 1)
        qsort(completions->items, completions->count, sizeof *completions->items, compare);
    return finding.failed ? SG_ERR_MEMORY : SG_OK;
}

void sg_rma_completions_clear(struct sg_rma_completions *completions)
{
    free(completions->items);
}

/* Returns the first of the completions by the record at slot, and sets *count to their number. */
static const struct sg_rma_completion *completions_by(const struct sg_rma_completions *completions,
                                                      uint32_t slot, uint32_t *count)
{
    uint32_t first = 0, end = completions->count;

    while (first < end) {
        uint32_t middle = first + (end - first) / 2;

        if (completions->items[middle].by < slot)
            first = middle + 1;
        else
            end = middle;
    }
    for (end = first; end < completions->count && completions->items[end].by == slot;)
        end++;
    *count = end - first;
    return *count > 0 ? &completions->items[first] : NULL;
}

/* ---- events of windows ------------------------------------------------------------------- */

static void check(struct sg_event_writer *writer, OTF2_ErrorCode code)
{
    if (code != OTF2_SUCCESS)
        sg_archive_check(writer->archive, code);
}

/* Returns the call's operation on a window; SG_RMA_NONE: it has none, or it failed. */
static enum sg_rma rma_of(const struct sg_event_writer *writer, const struct sg_record_event *event)
{
    const struct sg_function_entry *function =
        sg_summary_function(&writer->summary->calls, event->function);

    return function != NULL && (event->flags & SG_EVENT_FAILED) == 0 ? function->rma : SG_RMA_NONE;
}

/* NULL: the archive has no such window. */
static const struct sg_plan_window *window_of(const struct sg_event_writer *writer,
                                              const struct sg_record_event *event)
{
    const struct sg_summary_calls *calls = &writer->summary->calls;
    const struct sg_window_entry *window = sg_summary_window(&calls->windows, event);
    const struct sg_profile_comm_entry *comm =
        window != NULL ? sg_summary_profile_comm(calls, window->comm) : NULL;
    struct sg_plan_window key;

    if (comm == NULL)
        return NULL;
    key = (struct sg_plan_window){
        .identity = comm->identity, .comm_ordinal = comm->ordinal, .ordinal = window->ordinal};
    return sg_plan_find_window(&writer->plan->windows, &key);
}

/* True if the target is a rank of the window's communicator; any other target is damage. */
static bool has_target(const struct sg_event_writer *writer, const struct sg_record_event *event)
{
    const struct sg_summary_calls *calls = &writer->summary->calls;
    const struct sg_window_entry *window = sg_summary_window(&calls->windows, event);
    const struct sg_profile_comm_entry *comm =
        window != NULL ? sg_summary_profile_comm(calls, window->comm) : NULL;

    return comm != NULL && event->to >= 0 && (uint32_t)event->to < comm->comm.size;
}

/* True if all members recorded the collective. */
static bool is_kept(const struct sg_plan_window *window, const struct sg_record_event *event)
{
    return (event->flags & SG_EVENT_ORDERED) != 0 && event->from_tag >= 0 &&
           sg_intervals_contain(&window->kept, (uint32_t)event->from_tag);
}

/* ---- after Enter ----------------------------------------------------------------------------- */

static OTF2_RmaAtomicType atomic_type(enum sg_rma rma, int32_t detail)
{
    if (rma == SG_RMA_ACCUMULATE)
        return OTF2_RMA_ATOMIC_TYPE_ACCUMULATE;
    if (rma == SG_RMA_COMPARE)
        return OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP;
    return detail == SG_WINDOW_SUM       ? OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ADD
           : detail == SG_WINDOW_REPLACE ? OTF2_RMA_ATOMIC_TYPE_SWAP
                                         : OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE;
}

static void write_operation(struct sg_event_writer *writer, const struct sg_record_event *event,
                            enum sg_rma rma, uint32_t window, uint32_t slot, uint64_t time_ns)
{
    uint32_t target = (uint32_t)event->to;
    uint64_t number = sg_event_request_of(slot);

    if (rma == SG_RMA_PUT)
        check(writer, OTF2_EvtWriter_RmaPut(writer->events, NULL, time_ns, window, target,
                                            event->sent_bytes, number));
    else if (rma == SG_RMA_GET)
        check(writer, OTF2_EvtWriter_RmaGet(writer->events, NULL, time_ns, window, target,
                                            event->received_bytes, number));
    else
        check(writer, OTF2_EvtWriter_RmaAtomic(writer->events, NULL, time_ns, window, target,
                                               atomic_type(rma, event->to_tag), event->sent_bytes,
                                               event->received_bytes, number));
}

static void write_lock(struct sg_event_writer *writer, const struct sg_record_event *event,
                       enum sg_rma rma, uint32_t window, uint64_t time_ns)
{
    bool is_exclusive = rma == SG_RMA_LOCK && event->to_tag == SG_WINDOW_EXCLUSIVE;

    check(writer, OTF2_EvtWriter_RmaRequestLock(
                      writer->events, NULL, time_ns, window,
                      rma == SG_RMA_LOCK ? (uint32_t)event->to : OTF2_UNDEFINED_UINT32, 0,
                      is_exclusive ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED));
}

/* True if the call returned. If it did not, the rank never got the lock that it requested. */
static bool is_over(const struct sg_record_event *event)
{
    return atomic_load_explicit(&event->end_ns, memory_order_relaxed) != 0;
}

void sg_event_window_begin(struct sg_event_writer *writer, const struct sg_record_event *event,
                           uint32_t slot, uint64_t time_ns)
{
    enum sg_rma rma = rma_of(writer, event);
    const struct sg_plan_window *window = rma != SG_RMA_NONE ? window_of(writer, event) : NULL;

    if (window == NULL || !is_over(event))
        return;
    if (sg_rma_is_operation(rma) && has_target(writer, event))
        write_operation(writer, event, rma, window->ref, slot, time_ns);
    else if (rma == SG_RMA_LOCK_ALL || (rma == SG_RMA_LOCK && has_target(writer, event)))
        write_lock(writer, event, rma, window->ref, time_ns);
    else if (sg_rma_is_collective(rma) && is_kept(window, event))
        check(writer, OTF2_EvtWriter_RmaCollectiveBegin(writer->events, NULL, time_ns));
}

/* ---- before Leave --------------------------------------------------------------------------- */

static void write_collective(struct sg_event_writer *writer, enum sg_rma rma,
                             const struct sg_plan_window *window)
{
    OTF2_RmaSyncLevel level = OTF2_RMA_SYNC_LEVEL_PROCESS;
    OTF2_CollectiveOp op = OTF2_COLLECTIVE_OP_BARRIER;

    if (rma == SG_RMA_FENCE)
        level |= OTF2_RMA_SYNC_LEVEL_MEMORY;
    else
        op = rma == SG_RMA_MAKE ? OTF2_COLLECTIVE_OP_CREATE_HANDLE
                                : OTF2_COLLECTIVE_OP_DESTROY_HANDLE;
    if (rma == SG_RMA_MAKE)
        check(writer,
              OTF2_EvtWriter_RmaWinCreate(writer->events, NULL, writer->now_ns, window->ref));
    else if (rma == SG_RMA_FREE && window->has_life)
        check(writer,
              OTF2_EvtWriter_RmaWinDestroy(writer->events, NULL, writer->now_ns, window->ref));
    check(writer, OTF2_EvtWriter_RmaCollectiveEnd(writer->events, NULL, writer->now_ns, op, level,
                                                  window->ref, OTF2_COLLECTIVE_ROOT_NONE, 0, 0));
}

static void write_group(struct sg_event_writer *writer, const struct sg_record_event *event,
                        enum sg_rma rma, uint32_t window)
{
    const struct sg_group_entry *group = sg_summary_group(&writer->summary->calls.windows, event);
    OTF2_RmaSyncLevel level = OTF2_RMA_SYNC_LEVEL_PROCESS;
    uint32_t ref;

    if (group == NULL || !sg_plan_find_group(&writer->plan->windows, group, &ref))
        return;
    if (rma == SG_RMA_COMPLETE || rma == SG_RMA_WAIT)
        level |= OTF2_RMA_SYNC_LEVEL_MEMORY;
    check(writer,
          OTF2_EvtWriter_RmaGroupSync(writer->events, NULL, writer->now_ns, level, window, ref));
}

void sg_event_window_end(struct sg_event_writer *writer, const struct sg_record_event *event,
                         uint32_t slot)
{
    enum sg_rma rma = rma_of(writer, event);
    const struct sg_plan_window *window = rma != SG_RMA_NONE ? window_of(writer, event) : NULL;

    if (window == NULL || !is_over(event))
        return;
    sg_event_window_completions(writer, slot, writer->now_ns);
    if (sg_rma_is_collective(rma) && is_kept(window, event))
        write_collective(writer, rma, window);
    else if (sg_rma_has_group(rma))
        write_group(writer, event, rma, window->ref);
}

/* ---- completions ----------------------------------------------------------------------------- */

static void write_completion(struct sg_event_writer *writer, const struct sg_record_event *event,
                             const struct sg_rma_completion *completion, uint32_t window,
                             uint64_t time_ns)
{
    uint64_t number = sg_event_request_of(completion->of);

    if ((completion->ends & SG_RMA_END_LOCAL) != 0)
        check(writer, OTF2_EvtWriter_RmaOpCompleteNonBlocking(writer->events, NULL, time_ns, window,
                                                              number));
    if ((completion->ends & SG_RMA_END_REMOTE) != 0)
        check(writer,
              OTF2_EvtWriter_RmaOpCompleteRemote(writer->events, NULL, time_ns, window, number));
    if ((completion->ends & SG_RMA_END_LOCK) != 0)
        check(writer, OTF2_EvtWriter_RmaReleaseLock(writer->events, NULL, time_ns, window,
                                                    rma_of(writer, event) == SG_RMA_LOCK
                                                        ? (uint32_t)event->to
                                                        : OTF2_UNDEFINED_UINT32,
                                                    0));
}

void sg_event_window_completions(struct sg_event_writer *writer, uint32_t slot, uint64_t time_ns)
{
    uint32_t count = 0;
    const struct sg_rma_completion *items = completions_by(&writer->completions, slot, &count);

    /* Locks go last: a lock is released after the operations that it protects. */
    for (int locks = 0; locks <= 1; locks++) {
        for (uint32_t i = 0; i < count; i++) {
            enum sg_record_kind kind;
            uint64_t from = items[i].of;
            const struct sg_record_event *event = sg_logread_next(writer->log, &from, &kind);
            const struct sg_plan_window *window = window_of(writer, event);

            if (((items[i].ends & SG_RMA_END_LOCK) != 0) == (locks != 0) && window != NULL &&
                (rma_of(writer, event) == SG_RMA_LOCK_ALL || has_target(writer, event)))
                write_completion(writer, event, &items[i], window->ref, time_ns);
        }
    }
}

/* ---- intervals between calls ----------------------------------------------------------------- */

/* A thread's activity in an interval is written as metrics at the interval's end. The first metric
 * is the interval's length; its attributes give the call sites at both ends and, if known, the
 * stretch (trace/record.h). One metric follows for each source whose figures were recorded. Readers
 * of the archive need no other data. */

/* Returns the communicator's number in the archive; SG_NO_COMM: it has none. */
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

        /* A source is left out if one of its figures went backwards. */
        if ((interval->mask & mask) == mask)
            write_source(writer, interval, source);
    }
}

/* ---- slices ---------------------------------------------------------------------------------- */

/* A slice of buffered coscheduling is written as metrics at its end, on the location of the thread
 * that recorded it: the node's metrics and, at the communicator's endpoint 0, the global ones.
 * Unknown metrics are 0. Attributes give the slice, its communicator and the node. */

static void event_slices_describe(struct sg_event_writer *writer,
                                  const struct sg_record_slice *record,
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
    check(writer, OTF2_EvtWriter_Metric(writer->events, writer->attributes, writer->now_ns, class,
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
    event_slices_describe(writer, record, comm);
    write_metrics(writer, &slice, SG_CLASS_SLICE, SG_SLICE_LETTS, SG_SLICE_METRICS);
    if ((record->known & global) == 0)
        return;
    event_slices_describe(writer, record, comm);
    write_metrics(writer, &slice, SG_CLASS_SLICE_GLOBAL, SG_SLICE_GETTS, SG_SLICE_LETTS);
}
