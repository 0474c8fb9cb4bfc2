/* What a user reads when ranks wait for ever or disagree: which call each is in, and where. */
#include "core/status.h"
#include "engine/local_internal.h"
#include "engine/real.h"
#include "node/ring.h"

#include <stdio.h>
#include <stdlib.h>

#define TEXT_BYTES 200
#define RANKS_NAMED 16

static const char *operation_name(unsigned operation)
{
    return operation < SG_OPERATION_COUNT ? sg_operation_regions[operation] : "a collective";
}

static void describe(const struct sg_node_about *about, char *text, size_t size_bytes)
{
    int used = snprintf(text, size_bytes, "%s", operation_name(about->operation));

    if (about->operation != SG_OPERATION_BARRIER)
        used += snprintf(text + used, size_bytes - (size_t)used, " of %llu bytes",
                         (unsigned long long)about->bytes);
    if (about->root >= 0)
        used += snprintf(text + used, size_bytes - (size_t)used, " to root %d", about->root);
    snprintf(text + used, size_bytes - (size_t)used, " at %s+0x%llx #%08x",
             about->module[0] ? about->module : "?", (unsigned long long)about->offset,
             about->site);
}

/* What another rank is doing: in this instance, in another, or in none. */
static void describe_rank(const struct sg_local *local, uint64_t position, int rank, char *text,
                          size_t size_bytes)
{
    const struct sg_node *node = sg_local_node((struct sg_local *)local);
    /* Acquire: what it wrote of later calls is not mistaken for those before. */
    uint64_t finished =
        atomic_load_explicit(&sg_ring_control(node, rank)->finished, memory_order_acquire);
    const struct sg_node_about *about = sg_node_about(node, finished, rank);

    if (about != NULL)
        describe(about, text, size_bytes);
    else if (finished <= position)
        snprintf(text, size_bytes, "in no collective of this communicator");
    else
        snprintf(text, size_bytes, "ahead of it");
}

void sg_local_report_stall(const struct sg_local *local, const struct sg_call *call,
                           uint64_t position, int seconds)
{
    struct sg_node *node = sg_local_node((struct sg_local *)local);
    uint64_t tag = sg_ring_tag(position, 0);
    char text[TEXT_BYTES];

    if (atomic_exchange(&node->header->stall_reported, tag) == tag)
        return;
    sg_log("waiting for more than %d s in %s (%llu on a communicator of %d ranks):", seconds,
           operation_name(call->operation), (unsigned long long)position, node->ranks);
    for (int rank = 0; rank < node->ranks && rank < RANKS_NAMED; rank++) {
        describe_rank(local, position, rank, text, sizeof text);
        sg_log("  rank %d: %s", rank, text);
    }
}

/* True for the first rank that meets a pair of choices on this communicator, whoever of the two
 * chose. */
static bool warn_first(const struct sg_node *node, enum sg_operation operation, int one, int other)
{
    uint64_t low = (uint64_t)(one < other ? one : other);
    uint64_t high = (uint64_t)(one < other ? other : one);
    uint64_t pair = (low << 32 | high) << 2 | (uint64_t)operation;

    for (size_t i = 0; i < sizeof node->header->warned / sizeof *node->header->warned; i++) {
        uint64_t seen = 0;

        if (atomic_compare_exchange_strong(&node->header->warned[i], &seen, pair))
            return true;
        if (seen == pair)
            return false;
    }
    return false;
}

void sg_local_warn_choice(const struct sg_local *local, const struct sg_call *call, int own,
                          int chosen, int chooser)
{
    const struct sg_node *node = sg_local_node((struct sg_local *)local);

    if (!warn_first(node, call->operation, own, chosen))
        return;
    sg_log(
        "%s at %s+0x%llx #%08x of rank %d: a rule says %s, but rank %d reached the same instance "
        "from another call site, whose rule says %s and is followed",
        operation_name(call->operation), call->site->module ? call->site->module : "?",
        (unsigned long long)call->site->offset, call->site->id, node->rank, sg_algorithms[own].name,
        chooser, sg_algorithms[chosen].name);
}

void sg_local_report_mismatch(const struct sg_local *local, const struct sg_call *call,
                              uint64_t position, int rank)
{
    const struct sg_node *node = sg_local_node((struct sg_local *)local);
    const struct sg_node_about *own = sg_node_about(node, position, node->rank);
    const struct sg_node_about *other = sg_node_about(node, position, rank);
    char texts[2][TEXT_BYTES] = {"", ""};

    if (own != NULL)
        describe(own, texts[0], TEXT_BYTES);
    if (other != NULL)
        describe(other, texts[1], TEXT_BYTES);
    sg_log("ranks of one communicator disagree on a collective: rank %d is in %s, rank %d in %s; "
           "the job ends",
           node->rank, texts[0], rank, texts[1]);
    sg_log_drain();
    sg_real.Abort(call->comm, 1);
    abort();
}
