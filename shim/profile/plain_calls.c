/* Plans of plain calls, and their begin and end (plain_calls.h). A plan is valid until a return
 * address or a communicator's handle may mean something else; it is then made anew in its place, so
 * nothing keeps a plan beyond its call.
 */
#include "profile/plain_calls.h"

#include "core/account.h"
#include "core/thread_store.h"
#include "core/tick.h"
#include "mpi/operands.h"
#include "profile/entries.h"
#include "profile/mmds.h"
#include "profile/requests.h"
#include "runtime/settings.h"

#include <string.h>

/* The place of each argument. */
enum { COUNT = 1, TYPE = 2, PEER = 3, TAG = 4, COMM = 5, LAST = 6 };
enum { WAIT_STATUS = 1, WAITALL_STATUSES = 2 };

enum form { NOT_PLAIN, SEND, RECEIVE, POST_SEND, POST_RECEIVE, COLLECTIVE, WAIT, WAIT_ALL };

static uint8_t forms[SG_FUNCTION_COUNT];

#define PLANS 256u /* of a thread; a power of two */

/* The arguments by which a plan is found. */
struct key {
    void *caller; /* NULL: no plan */
    uint32_t function;
    MPI_Comm comm;
    int peer;            /* or a root */
    uint32_t size_class; /* of the bytes that a message asks for */
};

struct sg_plain_plan {
    struct key key;
    uint64_t where, which; /* of the key */
    uint32_t meaning;      /* sg_site_meaning when it was made */
    uint32_t comm;         /* in the log */
    uint32_t number;       /* of the function in the log */
    uint32_t size_class;
    const struct sg_site *site;
    struct sg_profile_comm *known;
    /* NULL: not looked up for size_class yet; no peer. */
    struct sg_record_profile *entry;
    struct sg_record_peer *peer;
};

struct plans {
    struct sg_thread_kept kept;
    struct sg_plain_plan plans[PLANS];
};

static __thread struct plans *own;

/* Another thread finds no plans of this one: the entries are this one's. */
static void forget(struct sg_thread_kept *kept)
{
    struct plans *plans = (struct plans *)(void *)kept;

    memset(plans->plans, 0, sizeof plans->plans);
    own = NULL;
}

static struct sg_thread_store store = SG_THREAD_STORE(struct plans, forget);

/* True for blocking collectives whose data have one size for all ranks, or none. */
static bool is_uniform(enum sg_function function)
{
    const struct sg_function_facts *facts = &sg_functions[function];

    for (int word = 0; word < facts->words; word++) {
        if (facts->arguments[word] == SG_ARGUMENT_COUNTS)
            return false;
    }
    return facts->class == SG_CLASS_COLLECTIVE && facts->mode == SG_MODE_WAIT;
}

static enum form form_of(enum sg_function function)
{
    switch (function) {
    case SG_FUNCTION_Send:
    case SG_FUNCTION_Ssend:
    case SG_FUNCTION_Rsend:
        return SEND;
    case SG_FUNCTION_Recv:
        return RECEIVE;
    case SG_FUNCTION_Isend:
    case SG_FUNCTION_Issend:
    case SG_FUNCTION_Irsend:
        return POST_SEND;
    case SG_FUNCTION_Irecv:
        return POST_RECEIVE;
    case SG_FUNCTION_Wait:
        return WAIT;
    case SG_FUNCTION_Waitall:
        return WAIT_ALL;
    default:
        return is_uniform(function) ? COLLECTIVE : NOT_PLAIN;
    }
}

void sg_plain_start(bool threads, bool (*records)(enum sg_function function))
{
    for (int function = 0; function < SG_FUNCTION_COUNT; function++)
        forms[function] =
            !threads && records((enum sg_function)function) ? form_of(function) : NOT_PLAIN;
}

/* ---- plans ---- */

/* A key's members, by two. They are joined in registers: if they were compared one by one, the
 * compiler would join them in memory, and the wide read there waits for both writes. */
static inline uint64_t where_of(struct key key)
{
    return (uint64_t)(uint32_t)key.peer << 32 | (uint32_t)key.comm;
}

static inline uint64_t which_of(struct key key)
{
    return (uint64_t)key.function << 32 | key.size_class;
}

static inline uint64_t hash_of(struct key key)
{
    return ((uintptr_t)key.caller * UINT64_C(0x9e3779b97f4a7c15)) ^
           ((where_of(key) + ((uint64_t)key.size_class << 57)) * UINT64_C(0xc2b2ae3d27d4eb4f));
}

/* Not inlined, so that other calls save no registers. NULL: the call is not plain. */
static __attribute__((noinline)) struct sg_plain_plan *make(struct sg_plain_plan *plan,
                                                            struct key key)
{
    bool is_message = sg_functions[key.function].class == SG_CLASS_MESSAGE;
    struct sg_profile_comm *comm = NULL;
    const struct sg_site *site;
    uint32_t number;

    plan->key.caller = NULL;
    plan->meaning = atomic_load_explicit(&sg_site_meaning, memory_order_relaxed);
    if (key.comm != MPI_COMM_NULL) {
        comm = sg_profile_comm_asked(key.comm);
        if (comm == NULL || comm->index == 0)
            return NULL;
    }
    site = sg_site_of_address(key.caller);
    number = sg_function_number((enum sg_function)key.function);
    if (site == NULL || number == 0)
        return NULL;
    plan->known = comm;
    plan->comm = comm != NULL ? comm->index : 0;
    plan->number = number - 1;
    plan->site = site;
    plan->entry = NULL;
    plan->peer = is_message && key.peer >= 0 ? sg_peer_of(plan->comm, key.peer) : NULL;
    plan->key = key;
    plan->where = where_of(key);
    plan->which = which_of(key);
    return plan;
}

static inline struct sg_plain_plan *plan_of(struct key key)
{
    struct sg_plain_plan *plan;

    if (__builtin_expect(own == NULL, 0) && (own = sg_thread_store_take(&store)) == NULL)
        return NULL;
    plan = &own->plans[hash_of(key) >> 56];
    if (__builtin_expect(plan->key.caller == key.caller && plan->where == where_of(key) &&
                             plan->which == which_of(key) &&
                             plan->meaning ==
                                 atomic_load_explicit(&sg_site_meaning, memory_order_relaxed),
                         1))
        return plan;
    return make(plan, key);
}

/* Returns the plan's entry for calls of a size class; NULL: no capacity. */
static inline struct sg_record_profile *entry_of(struct sg_plain_plan *plan, uint8_t size_class)
{
    if (__builtin_expect(plan->entry == NULL || plan->size_class != size_class, 0)) {
        plan->size_class = size_class;
        plan->entry =
            sg_entry_of(plan->site, plan->comm, (enum sg_function)plan->key.function, size_class);
    }
    return plan->entry;
}

/* ---- begin ---- */

/* False: the message is not plain. */
static inline bool find_bytes(const sg_word *words, uint64_t *bytes)
{
    int count = (int)words[COUNT];
    MPI_Datatype type = (MPI_Datatype)words[TYPE];

    if (count < 0 || !sg_type_is_builtin(type))
        return false;
    *bytes = (uint64_t)count * sg_type_builtin_bytes(type);
    return true;
}

static struct sg_plain_plan *plan_of_message(const struct sg_profile_call *call, enum form form,
                                             const sg_word *words)
{
    struct key key = {call->caller, call->function, (MPI_Comm)words[COMM], (int)words[PEER], 0};
    bool receives = form == RECEIVE || form == POST_RECEIVE;
    uint64_t bytes;

    if (!find_bytes(words, &bytes) || key.comm == MPI_COMM_NULL ||
        (key.peer < 0 && !(receives && key.peer == MPI_ANY_SOURCE)))
        return NULL;
    if (form != POST_RECEIVE)
        key.size_class = sg_size_class(bytes);
    return plan_of(key);
}

static struct sg_plain_plan *plan_of_collective(const struct sg_profile_call *call,
                                                const sg_word *words)
{
    const struct sg_argument_places *places = &sg_places[call->function];
    struct key key = {call->caller, call->function, (MPI_Comm)words[places->comm], SG_NOBODY, 0};
    struct sg_plain_plan *plan;

    if (places->root != SG_NO_WORD)
        key.peer = (int)words[places->root];
    if (key.comm == MPI_COMM_NULL || (places->root != SG_NO_WORD && key.peer < 0))
        return NULL;
    plan = plan_of(key);
    return plan != NULL && !plan->known->is_inter ? plan : NULL;
}

static inline void ask(struct sg_event_content *asked, const struct sg_plain_plan *plan,
                       enum form form, const sg_word *words)
{
    *asked = (struct sg_event_content){.comm = plan->comm,
                                       .to = SG_NOBODY,
                                       .to_tag = SG_NOBODY,
                                       .from = SG_NOBODY,
                                       .from_tag = SG_NOBODY};
    if (form == COLLECTIVE) {
        asked->to = plan->key.peer;
    } else if (form == SEND) {
        asked->to = plan->key.peer;
        asked->to_tag = (int)words[TAG];
    } else if (form == RECEIVE) {
        asked->from = plan->key.peer;
        asked->from_tag = (int)words[TAG];
    }
}

/* Opens the event of a call that waits. False: the general path has to. */
static inline bool open_event(struct sg_profile_call *call, const struct sg_plain_plan *plan)
{
    const struct sg_event_content *asked = &call->asked;
    struct sg_record_event *event = sg_events_take();

    if (event == NULL)
        return sg_events_leave_out(call->function);
    event->thread = sg_thread_number();
    event->site = plan->site->index;
    event->comm = asked->comm;
    event->function = (uint16_t)plan->number;
    event->to = asked->to;
    event->to_tag = asked->to_tag;
    event->from = asked->from;
    event->from_tag = asked->from_tag;
    sg_events_open = call->event = event;
    return true;
}

static inline struct sg_plain_plan *plan_of_call(const struct sg_profile_call *call, enum form form,
                                                 const sg_word *words)
{
    const struct key key = {call->caller, call->function, MPI_COMM_NULL, SG_NOBODY, 0};

    return form < COLLECTIVE    ? plan_of_message(call, form, words)
           : form == COLLECTIVE ? plan_of_collective(call, words)
                                : plan_of(key);
}

bool sg_plain_begin(struct sg_profile_call *call, sg_word *words)
{
    enum form form = (enum form)forms[call->function];
    bool waits = form != POST_SEND && form != POST_RECEIVE;
    struct sg_plain_plan *plan;

    if (form == NOT_PLAIN || call->is_f08 || sg_mmds_counts() ||
        atomic_load_explicit(&sg_gaps_open, memory_order_relaxed) != 0)
        return false;
    plan = plan_of_call(call, form, words);
    if (plan == NULL)
        return false;
    sg_account_mark(SG_ACCOUNT_SITE);
    if (waits) {
        ask(&call->asked, plan, form, words);
        if (!open_event(call, plan))
            return false;
    }
    /* Not earlier: the general path would find changed words. */
    if (form >= WAIT)
        sg_awaited_begin(&call->kept.awaited, call->function, words);
    else if (form == RECEIVE && words[LAST] == (sg_word)MPI_STATUS_IGNORE)
        words[LAST] = (sg_word)&call->kept.status;
    call->plan = plan;
    call->comm = plan->known;
    call->site = plan->site;
    call->is_begun = waits;
    sg_account_mark(SG_ACCOUNT_OPENED);
    return true;
}

/* ---- end ---- */

/* event: of a call that waits; NULL: none. */
static inline void end_event(struct sg_record_event *event, uint64_t end_ns)
{
    sg_events_open = NULL;
    /* Release: a reader that sees the end sees the whole record. */
    if (event != NULL)
        atomic_store_explicit(&event->end_ns, end_ns, memory_order_release);
}

static bool end_send(const struct sg_profile_call *call, const sg_word *words, uint64_t end_ns)
{
    struct sg_plain_plan *plan = call->plan;
    struct sg_record_profile *entry = entry_of(plan, (uint8_t)plan->key.size_class);
    struct sg_record_event *event = call->event;
    uint64_t bytes = 0;

    find_bytes(words, &bytes);
    if (entry == NULL)
        return false;
    if (event != NULL) {
        event->flags = SG_EVENT_SENDS;
        event->sent_bytes = bytes;
    }
    end_event(event, end_ns);
    sg_account_mark(SG_ACCOUNT_RECORDED);
    sg_entry_add_call(entry, end_ns - call->begin_ns, bytes, 0);
    sg_peer_add_sent(plan->peer, bytes);
    return true;
}

static bool end_receive(const struct sg_profile_call *call, const sg_word *words, uint64_t end_ns)
{
    const MPI_Status *status = (const MPI_Status *)words[LAST];
    uint64_t bytes = sg_moved_received_bytes(status);
    struct sg_plain_plan *plan = call->plan;
    struct sg_record_profile *entry = entry_of(plan, sg_size_class(bytes));
    struct sg_record_event *event = call->event;
    int source = status->MPI_SOURCE;

    if (source < 0 || entry == NULL)
        return false;
    if (event != NULL) {
        event->flags = SG_EVENT_RECEIVES;
        event->from = source;
        event->from_tag = status->MPI_TAG;
        event->received_bytes = bytes;
    }
    end_event(event, end_ns);
    sg_account_mark(SG_ACCOUNT_RECORDED);
    sg_entry_add_call(entry, end_ns - call->begin_ns, 0, bytes);
    sg_peer_add_received(source == plan->key.peer ? plan->peer : sg_peer_of(plan->comm, source),
                         bytes);
    return true;
}

/* Records a post. The content is that of the call; returns its slot, 0: the log has no room. */
static inline uint64_t record_post(const struct sg_profile_call *call,
                                   struct sg_record_event *event, MPI_Request handle, int tag,
                                   uint64_t bytes, bool sends, uint64_t end_ns)
{
    const struct sg_plain_plan *plan = call->plan;

    if (event == NULL)
        return 0;
    event->flags = !sends ? SG_EVENT_POSTS | SG_EVENT_RECEIVES
                   : sg_request_is_complete(handle)
                       ? SG_EVENT_POSTS | SG_EVENT_SENDS | SG_EVENT_COMPLETE
                       : SG_EVENT_POSTS | SG_EVENT_SENDS;
    event->thread = sg_thread_number();
    event->site = plan->site->index;
    event->comm = plan->comm;
    event->function = (uint16_t)plan->number;
    event->begin_ns = call->begin_ns;
    event->to = sends ? plan->key.peer : SG_NOBODY;
    event->to_tag = sends ? tag : SG_NOBODY;
    event->from = sends ? SG_NOBODY : plan->key.peer;
    event->from_tag = sends ? SG_NOBODY : tag;
    event->sent_bytes = sends ? bytes : 0;
    event->received_bytes = sends ? 0 : bytes;
    atomic_store_explicit(&event->end_ns, end_ns, memory_order_relaxed);
    sg_log_publish(event, SG_RECORD_EVENT);
    return sg_events_slot(event);
}

/* Records a post, and follows its request. */
static inline __attribute__((always_inline)) bool
end_post(const struct sg_profile_call *call, const sg_word *words, bool sends, uint64_t end_ns)
{
    MPI_Request handle = *(const MPI_Request *)words[LAST];
    struct sg_plain_plan *plan = call->plan;
    uint8_t size_class = (uint8_t)plan->key.size_class;
    struct sg_record_profile *entry = entry_of(plan, size_class);
    struct sg_record_event *event = entry != NULL ? sg_events_take() : NULL;
    int peer = plan->key.peer, tag = (int)words[TAG];
    struct sg_posted *posted;
    uint64_t slot, bytes = 0;

    if (entry == NULL || (event == NULL && !sg_events_leave_out(call->function)))
        return false;
    find_bytes(words, &bytes);
    slot = record_post(call, event, handle, tag, bytes, sends, end_ns);
    sg_account_mark(SG_ACCOUNT_RECORDED);
    posted = sg_requests_add_plain(handle, call->begin_ns, size_class, entry, plan->peer);
    if (posted != NULL)
        *posted = (struct sg_posted){
            .subject = {plan->site, call->function, plan->comm},
            .to = sends ? peer : SG_NOBODY,
            .to_tag = sends ? tag : SG_NOBODY,
            .from = sends ? SG_NOBODY : peer,
            .from_tag = sends ? SG_NOBODY : tag,
            .sent_bytes = sends ? bytes : 0,
            .received_bytes = sends ? 0 : bytes,
            .slot = slot,
            .receive_slot = slot,
            .sends = sends,
            .receives = !sends,
            /* Without a record: as sg_posted_begun. */
            .is_skipped = event == NULL && !sends && peer >= 0 && tag >= 0,
        };
    sg_account_mark(SG_ACCOUNT_FOLLOWED);
    sg_entry_add_call(entry, end_ns - call->begin_ns, sends ? bytes : 0, 0);
    if (sends)
        sg_peer_add_sent(plan->peer, bytes);
    return true;
}

static bool end_collective(const struct sg_profile_call *call, const sg_word *words,
                           uint64_t end_ns)
{
    struct sg_plain_plan *plan = call->plan;
    struct sg_record_event *event = call->event;
    struct sg_moved moved = SG_MOVED_NOTHING;
    struct sg_record_profile *entry;
    uint32_t number;

    sg_moved_by(&moved, call->function, words, plan->known, NULL);
    entry = entry_of(plan, sg_profile_size_class(&moved));
    if (entry == NULL)
        return false;
    number = sg_profile_comm_order(plan->known);
    if (event != NULL) {
        event->flags = plan->key.peer >= 0 ? SG_EVENT_ORDERED | SG_EVENT_ROOTED : SG_EVENT_ORDERED;
        event->from_tag = (int)number;
        event->sent_bytes = moved.sent_bytes;
        event->received_bytes = moved.received_bytes;
    }
    end_event(event, end_ns);
    sg_account_mark(SG_ACCOUNT_RECORDED);
    sg_entry_add_call(entry, end_ns - call->begin_ns, moved.sent_bytes, moved.received_bytes);
    return true;
}

static bool end_wait(const struct sg_profile_call *call, const MPI_Status *statuses,
                     uint64_t end_ns)
{
    const struct sg_awaited *awaited = &call->kept.awaited;
    struct sg_record_profile *entry = entry_of(call->plan, 0);

    if (entry == NULL)
        return false;
    if (awaited->handles != NULL)
        sg_requests_complete_all(awaited->handles, statuses, awaited->count, end_ns, call->event);
    sg_account_mark(SG_ACCOUNT_AWAITED);
    end_event(call->event, end_ns);
    sg_account_mark(SG_ACCOUNT_RECORDED);
    sg_entry_add_call(entry, end_ns - call->begin_ns, 0, 0);
    return true;
}

static bool end_form(const struct sg_profile_call *call, const sg_word *words, uint64_t end_ns)
{
    switch ((enum form)forms[call->function]) {
    case SEND:
        return end_send(call, words, end_ns);
    case RECEIVE:
        return end_receive(call, words, end_ns);
    case POST_SEND:
        return end_post(call, words, true, end_ns);
    case POST_RECEIVE:
        return end_post(call, words, false, end_ns);
    case COLLECTIVE:
        return end_collective(call, words, end_ns);
    case WAIT:
        return end_wait(call, (const MPI_Status *)words[WAIT_STATUS], end_ns);
    case WAIT_ALL:
        return end_wait(call, (const MPI_Status *)words[WAITALL_STATUSES], end_ns);
    default:
        return false;
    }
}

bool sg_plain_end(struct sg_profile_call *call, const sg_word *words, uint64_t *end_ns)
{
    *end_ns = sg_tick_ns();
    sg_account_mark(SG_ACCOUNT_ENDED);
    if (atomic_load_explicit(&sg_gaps_open, memory_order_relaxed) != 0 || sg_mmds_counts() ||
        !sg_process_running())
        return false;
    sg_present_leave(*end_ns);
    sg_account_mark(SG_ACCOUNT_PAST);
    if (!end_form(call, words, *end_ns))
        return false;
    sg_stack_outermost.address = 0;
    sg_account_mark(SG_ACCOUNT_COUNTED);
    return true;
}
