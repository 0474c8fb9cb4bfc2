#include "profile/profile.h"

#include "core/clock.h"
#include "profile/comms.h"
#include "profile/entries.h"
#include "profile/moved.h"

atomic_bool sg_profile_is_on;
__thread struct sg_stack_frame sg_profile_outermost;

void sg_profile_start(void)
{
    if (sg_process.log == NULL)
        return;
    sg_places_find();
    sg_profile_entries_start();
    atomic_store(&sg_profile_is_on, true);
}

void sg_profile_stop(void)
{
    atomic_store(&sg_profile_is_on, false);
}

void sg_profile_begin_counted(struct sg_profile_call *call, sg_word *words)
{
    int status = sg_places[call->function].status;

    if (status != SG_NO_WORD && words[status] == (sg_word)MPI_STATUS_IGNORE &&
        sg_functions[call->function].flow != SG_FLOW_NONE)
        words[status] = (sg_word)&call->status;
    call->begin_ns = sg_clock_ns();
}

static void count(enum sg_function function, const sg_word *words, MPI_Comm handle,
                  const MPI_Status *status, void *caller, int error, uint64_t time_ns)
{
    const struct sg_profile_comm *comm = NULL;
    struct sg_profile_sample sample = {.function = function,
                                       .failed = error != MPI_SUCCESS,
                                       .time_ns = time_ns,
                                       .moved = {.to = SG_NOBODY, .from = SG_NOBODY}};

    if (!sg_process_running()) /* MPI_Finalize came meanwhile, on another thread */
        return;
    if (!sample.failed) {
        comm = sg_profile_comm_of(handle);
        sample.moved = sg_moved_by(function, words, comm, status);
    }
    sample.comm = comm != NULL ? comm->index : 0;
    sg_profile_add(sg_site_of(caller), &sample);
}

void sg_profile_end(struct sg_profile_call *call, const sg_word *words, int error)
{
    const struct sg_places *places = &sg_places[call->function];
    uint64_t end_ns = sg_clock_ns();

    sg_profile_outermost.address = 0;
    count(call->function, words,
          places->comm != SG_NO_WORD ? (MPI_Comm)words[places->comm] : MPI_COMM_NULL,
          places->status != SG_NO_WORD ? (const MPI_Status *)words[places->status] : NULL,
          call->caller, error, end_ns - call->begin_ns);
}

void sg_profile_count(enum sg_function function, const sg_word *words, MPI_Comm comm, void *caller,
                      int error, uint64_t time_ns)
{
    count(function, words, comm, NULL, caller, error, time_ns);
}

void sg_profile_end_f08(struct sg_profile_call *call, const sg_word *words, const int *error)
{
    const struct sg_function_facts *facts = &sg_functions[call->function];
    sg_word values[SG_ARGUMENTS_MAX];

    for (int word = 0; word < facts->words; word++) {
        bool is_scalar = facts->arguments[word] == SG_ARGUMENT_COMM ||
                         facts->arguments[word] == SG_ARGUMENT_PEER ||
                         facts->arguments[word] == SG_ARGUMENT_NUMBER ||
                         facts->arguments[word] == SG_ARGUMENT_HANDLE;

        values[word] = is_scalar ? *(const int *)words[word] : words[word];
    }
    sg_profile_end(call, values, error != NULL ? *error : MPI_SUCCESS);
}
