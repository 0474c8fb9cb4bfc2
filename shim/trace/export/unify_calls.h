/* What the events of all calls use, of all ranks: functions, each with its region, and
 * communicators. A communicator that the library's collectives know, too, is defined once; the
 * members of others are in the record of their rank 0. Where they are not known, the messages on
 * the communicator are left out and counted.
 */
#ifndef SG_TRACE_EXPORT_UNIFY_CALLS_H
#define SG_TRACE_EXPORT_UNIFY_CALLS_H

#include "core/status.h"
#include "trace/export/export_plan.h"
#include "trace/export/strings.h"
#include "trace/export/summary.h"
#include "trace/export/unify_comms.h"

/* The names of functions that are regions of their own, in the order of their numbers from
 * SG_REGION_REF_FUNCTIONS; malloc'ed, the texts are the summaries'. */
enum sg_status sg_unify_functions(const struct sg_summary *summaries, int summary_count,
                                  struct sg_plan *plan, const char ***names, uint32_t *name_count);
/* After sg_unify_comms: adds to its communicators. */
enum sg_status sg_unify_profile_comms(const struct sg_summary *summaries, int summary_count,
                                      struct sg_strings *strings, struct sg_plan *plan,
                                      struct sg_unified_comms *out);

#endif
