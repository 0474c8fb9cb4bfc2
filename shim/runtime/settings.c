#include "runtime/settings.h"

#include "rule/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The flagged ranks as "1, 3-5", cut with "..." when the text grows long. */
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

/* Rank 0: compares all texts with its own and warns once. */
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
        sg_log("rules or settings of rank%s %s differ from rank 0's, which apply to all",
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
