#include "trace/export/rma_completions.h"

#include "core/room.h"
#include "trace/export/logread.h"

#include <stdlib.h>

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

const struct sg_rma_completion *sg_rma_completions_by(const struct sg_rma_completions *completions,
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
