/* Wrappers of the functions that pass by (profile/functions.h). A wrapper marks a thread that waits
 * or tests, counts the call, and hands it to the next function of that name, another tool's or
 * MPICH's. A test loop or slices may carry out the call instead.
 *
 * Arguments pass unchanged, in words as wide as a register.
 */
#include "intercept/passing.h"

#include "bcs/live/sliced.h"
#include "intercept/past.h"
#include "intercept/test_loop.h"
#include "profile/profile.h"
#include "wait/catch_up.h"
#include "wait/turn.h"

#include <stdatomic.h>
#include <stddef.h>

#define BEGIN_WAIT sg_turn_begin_wait()
#define BEGIN_TEST sg_turn_begin_test()
#define BEGIN_POST
#define BEGIN_PREPARE
#define BEGIN_START
#define BEGIN_LOCAL
#define END_WAIT
#define END_TEST sg_turn_end_test()
#define END_POST
#define END_PREPARE
#define END_START
#define END_LOCAL

/* True if the result depends on what MPICH has seen so far. Constant at compile time. */
static inline bool reports(enum sg_function function, enum sg_function_mode mode)
{
    return mode == SG_MODE_TEST || function == SG_FUNCTION_Waitany ||
           function == SG_FUNCTION_Waitsome || function == SG_FUNCTION_Cancel;
}

/* If is_taken is true, it has carried out the call and set error. Else, if is_other is true, other
 * carries it out. */
#define WRAPPER(name, count, mode, is_taken, is_other, other)                                      \
    int pass_##name(PARAMETERS(count)) SG_INTERCEPTS("MPI_" #name);                                \
    int pass_##name(PARAMETERS(count))                                                             \
    {                                                                                              \
        static void *_Atomic known;                                                                \
        sg_word words[] = {GIVEN(count)};                                                          \
        int (*next)(PARAMETERS(count));                                                            \
        struct sg_profile_call call;                                                               \
        bool counted = sg_profile_begin(&call, SG_FUNCTION_##name, false, words,                   \
                                        __builtin_frame_address(0), __builtin_return_address(0));  \
        int error = MPI_SUCCESS;                                                                   \
        bool goes_on = !(is_taken);                                                                \
                                                                                                   \
        *(void **)&next = sg_real_find_once(&known, "MPI_" #name);                                 \
        if (reports(SG_FUNCTION_##name, SG_MODE_##mode))                                           \
            sg_catch_up();                                                                         \
        if (goes_on && (is_other)) {                                                               \
            error = other;                                                                         \
        } else if (goes_on && next == NULL) {                                                      \
            error = sg_lacking_called("MPI_" #name);                                               \
        } else if (goes_on) {                                                                      \
            BEGIN_##mode;                                                                          \
            error = next(PASSED(count));                                                           \
            END_##mode;                                                                            \
        }                                                                                          \
        if (sg_sliced_is_on())                                                                     \
            sg_sliced_behind(SG_FUNCTION_##name, false, words, error);                             \
        if (counted)                                                                               \
            sg_profile_end(&call, words, error);                                                   \
        return error;                                                                              \
    }

/* Runs a collective by its nonblocking form; its last argument is the communicator. */
#define WRAPPER_BEGUN(name, count, mode, begin, is_other)                                          \
    static int begin##_complete(const sg_word *words, MPI_Comm comm)                               \
    {                                                                                              \
        static void *_Atomic known;                                                                \
        int (*start)(PARAMETERS(count), MPI_Request * request);                                    \
        MPI_Request request;                                                                       \
                                                                                                   \
        *(void **)&start = sg_real_find_once(&known, "PMPI_" #begin);                              \
        return start == NULL ? MPI_ERR_OTHER                                                       \
                             : sg_test_loop_complete(start(PASSED(count), &request), &request,     \
                                                     comm, MPI_STATUS_IGNORE);                     \
    }                                                                                              \
    WRAPPER(name, count, mode, false, is_other, begin##_complete(words, (MPI_Comm)words[(count)-1]))

/* Selects a wrapper by the row's form. */
#define FORM_PLAIN PLAIN, none
#define FORM_LOOP LOOP, none
#define FORM_SLICED SLICED, none
#define FORM_LOOP_SLICED LOOP_SLICED, none
#define FORM_REFUSED REFUSED, none
#define FORM_LOOP_REFUSED LOOP_REFUSED, none
#define FORM_OWN OWN, none
#define FORM_BEGUN(begin) BEGUN, begin
#define FORM_REDUCED(begin) REDUCED, begin
#define BY(form, name, count, mode, begin) BY_##form(name, count, mode, begin)
#define BY_PLAIN(name, count, mode, begin) WRAPPER(name, count, mode, false, false, MPI_SUCCESS)
#define BY_LOOP(name, count, mode, begin)                                                          \
    WRAPPER(name, count, mode, false, sg_test_loop_begin(), sg_loop_##name(PASSED(count)))
#define IS_SLICED(name) sg_sliced_is_on() && sg_sliced_##name(words, &error)
#define IS_REFUSED(name) sg_sliced_is_on() && sg_sliced_refuses(SG_FUNCTION_##name, words, &error)
#define BY_SLICED(name, count, mode, begin)                                                        \
    WRAPPER(name, count, mode, IS_SLICED(name), false, MPI_SUCCESS)
#define BY_LOOP_SLICED(name, count, mode, begin)                                                   \
    WRAPPER(name, count, mode, IS_SLICED(name), sg_test_loop_begin(), sg_loop_##name(PASSED(count)))
#define BY_REFUSED(name, count, mode, begin)                                                       \
    WRAPPER(name, count, mode, IS_REFUSED(name), false, MPI_SUCCESS)
#define BY_LOOP_REFUSED(name, count, mode, begin)                                                  \
    WRAPPER(name, count, mode, IS_REFUSED(name), sg_test_loop_begin(),                             \
            sg_loop_##name(PASSED(count)))
#define BY_OWN(name, count, mode, begin)
#define BY_BEGUN(name, count, mode, begin)                                                         \
    WRAPPER_BEGUN(name, count, mode, begin,                                                        \
                  sg_test_loop_begin_collective((MPI_Comm)words[(count)-1]))
#define BY_REDUCED(name, count, mode, begin)                                                       \
    WRAPPER_BEGUN(name, count, mode, begin,                                                        \
                  sg_test_loop_begin_reduction((MPI_Comm)words[(count)-1],                         \
                                               (MPI_Datatype)words[(count)-3],                     \
                                               (MPI_Op)words[(count)-2]))
#define EXPANDED(...) BY(__VA_ARGS__)
#define WITH_FORM(name, count, mode, kind, begin) EXPANDED(kind, name, count, mode, begin)
#define WITH_COUNT(name, count, mode, ...) WITH_FORM(name, count, mode, __VA_ARGS__)

/* Selects a wrapper by the row's Fortran 2008 symbol. */
#define SYMBOL_NO NO, none, 0
#define SYMBOL_F08(symbol, more) YES, symbol, more
#define SYMBOL_F08_ALONE(symbol) ALONE, symbol, 0
#define F08_NO(name, count, mode, symbol, more)
#define F08_YES(name, count, mode, symbol, more) F08(name, SUM(count, more), mode, symbol, count)
#define F08_ALONE(name, count, mode, symbol, more) F08(name, 1, mode, symbol, 0)
#define F08_BY(has, ...) F08_##has(__VA_ARGS__)
#define F08_EXPANDED(has, name, count, mode, symbol, more)                                         \
    F08_BY(has, name, count, mode, symbol, more)
#define F08_WITH(name, count, mode, ...) F08_SPLIT(name, count, mode, __VA_ARGS__)
#define F08_SPLIT(name, count, mode, has, symbol, more)                                            \
    F08_EXPANDED(has, name, count, mode, symbol, more)
#define SUM(count, more) JOINED(SUM_##more##_, count)
#define SUM_1_1 2
#define SUM_1_2 3
#define SUM_1_3 4
#define SUM_1_4 5
#define SUM_1_5 6
#define SUM_1_6 7
#define SUM_1_7 8
#define SUM_1_8 9
#define SUM_1_9 10
#define SUM_1_10 11
#define SUM_2_2 4
#define SUM_2_5 7
#define SUM_2_6 8
#define SUM_2_8 10
#define SUM_3_8 11
#define SUM_3_9 12

/* error: index of the ierror word. */
#define F08(name, count, mode, symbol, error)                                                      \
    void pass_f08_##symbol(PARAMETERS(count)) SG_INTERCEPTS("mpi_" #symbol "_f08_");               \
    void pass_f08_##symbol(PARAMETERS(count))                                                      \
    {                                                                                              \
        static void *_Atomic known;                                                                \
        sg_word words[] = {GIVEN(count)};                                                          \
        void (*next)(PARAMETERS(count));                                                           \
        struct sg_profile_call call;                                                               \
        bool counted;                                                                              \
                                                                                                   \
        *(void **)&next = sg_real_find_once(&known, "mpi_" #symbol "_f08_");                       \
        if (next == NULL) {                                                                        \
            if (words[error] != 0)                                                                 \
                *(int *)words[error] = sg_lacking_called("MPI_" #name);                            \
            return;                                                                                \
        }                                                                                          \
        counted = sg_profile_begin(&call, SG_FUNCTION_##name, true, words,                         \
                                   __builtin_frame_address(0), __builtin_return_address(0));       \
        if (reports(SG_FUNCTION_##name, SG_MODE_##mode))                                           \
            sg_catch_up();                                                                         \
        BEGIN_##mode;                                                                              \
        next(PASSED(count));                                                                       \
        END_##mode;                                                                                \
        if (sg_sliced_is_on())                                                                     \
            sg_sliced_behind(SG_FUNCTION_##name, true, words, sg_word_error(words[error]));        \
        if (counted)                                                                               \
            sg_profile_end(&call, words, sg_word_error(words[error]));                             \
    }

#define ROW(name, symbol, mode, class, flow, form, ...)                                            \
    WITH_COUNT(name, SG_FUNCTION_WORDS(__VA_ARGS__), mode, FORM_##form)
#define ROW_F08(name, symbol, mode, class, flow, form, ...)                                        \
    F08_WITH(name, SG_FUNCTION_WORDS(__VA_ARGS__), mode, SYMBOL_##symbol)

SG_FUNCTIONS(ROW)
SG_FUNCTIONS(ROW_F08)

/* ---- other tools ---- */

#define LOOPED(kind, begin) JOINED(LOOPED_, kind)
#define LOOPED_PLAIN false
#define LOOPED_OWN false
#define LOOPED_LOOP true
#define LOOPED_SLICED false
#define LOOPED_LOOP_SLICED true
#define LOOPED_REFUSED false
#define LOOPED_LOOP_REFUSED true
#define LOOPED_BEGUN true
#define LOOPED_REDUCED true
#define LOOPED_BY(...) LOOPED(__VA_ARGS__)
#define NAME(name, symbol, mode, class, flow, form, ...)                                           \
    LOOPED_BY(FORM_##form) ? "MPI_" #name : NULL,

/* NULL: always passes to the next function. */
static const char *const looped[] = {"MPI_Comm_dup", SG_FUNCTIONS(NAME)};

bool sg_passing_is_direct(void)
{
    for (size_t i = 0; i < sizeof looped / sizeof *looped; i++) {
        void *next = looped[i] != NULL ? sg_real_find(looped[i]) : NULL;

        if (next != NULL && !sg_real_has(next))
            return false;
    }
    return true;
}
