#include "output/terminal.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 64
#define NAME_BYTES 32

/* False where there is no such process, or it is no launcher of MPI programs. */
static bool read_launcher(int process, int *parent)
{
    static const char *const launchers[] = {"mpiexec", "mpirun", "hydra", "orte", "prte"};
    char path[PATH_BYTES], name[NAME_BYTES];
    FILE *file;
    bool known = false;

    snprintf(path, sizeof path, "/proc/%d/stat", process);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    /* The name, in brackets, may hold anything: a launcher's holds no bracket. */
    if (fscanf(file, "%*d (%31[^)]) %*c %d", name, parent) == 2) {
        for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
            known = known || strncmp(name, launchers[i], strlen(launchers[i])) == 0;
    }
    fclose(file);
    return known;
}

/* Opens nothing but a terminal: what else there is may wait for a reader. */
static int open_terminal_of(int process, int descriptor)
{
    char path[PATH_BYTES];
    struct stat info;
    int opened;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", process, descriptor);
    if (stat(path, &info) != 0 || !S_ISCHR(info.st_mode))
        return -1;
    opened = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (opened >= 0 && isatty(opened))
        return opened;
    if (opened >= 0)
        close(opened);
    return -1;
}

int sg_terminal_open(int descriptor)
{
    struct stat info;
    int opened = -1;
    int process = getppid();

    if (isatty(descriptor))
        return fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (fstat(descriptor, &info) != 0 || (!S_ISFIFO(info.st_mode) && !S_ISSOCK(info.st_mode)))
        return -1;
    for (int parent; opened < 0 && read_launcher(process, &parent); process = parent)
        opened = open_terminal_of(process, descriptor);
    return opened;
}
