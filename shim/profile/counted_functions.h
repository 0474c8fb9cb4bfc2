/* What is known of MPI's functions, from their table (functions.h): numbers, names, and where a
 * call's arguments stand.
 *
 * A call's arguments are words as wide as a register. Any thread; the table is constant.
 */
#ifndef SG_PROFILE_COUNTED_FUNCTIONS_H
#define SG_PROFILE_COUNTED_FUNCTIONS_H

#include "profile/functions.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum sg_function {
#define SG_FUNCTION_NUMBER(name, ...) SG_FUNCTION_##name,
    SG_FUNCTIONS(SG_FUNCTION_NUMBER)
#undef SG_FUNCTION_NUMBER
        SG_FUNCTION_COUNT
};

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

/* Which operands go where. Where there are two, the first is sent and the second received. */
enum sg_function_flow {
    SG_FLOW_NONE,
    SG_FLOW_SEND,
    SG_FLOW_RECEIVE, /* as much as its status tells */
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
    SG_ARGUMENT_PARTS,  /* an int: count is of each */
    SG_ARGUMENT_TYPE,
    SG_ARGUMENT_TYPES,
    SG_ARGUMENT_PEER, /* a rank; of the communicator, or of the window's */
    SG_ARGUMENT_TAG,
    SG_ARGUMENT_ROOT,
    SG_ARGUMENT_OP,
    SG_ARGUMENT_COMM,
    SG_ARGUMENT_OLD, /* MPI_Comm *: it ends */
    SG_ARGUMENT_NEW, /* a pointer to a handle that is made, or ends */
    SG_ARGUMENT_WIN,
    SG_ARGUMENT_LOCK,  /* MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE */
    SG_ARGUMENT_GROUP, /* MPI_Group, that a window is synchronised with */
    SG_ARGUMENT_FILE,
    SG_ARGUMENT_HANDLE,   /* MPI_Request */
    SG_ARGUMENT_REQUEST,  /* MPI_Request * */
    SG_ARGUMENT_NUMBER,   /* of requests, an int */
    SG_ARGUMENT_REQUESTS, /* an array of so many */
    SG_ARGUMENT_STATUS,
    SG_ARGUMENT_STATUSES,
    SG_ARGUMENT_FLAG,
    SG_ARGUMENT_INDEX,
    SG_ARGUMENT_DONE, /* int *: how many indices there are */
    SG_ARGUMENT_INDICES,
    SG_ARGUMENT_MESSAGE, /* MPI_Message * */
    SG_ARGUMENT_TEXT,
};

#define SG_ARGUMENTS_MAX 14
#define SG_NO_WORD (-1)

struct sg_function_facts {
    const char *name; /* as in "MPI_Send" */
    uint8_t mode;     /* enum sg_function_mode */
    uint8_t class;    /* enum sg_function_class */
    uint8_t flow;     /* enum sg_function_flow */
    bool counts_wide; /* MPI_Count */
    uint8_t words;
    uint8_t arguments[SG_ARGUMENTS_MAX]; /* enum sg_function_argument; 0: none */
};

extern const struct sg_function_facts sg_functions[SG_FUNCTION_COUNT];

/* All members of its communicator call it in the same order; so too what makes a persistent
 * collective, but not what starts it. */
static inline bool sg_function_is_ordered(enum sg_function function)
{
    return sg_functions[function].class == SG_CLASS_COLLECTIVE;
}

/* Which functions of MPI a list of globs names (STAGGER_CALLS and its like).
 *
 * Names are taken with and without MPI_, whatever the case of their letters; those with a suffix _c
 * go with the others.
 */

/* globs: separated by commas. One that matches no function is ignored; one line, that begins with
 * source, names it where speak is true. otherwise: whether functions are taken where none is left.
 */
void sg_function_globs(const char *source, const char *globs, bool speak, bool otherwise,
                       bool takes[SG_FUNCTION_COUNT]);

/* MPI's functions in this rank's log: a definition each, when one is called first.
 *
 * Any thread, while there is a log; not from a signal handler.
 */

extern _Atomic uint32_t sg_function_numbers[SG_FUNCTION_COUNT];

uint32_t sg_function_define(enum sg_function function);

/* Its number plus one; 0: the disk is full. */
static inline uint32_t sg_function_number(enum sg_function function)
{
    uint32_t number = atomic_load_explicit(&sg_function_numbers[function], memory_order_relaxed);

    return __builtin_expect(number > 0, 1) ? number : sg_function_define(function);
}

/* Counts an event of a function, as left out. */
void sg_function_leave_out(enum sg_function function);

#endif
