/* The handwritten wrappers of MPI functions; wrappers.awk writes the others. A wrapper builds the
 * call and hands it to dispatch or to the runtime. While stagger does not run,
 * arguments pass unchanged to MPICH.
 *
 * A wrapper takes the caller's return address itself, one frame below the application.
 */
#include "intercept/wrap.h"

#include "bcs/live/sliced.h"
#include "core/clock.h"
#include "intercept/call_log.h"
#include "intercept/comm_setup.h"
#include "intercept/past.h"
#include "intercept/test_loop.h"
#include "internode/request.h"
#include "profile/comms.h"
#include "profile/profile.h"
#include "runtime/recording.h"
#include "runtime/settings.h"
#include "wait/hook.h"
#include "wait/wakes.h"

#include <stdatomic.h>

/* The pass-through form of a function: arguments as wide as a register, whatever their types. */
typedef int (*pass1)(sg_word);
typedef int (*pass2)(sg_word, sg_word);
typedef int (*pass3)(sg_word, sg_word, sg_word);
typedef int (*pass4)(sg_word, sg_word, sg_word, sg_word);

/* Resolves MPICH at the first call, which a launcher or shell never makes. */
#define PASS(form, name) (sg_real_is_mpich(), (form)(void (*)(void))sg_real.name)

/* The exported symbol of a function of this file. */
#define EXPORTS(symbol, function)                                                                  \
    __asm__(symbol) __attribute__((visibility("default"), alias(#function)))

/* Makes the call and counts it. words: the arguments; stagger may have replaced an ignored status
 * when make runs. */
static inline __attribute__((always_inline)) int
counted(enum sg_function function, sg_word *words,
        int (*make)(const sg_word *words, void *frame, void *caller), void *frame, void *caller)
{
    struct sg_profile_call profile;
    bool is_counted = sg_profile_begin(&profile, function, false, words, frame, caller);
    int error = make(words, frame, caller);

    if (is_counted)
        sg_profile_end(&profile, words, error);
    return error;
}

/* ---- start and stop ---- */

/* Runs before MPICH's own start, in which ranks also wait. */
static void begin(enum sg_hook_user user)
{
    sg_past_started();
    if (user == SG_HOOK_WORLD)
        sg_causes_init();
    if (sg_real_is_mpich() && !sg_real_has_user_threads())
        sg_hook_begin(user);
}

static void end(enum sg_hook_user user)
{
    if (sg_real_is_mpich() && !sg_real_has_user_threads())
        sg_hook_end(user);
}

static int begun(int error, uint64_t begin_ns)
{
    sg_hook_begun();
    if (error == MPI_SUCCESS)
        sg_process_start(begin_ns, &sg_calls);
    else
        end(SG_HOOK_WORLD);
    return error;
}

int sg_wrap_init(sg_word argc, sg_word argv)
{
    uint64_t begin_ns = sg_clock_ns();

    begin(SG_HOOK_WORLD);
    return begun(PASS(pass2, Init)(argc, argv), begin_ns);
}
int mpi_init(sg_word argc, sg_word argv) EXPORTS("MPI_Init", sg_wrap_init);

int sg_wrap_init_thread(sg_word argc, sg_word argv, sg_word required, sg_word provided)
{
    uint64_t begin_ns = sg_clock_ns();

    begin(SG_HOOK_WORLD);
    return begun(PASS(pass4, Init_thread)(argc, argv, required, provided), begin_ns);
}
int mpi_init_thread(sg_word argc, sg_word argv, sg_word required, sg_word provided)
    EXPORTS("MPI_Init_thread", sg_wrap_init_thread);

int sg_wrap_finalize(void)
{
    int error;

    sg_process_finalize();
    error = (sg_real_is_mpich(), sg_real.Finalize());
    end(SG_HOOK_WORLD);
    return error;
}
int mpi_finalize(void) EXPORTS("MPI_Finalize", sg_wrap_finalize);

/* A session may be the only user of MPICH. Its ranks yield while they wait; the library does
 * nothing else there. */
int sg_wrap_session_init(sg_word info, sg_word handler, sg_word session)
{
    static void *_Atomic known;
    pass3 next;
    int error;

    *(void **)&next = sg_real_find_once(&known, "MPI_Session_init");
    if (next == NULL)
        return MPI_ERR_OTHER;
    begin(SG_HOOK_SESSION);
    error = next(info, handler, session);
    sg_hook_begun();
    if (error != MPI_SUCCESS)
        end(SG_HOOK_SESSION);
    return error;
}
int mpi_session_init(sg_word info, sg_word handler, sg_word session)
    EXPORTS("MPI_Session_init", sg_wrap_session_init);

int sg_wrap_session_finalize(sg_word session)
{
    static void *_Atomic known;
    pass1 next;
    int error;

    *(void **)&next = sg_real_find_once(&known, "MPI_Session_finalize");
    if (next == NULL)
        return MPI_ERR_OTHER;
    error = next(session);
    if (error == MPI_SUCCESS)
        end(SG_HOOK_SESSION);
    return error;
}
int mpi_session_finalize(sg_word session) EXPORTS("MPI_Session_finalize", sg_wrap_session_finalize);

int sg_wrap_abort(sg_word comm, sg_word code)
{
    sg_process_abort();
    return PASS(pass2, Abort)(comm, code);
}
int mpi_abort(sg_word comm, sg_word code) EXPORTS("MPI_Abort", sg_wrap_abort);

int sg_wrap_pcontrol(int level, ...)
{
    if (sg_process_running()) {
        if (level == 0 || level == 1) {
            sg_recording_switch(&sg_process, level == 1);
            sg_profile_switch(level == 1);
        } else if (level == 2) {
            sg_statistics_reset();
            sg_profile_reset();
        } else if (level == 3)
            sg_statistics_write();
    }
    return sg_real_is_mpich(), sg_real.Pcontrol(level);
}
int mpi_pcontrol(int level, ...) EXPORTS("MPI_Pcontrol", sg_wrap_pcontrol);

/* ---- the end of a communicator ---- */

/* The attribute's delete callback ends the state; it runs among the application's callbacks. */
static inline __attribute__((always_inline)) int end_comm(sg_word comm, bool is_awaited, pass1 pass,
                                                          void *frame, void *caller)
{
    struct sg_stack_frame before = sg_stack_hold(&sg_stack_ending, frame, caller);
    bool is_known = comm != 0 && sg_process_running();
    int error = MPI_SUCCESS;

    if (is_known && !sg_sliced_end(*(MPI_Comm *)comm, is_awaited)) {
        *(MPI_Comm *)comm = MPI_COMM_NULL;
    } else {
        if (is_known) {
            sg_comm_leave(*(MPI_Comm *)comm);
            sg_profile_comm_forget(*(MPI_Comm *)comm);
        }
        error = pass(comm);
    }
    sg_comm_end_freed();
    sg_stack_release(&sg_stack_ending, before);
    return error;
}

static int free_comm(const sg_word *words, void *frame, void *caller)
{
    return end_comm(words[0], false, PASS(pass1, Comm_free), frame, caller);
}

int sg_wrap_comm_free(sg_word comm)
{
    return counted(SG_FUNCTION_Comm_free, &comm, free_comm, __builtin_frame_address(0),
                   __builtin_return_address(0));
}
int mpi_comm_free(sg_word comm) EXPORTS("MPI_Comm_free", sg_wrap_comm_free);

static int disconnect(const sg_word *words, void *frame, void *caller)
{
    return end_comm(words[0], true, PASS(pass1, Comm_disconnect), frame, caller);
}

int sg_wrap_comm_disconnect(sg_word comm)
{
    return counted(SG_FUNCTION_Comm_disconnect, &comm, disconnect, __builtin_frame_address(0),
                   __builtin_return_address(0));
}
int mpi_comm_disconnect(sg_word comm) EXPORTS("MPI_Comm_disconnect", sg_wrap_comm_disconnect);

/* ---- duplicates of communicators ---- */

static int dup(sg_word comm, sg_word copy)
{
    static void *_Atomic known;
    MPI_Request request;
    pass2 next;

    *(void **)&next = sg_real_find_once(&known, "MPI_Comm_dup");
    if (copy == 0 || !sg_test_loop_begin_collective((MPI_Comm)comm)) {
        sg_turn_begin_wait();
        return next != NULL ? next(comm, copy) : MPI_ERR_OTHER;
    }
    return sg_test_loop_complete(sg_real.Comm_idup((MPI_Comm)comm, (MPI_Comm *)copy, &request),
                                 &request, (MPI_Comm)comm, MPI_STATUS_IGNORE);
}

static int dup_and_begin(const sg_word *words, void *frame, void *caller)
{
    int error = dup(words[0], words[1]);

    if (error == MPI_SUCCESS && sg_sliced_is_on())
        sg_sliced_begin(*(MPI_Comm *)words[1]);
    return error;
}

int sg_wrap_comm_dup(sg_word comm, sg_word copy)
{
    sg_word words[] = {comm, copy};

    return counted(SG_FUNCTION_Comm_dup, words, dup_and_begin, __builtin_frame_address(0),
                   __builtin_return_address(0));
}
int mpi_comm_dup(sg_word comm, sg_word copy) EXPORTS("MPI_Comm_dup", sg_wrap_comm_dup);

/* ---- collectives ---- */

static int pass_barrier(const struct sg_call *call)
{
    MPI_Request request;

    if (!sg_test_loop_begin_collective(call->comm))
        return sg_real.Barrier(call->comm);
    return sg_test_loop_complete(sg_real.Ibarrier(call->comm, &request), &request, call->comm,
                                 MPI_STATUS_IGNORE);
}

int sg_wrap_barrier(sg_word comm, void *caller)
{
    struct sg_call call;

    if (!sg_process_running())
        return PASS(pass1, Barrier)(comm);
    sg_wrap_fill(&call, SG_OPERATION_BARRIER, 0, 0, 0, 0, 0, -1, comm, NULL, pass_barrier);
    return sg_dispatch(&call, caller);
}

static int pass_ibarrier(const struct sg_call *call)
{
    return sg_real.Ibarrier(call->comm, call->request);
}

int sg_wrap_ibarrier(sg_word comm, sg_word request, void *caller)
{
    struct sg_call call;

    if (!sg_process_running() || request == 0)
        return PASS(pass2, Ibarrier)(comm, request);
    sg_wrap_fill(&call, SG_OPERATION_BARRIER, 0, 0, 0, 0, 0, -1, comm, (MPI_Request *)request,
                 pass_ibarrier);
    return sg_dispatch(&call, caller);
}

/* Take the caller here, one frame below the application. */
int mpi_barrier(sg_word comm) SG_INTERCEPTS("MPI_Barrier");
int mpi_barrier(sg_word comm)
{
    return sg_wrap_barrier(comm, __builtin_return_address(0));
}

int mpi_ibarrier(sg_word comm, sg_word request) SG_INTERCEPTS("MPI_Ibarrier");
int mpi_ibarrier(sg_word comm, sg_word request)
{
    return sg_wrap_ibarrier(comm, request, __builtin_return_address(0));
}

/* ---- requests ---- */

static int wait_for(const sg_word *words, void *frame, void *caller)
{
    sg_word request = words[0], status = words[1];
    int error;

    if (sg_process_running() && request != 0)
        sg_request_wait(*(MPI_Request *)request);
    if (request != 0 && sg_test_loop_begin())
        return sg_test_loop_wait(request, status);
    sg_wakes_begin_wait();
    error = PASS(pass2, Wait)(request, status);
    sg_wakes_end_wait();
    return error;
}

int mpi_wait(sg_word request, sg_word status) SG_INTERCEPTS("MPI_Wait");
int mpi_wait(sg_word request, sg_word status)
{
    sg_word words[] = {request, status};

    return counted(SG_FUNCTION_Wait, words, wait_for, __builtin_frame_address(0),
                   __builtin_return_address(0));
}

static int get_status(const sg_word *words, void *frame, void *caller)
{
    if (sg_process_running())
        sg_request_poll((MPI_Request)words[0]);
    return PASS(pass3, Request_get_status)(words[0], words[1], words[2]);
}

int mpi_request_get_status(sg_word request, sg_word flag, sg_word status)
    SG_INTERCEPTS("MPI_Request_get_status");
int mpi_request_get_status(sg_word request, sg_word flag, sg_word status)
{
    sg_word words[] = {request, flag, status};

    return counted(SG_FUNCTION_Request_get_status, words, get_status, __builtin_frame_address(0),
                   __builtin_return_address(0));
}

void sg_wrap_poll(int count, const MPI_Request *requests)
{
    if (!sg_process_running() || requests == NULL)
        return;
    for (int i = 0; i < count; i++)
        sg_request_poll(requests[i]);
}
