/* A location's own definitions: the offsets of its clock from rank 0's. The field that OTF2 calls
 * the standard deviation of an offset contains the bound of its error: there is no field for a
 * bound, and readers show it as the possible error of the offset.
 */
#include "trace/export/definitions.h"

void sg_definitions_write_local(struct sg_archive *archive, const struct sg_summary *summary,
                                const struct sg_location *location)
{
    OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(archive->handle, location->id);
    struct sg_clock_point whole = {.local_ns = location->first_ns};
    const struct sg_clock_point *points = summary != NULL ? summary->clock : NULL;
    uint32_t count = summary != NULL ? summary->clock_count : 0;
    uint64_t last_ns = location->last_ns;

    if (writer == NULL) {
        sg_archive_note(archive, SG_ERR_MEMORY);
        return;
    }
    if (count > 1) {
        for (uint32_t i = 0; i < count; i++)
            sg_archive_check(archive, OTF2_DefWriter_WriteClockOffset(writer, points[i].local_ns,
                                                                      points[i].offset_ns,
                                                                      (double)points[i].error_ns));
    } else {
        /* One offset, or none, holds from the first event to the last. */
        if (count == 1) {
            whole.offset_ns = points[0].offset_ns;
            whole.error_ns = points[0].error_ns;
        }
        if (whole.local_ns == 0 && summary != NULL) {
            whole.local_ns = summary->monotonic_ns;
            last_ns = summary->last_ns;
        }
        if (last_ns <= whole.local_ns)
            last_ns = whole.local_ns + 1;
        sg_archive_check(archive,
                         OTF2_DefWriter_WriteClockOffset(writer, whole.local_ns, whole.offset_ns,
                                                         (double)whole.error_ns));
        sg_archive_check(archive, OTF2_DefWriter_WriteClockOffset(writer, last_ns, whole.offset_ns,
                                                                  (double)whole.error_ns));
    }
    sg_archive_check(archive, OTF2_Archive_CloseDefWriter(archive->handle, writer));
}
