#include "profile/between.h"

#include "core/hash.h"
#include "core/tick.h"
#include "profile/thread.h"
#include "runtime/process.h"

__thread struct sg_stack_frame sg_between_outermost;

static bool is_recording(void)
{
    return atomic_load_explicit(&sg_process.recording, memory_order_relaxed);
}

void sg_between_start(void)
{
    const struct sg_causes_options options = {
        .log = sg_process.log,
        .mode = (enum sg_causes_mode)sg_process.config.causes,
        .has_events = sg_process.config.trace == SG_TRACE_OTF2,
        .begin_ns = sg_log_header(sg_process.log)->init_begin_ns,
        .places = {"/proc", "/sys", NULL},
    };

    sg_causes_start(&options);
}

void sg_between_end_interval(void)
{
    if (is_recording())
        sg_causes_enter();
    else
        sg_causes_skip();
}

/* The call's number among those of its site that are no collectives: threads that end calls there
 * at a time may count one for two. */
static uint32_t count(const struct sg_site *site)
{
    _Atomic uint32_t *left = &((struct sg_site *)site)->left;
    uint32_t calls = atomic_load_explicit(left, memory_order_relaxed);

    atomic_store_explicit(left, calls + 1, memory_order_relaxed);
    return calls;
}

static const struct sg_site *site_of(const struct sg_between_call *call)
{
    return call->site != NULL ? call->site : sg_site_of(call->caller);
}

/* What is chosen by something else than its hash. Apart, so that other calls save no registers. */
static __attribute__((noinline)) void tell(const struct sg_between_call *call,
                                           const struct sg_profile_comm *comm,
                                           struct sg_causes_call *ended)
{
    ended->site = site_of(call)->index;
    ended->thread = sg_thread_number();
    if (comm != NULL) {
        ended->key = comm->key;
        ended->comm = comm->index;
    }
    sg_causes_leave(ended);
}

/* Most calls are not sampled: of them nothing but what the choice needs is looked at. */
static void leave(const struct sg_between_call *call)
{
    const struct sg_profile_comm *comm =
        call->comm != NULL && call->comm->key != 0 ? call->comm : NULL;
    struct sg_causes_call ended = {.now_ns = call->end_ns != 0 ? call->end_ns : sg_tick_ns()};

    if (comm != NULL) {
        ended.number = sg_profile_comm_last(comm);
        ended.hash = sg_hash_mix(comm->key + ended.number);
    } else {
        const struct sg_site *site = site_of(call);

        ended.calls = count(site);
        ended.hash = sg_hash_mix(((uint64_t)site->rule.id << 32) + ended.calls);
    }
    if (!sg_causes_drops(comm != NULL, ended.hash, ended.now_ns))
        tell(call, comm, &ended);
}

void sg_between_leave(const struct sg_between_call *call)
{
    sg_between_outermost.address = 0;
    if (!atomic_load_explicit(&sg_causes_is_on, memory_order_relaxed))
        return;
    if (is_recording())
        leave(call);
    else
        sg_causes_skip();
}
