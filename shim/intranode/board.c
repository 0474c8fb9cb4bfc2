/* A board of posts in shared memory (board.h).
 *
 * An operation consists of rounds. In a round every rank posts a piece of its data; the last one
 * wakes the leader, which reads the posts, writes the board's area and releases the round, with one
 * system call for all sleepers. A rank posts in the next round when it has read the area, and the
 * leader writes the area when all have posted: one copy of each suffices.
 */
#include "intranode/board.h"

#include "core/cpu/cpu.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define POST_BYTES 4088
#define POST_VALUES ((int)(POST_BYTES / sizeof(uint64_t)))
#define AREA_BYTES 16384
/* Some 40 us, if every rank has a processor: a sleeper takes as long to wake. */
#define SPINS 4000u
/* Time between two calls of `idle`, for each rank of the machine: all ranks together take a tenth
 * of a processor. */
#define IDLE_NS 100000
#define IDLE_NS_MAX 20000000

struct post {
    uint64_t size_bytes; /* of all of the rank's data */
    union {
        char data[POST_BYTES];
        uint64_t values[POST_VALUES];
    };
};

/* The segment. The atomics have the default order: this is no call's path. */
struct shared {
    _Atomic uint32_t arrived;              /* ranks, over all rounds */
    _Atomic uint32_t full;                 /* last round in which all have arrived; futex */
    alignas(64) _Atomic uint32_t released; /* last round that the leader has released; futex */
    /* The leader's, for the round that it releases: */
    int32_t status;
    bool goes_on; /* another round of the operation follows */
    char area[AREA_BYTES];
    struct post posts[]; /* by number */
};

size_t sg_board_bytes(int count)
{
    return sizeof(struct shared) + (size_t)count * sizeof(struct post);
}

/* ---- rounds ---- */

static bool leads(const struct sg_board *board)
{
    return board->number == 0;
}

static void wake(_Atomic uint32_t *word, uint32_t value, int sleepers)
{
    atomic_store(word, value);
    syscall(SYS_futex, word, FUTEX_WAKE, sleepers, NULL, NULL, 0);
}

static void await(const struct sg_board *board, _Atomic uint32_t *word, uint32_t value)
{
    long idle_ns = (long)board->count * IDLE_NS;
    struct timespec timeout = {0, idle_ns < IDLE_NS_MAX ? idle_ns : IDLE_NS_MAX};
    uint32_t spins = board->spins ? SPINS : 0;

    for (uint32_t seen; (seen = atomic_load(word)) != value;) {
        if (spins > 0) {
            spins--;
            sg_cpu_pause();
        } else if (syscall(SYS_futex, word, FUTEX_WAIT, seen, &timeout, NULL, 0) != 0) {
            board->idle();
        }
    }
}

/* Posts a piece of this rank's data, of size_bytes in all. Returns when the leader, for whom all
 * ranks have posted, or another rank, for whom the leader has released the round, can go on. */
static void post(struct sg_board *board, const void *piece, size_t piece_bytes, size_t size_bytes)
{
    struct shared *shared = board->segment;
    struct post *own = &shared->posts[board->number];
    uint32_t all = ++board->round * (uint32_t)board->count;

    own->size_bytes = size_bytes;
    if (piece_bytes > 0)
        memcpy(own->data, piece, piece_bytes);
    if (atomic_fetch_add(&shared->arrived, 1) + 1 == all)
        wake(&shared->full, board->round, 1);
    await(board, leads(board) ? &shared->full : &shared->released, board->round);
}

static void release(const struct sg_board *board, enum sg_status status, bool goes_on)
{
    struct shared *shared = board->segment;

    shared->status = (int32_t)status;
    shared->goes_on = goes_on;
    wake(&shared->released, board->round, INT_MAX);
}

static size_t piece_of(size_t size_bytes, size_t done_bytes, size_t limit_bytes)
{
    size_t left_bytes = size_bytes > done_bytes ? size_bytes - done_bytes : 0;

    return left_bytes < limit_bytes ? left_bytes : limit_bytes;
}

/* ---- gather ---- */

/* Data of a machine's ranks on their way to rank 0: a header, an entry for each rank, the data. */
struct entry {
    uint64_t rank, size_bytes;
};

struct parcel {
    uint64_t count;
    struct entry entries[];
};

/* Another parcel may follow. */
static size_t aligned(size_t size_bytes)
{
    return (size_bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

static char *data_of(struct parcel *parcel)
{
    return (char *)(parcel->entries + parcel->count);
}

/* The leader, in the first round. NULL: no memory. */
static struct parcel *make_parcel(const struct sg_board *board, size_t *size_bytes)
{
    const struct shared *shared = board->segment;
    struct parcel *parcel;

    *size_bytes = sizeof *parcel + (size_t)board->count * sizeof *parcel->entries;
    for (int i = 0; i < board->count; i++)
        *size_bytes += shared->posts[i].size_bytes;
    *size_bytes = aligned(*size_bytes);
    parcel = calloc(1, *size_bytes);
    if (parcel == NULL)
        return NULL;
    parcel->count = (uint64_t)board->count;
    for (int i = 0; i < board->count; i++)
        parcel->entries[i] = (struct entry){(uint64_t)board->ranks[i], shared->posts[i].size_bytes};
    return parcel;
}

/* The leader: takes a round's pieces. Returns true if a rank has more. */
static bool take_pieces(const struct sg_board *board, size_t done_bytes, struct parcel *parcel)
{
    const struct shared *shared = board->segment;
    char *to = data_of(parcel);
    bool has_more = false;

    for (int i = 0; i < board->count; i++) {
        const struct post *from = &shared->posts[i];
        size_t piece_bytes = piece_of(from->size_bytes, done_bytes, POST_BYTES);

        if (piece_bytes > 0)
            memcpy(to + done_bytes, from->data, piece_bytes);
        to += from->size_bytes;
        has_more = has_more || from->size_bytes > done_bytes + POST_BYTES;
    }
    return has_more;
}

static struct parcel *next_parcel(struct parcel *parcel)
{
    char *end = data_of(parcel);

    for (uint64_t i = 0; i < parcel->count; i++)
        end += parcel->entries[i].size_bytes;
    return (struct parcel *)((char *)parcel + aligned((size_t)(end - (char *)parcel)));
}

/* Rank 0: sorts the machines' data by rank. */
static enum sg_status unpack(struct parcel *parcels, const struct parcel *end, int size, void **all,
                             size_t *sizes)
{
    char **from = calloc((size_t)size, sizeof *from);
    size_t total_bytes = 0;
    char *to;

    if (from == NULL)
        return SG_ERR_MEMORY;
    for (struct parcel *parcel = parcels; parcel < end; parcel = next_parcel(parcel)) {
        char *data = data_of(parcel);

        for (uint64_t i = 0; i < parcel->count; i++) {
            const struct entry *entry = &parcel->entries[i];

            from[entry->rank] = data;
            sizes[entry->rank] = entry->size_bytes;
            data += entry->size_bytes;
            total_bytes += entry->size_bytes;
        }
    }
    *all = to = malloc(total_bytes + 1);
    for (int rank = 0; rank < size && to != NULL; rank++) {
        memcpy(to, from[rank], sizes[rank]);
        to += sizes[rank];
    }
    free(from);
    return *all != NULL ? SG_OK : SG_ERR_MEMORY;
}

/* Leaders: sends the parcel to rank 0. A machine without memory for one sends nothing. */
static enum sg_status send_parcel(const struct sg_board *board, const struct parcel *parcel,
                                  size_t size_bytes, void **all, size_t *sizes)
{
    const struct sg_exchange *between = &board->between;
    size_t *parcel_sizes = calloc((size_t)between->size, sizeof *parcel_sizes);
    void *parcels = NULL;
    int32_t outcome = SG_OK;
    enum sg_status status;

    if (parcel_sizes == NULL)
        abort();
    status = between->gather(between->context, parcel, parcel != NULL ? size_bytes : 0, &parcels,
                             parcel_sizes);
    if (status == SG_OK && between->rank == 0) {
        for (int i = 0; i < between->size; i++)
            outcome = parcel_sizes[i] > 0 ? outcome : SG_ERR_MEMORY;
        size_bytes = 0;
        for (int i = 0; i < between->size; i++)
            size_bytes += parcel_sizes[i];
        if (outcome == SG_OK)
            outcome = (int32_t)unpack(parcels, (struct parcel *)((char *)parcels + size_bytes),
                                      board->all.size, all, sizes);
    }
    free(parcels);
    free(parcel_sizes);
    if (status == SG_OK)
        status = between->broadcast(between->context, &outcome, sizeof outcome);
    return status == SG_OK ? (enum sg_status)outcome : status;
}

static enum sg_status gather(void *context, const void *data, size_t size_bytes, void **all,
                             size_t *sizes)
{
    struct sg_board *board = context;
    struct shared *shared = board->segment;
    struct parcel *parcel = NULL;
    size_t parcel_bytes = 0;
    enum sg_status status = SG_OK;
    bool goes_on = true;

    for (size_t done_bytes = 0; goes_on; done_bytes += POST_BYTES) {
        size_t piece_bytes = piece_of(size_bytes, done_bytes, POST_BYTES);

        post(board, piece_bytes > 0 ? (const char *)data + done_bytes : NULL, piece_bytes,
             size_bytes);
        if (!leads(board)) {
            status = (enum sg_status)shared->status;
            goes_on = shared->goes_on;
            continue;
        }
        if (done_bytes == 0)
            parcel = make_parcel(board, &parcel_bytes);
        goes_on = parcel != NULL && take_pieces(board, done_bytes, parcel);
        if (!goes_on)
            status = send_parcel(board, parcel, parcel_bytes, all, sizes);
        release(board, status, goes_on);
    }
    free(parcel);
    return status;
}

/* ---- combination, broadcast, messages ---- */

/* Ends a round in which the leader has data for all of the machine. Returns its status on all. */
static enum sg_status hand_out(struct sg_board *board, enum sg_status status, void *data,
                               size_t size_bytes)
{
    struct shared *shared = board->segment;

    if (leads(board)) {
        memcpy(shared->area, data, size_bytes);
        release(board, status, false);
        return status;
    }
    memcpy(data, shared->area, size_bytes);
    return (enum sg_status)shared->status;
}

static enum sg_status combine(void *context, enum sg_combination how, uint64_t *values, int count)
{
    struct sg_board *board = context;
    struct shared *shared = board->segment;
    enum sg_status status = SG_OK;

    for (int done = 0; done < count && status == SG_OK; done += POST_VALUES) {
        int taken = count - done < POST_VALUES ? count - done : POST_VALUES;
        size_t piece_bytes = (size_t)taken * sizeof *values;
        uint64_t *at = values + done;

        post(board, at, piece_bytes, piece_bytes);
        if (leads(board)) {
            for (int i = 1; i < board->count; i++)
                sg_exchange_add(how, at, shared->posts[i].values, taken);
            status = sg_exchange_combine(&board->between, how, at, taken);
        }
        status = hand_out(board, status, at, piece_bytes);
    }
    return status;
}

static enum sg_status broadcast(void *context, void *data, size_t size_bytes)
{
    struct sg_board *board = context;
    const struct sg_exchange *between = &board->between;
    enum sg_status status = SG_OK;

    for (size_t done_bytes = 0; done_bytes < size_bytes && status == SG_OK;
         done_bytes += AREA_BYTES) {
        char *at = (char *)data + done_bytes;
        size_t piece_bytes = piece_of(size_bytes, done_bytes, AREA_BYTES);

        post(board, NULL, 0, 0);
        if (leads(board))
            status = between->broadcast(between->context, at, piece_bytes);
        status = hand_out(board, status, at, piece_bytes);
    }
    return status;
}

static enum sg_status send_to(void *context, int to, const void *data, size_t size_bytes)
{
    const struct sg_exchange *all = &((struct sg_board *)context)->all;

    return all->send(all->context, to, data, size_bytes);
}

static enum sg_status receive_from(void *context, int from, void *data, size_t size_bytes)
{
    const struct sg_exchange *all = &((struct sg_board *)context)->all;

    return all->receive(all->context, from, data, size_bytes);
}

void sg_board_exchange(struct sg_board *board, struct sg_exchange *out)
{
    *out = (struct sg_exchange){.rank = board->all.rank,
                                .size = board->all.size,
                                .context = board,
                                .gather = gather,
                                .broadcast = broadcast,
                                .combine = combine,
                                .send = send_to,
                                .receive = receive_from};
}
