/* Gathers the statistics of all calls, log by log, into rows: a function at a call site on a
 * communicator. Name and size identify a communicator, so memory grows with rows and pairs of
 * ranks, not with calls or logs.
 *
 * Functions that return a status return SG_OK or SG_ERR_MEMORY, which they do not log. Not
 * thread-safe.
 */
#ifndef SG_REPORT_PROFILE_TABLE_H
#define SG_REPORT_PROFILE_TABLE_H

#include "core/status.h"
#include "report/aggregate.h"
#include "report/filter.h"
#include "report/profile_calls.h"
#include "report/source_stats.h"
#include "trace/record.h"

#include <stdint.h>

#define SG_CALL_NO_COMM 0u /* stands for calls without a communicator */

struct sg_call_table;

/* The aggregate provides the call sites, the filter selects rows; both outlive the table. */
enum sg_status sg_call_table_create(const struct sg_aggregate *aggregate,
                                    const struct sg_filter *filter, struct sg_call_table **out);
void sg_call_table_destroy(struct sg_call_table *table);
/* Return the number of a name; texts are copied. */
enum sg_status sg_call_table_function(struct sg_call_table *table, const char *name, uint32_t *out);
enum sg_status sg_call_table_comm(struct sg_call_table *table, const char *name, uint32_t size,
                                  uint32_t *out);
/* Marks a rank whose statistics are present, even if they contain no calls. */
void sg_call_table_saw_rank(struct sg_call_table *table, uint32_t rank, uint64_t ends_ns);
/* Adds calls of one thread of a rank. */
enum sg_status sg_call_table_add(struct sg_call_table *table, const struct sg_call_place *place,
                                 uint32_t rank, uint32_t thread,
                                 const struct sg_call_figures *figures);

/* Messages between two ranks of MPI_COMM_WORLD, as one of them counted them. An exchange whose peer
 * is out of range is ignored as damage. */
struct sg_call_exchange {
    uint32_t rank, peer;
    uint64_t sent_messages, sent_bytes;
    uint64_t received_messages, received_bytes;
};

enum sg_status sg_call_table_exchange(struct sg_call_table *table,
                                      const struct sg_call_exchange *exchange);
/* Adds messages with an unknown peer. */
void sg_call_table_others(struct sg_call_table *table, const struct sg_call_exchange *exchange);
/* Add one-sided operations, as their origin counted them: of known ranks, and of others. */
enum sg_status sg_call_table_target(struct sg_call_table *table,
                                    const struct sg_call_target *target);
void sg_call_table_other_targets(struct sg_call_table *table, const struct sg_call_target *sum);
/* The table's sums of the intervals before calls; the caller adds to them. */
struct sg_before_sums *sg_call_table_before(struct sg_call_table *table);
/* The sums of the intervals before MPI_Init, which have no call site. */
struct sg_before_sums *sg_call_table_starts(struct sg_call_table *table);
/* The table's slices; the caller adds to them. */
struct sg_slice_set *sg_call_table_slices(struct sg_call_table *table);
/* Adds a distribution that MMDS kept; its bins are copied. */
enum sg_status sg_call_table_distribution(struct sg_call_table *table,
                                          const struct sg_mmds_distribution *distribution);
/* Adds a rank whose first thread MMDS followed for run_ns. */
void sg_call_table_follows_rank(struct sg_call_table *table, uint64_t run_ns);
/* Makes the result, and adds the calls of the report's own rows; NULL if no rank was seen. The
 * report must be finished, and gets its ranks' time in MPI. The result takes ownership of the
 * table; without a result the table is destroyed. */
enum sg_status sg_call_table_finish(struct sg_call_table *table, struct sg_report *report,
                                    struct sg_calls **out);

/* Messages and one-sided operations on communicators other than MPI_COMM_WORLD. The log of a
 * communicator's rank 0 lists its members; the log of any other member gives only that member's
 * rank. Figures for a rank that is still unknown therefore wait for later logs.
 *
 * Memory grows with communicators, and with pairs of ranks on each. Functions that return a status
 * return SG_OK or SG_ERR_MEMORY, which they do not log. Not thread-safe.
 */

#define SG_CALL_NO_MEMBERS UINT32_MAX

struct sg_call_members; /* member list of a communicator */

/* All zero: no communicators. */
struct sg_call_member_lists {
    struct sg_call_members *of;
    uint32_t count;
    struct sg_map by_identity;
};

/* Finds the communicator of a record from a rank's log; text is the record's text. All members'
 * logs lead to the same list. SG_CALL_NO_MEMBERS: its members can never be known. */
enum sg_status sg_call_members_find(struct sg_call_member_lists *lists,
                                    const struct sg_record_profile_comm *record, const char *text,
                                    uint32_t rank, uint32_t world_size, uint32_t *out);
/* Add messages with, or operations on, a rank of the communicator, as counted by a rank of
 * MPI_COMM_WORLD. */
enum sg_status sg_call_members_exchange(struct sg_call_member_lists *lists, uint32_t list,
                                        const struct sg_call_exchange *exchange,
                                        struct sg_call_table *table);
enum sg_status sg_call_members_add(struct sg_call_member_lists *lists, uint32_t list,
                                   const struct sg_call_target *target);
/* Moves everything to the table, after the last log. */
enum sg_status sg_call_members_finish(struct sg_call_member_lists *lists,
                                      struct sg_call_table *table);
void sg_call_members_clear(struct sg_call_member_lists *lists);

/* Source: the statistics of all calls that each rank keeps, in its log or in a file beside the
 * archive.
 *
 * The input is untrusted: records with an unknown function, communicator or rank are left out.
 */

/* Adds the statistics to a table of that aggregate. Filtered ranks are not read. Returns SG_OK or
 * SG_ERR_MEMORY, which is logged. */
enum sg_status sg_call_source_logs(const struct sg_log_set *set, struct sg_aggregate *aggregate,
                                   const struct sg_filter *filter, struct sg_call_table *table);
/* Adds the files of an archive. If some exist and others are missing, damaged or from another run,
 * one log line says so, and the good files count. */
enum sg_status sg_call_source_files(const char *anchor, struct sg_aggregate *aggregate,
                                    const struct sg_filter *filter, struct sg_call_table *table);

#endif
