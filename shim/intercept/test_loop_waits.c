/* Waits. MPI_Test, MPI_Testany and MPI_Testsome complete, fill statuses and raise errors as
 * MPI_Wait, MPI_Waitany and MPI_Waitsome do; MPI_Testall does not as MPI_Waitall does, which
 * goes through its requests in order, up to the first with an error. So a wait for all is one
 * for some of one, for each in turn.
 */
#include "intercept/test_loop.h"
#include "intercept/test_loop_messages.h"
#include "internode/request.h"

int sg_loop_Wait(sg_word request, sg_word status)
{
    int done = 0, error;

    for (;;) {
        error = sg_real.Test((MPI_Request *)request, &done, (MPI_Status *)status);
        if (done || error != MPI_SUCCESS)
            return error;
        sg_turn_idle();
    }
}

int sg_loop_Waitany(sg_word count, sg_word requests, sg_word index, sg_word status)
{
    int done = 0, error;

    for (;;) {
        error = sg_real.Testany((int)count, (MPI_Request *)requests, (int *)index, &done,
                                (MPI_Status *)status);
        if (done || error != MPI_SUCCESS)
            return error;
        sg_turn_idle();
    }
}

int sg_loop_Waitsome(sg_word count, sg_word requests, sg_word done, sg_word indices,
                     sg_word statuses)
{
    int error;

    for (;;) {
        error = sg_real.Testsome((int)count, (MPI_Request *)requests, (int *)done, (int *)indices,
                                 (MPI_Status *)statuses);
        if (error != MPI_SUCCESS || *(int *)done != 0 || count == 0)
            return error;
        sg_turn_idle();
    }
}

/* ---- all ---- */

struct all {
    int count, next; /* the first that is not complete */
    MPI_Request *requests;
    MPI_Status *statuses;
    int turn;
};

static MPI_Status *status_of(const struct all *all, int i)
{
    return all->statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &all->statuses[i];
}

static void set_error(const struct all *all, int i, int error)
{
    if (all->statuses != MPI_STATUSES_IGNORE)
        all->statuses[i].MPI_ERROR = error;
}

/* Generalized requests come on where they are tested, and other ranks may wait for that before
 * they send what is waited for first: the ones behind it have their turns. What never completes
 * is beside them, so that the test completes none, but for one that has failed, where MPICH
 * looks for that. */
static int poll_another(struct all *all)
{
    int others = all->count - all->next - 1, done, error;
    MPI_Request pair[2] = {MPI_REQUEST_NULL, sg_test_loop_endless()};
    MPI_Status statuses[2];
    int i;

    if (others == 0 || pair[1] == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    i = all->next + 1 + all->turn++ % others;
    pair[0] = all->requests[i];
    if (pair[0] == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    error = sg_real.Testall(2, pair, &done, statuses);
    if (error == MPI_SUCCESS)
        return error;
    all->requests[i] = pair[0];
    for (int other = all->next; other < all->count; other++)
        set_error(all, other, MPI_ERR_PENDING);
    if (all->statuses != MPI_STATUSES_IGNORE)
        all->statuses[i] = statuses[0];
    return error;
}

/* One request, of which MPI_Testsome says that it is not active: MPI_Test gives its status. */
static int complete_inactive(struct all *all)
{
    bool is_null = all->requests[all->next] == MPI_REQUEST_NULL;
    int done;
    int error = sg_real.Test(&all->requests[all->next], &done, status_of(all, all->next));

    if (error == MPI_SUCCESS && !is_null)
        set_error(all, all->next, MPI_SUCCESS);
    return error;
}

static void leave_others(struct all *all)
{
    for (int i = all->next + 1; i < all->count; i++)
        set_error(all, i, all->requests[i] == MPI_REQUEST_NULL ? MPI_SUCCESS : MPI_ERR_PENDING);
}

static int complete_next(struct all *all)
{
    int done = 0, index, error;

    if (all->requests[all->next] == MPI_REQUEST_NULL)
        return complete_inactive(all);
    for (;;) {
        error = sg_real.Testsome(1, &all->requests[all->next], &done, &index,
                                 all->statuses == MPI_STATUSES_IGNORE ? MPI_STATUSES_IGNORE
                                                                      : &all->statuses[all->next]);
        if (error != MPI_SUCCESS) {
            leave_others(all);
            return error;
        }
        if (done == MPI_UNDEFINED)
            return complete_inactive(all);
        if (done != 0)
            break;
        error = poll_another(all);
        if (error != MPI_SUCCESS)
            return error;
        sg_turn_idle();
    }
    set_error(all, all->next, MPI_SUCCESS);
    return MPI_SUCCESS;
}

int sg_loop_Waitall(sg_word count, sg_word requests, sg_word statuses)
{
    struct all all = {.count = (int)count,
                      .requests = (MPI_Request *)requests,
                      .statuses = (MPI_Status *)statuses};
    int error = MPI_SUCCESS;

    if (all.count <= 0 || requests == 0)
        return sg_real.Waitall(all.count, all.requests, all.statuses);
    for (int i = 0; i < all.count; i++)
        sg_request_wait(all.requests[i]);
    for (; all.next < all.count && error == MPI_SUCCESS; all.next++)
        error = complete_next(&all);
    return error;
}
