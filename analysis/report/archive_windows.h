/* Feeds wait states from an archive's events of one-sided communication: has OTF2's callbacks,
 * finds the communicator of each window, and numbers the collectives on it.
 *
 * Windows on MPI_COMM_SELF and on intercommunicators are left out. Functions that return a status:
 * SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_ARCHIVE_WINDOWS_H
#define SG_REPORT_ARCHIVE_WINDOWS_H

#include "core/status.h"
#include "report/archive_definitions.h"
#include "report/wait_tracker.h"

#include <otf2/otf2.h>

struct sg_archive_windows;

/* Definitions and tracker must outlive it. */
enum sg_status sg_archive_windows_create(const struct sg_archive_defs *defs,
                                         struct sg_waitstate_tracker *tracker,
                                         struct sg_archive_windows **out);
void sg_archive_windows_destroy(struct sg_archive_windows *windows);

/* Registers the callbacks. Their context is struct sg_archive_events, whose windows may be NULL. */
void sg_archive_window_callbacks(OTF2_GlobalEvtReaderCallbacks *callbacks);

#endif
