/* Stands for an MPICH 5 whose device (ch4:other) offers no means to yield that the library knows.
 * Preloaded behind the library. Each process prints the progress throttle settings in its
 * environment when it starts and when it ends.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THROTTLE "MPIR_CVAR_CH4_PROGRESS_THROTTLE"

static void *next(const char *symbol)
{
    void *function = dlsym(RTLD_NEXT, symbol);

    if (function == NULL)
        abort();
    return function;
}

static void tell(const char *when)
{
    const char *throttle = getenv(THROTTLE), *count = getenv(THROTTLE "_NO_PROGRESS_COUNT");

    printf("%s: throttle %s count %s\n", when, throttle == NULL ? "none" : throttle,
           count == NULL ? "none" : count);
    fflush(stdout);
}

int PMPI_Get_library_version(char *version, int *length)
{
    strcpy(version, "MPICH Version:      5.0.0\nMPICH Device:       ch4:other\n");
    *length = (int)strlen(version);
    return MPI_SUCCESS;
}

int PMPI_Init(int *argc, char ***argv)
{
    int (*init)(int *, char ***);

    *(void **)&init = next("PMPI_Init");
    tell("start");
    return init(argc, argv);
}

int PMPI_Finalize(void)
{
    int (*finalize)(void);

    *(void **)&finalize = next("PMPI_Finalize");
    tell("end");
    return finalize();
}
