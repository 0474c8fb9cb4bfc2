/* Merges the functions and communicators that the events of all calls use, over all ranks. Each
 * function gets a region. A communicator that the library's collectives also use is defined only
 * once. For the others, the record of the communicator's rank 0 holds the members; if they are
 * not known, the communicator's messages are left out and counted as dropped. */
#ifndef SG_TRACE_EXPORT_UNIFY_CALLS_H
#define SG_TRACE_EXPORT_UNIFY_CALLS_H

#include "core/status.h"
#include "trace/export/export_plan.h"
#include "trace/export/strings.h"
#include "trace/export/summary.h"
#include "trace/export/unify_comms.h"

/* Fills in the plan's functions. *names: functions that get a region of their own, in order of
 * ref from SG_REGION_REF_FUNCTIONS; malloc'ed, the summaries own the texts. */
enum sg_status sg_unify_functions(const struct sg_summary *summaries, int summary_count,
                                  struct sg_plan *plan, const char ***names, uint32_t *name_count);
/* Call after sg_unify_comms: adds to its communicators. */
enum sg_status sg_unify_profile_comms(const struct sg_summary *summaries, int summary_count,
                                      struct sg_strings *strings, struct sg_plan *plan,
                                      struct sg_unified_comms *out);

#endif
