/* What a user reads when ranks of several nodes wait for ever or disagree. */
#include "engine/real.h"
#include "engine/span_layout.h"

#include <stdio.h>
#include <stdlib.h>

#define RANKS_NAMED 16
#define TEXT_BYTES 4096

/* Appends; the text stays whole when it is full. */
static void append(char *text, int *used, const char *format, int rank,
                   const struct sg_span_about *about)
{
    int length = snprintf(text + *used, (size_t)(TEXT_BYTES - *used), format, rank,
                          sg_operation_regions[about->operation % SG_OPERATION_COUNT],
                          (unsigned long long)about->bytes, about->module[0] ? about->module : "?",
                          (unsigned long long)about->offset, about->site);

    if (length > 0 && *used + length < TEXT_BYTES)
        *used += length;
}

void sg_span_report_stall(const struct sg_span *span, const struct sg_call *call, uint64_t position,
                          int seconds)
{
    char text[TEXT_BYTES] = "";
    uint64_t tag = position + 1;
    int used = 0, missing = 0;

    if (atomic_exchange(&span->header->stall_reported, tag) == tag)
        return;
    for (int rank = 0; rank < span->ranks; rank++) {
        const struct sg_span_about *about = sg_span_about(span, rank);

        if (atomic_load_explicit(&about->position, memory_order_relaxed) > position)
            continue;
        if (missing++ < RANKS_NAMED)
            append(text, &used, "; rank %d was last in %s of %llu bytes at %s+0x%llx #%08x", rank,
                   about);
    }
    sg_log("rank %d waits in %s for more than %d s: %d of %d ranks have not come%s", span->rank,
           sg_operation_regions[call->operation], seconds, missing, span->ranks, text);
}

void sg_span_report_mismatch(const struct sg_span *span, const struct sg_call *call,
                             uint64_t position)
{
    char text[TEXT_BYTES] = "";
    int used = 0;

    for (int rank = 0; rank < span->ranks; rank++) {
        if (span->endpoint_of[rank] == span->endpoint)
            append(text, &used, "; rank %d is in %s of %llu bytes at %s+0x%llx #%08x", rank,
                   sg_span_about(span, rank));
    }
    sg_log("ranks of one communicator disagree on collective %llu; the job ends%s",
           (unsigned long long)position, text);
    sg_log_drain();
    sg_real.Abort(call->comm, 1);
    abort();
}
