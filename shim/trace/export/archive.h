/* The OTF2 archive that the export writes: opening, closing, replacing and removing its files, and
 * recording its first failure.
 *
 * OTF2 reports some failures only to its error callback. So a failure is recorded by the callback
 * as well as from return values, and its message is logged. A process writes one archive at a time.
 */
#ifndef SG_TRACE_EXPORT_ARCHIVE_H
#define SG_TRACE_EXPORT_ARCHIVE_H

#include "core/exchange.h"

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdint.h>

/* An archive consists of DIR/traces.otf2, traces.def, traces.marker and DIR/traces/N.evt, N.def;
 * stagger adds DIR/traces/N.calls (calls_file.c).
 *
 * Other users may be able to write to DIR. So all files and the directory traces/ are created
 * relative to DIR's descriptor, existing files are never used, and symbolic links are not followed.
 * The anchor, traces.otf2, is written under another name and renamed when the archive is complete:
 * an anchor means a complete archive.
 *
 * A replacement archive is completed in DIR/traces.new/. Then the old archive moves to
 * DIR/traces.new/old/, the new one into DIR, and the old one is removed. At every moment the logs
 * and one archive exist. The next replacement undoes an interrupted one.
 *
 * Functions return 0 or an errno value.
 */

#define SG_ARCHIVE_NAME "traces"

struct sg_files {
    int directory; /* the archive's: DIR or DIR/traces.new; -1: not open */
    int home;      /* DIR, if the archive replaces the one there; else -1 */
    int locations; /* DIR/traces */
    int anchor;    /* open in the process that prepared the files; locked during the export */
};

#define SG_FILES_CLOSED ((struct sg_files){-1, -1, -1, -1})

/* Creates a file for writing. location: for event and local definition files only. */
int sg_files_create(const struct sg_files *files, OTF2_FileType type, uint64_t location, int *file);
/* Creates the file of a rank's call statistics. */
int sg_files_create_calls(const struct sg_files *files, int rank, int *file);
/* Closes a written file. A network file system may report a full disk only now. */
int sg_files_close(const struct sg_files *files, int file);
/* Returns the total size of the archive's files. */
uint64_t sg_files_bytes(const struct sg_files *files);

/* OTF2 clears the rest of a chunk, and readers allocate one for each location: chunks are small
 * unless a definition needs more. */
#define SG_EVENT_CHUNK_BYTES OTF2_CHUNK_SIZE_MIN

struct sg_archive {
    const char *directory;
    const struct sg_exchange *exchange;
    struct sg_files files;
    uint64_t definition_chunk_bytes; /* as in the plan */
    OTF2_Archive *handle;
    bool flush_is_final; /* true while OTF2 flushes a file for the last time */
    size_t *sizes;       /* of each rank's data in a gather; set on rank 0 */
    OTF2_ErrorCallback old_callback;
    bool failed;
    char error[256]; /* the first failure */
};

/* Initialises the archive and registers for OTF2's errors, until sg_archive_end. */
void sg_archive_begin(struct sg_archive *archive, const char *directory,
                      const struct sg_exchange *exchange);
/* Collective: rank 0 receives every rank's data, by rank, in *all (malloc'ed, *total_bytes long). A
 * failure is recorded in the archive. */
void sg_archive_gather(struct sg_archive *archive, const void *data, size_t size_bytes, void **all,
                       size_t *total_bytes);
/* Records a failure of the export itself, unless one is already recorded. */
void sg_archive_fail(struct sg_archive *archive, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Records a failure status; SG_OK is ignored. */
void sg_archive_note(struct sg_archive *archive, enum sg_status status);
/* Records an OTF2 error. Returns false for an error. */
bool sg_archive_check(struct sg_archive *archive, OTF2_ErrorCode code);
/* Records a file error. error: 0 or an errno value. */
void sg_archive_check_file(struct sg_archive *archive, int error);
void sg_archive_end(struct sg_archive *archive);
/* Rank 0 only, before any rank calls sg_archive_create: refuses a directory that contains an
 * archive, unless it is to be replaced, and removes the files of an interrupted export. */
void sg_archive_prepare(struct sg_archive *archive, bool replace);
/* Local: opens the handle, but no file yet. The caller must then set its flush and memory callbacks
 * (export.c). */
void sg_archive_create(struct sg_archive *archive);
/* Collective: prepares the archive for event writers. */
void sg_archive_open(struct sg_archive *archive);
/* Collective: closes the handle, also on failure. */
void sg_archive_close(struct sg_archive *archive);
/* Rank 0 only, after all ranks have closed it: finish gives the archive its name, remove deletes
 * its files.
 */
void sg_archive_finish(struct sg_archive *archive);
void sg_archive_remove(struct sg_archive *archive);

struct sg_logread;

/* Writes the statistics of all MPI calls beside an archive: DIR/traces/N.calls for rank N. The file
 * has the format of a log, so that it can be read as one (trace/export/logread.h). It contains the
 * log's header and its records of call sites, functions, communicators, clocks and statistics, but
 * no events. No file is written if the log does not count all calls. Returns 0 or an errno value.
 * In calls_file.c. */
int sg_calls_file_write(const struct sg_files *files, struct sg_logread *log);

#endif
