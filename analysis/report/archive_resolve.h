/* Resolves the references in an archive's definitions: ranks and threads of locations, kinds of
 * regions, members of communicators, and the references of stagger's attributes and metrics.
 */
#ifndef SG_REPORT_ARCHIVE_RESOLVE_H
#define SG_REPORT_ARCHIVE_RESOLVE_H

#include "core/status.h"
#include "report/aggregate.h"
#include "report/archive_defs.h"

/* After all definitions have been read. path is for messages. SG_ERR_MISSING (logged): no ranks or
 * no clock; SG_ERR_MEMORY. */
enum sg_status sg_archive_defs_resolve(struct sg_archive_defs *defs, const char *path);

/* Tells the aggregate the call sites that the archive defines, those without events too.
 * SG_ERR_MEMORY only (not logged). */
enum sg_status sg_archive_defs_name_sites(const struct sg_archive_defs *defs,
                                          struct sg_aggregate *aggregate);

#endif
