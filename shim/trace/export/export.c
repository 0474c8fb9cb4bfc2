/* Runs the export step by step, and writes the archive's files from OTF2's memory.
 *
 * All ranks take every collective step, also after a failure of their own, so that no rank waits
 * for another. Each exchange costs every rank a switch of its processor, so ranks agree only twice
 * whether all of them have succeeded: before the first file is written, and at the end. One rank
 * logs the failure.
 */
#include "trace/export/export.h"

#include "core/file.h"
#include "core/room.h"
#include "trace/export/archive.h"
#include "trace/export/definitions.h"
#include "trace/export/export_events.h"
#include "trace/export/export_plan.h"
#include "trace/export/unify.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files from OTF2's memory ---------------------------------------------------------------- */

/* OTF2 3.0 frees a buffer twice, and crashes, when a file cannot be written any further; and it
 * opens files by path. So OTF2 writes no files (OTF2_SUBSTRATE_NONE); this section does. OTF2 fills
 * chunks that its memory callbacks allocate here. When OTF2 frees them after a flush, they contain
 * the bytes of the file. A file that cannot be written fails the archive, but OTF2 does not learn
 * of it. */

/* OTF2's own pool would hold 128 MiB per writer before it writes any. */
#define CHUNKS_PER_WRITER 2

/* The memory of one writer, and its file. */
struct writer {
    char *chunks[CHUNKS_PER_WRITER]; /* zeros after what OTF2 has written */
    int used;
    int file; /* -1: not yet opened */
    uint64_t written_bytes;
};

/* ---- the anchor ------------------------------------------------------------------------------ */

/* Makes the anchor file name the POSIX substrate: the files on disk are plain files to any reader.
 * The field follows a header of two bytes, a magic text, four version numbers in five bytes, and
 * the two chunk sizes. */
static void claim_plain_files(struct sg_archive *archive, char *anchor)
{
    const struct {
        uint64_t events, definitions;
        uint8_t substrate, compression;
    } __attribute__((packed)) expected = {SG_EVENT_CHUNK_BYTES, archive->definition_chunk_bytes,
                                          OTF2_SUBSTRATE_NONE, OTF2_COMPRESSION_NONE};
    char *at = anchor + 12;

    if (memcmp(at, &expected, sizeof expected) != 0)
        sg_archive_fail(archive, "this version of OTF2 writes anchor files of another form");
    else
        at[offsetof(typeof(expected), substrate)] = OTF2_SUBSTRATE_POSIX;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Returns the used bytes of a writer's last chunk. The data end with a nonzero byte; in an anchor,
 * one zero byte follows it. */
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

static uint64_t chunk_bytes_of(const struct sg_archive *archive, OTF2_FileType type)
{
    switch (type) {
    case OTF2_FILETYPE_EVENTS:
        return SG_EVENT_CHUNK_BYTES;
    case OTF2_FILETYPE_ANCHOR:
        return OTF2_CHUNK_SIZE_MIN;
    default:
        return archive->definition_chunk_bytes;
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
        uint64_t size_bytes = chunk_bytes_of(archive, type);

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

/* Returning NULL makes OTF2 flush its chunks and start again. */
static void *allocate_chunk(void *context, OTF2_FileType type, OTF2_LocationRef location,
                            void **buffer_data, uint64_t chunk_bytes)
{
    struct sg_archive *archive = context;
    struct writer *writer = *buffer_data;

    if (chunk_bytes != chunk_bytes_of(archive, type)) {
        sg_archive_fail(archive, "this version of OTF2 writes files of another form");
        return NULL;
    }
    if (writer == NULL)
        *buffer_data = writer = create_writer();
    if (writer == NULL || writer->used == CHUNKS_PER_WRITER)
        return NULL;
    /* OTF2 clears the unused end of a chunk, except in an anchor. */
    if (writer->chunks[writer->used] == NULL)
        writer->chunks[writer->used] = calloc(1, chunk_bytes);
    return writer->chunks[writer->used] != NULL ? writer->chunks[writer->used++] : NULL;
}

/* OTF2 calls this after each flush, and a last time when it is done with the writer. */
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
    if (writer->file >= 0)
        sg_archive_check_file(archive, sg_files_close(&archive->files, writer->file));
    for (int i = 0; i < CHUNKS_PER_WRITER; i++)
        free(writer->chunks[i]);
    free(writer);
    *buffer_data = NULL;
}

static const OTF2_MemoryCallbacks memory_callbacks = {
    .otf2_allocate = allocate_chunk,
    .otf2_free_all = free_chunks,
};

/* Sets the callbacks of the archive's new handle; does nothing if that is NULL. */
static void sg_chunks_start(struct sg_archive *archive)
{
    if (archive->handle == NULL)
        return;
    sg_archive_check(archive,
                     OTF2_Archive_SetFlushCallbacks(archive->handle, &flush_callbacks, archive));
    sg_archive_check(archive,
                     OTF2_Archive_SetMemoryCallbacks(archive->handle, &memory_callbacks, archive));
}

/* ---- the export ------------------------------------------------------------------------------ */

struct exporter {
    const struct sg_export *input;
    const struct sg_exchange *exchange;
    struct sg_archive archive;
    struct sg_summary *summaries; /* of this process's logs */
    struct sg_plan plan;
    bool has_plan;
    struct sg_locations locations; /* of this process's logs */
    struct sg_unified unified;     /* rank 0 */
    void *gathered;                /* rank 0: holds the texts of unified */
    bool others_failed;            /* rank 0: as the last gather showed */
};

/* Returns true if no rank has failed; otherwise the lowest failed rank logs the reason. */
static bool agree(struct exporter *exporter)
{
    const struct sg_archive *archive = &exporter->archive;
    const struct sg_export *input = exporter->input;
    /* Without its log a rank cannot say that the logs are kept. */
    const char *advice = input->advice != NULL && input->failure == NULL ? input->advice : "";
    int first_false = -1;

    if (sg_exchange_agree(exporter->exchange, !archive->failed, &first_false) != SG_OK) {
        if (exporter->exchange->rank == 0)
            sg_log("%s: cannot write the trace: the ranks cannot reach each other%s",
                   input->directory, advice);
        return false;
    }
    if (first_false == exporter->exchange->rank)
        sg_log("%s: cannot write the trace: %s%s", input->directory, archive->error,
               advice);
    return first_false < 0 && !archive->failed;
}

/* ---- definitions to rank 0 and back ---------------------------------------------------------- */

static void tell(const struct sg_export *input, const char *what, int log)
{
    if (input->progress != NULL)
        input->progress(input->context, what, log);
}

static void summarize(struct exporter *exporter)
{
    const struct sg_export *input = exporter->input;
    enum sg_status status = SG_OK;

    if (exporter->archive.failed)
        return;
    exporter->summaries = calloc((size_t)input->log_count + 1, sizeof *exporter->summaries);
    if (exporter->summaries == NULL)
        status = SG_ERR_MEMORY;
    for (int i = 0; i < input->log_count && status == SG_OK; i++) {
        tell(input, "reading", i);
        status = sg_summary_make(input->logs[i], input->end_ns != 0, &exporter->summaries[i]);
    }
    sg_archive_note(&exporter->archive, status);
}

/* Reads the gathered summaries into a table that the caller clears and frees, also on failure. */
static enum sg_status read_summaries(const void *data, size_t size_bytes, struct sg_summary **out,
                                     int *out_count)
{
    struct sg_pack pack = sg_pack_reader(data, size_bytes);

    while (pack.status == SG_OK && pack.at < pack.end) {
        if (!sg_make_room((void **)out, (size_t)*out_count, sizeof **out))
            return SG_ERR_MEMORY;
        (*out)[*out_count] = (struct sg_summary){0};
        sg_summary_pack(&pack, &(*out)[(*out_count)++]);
    }
    return pack.status;
}

/* Collects all ranks' data, which are not empty, at rank 0; a rank that has failed sends none. */
static void gather(struct exporter *exporter, const void *data, size_t size_bytes, void **all,
                   size_t *total_bytes)
{
    struct sg_archive *archive = &exporter->archive;

    sg_archive_gather(archive, data, archive->failed ? 0 : size_bytes, all, total_bytes);
    for (int rank = 0; exporter->exchange->rank == 0 && rank < exporter->exchange->size; rank++)
        exporter->others_failed = exporter->others_failed || archive->sizes[rank] == 0;
}

/* True on rank 0 while no rank is known to have failed. */
static bool goes_on(const struct exporter *exporter)
{
    return exporter->exchange->rank == 0 && !exporter->archive.failed && !exporter->others_failed;
}

/* Collects the summaries of all logs in rank 0's unified. */
static void gather_summaries(struct exporter *exporter)
{
    struct sg_archive *archive = &exporter->archive;
    struct sg_unified *unified = &exporter->unified;
    struct sg_pack pack = {0};
    size_t size_bytes;

    for (int i = 0; i < exporter->input->log_count && !archive->failed; i++)
        sg_summary_pack(&pack, &exporter->summaries[i]);
    sg_archive_note(archive, pack.status);
    gather(exporter, pack.data, pack.size_bytes, &exporter->gathered, &size_bytes);
    if (goes_on(exporter))
        sg_archive_note(archive, read_summaries(exporter->gathered, size_bytes, &unified->summaries,
                                                &unified->summary_count));
    free(pack.data);
}

/* Packs, or reads, the data that rank 0 sends to all ranks. */
static void pack_plan(struct sg_pack *pack, struct sg_export_result *result, struct sg_plan *plan)
{
    SG_PACK(pack, result->calls);
    SG_PACK(pack, result->dropped);
    SG_PACK(pack, result->partial);
    sg_plan_pack(pack, plan);
}

/* Sends rank 0's plan to all ranks, or nothing if there is none. */
static void share_plan(struct exporter *exporter, struct sg_export_result *result)
{
    struct sg_archive *archive = &exporter->archive;
    struct sg_pack pack = {0};
    size_t size_bytes;
    void *data;

    if (exporter->has_plan)
        pack_plan(&pack, result, &exporter->plan);
    sg_archive_note(archive, pack.status);
    data = pack.data;
    size_bytes = archive->failed ? 0 : pack.size_bytes;
    sg_archive_note(archive, sg_exchange_share(exporter->exchange, &data, &size_bytes));
    if (exporter->exchange->rank != 0 && !archive->failed && size_bytes > 0) {
        pack = sg_pack_reader(data, size_bytes);
        pack_plan(&pack, result, &exporter->plan);
        sg_archive_note(archive, pack.status);
        exporter->has_plan = true;
    }
    free(data);
}

/* OTF2 refuses a definition that fills more than a chunk. Group members take the most bytes besides
 * texts, less than 16 each. */
static uint64_t definition_chunk_bytes(const struct sg_unified *unified)
{
    uint64_t most = 16 * (uint64_t)unified->world_size;

    for (uint32_t i = 0; i < unified->strings.count; i++) {
        size_t length = strlen(unified->strings.texts[i]);

        most = length > most ? length : most;
    }
    return most < OTF2_CHUNK_SIZE_MIN / 2 ? OTF2_CHUNK_SIZE_MIN
                                          : OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT;
}

static void make_plan(struct exporter *exporter, struct sg_export_result *result)
{
    const struct sg_export *input = exporter->input;
    struct sg_unified *unified = &exporter->unified;

    unified->world_size = input->world_size;
    unified->partial = input->partial;
    sg_archive_note(&exporter->archive,
                    sg_unify(unified, input->algorithms, input->algorithm_count, &exporter->plan));
    if (exporter->archive.failed)
        return;
    exporter->plan.definition_chunk_bytes = definition_chunk_bytes(unified);
    sg_archive_prepare(&exporter->archive, input->replace);
    exporter->has_plan = !exporter->archive.failed;
    result->calls = unified->comms.calls + sg_unified_events(unified);
    result->dropped = unified->dropped;
    result->partial = unified->partial;
}

/* Gives all ranks the archive's contents, so that they may begin to write. False: some rank has
 * failed. */
static bool plan(struct exporter *exporter, struct sg_export_result *result)
{
    summarize(exporter);
    gather_summaries(exporter);
    if (goes_on(exporter))
        make_plan(exporter, result);
    share_plan(exporter, result);
    if (exporter->has_plan && !exporter->archive.failed) {
        exporter->archive.definition_chunk_bytes = exporter->plan.definition_chunk_bytes;
        sg_archive_create(&exporter->archive);
        sg_chunks_start(&exporter->archive);
    }
    return agree(exporter);
}

/* ---- the archive's files -------------------------------------------------------------------- */

/* Rank 0 writes the locations of ranks without a log. */
static bool is_missing(const struct exporter *exporter, uint32_t rank)
{
    return exporter->exchange->rank == 0 && sg_unified_summary(&exporter->unified, rank) == NULL;
}

static void write_events(struct exporter *exporter)
{
    const struct sg_export *input = exporter->input;

    for (int i = 0; i < input->log_count && !exporter->archive.failed; i++) {
        tell(input, "writing", i);
        sg_events_write(&exporter->archive, &exporter->plan, &exporter->summaries[i],
                        input->logs[i], input->end_ns, &exporter->locations);
    }
    for (uint32_t rank = 0; rank < (uint32_t)input->world_size; rank++) {
        if (is_missing(exporter, rank))
            sg_events_write_none(&exporter->archive, rank, &exporter->locations);
    }
}

static void write_calls(struct exporter *exporter)
{
    const struct sg_export *input = exporter->input;

    for (int i = 0; i < input->log_count && !exporter->archive.failed; i++)
        sg_archive_check_file(&exporter->archive,
                              sg_calls_file_write(&exporter->archive.files, input->logs[i]));
}

static const struct sg_summary *summary_of(const struct exporter *exporter, uint32_t rank)
{
    for (int i = 0; i < exporter->input->log_count; i++) {
        if ((uint32_t)exporter->summaries[i].rank == rank)
            return &exporter->summaries[i];
    }
    return NULL;
}

static void write_local_definitions(struct exporter *exporter)
{
    const struct sg_summary *summary = NULL;

    for (uint32_t i = 0; i < exporter->locations.count && !exporter->archive.failed; i++) {
        const struct sg_location *location = &exporter->locations.items[i];
        uint32_t rank = sg_location_rank(location);

        if (summary == NULL || (uint32_t)summary->rank != rank)
            summary = summary_of(exporter, rank);
        sg_definitions_write_local(&exporter->archive, summary, location);
    }
}

static int by_rank_and_thread(const void *a, const void *b)
{
    const struct sg_location *left = a;
    const struct sg_location *right = b;
    uint32_t left_rank = sg_location_rank(left), right_rank = sg_location_rank(right);

    if (left_rank != right_rank)
        return left_rank < right_rank ? -1 : 1;
    return (left->id > right->id) - (left->id < right->id);
}

/* Collects all locations at rank 0, with times on its clock; rank 0 writes the tables. */
static void write_global_definitions(struct exporter *exporter)
{
    struct sg_locations *own = &exporter->locations;
    size_t size_bytes;
    void *all;

    for (uint32_t i = 0; i < own->count; i++) {
        struct sg_location *location = &own->items[i];
        const struct sg_summary *summary = summary_of(exporter, sg_location_rank(location));

        if (summary != NULL && location->events > 0) {
            location->first_ns = sg_summary_global_ns(summary, location->first_ns);
            location->last_ns = sg_summary_global_ns(summary, location->last_ns);
        }
    }
    gather(exporter, own->items, own->count * sizeof *own->items, &all, &size_bytes);
    if (goes_on(exporter)) {
        size_t count = size_bytes / sizeof(struct sg_location);

        qsort(all, count, sizeof(struct sg_location), by_rank_and_thread);
        sg_definitions_write_global(&exporter->archive, &exporter->unified, all, count);
    }
    free(all);
}

/* False: some rank has failed. */
static bool write_files(struct exporter *exporter)
{
    struct sg_archive *archive = &exporter->archive;

    sg_archive_open(archive);
    write_events(exporter);
    write_calls(exporter);
    sg_archive_check(archive, OTF2_Archive_CloseEvtFiles(archive->handle));
    sg_archive_check(archive, OTF2_Archive_OpenDefFiles(archive->handle));
    write_local_definitions(exporter);
    sg_archive_check(archive, OTF2_Archive_CloseDefFiles(archive->handle));
    write_global_definitions(exporter);
    sg_archive_close(archive);
    if (goes_on(exporter))
        sg_archive_finish(archive);
    return agree(exporter);
}

/* Closes the handle, and removes the files once no rank writes any more. */
static void take_back(struct exporter *exporter)
{
    int first_false;

    sg_archive_fail(&exporter->archive, "some rank has failed");
    /* A rank that could not begin would not take part in a collective close. */
    if (exporter->archive.handle != NULL)
        OTF2_Archive_SetSerialCollectiveCallbacks(exporter->archive.handle);
    sg_archive_close(&exporter->archive);
    if (sg_exchange_agree(exporter->exchange, 1, &first_false) == SG_OK &&
        exporter->exchange->rank == 0 && exporter->has_plan)
        sg_archive_remove(&exporter->archive);
}

static enum sg_status write_archive(struct exporter *exporter, struct sg_export_result *result)
{
    if (!plan(exporter, result) || !write_files(exporter)) {
        take_back(exporter);
        return SG_ERR_SYSTEM;
    }
    if (exporter->exchange->rank == 0)
        result->archive_bytes = sg_files_bytes(&exporter->archive.files);
    return SG_OK;
}

static void begin(struct exporter *exporter)
{
    const struct sg_export *input = exporter->input;

    sg_archive_begin(&exporter->archive, input->directory, input->exchange);
    if (input->failure != NULL)
        sg_archive_fail(&exporter->archive, "%s", input->failure);
}

static void clear(struct exporter *exporter)
{
    sg_archive_end(&exporter->archive);
    sg_unified_clear(&exporter->unified);
    sg_plan_clear(&exporter->plan);
    for (int i = 0; exporter->summaries != NULL && i < exporter->input->log_count; i++)
        sg_summary_clear(&exporter->summaries[i]);
    free(exporter->summaries);
    free(exporter->locations.items);
    free(exporter->gathered);
}

enum sg_status sg_export_archive(const struct sg_export *input, struct sg_export_result *result)
{
    struct exporter exporter = {.input = input, .exchange = input->exchange};
    struct sg_export_result written = {0};
    enum sg_status status;

    begin(&exporter);
    status = write_archive(&exporter, &written);
    clear(&exporter);
    if (status == SG_OK)
        *result = written;
    return status;
}

/* ---- STAGGER_TRACE=stats -------------------------------------------------------------------- */

static enum sg_status resolve(const struct sg_unified *unified, sg_site_name_sink sink,
                              void *context)
{
    struct sg_symbols *symbols = NULL;
    struct sg_site_names *names = NULL;
    uint32_t name_count = 0;
    enum sg_status status = sg_symbols_open(&symbols);

    if (status == SG_OK)
        status = sg_site_names_find(unified->summaries, unified->summary_count, symbols, &names,
                                    &name_count);
    for (uint32_t i = 0; status == SG_OK && i < name_count; i++) {
        const struct sg_site_names *site = &names[i];

        if (!site->recorded && (site->function != NULL || site->file != NULL))
            sink(context, site->site->id, site->function != NULL ? site->function : "",
                 site->file != NULL ? site->file : "", site->line);
    }
    free(names);
    sg_symbols_close(symbols);
    return status;
}

enum sg_status sg_export_site_names(const struct sg_export *input, sg_site_name_sink sink,
                                    void *context)
{
    struct exporter exporter = {.input = input, .exchange = input->exchange};
    bool agreed;

    begin(&exporter);
    summarize(&exporter);
    gather_summaries(&exporter);
    if (goes_on(&exporter))
        sg_archive_note(&exporter.archive, resolve(&exporter.unified, sink, context));
    agreed = agree(&exporter);
    clear(&exporter);
    return agreed ? SG_OK : SG_ERR_SYSTEM;
}

/* ---- the companion library ------------------------------------------------------------------ */

__attribute__((visibility("default"))) const struct sg_companion sg_companion = {
    .version = SG_LOG_VERSION,
    .export_archive = sg_export_archive,
    .export_site_names = sg_export_site_names,
    .logread_try = sg_logread_try,
    .logread_close = sg_logread_close,
    .symbols_open = sg_symbols_open,
    .symbols_lookup = sg_symbols_lookup,
    .symbols_close = sg_symbols_close,
};
