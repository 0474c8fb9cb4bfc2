/* Loads MPICH, as dlopen() finds it, in processes that a launcher started, and exchanges blocks.
 *
 * Process 0 has posted two receives for each process. It answers a block with a byte when it has
 * read it: go on, or stop. A process waits for the answer to a block before it sends the one after
 * the next, so it is at most two blocks ahead.
 */
#include "processes/processes.h"

#include "core/config.h"
#include "core/status.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AHEAD 2
#define TAG_BLOCK 1
#define TAG_ANSWER 2

#define FUNCTIONS(X)                                                                               \
    X(Init)                                                                                        \
    X(Finalize)                                                                                    \
    X(Comm_rank)                                                                                   \
    X(Comm_size) X(Bcast) X(Send) X(Recv) X(Isend) X(Irecv) X(Wait) X(Cancel) X(Get_count)

/* The blocks between process 0 and another process: block i is in place i mod AHEAD. */
struct stream {
    uint8_t *bytes[AHEAD];
    MPI_Request requests[AHEAD];
    uint64_t begun, done; /* sent and answered; received and answered */
    bool stopped;         /* process 0 wants no more */
    bool ended;
};

static struct {
    uint32_t number, count;
    bool joined, gave;
    struct stream *streams; /* in process 0: by process; in others: one */
#define FUNCTION(name) __typeof__(&MPI_##name) name;
    FUNCTIONS(FUNCTION)
#undef FUNCTION
} group = {.count = 1};

/* ---- joining and leaving --------------------------------------------------------------------- */

/* True if a file of the process has such a part. The parts end with a character. */
static bool has_part(int process, const char *file, int end, bool (*is_one)(const char *part))
{
    char path[64], *part = NULL;
    size_t room = 0;
    bool found = false;
    FILE *stream;

    snprintf(path, sizeof path, "/proc/%d/%s", process, file);
    stream = fopen(path, "re");
    while (stream != NULL && !found && getdelim(&part, &room, end, stream) >= 0)
        found = is_one(part);
    free(part);
    if (stream != NULL)
        fclose(stream);
    return found;
}

static bool names_rank(const char *variable)
{
    return strncmp(variable, "PMI_RANK=", 9) == 0 || strncmp(variable, "PMIX_RANK=", 10) == 0;
}

static bool maps_mpi(const char *line)
{
    return strstr(line, "/libmpi") != NULL;
}

static int parent_of(int process)
{
    char path[64];
    int parent = 0;
    FILE *stream;

    snprintf(path, sizeof path, "/proc/%d/stat", process);
    stream = fopen(path, "re");
    if (stream == NULL)
        return 0;
    if (fscanf(stream, "%*d (%*[^)]) %*c %d", &parent) != 1)
        parent = 0;
    fclose(stream);
    return parent;
}

/* True if a rank of a job has started this process, directly or not: the launcher's variables and
 * connection are that rank's. */
static bool is_of_rank(void)
{
    int process = getppid();

    while (process > 1 && has_part(process, "environ", '\0', names_rank)) {
        if (has_part(process, "maps", '\n', maps_mpi))
            return true;
        process = parent_of(process);
    }
    return false;
}

/* True if a launcher started several processes, as far as its variables say. */
static bool is_launched(void)
{
    static const char *const sizes[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE"};
    const char *connection = sg_config_environment("PMI_FD"), *size;

    if (connection != NULL && fcntl((int)strtol(connection, NULL, 10), F_GETFD) < 0)
        return false;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size = sg_config_environment(sizes[i]);
        if (size != NULL)
            return strtol(size, NULL, 10) > 1 && !is_of_rank();
    }
    size = sg_config_environment("SLURM_STEP_NUM_TASKS");
    return sg_config_environment("PMIX_RANK") != NULL &&
           (size == NULL || strtol(size, NULL, 10) > 1) && !is_of_rank();
}

static bool is_first(void)
{
    static const char *const ranks[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};
    bool is_later = false;

    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const char *rank = sg_config_environment(ranks[i]);

        is_later = is_later || (rank != NULL && strcmp(rank, "0") != 0);
    }
    return !is_later;
}

static bool load(void)
{
    static const char *const names[] = {"libmpich.so.12", "libmpi.so.12"};
    void *library = NULL;
    bool complete = true;

    for (size_t i = 0; i < sizeof names / sizeof *names && library == NULL; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL)
        return false;
#define FUNCTION(name)                                                                             \
    group.name = (__typeof__(group.name))dlsym(library, "MPI_" #name);                             \
    complete = complete && group.name != NULL;
    FUNCTIONS(FUNCTION)
#undef FUNCTION
    return complete;
}

static void refuse(const char *why)
{
    if (is_first())
        sg_log("several processes share a report through MPICH: %s", why);
    exit(1);
}

static void post(uint32_t process, uint64_t block)
{
    struct stream *stream = &group.streams[process];

    group.Irecv(stream->bytes[block % AHEAD], (int)SG_PROCESSES_BLOCK_BYTES, MPI_BYTE, (int)process,
                TAG_BLOCK, MPI_COMM_WORLD, &stream->requests[block % AHEAD]);
}

static void make_streams(void)
{
    uint32_t count = group.number == 0 ? group.count : 1;

    group.streams = calloc(count, sizeof *group.streams);
    for (uint32_t i = 0; i < count && group.streams != NULL; i++) {
        struct stream *stream = &group.streams[i];

        for (uint32_t k = 0; k < AHEAD && (i > 0 || group.number > 0); k++) {
            stream->requests[k] = MPI_REQUEST_NULL;
            stream->bytes[k] = malloc(SG_PROCESSES_BLOCK_BYTES);
            if (stream->bytes[k] == NULL)
                refuse("out of memory");
        }
    }
    if (group.streams == NULL)
        refuse("out of memory");
}

uint32_t sg_processes_join(void)
{
    int rank = 0, size = 1;

    if (!is_launched())
        return 0;
    if (sg_config_environment("OMPI_COMM_WORLD_SIZE") != NULL)
        refuse("start them with its mpiexec, not with Open MPI's");
    if (!load())
        refuse("libmpich.so.12 cannot be loaded");
    group.Init(NULL, NULL);
    group.Comm_rank(MPI_COMM_WORLD, &rank);
    group.Comm_size(MPI_COMM_WORLD, &size);
    group.joined = true;
    group.number = (uint32_t)rank;
    group.count = (uint32_t)size;
    make_streams();
    if (rank == 0)
        atexit(sg_processes_leave);
    return group.number;
}

uint32_t sg_processes_count(void)
{
    return group.count;
}

uint32_t sg_processes_number(void)
{
    return group.number;
}

void sg_processes_leave(void)
{
    if (!group.joined)
        return;
    if (group.number == 0)
        sg_processes_give(NULL);
    group.joined = false;
    group.Finalize();
}

/* ---- work ------------------------------------------------------------------------------------ */

void sg_processes_give(const char *work)
{
    uint64_t size_bytes = work != NULL ? strlen(work) + 1 : 0;

    if (!group.joined || group.gave)
        return;
    group.gave = true;
    group.Bcast(&size_bytes, sizeof size_bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (work == NULL)
        return;
    group.Bcast((void *)work, (int)size_bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (uint32_t process = 1; process < group.count; process++) {
        for (uint32_t block = 0; block < AHEAD; block++)
            post(process, block);
    }
}

char *sg_processes_await(void)
{
    uint64_t size_bytes = 0;
    char *work;

    group.Bcast(&size_bytes, sizeof size_bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (size_bytes == 0)
        return NULL;
    work = malloc(size_bytes);
    /* Without memory for a path the job cannot go on: its launcher ends it. */
    if (work == NULL)
        abort();
    group.Bcast(work, (int)size_bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    return work;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Receives the answer to the oldest block that has none. */
static void hear(struct stream *stream)
{
    uint8_t is_wanted = 0;

    group.Recv(&is_wanted, 1, MPI_BYTE, 0, TAG_ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    stream->stopped = stream->stopped || is_wanted == 0;
    group.Wait(&stream->requests[stream->done % AHEAD], MPI_STATUS_IGNORE);
    stream->done++;
}

bool sg_processes_send(const void *bytes, size_t size_bytes)
{
    struct stream *stream = group.streams;
    uint32_t place = (uint32_t)(stream->begun % AHEAD);

    if (stream->begun - stream->done == AHEAD)
        hear(stream);
    memcpy(stream->bytes[place], bytes, size_bytes);
    group.Isend(stream->bytes[place], (int)size_bytes, MPI_BYTE, 0, TAG_BLOCK, MPI_COMM_WORLD,
                &stream->requests[place]);
    stream->begun++;
    return !stream->stopped;
}

void sg_processes_send_end(void)
{
    struct stream *stream = group.streams;

    sg_processes_send("", 0);
    while (stream->done < stream->begun)
        hear(stream);
}

/* Answers the block that was received last. */
static void answer(uint32_t process)
{
    struct stream *stream = &group.streams[process];
    uint8_t is_wanted = !stream->stopped;

    group.Send(&is_wanted, 1, MPI_BYTE, (int)process, TAG_ANSWER, MPI_COMM_WORLD);
    if (!stream->ended)
        post(process, stream->done);
    stream->done++;
}

size_t sg_processes_receive(uint32_t process, const uint8_t **bytes)
{
    struct stream *stream = &group.streams[process];
    uint32_t place = (uint32_t)(stream->begun % AHEAD);
    MPI_Status status;
    int size_bytes = 0;

    if (stream->ended)
        return 0;
    if (stream->begun > stream->done)
        answer(process);
    group.Wait(&stream->requests[place], &status);
    group.Get_count(&status, MPI_BYTE, &size_bytes);
    stream->begun++;
    *bytes = stream->bytes[place];
    if (size_bytes == 0) {
        MPI_Request *other = &stream->requests[stream->begun % AHEAD];

        stream->ended = true;
        answer(process);
        group.Cancel(other);
        group.Wait(other, MPI_STATUS_IGNORE);
    }
    return (size_t)size_bytes;
}

void sg_processes_stop(uint32_t process)
{
    const uint8_t *bytes;

    group.streams[process].stopped = true;
    while (sg_processes_receive(process, &bytes) > 0)
        ;
}
