/* A call's arguments in C's form, and those that the call overwrites: kept when it begins, read
 * when it has ended. A status of the library replaces an ignored one, to find what was received.
 *
 * Any thread; not from a signal handler.
 */
#ifndef SG_PROFILE_ARGUMENTS_H
#define SG_PROFILE_ARGUMENTS_H

#include "mpi/real.h"
#include "profile/counted_functions.h"
#include "profile/moved.h"
#include "profile/requests.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* The arguments of a function that are kept: bits of sg_arguments_kept. A member of struct sg_kept
 * is valid only with its bit. */
enum sg_keeps {
    SG_KEEPS_ENDED = 1,
    SG_KEEPS_WINDOW = 2,
    SG_KEEPS_FILE = 4,
    SG_KEEPS_AWAITED = 8,
    SG_KEEPS_STATUS = 16,
};

extern uint8_t sg_arguments_kept[SG_FUNCTION_COUNT];

struct sg_kept {
    MPI_Request ended; /* request or message that the call frees; MPI_REQUEST_NULL: none */
    MPI_Win window;    /* window that it frees; MPI_WIN_NULL: none */
    MPI_File file;     /* file that it closes; MPI_FILE_NULL: none */
    MPI_Status status; /* replaces an ignored status */
    struct sg_awaited awaited;
};

/* Call in MPI_Init, before the others and after sg_places_find. */
void sg_arguments_start(void);

/* Keeps arguments when a call begins, and replaces ignored statuses in words. values has room for
 * SG_ARGUMENTS_MAX words. Returns the words in C's form: values if they differ from the call's. */
const sg_word *sg_arguments_keep(struct sg_kept *kept, enum sg_function function, bool is_f08,
                                 sg_word *words, sg_word *values);
/* Returns in values the words of an ended call of Fortran 2008 in C's form. */
const sg_word *sg_arguments_in_c(enum sg_function function, const sg_word *words, sg_word *values,
                                 int error);

#endif
