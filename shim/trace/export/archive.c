#include "trace/export/archive.h"

#include "core/file.h"
#include "trace/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---------------------------------------------------------------------------------- */

#define ANCHOR SG_ARCHIVE_NAME ".otf2"
#define ANCHOR_BEGUN SG_ARCHIVE_NAME ".otf2.part"
#define DEFINITIONS SG_ARCHIVE_NAME ".def"
#define MARKERS SG_ARCHIVE_NAME ".marker"
/* During a replacement, DIR/NEW holds the new archive, and NEW/OLD the old one. */
#define NEW SG_ARCHIVE_NAME ".new"
#define OLD "old"
#define OLD_BEGUN "old.part"
#define NAME_BYTES 32

static const char *const single_files[] = {ANCHOR, ANCHOR_BEGUN, DEFINITIONS, MARKERS};
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

static int files_open(struct sg_files *files, const char *directory)
{
    *files = SG_FILES_CLOSED;
    return open_directory(AT_FDCWD, directory, 0, &files->directory);
}

static void files_close(struct sg_files *files)
{
    if (files->locations >= 0)
        close(files->locations);
    if (files->anchor >= 0)
        close(files->anchor);
    if (files->directory >= 0)
        close(files->directory);
    if (files->home >= 0)
        close(files->home);
    *files = SG_FILES_CLOSED;
}

/* ---- existing files -------------------------------------------------------------------------- */

/* True for a location's file, as OTF2 names it, or a rank's .calls file. */
static bool is_location_file(const char *name)
{
    const char *end = name + strspn(name, "0123456789");

    return end > name &&
           (strcmp(end, ".evt") == 0 || strcmp(end, ".def") == 0 || strcmp(end, ".calls") == 0);
}

typedef int (*file_function)(int directory, const char *name, void *context);

/* Calls function for each location file, or for each other file. Returns the first error. */
static int for_files(int at, bool locations, file_function function, void *context)
{
    struct dirent *entry;
    int directory;
    int error = open_directory(at, SG_ARCHIVE_NAME, O_NOFOLLOW, &directory);
    DIR *stream = error == 0 ? fdopendir(directory) : NULL;

    if (error != 0)
        return error;
    if (stream == NULL) {
        error = errno;
        close(directory);
        return error;
    }
    while (error == 0 && (entry = readdir(stream)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            is_location_file(entry->d_name) == locations)
            error = function(directory, entry->d_name, context);
    }
    closedir(stream);
    return error;
}

static int remove_file(int directory, const char *name, void *context)
{
    return unlinkat(directory, name, 0) == 0 || errno == ENOENT ? 0 : errno;
}

static int remove_archive(int directory)
{
    int error = 0, other;

    for (size_t i = 0; i < SINGLE_FILES && error == 0; i++)
        error = remove_file(directory, single_files[i], NULL);
    other = for_files(directory, true, remove_file, NULL);
    if (other == 0 && unlinkat(directory, SG_ARCHIVE_NAME, AT_REMOVEDIR) != 0)
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
    for_files(files->directory, true, add_bytes, &total);
    return total;
}

/* True while another export holds the lock of its anchor. */
static bool is_busy(int directory)
{
    int begun = openat(directory, ANCHOR_BEGUN, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool busy = begun >= 0 && sg_lock_is_held(begun);

    if (begun >= 0)
        close(begun);
    return busy;
}

/* Returns EEXIST if the anchor exists, 0 if not, or the error that prevents the check. */
static int find_anchor(int directory)
{
    struct stat info;

    if (fstatat(directory, ANCHOR, &info, AT_SYMLINK_NOFOLLOW) == 0)
        return EEXIST;
    return errno == ENOENT ? 0 : errno;
}

/* ---- replacing an archive -------------------------------------------------------------------- */

/* All parts except the anchor; without it they are no archive. */
static const char *const pieces[] = {DEFINITIONS, MARKERS, SG_ARCHIVE_NAME};

static int move(int from, const char *name, int to, const char *to_name)
{
    return renameat(from, name, to, to_name) == 0 || errno == ENOENT ? 0 : errno;
}

static int move_pieces(int from, int to)
{
    int error = 0;

    for (size_t i = 0; i < sizeof pieces / sizeof *pieces && error == 0; i++)
        error = move(from, pieces[i], to, pieces[i]);
    return error;
}

/* Moves the old archive back into DIR. made: DIR/traces.new. While its folder OLD_BEGUN exists, the
 * old archive's parts are split between it and DIR; once it is renamed OLD, it holds the whole old
 * archive, and DIR may have parts of the new one. */
static int bring_back(int home, int made)
{
    int old, error = 0;

    if (faccessat(made, OLD, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        error = move_pieces(home, made);
    if (error == 0)
        error = move(made, OLD, made, OLD_BEGUN);
    if (error == 0)
        error = open_directory(made, OLD_BEGUN, O_NOFOLLOW, &old);
    if (error != 0)
        return error == ENOENT ? 0 : error;
    error = move_pieces(old, home);
    if (error == 0)
        error = move(old, ANCHOR, home, ANCHOR);
    close(old);
    return error;
}

/* Removes DIR/traces.new: the rest of the new archive, and the old one if it was replaced. */
static int remove_made(int home, int made)
{
    static const char *const olds[] = {OLD, OLD_BEGUN};
    int old, error = remove_archive(made);

    for (size_t i = 0; i < sizeof olds / sizeof *olds && error == 0; i++) {
        if (open_directory(made, olds[i], O_NOFOLLOW, &old) != 0)
            continue;
        error = remove_archive(old);
        close(old);
        if (error == 0 && unlinkat(made, olds[i], AT_REMOVEDIR) != 0)
            error = errno;
    }
    if (error == 0 && unlinkat(home, NEW, AT_REMOVEDIR) != 0)
        error = errno;
    return error;
}

static int undo(int home, int made)
{
    int error = find_anchor(home) == 0 ? bring_back(home, made) : 0;

    return error == 0 ? remove_made(home, made) : error;
}

/* Undoes an interrupted replacement. EBUSY: another process is replacing the archive. */
static int settle(int home)
{
    int made, error = open_directory(home, NEW, O_NOFOLLOW, &made);

    if (error != 0)
        return error == ENOENT ? 0 : error;
    error = is_busy(made) ? EBUSY : undo(home, made);
    close(made);
    return error;
}

static int refuse_file(int directory, const char *name, void *context)
{
    return ENOTEMPTY;
}

static int begin_replacement(struct sg_files *files)
{
    int made, error = for_files(files->directory, false, refuse_file, NULL);

    if (error != 0 && error != ENOENT)
        return error;
    if (mkdirat(files->directory, NEW, 0755) != 0)
        return errno;
    error = open_directory(files->directory, NEW, O_NOFOLLOW, &made);
    if (error != 0)
        return error;
    files->home = files->directory;
    files->directory = made;
    return 0;
}

/* Swaps the archives. The old anchor moves out first and the new one in last; until then the new
 * one keeps its temporary name and its lock. */
static int exchange(int home, int made)
{
    int old, error = mkdirat(made, OLD_BEGUN, 0755) == 0 ? 0 : errno;

    if (error == 0)
        error = open_directory(made, OLD_BEGUN, O_NOFOLLOW, &old);
    if (error != 0)
        return error;
    error = move(home, ANCHOR, old, ANCHOR);
    if (error == 0)
        error = move_pieces(home, old);
    close(old);
    if (error == 0)
        error = move(made, OLD_BEGUN, made, OLD);
    if (error == 0)
        error = move_pieces(made, home);
    if (error == 0 && renameat(made, ANCHOR_BEGUN, home, ANCHOR) != 0)
        error = errno;
    return error == 0 ? sg_file_sync(home) : error;
}

/* Swaps the archives with all signals blocked, so that none ends the process halfway. */
static int replace_archive(struct sg_files *files)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = exchange(files->home, files->directory);
    if (error != 0)
        bring_back(files->home, files->directory);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return error;
    remove_made(files->home, files->directory);
    close(files->directory);
    files->directory = files->home;
    files->home = -1;
    return 0;
}

/* ---- preparing and finishing the files ------------------------------------------------------- */

/* One process: removes the files of an interrupted export, and creates the anchor and DIR/traces.
 * EEXIST: an archive exists and must not be replaced. EBUSY: another process is exporting.
 * ENOTEMPTY: DIR/traces contains other files. */
static int files_prepare(struct sg_files *files, bool replace)
{
    int error = settle(files->directory);

    if (error == 0)
        error = find_anchor(files->directory);
    if (error == EEXIST && replace)
        error = begin_replacement(files);
    if (error == 0 && is_busy(files->directory))
        error = EBUSY;
    if (error == 0)
        error = remove_archive(files->directory);
    if (error == 0)
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

/* Every process, after files_prepare: opens DIR/traces. A replacement has one process only. */
static int files_enter(struct sg_files *files)
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

/* An archive is on disk before the one that it replaces is removed. A run that ends does not wait
 * for the disk. */
int sg_files_close(const struct sg_files *files, int file)
{
    int error = files->home >= 0 ? sg_file_sync(file) : 0;

    if (files->home < 0)
        sg_file_write_out(file);
    if (close(file) != 0 && error == 0)
        error = errno;
    return error;
}

/* Gives the anchor its final name, or swaps the archive with the one that it replaces. */
static int files_finish(struct sg_files *files)
{
    int error;

    if (files->home < 0)
        return renameat(files->directory, ANCHOR_BEGUN, files->directory, ANCHOR) == 0 ? 0 : errno;
    error = sg_file_sync(files->locations);
    if (error == 0)
        error = sg_file_sync(files->directory);
    return error == 0 ? replace_archive(files) : error;
}

/* One process: removes the archive's files, and DIR/traces if it is then empty. */
static int files_remove(const struct sg_files *files)
{
    return files->home >= 0 ? undo(files->home, files->directory)
                            : remove_archive(files->directory);
}

/* ---- errors --------------------------------------------------------------------------------- */

void sg_archive_fail(struct sg_archive *archive, const char *format, ...)
{
    va_list arguments;

    if (archive->failed)
        return;
    archive->failed = true;
    va_start(arguments, format);
    vsnprintf(archive->error, sizeof archive->error, format, arguments);
    va_end(arguments);
}

void sg_archive_note(struct sg_archive *archive, enum sg_status status)
{
    if (status != SG_OK)
        sg_archive_fail(archive, "%s", sg_status_text(status));
}

static OTF2_ErrorCode on_error(void *context, const char *file, uint64_t line, const char *function,
                               OTF2_ErrorCode code, const char *format, va_list arguments)
{
    struct sg_archive *archive = context;

    /* Negative codes are warnings and remarks. */
    if (code > OTF2_SUCCESS)
        sg_archive_fail(archive, "%s", OTF2_Error_GetDescription(code));
    return code;
}

bool sg_archive_check(struct sg_archive *archive, OTF2_ErrorCode code)
{
    if (code != OTF2_SUCCESS)
        sg_archive_fail(archive, "%s", OTF2_Error_GetDescription(code));
    return code == OTF2_SUCCESS;
}

void sg_archive_check_file(struct sg_archive *archive, int error)
{
    if (error != 0)
        sg_archive_fail(archive, "%s", strerror(error));
}

void sg_archive_begin(struct sg_archive *archive, const char *directory,
                      const struct sg_exchange *exchange)
{
    *archive =
        (struct sg_archive){.directory = directory, .exchange = exchange, .files = SG_FILES_CLOSED};
    archive->old_callback = OTF2_Error_RegisterCallback(on_error, archive);
    archive->sizes = calloc((size_t)exchange->size, sizeof *archive->sizes);
    if (archive->sizes == NULL)
        abort(); /* the others wait for this rank */
}

void sg_archive_end(struct sg_archive *archive)
{
    OTF2_Error_RegisterCallback(archive->old_callback, NULL);
    files_close(&archive->files);
    free(archive->sizes);
    archive->sizes = NULL;
}

/* ---- gathering ------------------------------------------------------------------------------- */

/* *all: malloc'ed on rank 0; NULL elsewhere and on failure. */
static enum sg_status gather_all(const struct sg_archive *archive, const void *data,
                                 size_t size_bytes, void **all, size_t *total_bytes)
{
    const struct sg_exchange *exchange = archive->exchange;
    enum sg_status status;

    *all = NULL;
    *total_bytes = 0;
    status = exchange->gather(exchange->context, data, size_bytes, all, archive->sizes);
    for (int rank = 0; rank < exchange->size && status == SG_OK && exchange->rank == 0; rank++)
        *total_bytes += archive->sizes[rank];
    return status;
}

void sg_archive_gather(struct sg_archive *archive, const void *data, size_t size_bytes, void **all,
                       size_t *total_bytes)
{
    sg_archive_note(archive, gather_all(archive, data, size_bytes, all, total_bytes));
}

/* ---- OTF2's callbacks ----------------------------------------------------------------------- */

static size_t type_bytes(OTF2_Type type)
{
    switch (type) {
    case OTF2_TYPE_UINT8:
    case OTF2_TYPE_INT8:
        return 1;
    case OTF2_TYPE_UINT16:
    case OTF2_TYPE_INT16:
        return 2;
    case OTF2_TYPE_UINT32:
    case OTF2_TYPE_INT32:
    case OTF2_TYPE_FLOAT:
        return 4;
    default:
        return 8;
    }
}

static OTF2_CallbackCode as_code(enum sg_status status)
{
    return status == SG_OK ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_ERROR;
}

static OTF2_CallbackCode get_size(void *context, OTF2_CollectiveContext *comm, uint32_t *size)
{
    *size = (uint32_t)((struct sg_archive *)context)->exchange->size;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode get_rank(void *context, OTF2_CollectiveContext *comm, uint32_t *rank)
{
    *rank = (uint32_t)((struct sg_archive *)context)->exchange->rank;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode broadcast(void *context, OTF2_CollectiveContext *comm, void *data,
                                   uint32_t count, OTF2_Type type, uint32_t root)
{
    const struct sg_exchange *exchange = ((struct sg_archive *)context)->exchange;

    if (root != 0)
        return OTF2_CALLBACK_ERROR;
    return as_code(exchange->broadcast(exchange->context, data, count * type_bytes(type)));
}

/* Gathers data of any size per rank, concatenated in out_data. out_counts is not needed. */
static OTF2_CallbackCode gather_any(void *context, OTF2_CollectiveContext *comm,
                                    const void *in_data, uint32_t in_count, void *out_data,
                                    const uint32_t *out_counts, OTF2_Type type, uint32_t root)
{
    const struct sg_archive *archive = context;
    size_t total_bytes;
    void *all;
    enum sg_status status;

    if (root != 0)
        return OTF2_CALLBACK_ERROR;
    status = gather_all(archive, in_data, in_count * type_bytes(type), &all, &total_bytes);
    if (total_bytes > 0)
        memcpy(out_data, all, total_bytes);
    free(all);
    return as_code(status);
}

static OTF2_CallbackCode gather(void *context, OTF2_CollectiveContext *comm, const void *in_data,
                                void *out_data, uint32_t count, OTF2_Type type, uint32_t root)
{
    return gather_any(context, comm, in_data, count, out_data, NULL, type, root);
}

static OTF2_CallbackCode barrier(void *context, OTF2_CollectiveContext *comm)
{
    const struct sg_archive *archive = context;
    int first_false;

    return as_code(sg_exchange_agree(archive->exchange, 1, &first_false));
}

/* Broadcasts all parts to every rank: OTF2 scatters little data. */
static OTF2_CallbackCode scatter_any(void *context, OTF2_CollectiveContext *comm,
                                     const void *in_data, const uint32_t *in_counts, void *out_data,
                                     uint32_t out_count, OTF2_Type type, uint32_t root)
{
    const struct sg_exchange *exchange = ((struct sg_archive *)context)->exchange;
    uint32_t *counts = calloc((size_t)exchange->size, sizeof *counts);
    size_t element_bytes = type_bytes(type), parts_bytes = 0, before_bytes = 0;
    void *parts = NULL;
    enum sg_status status = root == 0 ? SG_OK : SG_ERR_ARGUMENT;

    if (counts == NULL)
        abort();
    for (int rank = 0; rank < exchange->size && exchange->rank == 0; rank++)
        counts[rank] = in_counts != NULL ? in_counts[rank] : out_count;
    if (status == SG_OK)
        status =
            exchange->broadcast(exchange->context, counts, (size_t)exchange->size * sizeof *counts);
    for (int rank = 0; rank < exchange->size; rank++) {
        before_bytes += rank < exchange->rank ? counts[rank] * element_bytes : 0;
        parts_bytes += counts[rank] * element_bytes;
    }
    if (exchange->rank == 0)
        parts = (void *)in_data;
    if (status == SG_OK && parts_bytes > 0)
        status = sg_exchange_share(exchange, &parts, &parts_bytes);
    if (status == SG_OK && parts_bytes > 0)
        memcpy(out_data, (char *)parts + before_bytes, counts[exchange->rank] * element_bytes);
    if (exchange->rank != 0)
        free(parts);
    free(counts);
    return as_code(status);
}

static OTF2_CallbackCode scatter(void *context, OTF2_CollectiveContext *comm, const void *in_data,
                                 void *out_data, uint32_t count, OTF2_Type type, uint32_t root)
{
    return scatter_any(context, comm, in_data, NULL, out_data, count, type, root);
}

static const OTF2_CollectiveCallbacks collective_callbacks = {
    .otf2_get_size = get_size,
    .otf2_get_rank = get_rank,
    .otf2_barrier = barrier,
    .otf2_bcast = broadcast,
    .otf2_gather = gather,
    .otf2_gatherv = gather_any,
    .otf2_scatter = scatter,
    .otf2_scatterv = scatter_any,
};

/* ---- opening and closing -------------------------------------------------------------------- */

void sg_archive_create(struct sg_archive *archive)
{
    if (archive->exchange->rank != 0)
        sg_archive_check_file(archive, files_open(&archive->files, archive->directory));
    if (!archive->failed)
        sg_archive_check_file(archive, files_enter(&archive->files));
    if (archive->failed)
        return;
    /* OTF2 must not write files itself: it would crash on a full disk (export.c). */
    archive->handle = OTF2_Archive_Open(archive->directory, SG_ARCHIVE_NAME, OTF2_FILEMODE_WRITE,
                                        SG_EVENT_CHUNK_BYTES, archive->definition_chunk_bytes,
                                        OTF2_SUBSTRATE_NONE, OTF2_COMPRESSION_NONE);
    if (archive->handle == NULL)
        sg_archive_note(archive, SG_ERR_MEMORY);
}

void sg_archive_open(struct sg_archive *archive)
{
    sg_archive_check(archive, OTF2_Archive_SetCollectiveCallbacks(
                                  archive->handle, &collective_callbacks, archive, NULL, NULL));
    sg_archive_check(archive, OTF2_Archive_OpenEvtFiles(archive->handle));
}

void sg_archive_close(struct sg_archive *archive)
{
    if (archive->handle != NULL)
        sg_archive_check(archive, OTF2_Archive_Close(archive->handle));
    archive->handle = NULL;
}

/* ---- the archive's files -------------------------------------------------------------------- */

void sg_archive_prepare(struct sg_archive *archive, bool replace)
{
    int error = files_open(&archive->files, archive->directory);

    if (error == 0)
        error = files_prepare(&archive->files, replace);
    if (error == EEXIST)
        sg_archive_fail(archive, "%s.otf2 exists already", SG_ARCHIVE_NAME);
    else if (error == EBUSY)
        sg_archive_fail(archive, "another process is writing it");
    else if (error == ENOTEMPTY)
        sg_archive_fail(archive, "%s/ contains files that belong to no archive", SG_ARCHIVE_NAME);
    else
        sg_archive_check_file(archive, error);
}

void sg_archive_finish(struct sg_archive *archive)
{
    sg_archive_check_file(archive, files_finish(&archive->files));
}

void sg_archive_remove(struct sg_archive *archive)
{
    files_remove(&archive->files);
}
