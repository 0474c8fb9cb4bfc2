/* The files of an archive before OTF2's reader opens them by their paths: it would wait at a FIFO,
 * and follow links that another user left there to any file.
 */
#ifndef SG_REPORT_ARCHIVE_FILES_H
#define SG_REPORT_ARCHIVE_FILES_H

#include "core/status.h"

/* Whether all that an archive's reader opens are regular files, reached without symbolic links
 * below the anchor's directory. SG_ERR_FORMAT: one is not; logged. A user who may write there can
 * still exchange one between this look and OTF2's. */
enum sg_status sg_archive_files_check(const char *anchor);

#endif
