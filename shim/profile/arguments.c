#include "profile/arguments.h"

#include "profile/moved.h"

#include <dlfcn.h>

/* What Fortran 2008's MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE are; NULL: it is not there. */
static const void *ignored_status, *ignored_statuses;

void sg_arguments_start(void)
{
    ignored_status = dlsym(RTLD_DEFAULT, "MPIR_F08_MPI_STATUS_IGNORE_OBJ");
    ignored_statuses = dlsym(RTLD_DEFAULT, "MPIR_F08_MPI_STATUSES_IGNORE_OBJ");
}

/* ---- Fortran 2008 ---- */

/* Its words as those of C. */
static void convert(enum sg_function function, const sg_word *words, sg_word *values)
{
    const struct sg_function_facts *facts = &sg_functions[function];
    const struct sg_argument_places *places = &sg_places[function];

    for (int word = 0; word < facts->words; word++) {
        uint8_t argument = facts->arguments[word];
        bool is_scalar = argument == SG_ARGUMENT_COMM || argument == SG_ARGUMENT_PEER ||
                         argument == SG_ARGUMENT_TAG || argument == SG_ARGUMENT_NUMBER ||
                         argument == SG_ARGUMENT_HANDLE || argument == SG_ARGUMENT_WIN ||
                         argument == SG_ARGUMENT_LOCK || argument == SG_ARGUMENT_GROUP;

        values[word] = is_scalar ? *(const int *)words[word] : words[word];
    }
    if (places->status != SG_NO_WORD && (const void *)words[places->status] == ignored_status)
        values[places->status] = (sg_word)MPI_STATUS_IGNORE;
    if (places->statuses != SG_NO_WORD && (const void *)words[places->statuses] == ignored_statuses)
        values[places->statuses] = (sg_word)MPI_STATUSES_IGNORE;
}

const sg_word *sg_arguments_in_c(const struct sg_profile_call *call, const sg_word *words,
                                 sg_word *values)
{
    if (!call->is_f08)
        return words;
    convert(call->function, words, values);
    return values;
}

/* ---- what is kept ---- */

bool sg_arguments_await(enum sg_function function)
{
    const struct sg_function_facts *facts = &sg_functions[function];

    return facts->class == SG_CLASS_REQUEST &&
           (facts->mode == SG_MODE_WAIT || facts->mode == SG_MODE_TEST) &&
           sg_places[function].handle == SG_NO_WORD;
}

/* What is no longer to be seen when the call returns. */
static void keep(struct sg_profile_call *call, sg_word *words)
{
    const struct sg_function_facts *facts = &sg_functions[call->function];
    const struct sg_argument_places *places = &sg_places[call->function];
    int ended = facts->flow == SG_FLOW_RECEIVE               ? places->message
                : call->function == SG_FUNCTION_Request_free ? places->request
                                                             : SG_NO_WORD;

    if (ended != SG_NO_WORD && words[ended] != 0)
        call->ended = *(const MPI_Request *)words[ended];
    if (call->function == SG_FUNCTION_Win_free && words[places->made_win] != 0)
        call->window = *(const MPI_Win *)words[places->made_win];
    if (sg_arguments_await(call->function))
        sg_awaited_begin(&call->awaited, call->function, words);
    else if (places->status != SG_NO_WORD && words[places->status] == (sg_word)MPI_STATUS_IGNORE &&
             (facts->flow != SG_FLOW_NONE || places->message != SG_NO_WORD))
        words[places->status] = (sg_word)&call->status;
}

const sg_word *sg_arguments_keep(struct sg_profile_call *call, sg_word *words, sg_word *values)
{
    const struct sg_argument_places *places = &sg_places[call->function];

    if (!call->is_f08) {
        keep(call, words);
        return words;
    }
    convert(call->function, words, values);
    keep(call, values);
    if (places->status != SG_NO_WORD && values[places->status] != (sg_word)MPI_STATUS_IGNORE)
        words[places->status] = values[places->status];
    if (places->statuses != SG_NO_WORD && values[places->statuses] != (sg_word)MPI_STATUSES_IGNORE)
        words[places->statuses] = values[places->statuses];
    return values;
}
