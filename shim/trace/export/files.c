#include "trace/export/files.h"

#include "trace/lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANCHOR SG_ARCHIVE_NAME ".otf2"
#define ANCHOR_BEGUN SG_ARCHIVE_NAME ".otf2.part"
#define NAME_BYTES 32

static const char *const single_files[] = {ANCHOR, ANCHOR_BEGUN, SG_ARCHIVE_NAME ".def",
                                           SG_ARCHIVE_NAME ".marker"};
#define SINGLE_FILES (sizeof single_files / sizeof single_files[0])

static int open_directory(int at, const char *path, int flags, int *directory)
{
    *directory = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
    return *directory >= 0 ? 0 : errno;
}

static int create_file(int at, const char *name, int *file)
{
    *file = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    return *file >= 0 ? 0 : errno;
}

int sg_files_open(struct sg_files *files, const char *directory)
{
    *files = SG_FILES_CLOSED;
    return open_directory(AT_FDCWD, directory, 0, &files->directory);
}

void sg_files_close(struct sg_files *files)
{
    if (files->locations >= 0)
        close(files->locations);
    if (files->anchor >= 0)
        close(files->anchor);
    if (files->directory >= 0)
        close(files->directory);
    *files = SG_FILES_CLOSED;
}

/* Another export is under way. */
static bool is_busy(const struct sg_files *files)
{
    int begun =
        openat(files->directory, ANCHOR_BEGUN, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool busy = begun >= 0 && sg_lock_is_held(begun);

    if (begun >= 0)
        close(begun);
    return busy;
}

int sg_files_prepare(struct sg_files *files)
{
    struct stat info;
    int error;

    if (fstatat(files->directory, ANCHOR, &info, AT_SYMLINK_NOFOLLOW) == 0)
        return EEXIST;
    if (errno != ENOENT)
        return errno;
    if (is_busy(files))
        return EBUSY;
    error = sg_files_remove(files);
    if (error != 0)
        return error;
    error = create_file(files->directory, ANCHOR_BEGUN, &files->anchor);
    if (error != 0)
        return error;
    sg_lock_take(files->anchor);
    if (mkdirat(files->directory, SG_ARCHIVE_NAME, 0755) == 0)
        return 0;
    error = errno;
    unlinkat(files->directory, ANCHOR_BEGUN, 0);
    return error;
}

int sg_files_enter(struct sg_files *files)
{
    return open_directory(files->directory, SG_ARCHIVE_NAME, O_NOFOLLOW, &files->locations);
}

int sg_files_create(const struct sg_files *files, OTF2_FileType type, uint64_t location, int *file)
{
    char name[NAME_BYTES];
    int at = files->directory;

    switch (type) {
    case OTF2_FILETYPE_EVENTS:
    case OTF2_FILETYPE_LOCAL_DEFS:
        snprintf(name, sizeof name, "%" PRIu64 ".%s", location,
                 type == OTF2_FILETYPE_EVENTS ? "evt" : "def");
        at = files->locations;
        break;
    case OTF2_FILETYPE_GLOBAL_DEFS:
        snprintf(name, sizeof name, SG_ARCHIVE_NAME ".def");
        break;
    case OTF2_FILETYPE_MARKER:
        snprintf(name, sizeof name, SG_ARCHIVE_NAME ".marker");
        break;
    case OTF2_FILETYPE_ANCHOR:
        *file = fcntl(files->anchor, F_DUPFD_CLOEXEC, 0);
        return *file >= 0 ? 0 : errno;
    default:
        return EINVAL;
    }
    return create_file(at, name, file);
}

int sg_files_create_calls(const struct sg_files *files, int rank, int *file)
{
    char name[NAME_BYTES];

    snprintf(name, sizeof name, SG_CALLS_NAME_FORMAT, rank);
    return create_file(files->locations, name, file);
}

int sg_files_finish(const struct sg_files *files)
{
    return renameat(files->directory, ANCHOR_BEGUN, files->directory, ANCHOR) == 0 ? 0 : errno;
}

/* ---- what is there -------------------------------------------------------------------------- */

/* A location's file, as OTF2 names them, or a rank's of ours. */
static bool is_location_file(const char *name)
{
    const char *end = name + strspn(name, "0123456789");

    return end > name &&
           (strcmp(end, ".evt") == 0 || strcmp(end, ".def") == 0 || strcmp(end, ".calls") == 0);
}

typedef int (*file_function)(int directory, const char *name, void *context);

/* For each location's file; the first error. */
static int for_locations(const struct sg_files *files, file_function function, void *context)
{
    struct dirent *entry;
    int directory;
    int error = open_directory(files->directory, SG_ARCHIVE_NAME, O_NOFOLLOW, &directory);
    DIR *stream = error == 0 ? fdopendir(directory) : NULL;

    if (error != 0)
        return error;
    if (stream == NULL) {
        error = errno;
        close(directory);
        return error;
    }
    while (error == 0 && (entry = readdir(stream)) != NULL) {
        if (is_location_file(entry->d_name))
            error = function(directory, entry->d_name, context);
    }
    closedir(stream);
    return error;
}

static int remove_file(int directory, const char *name, void *context)
{
    return unlinkat(directory, name, 0) == 0 || errno == ENOENT ? 0 : errno;
}

int sg_files_remove(const struct sg_files *files)
{
    int error = 0, other;

    for (size_t i = 0; i < SINGLE_FILES && error == 0; i++)
        error = remove_file(files->directory, single_files[i], NULL);
    other = for_locations(files, remove_file, NULL);
    if (other == 0 && unlinkat(files->directory, SG_ARCHIVE_NAME, AT_REMOVEDIR) != 0)
        other = errno;
    return error != 0 || other == ENOENT ? error : other;
}

static int add_bytes(int directory, const char *name, void *context)
{
    struct stat info;

    if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode))
        *(uint64_t *)context += (uint64_t)info.st_size;
    return 0;
}

uint64_t sg_files_bytes(const struct sg_files *files)
{
    uint64_t total = 0;

    for (size_t i = 0; i < SINGLE_FILES; i++)
        add_bytes(files->directory, single_files[i], &total);
    for_locations(files, add_bytes, &total);
    return total;
}
