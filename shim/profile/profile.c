#include "profile/profile.h"

#include "core/tick.h"
#include "profile/comms.h"
#include "profile/entries.h"
#include "profile/event_content.h"
#include "profile/function_globs.h"
#include "profile/mmds.h"
#include "profile/moved.h"
#include "profile/requests.h"
#include "profile/windows.h"

#include <dlfcn.h>

_Atomic uint8_t sg_profile_sights[SG_FUNCTION_COUNT];

/* What Fortran 2008's MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE are; NULL: it is not there. */
static const void *ignored_status, *ignored_statuses;
static atomic_bool is_on;

static uint8_t sight_of(enum sg_function function, bool is_counted, bool has_events)
{
    const struct sg_function_facts *facts = &sg_functions[function];
    bool is_ordered = facts->class == SG_CLASS_COLLECTIVE && facts->mode != SG_MODE_PREPARE;
    bool traces = sg_process.config.trace == SG_TRACE_OTF2;
    uint8_t sight = 0;

    if (is_counted)
        sight |= SG_SIGHT_COUNTED;
    if (is_counted && has_events && traces)
        sight |= SG_SIGHT_EVENT;
    if (sg_places[function].made != SG_NO_WORD || (traces && is_ordered))
        sight |= SG_SIGHT_NOTED;
    return sight;
}

static void open_sights(void)
{
    bool calls[SG_FUNCTION_COUNT], events[SG_FUNCTION_COUNT], speak = sg_process.rank == 0;

    sg_function_globs("STAGGER_CALLS", sg_process.config.calls, speak, true, calls);
    sg_function_globs("STAGGER_EVENTS", sg_process.config.events, speak, true, events);
    for (int function = 0; function < SG_FUNCTION_COUNT; function++)
        atomic_store(&sg_profile_sights[function],
                     sight_of(function, calls[function], events[function]));
}

void sg_profile_start(bool threads)
{
    if (sg_process.log == NULL)
        return;
    ignored_status = dlsym(RTLD_DEFAULT, "MPIR_F08_MPI_STATUS_IGNORE_OBJ");
    ignored_statuses = dlsym(RTLD_DEFAULT, "MPIR_F08_MPI_STATUSES_IGNORE_OBJ");
    sg_tick_start("/sys");
    sg_places_find();
    sg_profile_entries_start();
    sg_requests_start(threads);
    sg_profile_comms_start();
    sg_mmds_start();
    is_on = true;
    open_sights();
}

void sg_profile_stop(uint64_t end_ns)
{
    is_on = false;
    for (int function = 0; function < SG_FUNCTION_COUNT; function++)
        atomic_store(&sg_profile_sights[function], 0);
    sg_mmds_stop(end_ns);
}

void sg_profile_switch(bool on)
{
    if (!is_on)
        return;
    sg_requests_forget_all();
    sg_mmds_switch(on);
}

void sg_profile_reset(void)
{
    if (!is_on)
        return;
    sg_profile_entries_reset();
    sg_mmds_reset();
}

/* ---- Fortran 2008 ---- */

/* Its words as those of C. */
static void convert(enum sg_function function, const sg_word *words, sg_word *values)
{
    const struct sg_function_facts *facts = &sg_functions[function];
    const struct sg_places *places = &sg_places[function];

    for (int word = 0; word < facts->words; word++) {
        uint8_t argument = facts->arguments[word];
        bool is_scalar = argument == SG_ARGUMENT_COMM || argument == SG_ARGUMENT_PEER ||
                         argument == SG_ARGUMENT_TAG || argument == SG_ARGUMENT_NUMBER ||
                         argument == SG_ARGUMENT_HANDLE || argument == SG_ARGUMENT_WIN;

        values[word] = is_scalar ? *(const int *)words[word] : words[word];
    }
    if (places->status != SG_NO_WORD && (const void *)words[places->status] == ignored_status)
        values[places->status] = (sg_word)MPI_STATUS_IGNORE;
    if (places->statuses != SG_NO_WORD && (const void *)words[places->statuses] == ignored_statuses)
        values[places->statuses] = (sg_word)MPI_STATUSES_IGNORE;
}

/* The words of C, in values where they are not the call's own. */
static const sg_word *words_of(const struct sg_profile_call *call, const sg_word *words,
                               sg_word *values)
{
    if (!call->is_f08)
        return words;
    convert(call->function, words, values);
    return values;
}

/* ---- begin ---- */

static bool is_test_or_wait(const struct sg_function_facts *facts)
{
    return facts->class == SG_CLASS_REQUEST &&
           (facts->mode == SG_MODE_WAIT || facts->mode == SG_MODE_TEST);
}

/* What is no longer to be seen when the call returns. */
static void keep(struct sg_profile_call *call, sg_word *words)
{
    const struct sg_function_facts *facts = &sg_functions[call->function];
    const struct sg_places *places = &sg_places[call->function];
    int ended = facts->flow == SG_FLOW_RECEIVE               ? places->message
                : call->function == SG_FUNCTION_Request_free ? places->request
                                                             : SG_NO_WORD;

    if (ended != SG_NO_WORD && words[ended] != 0)
        call->ended = *(const MPI_Request *)words[ended];
    if (call->function == SG_FUNCTION_Win_free && words[places->made_win] != 0)
        call->window = *(const MPI_Win *)words[places->made_win];
    if (is_test_or_wait(facts) && places->handle == SG_NO_WORD)
        sg_awaited_begin(&call->awaited, call->function, words);
    else if (places->status != SG_NO_WORD && words[places->status] == (sg_word)MPI_STATUS_IGNORE &&
             (facts->flow != SG_FLOW_NONE || places->message != SG_NO_WORD))
        words[places->status] = (sg_word)&call->status;
}

/* A call that waits is in the log as long as it does. */
static void begin_event(struct sg_profile_call *call, const sg_word *words)
{
    int comm = sg_places[call->function].comm;
    struct sg_event_content content = sg_event_content_asked(call->function, words);

    if (comm != SG_NO_WORD)
        content.comm = sg_profile_comm_index((MPI_Comm)words[comm]);
    call->site = sg_site_of(call->caller);
    call->event = sg_events_begin(call->function, call->site, &content);
}

void sg_profile_begin_counted(struct sg_profile_call *call, sg_word *words)
{
    const struct sg_places *places = &sg_places[call->function];
    sg_word values[SG_ARGUMENTS_MAX];
    const sg_word *own = words;

    call->ended = MPI_REQUEST_NULL;
    call->window = MPI_WIN_NULL;
    call->site = NULL;
    call->event = NULL;
    if (!call->is_f08) {
        keep(call, words);
    } else {
        convert(call->function, words, values);
        keep(call, values);
        own = values;
        if (places->status != SG_NO_WORD && values[places->status] != (sg_word)MPI_STATUS_IGNORE)
            words[places->status] = values[places->status];
        if (places->statuses != SG_NO_WORD &&
            values[places->statuses] != (sg_word)MPI_STATUSES_IGNORE)
            words[places->statuses] = values[places->statuses];
    }
    if (sg_functions[call->function].mode == SG_MODE_WAIT &&
        (sg_profile_sight(call->function) & SG_SIGHT_EVENT) != 0)
        begin_event(call, own);
    call->begin_ns = sg_tick_ns();
    if (call->event != NULL)
        sg_events_begun(call->event, call->begin_ns);
}

bool sg_profile_begin_inside(struct sg_profile_call *call, enum sg_function function,
                             sg_word *words, void *frame, void *caller)
{
    call->function = function;
    call->caller = caller;
    call->is_f08 = false;
    call->is_counted = sg_profile_counts(function, frame);
    if (!call->is_counted)
        return (sg_profile_sight(function) & SG_SIGHT_NOTED) != 0;
    sg_profile_begin_counted(call, words);
    return true;
}

/* ---- end ---- */

/* A call that is over. */
struct ended {
    struct sg_profile_sample sample;
    const struct sg_site *site;
    const sg_word *words;
    uint64_t begin_ns, end_ns;
    struct sg_profile_comm *comm; /* NULL: of none */
    const MPI_Status *status;     /* of what it received; NULL: not known */
    MPI_Win window;               /* given up */
    bool is_begun;                /* its event has been begun, or left out */
    struct sg_record_event *event;
    struct sg_event_content content;
    uint32_t order; /* of a collective */
    bool has_given; /* a request or a message has been given up: */
    struct sg_posted given;
};

/* MPI_Start and MPI_Startall: what begins with it is sent by it. */
static void start(struct ended *ended)
{
    const struct sg_places *places = &sg_places[ended->sample.function];
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
        sg_profile_add_message(comm, &moved);
    }
}

static struct sg_posted posted_of(const struct ended *ended)
{
    const struct sg_event_subject subject = {ended->sample.function, ended->site,
                                             ended->sample.comm};

    return sg_posted_of(&subject, &ended->content, ended->words, &ended->sample.moved);
}

/* The records of a request's begin: its call's, where that posts no more than this. */
static void begin_posted(const struct ended *ended, struct sg_posted *posted)
{
    if (ended->event == NULL)
        return;
    if (sg_functions[ended->sample.function].flow == SG_FLOW_EXCHANGE &&
        (posted->sends || posted->receives))
        sg_posted_begin(posted, ended->begin_ns);
    else
        posted->slot = posted->receive_slot = sg_events_slot(ended->event);
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
        } else if (!is_prepared) {
            begin_posted(ended, &posted);
        }
        posted.ordered = is_prepared && facts->class == SG_CLASS_COLLECTIVE ? ended->comm : NULL;
        sg_requests_add(*(const MPI_Request *)ended->words[word], &ended->sample, &posted,
                        ended->begin_ns);
    }
    if (is_prepared)
        ended->sample.moved = (struct sg_moved){.to = SG_NOBODY, .from = SG_NOBODY};
}

/* A message that was probed is known as a request is, from its probe to its receive. */
static void probe(struct ended *ended)
{
    const struct sg_places *places = &sg_places[ended->sample.function];
    struct sg_posted posted;

    if (places->flag != SG_NO_WORD && *(const int *)ended->words[places->flag] == 0)
        return;
    posted = posted_of(ended);
    begin_posted(ended, &posted);
    sg_requests_add(*(const MPI_Message *)ended->words[places->message], &ended->sample, &posted,
                    ended->begin_ns);
}

/* Of a call that succeeded: before it is counted. */
static void follow(struct ended *ended)
{
    const struct sg_function_facts *facts = &sg_functions[ended->sample.function];
    const struct sg_places *places = &sg_places[ended->sample.function];

    if (facts->mode == SG_MODE_POST || facts->mode == SG_MODE_PREPARE)
        post(ended);
    else if (facts->mode == SG_MODE_START)
        start(ended);
    else if (facts->flow == SG_FLOW_NONE && places->message != SG_NO_WORD)
        probe(ended);
    else if (ended->has_given && ended->event != NULL)
        sg_posted_end(&ended->given,
                      places->message != SG_NO_WORD ? SG_POSTED_COMPLETE : SG_POSTED_FREED,
                      ended->status, ended->sample.moved.received_bytes, ended->end_ns);
    if (places->made_win != SG_NO_WORD && ended->comm != NULL)
        sg_window_made(*(const MPI_Win *)ended->words[places->made_win], ended->comm->index);
    else if (ended->window != MPI_WIN_NULL)
        sg_window_forget(ended->window);
}

/* What others must know of a call, even where it is not counted: the communicator that it made, or
 * its place among the collectives. */
static uint32_t note(enum sg_function function, const sg_word *words, struct sg_profile_comm *comm)
{
    const struct sg_places *places = &sg_places[function];
    struct sg_profile_birth birth = {.parent = MPI_COMM_NULL};
    MPI_Comm made;

    if (places->made == SG_NO_WORD)
        return comm != NULL ? sg_profile_comm_order(comm) : 0;
    made = *(const MPI_Comm *)words[places->made];
    if (made == MPI_COMM_NULL)
        return 0;
    if (places->comm != SG_NO_WORD)
        birth.parent = (MPI_Comm)words[places->comm];
    birth.is_ordered =
        function != SG_FUNCTION_Comm_create_group && function != SG_FUNCTION_Intercomm_create;
    birth.has_members = sg_functions[function].mode == SG_MODE_POST;
    sg_profile_comm_made(made, &birth);
    return 0;
}

static struct sg_profile_comm *comm_of(enum sg_function function, const sg_word *words)
{
    int word = sg_places[function].comm;

    return word != SG_NO_WORD ? sg_profile_comm_of((MPI_Comm)words[word]) : NULL;
}

static void add_event(struct ended *ended)
{
    enum sg_function function = ended->sample.function;
    const struct sg_event_done done = {&ended->sample.moved, ended->status, ended->comm,
                                       ended->order};
    const struct sg_places *places = &sg_places[function];
    int window = places->win;

    ended->content = sg_event_content_asked(function, ended->words);
    if (!ended->sample.failed)
        sg_event_content_complete(&ended->content, function, ended->words, &done);
    else
        ended->content.flags = SG_EVENT_FAILED;
    if (ended->sample.failed && places->comm != SG_NO_WORD)
        ended->content.comm = sg_profile_comm_index((MPI_Comm)ended->words[places->comm]);
    if (window != SG_NO_WORD)
        ended->content.comm = sg_window_comm((MPI_Win)ended->words[window]);
    else if (ended->window != MPI_WIN_NULL)
        ended->content.comm = sg_window_comm(ended->window);
    if (ended->event != NULL)
        sg_events_end(ended->event, &ended->content, ended->end_ns);
    else if (!ended->is_begun &&
             (ended->sample.failed || sg_event_content_found(function, ended->words)))
        ended->event =
            sg_events_add(function, ended->site, &ended->content, ended->begin_ns, ended->end_ns);
}

/* given_up: a request, or a message. */
static void count(struct ended *ended, MPI_Request given_up)
{
    struct sg_profile_sample *sample = &ended->sample;
    uint8_t sight = sg_profile_sight(sample->function);

    if (!sample->failed) {
        ended->has_given = sg_requests_forget(given_up, &ended->given);
        if (ended->has_given)
            sample->comm = ended->given.subject.comm;
        ended->comm = comm_of(sample->function, ended->words);
        if (ended->comm != NULL)
            sample->comm = ended->comm->index;
        sample->moved = sg_moved_by(sample->function, ended->words, ended->comm, ended->status);
        if ((sight & SG_SIGHT_NOTED) != 0)
            ended->order = note(sample->function, ended->words, ended->comm);
    }
    if ((sight & SG_SIGHT_EVENT) != 0)
        add_event(ended);
    if (!sample->failed)
        follow(ended);
}

static struct ended ended_of(const struct sg_profile_past *past, const sg_word *words,
                             const struct sg_site *site)
{
    return (struct ended){.sample = {.function = past->function,
                                     .failed = past->error != MPI_SUCCESS,
                                     .time_ns = past->end_ns - past->begin_ns,
                                     .moved = {.to = SG_NOBODY, .from = SG_NOBODY}},
                          .site = site,
                          .words = words,
                          .begin_ns = past->begin_ns,
                          .end_ns = past->end_ns,
                          .window = MPI_WIN_NULL};
}

static void add(const struct ended *ended)
{
    sg_profile_add(ended->site, &ended->sample);
    if (sg_mmds_counts())
        sg_mmds_add_call(&ended->sample, ended->begin_ns);
}

static void end_counted(const struct sg_profile_call *call, const sg_word *words, int error,
                        uint64_t end_ns)
{
    const struct sg_places *places = &sg_places[call->function];
    const struct sg_profile_past past = {call->function, error, call->begin_ns, end_ns};
    struct ended ended =
        ended_of(&past, words, call->site != NULL ? call->site : sg_site_of(call->caller));

    ended.event = call->event;
    ended.is_begun = call->site != NULL;
    ended.window = call->window;
    if (places->status != SG_NO_WORD)
        ended.status = (const MPI_Status *)words[places->status];
    if (call->function == SG_FUNCTION_Cancel)
        sg_requests_cancel(*(const MPI_Request *)words[places->request]);
    count(&ended, call->ended);
    if (is_test_or_wait(&sg_functions[call->function]) && places->handle == SG_NO_WORD) {
        const struct sg_awaited_call awaited = {call->function,      words, error, call->is_f08,
                                                ended.event != NULL, end_ns};

        sg_awaited_end(&call->awaited, &awaited);
    }
    add(&ended);
}

void sg_profile_end(struct sg_profile_call *call, const sg_word *given, int error)
{
    uint64_t end_ns = sg_tick_ns();
    sg_word values[SG_ARGUMENTS_MAX];
    const sg_word *words;

    if (call->is_counted)
        sg_stack_outermost.address = 0;
    if (!sg_process_running()) /* MPI_Finalize came meanwhile, on another thread */
        return;
    words = words_of(call, given, values);
    if (call->is_counted)
        end_counted(call, words, error, end_ns);
    else if (error == MPI_SUCCESS)
        note(call->function, words, comm_of(call->function, words));
}

void sg_profile_add_past(const struct sg_profile_past *past, sg_word *words, void *frame,
                         void *caller)
{
    struct ended ended;

    if (!sg_process_running())
        return;
    if (sg_profile_counts(past->function, frame)) {
        ended = ended_of(past, words, sg_site_of(caller));
        count(&ended, MPI_REQUEST_NULL);
        add(&ended);
    } else if ((sg_profile_sight(past->function) & SG_SIGHT_NOTED) != 0 &&
               past->error == MPI_SUCCESS) {
        note(past->function, words, comm_of(past->function, words));
    }
}
