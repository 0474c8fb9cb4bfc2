/* Writes files completely or not at all, draws figures with gnuplot, and finds the terminal behind
 * a launcher's pipe.
 */
#include "output/output_file.h"

#include "core/file.h"
#include "output/format.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODE_ALL 0666 /* before the umask */

/* Sets the mode of a new file, or the mode of the file that it replaces, so that access its owner
 * denied stays denied. If the group cannot be kept, the new group gets no more than others. */
static bool set_mode(int file, const struct stat *replaced)
{
    mode_t mask = umask(0), mode = MODE_ALL;

    umask(mask);
    if (replaced == NULL)
        return fchmod(file, mode & ~mask) == 0;
    mode = replaced->st_mode & MODE_ALL;
    if (fchown(file, (uid_t)-1, replaced->st_gid) != 0)
        mode &= ~(mode_t)S_IRWXG | (mode & S_IRWXO) << 3; /* group bits: only others' ones */
    return fchmod(file, mode) == 0;
}

/* Opens a file of its own beside path, so that two concurrent commands do not share one. */
static enum sg_status open_temporary(const char *path, const struct stat *replaced,
                                     struct sg_output_file *out)
{
    int descriptor;

    if (asprintf(&out->temporary, "%s.XXXXXX", path) < 0) {
        out->temporary = NULL;
        sg_log("%s: out of memory", path);
        return SG_ERR_MEMORY;
    }
    descriptor = mkstemp(out->temporary);
    if (descriptor >= 0 && set_mode(descriptor, replaced))
        out->stream = fdopen(descriptor, "w");
    if (out->stream != NULL)
        return SG_OK;
    sg_log("%s: %m", path);
    if (descriptor >= 0) {
        close(descriptor);
        unlink(out->temporary);
    }
    free(out->temporary);
    return SG_ERR_SYSTEM;
}

/* True for /dev/stdout and similar links to an open file: such a link must not be replaced. */
static bool is_open_file(const char *path)
{
    struct stat link;

    return (strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0) &&
           lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
}

enum sg_status sg_output_file_open(const char *path, struct sg_output_file *out)
{
    struct stat info;
    bool there = stat(path, &info) == 0;

    *out = (struct sg_output_file){.path = path};
    if (strcmp(path, "-") == 0) {
        out->stream = stdout;
        return SG_OK;
    }
    if (there && S_ISDIR(info.st_mode)) {
        sg_log("%s: is a directory", path);
        return SG_ERR_SYSTEM;
    }
    if ((!there || S_ISREG(info.st_mode)) && !is_open_file(path))
        return open_temporary(path, there ? &info : NULL, out);
    out->stream = fopen(path, "w");
    if (out->stream != NULL)
        return SG_OK;
    sg_log("%s: %m", path);
    return SG_ERR_SYSTEM;
}

enum sg_status sg_output_file_close(struct sg_output_file *file, enum sg_status status)
{
    int failed = fflush(file->stream) != 0 || ferror(file->stream);

    /* Sync before the rename: otherwise a power failure could leave neither file. */
    if (!failed && status == SG_OK && file->temporary != NULL)
        failed = sg_file_sync(fileno(file->stream)) != 0;
    if (file->stream != stdout && fclose(file->stream) != 0)
        failed = true;
    if (!failed && status == SG_OK && file->temporary != NULL)
        failed = rename(file->temporary, file->path) != 0;
    /* main() reports errors of standard output. */
    if (failed && file->stream != stdout) {
        /* The reason of an earlier failed write is lost. */
        if (errno != 0)
            sg_log("%s: cannot be written: %m", file->path);
        else
            sg_log("%s: cannot be written", file->path);
    }
    if (failed && status == SG_OK)
        status = SG_ERR_SYSTEM;
    if (status != SG_OK && file->temporary != NULL)
        unlink(file->temporary);
    free(file->temporary);
    *file = (struct sg_output_file){0};
    return status;
}

FILE *sg_gnuplot_script(const char *who)
{
    FILE *script = tmpfile();

    if (script == NULL)
        sg_log("%s: a temporary file: %m", who);
    return script;
}

/* A single quote is doubled. A line end would end the quotation and begin a command. */
void sg_gnuplot_quote(const char *text, FILE *script)
{
    char *clean = sg_format_clean(text, true);

    fputc('\'', script);
    for (const char *at = clean != NULL ? clean : "?"; *at != '\0'; at++)
        fprintf(script, *at == '\'' ? "''" : "%c", *at);
    fputc('\'', script);
    free(clean);
}

/* Starts gnuplot with the script as its standard input and the figure as its output. Returns an
 * errno. */
static int start(FILE *script, int figure, pid_t *child)
{
    static char name[] = "gnuplot";
    char *const arguments[] = {name, NULL};
    char *const environment[] = {NULL}; /* no user settings, no preloaded library */
    posix_spawn_file_actions_t files;
    int error = posix_spawn_file_actions_init(&files);

    if (error != 0)
        return error;
    error = posix_spawn_file_actions_adddup2(&files, fileno(script), STDIN_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&files, figure, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawnp(child, name, &files, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

static enum sg_status draw(FILE *script, int figure, const char *who)
{
    pid_t child;
    int ended, error;

    if (fflush(script) != 0 || fseek(script, 0, SEEK_SET) != 0) {
        sg_log("%s: a temporary file: %m", who);
        return SG_ERR_SYSTEM;
    }
    error = start(script, figure, &child);
    errno = error;
    if (error == ENOENT)
        sg_log("%s: gnuplot is not installed", who);
    else if (error != 0)
        sg_log("%s: gnuplot: %m", who);
    if (error != 0)
        return SG_ERR_MISSING;
    if (waitpid(child, &ended, 0) == child && WIFEXITED(ended) && WEXITSTATUS(ended) == 0)
        return SG_OK;
    sg_log("%s: gnuplot does not draw the figure", who);
    return SG_ERR_SYSTEM;
}

enum sg_status sg_gnuplot_run(FILE *script, const char *path, const char *who)
{
    struct sg_output_file figure;
    enum sg_status status = sg_output_file_open(path, &figure);

    if (status == SG_OK) {
        status = draw(script, fileno(figure.stream), who);
        status = sg_output_file_close(&figure, status);
    }
    fclose(script);
    return status;
}

#define PATH_BYTES 64
#define NAME_BYTES 32

/* False if there is no such process, or if it is no launcher of MPI programs. */
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
    /* The name in brackets may contain anything, but a launcher's contains no bracket. */
    if (fscanf(file, "%*d (%31[^)]) %*c %d", name, parent) == 2) {
        for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
            known = known || strncmp(name, launchers[i], strlen(launchers[i])) == 0;
    }
    fclose(file);
    return known;
}

/* Opens only a terminal: opening anything else may block until there is a reader. */
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
