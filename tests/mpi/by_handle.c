/* Not linked with MPI: finds every function through the handle of a library that is, as an
 * interpreter does (by_handle PLUGIN). Each rank prints the number of its calls.
 *
 *     by_handle PLUGIN           by dlsym
 *     by_handle PLUGIN deepbind  the plugin runs, and has MPICH's functions before all others
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(what)                                                                              \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #what);                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void *library;

static void *find(const char *name)
{
    void *function = dlsym(library, name);

    REQUIRE(function != NULL);
    REQUIRE(dlerror() == NULL);
    return function;
}

#define DECLARE(name) __typeof__(&name) name##_found = (__typeof__(&name))find(#name)

/* Other look-ups: errors, profiling names, and look-ups without a handle. */
static void check_look_ups(void)
{
    REQUIRE(dlsym(library, "MPI_No_such_function") == NULL);
    const char *error = dlerror();
    REQUIRE(error != NULL && strstr(error, "MPI_No_such_function") != NULL);
    REQUIRE(dlsym(library, "PMPI_Barrier") != dlsym(library, "MPI_Barrier"));
    REQUIRE(dlsym(RTLD_DEFAULT, "PMPI_Barrier") == NULL && dlerror() != NULL);
    REQUIRE(dlsym(RTLD_NEXT, "main") == NULL); /* this program comes first */
    REQUIRE(dlsym(RTLD_DEFAULT, "printf") == dlsym(RTLD_NEXT, "printf"));
    REQUIRE(dlvsym(library, "MPI_Barrier", "NO_SUCH_VERSION") == NULL);
    dlerror();
}

static void run_by_handle(void)
{
    DECLARE(MPI_Init);
    DECLARE(MPI_Comm_rank);
    DECLARE(MPI_Comm_size);
    DECLARE(MPI_Barrier);
    DECLARE(MPI_Allreduce);
    DECLARE(MPI_Finalize);
    int rank, size, mine = 2, sum = 0;

    check_look_ups();
    REQUIRE(MPI_Init_found(NULL, NULL) == MPI_SUCCESS);
    MPI_Comm_rank_found(MPI_COMM_WORLD, &rank);
    MPI_Comm_size_found(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 100; i++) {
        REQUIRE(MPI_Barrier_found(MPI_COMM_WORLD) == MPI_SUCCESS);
        REQUIRE(MPI_Allreduce_found(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) ==
                MPI_SUCCESS);
        REQUIRE(sum == 2 * size);
    }
    REQUIRE(MPI_Finalize_found() == MPI_SUCCESS);
    printf("{\"rank\":%d,\"barrier\":100,\"reduce\":0,\"allreduce\":100}\n", rank);
}

int main(int argc, char **argv)
{
    int deep = argc > 2 ? RTLD_DEEPBIND : 0;
    int (*run)(int, char **);

    REQUIRE(argc > 1);
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | deep);
    REQUIRE(library != NULL);
    if (!deep) {
        run_by_handle();
        return 0;
    }
    *(void **)&run = dlsym(library, "plugin_run");
    return run(argc, argv);
}
