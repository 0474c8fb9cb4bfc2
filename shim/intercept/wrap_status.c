/* MPI 4.1's MPI_Request_get_status_any, _some and _all: like MPI_Request_get_status they do not
 * poll generalized requests, as which nonblocking collectives run. MPICH has them from 4.2 on, some
 * releases as MPIX_; they are looked up when they are first called.
 */
#include "intercept/process.h"
#include "internode/request.h"
#include "mpi/real.h"

#include <stdatomic.h>

typedef int (*pass4)(sg_word, sg_word, sg_word, sg_word);
typedef int (*pass5)(sg_word, sg_word, sg_word, sg_word, sg_word);

/* What an MPI without the function says of it; another than MPICH is never asked for it. */
#define MISSING MPI_ERR_OTHER

int status_all(sg_word count, sg_word requests, sg_word flag, sg_word statuses)
    SG_INTERCEPTS("MPI_Request_get_status_all");
int status_any(sg_word count, sg_word requests, sg_word index, sg_word flag, sg_word status)
    SG_INTERCEPTS("MPI_Request_get_status_any");
int status_some(sg_word count, sg_word requests, sg_word done, sg_word indices, sg_word statuses)
    SG_INTERCEPTS("MPI_Request_get_status_some");
int x_status_all(sg_word count, sg_word requests, sg_word flag, sg_word statuses)
    SG_INTERCEPTS("MPIX_Request_get_status_all");
int x_status_any(sg_word count, sg_word requests, sg_word index, sg_word flag, sg_word status)
    SG_INTERCEPTS("MPIX_Request_get_status_any");
int x_status_some(sg_word count, sg_word requests, sg_word done, sg_word indices, sg_word statuses)
    SG_INTERCEPTS("MPIX_Request_get_status_some");

static void *find(void *_Atomic *known, const char *symbol)
{
    void *function = atomic_load_explicit(known, memory_order_relaxed);

    if (function == NULL) {
        sg_real_is_mpich();
        function = sg_real_find(symbol);
        atomic_store_explicit(known, function, memory_order_relaxed);
    }
    return function;
}

static void poll_all(int count, const MPI_Request *requests)
{
    if (!sg_process_running() || requests == NULL)
        return;
    for (int i = 0; i < count; i++)
        sg_request_poll(requests[i]);
}

static int get_all(pass4 pass, sg_word count, sg_word requests, sg_word flag, sg_word statuses)
{
    poll_all((int)count, (const MPI_Request *)requests);
    return pass != NULL ? pass(count, requests, flag, statuses) : MISSING;
}

/* Of any and of some, whose results differ. */
static int get_few(pass5 pass, sg_word count, sg_word requests, sg_word first, sg_word second,
                   sg_word third)
{
    poll_all((int)count, (const MPI_Request *)requests);
    return pass != NULL ? pass(count, requests, first, second, third) : MISSING;
}

int status_all(sg_word count, sg_word requests, sg_word flag, sg_word statuses)
{
    static void *_Atomic known;

    return get_all((pass4)find(&known, "PMPI_Request_get_status_all"), count, requests, flag,
                   statuses);
}

int status_any(sg_word count, sg_word requests, sg_word index, sg_word flag, sg_word status)
{
    static void *_Atomic known;

    return get_few((pass5)find(&known, "PMPI_Request_get_status_any"), count, requests, index, flag,
                   status);
}

int status_some(sg_word count, sg_word requests, sg_word done, sg_word indices, sg_word statuses)
{
    static void *_Atomic known;

    return get_few((pass5)find(&known, "PMPI_Request_get_status_some"), count, requests, done,
                   indices, statuses);
}

int x_status_all(sg_word count, sg_word requests, sg_word flag, sg_word statuses)
{
    static void *_Atomic known;

    return get_all((pass4)find(&known, "PMPIX_Request_get_status_all"), count, requests, flag,
                   statuses);
}

int x_status_any(sg_word count, sg_word requests, sg_word index, sg_word flag, sg_word status)
{
    static void *_Atomic known;

    return get_few((pass5)find(&known, "PMPIX_Request_get_status_any"), count, requests, index,
                   flag, status);
}

int x_status_some(sg_word count, sg_word requests, sg_word done, sg_word indices, sg_word statuses)
{
    static void *_Atomic known;

    return get_few((pass5)find(&known, "PMPIX_Request_get_status_some"), count, requests, done,
                   indices, statuses);
}
