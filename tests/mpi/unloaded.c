/* A program that runs two plugins one after the other, at one address: unloads the first before it
 * loads the second. Compiled with TIMES it is the plugin, which makes that many barriers.
 *
 * Prints "same address" if the system loads the second plugin where the first was.
 */
#include "mpi_test.h"

#ifdef TIMES

int run_plugin(void);

__attribute__((visibility("default"))) int run_plugin(void)
{
    for (int i = 0; i < TIMES; i++)
        MUST(MPI_Barrier(MPI_COMM_WORLD));
    return TIMES;
}

#else

#include <dlfcn.h>

static void *run(const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL), *at;
    int (*function)(void);

    REQUIRE(plugin != NULL);
    at = dlsym(plugin, "run_plugin");
    REQUIRE(at != NULL);
    *(void **)&function = at;
    REQUIRE(function() > 0);
    REQUIRE(dlclose(plugin) == 0);
    return at;
}

int main(int argc, char **argv)
{
    int rank, size;

    START(rank, size);
    REQUIRE(argc == 3 && size > 0);
    if (run(argv[1]) == run(argv[2]) && rank == 0)
        puts("same address");
    MUST(MPI_Finalize());
    return 0;
}

#endif
