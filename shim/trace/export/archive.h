/* The OTF2 archive being written: how it is opened, closed and removed, and its failures.
 *
 * OTF2 reports some failures only to its error callback. So the callback decides, not the return
 * values alone, and its message is logged. A process writes one archive at a time.
 */
#ifndef SG_TRACE_EXPORT_ARCHIVE_H
#define SG_TRACE_EXPORT_ARCHIVE_H

#include "core/exchange.h"

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdint.h>

/* The files of an archive: DIR/traces.otf2, traces.def, traces.marker and DIR/traces/N.evt, N.def;
 * and beside them ours, DIR/traces/N.calls (calls_file.h).
 *
 * Other users may write to DIR. So files and the directory traces/ are made below DIR's descriptor,
 * existing files are never used, and symbolic links are not followed. The anchor, traces.otf2, is
 * written under another name and renamed when the archive is complete: where there is an anchor,
 * there is an archive.
 *
 * An archive that replaces another is made whole in DIR/traces.new/ before the old one is moved to
 * DIR/traces.new/old/, the new one into DIR, and the old one removed: at every moment both the logs
 * and one archive are there. A replacement that was interrupted is undone by the next one.
 *
 * Functions return 0 or an errno value.
 */

#define SG_ARCHIVE_NAME "traces"

struct sg_files {
    int directory; /* of the archive: DIR, or DIR/traces.new; -1: not open */
    int home;      /* DIR, where the archive replaces the one there; else -1 */
    int locations; /* DIR/traces */
    int anchor;    /* of the process that prepared them; locked while the export is in progress */
};

#define SG_FILES_CLOSED ((struct sg_files){-1, -1, -1, -1})

/* A new file to write. location: of event and local definition files. */
int sg_files_create(const struct sg_files *files, OTF2_FileType type, uint64_t location, int *file);
/* Likewise, a rank's statistics of calls. */
int sg_files_create_calls(const struct sg_files *files, int rank, int *file);
/* The size of them all. */
uint64_t sg_files_bytes(const struct sg_files *files);

#define SG_EVENT_CHUNK_BYTES OTF2_CHUNK_SIZE_EVENTS_DEFAULT
#define SG_DEFINITION_CHUNK_BYTES OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT

struct sg_archive {
    const char *directory;
    const struct sg_exchange *exchange;
    struct sg_files files;
    OTF2_Archive *handle;
    bool flush_is_final; /* of the flush that is under way: its file's last one */
    size_t *sizes;       /* of what a gather brings; rank 0's are set */
    OTF2_ErrorCallback old_callback;
    bool failed;
    char error[256]; /* the first failure */
};

/* Begins to listen to OTF2's errors. */
void sg_archive_begin(struct sg_archive *archive, const char *directory,
                      const struct sg_exchange *exchange);
/* Rank 0 gets what every rank gives, by rank, in *all (malloc'ed), *total_bytes in all. A failure
 * of any rank is noted there. */
void sg_archive_gather(struct sg_archive *archive, const void *data, size_t size_bytes, void **all,
                       size_t *total_bytes);
/* Notes a failure of our own, unless there is one already. */
void sg_archive_fail(struct sg_archive *archive, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same by a status; SG_OK is no failure. */
void sg_archive_note(struct sg_archive *archive, enum sg_status status);
/* False when the code is an error. */
bool sg_archive_check(struct sg_archive *archive, OTF2_ErrorCode code);
/* error: 0 or an errno value. */
void sg_archive_check_file(struct sg_archive *archive, int error);
void sg_archive_end(struct sg_archive *archive);
/* Rank 0 only, before any rank creates: refuses a directory that contains an archive, unless it is
 * to be replaced, and removes the files of an interrupted export. */
void sg_archive_prepare(struct sg_archive *archive, bool replace);
/* Local: the handle, not yet a file; it needs the callbacks of chunks.h. */
void sg_archive_create(struct sg_archive *archive);
/* Collective: ready for event writers. */
void sg_archive_open(struct sg_archive *archive);
/* Collective; the handle is gone afterwards, also on failure. */
void sg_archive_close(struct sg_archive *archive);
/* Rank 0 only, once all ranks have closed it: gives the archive its name, or removes all its files.
 */
void sg_archive_finish(struct sg_archive *archive);
void sg_archive_remove(struct sg_archive *archive);

#endif
