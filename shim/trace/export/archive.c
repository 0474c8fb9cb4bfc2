#include "trace/export/archive.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        sg_archive_note(archive, SG_ERR_MEMORY);
}

void sg_archive_end(struct sg_archive *archive)
{
    OTF2_Error_RegisterCallback(archive->old_callback, NULL);
    sg_files_close(&archive->files);
    free(archive->sizes);
    archive->sizes = NULL;
}

/* ---- gathering ------------------------------------------------------------------------------- */

/* *all: malloc'ed on rank 0, elsewhere and on failure NULL. */
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

/* With what each rank gives, of any size, one behind the other in out_data. */
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
    if (archive->exchange->rank != 0)
        sg_archive_check_file(archive, sg_files_open(&archive->files, archive->directory));
    if (!archive->failed)
        sg_archive_check_file(archive, sg_files_enter(&archive->files));
    if (archive->failed)
        return;
    /* Without files of its own: it would not survive a full disk. See chunks.h. */
    archive->handle = OTF2_Archive_Open(archive->directory, SG_ARCHIVE_NAME, OTF2_FILEMODE_WRITE,
                                        SG_EVENT_CHUNK_BYTES, SG_DEFINITION_CHUNK_BYTES,
                                        OTF2_SUBSTRATE_NONE, OTF2_COMPRESSION_NONE);
    if (archive->handle == NULL)
        sg_archive_note(archive, SG_ERR_MEMORY);
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

void sg_archive_prepare(struct sg_archive *archive, bool replace)
{
    int error = sg_files_open(&archive->files, archive->directory);

    if (error == 0)
        error = sg_files_prepare(&archive->files, replace);
    if (error == EEXIST)
        sg_archive_fail(archive, "%s.otf2 exists already", SG_ARCHIVE_NAME);
    else if (error == EBUSY)
        sg_archive_fail(archive, "another process is making it");
    else if (error == ENOTEMPTY)
        sg_archive_fail(archive, "%s/ contains files that belong to no archive", SG_ARCHIVE_NAME);
    else
        sg_archive_check_file(archive, error);
}

void sg_archive_finish(struct sg_archive *archive)
{
    sg_archive_check_file(archive, sg_files_finish(&archive->files));
}

void sg_archive_remove(struct sg_archive *archive)
{
    sg_files_remove(&archive->files);
}
