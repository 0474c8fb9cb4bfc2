#include "output/output_file.h"

#include "core/file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODE_ALL 0666 /* less the umask */

/* The mode of a new file, or of the one that it replaces: what its owner has closed to others stays
 * closed. Where the group cannot be kept, another one gets no more than everybody. */
static bool set_mode(int file, const struct stat *replaced)
{
    mode_t mask = umask(0), mode = MODE_ALL;

    umask(mask);
    if (replaced == NULL)
        return fchmod(file, mode & ~mask) == 0;
    mode = replaced->st_mode & MODE_ALL;
    if (fchown(file, (uid_t)-1, replaced->st_gid) != 0)
        mode &= ~(mode_t)S_IRWXG | (mode & S_IRWXO) << 3; /* the group's bits: others', too */
    return fchmod(file, mode) == 0;
}

/* A file of its own beside path, so that two commands at once do not share one. */
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

/* /dev/stdout and its like name an open file: nothing is put in the place of such a link. */
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

    /* Before it replaces another: else a power failure could leave neither. */
    if (!failed && status == SG_OK && file->temporary != NULL)
        failed = sg_file_sync(fileno(file->stream)) != 0;
    if (file->stream != stdout && fclose(file->stream) != 0)
        failed = true;
    if (!failed && status == SG_OK && file->temporary != NULL)
        failed = rename(file->temporary, file->path) != 0;
    /* Of standard output main tells. */
    if (failed && file->stream != stdout) {
        /* Of a write that failed a while ago the reason is gone. */
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
