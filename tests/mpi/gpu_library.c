/* A stand-in for an MPICH that accepts pointers to GPU memory: MPICH's reductions, with such
 * pointers translated, on a machine with a GPU. Preloaded alone, or behind libstagger.so, which
 * finds it instead of MPICH's.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A stand-in's driver_alias (driver.c), once it is loaded. */
typedef void *(*alias_function)(const void *);

static alias_function alias_of(const char *driver)
{
    const char *address = getenv(driver);

    return address != NULL ? (alias_function)strtoull(address, NULL, 16) : NULL;
}

/* The devices' files: drivers without any are taken for what hwloc loads to look for some. */
int access(const char *path, int mode)
{
    int (*real)(const char *, int);

    if ((strcmp(path, "/dev/nvidiactl") == 0 && alias_of("DRIVER_CUDA") != NULL) ||
        (strcmp(path, "/dev/kfd") == 0 && alias_of("DRIVER_HIP") != NULL) ||
        (strcmp(path, "/dev/dxg") == 0 && alias_of("DRIVER_ZE") != NULL))
        return 0;
    *(void **)&real = dlsym(RTLD_NEXT, "access");
    return real(path, mode);
}

static void *host(const void *pointer)
{
    static const char *const drivers[] = {"DRIVER_CUDA", "DRIVER_HIP", "DRIVER_ZE"};
    void *found = NULL;

    for (int i = 0; i < 3 && found == NULL && pointer != MPI_IN_PLACE; i++) {
        alias_function alias = alias_of(drivers[i]);

        if (alias != NULL)
            found = alias(pointer);
    }
    return found != NULL ? found : (void *)(size_t)pointer;
}

#define REAL(name)                                                                                 \
    __typeof__(&PMPI_##name) real;                                                                 \
    *(void **)&real = dlsym(RTLD_NEXT, "PMPI_" #name)

int PMPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm)
{
    REAL(Allreduce);
    return real(host(send), host(receive), count, type, op, comm);
}

int PMPI_Reduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm comm)
{
    REAL(Reduce);
    return real(host(send), host(receive), count, type, op, root, comm);
}

int PMPI_Iallreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm, MPI_Request *request)
{
    REAL(Iallreduce);
    return real(host(send), host(receive), count, type, op, comm, request);
}

int PMPI_Ireduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root,
                 MPI_Comm comm, MPI_Request *request)
{
    REAL(Ireduce);
    return real(host(send), host(receive), count, type, op, root, comm, request);
}

#define ALIAS(name) extern __typeof__(PMPI_##name) MPI_##name __attribute__((alias("PMPI_" #name)))
ALIAS(Allreduce);
ALIAS(Reduce);
ALIAS(Iallreduce);
ALIAS(Ireduce);
