/* Gathers the statistics of all calls, log by log, into rows: a function at a call site on a
 * communicator. Communicators are told apart by name and size; so memory grows with rows and pairs
 * of ranks, not with calls or logs.
 *
 * Functions that return a status: SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_PROFILE_TABLE_H
#define SG_REPORT_PROFILE_TABLE_H

#include "core/status.h"
#include "report/aggregate.h"
#include "report/filter.h"
#include "report/profile_calls.h"
#include "trace/record.h"

#include <stdint.h>

#define SG_CALL_NO_COMM 0u /* the communicator of a call on none */

struct sg_call_table;

/* The aggregate has the call sites and what is filtered; both outlive the table. */
enum sg_status sg_call_table_create(const struct sg_aggregate *aggregate,
                                    const struct sg_filter *filter, struct sg_call_table **out);
void sg_call_table_destroy(struct sg_call_table *table);
/* Texts are copied. */
enum sg_status sg_call_table_function(struct sg_call_table *table, const char *name, uint32_t *out);
enum sg_status sg_call_table_comm(struct sg_call_table *table, const char *name, uint32_t size,
                                  uint32_t *out);
/* A rank whose statistics are there, even if there are no calls in them. */
void sg_call_table_saw_rank(struct sg_call_table *table, uint32_t rank);
/* Calls of a rank's thread. */
enum sg_status sg_call_table_add(struct sg_call_table *table, const struct sg_call_place *place,
                                 uint32_t rank, uint32_t thread,
                                 const struct sg_call_figures *figures);

/* Messages between two ranks of MPI_COMM_WORLD, as one of them counted; no rank is damage. */
struct sg_call_exchange {
    uint32_t rank, peer;
    uint64_t sent_messages, sent_bytes;
    uint64_t received_messages, received_bytes;
};

enum sg_status sg_call_table_exchange(struct sg_call_table *table,
                                      const struct sg_call_exchange *exchange);
/* With a peer that is not known. */
void sg_call_table_others(struct sg_call_table *table, const struct sg_call_exchange *exchange);
/* One-sided operations, as their origin counted: of known ranks, and others. */
enum sg_status sg_call_table_target(struct sg_call_table *table,
                                    const struct sg_call_target *target);
void sg_call_table_other_targets(struct sg_call_table *table, const struct sg_call_target *sum);
/* What was done before calls goes there. */
struct sg_before_sums *sg_call_table_before(struct sg_call_table *table);
/* Slices go there. */
struct sg_slice_set *sg_call_table_slices(struct sg_call_table *table);
/* A distribution that MMDS kept; its bins are copied. */
enum sg_status sg_call_table_distribution(struct sg_call_table *table,
                                          const struct sg_mmds_distribution *distribution);
/* A rank's first thread, which MMDS followed for so long. */
void sg_call_table_follows_rank(struct sg_call_table *table, uint64_t run_ns);
/* The result, to which the calls of the report's own rows are added; NULL if no rank was seen. The
 * report must be finished. The table belongs to it, or is destroyed. */
enum sg_status sg_call_table_finish(struct sg_call_table *table, const struct sg_report *report,
                                    struct sg_calls **out);

/* Messages and one-sided operations on communicators other than MPI_COMM_WORLD. A communicator's
 * rank 0 tells in its log which ranks are its members, each other member who it is itself; so what
 * is about a rank that is not known yet waits for more logs.
 *
 * Memory grows with communicators, and pairs of ranks on each. Functions that return a status:
 * SG_ERR_MEMORY only, not logged. Not thread-safe.
 */

#define SG_CALL_NO_MEMBERS UINT32_MAX

struct sg_call_members; /* of a communicator */

/* Zeroed: of none. */
struct sg_call_member_lists {
    struct sg_call_members *of;
    uint32_t count;
    struct sg_map by_identity;
};

/* The communicator of a record, whose text is given, in a rank's log; it is the same in the logs of
 * all members. SG_CALL_NO_MEMBERS: its members are never known. */
enum sg_status sg_call_members_find(struct sg_call_member_lists *lists,
                                    const struct sg_record_profile_comm *record, const char *text,
                                    uint32_t rank, uint32_t world_size, uint32_t *out);
/* Messages with, or operations on, a rank of the communicator, as a rank of MPI_COMM_WORLD counted
 * them. */
enum sg_status sg_call_members_exchange(struct sg_call_member_lists *lists, uint32_t list,
                                        const struct sg_call_exchange *exchange,
                                        struct sg_call_table *table);
enum sg_status sg_call_members_add(struct sg_call_member_lists *lists, uint32_t list,
                                   const struct sg_call_target *target);
/* After the last log: moves all to the table. */
enum sg_status sg_call_members_finish(struct sg_call_member_lists *lists,
                                      struct sg_call_table *table);
void sg_call_members_clear(struct sg_call_member_lists *lists);

#endif
