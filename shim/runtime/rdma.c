#include "runtime/rdma.h"

#include "core/companion.h"
#include "intranode/memory.h"
#include "intranode/placement.h"
#include "transport/verbs/verbs.h"

#include <stdlib.h>
#include <unistd.h>

#define HOST_BYTES 64

static const struct sg_verbs *verbs; /* NULL: not used */
static char (*hosts)[HOST_BYTES];    /* by world rank; kept until the process ends */

static bool has_several_machines(const struct sg_process *process)
{
    for (int rank = 1; rank < process->size; rank++) {
        if (sg_placement_machine(rank) != sg_placement_machine(0))
            return true;
    }
    return false;
}

static const struct sg_verbs *load(const char **reason)
{
    const struct sg_verbs *table =
        sg_companion_load_own(&sg_process, SG_VERBS_LIBRARY, SG_VERBS_SYMBOL, reason);

    if (table != NULL && table->version != SG_VERBS_VERSION) {
        *reason = SG_VERBS_LIBRARY " is of another version";
        return NULL;
    }
    return table;
}

/* Collective. first_without: the first rank without a device; -1: all have one. */
static enum sg_status start(const struct sg_process *process, const char **reason,
                            int *first_without)
{
    struct sg_verbs_settings settings = sg_verbs_settings(&process->config);
    enum sg_status status;
    bool started;

    verbs = load(reason);
    status = sg_exchange_agree(&process->exchange, verbs != NULL, first_without);
    if (status != SG_OK || *first_without >= 0) {
        verbs = NULL; /* nothing has been started */
        return status;
    }
    started = verbs->start(&settings, &process->exchange, reason);
    return sg_exchange_agree(&process->exchange, started, first_without);
}

static enum sg_status share_hosts(const struct sg_exchange *exchange)
{
    char own[HOST_BYTES] = "";
    void *all;
    enum sg_status status;

    gethostname(own, sizeof own - 1);
    status = sg_exchange_collect(exchange, own, sizeof own, &all);
    if (status == SG_OK) {
        free(hosts);
        hosts = all;
    }
    return status;
}

enum sg_status sg_rdma_start(const struct sg_process *process)
{
    const struct sg_exchange *exchange = &process->exchange;
    const char *reason = "no reason known";
    int first_without = -1;
    enum sg_status status;

    if (!has_several_machines(process) || !sg_memory_is_shared())
        return SG_OK;
    status = start(process, &reason, &first_without);
    if (status == SG_OK && first_without < 0)
        return share_hosts(exchange);
    if (first_without == process->rank)
        sg_log("rank %d: no RDMA (%s): collectives between machines or containers pass through",
               process->rank, reason);
    sg_rdma_stop();
    return status;
}

const struct sg_transport_ops *sg_rdma_ops(void)
{
    return verbs != NULL ? verbs->ops : NULL;
}

const char *sg_rdma_host(int world_rank)
{
    return hosts[world_rank];
}

void sg_rdma_stop(void)
{
    if (verbs != NULL)
        verbs->stop();
    verbs = NULL;
}

void sg_rdma_forget(void)
{
    if (verbs != NULL)
        verbs->forget();
    verbs = NULL;
}
