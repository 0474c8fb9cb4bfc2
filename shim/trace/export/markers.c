/* Writes the archive's markers, on rank 0: those that the ranks recorded at run time, and one
 * for each rank whose log is missing or incomplete. Rank 0 holds all summaries, so it writes the
 * markers of every rank. */
#include "trace/export/definitions.h"
#include "trace/export/vocabulary.h"

struct marker_writer {
    struct sg_archive *archive;
    OTF2_MarkerWriter *markers; /* opened on the first marker: most archives have none */
};

static bool open_markers(struct marker_writer *writer)
{
    static const struct {
        const char *category;
        OTF2_MarkerSeverity severity;
    } kinds[] = {
        [SG_MARKER_STALL] = {"stall", OTF2_SEVERITY_MEDIUM},
        [SG_MARKER_MISMATCH] = {"mismatch", OTF2_SEVERITY_HIGH},
        [SG_MARKER_PARTIAL] = {"partial data", OTF2_SEVERITY_MEDIUM},
        [SG_MARKER_NOTE] = {"note", OTF2_SEVERITY_LOW},
        [SG_MARKER_LEARNED] = {SG_MARKER_LEARNED_CATEGORY, OTF2_SEVERITY_LOW},
    };

    if (writer->markers != NULL)
        return true;
    writer->markers = OTF2_Archive_GetMarkerWriter(writer->archive->handle);
    if (writer->markers == NULL) {
        sg_archive_note(writer->archive, SG_ERR_MEMORY);
        return false;
    }
    for (uint32_t kind = SG_MARKER_STALL; kind <= SG_MARKER_LEARNED; kind++)
        sg_archive_check(writer->archive, OTF2_MarkerWriter_WriteDefMarker(
                                              writer->markers, kind, "stagger",
                                              kinds[kind].category, kinds[kind].severity));
    return true;
}

static void write_marker(struct marker_writer *writer, uint32_t kind, uint64_t time_ns,
                         uint32_t rank, const char *text)
{
    if (kind < SG_MARKER_STALL || kind > SG_MARKER_LEARNED)
        kind = SG_MARKER_NOTE;
    if (open_markers(writer))
        sg_archive_check(writer->archive,
                         OTF2_MarkerWriter_WriteMarker(writer->markers, time_ns, 0, kind,
                                                       OTF2_MARKER_SCOPE_LOCATION,
                                                       sg_location_id(rank, 0), text));
}

void sg_markers_write(struct sg_archive *archive, const struct sg_unified *unified,
                      uint64_t begin_ns, uint64_t end_ns)
{
    struct marker_writer writer = {.archive = archive};

    for (uint32_t rank = 0; rank < (uint32_t)unified->world_size; rank++) {
        const struct sg_summary *summary = sg_unified_summary(unified, rank);

        if (summary == NULL) {
            write_marker(&writer, SG_MARKER_PARTIAL, begin_ns, rank, "this rank's log is missing");
            continue;
        }
        for (uint32_t i = 0; i < summary->marker_count; i++) {
            const struct sg_marker_entry *marker = &summary->markers[i];

            write_marker(&writer, marker->kind, sg_summary_global_ns(summary, marker->time_ns),
                         rank, marker->text);
        }
        if (!summary->finished) {
            uint64_t last_ns = sg_summary_global_ns(summary, summary->last_ns);

            write_marker(&writer, SG_MARKER_PARTIAL, last_ns < end_ns ? last_ns : end_ns, rank,
                         "this rank did not reach MPI_Finalize");
        }
    }
    if (writer.markers != NULL)
        sg_archive_check(archive, OTF2_Archive_CloseMarkerWriter(archive->handle, writer.markers));
}
