/* Shares rank 0's settings, calibrates, and loads the companion libraries (settings.h). After each
 * step all ranks agree whether it succeeded on every rank.
 */
#include "runtime/settings.h"

#include "core/imports.h"
#include "intranode/calibrate.h"
#include "intranode/memory.h"
#include "progress/progress.h"
#include "rule/trial.h"
#include "transport/verbs/verbs.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes the flagged ranks as "1, 3-5", with "..." if the text would be too long. */
static void list_ranks(const bool *flags, int count, char *text, size_t size_bytes)
{
    size_t used = 0;

    text[0] = '\0';
    for (int rank = 0; rank < count; rank++) {
        int last = rank;

        if (!flags[rank])
            continue;
        while (last + 1 < count && flags[last + 1])
            last++;
        if (used + 48 > size_bytes) {
            snprintf(text + used, size_bytes - used, ", ...");
            return;
        }
        used += (size_t)snprintf(text + used, size_bytes - used, last > rank ? "%s%d-%d" : "%s%d",
                                 used > 0 ? ", " : "", rank, last);
        rank = last;
    }
}

/* Rank 0 compares all texts with its own and warns once. */
static void compare(const char *all, const size_t *sizes, int count)
{
    bool *differs = calloc((size_t)count, sizeof *differs);
    const char *text = all;
    int different = 0;
    char ranks[160];

    if (differs == NULL)
        return;
    for (int rank = 0; rank < count; rank++) {
        differs[rank] = sizes[rank] != sizes[0] || memcmp(text, all, sizes[0]) != 0;
        different += differs[rank];
        text += sizes[rank];
    }
    if (different > 0) {
        list_ranks(differs, count, ranks, sizeof ranks);
        sg_log("rules or settings of rank%s %s differ from rank 0's; rank 0's apply to all ranks",
               different > 1 ? "s" : "", ranks);
    }
    free(differs);
}

/* Gathers all texts at rank 0 and broadcasts rank 0's. */
static enum sg_status share_text(struct sg_process *process, char *own, char **shared)
{
    const struct sg_exchange *exchange = &process->exchange;
    size_t *sizes = calloc((size_t)process->size, sizeof *sizes);
    void *all = NULL;
    void *text = own;
    size_t length = strlen(own) + 1;
    enum sg_status status;

    if (sizes == NULL)
        abort();
    status = exchange->gather(exchange->context, own, length, &all, sizes);
    if (status == SG_OK && process->rank == 0)
        compare(all, sizes, process->size);
    free(all);
    free(sizes);
    if (status == SG_OK)
        status = sg_exchange_share(exchange, &text, &length);
    if (status == SG_OK)
        *shared = text;
    return status;
}

enum sg_status sg_settings_agree(struct sg_process *process)
{
    bool speak = process->rank == 0;
    enum sg_status status = sg_config_read(&process->config, speak);
    char *own = status == SG_OK ? sg_config_text(&process->config) : NULL;
    char *shared = NULL;
    int first_failed;

    if (sg_exchange_agree(&process->exchange, own != NULL, &first_failed) != SG_OK ||
        first_failed >= 0)
        status = SG_ERR_MEMORY;
    if (status == SG_OK)
        status = share_text(process, own, &shared);
    if (status == SG_OK && process->rank != 0) {
        sg_config_clear(&process->config);
        status = sg_config_parse(shared, &process->config);
        free(shared);
    }
    free(own);
    if (status == SG_OK)
        status = sg_ruleset_create(&process->config, speak, &process->rules);
    if (sg_exchange_agree(&process->exchange, status == SG_OK, &first_failed) != SG_OK ||
        first_failed >= 0)
        return SG_ERR_MEMORY;
    process->has_trials = sg_trial_count(process->rules) > 0;
    for (int operation = 0; operation < SG_OPERATION_COUNT; operation++)
        process->by_site[operation] =
            sg_ruleset_depends_on_site(process->rules, (enum sg_operation)operation);
    return SG_OK;
}

/* Approximate limit of the time that calibration adds to MPI_Init. */
#define WITHIN_NS UINT64_C(4000000)

/* Returns the first rank other than 0 that is on rank 0's node (or is not on it); -1: none. */
static int find_partner(int size, bool on_node)
{
    for (int rank = 1; rank < size; rank++) {
        if ((sg_placement_node(rank) == sg_placement_node(0)) == on_node)
            return rank;
    }
    return -1;
}

/* Returns the number of ranks on rank 0's machine. These ranks listen, and so does far. */
static int mark_listeners(int size, int far, bool *listens)
{
    int near_ranks = 0;

    for (int rank = 0; rank < size; rank++) {
        listens[rank] = sg_placement_machine(rank) == sg_placement_machine(0);
        near_ranks += listens[rank];
    }
    if (far >= 0)
        listens[far] = true;
    return near_ranks;
}

/* Slices need several nodes: with one node there are none. */
static void check_slices(const struct sg_process *process, const struct sg_calibration *result)
{
    double wake_us = result->value[SG_CALIBRATED_WAKE];
    int64_t slice_us;

    if (process->rank == 0 && sg_ruleset_is_slice_short(process->rules, wake_us, &slice_us))
        sg_log("bcs(slice=%lld): slices are shorter than four wake-ups of this machine (%.0f us "
               "each) and will start late",
               (long long)slice_us, wake_us);
}

void sg_calibrate_run(struct sg_process *process)
{
    bool *listens = calloc((size_t)process->size, sizeof *listens);
    struct sg_calibrate setup = {.exchange = &process->exchange,
                                 .within_ns = WITHIN_NS,
                                 .near = find_partner(process->size, true),
                                 .far = find_partner(process->size, false),
                                 .listens = listens};
    struct sg_calibration result;
    int first_failed;

    if (sg_exchange_agree(&process->exchange, listens != NULL, &first_failed) == SG_OK &&
        first_failed < 0) {
        setup.companion = setup.near;
        if (setup.near < 0 && setup.far >= 0 &&
            sg_placement_machine(setup.far) == sg_placement_machine(0))
            setup.companion = setup.far;
        setup.ranks = mark_listeners(process->size, setup.far, listens);
        if (process->config.progress == SG_PROGRESS_SIGNAL)
            setup.signal = process->config.signal;
        if (sg_calibrate(&setup, &result) == SG_OK) {
            memcpy(sg_log_header(process->log)->calibration, result.value, sizeof result.value);
            if (setup.far >= 0)
                check_slices(process, &result);
        }
    }
    free(listens);
}

#define COMPANION_NAME "libstagger-otf2.so"

/* Names of libunwind 1.x on this machine, newest first. */
static const char *const unwind_names[] = {"libunwind.so.8", "libunwind.so"};

/* Loads it from the directory of libstagger.so. NULL, with the reason, if it cannot be loaded. */
static const struct sg_companion *load_companion(const char **reason)
{
    const struct sg_companion *companion =
        sg_companion_load_own(&sg_process, COMPANION_NAME, SG_COMPANION_SYMBOL, reason);

    if (companion == NULL)
        return NULL;
    if (companion->version != SG_LOG_VERSION) {
        *reason = COMPANION_NAME " has another version than libstagger.so";
        return NULL;
    }
    return companion;
}

static void load_unwind(struct sg_process *process)
{
    for (size_t i = 0; i < sizeof unwind_names / sizeof *unwind_names; i++) {
        void *handle = dlopen(unwind_names[i], RTLD_NOW | RTLD_LOCAL);

        if (handle == NULL)
            continue;
        *(void **)&process->backtrace = dlsym(handle, "unw_backtrace");
        if (process->backtrace != NULL)
            return;
    }
}

void sg_libraries_load(struct sg_process *process)
{
    const char *reason = NULL;
    int first_without = -1;

    load_unwind(process);
    if (sg_exchange_agree(&process->exchange, process->backtrace != NULL, &first_without) ==
            SG_OK &&
        first_without == process->rank)
        sg_log("rank %d: cannot load libunwind: calls from Fortran have no call site",
               process->rank);
    process->companion = load_companion(&reason);
    if (sg_exchange_agree(&process->exchange, process->companion != NULL, &first_without) != SG_OK)
        first_without = 0;
    if (first_without == process->rank)
        sg_log("rank %d: %s; run `stagger recover` to make the archive", process->rank,
               reason ? reason : "unknown reason");
    if (first_without >= 0)
        process->companion = NULL;
}

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
        *reason = SG_VERBS_LIBRARY " has another version than libstagger.so";
        return NULL;
    }
    return table;
}

/* Collective. *first_without: the first rank without a device; -1: all have one. */
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
    const char *reason = "unknown reason";
    int first_without = -1;
    enum sg_status status;

    if (!has_several_machines(process) || !sg_memory_is_shared())
        return SG_OK;
    status = start(process, &reason, &first_without);
    if (status == SG_OK && first_without < 0)
        return share_hosts(exchange);
    if (first_without == process->rank)
        sg_log("rank %d: no RDMA (%s): MPICH runs collectives between machines or containers",
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

struct sg_process sg_process;
