#include "report/profile/members.h"

#include "core/hash.h"
#include "core/room.h"
#include "trace/export/summary_tables.h"

#include <stdlib.h>

#define NOT_KNOWN UINT32_MAX

struct sg_call_members {
    uint32_t *ranks; /* in MPI_COMM_WORLD, or NOT_KNOWN */
    uint32_t size;
    bool is_whole; /* all are known */
    /* By ranks in the communicator. */
    struct sg_call_targets targets;
    struct sg_call_exchange *exchanges;
    uint32_t exchange_count;
};

static enum sg_status begin(struct sg_call_members *members, uint32_t size)
{
    members->ranks = malloc((size_t)size * sizeof *members->ranks);
    if (members->ranks == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < size; i++)
        members->ranks[i] = NOT_KNOWN;
    members->size = size;
    return SG_OK;
}

enum sg_status sg_call_members_find(struct sg_call_member_lists *lists,
                                    const struct sg_record_profile_comm *record, const char *text,
                                    uint32_t rank, uint32_t world_size, uint32_t *out)
{
    struct sg_call_members *members;
    uint32_t *told;
    bool is_new;
    int64_t index;

    *out = SG_CALL_NO_MEMBERS;
    if (record->is_inter != 0 || record->identity == 0 || record->size > world_size ||
        record->rank >= record->size)
        return SG_OK;
    /* The identity is of the members: those of one identity have the same ones, in one order. */
    index =
        sg_map_number(&lists->by_identity, sg_hash_mix(record->identity), lists->count, &is_new);
    if (index < 0 || (is_new && !SG_APPEND(lists->of, lists->count, (struct sg_call_members){0})))
        return SG_ERR_MEMORY;
    members = &lists->of[index];
    if (members->ranks == NULL && begin(members, record->size) != SG_OK)
        return SG_ERR_MEMORY;
    if (members->size != record->size)
        return SG_OK;
    *out = (uint32_t)index;
    if (!members->is_whole)
        members->ranks[record->rank] = rank;
    if (record->has_members == 0 || members->is_whole)
        return SG_OK;
    told =
        sg_summary_table_read_members(text, record->text_bytes, record->size, (int32_t)world_size);
    if (told == NULL)
        return SG_OK;
    free(members->ranks);
    members->ranks = told;
    members->is_whole = true;
    return SG_OK;
}

static uint32_t rank_of(const struct sg_call_members *members, uint32_t member)
{
    return member < members->size ? members->ranks[member] : NOT_KNOWN;
}

enum sg_status sg_call_members_exchange(struct sg_call_member_lists *lists, uint32_t list,
                                        const struct sg_call_exchange *exchange,
                                        struct sg_call_table *table)
{
    struct sg_call_members *members = &lists->of[list];
    struct sg_call_exchange between = *exchange;

    between.peer = rank_of(members, exchange->peer);
    if (members->is_whole && between.peer != NOT_KNOWN)
        return sg_call_table_exchange(table, &between);
    return SG_APPEND(members->exchanges, members->exchange_count, *exchange) ? SG_OK
                                                                             : SG_ERR_MEMORY;
}

enum sg_status sg_call_members_add(struct sg_call_member_lists *lists, uint32_t list,
                                   const struct sg_call_target *target)
{
    return sg_call_targets_add(&lists->of[list].targets, target);
}

static enum sg_status move(const struct sg_call_members *members, struct sg_call_table *table)
{
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < members->targets.count && status == SG_OK; i++) {
        struct sg_call_target target = members->targets.rows[i];

        target.target = rank_of(members, target.target);
        if (target.target == NOT_KNOWN)
            sg_call_table_other_targets(table, &target);
        else
            status = sg_call_table_target(table, &target);
    }
    for (uint32_t i = 0; i < members->exchange_count && status == SG_OK; i++) {
        struct sg_call_exchange exchange = members->exchanges[i];

        exchange.peer = rank_of(members, exchange.peer);
        if (exchange.peer == NOT_KNOWN)
            sg_call_table_others(table, &exchange);
        else
            status = sg_call_table_exchange(table, &exchange);
    }
    return status;
}

enum sg_status sg_call_members_finish(struct sg_call_member_lists *lists,
                                      struct sg_call_table *table)
{
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < lists->count && status == SG_OK; i++)
        status = move(&lists->of[i], table);
    return status;
}

void sg_call_members_clear(struct sg_call_member_lists *lists)
{
    for (uint32_t i = 0; i < lists->count; i++) {
        free(lists->of[i].ranks);
        free(lists->of[i].exchanges);
        sg_call_targets_clear(&lists->of[i].targets);
    }
    free(lists->of);
    sg_map_clear(&lists->by_identity);
    *lists = (struct sg_call_member_lists){0};
}
