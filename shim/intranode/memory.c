/* Numbers of nodes and machines, the machine's account of shared memory, and segments in memfds.
 * See memory.h. System calls, at set-up only. */
#include "intranode/memory.h"

#include "core/cgroup.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int32_t *nodes;    /* by world rank; kept until the process ends */
static int32_t *machines; /* likewise */

/* On rank 0, numbers nodes and machines by the lowest world rank in each. out has three arrays by
 * rank: node; number of earlier ranks on its machine; machine. */
static void number(const uint64_t *identities, int size, int ranks_per_node, int32_t *out)
{
    for (int rank = 0; rank < size; rank++) {
        int before = 0;
        int first = rank;
        int machine = rank;

        for (int other = rank - 1; other >= 0; other--) {
            if (identities[other] != identities[rank])
                continue;
            /* The nearest earlier rank of this machine has its count of earlier ranks. */
            before = out[size + other] + 1;
            first = out[other];
            machine = out[2 * size + other];
            break;
        }
        out[size + rank] = before;
        out[rank] = ranks_per_node > 0 && before % ranks_per_node == 0 ? rank : first;
        out[2 * size + rank] = machine;
    }
}

enum sg_status sg_placement_start(const struct sg_exchange *exchange, uint64_t machine,
                                  int ranks_per_node)
{
    size_t count = (size_t)exchange->size;
    size_t *sizes = calloc(count, sizeof *sizes);
    int32_t *numbers = calloc(3 * count, sizeof *numbers);
    void *identities = NULL;
    enum sg_status status = SG_ERR_MEMORY;

    if (sizes != NULL && numbers != NULL)
        status = exchange->gather(exchange->context, &machine, sizeof machine, &identities, sizes);
    if (status == SG_OK && exchange->rank == 0)
        number(identities, exchange->size, ranks_per_node, numbers);
    free(identities);
    free(sizes);
    if (status == SG_OK)
        status = exchange->broadcast(exchange->context, numbers, 3 * count * sizeof *numbers);
    if (status != SG_OK) {
        free(numbers);
        return status;
    }
    free(nodes);
    nodes = numbers;
    machines = numbers + 2 * count;
    return SG_OK;
}

int sg_placement_node(int world_rank)
{
    return nodes[world_rank];
}

int sg_placement_node_size(int node, int world_size)
{
    int count = 0;

    for (int rank = node; rank < world_size; rank++)
        count += nodes[rank] == node;
    return count;
}

int sg_placement_machine(int world_rank)
{
    return machines[world_rank];
}

/* One account for each machine, in its first segment. Every segment begins with its nonce. */
struct account {
    uint64_t nonce;
    _Atomic uint64_t taken_bytes;
    _Atomic bool is_said;
};

static struct account *account; /* NULL: ranks share no memory */
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

/* A segment takes whole pages. */
static uint64_t paged(uint64_t size_bytes)
{
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);

    return (size_bytes + page_bytes - 1) / page_bytes * page_bytes;
}

/* False: the account does not cover it. */
static bool take(size_t size_bytes, const char *what)
{
    uint64_t before, taken = atomic_load(&account->taken_bytes), needed = paged(size_bytes);
    char wanted[32], there[32], most[32];

    do {
        before = taken;
        if (needed > most_bytes || before > most_bytes - needed)
            goto err_too_much;
    } while (!atomic_compare_exchange_weak(&account->taken_bytes, &taken, before + needed));
    return true;

err_too_much:
    if (!atomic_exchange(&account->is_said, true))
        sg_log("rank %d: %s of shared memory for %s exceed STAGGER_MEMORY (%s of %s are in use); "
               "continuing without it",
               own_rank, size_text(size_bytes, wanted), what, size_text(before, there),
               size_text(most_bytes, most));
    return false;
}

static void give(size_t size_bytes)
{
    atomic_fetch_sub(&account->taken_bytes, paged(size_bytes));
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

/* ---- segments made in MPI_Init --------------------------------------------------------------- */

/* A rank's segment, or its failure to make one. */
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

/* Maps the segment that the group's first rank has made. */
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

enum sg_status sg_memory_start(const struct sg_exchange *exchange, uint64_t limit_bytes,
                               uint64_t used_bytes)
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
    if (status == SG_OK && machine == exchange->rank)
        atomic_fetch_add(&account->taken_bytes, paged(sizeof *account) + paged(used_bytes));
    if (status == SG_ERR_MISSING && first_failed == exchange->rank && machine == exchange->rank)
        sg_log("rank %d: no shared memory (%m): MPICH runs the collectives", exchange->rank);
    else if (status == SG_ERR_MISSING && first_failed == exchange->rank)
        sg_log("rank %d: no shared memory with rank %d of its machine (%m): MPICH runs the "
               "collectives",
               exchange->rank, machine);
    return status == SG_ERR_MISSING ? SG_OK : status;
}

uint64_t sg_segment_domain(void)
{
    struct stat info;

    if (stat("/proc/self/ns/pid", &info) != 0)
        return 0;
    return sg_hash_mix((uint64_t)info.st_ino ^ (uint64_t)info.st_dev << 32);
}

static enum sg_status map(int file, size_t size_bytes, void **segment)
{
    void *base = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    if (base == MAP_FAILED)
        return SG_ERR_SYSTEM;
    *segment = base;
    return SG_OK;
}

/* Reserving more memory than a control group has would kill a process in it. The program keeps most
 * of what is left. */
static bool fits_control_group(size_t size_bytes)
{
    return size_bytes <= sg_cgroup_memory_left("/proc", "/sys") / 4;
}

enum sg_status sg_segment_offer(size_t size_bytes, struct sg_segment_ticket *ticket)
{
    int file = memfd_create("stagger", MFD_CLOEXEC);
    int error;

    if (file < 0)
        return SG_ERR_SYSTEM;
    fchmod(file, 0600);
    error = sg_file_resize(file, size_bytes);
    if (error != 0) {
        close(file);
        errno = error;
        return SG_ERR_SYSTEM;
    }
    ticket->size_bytes = size_bytes;
    ticket->nonce = sg_hash_mix(sg_clock_ns() ^ (uint64_t)getpid() << 32);
    ticket->domain = sg_segment_domain();
    ticket->pid = (int32_t)getpid();
    ticket->file = file;
    return SG_OK;
}

enum sg_status sg_segment_fill(const struct sg_segment_ticket *ticket, size_t used_bytes,
                               void **segment)
{
    int error =
        fits_control_group(used_bytes) ? sg_file_allocate(ticket->file, 0, used_bytes) : ENOMEM;

    if (error == 0 && map(ticket->file, ticket->size_bytes, segment) == SG_OK)
        return SG_OK;
    if (error == 0)
        error = errno;
    close(ticket->file);
    errno = error;
    return SG_ERR_SYSTEM;
}

enum sg_status sg_segment_create(size_t size_bytes, void **segment,
                                 struct sg_segment_ticket *ticket)
{
    enum sg_status status = sg_segment_offer(size_bytes, ticket);

    return status == SG_OK ? sg_segment_fill(ticket, size_bytes, segment) : status;
}

enum sg_status sg_segment_open(const struct sg_segment_ticket *ticket, void **segment)
{
    char path[64];
    struct stat info;
    enum sg_status status = SG_ERR_SYSTEM;
    int file, error;

    /* In another process namespace the number may belong to any process. */
    if (ticket->domain != sg_segment_domain()) {
        errno = ESRCH;
        return SG_ERR_SYSTEM;
    }
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)ticket->pid, (int)ticket->file);
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return SG_ERR_SYSTEM;
    errno = EBADF;
    if (fstat(file, &info) == 0 && (uint64_t)info.st_size == ticket->size_bytes)
        status = map(file, ticket->size_bytes, segment);
    error = errno;
    close(file);
    errno = error;
    return status;
}

void sg_segment_seal(const struct sg_segment_ticket *ticket)
{
    close(ticket->file);
}

void sg_segment_unmap(void *segment, size_t size_bytes)
{
    munmap(segment, size_bytes);
}
