#include "engine/report.h"

#include "core/status.h"
#include "engine/real.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* As much as sg_log takes. */
#define LINE_BYTES 1000

void sg_report_line(void (*observed)(const char *text), const char *format, ...)
{
    char text[LINE_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sg_log("%s", text);
    observed(text);
}

static const char *function_of(enum sg_operation operation, bool posted)
{
    return posted ? sg_operation_post_regions[operation] : sg_operation_regions[operation];
}

const char *sg_report_function(const struct sg_call *call)
{
    return function_of(call->operation, call->request != NULL);
}

const char *sg_report_call(const struct sg_node_about *about, char text[SG_REPORT_CALL_BYTES])
{
    size_t size_bytes = SG_REPORT_CALL_BYTES;
    int used = snprintf(text, size_bytes, "%s",
                        about->operation < SG_OPERATION_COUNT
                            ? function_of((enum sg_operation)about->operation, about->posted)
                            : "a collective");

    if (about->operation != SG_OPERATION_BARRIER)
        used += snprintf(text + used, size_bytes - (size_t)used, " of %llu bytes",
                         (unsigned long long)about->bytes);
    if (about->root >= 0)
        used += snprintf(text + used, size_bytes - (size_t)used, " to root %d", about->root);
    snprintf(text + used, size_bytes - (size_t)used, " at %s+0x%llx #%08x",
             about->module[0] ? about->module : "?", (unsigned long long)about->offset,
             about->site);
    return text;
}

static bool is_first(_Atomic uint64_t *told, enum sg_operation operation, int one, int other)
{
    uint64_t low = (uint64_t)(one < other ? one : other);
    uint64_t high = (uint64_t)(one < other ? other : one);
    uint64_t pair = (low << 32 | high) << 2 | (uint64_t)operation;

    for (int i = 0; i < SG_NODE_WARNED; i++) {
        uint64_t seen = 0;

        if (atomic_compare_exchange_strong(&told[i], &seen, pair))
            return true;
        if (seen == pair)
            return false;
    }
    return false;
}

void sg_report_choice(_Atomic uint64_t told[SG_NODE_WARNED], const struct sg_call *call, int rank,
                      int own, int chosen, int chooser)
{
    if (own == chosen || !is_first(told, call->operation, own, chosen))
        return;
    sg_report_line(
        sg_observed_mismatch,
        "%s at %s+0x%llx #%08x of rank %d: a rule says %s, but rank %d reached the same instance "
        "from another call site, whose rule says %s and is followed",
        sg_report_function(call), call->site->module ? call->site->module : "?",
        (unsigned long long)call->site->offset, call->site->id, rank, sg_algorithms[own].name,
        chooser, sg_algorithms[chosen].name);
}

void sg_report_mismatch(const struct sg_call *call, int rank, const struct sg_node_about *own,
                        int other_rank, const struct sg_node_about *other)
{
    char texts[2][SG_REPORT_CALL_BYTES];

    sg_report_line(
        sg_observed_mismatch,
        "ranks of one communicator disagree on a collective: rank %d is in %s, rank %d in %s; "
        "the job ends",
        rank, sg_report_call(own, texts[0]), other_rank,
        other != NULL ? sg_report_call(other, texts[1]) : "another that it has left");
    sg_log_drain();
    sg_real.Abort(call->comm, 1);
    abort();
}
