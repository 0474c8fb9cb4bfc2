/* The export, step by step. Every step is taken by all ranks and ends in an agreement, so that a
 * rank that fails takes the others along: none waits in a collective step that another does not
 * reach, and one of them speaks.
 */
#include "trace/export/export.h"

#include "trace/export/archive.h"
#include "trace/export/definitions.h"
#include "trace/export/events.h"
#include "trace/export/plan.h"

struct exporter {
    const struct sg_export *input;
    const struct sg_exchange *exchange;
    struct sg_archive archive;
    struct sg_summary *summaries; /* of this process's logs */
    struct sg_plan plan;
    struct sg_locations locations; /* of this process's logs */
    struct sg_unified unified;     /* rank 0 */
    void *gathered;                /* rank 0: holds the texts of unified */
};

/* True when no rank has failed; otherwise the lowest that has says why. */
static bool agree(struct exporter *exporter)
{
    const struct sg_archive *archive = &exporter->archive;
    const char *advice = exporter->input->advice != NULL ? exporter->input->advice : "";
    int first_false = -1;

    if (sg_exchange_agree(exporter->exchange, !archive->failed, &first_false) != SG_OK) {
        if (exporter->exchange->rank == 0)
            sg_log("%s: cannot write the trace: the ranks lost touch%s", exporter->input->directory,
                   advice);
        return false;
    }
    if (first_false == exporter->exchange->rank)
        sg_log("%s: cannot write the trace: %s%s", exporter->input->directory, archive->error,
               advice);
    return first_false < 0 && !archive->failed;
}

static void note(struct exporter *exporter, enum sg_status status)
{
    if (status != SG_OK)
        sg_archive_fail(&exporter->archive, "%s", sg_status_text(status));
}

/* ---- definitions to rank 0 and back --------------------------------------------------------- */

static void summarize(struct exporter *exporter)
{
    const struct sg_export *input = exporter->input;
    enum sg_status status = SG_OK;

    exporter->summaries = calloc((size_t)input->log_count + 1, sizeof *exporter->summaries);
    if (exporter->summaries == NULL)
        status = SG_ERR_MEMORY;
    for (int i = 0; i < input->log_count && status == SG_OK; i++)
        status = sg_summary_make(input->logs[i], input->end_ns != 0, &exporter->summaries[i]);
    note(exporter, status);
}

/* Reads the gathered summaries into a table that the caller owns. */
static enum sg_status take_summaries(const void *data, size_t size_bytes, struct sg_summary **out,
                                     int *out_count)
{
    struct sg_cursor cursor = sg_cursor_start(data, size_bytes);
    struct sg_summary *summaries = NULL;
    enum sg_status status = SG_OK;
    int count = 0;

    while (status == SG_OK && cursor.at < cursor.end) {
        struct sg_summary *moved = realloc(summaries, (size_t)(count + 1) * sizeof *moved);

        if (moved == NULL) {
            status = SG_ERR_MEMORY;
            break;
        }
        summaries = moved;
        status = sg_summary_take(&cursor, &summaries[count]);
        count += status == SG_OK;
    }
    *out = summaries;
    *out_count = count;
    return status;
}

/* Rank 0 hears of all logs; the table is the caller's, also on failure. */
static bool gather_summaries(struct exporter *exporter, struct sg_summary **summaries, int *count)
{
    const struct sg_exchange *exchange = exporter->exchange;
    size_t *sizes = calloc((size_t)exchange->size, sizeof *sizes);
    struct sg_bytes bytes = {0};
    size_t total = 0;
    bool agreed;

    for (int i = 0; i < exporter->input->log_count && !exporter->archive.failed; i++)
        sg_summary_put(&bytes, &exporter->summaries[i]);
    if (bytes.failed || sizes == NULL)
        note(exporter, SG_ERR_MEMORY);
    agreed = agree(exporter);
    if (agreed) {
        note(exporter, exchange->gather(exchange->context, bytes.data, bytes.size_bytes,
                                        &exporter->gathered, sizes));
        if (exchange->rank == 0 && !exporter->archive.failed) {
            for (int rank = 0; rank < exchange->size; rank++)
                total += sizes[rank];
            note(exporter, take_summaries(exporter->gathered, total, summaries, count));
        }
    }
    free(bytes.data);
    free(sizes);
    return agreed;
}

static void clear_summaries(struct sg_summary *summaries, int count)
{
    for (int i = 0; summaries != NULL && i < count; i++)
        sg_summary_clear(&summaries[i]);
    free(summaries);
}

/* Rank 0 makes the plan, everyone gets it. */
static bool share_plan(struct exporter *exporter, struct sg_export_result *result)
{
    struct sg_bytes bytes = {0};
    struct sg_cursor cursor;
    size_t size_bytes;
    void *data;
    bool agreed;

    if (exporter->exchange->rank == 0) {
        sg_bytes_put_u64(&bytes, exporter->unified.calls);
        sg_bytes_put_u64(&bytes, exporter->unified.dropped);
        sg_bytes_put_u32(&bytes, exporter->unified.partial);
        sg_plan_put(&bytes, &exporter->plan);
        if (bytes.failed)
            note(exporter, SG_ERR_MEMORY);
    }
    agreed = agree(exporter);
    data = bytes.data;
    size_bytes = bytes.size_bytes;
    if (agreed) {
        note(exporter, sg_exchange_share(exporter->exchange, &data, &size_bytes));
        if (!exporter->archive.failed) {
            cursor = sg_cursor_start(data, size_bytes);
            result->calls = sg_cursor_u64(&cursor);
            result->dropped = sg_cursor_u64(&cursor);
            result->partial = sg_cursor_u32(&cursor);
            if (exporter->exchange->rank != 0)
                note(exporter, sg_plan_take(&cursor, &exporter->plan));
        }
        agreed = agree(exporter);
    }
    free(data);
    return agreed;
}

/* All ranks know what the archive will hold, and may begin to write it. */
static bool plan(struct exporter *exporter, struct sg_export_result *result)
{
    struct sg_summary *summaries = NULL;
    int count = 0;

    summarize(exporter);
    if (!gather_summaries(exporter, &summaries, &count))
        return false;
    if (exporter->exchange->rank == 0 && !exporter->archive.failed) {
        note(exporter,
             sg_unify(exporter->input, summaries, count, &exporter->unified, &exporter->plan));
        if (!exporter->archive.failed)
            sg_archive_prepare(&exporter->archive);
    } else {
        clear_summaries(summaries, count);
    }
    return share_plan(exporter, result);
}

/* ---- the archive's files -------------------------------------------------------------------- */

/* Rank 0 stands in for the ranks without a log. */
static bool is_missing(const struct exporter *exporter, int rank)
{
    return exporter->unified.by_rank != NULL && exporter->unified.by_rank[rank] < 0;
}

static void write_events(struct exporter *exporter)
{
    const struct sg_export *input = exporter->input;

    for (int i = 0; i < input->log_count; i++)
        sg_events_write(&exporter->archive, &exporter->plan, &exporter->summaries[i],
                        input->logs[i], input->end_ns, &exporter->locations);
    for (int rank = 0; rank < input->world_size; rank++) {
        if (is_missing(exporter, rank))
            sg_events_write_none(&exporter->archive, (uint32_t)rank, &exporter->locations);
    }
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

    for (uint32_t i = 0; i < exporter->locations.count; i++) {
        const struct sg_location *location = &exporter->locations.items[i];
        uint32_t rank = (uint32_t)location->id;

        if (summary == NULL || (uint32_t)summary->rank != rank)
            summary = summary_of(exporter, rank);
        sg_definitions_write_local(&exporter->archive, summary, location);
    }
}

static int by_rank_and_thread(const void *a, const void *b)
{
    const struct sg_location_record *left = a;
    const struct sg_location_record *right = b;
    uint32_t left_rank = (uint32_t)left->id, right_rank = (uint32_t)right->id;

    if (left_rank != right_rank)
        return left_rank < right_rank ? -1 : 1;
    return (left->id > right->id) - (left->id < right->id);
}

/* Rank 0 hears of all locations; *out is malloc'ed there. */
static bool gather_locations(struct exporter *exporter, struct sg_location_record **out,
                             size_t *count)
{
    const struct sg_exchange *exchange = exporter->exchange;
    uint32_t own_count = exporter->locations.count;
    struct sg_location_record *own = calloc((size_t)own_count + 1, sizeof *own);
    void *all = NULL;
    size_t total = 0;

    if (own == NULL)
        note(exporter, SG_ERR_MEMORY);
    if (!agree(exporter)) {
        free(own);
        return false;
    }
    for (uint32_t i = 0; i < own_count; i++) {
        const struct sg_location *location = &exporter->locations.items[i];
        const struct sg_summary *summary = summary_of(exporter, (uint32_t)location->id);

        own[i].id = location->id;
        own[i].events = location->events;
        if (summary != NULL && location->events > 0) {
            own[i].first_ns = sg_summary_global_ns(summary, location->first_ns);
            own[i].last_ns = sg_summary_global_ns(summary, location->last_ns);
        }
    }
    note(exporter, exchange->gather(exchange->context, own, own_count * sizeof *own, &all,
                                    exporter->archive.sizes));
    free(own);
    if (exchange->rank == 0 && !exporter->archive.failed) {
        for (int rank = 0; rank < exchange->size; rank++)
            total += exporter->archive.sizes[rank];
        *out = all;
        *count = total / sizeof **out;
        qsort(*out, *count, sizeof **out, by_rank_and_thread);
    }
    return true;
}

static bool write_global_definitions(struct exporter *exporter)
{
    struct sg_location_record *locations = NULL;
    size_t count = 0;

    if (!gather_locations(exporter, &locations, &count))
        return false;
    if (exporter->exchange->rank == 0 && !exporter->archive.failed)
        sg_definitions_write_global(&exporter->archive, &exporter->unified, locations, count);
    free(locations);
    return agree(exporter);
}

/* Each collective step is entered by all or by none. */
static bool write_files(struct exporter *exporter)
{
    struct sg_archive *archive = &exporter->archive;

    sg_archive_create(archive);
    if (!agree(exporter))
        return false;
    sg_archive_open(archive);
    if (!agree(exporter))
        return false;
    write_events(exporter);
    if (!agree(exporter))
        return false;
    sg_archive_check(archive, OTF2_Archive_CloseEvtFiles(archive->handle));
    if (!agree(exporter))
        return false;
    sg_archive_check(archive, OTF2_Archive_OpenDefFiles(archive->handle));
    if (!agree(exporter))
        return false;
    write_local_definitions(exporter);
    if (!agree(exporter))
        return false;
    sg_archive_check(archive, OTF2_Archive_CloseDefFiles(archive->handle));
    if (!agree(exporter))
        return false;
    if (!write_global_definitions(exporter))
        return false;
    sg_archive_close(archive);
    if (!agree(exporter))
        return false;
    if (exporter->exchange->rank == 0)
        sg_archive_finish(archive);
    return agree(exporter);
}

/* What is left of the handle is closed; no rank writes any more when rank 0 removes the files. */
static void take_back(struct exporter *exporter)
{
    int first_false;

    sg_archive_close(&exporter->archive);
    if (sg_exchange_agree(exporter->exchange, 1, &first_false) == SG_OK &&
        exporter->exchange->rank == 0)
        sg_archive_remove(&exporter->archive);
}

static enum sg_status write_archive(struct exporter *exporter, struct sg_export_result *result)
{
    const struct sg_exchange *exchange = exporter->exchange;

    if (!plan(exporter, result))
        return SG_ERR_SYSTEM;
    if (!write_files(exporter)) {
        take_back(exporter);
        return SG_ERR_SYSTEM;
    }
    if (exchange->rank == 0)
        result->archive_bytes = sg_files_bytes(&exporter->archive.files);
    return exchange->broadcast(exchange->context, &result->archive_bytes,
                               sizeof result->archive_bytes);
}

static void clear(struct exporter *exporter)
{
    sg_archive_end(&exporter->archive);
    sg_unified_clear(&exporter->unified);
    sg_plan_clear(&exporter->plan);
    clear_summaries(exporter->summaries, exporter->input->log_count);
    free(exporter->locations.items);
    free(exporter->gathered);
}

enum sg_status sg_export_archive(const struct sg_export *input, struct sg_export_result *result)
{
    struct exporter exporter = {.input = input, .exchange = input->exchange};
    struct sg_export_result written = {0};
    enum sg_status status;

    sg_archive_begin(&exporter.archive, input->directory, input->exchange);
    status = write_archive(&exporter, &written);
    clear(&exporter);
    if (status == SG_OK)
        *result = written;
    return status;
}

/* ---- STAGGER_TRACE=stats -------------------------------------------------------------------- */

static enum sg_status resolve(struct sg_summary *summaries, int count, sg_site_name_sink sink,
                              void *context)
{
    struct sg_symbols *symbols = NULL;
    struct sg_site_names *names = NULL;
    uint32_t name_count = 0;
    enum sg_status status = sg_symbols_open(&symbols);

    if (status == SG_OK)
        status = sg_resolve_sites(summaries, count, symbols, &names, &name_count);
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
    struct sg_summary *summaries = NULL;
    bool agreed;
    int count = 0;

    sg_archive_begin(&exporter.archive, input->directory, input->exchange);
    summarize(&exporter);
    agreed = gather_summaries(&exporter, &summaries, &count);
    if (agreed && input->exchange->rank == 0 && !exporter.archive.failed)
        note(&exporter, resolve(summaries, count, sink, context));
    agreed = agreed && agree(&exporter);
    clear_summaries(summaries, count);
    clear(&exporter);
    return agreed ? SG_OK : SG_ERR_SYSTEM;
}
