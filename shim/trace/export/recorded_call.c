#include "trace/export/recorded_call.h"

#include "trace/export/logread.h"

static void read_call(const struct sg_record_call *call, struct sg_recorded_call *out)
{
    *out = (struct sg_recorded_call){
        .call = call,
        .operation = call->operation,
        .algorithm = (uint8_t)sg_executed_algorithm(call->executed),
        .arm = (uint8_t)sg_executed_arm(call->executed),
        .flags = call->flags,
        .thread = call->thread,
        .site = call->site,
        .comm = call->comm,
        .seq = call->seq,
        .root = call->root,
        .slice = call->skew_ns,
        .bytes = call->bytes,
        .begin_ns = call->begin_ns,
        /* Acquire: pairs with the writer's release, which comes after all other fields. */
        .end_ns = atomic_load_explicit(&call->end_ns, memory_order_acquire),
    };
}

/* A thread that starts a call may note how long that took only after another thread has completed
 * the request: the start then overlaps a little with what follows it. */
static void cut_overlap(struct sg_recorded_call *nonblocking)
{
    if (nonblocking->complete_ns == 0 || !sg_recorded_call_is_sound(nonblocking))
        return;
    if (nonblocking->end_ns > nonblocking->complete_ns)
        nonblocking->end_ns = nonblocking->complete_ns;
    if (nonblocking->exposed_ns > nonblocking->complete_ns - nonblocking->end_ns)
        nonblocking->exposed_ns = nonblocking->complete_ns - nonblocking->end_ns;
}

static void read_nonblocking(const struct sg_record_nonblocking *nonblocking,
                             struct sg_recorded_call *out)
{
    /* Acquire: as above. */
    uint64_t complete_ns = atomic_load_explicit(&nonblocking->end_ns, memory_order_acquire);

    *out = (struct sg_recorded_call){
        .operation = nonblocking->operation,
        .algorithm = (uint8_t)sg_executed_algorithm(nonblocking->executed),
        .arm = (uint8_t)sg_executed_arm(nonblocking->executed),
        .flags = nonblocking->flags,
        .thread = nonblocking->thread,
        .site = nonblocking->site,
        .comm = nonblocking->comm,
        .seq = nonblocking->seq,
        .root = nonblocking->root,
        .slice = (uint64_t)nonblocking->slice_high << 32 | nonblocking->slice_low,
        .bytes = nonblocking->bytes,
        .begin_ns = nonblocking->begin_ns,
        .end_ns = nonblocking->begin_ns + nonblocking->start_ns,
        .complete_ns = complete_ns,
        .exposed_ns = nonblocking->exposed_ns,
        .tests = nonblocking->tests,
    };
    cut_overlap(out);
}

bool sg_recorded_call_read(const void *record, struct sg_recorded_call *out)
{
    uint8_t kind = *(const uint8_t *)record;

    if (kind == SG_RECORD_CALL)
        read_call(record, out);
    else if (kind == SG_RECORD_NONBLOCKING)
        read_nonblocking(record, out);
    else
        return false;
    return true;
}

static bool times_are_sound(uint64_t begin_ns, uint64_t end_ns)
{
    return begin_ns > 0 && begin_ns < SG_TIME_LIMIT_NS && end_ns < SG_TIME_LIMIT_NS &&
           (end_ns == 0 || end_ns >= begin_ns);
}

bool sg_recorded_call_is_sound(const struct sg_recorded_call *recorded)
{
    if (recorded->operation >= SG_OPERATION_COUNT ||
        !times_are_sound(recorded->begin_ns, recorded->end_ns))
        return false;
    if (recorded->complete_ns == 0)
        return true;
    return times_are_sound(recorded->begin_ns, recorded->complete_ns) &&
           recorded->exposed_ns <= recorded->complete_ns - recorded->begin_ns;
}

bool sg_late_is_sound(const struct sg_record_late *late)
{
    return late->operation < SG_OPERATION_COUNT && late->avoided_ns <= late->begin_ns &&
           times_are_sound(late->begin_ns,
                           atomic_load_explicit(&late->end_ns, memory_order_acquire));
}

bool sg_event_is_sound(const struct sg_record_event *event)
{
    return times_are_sound(event->begin_ns,
                           atomic_load_explicit(&event->end_ns, memory_order_acquire));
}

bool sg_request_is_sound(const struct sg_record_request *request)
{
    return times_are_sound(request->time_ns, request->time_ns);
}

bool sg_interval_is_sound(const struct sg_record_interval *interval)
{
    return interval->begin_ns > 0 && interval->begin_ns <= interval->end_ns &&
           interval->end_ns < SG_TIME_LIMIT_NS;
}

bool sg_slice_is_sound(const struct sg_record_slice *slice)
{
    return times_are_sound(slice->begin_ns, slice->begin_ns + slice->until_ns);
}
