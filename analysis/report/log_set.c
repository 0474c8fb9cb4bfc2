/* All logs of a run together, and the contents of their headers. */
#include "report/source_stats.h"
#include "trace/record.h"

#include <stdlib.h>

/* ---- the set --------------------------------------------------------------------------------- */

enum sg_status sg_log_set_open(const char *directory, struct sg_log_set *out)
{
    struct sg_log_set set = {0};
    enum sg_status status =
        sg_logread_open_all(directory, &set.logs, &set.count, &set.world_size, &set.missing);

    if (status == SG_OK)
        *out = set;
    return status;
}

void sg_log_set_close(struct sg_log_set *set)
{
    for (int i = 0; i < set->count; i++)
        sg_logread_close(set->logs[i]);
    free(set->logs);
    *set = (struct sg_log_set){0};
}

void sg_log_set_facts(const struct sg_log_set *set, struct sg_log_facts *out)
{
    struct sg_log_facts facts = {.complete = set->missing == 0,
                                 .living = sg_logread_count_living(set->logs, set->count)};

    for (int i = 0; i < set->count; i++) {
        const struct sg_log_header *header = sg_logread_header(set->logs[i]);
        struct sg_waiting waiting;

        if (facts.program == NULL && header->program[0] != '\0')
            facts.program = header->program;
        facts.any_otf2 |= header->trace_mode == SG_TRACE_OTF2;
        facts.complete &=
            atomic_load_explicit(&header->state, memory_order_relaxed) == SG_LOG_FINALIZED;
        facts.complete &= sg_logread_damaged(set->logs[i]) == 0;
        facts.unmanaged_calls +=
            atomic_load_explicit(&header->unmanaged_calls, memory_order_relaxed);
        facts.unmanaged_nonblocking +=
            atomic_load_explicit(&header->unmanaged_nonblocking, memory_order_relaxed);
        facts.overhead_calls += atomic_load_explicit(&header->overhead_calls, memory_order_relaxed);
        facts.overhead_ns += atomic_load_explicit(&header->overhead_ns, memory_order_relaxed);
        facts.overhead_long_calls +=
            atomic_load_explicit(&header->overhead_long_calls, memory_order_relaxed);
        sg_logread_waiting(set->logs[i], &waiting);
        sg_waiting_add(&facts.waiting, &waiting, header->host);
    }
    *out = facts;
}

static enum sg_status learn_of(struct sg_logread *log, struct sg_learned *learned)
{
    uint32_t rank = (uint32_t)sg_logread_header(log)->rank;
    enum sg_status status = SG_OK;
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    while (status == SG_OK && (record = sg_logread_next(log, &slot, &kind)) != NULL) {
        const struct sg_record_marker *marker = record;
        char *text;

        if (kind != SG_RECORD_MARKER || marker->marker != SG_MARKER_LEARNED)
            continue;
        text = sg_logread_text(log, record, marker->text_bytes);
        status = text != NULL ? sg_learned_add(learned, rank, text) : SG_ERR_MEMORY;
        free(text);
    }
    return status;
}

enum sg_status sg_log_set_learned(const struct sg_log_set *set, struct sg_learned *learned)
{
    enum sg_status status = SG_OK;

    for (int i = 0; i < set->count && status == SG_OK; i++)
        status = learn_of(set->logs[i], learned);
    if (status != SG_OK)
        sg_log("statistics: %s", sg_status_text(status));
    return status;
}
