#include "trace/export/chunks.h"

#include "core/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* OTF2's own pool would hold 128 MiB a writer before it writes any. */
#define CHUNKS_PER_WRITER 2

/* The memory of one writer, and its file. */
struct writer {
    char *chunks[CHUNKS_PER_WRITER]; /* zeros behind what OTF2 has written */
    int used;
    int file; /* -1: not yet opened */
    uint64_t written_bytes;
};

/* ---- the anchor ------------------------------------------------------------------------------ */

/* Where the anchor file says how files are written: behind a header of two bytes, a magic text,
 * four versions' five bytes and the two sizes of chunks. It is to say what anyone reads: plain
 * files. */
static void claim_plain_files(struct sg_archive *archive, char *anchor)
{
    static const struct {
        uint64_t events, definitions;
        uint8_t substrate, compression;
    } __attribute__((packed)) expected = {SG_EVENT_CHUNK_BYTES, SG_DEFINITION_CHUNK_BYTES,
                                          OTF2_SUBSTRATE_NONE, OTF2_COMPRESSION_NONE};
    char *at = anchor + 12;

    if (memcmp(at, &expected, sizeof expected) != 0)
        sg_archive_fail(archive, "this version of OTF2 writes anchor files of another form");
    else
        at[offsetof(typeof(expected), substrate)] = OTF2_SUBSTRATE_POSIX;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Of a writer's last chunk: it ends with a byte that is not zero, and in an anchor with one that
 * is. */
static uint64_t filled_bytes(const char *chunk, uint64_t chunk_bytes, OTF2_FileType type)
{
    static const char zeros[4096];

    while (chunk_bytes >= sizeof zeros &&
           memcmp(chunk + chunk_bytes - sizeof zeros, zeros, sizeof zeros) == 0)
        chunk_bytes -= sizeof zeros;
    while (chunk_bytes > 0 && chunk[chunk_bytes - 1] == 0)
        chunk_bytes--;
    return type == OTF2_FILETYPE_ANCHOR ? chunk_bytes + 1 : chunk_bytes;
}

static uint64_t chunk_bytes_of(OTF2_FileType type)
{
    switch (type) {
    case OTF2_FILETYPE_EVENTS:
        return SG_EVENT_CHUNK_BYTES;
    case OTF2_FILETYPE_ANCHOR:
        return OTF2_CHUNK_SIZE_MIN;
    default:
        return SG_DEFINITION_CHUNK_BYTES;
    }
}

static void write_chunks(struct sg_archive *archive, OTF2_FileType type, OTF2_LocationRef location,
                         struct writer *writer)
{
    if (type == OTF2_FILETYPE_ANCHOR && writer->used > 0)
        claim_plain_files(archive, writer->chunks[0]);
    if (writer->file < 0 && !archive->failed)
        sg_archive_check_file(archive,
                              sg_files_create(&archive->files, type, location, &writer->file));
    for (int i = 0; i < writer->used && !archive->failed; i++) {
        uint64_t size_bytes = chunk_bytes_of(type);

        if (archive->flush_is_final && i == writer->used - 1)
            size_bytes = filled_bytes(writer->chunks[i], size_bytes, type);
        sg_archive_check_file(archive, sg_file_write(writer->file, writer->written_bytes,
                                                     writer->chunks[i], size_bytes));
        writer->written_bytes += size_bytes;
    }
}

/* ---- OTF2's callbacks ------------------------------------------------------------------------ */

static OTF2_FlushType before_flush(void *context, OTF2_FileType type, OTF2_LocationRef location,
                                   void *writer, bool final)
{
    ((struct sg_archive *)context)->flush_is_final = final;
    return OTF2_FLUSH;
}

static const OTF2_FlushCallbacks flush_callbacks = {.otf2_pre_flush = before_flush};

static struct writer *create_writer(void)
{
    struct writer *writer = calloc(1, sizeof *writer);

    if (writer != NULL)
        writer->file = -1;
    return writer;
}

/* NULL makes OTF2 write out what it has and begin anew. */
static void *allocate_chunk(void *context, OTF2_FileType type, OTF2_LocationRef location,
                            void **buffer_data, uint64_t chunk_bytes)
{
    struct sg_archive *archive = context;
    struct writer *writer = *buffer_data;

    if (chunk_bytes != chunk_bytes_of(type)) {
        sg_archive_fail(archive, "this version of OTF2 writes files of another form");
        return NULL;
    }
    if (writer == NULL)
        *buffer_data = writer = create_writer();
    if (writer == NULL || writer->used == CHUNKS_PER_WRITER)
        return NULL;
    /* OTF2 clears what it leaves of a chunk, but for an anchor's. */
    if (writer->chunks[writer->used] == NULL)
        writer->chunks[writer->used] = calloc(1, chunk_bytes);
    return writer->chunks[writer->used] != NULL ? writer->chunks[writer->used++] : NULL;
}

/* After a flush, and finally when OTF2 is done with the writer. */
static void free_chunks(void *context, OTF2_FileType type, OTF2_LocationRef location,
                        void **buffer_data, bool final)
{
    struct sg_archive *archive = context;
    struct writer *writer = *buffer_data;

    if (writer == NULL)
        return;
    if (!final) {
        write_chunks(archive, type, location, writer);
        writer->used = 0;
        return;
    }
    /* The logs, or the archive before, are removed next. A disk across a network may tell only now
     * that it is full. */
    if (writer->file >= 0 && !archive->failed)
        sg_archive_check_file(archive, sg_file_sync(writer->file));
    if (writer->file >= 0 && close(writer->file) != 0)
        sg_archive_check_file(archive, errno);
    for (int i = 0; i < CHUNKS_PER_WRITER; i++)
        free(writer->chunks[i]);
    free(writer);
    *buffer_data = NULL;
}

static const OTF2_MemoryCallbacks memory_callbacks = {
    .otf2_allocate = allocate_chunk,
    .otf2_free_all = free_chunks,
};

void sg_chunks_start(struct sg_archive *archive)
{
    if (archive->handle == NULL)
        return;
    sg_archive_check(archive,
                     OTF2_Archive_SetFlushCallbacks(archive->handle, &flush_callbacks, archive));
    sg_archive_check(archive,
                     OTF2_Archive_SetMemoryCallbacks(archive->handle, &memory_callbacks, archive));
}
