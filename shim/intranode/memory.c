#include "intranode/memory.h"

#include "intranode/placement.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One a machine, in its first segment; the nonces of all segments stand first. */
struct account {
    uint64_t nonce;
    _Atomic uint64_t taken_bytes;
    _Atomic bool is_said;
};

static struct account *account; /* NULL: nothing is shared */
static uint64_t most_bytes;
static int own_rank;

bool sg_memory_is_shared(void)
{
    return account != NULL;
}

/* ---- the account ----------------------------------------------------------------------------- */

static const char *size_text(uint64_t bytes, char text[32])
{
    if (bytes < UINT64_C(1) << 20)
        snprintf(text, 32, "%.1f KiB", (double)bytes / 1024);
    else
        snprintf(text, 32, "%.1f MiB", (double)bytes / (1024 * 1024));
    return text;
}

/* False: it is too much. */
static bool take(size_t size_bytes, const char *what)
{
    uint64_t before, taken = atomic_load(&account->taken_bytes);
    char wanted[32], there[32], most[32];

    do {
        before = taken;
        if (size_bytes > most_bytes || before > most_bytes - size_bytes)
            goto err_too_much;
    } while (!atomic_compare_exchange_weak(&account->taken_bytes, &taken, before + size_bytes));
    return true;

err_too_much:
    if (!atomic_exchange(&account->is_said, true))
        sg_log("rank %d: %s of shared memory for %s are more than STAGGER_MEMORY leaves (%s of %s "
               "are taken): what does not fit goes without",
               own_rank, size_text(size_bytes, wanted), what, size_text(before, there),
               size_text(most_bytes, most));
    return false;
}

static void give(size_t size_bytes)
{
    atomic_fetch_sub(&account->taken_bytes, size_bytes);
}

enum sg_status sg_memory_create(size_t size_bytes, const char *what, void **segment,
                                struct sg_segment_ticket *ticket)
{
    enum sg_status status;
    int error;

    if (!take(size_bytes, what))
        return SG_ERR_MISSING;
    status = sg_segment_create(size_bytes, segment, ticket);
    if (status != SG_OK) {
        error = errno;
        give(size_bytes);
        errno = error;
    }
    return status;
}

void sg_memory_free(void *segment, size_t size_bytes, bool is_maker)
{
    sg_segment_unmap(segment, size_bytes);
    if (is_maker)
        give(size_bytes);
}

/* ---- segments of MPI_Init -------------------------------------------------------------------- */

/* What a rank tells of the segment that it made, or could not. */
struct made {
    struct sg_segment_ticket ticket;
    int32_t status, error;
};

static enum sg_status make(size_t size_bytes, const char *what, void **segment,
                           struct sg_segment_ticket *ticket)
{
    enum sg_status status = what != NULL ? sg_memory_create(size_bytes, what, segment, ticket)
                                         : sg_segment_create(size_bytes, segment, ticket);

    if (status == SG_OK)
        memcpy(*segment, &ticket->nonce, sizeof ticket->nonce);
    return status;
}

/* Maps what the group's first rank has made. */
static void open_made(const struct made *made, size_t size_bytes, void **segment, struct made *own)
{
    own->status = made->status;
    own->error = made->error;
    if (made->status != SG_OK)
        return;
    own->status = sg_segment_open(&made->ticket, segment);
    own->error = errno;
    if (own->status == SG_OK && (made->ticket.size_bytes != size_bytes ||
                                 memcmp(*segment, &made->ticket.nonce, sizeof(uint64_t)) != 0)) {
        sg_segment_unmap(*segment, made->ticket.size_bytes);
        own->status = SG_ERR_SYSTEM;
        own->error = EBADF;
    }
}

enum sg_status sg_memory_map(const struct sg_exchange *exchange, int first, size_t size_bytes,
                             const char *what, void **segment, int *first_failed)
{
    bool is_maker = first == exchange->rank;
    struct made own = {.status = SG_OK};
    void *all;
    enum sg_status status;

    if (is_maker) {
        own.status = make(size_bytes, what, segment, &own.ticket);
        own.error = own.status == SG_ERR_MISSING ? 0 : errno;
    }
    status = sg_exchange_collect(exchange, &own, sizeof own, &all);
    if (status == SG_OK && !is_maker)
        open_made((const struct made *)all + first, size_bytes, segment, &own);
    free(all);
    if (status == SG_OK)
        status = sg_exchange_agree(exchange, own.status == SG_OK, first_failed);
    if (is_maker && own.status == SG_OK)
        sg_segment_seal(&own.ticket);
    if (status == SG_OK && *first_failed >= 0)
        status = SG_ERR_MISSING;
    if (status != SG_OK && own.status == SG_OK) {
        if (what != NULL)
            sg_memory_free(*segment, size_bytes, is_maker);
        else
            sg_segment_unmap(*segment, size_bytes);
    }
    errno = own.error;
    return status;
}

enum sg_status sg_memory_start(const struct sg_exchange *exchange, uint64_t limit_bytes)
{
    int machine = sg_placement_machine(exchange->rank);
    void *segment = NULL;
    int first_failed;
    enum sg_status status =
        sg_memory_map(exchange, machine, sizeof *account, NULL, &segment, &first_failed);

    own_rank = exchange->rank;
    most_bytes = limit_bytes;
    if (status == SG_OK)
        account = segment;
    if (status == SG_ERR_MISSING && first_failed == exchange->rank && machine == exchange->rank)
        sg_log("rank %d: no shared memory (%m): collectives pass through", exchange->rank);
    else if (status == SG_ERR_MISSING && first_failed == exchange->rank)
        sg_log("rank %d: no shared memory with rank %d of its machine (%m): collectives pass "
               "through",
               exchange->rank, machine);
    return status == SG_ERR_MISSING ? SG_OK : status;
}
