/* The table of a machine's processes that ring each other: one shared segment a machine, made by
 * the first of its ranks in MPI_Init. */
#include "engine/placement.h"
#include "engine/progress_impl.h"
#include "node/segment.h"

#include <errno.h>
#include <stdlib.h>

/* A machine's first rank; its ranks; this rank's number among them. */
struct machine {
    int first, ranks, number;
};

/* False: no machine has several nodes, and no process will ring another. Alike on all ranks. */
static bool find_machine(const struct sg_exchange *exchange, struct machine *out)
{
    int machine = sg_placement_machine(exchange->rank);
    bool several = false;

    *out = (struct machine){.first = -1};
    for (int rank = 0; rank < exchange->size; rank++) {
        /* Nodes and machines are numbered by their first ranks: two nodes of one machine. */
        several = several || sg_placement_node(rank) != sg_placement_machine(rank);
        if (sg_placement_machine(rank) != machine)
            continue;
        if (out->first < 0)
            out->first = rank;
        if (rank == exchange->rank)
            out->number = out->ranks;
        out->ranks++;
    }
    return several;
}

/* Every rank's ticket on every rank, malloc'ed; those of machines' first ranks mean something. */
static enum sg_status share_tickets(const struct sg_exchange *exchange,
                                    const struct sg_segment_ticket *ticket,
                                    struct sg_segment_ticket **tickets)
{
    size_t count = (size_t)exchange->size;
    size_t *sizes = calloc(count, sizeof *sizes);
    void *all = NULL;
    size_t all_bytes = count * sizeof *ticket;
    enum sg_status status = SG_ERR_MEMORY;

    if (sizes != NULL)
        status = exchange->gather(exchange->context, ticket, sizeof *ticket, &all, sizes);
    free(sizes);
    if (status == SG_OK)
        status = sg_exchange_share(exchange, &all, &all_bytes);
    *tickets = all;
    return status;
}

static enum sg_status make_table(size_t size_bytes, void **segment,
                                 struct sg_segment_ticket *ticket)
{
    enum sg_status status = sg_segment_create(size_bytes, segment, ticket);

    if (status == SG_OK)
        ((struct sg_progress_table *)*segment)->nonce = ticket->nonce;
    return status;
}

static enum sg_status open_table(size_t size_bytes, void **segment,
                                 const struct sg_segment_ticket *ticket)
{
    enum sg_status status;

    errno = EBADF;
    if (ticket->size_bytes != size_bytes)
        return SG_ERR_SYSTEM;
    status = sg_segment_open(ticket, segment);
    if (status == SG_OK && ((struct sg_progress_table *)*segment)->nonce != ticket->nonce) {
        sg_segment_unmap(*segment, size_bytes);
        *segment = NULL;
        errno = EBADF;
        status = SG_ERR_SYSTEM;
    }
    return status;
}

enum sg_status sg_progress_table_share(const struct sg_exchange *exchange, bool wired,
                                       struct sg_progress_table **table, uint32_t *own)
{
    struct machine machine;
    struct sg_segment_ticket ticket = {0};
    struct sg_segment_ticket *tickets = NULL;
    void *segment = NULL;
    size_t size_bytes;
    enum sg_status made = SG_OK, status;
    int first_failed = -1, error;

    *table = NULL;
    if (!find_machine(exchange, &machine) && !wired)
        return SG_OK;
    size_bytes = sizeof **table + (size_t)machine.ranks * sizeof(struct sg_progress_cell);
    if (machine.first == exchange->rank)
        made = make_table(size_bytes, &segment, &ticket);
    error = errno;
    status = share_tickets(exchange, &ticket, &tickets);
    if (status == SG_OK && machine.first != exchange->rank) {
        made = open_table(size_bytes, &segment, &tickets[machine.first]);
        error = errno;
    }
    free(tickets);
    if (status == SG_OK)
        status = sg_exchange_agree(exchange, made == SG_OK, &first_failed);
    if (machine.first == exchange->rank && made == SG_OK)
        sg_segment_seal(&ticket);
    errno = error;
    if (status == SG_OK && first_failed == exchange->rank)
        sg_log("rank %d: no shared memory for progress (%m): late messages wait for the next "
               "collective",
               exchange->rank);
    if (status != SG_OK || first_failed >= 0) {
        if (made == SG_OK && segment != NULL)
            sg_segment_unmap(segment, size_bytes);
        return status;
    }
    *table = segment;
    *own = (uint32_t)machine.number;
    return SG_OK;
}
