/* Matches what origins and targets tell of MPI_Win_start, complete, post and wait: between an
 * origin and a target, on a window, the nth start with the nth post. A call waits for the last of
 * the ranks that it synchronises with.
 *
 * Where recording was off for a while one side lacks some. Then later ones match wrongly, but a
 * start or complete that was over before the post, and a wait before the complete, did not wait for
 * it: nothing is told rather than something wrong.
 *
 * As in tracker.h. Functions that return a status: SG_ERR_MEMORY only, not logged.
 */
#ifndef SG_REPORT_WAITSTATES_EPOCHS_H
#define SG_REPORT_WAITSTATES_EPOCHS_H

#include "core/status.h"
#include "report/waitstates/operations.h"
#include "report/waitstates/settle.h"
#include "report/waitstates/table.h"

struct sg_waitstate_epochs {
    struct sg_waitstate_settling *settling;
    struct sg_link_table open;
    uint64_t begun;
};

/* What the call is to the group its function says; nothing of other functions. */
enum sg_status sg_waitstate_epochs_add(struct sg_waitstate_epochs *epochs,
                                       struct sg_waitstate_call *call,
                                       const struct sg_waitstate_group *group);
/* Those that are not over: tells what is known of them. */
enum sg_status sg_waitstate_epochs_finish(struct sg_waitstate_epochs *epochs);

#endif
