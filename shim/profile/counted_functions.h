/* Facts about MPI's functions, generated from their table (functions.table): numbers, names, and
 * positions of arguments. Also matches globs of names, and defines functions in the log.
 *
 * A call's arguments are words as wide as a register. Any thread; the table is constant.
 */
#ifndef SG_PROFILE_COUNTED_FUNCTIONS_H
#define SG_PROFILE_COUNTED_FUNCTIONS_H

#include "mpi/real.h"
#include "profile/functions.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum sg_function_mode {
    SG_MODE_WAIT,
    SG_MODE_TEST,
    SG_MODE_POST,
    SG_MODE_PREPARE,
    SG_MODE_START,
    SG_MODE_LOCAL,
};

enum sg_function_class {
    SG_CLASS_MESSAGE,
    SG_CLASS_REQUEST,
    SG_CLASS_COLLECTIVE,
    SG_CLASS_ONE_SIDED,
    SG_CLASS_WINDOW,
    SG_CLASS_FILE,
    SG_CLASS_COMMUNICATOR,
};

/* Data flow of the operands. If there are two, the first is sent and the second received. */
enum sg_function_flow {
    SG_FLOW_NONE,
    SG_FLOW_SEND,
    SG_FLOW_RECEIVE, /* as much as the status reports */
    SG_FLOW_EXCHANGE,
    SG_FLOW_ELEMENT, /* one element each way */
    SG_FLOW_BCAST,
    SG_FLOW_GATHER,
    SG_FLOW_SCATTER,
    SG_FLOW_ALLGATHER,
    SG_FLOW_ALLTOALL,
    SG_FLOW_REDUCE,
    SG_FLOW_ALLREDUCE,
    SG_FLOW_REDUCE_SCATTER,
    SG_FLOW_NEIGHBOR_ALLGATHER,
    SG_FLOW_NEIGHBOR_ALLTOALL,
};

enum sg_function_argument {
    SG_ARGUMENT_VALUE = 1, /* anything else */
    SG_ARGUMENT_BUFFER,
    SG_ARGUMENT_COUNT,  /* an int; in functions with a suffix _c an MPI_Count */
    SG_ARGUMENT_COUNTS, /* an array of them, one a rank */
    SG_ARGUMENT_PARTS,  /* int: number of parts; count is of each */
    SG_ARGUMENT_TYPE,
    SG_ARGUMENT_TYPES,
    SG_ARGUMENT_PEER, /* a rank of the communicator or of the window's group */
    SG_ARGUMENT_TAG,
    SG_ARGUMENT_ROOT,
    SG_ARGUMENT_OP,
    SG_ARGUMENT_COMM,
    SG_ARGUMENT_OLD, /* MPI_Comm *: freed */
    SG_ARGUMENT_NEW, /* pointer to a handle that is made or freed */
    SG_ARGUMENT_WIN,
    SG_ARGUMENT_LOCK,  /* MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE */
    SG_ARGUMENT_GROUP, /* MPI_Group that synchronises with a window */
    SG_ARGUMENT_FILE,
    SG_ARGUMENT_SHARED,   /* MPI_File of a call that all who opened it make */
    SG_ARGUMENT_HANDLE,   /* MPI_Request */
    SG_ARGUMENT_REQUEST,  /* MPI_Request * */
    SG_ARGUMENT_NUMBER,   /* of requests, an int */
    SG_ARGUMENT_REQUESTS, /* array of NUMBER requests */
    SG_ARGUMENT_STATUS,
    SG_ARGUMENT_STATUSES,
    SG_ARGUMENT_FLAG,
    SG_ARGUMENT_INDEX,
    SG_ARGUMENT_DONE, /* int *: number of indices */
    SG_ARGUMENT_INDICES,
    SG_ARGUMENT_MESSAGE, /* MPI_Message * */
    SG_ARGUMENT_TEXT,
};

#define SG_ARGUMENTS_MAX 14
#define SG_NO_WORD (-1)

struct sg_function_facts {
    const char *name; /* "MPI_Send" */
    const char *own;  /* "PMPI_Send" */
    uint8_t mode;     /* enum sg_function_mode */
    uint8_t class;    /* enum sg_function_class */
    uint8_t flow;     /* enum sg_function_flow */
    bool counts_wide; /* MPI_Count */
    bool may_loop;    /* a loop of tests may carry it out (intercept/test_loop.h) */
    bool is_sliced;   /* slices may carry it (bcs/live/sliced.h) */
    uint16_t begin;   /* its nonblocking form, for a loop; SG_FUNCTION_COUNT: none */
    uint8_t words;
    uint8_t arguments[SG_ARGUMENTS_MAX]; /* enum sg_function_argument; 0: none */
};

extern const struct sg_function_facts sg_functions[SG_FUNCTION_COUNT];

/* Returns the count that is in a word of the function's arguments. */
static inline MPI_Count sg_function_amount(enum sg_function function, sg_word word)
{
    return sg_functions[function].counts_wide ? (MPI_Count)word : (int)word;
}

/* Calls MPI's own function (PMPI_*), with as many words as it has. MPI_ERR_OTHER: this MPI has
 * none. */
int sg_function_call(enum sg_function function, const sg_word *words);

/* True if all members of the communicator call it in the same order, and it is one of MPI's
 * collectives on data. That includes the function that makes a persistent collective, but not the
 * one that starts it. */
static inline bool sg_function_is_ordered(enum sg_function function)
{
    return sg_functions[function].class == SG_CLASS_COLLECTIVE;
}

/* True if the call has a number among all that the members of its communicator make together: an
 * ordered function's, or one that makes communicators or opens a file. */
static inline bool sg_function_is_numbered(enum sg_function function)
{
    return sg_function_is_ordered(function) || function == SG_FUNCTION_File_open ||
           (sg_functions[function].class == SG_CLASS_COMMUNICATOR &&
            function != SG_FUNCTION_Comm_create_group);
}

/* ---- functions that a list of globs names (STAGGER_CALLS and others) ----
 *
 * Names match with and without MPI_, in any case; names with the suffix _c match as the others.
 */

/* Sets takes for matching functions. globs: separated by commas. A glob without a match is ignored;
 * if speak is true, a line that begins with source names it. otherwise: the value for all functions
 * if no glob is left.
 */
void sg_function_globs(const char *source, const char *globs, bool speak, bool otherwise,
                       bool takes[SG_FUNCTION_COUNT]);

/* ---- MPI's functions in this rank's log: a definition at a function's first call ----
 *
 * Any thread, while there is a log; not from a signal handler.
 */

extern _Atomic uint32_t sg_function_numbers[SG_FUNCTION_COUNT];

uint32_t sg_function_define(enum sg_function function);

/* Returns the function's number plus one; 0: the disk is full. */
static inline uint32_t sg_function_number(enum sg_function function)
{
    uint32_t number = atomic_load_explicit(&sg_function_numbers[function], memory_order_relaxed);

    return __builtin_expect(number > 0, 1) ? number : sg_function_define(function);
}

/* Counts an event of a function that is left out of the log. */
void sg_function_leave_out(enum sg_function function);

#endif
