/* Reductions of buffers in GPU memory (driver.c stands in for the driver, gpu_library.c for an
 * MPICH that accepts such buffers), beside reductions of host memory:
 *
 *     device DRIVER early|late all|one [posted]
 *
 * early: the driver is loaded before MPI_Init; late: it is loaded when MPI_COMM_WORLD has been in
 * use. all: every rank has one; one: only the last rank does. A rank without a driver uses host
 * buffers. Touching device memory on the host ends the program.
 */
#include "mpi_test.h"

#include <dlfcn.h>

#define COUNT_MAX 100000

static const int counts[] = {1, 100, 1000, COUNT_MAX};

/* A buffer, and where the host reaches it. */
struct buffer {
    double *program, *host;
};

static void *(*driver_alloc)(size_t bytes);
static void *(*driver_alias)(const void *pointer);
static int rank, ranks;
static bool posted;

static void load_driver(const char *path)
{
    void *driver = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void (*start)(void);

    if (driver == NULL)
        fprintf(stderr, "%s\n", dlerror());
    REQUIRE(driver != NULL);
    *(void **)&driver_alloc = dlsym(driver, "driver_alloc");
    *(void **)&driver_alias = dlsym(driver, "driver_alias");
    *(void **)&start = dlsym(driver, "driver_start");
    start();
}

static struct buffer make_buffer(bool on_device)
{
    struct buffer buffer;
    const size_t bytes = COUNT_MAX * sizeof(double);

    buffer.program = on_device && driver_alloc != NULL ? driver_alloc(bytes) : malloc(bytes);
    REQUIRE(buffer.program != NULL);
    buffer.host = driver_alias != NULL ? driver_alias(buffer.program) : NULL;
    if (buffer.host == NULL)
        buffer.host = buffer.program;
    return buffer;
}

static void fill(const struct buffer *buffer, int count, double first)
{
    for (int i = 0; i < count; i++)
        buffer->host[i] = first + i;
}

static void check(const struct buffer *buffer, int count)
{
    for (int i = 0; i < count; i++)
        REQUIRE(buffer->host[i] == ranks * (ranks - 1) / 2.0 + (double)ranks * i);
}

static void check_untouched(const struct buffer *buffer, int count)
{
    for (int i = 0; i < count; i++)
        REQUIRE(buffer->host[i] == -1 + i);
}

static void reduce_all(const void *send, double *receive, int count)
{
    MPI_Request request;

    if (!posted) {
        MUST(MPI_Allreduce(send, receive, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        return;
    }
    MUST(MPI_Iallreduce(send, receive, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void reduce_to(const void *send, double *receive, int count, int root)
{
    MPI_Request request;

    if (!posted) {
        MUST(MPI_Reduce(send, receive, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD));
        return;
    }
    MUST(MPI_Ireduce(send, receive, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void run(const struct buffer *send, const struct buffer *receive)
{
    for (int k = 0; k < 4; k++) {
        const int count = counts[k];

        fill(send, count, rank);
        fill(receive, count, -1);
        reduce_all(send->program, receive->program, count);
        check(receive, count);
        fill(receive, count, rank);
        reduce_all(MPI_IN_PLACE, receive->program, count);
        check(receive, count);
        for (int root = 0; root < ranks; root++) {
            fill(receive, count, -1);
            reduce_to(send->program, receive->program, count, root);
            if (rank == root)
                check(receive, count);
            else
                check_untouched(receive, count);
        }
    }
}

/* With call sites of their own, for what ran them. */
static void __attribute__((noinline)) on_device(const struct buffer *send, double *receive)
{
    MUST(MPI_Allreduce(send->program, receive, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

static void __attribute__((noinline)) on_host(const struct buffer *send, double *receive)
{
    MUST(MPI_Allreduce(send->program, receive, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

static void __attribute__((noinline)) use(const double *one, double *sum)
{
    MUST(MPI_Allreduce(one, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    struct buffer buffers[4];
    bool early, has_driver;
    double sum = 0, one = 1;
    const char *id = getenv("PMI_RANK");
    const char *size = getenv("PMI_SIZE");

    REQUIRE(argc > 3 && id != NULL && size != NULL);
    early = strcmp(argv[2], "early") == 0;
    posted = argc > 4;
    has_driver = strcmp(argv[3], "all") == 0 || atoi(id) == atoi(size) - 1;
    if (early && has_driver)
        load_driver(argv[1]);
    START(rank, ranks);
    for (int i = 0; i < 10; i++)
        use(&one, &sum);
    if (!early && has_driver)
        load_driver(argv[1]);
    for (int i = 0; i < 4; i++)
        buffers[i] = make_buffer(i < 2);
    run(&buffers[0], &buffers[1]);
    run(&buffers[0], &buffers[3]);
    run(&buffers[2], &buffers[1]);
    run(&buffers[2], &buffers[3]);
    for (int i = 0; i < 10; i++) {
        on_device(&buffers[0], buffers[1].program);
        on_host(&buffers[2], buffers[3].program);
        MUST(MPI_Barrier(MPI_COMM_WORLD));
    }
    MUST(MPI_Finalize());
    if (rank == 0)
        printf("finished\n");
    return 0;
}
