#include "trace/export/part.h"

#include "trace/export/logread.h"

static void read_call(const struct sg_record_call *call, struct sg_part *out)
{
    *out = (struct sg_part){
        .call = call,
        .operation = call->operation,
        .algorithm = (uint8_t)sg_ran_algorithm(call->ran),
        .arm = (uint8_t)sg_ran_arm(call->ran),
        .flags = call->flags,
        .thread = call->thread,
        .site = call->site,
        .comm = call->comm,
        .seq = call->seq,
        .root = call->root,
        .bytes = call->bytes,
        .begin_ns = call->begin_ns,
        /* Acquire: pairs with the writer's release, which comes after all other fields. */
        .end_ns = atomic_load_explicit(&call->end_ns, memory_order_acquire),
    };
}

/* Who posts may come to note how long that took after another thread has completed the request: the
 * post then reaches a little into what follows it. */
static void cut_overlap(struct sg_part *post)
{
    if (post->complete_ns == 0 || !sg_part_is_sound(post))
        return;
    if (post->end_ns > post->complete_ns)
        post->end_ns = post->complete_ns;
    if (post->exposed_ns > post->complete_ns - post->end_ns)
        post->exposed_ns = post->complete_ns - post->end_ns;
}

static void read_post(const struct sg_record_post *post, struct sg_part *out)
{
    /* Acquire: as above. */
    uint64_t complete_ns = atomic_load_explicit(&post->end_ns, memory_order_acquire);

    *out = (struct sg_part){
        .operation = post->operation,
        .algorithm = (uint8_t)sg_ran_algorithm(post->ran),
        .arm = (uint8_t)sg_ran_arm(post->ran),
        .flags = post->flags,
        .thread = post->thread,
        .site = post->site,
        .comm = post->comm,
        .seq = post->seq,
        .root = post->root,
        .bytes = post->bytes,
        .begin_ns = post->begin_ns,
        .end_ns = post->begin_ns + post->post_ns,
        .complete_ns = complete_ns,
        .exposed_ns = post->exposed_ns,
        .tests = post->tests,
    };
    cut_overlap(out);
}

bool sg_part_read(const void *record, struct sg_part *out)
{
    uint8_t kind = *(const uint8_t *)record;

    if (kind == SG_RECORD_CALL)
        read_call(record, out);
    else if (kind == SG_RECORD_POST)
        read_post(record, out);
    else
        return false;
    return true;
}

static bool times_are_sound(uint64_t begin_ns, uint64_t end_ns)
{
    return begin_ns > 0 && begin_ns < SG_TIME_LIMIT_NS && end_ns < SG_TIME_LIMIT_NS &&
           (end_ns == 0 || end_ns >= begin_ns);
}

bool sg_part_is_sound(const struct sg_part *part)
{
    if (part->operation >= SG_OPERATION_COUNT || !times_are_sound(part->begin_ns, part->end_ns))
        return false;
    if (part->complete_ns == 0)
        return true;
    return times_are_sound(part->begin_ns, part->complete_ns) &&
           part->exposed_ns <= part->complete_ns - part->begin_ns;
}

bool sg_late_is_sound(const struct sg_record_late *late)
{
    return late->operation < SG_OPERATION_COUNT && late->avoided_ns <= late->begin_ns &&
           times_are_sound(late->begin_ns,
                           atomic_load_explicit(&late->end_ns, memory_order_acquire));
}
