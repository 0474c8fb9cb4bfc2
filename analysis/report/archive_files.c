#include "report/archive_files.h"

#include "core/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_mode(mode_t mode)
{
    return S_ISREG(mode) ? 0 : S_ISLNK(mode) ? SG_FILE_LINK : SG_FILE_IRREGULAR;
}

static enum sg_status refuse(const char *path, const char *name, int error)
{
    sg_log("%s%s%s: %s", path, name != NULL ? "/" : "", name != NULL ? name : "",
           sg_file_error(error));
    return SG_ERR_FORMAT;
}

/* OTF2's own complaints are about files that are missing or hold no archive. */
static enum sg_status check_file(const char *path)
{
    struct stat info;
    int error = lstat(path, &info) == 0 ? check_mode(info.st_mode) : 0;

    return error != 0 ? refuse(path, NULL, error) : SG_OK;
}

/* Only of files that are named after a location are any read. */
static enum sg_status check_entries(const char *path, DIR *stream)
{
    enum sg_status status = SG_OK;
    struct dirent *entry;
    struct stat info;

    while (status == SG_OK && (entry = readdir(stream)) != NULL) {
        if (entry->d_name[strspn(entry->d_name, "0123456789")] != '.' || entry->d_name[0] == '.' ||
            entry->d_type == DT_REG)
            continue;
        if (fstatat(dirfd(stream), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            !S_ISREG(info.st_mode))
            status = refuse(path, entry->d_name, check_mode(info.st_mode));
    }
    return status;
}

static enum sg_status check_locations(const char *path)
{
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stream = directory >= 0 ? fdopendir(directory) : NULL;
    enum sg_status status = SG_OK;
    struct stat info;

    if (stream != NULL) {
        status = check_entries(path, stream);
        closedir(stream);
    } else if (directory >= 0) {
        close(directory);
    } else if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode)) {
        status = refuse(path, NULL, SG_FILE_LINK);
    }
    return status;
}

enum sg_status sg_archive_files_check(const char *anchor)
{
    static const char *const endings[] = {".otf2", ".def", ".marker"};
    const char *end = strrchr(anchor, '.');
    int length = end != NULL ? (int)(end - anchor) : (int)strlen(anchor);
    enum sg_status status = check_file(anchor);
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof endings / sizeof *endings && status == SG_OK; i++) {
        /* OTF2 refuses longer paths. */
        snprintf(path, sizeof path, "%.*s%s", length, anchor, endings[i]);
        status = check_file(path);
    }
    snprintf(path, sizeof path, "%.*s", length, anchor);
    return status == SG_OK ? check_locations(path) : status;
}
