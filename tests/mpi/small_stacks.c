/* small_stacks BYTES cold|warm KIND...: makes each kind of call from its own thread with a stack of
 * BYTES bytes. "warm": the main thread has made the call before. "ends": such threads also call
 * MPI_Init_thread and MPI_Finalize, otherwise the main thread does. Prints one line per kind: the
 * deepest use of the stack, in bytes, over all ranks.
 */
#include "mpi_test.h"

#include <pthread.h>
#include <sys/mman.h>

#define PAINT 0xa5
#define GUARD_BYTES 4096

static MPI_Comm comm;
static int rank, size;

static void probe(void)
{
    int found;

    MUST(MPI_Iprobe(MPI_ANY_SOURCE, 7, comm, &found, MPI_STATUS_IGNORE));
    REQUIRE(!found);
}

static void barrier(void)
{
    MUST(MPI_Barrier(comm));
}

static void allreduce(void)
{
    double mine = rank, sum = -1;

    MUST(MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm));
    REQUIRE(sum == size * (size - 1) / 2.0);
}

static void reduce(void)
{
    int mine = 1, sum = -1;

    MUST(MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, comm));
    REQUIRE(sum == (rank == 0 ? size : -1));
}

static void bcast(void)
{
    int value = rank == 0 ? 42 : -1;

    MUST(MPI_Bcast(&value, 1, MPI_INT, 0, comm));
    REQUIRE(value == 42);
}

static void send(void)
{
    int value = rank, from = -1, peer = rank ^ 1;

    if (rank % 2 == 0)
        MUST(MPI_Send(&value, 1, MPI_INT, peer, 1, comm));
    MUST(MPI_Recv(&from, 1, MPI_INT, peer, 1, comm, MPI_STATUS_IGNORE));
    if (rank % 2 != 0)
        MUST(MPI_Send(&value, 1, MPI_INT, peer, 1, comm));
    REQUIRE(from == peer);
}

static void post(void)
{
    int value = rank, from = -1, peer = rank ^ 1;
    MPI_Request requests[2];
    MPI_Status statuses[2];

    MUST(MPI_Irecv(&from, 1, MPI_INT, peer, 1, comm, &requests[0]));
    MUST(MPI_Isend(&value, 1, MPI_INT, peer, 1, comm, &requests[1]));
    MUST(MPI_Waitall(2, requests, statuses));
    REQUIRE(from == peer);
}

static void begin(void)
{
    int mine = 1, sum = -1, done = 0;
    MPI_Request request;

    MUST(MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &request));
    while (!done)
        MUST(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    REQUIRE(sum == size);
}

static void duplicate(void)
{
    int mine = 1, sum = -1;
    MPI_Comm copy;

    MUST(MPI_Comm_dup(comm, &copy));
    MUST(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, copy));
    MUST(MPI_Barrier(copy));
    MUST(MPI_Comm_free(&copy));
    REQUIRE(sum == size);
}

static void gather(void)
{
    int all[64];

    MUST(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm));
    REQUIRE(all[size - 1] == size - 1);
}

static void initialize(void)
{
    int provided;

    MUST(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    REQUIRE(provided == MPI_THREAD_MULTIPLE);
}

static void finalize(void)
{
    MUST(MPI_Finalize());
}

static const struct kind {
    const char *name;
    void (*call)(void);
} kinds[] = {{"probe", probe},   {"barrier", barrier}, {"allreduce", allreduce},
             {"reduce", reduce}, {"bcast", bcast},     {"send", send},
             {"post", post},     {"begin", begin},     {"duplicate", duplicate},
             {"gather", gather}};

static const struct kind *kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    }
    REQUIRE(false);
}

/* Twice: the first one finds nothing ready. */
static void *run(void *argument)
{
    const struct kind *kind = argument;

    kind->call();
    kind->call();
    return NULL;
}

static void *run_once(void *argument)
{
    const struct kind *kind = argument;

    kind->call();
    return NULL;
}

static size_t used_by(void *(*begin)(void *), const struct kind *kind, size_t bytes)
{
    char *memory = mmap(NULL, GUARD_BYTES + bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    size_t unused = 0;
    pthread_attr_t attributes;
    pthread_t thread;

    REQUIRE(memory != MAP_FAILED && mprotect(memory, GUARD_BYTES, PROT_NONE) == 0);
    memset(memory + GUARD_BYTES, PAINT, bytes);
    REQUIRE(pthread_attr_init(&attributes) == 0);
    REQUIRE(pthread_attr_setstack(&attributes, memory + GUARD_BYTES, bytes) == 0);
    REQUIRE(pthread_create(&thread, &attributes, begin, (void *)kind) == 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
    while (unused < bytes && (unsigned char)memory[GUARD_BYTES + unused] == PAINT)
        unused++;
    munmap(memory, GUARD_BYTES + bytes);
    return bytes - unused;
}

int main(int argc, char **argv)
{
    static const struct kind begin_all = {"init", initialize}, end_all = {"finalize", finalize};
    bool ends, warm;
    size_t bytes, used;

    REQUIRE(argc > 3);
    bytes = (size_t)atol(argv[1]);
    warm = strcmp(argv[2], "warm") == 0;
    ends = strcmp(argv[2], "ends") == 0;
    if (ends)
        used = used_by(run_once, &begin_all, bytes);
    else
        initialize();
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &size));
    if (ends && rank == 0)
        printf("init %zu\n", used);
    for (int i = 3; i < argc; i++) {
        const struct kind *kind = kind_of(argv[i]);
        unsigned long most = 0;

        /* The call of each kind is the first one on its communicator, but for "warm". */
        MUST(PMPI_Comm_dup(MPI_COMM_WORLD, &comm));
        if (warm)
            run((void *)kind);
        used = used_by(run, kind, bytes);
        MUST(PMPI_Reduce(&used, &most, 1, MPI_UNSIGNED_LONG, MPI_MAX, 0, MPI_COMM_WORLD));
        if (rank == 0)
            printf("%s %lu\n", kind->name, most);
        fflush(stdout);
        MUST(MPI_Comm_free(&comm));
    }
    if (!ends)
        finalize();
    else
        used = used_by(run_once, &end_all, bytes);
    if (ends && rank == 0)
        printf("finalize %zu\n", used);
    return 0;
}
