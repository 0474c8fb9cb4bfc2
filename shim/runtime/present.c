/* Detects ranks without the library while the first exchanges wait (present.h), and implements
 * sg_exchange by MPI and shared memory. A job is ended only if /proc shows such a process, or after
 * a long time limit.
 */
#include "runtime/present.h"

#include "core/clock.h"
#include "core/config.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/status.h"
#include "intranode/board.h"
#include "intranode/memory.h"
#include "mpi/real.h"
#include "trace/record.h"
#include "wait/processors.h"
#include "wait/turn.h"
#include "wait/yielding.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)
/* MPICH's MPI_Init has just returned, so all ranks have entered it. If the first exchange takes
 * longer than this, the machine's other ranks are examined. Many ranks that share processors leave
 * MPI_Init one after another. */
#define LOOK_NS SECOND_NS
#define LOOK_NS_PER_RANK (SECOND_NS / 16)
/* Least time limit, unless STAGGER_STALL_S is 0: a job that is only slow must not be ended. */
#define LIMIT_S_MIN 60

static struct {
    int rank;
    uint64_t seen_ns;   /* time of the last check */
    uint64_t waited_ns; /* without the time in which the process was stopped */
    uint64_t look_ns;   /* after which other ranks are examined */
    uint64_t limit_ns;  /* 0: none */
    bool has_looked;
} start;

/* ---- this machine's other ranks, as /proc shows them ---- */

struct mapped {
    bool mpi, library;
};

/* library: this library's file name. */
static struct mapped mapped_in(const char *pid, const char *mpi, const char *library)
{
    struct mapped mapped = {false, false};
    char path[300], line[4600];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%s/maps", pid);
    file = fopen(path, "re");
    while (file != NULL && !(mapped.mpi && mapped.library) &&
           fgets(line, sizeof line, file) != NULL) {
        const char *slash = strrchr(line, '/');

        mapped.mpi = mapped.mpi || strstr(line, mpi) != NULL;
        mapped.library =
            mapped.library || (slash != NULL && strncmp(slash + 1, library, strlen(library)) == 0);
    }
    if (file != NULL)
        fclose(file);
    return mapped;
}

static const char *file_of(const void *address)
{
    Dl_info info;

    return dladdr(address, &info) != 0 ? info.dli_fname : NULL;
}

/* Finds a process with the same parent (the launcher) and the same MPI as this one, but without the
 * library. 0: none, or this process does not speak for those that have the library. The lowest of
 * them does, and only that one looks at all: with hundreds of ranks the maps of all pairs would
 * take half a minute. */
static int find_sibling_without(void)
{
    const char *mpi = file_of(*(void **)&sg_real.Init), *own = file_of(&start);
    const char *slash = own != NULL ? strrchr(own, '/') : NULL;
    DIR *directory = mpi != NULL && own != NULL ? opendir("/proc") : NULL;
    struct dirent *entry;
    char real_mpi[4096];
    bool speaks = directory != NULL && realpath(mpi, real_mpi) != NULL;
    int without = 0;

    /* The kernel lists processes in the order of their numbers. */
    while (speaks && (entry = readdir(directory)) != NULL) {
        int pid = atoi(entry->d_name);
        struct mapped mapped;

        if (pid <= 0 || pid == getpid() || sg_procfs_stat(pid).parent != getppid())
            continue;
        mapped = mapped_in(entry->d_name, real_mpi, slash != NULL ? slash + 1 : own);
        if (mapped.mpi && !mapped.library)
            without = pid;
        else if (mapped.mpi && pid < getpid())
            speaks = false;
    }
    if (directory != NULL)
        closedir(directory);
    return speaks ? without : 0;
}

/* ---- the time limit ---- */

static void end_job(const char *what)
{
    sg_log("rank %d: %s; aborting the job: preload the library on all ranks or on none", start.rank,
           what);
    sg_log_drain();
    sg_real.Abort(MPI_COMM_WORLD, 1);
}

/* Time in which a batch system or a user suspended the job does not count. */
static void count_wait(void)
{
    uint64_t now_ns = sg_clock_ns(), step_ns = now_ns - start.seen_ns;

    start.waited_ns += step_ns < SECOND_NS ? step_ns : SECOND_NS;
    start.seen_ns = now_ns;
}

static void look(void)
{
    char text[128];
    int without;

    count_wait();
    if (!start.has_looked && start.waited_ns > start.look_ns) {
        start.has_looked = true;
        without = find_sibling_without();
        if (without != 0) {
            snprintf(text, sizeof text, "process %d of this job runs without stagger", without);
            end_job(text);
        }
    }
    if (start.limit_ns > 0 && start.waited_ns > start.limit_ns) {
        snprintf(text, sizeof text, "in MPI_Init for %d s: other ranks seem to run without stagger",
                 (int)(start.limit_ns / SECOND_NS));
        end_job(text);
    }
}

void sg_present_begin(int rank)
{
    const char *stall = sg_config_environment("STAGGER_STALL_S");
    int limit_s = stall != NULL ? atoi(stall) : LIMIT_S_MIN;
    int ranks = sg_processors_found().ranks;

    start.rank = rank;
    start.seen_ns = sg_clock_ns();
    start.waited_ns = 0;
    if (limit_s > 0 && limit_s < LIMIT_S_MIN)
        limit_s = LIMIT_S_MIN;
    start.limit_ns = limit_s > 0 ? (uint64_t)limit_s * SECOND_NS : 0;
    start.look_ns = LOOK_NS + (ranks > 0 ? (uint64_t)ranks * LOOK_NS_PER_RANK : 0);
    start.has_looked = false;
    sg_yielding_watch(look);
}

void sg_present_end(void)
{
    sg_yielding_watch(NULL);
}

/* ---- versions ---- */

bool sg_present_agree(MPI_Comm world, int rank)
{
    static const char version[] = "stagger " SG_VERSION;
    int64_t own = (int64_t)(sg_hash_bytes(SG_LOG_VERSION, version, sizeof version) >> 1);
    int64_t mine[2] = {own, -own}, least[2];

    if (sg_yielding_allreduce(mine, least, 2, MPI_INT64_T, MPI_MIN, world) != MPI_SUCCESS)
        return false;
    if (least[0] == -least[1])
        return true;
    if (rank == 0)
        sg_log("ranks have different versions of the library; stagger is inactive");
    return false;
}

#define TAG 1
#define PIECE_BYTES (1 << 30) /* MPI counts are int */

static enum sg_status status_of(int error)
{
    return error == MPI_SUCCESS ? SG_OK : SG_ERR_SYSTEM;
}

static enum sg_status broadcast(void *context, void *data, size_t size_bytes)
{
    MPI_Comm *comm = context;
    char *from = data;

    while (size_bytes > 0) {
        int piece = size_bytes < PIECE_BYTES ? (int)size_bytes : PIECE_BYTES;

        if (sg_yielding_bcast(from, piece, MPI_BYTE, 0, *comm) != MPI_SUCCESS)
            return SG_ERR_SYSTEM;
        from += piece;
        size_bytes -= (size_t)piece;
    }
    return SG_OK;
}

/* Rank 0: plans the position of each rank's data. False if the total exceeds an int or memory. */
static bool plan(const uint64_t *lengths, int size, int *counts, int *starts, size_t *sizes,
                 void **all)
{
    uint64_t total = 0;

    for (int rank = 0; rank < size; rank++) {
        if (total + lengths[rank] > INT_MAX)
            return false;
        starts[rank] = (int)total;
        counts[rank] = (int)lengths[rank];
        sizes[rank] = lengths[rank];
        total += lengths[rank];
    }
    *all = malloc(total + 1);
    return *all != NULL;
}

static enum sg_status gather(void *context, const void *data, size_t size_bytes, void **all,
                             size_t *sizes)
{
    MPI_Comm *comm = context;
    uint64_t length = size_bytes;
    uint64_t *lengths = NULL;
    int *counts = NULL;
    int *starts = NULL;
    void *collected = NULL;
    unsigned char ok = 1;
    enum sg_status status;
    int rank, size;

    sg_real.Comm_rank(*comm, &rank);
    sg_real.Comm_size(*comm, &size);
    if (rank == 0) {
        lengths = calloc((size_t)size, sizeof *lengths);
        counts = calloc((size_t)size, sizeof *counts);
        starts = calloc((size_t)size, sizeof *starts);
        ok = lengths != NULL && counts != NULL && starts != NULL;
    }
    /* Rank 0's memory decides for all ranks, before any waits for it. */
    status = broadcast(context, &ok, sizeof ok);
    if (status == SG_OK && !ok)
        status = SG_ERR_MEMORY;
    if (status == SG_OK)
        status = status_of(sg_yielding_gather(&length, 1, MPI_UINT64_T, lengths, 0, *comm));
    if (status == SG_OK) {
        if (rank == 0)
            ok = plan(lengths, size, counts, starts, sizes, &collected);
        status = broadcast(context, &ok, sizeof ok);
        if (status == SG_OK && !ok)
            status = SG_ERR_FULL;
    }
    if (status == SG_OK)
        status = status_of(
            sg_yielding_gatherv(data, (int)length, collected, counts, starts, MPI_BYTE, 0, *comm));
    if (status == SG_OK && rank == 0)
        *all = collected;
    else
        free(collected);
    free(lengths);
    free(counts);
    free(starts);
    return status;
}

static enum sg_status combine(void *context, enum sg_combination how, uint64_t *values, int count)
{
    MPI_Comm *comm = context;

    return status_of(sg_yielding_allreduce(MPI_IN_PLACE, values, count, MPI_UINT64_T,
                                           how == SG_COMBINE_SUM ? MPI_SUM : MPI_MIN, *comm));
}

/* Records lie alike in both arrays, so one description serves both. */
static enum sg_status trade(void *context, const int *with, int count, const void *own,
                            void *theirs, size_t size_bytes)
{
    MPI_Comm *comm = context;
    int *counts, size;
    enum sg_status status;

    sg_real.Comm_size(*comm, &size);
    counts = calloc(2 * (size_t)size, sizeof *counts);
    if (counts == NULL)
        abort(); /* the others wait for this rank */
    for (int i = 0; i < count; i++) {
        counts[with[i]] = (int)size_bytes;
        counts[size + with[i]] = i * (int)size_bytes;
    }
    status = status_of(sg_yielding_alltoallv(own, theirs, counts, counts + size, MPI_BYTE, *comm));
    free(counts);
    return status;
}

static enum sg_status send_to(void *context, int to, const void *data, size_t size_bytes)
{
    MPI_Comm *comm = context;

    return status_of(sg_real.Send(data, (int)size_bytes, MPI_BYTE, to, TAG, *comm));
}

/* Probe with yields: if ranks share processors, the sender cannot run before this rank yields. */
static enum sg_status receive_from(void *context, int from, void *data, size_t size_bytes)
{
    MPI_Comm *comm = context;

    if (sg_yielding_probe(from, TAG, *comm) != MPI_SUCCESS)
        return SG_ERR_SYSTEM;
    return status_of(
        sg_real.Recv(data, (int)size_bytes, MPI_BYTE, from, TAG, *comm, MPI_STATUS_IGNORE));
}

void sg_exchange_mpi(MPI_Comm *comm, int rank, int size, struct sg_exchange *out)
{
    out->rank = rank;
    out->size = size;
    out->context = comm;
    out->gather = gather;
    out->broadcast = broadcast;
    out->send = send_to;
    out->receive = receive_from;
    out->combine = combine;
    out->trade = trade;
}

/* ---- exchanges in shared memory ---- */

/* MPICH's iterations each time that a wait drives it. */
#define ITERATIONS 64

/* A rank's data for the others. Each offers a segment, before it knows which rank leads its
 * machine. */
struct card {
    uint64_t machine;
    struct sg_segment_ticket ticket;
    int32_t rank;
    int32_t has_segment;
};

static struct sg_board board;
static MPI_Comm *board_world;
static MPI_Comm leaders = MPI_COMM_NULL; /* of several machines, on their leaders */
static int *machine_ranks;               /* of this machine */

static void drive_mpich(void)
{
    bool before = sg_turn_begin_own();
    int flag;

    for (int i = 0; i < ITERATIONS; i++)
        sg_real.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, *board_world, &flag, MPI_STATUS_IGNORE);
    sg_turn_end_own(before);
    sg_yielding_look();
}

static int by_machine(const void *a, const void *b)
{
    const struct card *one = a, *other = b;

    if (one->machine != other->machine)
        return one->machine < other->machine ? -1 : 1;
    return one->rank < other->rank ? -1 : 1;
}

static int by_value(const void *a, const void *b)
{
    return *(const int *)a < *(const int *)b ? -1 : 1;
}

/* Sorts the cards, and fills the board's ranks and numbers. Returns the card of this machine's
 * leader. first_ranks: of the machines, sorted. */
static const struct card *find_machine(struct card *cards, const struct card *own, int *first_ranks,
                                       int *machines)
{
    const struct card *leader = NULL;
    int size = board.all.size;

    qsort(cards, (size_t)size, sizeof *cards, by_machine);
    for (int i = 0; i < size; i++) {
        bool is_first = i == 0 || cards[i].machine != cards[i - 1].machine;

        if (is_first)
            first_ranks[(*machines)++] = cards[i].rank;
        if (cards[i].machine != own->machine)
            continue;
        if (is_first)
            leader = &cards[i];
        if (cards[i].rank == own->rank)
            board.number = board.count;
        machine_ranks[board.count++] = cards[i].rank;
    }
    qsort(first_ranks, (size_t)*machines, sizeof *first_ranks, by_value);
    return leader;
}

static bool map_board(const struct card *leader, struct card *own)
{
    if (leader->rank != own->rank)
        return leader->has_segment && sg_segment_open(&leader->ticket, &board.segment) == SG_OK;
    own->has_segment =
        own->has_segment &&
        sg_segment_fill(&own->ticket, sg_board_bytes(board.count), &board.segment) == SG_OK;
    return own->has_segment;
}

/* Collective over the leaders of several machines. */
static bool join_leaders(const int *first_ranks, int machines)
{
    MPI_Group all, group;
    int number = 0, error;

    if (sg_real.Comm_group(*board_world, &all) != MPI_SUCCESS)
        return false;
    error = sg_real.Group_incl(all, machines, first_ranks, &group);
    sg_real.Group_free(&all);
    if (error != MPI_SUCCESS)
        return false;
    error = sg_real.Comm_create_group(*board_world, group, TAG, &leaders);
    sg_real.Group_free(&group);
    if (error != MPI_SUCCESS)
        return false;
    while (first_ranks[number] != board.all.rank)
        number++;
    sg_exchange_mpi(&leaders, number, machines, &board.between);
    return true;
}

/* This rank's part of the preparations. */
static bool prepare(struct card *own, struct card *cards)
{
    int *first_ranks = calloc((size_t)board.all.size, sizeof *first_ranks);
    int machines = 0;
    bool ok;

    if (first_ranks == NULL)
        abort();
    ok = map_board(find_machine(cards, own, first_ranks, &machines), own);
    board.spins = board.count <= get_nprocs() && !sg_processors_are_short();
    board.between = sg_exchange_serial;
    if (machines > 1 && board.number == 0)
        ok = join_leaders(first_ranks, machines) && ok;
    free(first_ranks);
    return ok;
}

enum sg_status sg_exchange_meet(MPI_Comm *world, uint64_t machine, struct sg_exchange *exchange)
{
    size_t size = (size_t)exchange->size;
    struct card own = {.machine = machine, .rank = exchange->rank};
    struct card *cards = calloc(size, sizeof *cards);
    int ok, all_ok = 0;
    int error;

    if (size == 1) {
        free(cards);
        return SG_OK;
    }
    machine_ranks = calloc(size, sizeof *machine_ranks);
    if (cards == NULL || machine_ranks == NULL)
        abort();
    board_world = world;
    board = (struct sg_board){.ranks = machine_ranks, .all = *exchange, .idle = drive_mpich};
    own.has_segment = sg_segment_offer(sg_board_bytes(exchange->size), &own.ticket) == SG_OK;
    error = sg_yielding_allgather(&own, (int)sizeof own, MPI_BYTE, cards, *world);
    ok = error == MPI_SUCCESS && prepare(&own, cards);
    free(cards);
    if (error == MPI_SUCCESS)
        error = sg_yielding_allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, *world);
    if (own.has_segment)
        sg_segment_seal(&own.ticket);
    if (all_ok)
        sg_board_exchange(&board, exchange);
    else
        sg_exchange_part();
    return status_of(error);
}

bool sg_exchange_is_shared(void)
{
    return board.segment != NULL && board.count == board.all.size;
}

size_t sg_exchange_shared_bytes(void)
{
    return board.segment != NULL ? sg_board_bytes(board.count) : 0;
}

void sg_exchange_part(void)
{
    if (leaders != MPI_COMM_NULL)
        sg_real.Comm_free(&leaders);
    if (board.segment != NULL)
        sg_segment_unmap(board.segment, sg_board_bytes(board.all.size));
    board.segment = NULL;
    free(machine_ranks);
    machine_ranks = NULL;
}
