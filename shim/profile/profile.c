/* Begins and ends the counting of a call (profile.h): keeps arguments that the call destroys,
 * follows its requests, messages and windows, and writes statistics and events.
 */
#include "profile/profile.h"

#include "core/account.h"
#include "core/hash.h"
#include "core/tick.h"
#include "mpi/real.h"
#include "profile/entries.h"
#include "profile/mmds.h"
#include "profile/moved.h"
#include "profile/polling.h"
#include "profile/requests.h"
#include "profile/windows.h"

/* ---- begin ---- */

/* Opens the event of a call that waits: it is in the log while the call waits. */
static void begin_event(struct sg_profile_call *call, const sg_word *words)
{
    int win = sg_places[call->function].win;
    const struct sg_event_content *asked = &call->asked;
    struct sg_event_content content;

    call->is_begun = true;
    if (win != SG_NO_WORD) {
        content = *asked;
        sg_window_content_asked(&content, call->function, words, sg_window_of((MPI_Win)words[win]));
        asked = &content;
    }
    call->event = sg_events_begin(call->function, call->site, asked);
}

/* Describes a call that waits in the thread's record. */
static inline void enter_waiting(struct sg_record_thread *own, const struct sg_profile_call *call)
{
    const struct sg_event_content *asked = &call->asked;

    own->comm = asked->comm;
    own->order = 0;
    if (call->comm != NULL && sg_functions[call->function].class == SG_CLASS_COLLECTIVE &&
        (sg_profile_sight(call->function) & SG_SIGHT_NOTED) != 0)
        own->order = sg_profile_comm_last(call->comm) + 2;
    own->to = asked->to;
    own->to_tag = asked->to_tag;
    own->from = asked->from;
    own->from_tag = asked->from_tag;
}

static inline void enter(const struct sg_profile_call *call, bool waits)
{
    uint32_t function = sg_function_number(call->function) - 1;
    struct sg_record_thread *own;

    if (sg_functions[call->function].mode == SG_MODE_TEST &&
        sg_present_repeats(call->site->index, function))
        return;
    own = sg_present_enter();
    own->operation = waits ? 0 : SG_THREAD_PASSES;
    own->begin_ns = call->begin_ns;
    own->site = call->site->index;
    own->function = function;
    if (waits)
        enter_waiting(own, call);
    sg_present_entered(own);
}

static sg_word comm_word(enum sg_function function, const sg_word *words)
{
    int word = sg_places[function].comm;

    return word != SG_NO_WORD ? (int)words[word] : 0;
}

/* False: the call does not repeat the thread's last test. */
static bool begin_repeat(struct sg_profile_call *call, sg_word *words)
{
    if (call->is_f08 || !sg_polling_repeats(call->function, comm_word(call->function, words),
                                            call->caller, &call->begin_ns))
        return false;
    sg_account_mark(SG_ACCOUNT_BEGUN);
    call->is_repeat = true;
    call->site = sg_polling.place.site;
    sg_arguments_keep(&call->kept, call->function, false, words, NULL);
    sg_account_mark(SG_ACCOUNT_PRESENT);
    return true;
}

/* Finds the communicator of a call that waits, and opens its event. */
static void begin_waiting(struct sg_profile_call *call, const sg_word *words)
{
    int comm = sg_places[call->function].comm;

    sg_event_content_asked(&call->asked, call->function, words);
    if (comm != SG_NO_WORD)
        call->comm = sg_profile_comm_asked((MPI_Comm)words[comm]);
    if (call->comm != NULL)
        call->asked.comm = call->comm->index;
    sg_account_mark(SG_ACCOUNT_COMM);
    call->site = sg_site_of(call->caller);
    sg_account_mark(SG_ACCOUNT_SITE);
    if ((sg_profile_sight(call->function) & SG_SIGHT_EVENT) != 0)
        begin_event(call, words);
    sg_account_mark(SG_ACCOUNT_OPENED);
}

void sg_profile_begin_counted(struct sg_profile_call *call, sg_word *words)
{
    bool waits = sg_functions[call->function].mode == SG_MODE_WAIT;
    bool polled = sg_polling.is_tight;
    sg_word values[SG_ARGUMENTS_MAX];
    const sg_word *own;

    sg_account_enter();
    call->event = NULL;
    call->is_begun = false;
    call->comm = NULL;
    call->plan = NULL;
    if (polled && begin_repeat(call, words))
        return;
    call->is_repeat = false;
    if (polled || !sg_plain_begin(call, words)) {
        own = sg_arguments_keep(&call->kept, call->function, call->is_f08, words, values);
        sg_account_mark(SG_ACCOUNT_KEPT);
        if (waits) {
            begin_waiting(call, own);
        } else {
            call->site = sg_site_of(call->caller);
            sg_account_mark(SG_ACCOUNT_SITE);
        }
    }
    call->begin_ns = sg_tick_ns();
    sg_account_mark(SG_ACCOUNT_BEGUN);
    if (call->event != NULL)
        sg_events_begun(call->event, call->begin_ns);
    sg_account_mark(SG_ACCOUNT_RECORD);
    enter(call, waits);
    if (polled)
        sg_polling_interrupt(call->begin_ns);
    sg_account_mark(SG_ACCOUNT_PRESENT);
}

void sg_profile_begin_followed(struct sg_profile_call *call, sg_word *words)
{
    sg_word values[SG_ARGUMENTS_MAX];

    call->is_followed = true;
    call->is_repeat = call->is_begun = false;
    call->begin_ns = 0;
    call->event = NULL;
    call->comm = NULL;
    call->plan = NULL;
    sg_arguments_keep(&call->kept, call->function, call->is_f08, words, values);
}

bool sg_profile_begin_inside(struct sg_profile_call *call, enum sg_function function,
                             sg_word *words, void *frame, void *caller)
{
    call->function = function;
    call->caller = caller;
    call->is_f08 = false;
    call->is_between = false;
    call->is_followed = false;
    call->is_counted = sg_profile_counts(function, frame);
    if (!call->is_counted)
        return (sg_profile_sight(function) & SG_SIGHT_NOTED) != 0;
    sg_profile_begin_counted(call, words);
    return true;
}

/* ---- end ---- */

/* A call that has ended. */
struct ended {
    struct sg_profile_sample sample;
    const struct sg_site *site;
    const sg_word *words;
    uint64_t begin_ns, end_ns;
    struct sg_profile_comm *comm; /* NULL: none */
    const MPI_Status *status;     /* of the received message; NULL: not known */
    MPI_Win given_up;             /* a freed window; MPI_WIN_NULL: none */
    MPI_File closed;              /* MPI_FILE_NULL: none */
    struct sg_window *window;     /* NULL: none, or not known */
    bool is_followed;             /* followed, not counted: begin_ns and end_ns are 0 */
    bool is_begun;                /* its event has begun, or was left out */
    bool has_content;             /* content is what the call has asked for */
    bool has_given;               /* a request or message was given up: given */
    uint32_t order;               /* of a collective */
    struct sg_record_event *event;
    /* The following are not set before they are known. */
    struct sg_event_content content;
    struct sg_file_part file;
    struct sg_posted given;
};

/* MPI_Start and MPI_Startall: the call sends what its requests send. */
static void start(struct ended *ended)
{
    const struct sg_argument_places *places = &sg_places[ended->sample.function];
    bool is_one = places->request != SG_NO_WORD;
    const MPI_Request *handles =
        (const MPI_Request *)ended->words[is_one ? places->request : places->requests];
    int count = is_one ? 1 : (int)ended->words[places->number];

    for (int i = 0; i < count; i++) {
        struct sg_moved moved;
        uint32_t comm;

        if (!sg_requests_activate(handles[i], ended->begin_ns, ended->event != NULL, &comm, &moved))
            continue;
        ended->sample.moved.sent_bytes += moved.sent_bytes;
        if (!ended->is_followed)
            sg_profile_add_message(comm, &moved);
    }
}

static struct sg_posted posted_of(const struct ended *ended)
{
    const struct sg_event_subject subject = {ended->site, ended->sample.function,
                                             ended->sample.comm};

    return sg_posted_of(&subject, &ended->content, ended->words, &ended->sample.moved);
}

/* Records the begin of a request: in the call's own record, unless the call posts two messages. */
static void begin_posted(const struct ended *ended, struct sg_posted *posted)
{
    bool has_own = sg_functions[ended->sample.function].flow == SG_FLOW_EXCHANGE &&
                   (posted->sends || posted->receives);

    if (ended->event != NULL && has_own) {
        sg_posted_begin(posted, ended->begin_ns);
        return;
    }
    if (ended->event != NULL)
        posted->slot = posted->receive_slot = sg_events_slot(ended->event);
    sg_posted_begun(posted);
}

static void post(struct ended *ended)
{
    const struct sg_function_facts *facts = &sg_functions[ended->sample.function];
    int word = sg_places[ended->sample.function].request;
    bool is_prepared = facts->mode == SG_MODE_PREPARE;
    struct sg_posted posted;

    if (word != SG_NO_WORD) {
        posted = posted_of(ended);
        if (ended->has_given) { /* a message that was probed */
            posted.receives = ended->given.receives;
            posted.from = ended->given.from;
            posted.from_tag = ended->given.from_tag;
            posted.receive_slot = ended->given.receive_slot;
            posted.is_skipped = ended->given.is_skipped;
        } else if (!is_prepared) {
            begin_posted(ended, &posted);
        }
        if (is_prepared && facts->class == SG_CLASS_COLLECTIVE)
            posted.from_tag = (int)ended->order;
        sg_requests_add(*(const MPI_Request *)ended->words[word], &ended->sample, &posted,
                        ended->begin_ns);
    }
    if (is_prepared)
        ended->sample.moved = SG_MOVED_NOTHING;
}

/* A probed message is followed as a request, from its probe to its receive. */
static void probe(struct ended *ended)
{
    const struct sg_argument_places *places = &sg_places[ended->sample.function];
    struct sg_posted posted;

    if (places->flag != SG_NO_WORD && *(const int *)ended->words[places->flag] == 0)
        return;
    posted = posted_of(ended);
    begin_posted(ended, &posted);
    sg_requests_add(*(const MPI_Message *)ended->words[places->message], &ended->sample, &posted,
                    ended->begin_ns);
}

/* Reports or adds gaps for messages that the call completes. */
static void tell_gap(const struct ended *ended, const struct sg_gap_channel *channel)
{
    if (ended->event != NULL)
        sg_gaps_tell(channel, SG_GAP_BY_BEGIN | SG_GAP_BY_COMPLETION, sg_events_slot(ended->event));
    else
        sg_gaps_add(channel, SG_GAP_BY_BEGIN, 1);
}

static void exchange(const struct ended *ended)
{
    const struct sg_event_content *content = &ended->content;
    const struct sg_gap_channel sent = {content->comm, true, content->to, content->to_tag};
    const struct sg_gap_channel received = {content->comm, false, content->from, content->from_tag};

    if ((content->flags & SG_EVENT_SENDS) != 0)
        tell_gap(ended, &sent);
    if ((content->flags & SG_EVENT_RECEIVES) != 0)
        tell_gap(ended, &received);
}

/* Ends a request or message that was given up and that the call does not continue. */
static void end_given(const struct ended *ended)
{
    enum sg_posted_end how = sg_places[ended->sample.function].message != SG_NO_WORD
                                 ? SG_POSTED_COMPLETE
                                 : SG_POSTED_FREED;

    if (ended->event != NULL)
        sg_posted_end(&ended->given, how, ended->status, ended->sample.moved.received_bytes,
                      ended->end_ns);
    else
        sg_posted_end_unseen(&ended->given, how, ended->status);
}

/* Follows a call that succeeded, before it is counted. */
static void follow(struct ended *ended)
{
    const struct sg_function_facts *facts = &sg_functions[ended->sample.function];
    const struct sg_argument_places *places = &sg_places[ended->sample.function];

    if (facts->mode == SG_MODE_POST || facts->mode == SG_MODE_PREPARE)
        post(ended);
    else if (facts->mode == SG_MODE_START)
        start(ended);
    else if (facts->flow == SG_FLOW_NONE && places->message != SG_NO_WORD)
        probe(ended);
    else if (ended->has_given)
        end_given(ended);
    else if (facts->class == SG_CLASS_MESSAGE && facts->mode == SG_MODE_WAIT)
        exchange(ended);
    if (ended->given_up != MPI_WIN_NULL)
        sg_window_forget(ended->given_up);
}

static struct sg_profile_comm *comm_of(enum sg_function function, const sg_word *words)
{
    int word = sg_places[function].comm;

    return word != SG_NO_WORD ? sg_profile_comm_of((MPI_Comm)words[word]) : NULL;
}

static void note_made(enum sg_function function, const sg_word *words)
{
    const struct sg_argument_places *places = &sg_places[function];
    struct sg_profile_birth birth = {.parent = MPI_COMM_NULL};
    MPI_Comm made = *(const MPI_Comm *)words[places->made];

    if (made == MPI_COMM_NULL)
        return;
    if (places->comm != SG_NO_WORD)
        birth.parent = (MPI_Comm)words[places->comm];
    birth.is_ordered =
        function != SG_FUNCTION_Comm_create_group && function != SG_FUNCTION_Intercomm_create;
    birth.has_members = sg_functions[function].mode == SG_MODE_POST;
    sg_profile_comm_made(made, &birth);
}

/* Notes state that later calls need even if this one is not counted: the communicator, window or
 * file that it made, or its position among the collectives. closed: a file. */
static uint32_t note(enum sg_function function, const sg_word *words, struct sg_profile_comm *comm,
                     MPI_File closed, struct sg_file_part *file)
{
    uint32_t number = 0;

    if (sg_functions[function].class == SG_CLASS_WINDOW)
        return sg_window_content_note(function, words, comm);
    if (sg_function_is_numbered(function) && comm != NULL)
        number = sg_profile_comm_order(comm);
    if (sg_places[function].made != SG_NO_WORD)
        note_made(function, words);
    if (sg_functions[function].class == SG_CLASS_FILE)
        *file = sg_file_note(function, words, closed, comm, number);
    return number;
}

static void note_uncounted(enum sg_function function, const sg_word *words)
{
    struct sg_file_part file;

    note(function, words, comm_of(function, words), MPI_FILE_NULL, &file);
}

/* True if the call has posted a send that is complete. */
static bool has_sent(const struct ended *ended)
{
    int word = sg_places[ended->sample.function].request;

    return (ended->content.flags & SG_EVENT_SENDS) != 0 &&
           (ended->content.flags & SG_EVENT_POSTS) != 0 && word != SG_NO_WORD &&
           sg_request_is_complete(*(const MPI_Request *)ended->words[word]);
}

/* Completes the content of the call's event, which may not be written. */
static void describe(struct ended *ended)
{
    enum sg_function function = ended->sample.function;
    struct sg_event_done done = {&ended->sample.moved, ended->status, ended->comm, ended->order,
                                 &ended->file};
    const struct sg_argument_places *places = &sg_places[function];

    if (!ended->sample.failed)
        sg_event_content_complete(&ended->content, function, ended->words, &done);
    else
        ended->content.flags = SG_EVENT_FAILED;
    if (has_sent(ended))
        ended->content.flags |= SG_EVENT_COMPLETE;
    if (ended->sample.failed && places->comm != SG_NO_WORD)
        ended->content.comm = sg_profile_comm_index((MPI_Comm)ended->words[places->comm]);
    if (sg_window_content_has(function))
        sg_window_content_add(&ended->content, function, ended->words, ended->window, ended->order);
}

/* The test that ends a stretch of vain ones reports it. */
static void report_polling(struct ended *ended)
{
    uint64_t polled_ns;

    if (sg_functions[ended->sample.function].mode != SG_MODE_TEST)
        return;
    polled_ns = sg_polling_end(ended->begin_ns);
    if (polled_ns > 0) {
        ended->content.flags |= SG_EVENT_POLLED;
        ended->content.sent_bytes = polled_ns;
    }
}

static void add_event(struct ended *ended)
{
    enum sg_function function = ended->sample.function;

    if (ended->event != NULL) {
        sg_events_end(ended->event, &ended->content, ended->end_ns);
    } else if (!ended->is_begun &&
               (ended->sample.failed || sg_event_content_found(function, ended->words))) {
        report_polling(ended);
        ended->event =
            sg_events_add(function, ended->site, &ended->content, ended->begin_ns, ended->end_ns);
    }
}

static void find_window(struct ended *ended)
{
    enum sg_function function = ended->sample.function;

    ended->window = ended->given_up != MPI_WIN_NULL
                        ? sg_window_of(ended->given_up)
                        : sg_window_content_at(function, ended->words, ended->sample.failed);
    if (ended->window == NULL)
        return;
    ended->sample.comm = ended->window->comm;
    if (ended->given_up != MPI_WIN_NULL && !ended->sample.failed)
        ended->order = sg_window_order(ended->window);
}

/* given_up: a request or a message; MPI_REQUEST_NULL: none. */
static void count(struct ended *ended, MPI_Request given_up)
{
    struct sg_profile_sample *sample = &ended->sample;
    uint8_t sight = sg_profile_sight(sample->function);

    ended->has_given = given_up != MPI_REQUEST_NULL && sg_requests_forget(given_up, &ended->given);
    if (!sample->failed) {
        if (ended->has_given)
            sample->comm = ended->given.subject.comm;
        if (ended->comm == NULL)
            ended->comm = comm_of(sample->function, ended->words);
        if (ended->comm != NULL)
            sample->comm = ended->comm->index;
        sg_moved_by(&sample->moved, sample->function, ended->words, ended->comm, ended->status);
        if ((sight & SG_SIGHT_NOTED) != 0)
            ended->order =
                note(sample->function, ended->words, ended->comm, ended->closed, &ended->file);
    }
    if (sg_window_content_has(sample->function))
        find_window(ended);
    sg_account_mark(SG_ACCOUNT_MOVED);
    if (!ended->has_content)
        sg_event_content_asked(&ended->content, sample->function, ended->words);
    if ((sight & (SG_SIGHT_EVENT | SG_SIGHT_FOLLOWED)) != 0)
        describe(ended);
    if ((sight & SG_SIGHT_EVENT) != 0 && !ended->is_followed)
        add_event(ended);
    sg_account_mark(SG_ACCOUNT_RECORDED);
    if (!sample->failed)
        follow(ended);
    else if (ended->has_given)
        sg_posted_end_unseen(&ended->given, SG_POSTED_FREED, NULL);
    sg_account_mark(SG_ACCOUNT_FOLLOWED);
}

static void begin_ended(struct ended *ended, const struct sg_profile_past *past,
                        const sg_word *words, const struct sg_site *site)
{
    ended->sample.function = past->function;
    ended->sample.comm = 0;
    ended->sample.failed = past->error != MPI_SUCCESS;
    ended->sample.time_ns = past->end_ns - past->begin_ns;
    ended->sample.moved = SG_MOVED_NOTHING;
    ended->site = site;
    ended->words = words;
    ended->begin_ns = past->begin_ns;
    ended->end_ns = past->end_ns;
    ended->comm = NULL;
    ended->status = NULL;
    ended->given_up = MPI_WIN_NULL;
    ended->closed = MPI_FILE_NULL;
    ended->window = NULL;
    ended->is_followed = ended->is_begun = ended->has_given = ended->has_content = false;
    ended->order = 0;
    ended->file = (struct sg_file_part){0};
    ended->event = NULL;
}

static struct sg_record_profile *add(const struct ended *ended)
{
    if (sg_mmds_counts())
        sg_mmds_add_call(&ended->sample, ended->begin_ns);
    return sg_profile_add(ended->site, &ended->sample);
}

/* A receive that fails because the message is too long has taken it. */
static bool gives_up(enum sg_function function, int error)
{
    int class = MPI_SUCCESS;

    if (error != MPI_SUCCESS && sg_places[function].message != SG_NO_WORD)
        sg_real.Error_class(error, &class);
    return error == MPI_SUCCESS || class == MPI_ERR_TRUNCATE;
}

/* Adds the arguments that the call kept. Returns the request or message that it has given up. */
static MPI_Request add_kept(struct ended *ended, const struct sg_kept *kept, int error)
{
    enum sg_function function = ended->sample.function;
    uint8_t keeps = sg_arguments_kept[function];

    if ((keeps & SG_KEEPS_WINDOW) != 0)
        ended->given_up = kept->window;
    if ((keeps & SG_KEEPS_FILE) != 0)
        ended->closed = kept->file;
    return (keeps & SG_KEEPS_ENDED) != 0 && gives_up(function, error) ? kept->ended
                                                                      : MPI_REQUEST_NULL;
}

/* Ends a call that is counted or followed. */
static void end_seen(struct sg_profile_call *call, const sg_word *words, int error, uint64_t end_ns)
{
    const struct sg_argument_places *places = &sg_places[call->function];
    const struct sg_profile_past past = {call->function, error, call->begin_ns, end_ns};
    MPI_Request given_up;
    struct ended ended;

    if (call->site == NULL)
        call->site = sg_site_of(call->caller);
    begin_ended(&ended, &past, words, call->site);
    ended.is_followed = call->is_followed;
    ended.event = call->event;
    ended.is_begun = call->is_begun;
    ended.comm = call->comm;
    if (call->is_counted && sg_functions[call->function].mode == SG_MODE_WAIT) {
        ended.content = call->asked;
        ended.content.comm = 0;
        ended.has_content = true;
    }
    given_up = add_kept(&ended, &call->kept, error);
    if (places->status != SG_NO_WORD)
        ended.status = (const MPI_Status *)words[places->status];
    if (call->function == SG_FUNCTION_Cancel)
        sg_requests_cancel(*(const MPI_Request *)words[places->request]);
    count(&ended, given_up);
    if ((sg_arguments_kept[call->function] & SG_KEEPS_AWAITED) != 0) {
        const struct sg_awaited_call awaited = {call->function,      words, error, call->is_f08,
                                                ended.event != NULL, end_ns};

        sg_awaited_end(&call->kept.awaited, &awaited);
        sg_account_mark(SG_ACCOUNT_AWAITED);
    }
    if (!call->is_followed)
        add(&ended);
    sg_account_mark(SG_ACCOUNT_COUNTED);
}

/* True for a test of requests or messages that has succeeded and found nothing. */
static bool is_vain(enum sg_function function, const sg_word *words, int error)
{
    const struct sg_function_facts *facts = &sg_functions[function];

    return facts->mode == SG_MODE_TEST && error == MPI_SUCCESS &&
           (facts->class == SG_CLASS_REQUEST || facts->class == SG_CLASS_MESSAGE) &&
           !sg_event_content_found(function, words);
}

/* Ends a counted test that is vain: it changes nothing that the library follows. */
static void end_vain(const struct sg_profile_call *call, const sg_word *words, uint64_t end_ns)
{
    const struct sg_profile_past past = {call->function, MPI_SUCCESS, call->begin_ns, end_ns};
    struct sg_polling_place place = {call->function, comm_word(call->function, words), call->caller,
                                     call->site, NULL};
    struct ended ended;

    begin_ended(&ended, &past, words, call->site);
    ended.comm = comm_of(call->function, words);
    if (ended.comm != NULL)
        ended.sample.comm = ended.comm->index;
    sg_account_mark(SG_ACCOUNT_MOVED);
    place.entry = add(&ended);
    sg_polling_note(&place, call->begin_ns, end_ns,
                    !call->is_f08 && !sg_mmds_counts() && !sg_causes_samples);
    sg_account_mark(SG_ACCOUNT_COUNTED);
}

/* comm: of a collective that succeeded; NULL: it is none. */
static void end_between(const struct sg_profile_call *call, const struct sg_profile_comm *comm,
                        uint64_t end_ns)
{
    const struct sg_between_call between = {call->caller, call->site, comm, end_ns};

    sg_between_leave(&between);
}

static void end(struct sg_profile_call *call, const sg_word *words, int error, uint64_t end_ns)
{
    if (call->is_counted && is_vain(call->function, words, error))
        end_vain(call, words, end_ns);
    else if (call->is_counted || call->is_followed)
        end_seen(call, words, error, call->is_counted ? end_ns : 0);
    else if (error == MPI_SUCCESS && (sg_profile_sight(call->function) & SG_SIGHT_NOTED) != 0)
        note_uncounted(call->function, words);
    if (call->is_between)
        end_between(call,
                    error == MPI_SUCCESS && sg_function_is_ordered(call->function)
                        ? comm_of(call->function, words)
                        : NULL,
                    end_ns);
    sg_account_mark(SG_ACCOUNT_SAMPLED);
}

/* Ends a repeat that has found nothing, too. */
static bool end_repeat(struct sg_profile_call *call, const sg_word *words, int error)
{
    if (!sg_polling.is_tight || sg_causes_samples || (call->is_between && sg_causes_is_busy()) ||
        !is_vain(call->function, words, error))
        return false;
    sg_stack_outermost.address = 0;
    sg_between_outermost.address = 0;
    if (sg_process_running())
        sg_polling_repeat(call->begin_ns);
    sg_account_mark(SG_ACCOUNT_COUNTED);
    return true;
}

void sg_profile_end(struct sg_profile_call *call, const sg_word *given, int error)
{
    sg_word values[SG_ARGUMENTS_MAX];
    uint64_t end_ns;

    sg_account_mark(SG_ACCOUNT_CALLED);
    if (call->is_counted && call->plan != NULL && error == MPI_SUCCESS &&
        sg_plain_end(call, given, &end_ns)) {
        if (call->is_between)
            end_between(call, sg_function_is_ordered(call->function) ? call->comm : NULL, end_ns);
        sg_account_mark(SG_ACCOUNT_SAMPLED);
        sg_account_mark(SG_ACCOUNT_RETURN);
        return;
    }
    if (call->is_repeat) {
        if (end_repeat(call, given, error)) {
            sg_account_mark(SG_ACCOUNT_RETURN);
            return;
        }
        call->begin_ns = sg_tick_at(call->begin_ns);
        if (sg_process_running())
            sg_polling_interrupt(call->begin_ns);
    }
    end_ns = call->is_counted || call->is_between ? sg_tick_ns() : 0;
    sg_account_mark(SG_ACCOUNT_ENDED);
    if (call->is_counted || call->is_followed)
        sg_stack_outermost.address = 0;
    if (!sg_process_running())
        return; /* another thread has called MPI_Finalize meanwhile */
    if (call->is_counted)
        sg_present_leave(end_ns);
    sg_account_mark(SG_ACCOUNT_PAST);
    if (call->is_f08)
        given = sg_arguments_in_c(call->function, given, values, error);
    end(call, given, error, end_ns);
    sg_account_mark(SG_ACCOUNT_RETURN);
}

void sg_profile_add_past(const struct sg_profile_past *past, sg_word *words, void *frame,
                         void *caller)
{
    struct ended ended;

    if (!sg_process_running())
        return;
    if (sg_profile_counts(past->function, frame)) {
        begin_ended(&ended, past, words, sg_site_of(caller));
        count(&ended, MPI_REQUEST_NULL);
        add(&ended);
    } else if ((sg_profile_sight(past->function) & SG_SIGHT_NOTED) != 0 &&
               past->error == MPI_SUCCESS) {
        note_uncounted(past->function, words);
    }
}

__thread struct sg_stack_frame sg_between_outermost;

static bool is_recording(void)
{
    return atomic_load_explicit(&sg_process.recording, memory_order_relaxed);
}

void sg_between_end_interval(void)
{
    uint64_t before_ns = sg_tick_ns();

    if (is_recording())
        sg_causes_enter();
    else
        sg_causes_skip();
    sg_polling.reading_ns += sg_tick_ns() - before_ns;
}

/* Returns the call's number among calls at its site that are no collectives. If threads end calls
 * there at the same time, two may count as one. */
static uint32_t between_count(const struct sg_site *site)
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

/* Reports a call that the hash alone does not rule out. Not inlined, so that other calls save no
 * registers. */
static __attribute__((noinline)) void tell(const struct sg_between_call *call,
                                           struct sg_causes_call *ended)
{
    ended->site = site_of(call)->index;
    ended->thread = sg_thread_number();
    sg_causes_leave(ended);
    sg_polling.reading_ns += sg_tick_ns() - ended->now_ns;
}

/* Most calls are not sampled: only the data for that decision are computed for them. */
static void leave(const struct sg_between_call *call)
{
    const struct sg_profile_comm *comm =
        call->comm != NULL && call->comm->key != 0 ? call->comm : NULL;
    struct sg_causes_call ended = {.now_ns = call->end_ns != 0 ? call->end_ns : sg_tick_ns()};

    if (comm != NULL) {
        ended.key = comm->key;
        ended.comm = comm->index;
        ended.number = sg_profile_comm_last(comm);
        ended.hash = sg_hash_mix(comm->key + ended.number);
    } else {
        ended.calls = between_count(site_of(call));
        ended.hash = sg_hash_mix(((uint64_t)site_of(call)->rule.id << 32) + ended.calls);
    }
    if (!sg_causes_drops(comm != NULL, ended.hash, ended.now_ns))
        tell(call, &ended);
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
