/* Not linked with MPI: loads a plugin that is, with RTLD_LOCAL, as an interpreter loads mpi4py.
 * MPICH's symbols are then in no scope that RTLD_NEXT searches.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int (*run)(int, char **);

    if (dlsym(RTLD_DEFAULT, "PMPI_Init") != NULL) {
        fprintf(stderr, "MPICH is loaded before the plugin is\n");
        return 2;
    }
    void *plugin = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    *(void **)&run = dlsym(plugin, "plugin_run");
    return run != NULL ? run(argc, argv) : 2;
}
