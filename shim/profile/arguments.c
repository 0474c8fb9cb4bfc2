/* Converts and keeps arguments of calls (arguments.h). */
#include "profile/arguments.h"

#include <dlfcn.h>

uint8_t sg_arguments_kept[SG_FUNCTION_COUNT];

/* Fortran 2008's MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE; NULL: not there. */
static const void *ignored_status, *ignored_statuses;

static bool awaits(enum sg_function function)
{
    const struct sg_function_facts *facts = &sg_functions[function];

    return facts->class == SG_CLASS_REQUEST &&
           (facts->mode == SG_MODE_WAIT || facts->mode == SG_MODE_TEST) &&
           sg_places[function].handle == SG_NO_WORD;
}

/* Returns the word of the request or message that the function gives up; SG_NO_WORD: none. */
static int given_up_by(enum sg_function function)
{
    return sg_functions[function].flow == SG_FLOW_RECEIVE ? sg_places[function].message
           : function == SG_FUNCTION_Request_free         ? sg_places[function].request
                                                          : SG_NO_WORD;
}

static uint8_t kept_of(enum sg_function function)
{
    const struct sg_argument_places *places = &sg_places[function];
    uint8_t keeps = 0;

    if (given_up_by(function) != SG_NO_WORD)
        keeps |= SG_KEEPS_ENDED;
    if (function == SG_FUNCTION_Win_free)
        keeps |= SG_KEEPS_WINDOW;
    if (function == SG_FUNCTION_File_close)
        keeps |= SG_KEEPS_FILE;
    if (awaits(function))
        keeps |= SG_KEEPS_AWAITED;
    else if (places->status != SG_NO_WORD &&
             (sg_functions[function].flow != SG_FLOW_NONE || places->message != SG_NO_WORD))
        keeps |= SG_KEEPS_STATUS;
    return keeps;
}

void sg_arguments_start(void)
{
    for (int function = 0; function < SG_FUNCTION_COUNT; function++)
        sg_arguments_kept[function] = kept_of(function);
    ignored_status = dlsym(RTLD_DEFAULT, "MPIR_F08_MPI_STATUS_IGNORE_OBJ");
    ignored_statuses = dlsym(RTLD_DEFAULT, "MPIR_F08_MPI_STATUSES_IGNORE_OBJ");
}

static MPI_File file_of(MPI_Fint handle)
{
    return sg_real.File_f2c != NULL ? sg_real.File_f2c(handle) : MPI_FILE_NULL;
}

/* Converts its words to those of C. */
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
    if (places->file != SG_NO_WORD)
        values[places->file] = (sg_word)file_of(*(const int *)words[places->file]);
}

/* Converts a pointer to a file's handle, which must be valid. */
static void convert_file(enum sg_function function, const sg_word *words, sg_word *values)
{
    static __thread MPI_File file;
    int word = sg_places[function].made_file;

    if (word == SG_NO_WORD || words[word] == 0)
        return;
    file = file_of(*(const int *)words[word]);
    values[word] = (sg_word)&file;
}

const sg_word *sg_arguments_in_c(enum sg_function function, const sg_word *words, sg_word *values,
                                 int error)
{
    convert(function, words, values);
    if (function == SG_FUNCTION_File_open && error == MPI_SUCCESS)
        convert_file(function, words, values);
    return values;
}

/* ---- arguments that are kept ---- */

/* Keeps the arguments that the call overwrites. */
static void keep(struct sg_kept *kept, enum sg_function function, sg_word *words)
{
    const struct sg_argument_places *places = &sg_places[function];
    uint8_t keeps = sg_arguments_kept[function];
    sg_word pointer;

    if ((keeps & SG_KEEPS_AWAITED) != 0)
        sg_awaited_begin(&kept->awaited, function, words);
    if ((keeps & SG_KEEPS_STATUS) != 0 && words[places->status] == (sg_word)MPI_STATUS_IGNORE)
        words[places->status] = (sg_word)&kept->status;
    if ((keeps & SG_KEEPS_ENDED) != 0) {
        pointer = words[given_up_by(function)];
        kept->ended = pointer != 0 ? *(const MPI_Request *)pointer : MPI_REQUEST_NULL;
    }
    if ((keeps & SG_KEEPS_WINDOW) != 0) {
        pointer = words[places->made_win];
        kept->window = pointer != 0 ? *(const MPI_Win *)pointer : MPI_WIN_NULL;
    }
    if ((keeps & SG_KEEPS_FILE) != 0) {
        pointer = words[places->made_file];
        kept->file = pointer != 0 ? *(const MPI_File *)pointer : MPI_FILE_NULL;
    }
}

const sg_word *sg_arguments_keep(struct sg_kept *kept, enum sg_function function, bool is_f08,
                                 sg_word *words, sg_word *values)
{
    const struct sg_argument_places *places = &sg_places[function];

    if (!is_f08) {
        if (sg_arguments_kept[function] != 0)
            keep(kept, function, words);
        return words;
    }
    convert(function, words, values);
    if (function == SG_FUNCTION_File_close)
        convert_file(function, words, values);
    keep(kept, function, values);
    if (places->status != SG_NO_WORD && values[places->status] != (sg_word)MPI_STATUS_IGNORE)
        words[places->status] = values[places->status];
    if (places->statuses != SG_NO_WORD && values[places->statuses] != (sg_word)MPI_STATUSES_IGNORE)
        words[places->statuses] = values[places->statuses];
    return values;
}
