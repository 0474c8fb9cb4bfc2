#include "profile/profile.h"

#include "core/tick.h"
#include "profile/comms.h"
#include "profile/entries.h"
#include "profile/mmds.h"
#include "profile/moved.h"
#include "profile/requests.h"

#include <dlfcn.h>

_Atomic uint8_t sg_profile_sights[SG_FUNCTION_COUNT];
__thread struct sg_stack_frame sg_profile_outermost;

/* What Fortran 2008's MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE are; NULL: it is not there. */
static const void *ignored_status, *ignored_statuses;
static atomic_bool is_on;

static uint8_t sight_of(enum sg_function function)
{
    bool makes = sg_places[function].made != SG_NO_WORD;

    return (uint8_t)(SG_SIGHT_COUNTED | (makes ? SG_SIGHT_NOTED : 0));
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
    for (int function = 0; function < SG_FUNCTION_COUNT; function++)
        atomic_store(&sg_profile_sights[function], sight_of(function));
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
                         argument == SG_ARGUMENT_NUMBER || argument == SG_ARGUMENT_HANDLE;

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
    if (is_test_or_wait(facts) && places->handle == SG_NO_WORD)
        sg_awaited_begin(&call->awaited, call->function, words);
    else if (places->status != SG_NO_WORD && words[places->status] == (sg_word)MPI_STATUS_IGNORE &&
             facts->flow != SG_FLOW_NONE)
        words[places->status] = (sg_word)&call->status;
}

void sg_profile_begin_counted(struct sg_profile_call *call, sg_word *words)
{
    const struct sg_places *places = &sg_places[call->function];
    sg_word values[SG_ARGUMENTS_MAX];

    call->ended = MPI_REQUEST_NULL;
    if (!call->is_f08) {
        keep(call, words);
    } else {
        convert(call->function, words, values);
        keep(call, values);
        if (places->status != SG_NO_WORD && values[places->status] != (sg_word)MPI_STATUS_IGNORE)
            words[places->status] = values[places->status];
        if (places->statuses != SG_NO_WORD &&
            values[places->statuses] != (sg_word)MPI_STATUSES_IGNORE)
            words[places->statuses] = values[places->statuses];
    }
    call->begin_ns = sg_tick_ns();
}

/* ---- end ---- */

/* A call that is over. */
struct ended {
    struct sg_profile_sample sample;
    const struct sg_site *site;
    const sg_word *words;
    uint64_t begin_ns;
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

        if (!sg_requests_activate(handles[i], ended->begin_ns, &comm, &moved))
            continue;
        ended->sample.moved.sent_bytes += moved.sent_bytes;
        sg_profile_add_message(comm, &moved);
    }
}

static void post(struct ended *ended)
{
    const struct sg_function_facts *facts = &sg_functions[ended->sample.function];
    int word = sg_places[ended->sample.function].request;

    if (word != SG_NO_WORD)
        sg_requests_add(*(const MPI_Request *)ended->words[word], ended->site, &ended->sample,
                        ended->begin_ns);
    if (facts->mode == SG_MODE_PREPARE)
        ended->sample.moved = (struct sg_moved){.to = SG_NOBODY, .from = SG_NOBODY};
}

/* A message that was probed is known as a request is, from its probe to its receive. */
static void probe(struct ended *ended)
{
    const struct sg_places *places = &sg_places[ended->sample.function];
    bool found = places->flag == SG_NO_WORD || *(const int *)ended->words[places->flag] != 0;

    if (found)
        sg_requests_add(*(const MPI_Message *)ended->words[places->message], ended->site,
                        &ended->sample, ended->begin_ns);
}

/* Of a call that succeeded: before it is counted. */
static void follow(struct ended *ended)
{
    const struct sg_function_facts *facts = &sg_functions[ended->sample.function];

    if (facts->mode == SG_MODE_POST || facts->mode == SG_MODE_PREPARE)
        post(ended);
    else if (facts->mode == SG_MODE_START)
        start(ended);
    else if (facts->flow == SG_FLOW_NONE && sg_places[ended->sample.function].message >= 0)
        probe(ended);
}

static void count(struct ended *ended, MPI_Comm handle, const MPI_Status *status,
                  MPI_Request given_up)
{
    struct sg_profile_sample *sample = &ended->sample;
    const struct sg_profile_comm *comm = NULL;

    if (given_up != MPI_REQUEST_NULL && !sample->failed)
        sample->comm = sg_requests_forget(given_up);
    if (!sample->failed) {
        comm = sg_profile_comm_of(handle);
        if (comm != NULL)
            sample->comm = comm->index;
        sample->moved = sg_moved_by(sample->function, ended->words, comm, status);
        follow(ended);
    }
    sg_profile_add(ended->site, sample);
    if (sg_mmds_counts())
        sg_mmds_add_call(sample, ended->begin_ns);
}

static struct ended ended_of(enum sg_function function, const sg_word *words, void *caller,
                             int error, uint64_t begin_ns, uint64_t end_ns)
{
    return (struct ended){.sample = {.function = function,
                                     .failed = error != MPI_SUCCESS,
                                     .time_ns = end_ns - begin_ns,
                                     .moved = {.to = SG_NOBODY, .from = SG_NOBODY}},
                          .site = sg_site_of(caller),
                          .words = words,
                          .begin_ns = begin_ns};
}

/* A call that made a communicator: it is known from here on. */
static void note(enum sg_function function, const sg_word *words)
{
    const struct sg_places *places = &sg_places[function];
    struct sg_profile_birth birth = {.parent = MPI_COMM_NULL};
    MPI_Comm made;

    if (places->made == SG_NO_WORD)
        return;
    made = *(const MPI_Comm *)words[places->made];
    if (made == MPI_COMM_NULL)
        return;
    if (places->comm != SG_NO_WORD)
        birth.parent = (MPI_Comm)words[places->comm];
    birth.is_ordered =
        function != SG_FUNCTION_Comm_create_group && function != SG_FUNCTION_Intercomm_create;
    birth.has_members = sg_functions[function].mode == SG_MODE_POST;
    sg_profile_comm_made(made, &birth);
}

void sg_profile_end(struct sg_profile_call *call, const sg_word *given, int error)
{
    const struct sg_places *places = &sg_places[call->function];
    uint64_t end_ns = sg_tick_ns();
    sg_word values[SG_ARGUMENTS_MAX];
    const sg_word *words;
    struct ended ended;

    if (call->is_counted)
        sg_profile_outermost.address = 0;
    if (!sg_process_running()) /* MPI_Finalize came meanwhile, on another thread */
        return;
    words = words_of(call, given, values);
    if (error == MPI_SUCCESS)
        note(call->function, words);
    if (!call->is_counted)
        return;
    if (is_test_or_wait(&sg_functions[call->function]) && places->handle == SG_NO_WORD)
        sg_awaited_end(&call->awaited, call->function, words, error, call->is_f08, end_ns);
    else if (call->function == SG_FUNCTION_Cancel)
        sg_requests_cancel(*(const MPI_Request *)words[places->request]);
    ended = ended_of(call->function, words, call->caller, error, call->begin_ns, end_ns);
    count(&ended, places->comm != SG_NO_WORD ? (MPI_Comm)words[places->comm] : MPI_COMM_NULL,
          places->status != SG_NO_WORD ? (const MPI_Status *)words[places->status] : NULL,
          call->ended);
}

void sg_profile_count(enum sg_function function, const sg_word *words, MPI_Comm comm, void *caller,
                      int error, uint64_t begin_ns, uint64_t end_ns)
{
    struct ended ended = ended_of(function, words, caller, error, begin_ns, end_ns);

    if (sg_process_running())
        count(&ended, comm, NULL, MPI_REQUEST_NULL);
}
