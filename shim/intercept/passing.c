/* The wrappers of the functions that pass by (functions.h): whoever waits in one, or tests, is
 * known, and the call goes on to whoever comes next for it, another tool or MPICH.
 *
 * Arguments go through as they came, in words as wide as a register.
 */
#include "intercept/passing.h"

#include "intercept/functions.h"
#include "intercept/test_loop.h"
#include "intercept/test_loop_messages.h"
#include "mpi/real.h"
#include "wait/turn.h"

#include <stddef.h>

/* Words of arguments: P as parameters, G as given. */
#define P1 sg_word a
#define P2 P1, sg_word b
#define P3 P2, sg_word c
#define P4 P3, sg_word d
#define P5 P4, sg_word e
#define P6 P5, sg_word f
#define P7 P6, sg_word g
#define P8 P7, sg_word h
#define P9 P8, sg_word i
#define P10 P9, sg_word j
#define P11 P10, sg_word k
#define P12 P11, sg_word l
#define G1 a
#define G2 G1, b
#define G3 G2, c
#define G4 G3, d
#define G5 G4, e
#define G6 G5, f
#define G7 G6, g
#define G8 G7, h
#define G9 G8, i
#define G10 G9, j
#define G11 G10, k
#define G12 G11, l

#define BEGIN_WAIT sg_turn_begin_wait()
#define BEGIN_TEST sg_turn_begin_test()
#define END_WAIT
#define END_TEST sg_turn_end_test()

/* MPI_ERR_OTHER is what an MPI without the function says of it. Where is_other holds, other is
 * the call. */
#define WRAPPER_OR(class, name, words, is_other, other)                                            \
    int pass_##name(P##words) SG_INTERCEPTS("MPI_" #name);                                         \
    int pass_##name(P##words)                                                                      \
    {                                                                                              \
        static void *_Atomic known;                                                                \
        int (*next)(P##words);                                                                     \
        int error;                                                                                 \
                                                                                                   \
        if (is_other)                                                                              \
            return other;                                                                          \
        *(void **)&next = sg_real_find_once(&known, "MPI_" #name);                                 \
        if (next == NULL)                                                                          \
            return MPI_ERR_OTHER;                                                                  \
        BEGIN_##class;                                                                             \
        error = next(G##words);                                                                    \
        END_##class;                                                                               \
        return error;                                                                              \
    }

#define WRAPPER(class, name, words) WRAPPER_OR(class, name, words, false, MPI_SUCCESS)

#define WRAPPER_LOOP(class, name, words)                                                           \
    WRAPPER_OR(class, name, words, sg_test_loop_begin(), sg_loop_##name(G##words))

#define WRAPPER_COLLECTIVE(class, name, words, begin, comm)                                        \
    WRAPPER_BEGUN(class, name, words, begin, comm, sg_test_loop_begin_collective((MPI_Comm)(comm)))
#define WRAPPER_REDUCTION(class, name, words, begin, comm, datatype, op)                           \
    WRAPPER_BEGUN(                                                                                 \
        class, name, words, begin, comm,                                                           \
        sg_test_loop_begin_reduction((MPI_Comm)(comm), (MPI_Datatype)(datatype), (MPI_Op)(op)))
#define WRAPPER_BEGUN(class, name, words, begin, comm, is_other)                                   \
    static int begin##_complete(P##words)                                                          \
    {                                                                                              \
        static void *_Atomic known;                                                                \
        int (*start)(P##words, MPI_Request * request);                                             \
        MPI_Request request;                                                                       \
                                                                                                   \
        *(void **)&start = sg_real_find_once(&known, "PMPI_" #begin);                              \
        return start == NULL ? MPI_ERR_OTHER                                                       \
                             : sg_test_loop_complete(start(G##words, &request), &request,          \
                                                     (MPI_Comm)(comm), MPI_STATUS_IGNORE);         \
    }                                                                                              \
    WRAPPER_OR(class, name, words, is_other, begin##_complete(G##words))

#define F08(class, f08, f08_words)                                                                 \
    void pass_f08_##f08(P##f08_words) SG_INTERCEPTS("mpi_" #f08 "_f08_");                          \
    void pass_f08_##f08(P##f08_words)                                                              \
    {                                                                                              \
        static void *_Atomic known;                                                                \
        void (*next)(P##f08_words);                                                                \
                                                                                                   \
        *(void **)&next = sg_real_find_once(&known, "mpi_" #f08 "_f08_");                          \
        if (next == NULL)                                                                          \
            return;                                                                                \
        BEGIN_##class;                                                                             \
        next(G##f08_words);                                                                        \
        END_##class;                                                                               \
    }

#define WRAPPER_F08(class, name, words, f08, f08_words)                                            \
    WRAPPER(class, name, words)                                                                    \
    F08(class, f08, f08_words)
#define WRAPPER_LOOP_F08(class, name, words, f08, f08_words)                                       \
    WRAPPER_LOOP(class, name, words)                                                               \
    F08(class, f08, f08_words)

SG_FUNCTIONS(WRAPPER, WRAPPER_F08, WRAPPER_LOOP, WRAPPER_LOOP_F08, WRAPPER_COLLECTIVE,
             WRAPPER_REDUCTION)

/* ---- other tools ---- */

static const char *const looped[] = {"MPI_Comm_dup",
#define NOTHING(...)
#define NAME(class, name, ...) "MPI_" #name,
                                     SG_FUNCTIONS(NOTHING, NOTHING, NAME, NAME, NAME, NAME)
#undef NAME
#undef NOTHING
};

bool sg_passing_is_direct(void)
{
    for (size_t i = 0; i < sizeof looped / sizeof *looped; i++) {
        void *next = sg_real_find(looped[i]);

        if (next != NULL && !sg_real_has(next))
            return false;
    }
    return true;
}
