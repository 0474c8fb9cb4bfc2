#include "intercept/wire.h"

#include "core/beside.h"
#include "intranode/memory.h"
#include "intranode/placement.h"
#include "transport/verbs/verbs.h"

#include <stdlib.h>
#include <unistd.h>

#define HOST_BYTES 64

static const struct sg_verbs *verbs; /* NULL: not used */
static char (*hosts)[HOST_BYTES];    /* by world rank; kept to the end of the process */

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
        sg_beside_load_own(&sg_process, SG_VERBS_LIBRARY, SG_VERBS_SYMBOL, reason);

    if (table != NULL && table->version != SG_VERBS_VERSION) {
        *reason = SG_VERBS_LIBRARY " is of another version";
        return NULL;
    }
    return table;
}

static bool start(const struct sg_config *config, const char **reason)
{
    struct sg_verbs_settings settings = sg_verbs_settings(config);

    verbs = load(reason);
    if (verbs != NULL && verbs->start(&settings, reason))
        return true;
    verbs = NULL;
    return false;
}

static enum sg_status share_hosts(const struct sg_exchange *exchange)
{
    char own[HOST_BYTES] = "";
    size_t count = (size_t)exchange->size, bytes = count * sizeof own;
    size_t *sizes = calloc(count, sizeof *sizes);
    void *all = NULL;
    enum sg_status status = SG_ERR_MEMORY;

    gethostname(own, sizeof own - 1);
    if (sizes != NULL)
        status = exchange->gather(exchange->context, own, sizeof own, &all, sizes);
    free(sizes);
    if (status == SG_OK)
        status = sg_exchange_share(exchange, &all, &bytes);
    if (status == SG_OK) {
        free(hosts);
        hosts = all;
    }
    return status;
}

enum sg_status sg_wire_start(const struct sg_process *process)
{
    const struct sg_exchange *exchange = &process->exchange;
    const char *reason = "no reason known";
    int first_without;
    bool started;
    enum sg_status status;

    if (!has_several_machines(process) || !sg_memory_is_shared())
        return SG_OK;
    started = start(&process->config, &reason);
    status = sg_exchange_agree(exchange, started, &first_without);
    if (status == SG_OK && first_without < 0)
        return share_hosts(exchange);
    if (first_without == process->rank)
        sg_log("rank %d: no RDMA (%s): collectives between machines or containers pass through",
               process->rank, reason);
    sg_wire_stop();
    return status;
}

const struct sg_transport_ops *sg_wire_ops(void)
{
    return verbs != NULL ? verbs->ops : NULL;
}

const char *sg_wire_host(int world_rank)
{
    return hosts[world_rank];
}

void sg_wire_stop(void)
{
    if (verbs != NULL)
        verbs->stop();
    verbs = NULL;
}

void sg_wire_forget(void)
{
    if (verbs != NULL)
        verbs->forget();
    verbs = NULL;
}
