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
#ifndef SG_TRACE_FILES_H
#define SG_TRACE_FILES_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdint.h>

#define SG_ARCHIVE_NAME "traces"

struct sg_files {
    int directory; /* of the archive: DIR, or DIR/traces.new; -1: not open */
    int home;      /* DIR, where the archive replaces the one there; else -1 */
    int locations; /* DIR/traces */
    int anchor;    /* of the process that prepared them; locked while the export is in progress */
};

#define SG_FILES_CLOSED ((struct sg_files){-1, -1, -1, -1})

int sg_files_open(struct sg_files *files, const char *directory);
void sg_files_close(struct sg_files *files);

/* One process: removes the files of an interrupted export, and begins the anchor and
 * DIR/traces. EEXIST where there is an archive, unless it is to be replaced; EBUSY where another
 * process makes one; ENOTEMPTY where other files are in DIR/traces. */
int sg_files_prepare(struct sg_files *files, bool replace);

/* Every process, after that; the only one, where an archive is replaced. */
int sg_files_enter(struct sg_files *files);

/* A new file to write. location: of event and local definition files. */
int sg_files_create(const struct sg_files *files, OTF2_FileType type, uint64_t location, int *file);

/* Likewise, a rank's statistics of calls. */
int sg_files_create_calls(const struct sg_files *files, int rank, int *file);

/* Gives the anchor its name, and the archive the place of the one that it replaces. */
int sg_files_finish(struct sg_files *files);

/* One process: removes the archive's files, and DIR/traces where it holds nothing else. */
int sg_files_remove(const struct sg_files *files);

/* The size of them all. */
uint64_t sg_files_bytes(const struct sg_files *files);

#endif
