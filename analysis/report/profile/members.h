/* Messages and one-sided operations on communicators other than MPI_COMM_WORLD. A communicator's
 * rank 0 tells in its log which ranks are its members, each other member who it is itself; so what
 * is about a rank that is not known yet waits for more logs.
 *
 * Memory grows with communicators, and pairs of ranks on each. Functions that return a status:
 * SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_PROFILE_MEMBERS_H
#define SG_REPORT_PROFILE_MEMBERS_H

#include "core/status.h"
#include "report/map.h"
#include "report/profile/table.h"
#include "trace/record.h"

#include <stdint.h>

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
