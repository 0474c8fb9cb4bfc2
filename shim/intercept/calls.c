#include "intercept/calls.h"

#include "causes/causes.h"
#include "core/tick.h"
#include "intercept/comm.h"
#include "intercept/comm_setup.h"
#include "intercept/emds.h"
#include "intercept/passing.h"
#include "intercept/past.h"
#include "intercept/sliced.h"
#include "intercept/test_loop.h"
#include "intercept/trace_events.h"
#include "intercept/trial.h"
#include "internode/request.h"
#include "mpi/real.h"
#include "profile/events.h"
#include "profile/profile.h"
#include "profile/thread.h"
#include "runtime/process.h"

static bool may_use_threads(void)
{
    int provided = MPI_THREAD_MULTIPLE;

    sg_real.Query_thread(&provided);
    return provided == MPI_THREAD_MULTIPLE;
}

static enum sg_status start(void)
{
    sg_thread_number(); /* the calling thread is thread 0 */
    if (sg_process.log != NULL) {
        sg_trial_record(&sg_process);
        sg_trace_events_start();
        sg_profile_start(may_use_threads());
        sg_emds_start();
    }
    if (sg_test_loop_start(&sg_process.exchange, sg_passing_is_direct) != SG_OK)
        return SG_ERR_SYSTEM;
    if (sg_comm_start(sg_sliced_choose()) != SG_OK)
        return SG_ERR_SYSTEM;
    sg_sliced_start();
    return SG_OK;
}

static void finish(void)
{
    uint64_t begin_ns;

    sg_causes_stop();
    begin_ns = sg_tick_ns();
    sg_sliced_stop();
    sg_test_loop_stop();
    if (sg_process.log != NULL && sg_process_speaks())
        sg_past_report();
    sg_profile_stop(begin_ns);
    sg_events_settle(__builtin_frame_address(0));
    if (sg_process.log != NULL)
        sg_log_header(sg_process.log)->finalize_begin_ns = begin_ns;
    /* Before anything collective: ranks may still be in a reduce that waits for this one. */
    sg_comm_drain();
    sg_request_reap();
    sg_trial_stop(&sg_process);
    if (sg_process.log != NULL)
        sg_trace_events_stop();
}

const struct sg_process_calls sg_calls = {start, finish, sg_comm_stop};
