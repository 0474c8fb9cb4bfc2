#include "trace/export/archive.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENT_CHUNK_BYTES OTF2_CHUNK_SIZE_EVENTS_DEFAULT
#define DEFINITION_CHUNK_BYTES OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT
/* OTF2's own pool would hold 128 MiB a writer before it writes any. */
#define CHUNKS_PER_WRITER 2

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

void sg_archive_begin(struct sg_archive *archive, const char *directory,
                      const struct sg_exchange *exchange)
{
    *archive = (struct sg_archive){.directory = directory, .exchange = exchange};
    archive->old_callback = OTF2_Error_RegisterCallback(on_error, archive);
}

void sg_archive_end(struct sg_archive *archive)
{
    OTF2_Error_RegisterCallback(archive->old_callback, NULL);
    free(archive->sizes);
    archive->sizes = NULL;
}

/* ---- OTF2's callbacks ----------------------------------------------------------------------- */

static OTF2_FlushType flush_always(void *context, OTF2_FileType type, OTF2_LocationRef location,
                                   void *writer, bool final)
{
    return OTF2_FLUSH;
}

static const OTF2_FlushCallbacks flush_callbacks = {.otf2_pre_flush = flush_always};

struct chunk_pool {
    void *chunks[CHUNKS_PER_WRITER];
    int used;
};

/* NULL makes OTF2 write out what it has and begin anew. */
static void *allocate_chunk(void *context, OTF2_FileType type, OTF2_LocationRef location,
                            void **buffer_data, uint64_t chunk_bytes)
{
    struct chunk_pool *pool = *buffer_data;

    if (pool == NULL)
        *buffer_data = pool = calloc(1, sizeof *pool);
    if (pool == NULL || pool->used == CHUNKS_PER_WRITER)
        return NULL;
    if (pool->chunks[pool->used] == NULL)
        pool->chunks[pool->used] = malloc(chunk_bytes);
    return pool->chunks[pool->used] != NULL ? pool->chunks[pool->used++] : NULL;
}

static void free_chunks(void *context, OTF2_FileType type, OTF2_LocationRef location,
                        void **buffer_data, bool final)
{
    struct chunk_pool *pool = *buffer_data;

    if (pool == NULL)
        return;
    pool->used = 0;
    if (!final)
        return;
    for (int i = 0; i < CHUNKS_PER_WRITER; i++)
        free(pool->chunks[i]);
    free(pool);
    *buffer_data = NULL;
}

static const OTF2_MemoryCallbacks memory_callbacks = {
    .otf2_allocate = allocate_chunk,
    .otf2_free_all = free_chunks,
};

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

/* With what each rank gives, of any size, one behind the other in out_data. */
static OTF2_CallbackCode gather_any(void *context, OTF2_CollectiveContext *comm,
                                    const void *in_data, uint32_t in_count, void *out_data,
                                    const uint32_t *out_counts, OTF2_Type type, uint32_t root)
{
    const struct sg_archive *archive = context;
    const struct sg_exchange *exchange = archive->exchange;
    void *all = NULL;
    enum sg_status status;

    if (root != 0)
        return OTF2_CALLBACK_ERROR;
    status = exchange->gather(exchange->context, in_data, in_count * type_bytes(type), &all,
                              archive->sizes);
    if (status == SG_OK && exchange->rank == 0) {
        size_t total = 0;

        for (int rank = 0; rank < exchange->size; rank++)
            total += archive->sizes[rank];
        if (total > 0)
            memcpy(out_data, all, total);
        free(all);
    }
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

/* By broadcasting everyone's part: rank 0 has no way to send to one, and OTF2 scatters little. */
static OTF2_CallbackCode scatter_any(void *context, OTF2_CollectiveContext *comm,
                                     const void *in_data, const uint32_t *in_counts, void *out_data,
                                     uint32_t out_count, OTF2_Type type, uint32_t root)
{
    const struct sg_exchange *exchange = ((struct sg_archive *)context)->exchange;
    const char *from = in_data;
    enum sg_status status = root == 0 ? SG_OK : SG_ERR_ARGUMENT;

    for (int rank = 0; rank < exchange->size && status == SG_OK; rank++) {
        uint32_t count = 0;
        char piece[4096];

        if (exchange->rank == 0)
            count = in_counts != NULL ? in_counts[rank] : out_count;
        status = exchange->broadcast(exchange->context, &count, sizeof count);
        for (size_t done = 0; status == SG_OK && done < count * type_bytes(type);) {
            size_t left = count * type_bytes(type) - done;
            size_t size_bytes = left < sizeof piece ? left : sizeof piece;

            if (exchange->rank == 0)
                memcpy(piece, from + done, size_bytes);
            status = exchange->broadcast(exchange->context, piece, size_bytes);
            if (exchange->rank == rank)
                memcpy((char *)out_data + done, piece, size_bytes);
            done += size_bytes;
        }
        if (exchange->rank == 0 && count > 0)
            from += count * type_bytes(type);
    }
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
    archive->sizes = calloc((size_t)archive->exchange->size, sizeof *archive->sizes);
    if (archive->sizes == NULL) {
        sg_archive_fail(archive, "%s", sg_status_text(SG_ERR_MEMORY));
        return;
    }
    archive->handle = OTF2_Archive_Open(archive->directory, SG_ARCHIVE_NAME, OTF2_FILEMODE_WRITE,
                                        EVENT_CHUNK_BYTES, DEFINITION_CHUNK_BYTES,
                                        OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive->handle == NULL) {
        sg_archive_fail(archive, "%s", sg_status_text(SG_ERR_MEMORY));
        return;
    }
    sg_archive_check(archive,
                     OTF2_Archive_SetFlushCallbacks(archive->handle, &flush_callbacks, NULL));
    sg_archive_check(archive,
                     OTF2_Archive_SetMemoryCallbacks(archive->handle, &memory_callbacks, NULL));
}

void sg_archive_open(struct sg_archive *archive)
{
    if (!sg_archive_check(archive, OTF2_Archive_SetCollectiveCallbacks(archive->handle,
                                                                       &collective_callbacks,
                                                                       archive, NULL, NULL)))
        return;
    sg_archive_check(archive, OTF2_Archive_OpenEvtFiles(archive->handle));
}

void sg_archive_close(struct sg_archive *archive)
{
    if (archive->handle != NULL)
        sg_archive_check(archive, OTF2_Archive_Close(archive->handle));
    archive->handle = NULL;
}

/* ---- files ---------------------------------------------------------------------------------- */

static const char *const single_files[] = {SG_ARCHIVE_NAME ".otf2", SG_ARCHIVE_NAME ".def",
                                           SG_ARCHIVE_NAME ".marker"};
#define SINGLE_FILES (sizeof single_files / sizeof single_files[0])

static bool print_path(char path[PATH_MAX], const char *directory, const char *name)
{
    return snprintf(path, PATH_MAX, "%s/%s", directory, name) < PATH_MAX;
}

void sg_archive_prepare(struct sg_archive *archive)
{
    char path[PATH_MAX];
    struct stat info;

    if (!print_path(path, archive->directory, single_files[0]))
        sg_archive_fail(archive, "%s", strerror(ENAMETOOLONG));
    else if (lstat(path, &info) == 0)
        sg_archive_fail(archive, "%s is there already", single_files[0]);
    else if (errno != ENOENT)
        sg_archive_fail(archive, "%s", strerror(errno));
    else
        sg_archive_remove(archive->directory);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    return remove(path);
}

void sg_archive_remove(const char *directory)
{
    char path[PATH_MAX];

    for (size_t i = 0; i < SINGLE_FILES; i++) {
        if (print_path(path, directory, single_files[i]))
            unlink(path);
    }
    if (print_path(path, directory, SG_ARCHIVE_NAME))
        nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static uint64_t file_bytes(const char *directory, const char *name)
{
    char path[PATH_MAX];
    struct stat info;

    if (!print_path(path, directory, name) || lstat(path, &info) != 0)
        return 0;
    return S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0;
}

uint64_t sg_archive_bytes(const char *directory)
{
    uint64_t total = 0;
    struct dirent *entry;
    char path[PATH_MAX];
    DIR *files;

    for (size_t i = 0; i < SINGLE_FILES; i++)
        total += file_bytes(directory, single_files[i]);
    files = print_path(path, directory, SG_ARCHIVE_NAME) ? opendir(path) : NULL;
    while (files != NULL && (entry = readdir(files)) != NULL)
        total += file_bytes(path, entry->d_name);
    if (files != NULL)
        closedir(files);
    return total;
}
