#include "report/profile/table.h"

#include "core/hash.h"
#include "core/room.h"
#include "report/filter.h"
#include "report/map.h"
#include "report/profile/gathered.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ----------------------------------------------------------------------------------- */

static enum sg_status intern(struct sg_call_labels *labels, const char *text, uint32_t size,
                             uint32_t *out)
{
    uint64_t key = sg_hash_mix(sg_hash_bytes(SG_HASH_START + size, text, strlen(text)));
    struct sg_call_label label = {.size = size};
    int64_t found;

    for (; (found = sg_map_get(&labels->index, key)) >= 0; key++) {
        if (labels->of[found].size == size && strcmp(labels->of[found].text, text) == 0) {
            *out = (uint32_t)found;
            return SG_OK;
        }
    }
    label.text = strdup(text);
    if (label.text == NULL || !SG_APPEND(labels->of, labels->count, label)) {
        free(label.text);
        return SG_ERR_MEMORY;
    }
    *out = labels->count - 1;
    return sg_map_put(&labels->index, key, *out);
}

static void forget(struct sg_call_labels *labels)
{
    for (uint32_t i = 0; i < labels->count; i++)
        free(labels->of[i].text);
    free(labels->of);
    sg_map_clear(&labels->index);
}

enum sg_status sg_call_table_function(struct sg_call_table *table, const char *name, uint32_t *out)
{
    return intern(&table->functions, name, 0, out);
}

enum sg_status sg_call_table_comm(struct sg_call_table *table, const char *name, uint32_t size,
                                  uint32_t *out)
{
    return intern(&table->comms, name[0] != '\0' ? name : "unnamed", size, out);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static enum sg_status find_sum(struct sg_call_table *table, const struct sg_call_place *place,
                               uint32_t *out)
{
    uint64_t key = (uint64_t)place->site << 32 | place->function;
    int64_t found = sg_map_get(&table->sum_by_key, key);

    *out = found >= 0 ? (uint32_t)found : table->sum_count;
    if (found >= 0)
        return SG_OK;
    table->sum_count++;
    return sg_map_put(&table->sum_by_key, key, *out);
}

void sg_call_table_name(const struct sg_call_table *table, const struct sg_call_place *place,
                        struct sg_report_site *out)
{
    sg_aggregate_name_site(table->aggregate, place->site, out);
    out->comms = place->comm != SG_CALL_NO_COMM;
    if (out->comms > 0) {
        out->comm = table->comms.of[place->comm].text;
        out->comm_size = table->comms.of[place->comm].size;
    }
}

enum sg_status sg_call_table_row(struct sg_call_table *table, const struct sg_call_place *place,
                                 struct sg_gathered_row **out)
{
    struct sg_gathered_row row = {.place = *place};
    struct sg_report_site name = {0};
    enum sg_status status = find_sum(table, place, &row.sum);
    uint64_t key = (uint64_t)row.sum << 32 | place->comm;
    int64_t found = sg_map_get(&table->row_by_key, key);

    if (status == SG_OK && found < 0) {
        sg_call_table_name(table, place, &name);
        row.is_left_out = !sg_filter_takes_row(table->filter, &name);
        found = table->row_count;
        if (!SG_APPEND(table->rows, table->row_count, row))
            return SG_ERR_MEMORY;
        status = sg_map_put(&table->row_by_key, key, (uint32_t)found);
    }
    if (status == SG_OK)
        *out = &table->rows[found];
    return status;
}

void sg_call_figures_add(struct sg_call_figures *into, const struct sg_call_figures *more)
{
    if (more->calls > 0 && (into->calls == 0 || more->min_ns < into->min_ns))
        into->min_ns = more->min_ns;
    if (more->max_ns > into->max_ns)
        into->max_ns = more->max_ns;
    if (more->completed > 0 &&
        (into->completed == 0 || more->latency_min_ns < into->latency_min_ns))
        into->latency_min_ns = more->latency_min_ns;
    if (more->latency_max_ns > into->latency_max_ns)
        into->latency_max_ns = more->latency_max_ns;
    into->calls += more->calls;
    into->failed += more->failed;
    into->time_ns += more->time_ns;
    into->square += more->square;
    into->carried_out += more->carried_out;
    into->sent_bytes += more->sent_bytes;
    into->received_bytes += more->received_bytes;
    into->completed += more->completed;
    into->latency_ns += more->latency_ns;
}

enum sg_status sg_call_table_add(struct sg_call_table *table, const struct sg_call_place *place,
                                 uint32_t rank, uint32_t thread,
                                 const struct sg_call_figures *figures)
{
    struct sg_gathered_row *row;
    enum sg_status status = sg_call_table_row(table, place, &row);

    if (status != SG_OK || row->is_left_out)
        return status;
    sg_call_figures_add(&row->figures, figures);
    table->ranks[rank].time_ns += figures->time_ns;
    table->ranks[rank].callers |= UINT64_C(1) << (thread < 63 ? thread : 63);
    return SG_OK;
}

/* ---- messages -------------------------------------------------------------------------------- */

static enum sg_status add_pair(struct sg_call_table *table, const struct sg_call_pair *pair)
{
    uint64_t key = (uint64_t)pair->from << 32 | pair->to;
    int64_t found = sg_map_get(&table->pair_by_key, key);
    struct sg_call_pair *into;

    if (found < 0) {
        if (!SG_APPEND(table->pairs, table->pair_count, *pair))
            return SG_ERR_MEMORY;
        return sg_map_put(&table->pair_by_key, key, table->pair_count - 1);
    }
    into = &table->pairs[found];
    into->sent_messages += pair->sent_messages;
    into->sent_bytes += pair->sent_bytes;
    into->received_messages += pair->received_messages;
    into->received_bytes += pair->received_bytes;
    return SG_OK;
}

enum sg_status sg_call_table_exchange(struct sg_call_table *table,
                                      const struct sg_call_exchange *exchange)
{
    const struct sg_call_pair sent = {.from = exchange->rank,
                                      .to = exchange->peer,
                                      .sent_messages = exchange->sent_messages,
                                      .sent_bytes = exchange->sent_bytes};
    const struct sg_call_pair received = {.from = exchange->peer,
                                          .to = exchange->rank,
                                          .received_messages = exchange->received_messages,
                                          .received_bytes = exchange->received_bytes};
    enum sg_status status = SG_OK;

    if (exchange->peer >= table->rank_count)
        return SG_OK;
    if (sent.sent_messages > 0)
        status = add_pair(table, &sent);
    if (status == SG_OK && received.received_messages > 0)
        status = add_pair(table, &received);
    return status;
}

void sg_call_table_others(struct sg_call_table *table, const struct sg_call_exchange *exchange)
{
    table->other_messages += exchange->sent_messages;
    table->other_bytes += exchange->sent_bytes;
}

enum sg_status sg_call_table_target(struct sg_call_table *table,
                                    const struct sg_call_target *target)
{
    return sg_call_targets_add(&table->one_sided, target);
}

void sg_call_table_other_targets(struct sg_call_table *table, const struct sg_call_target *sum)
{
    sg_call_targets_add_others(&table->one_sided, sum);
}

enum sg_status sg_call_table_distribution(struct sg_call_table *table,
                                          const struct sg_mmds_distribution *distribution)
{
    return sg_mmds_add(&table->mmds, distribution);
}

void sg_call_table_follows_rank(struct sg_call_table *table, uint64_t run_ns)
{
    table->mmds.rank_count++;
    table->mmds.run_ns += run_ns;
}

struct sg_slice_set *sg_call_table_slices(struct sg_call_table *table)
{
    return &table->slices;
}

struct sg_before_sums *sg_call_table_before(struct sg_call_table *table)
{
    return table->before;
}

void sg_call_table_saw_rank(struct sg_call_table *table, uint32_t rank)
{
    table->ranks[rank].is_seen = true;
}

/* ---- the table ------------------------------------------------------------------------------- */

enum sg_status sg_call_table_create(const struct sg_aggregate *aggregate,
                                    const struct sg_filter *filter, struct sg_call_table **out)
{
    struct sg_call_table *table = calloc(1, sizeof *table);
    uint32_t none;

    if (table == NULL)
        return SG_ERR_MEMORY;
    table->aggregate = aggregate;
    table->filter = filter;
    table->rank_count = sg_aggregate_ranks(aggregate);
    table->ranks = calloc((size_t)table->rank_count + 1, sizeof *table->ranks);
    /* SG_CALL_NO_COMM. */
    if (table->ranks == NULL || intern(&table->comms, "", 0, &none) != SG_OK ||
        sg_before_sums_create(&table->before) != SG_OK) {
        sg_call_table_destroy(table);
        return SG_ERR_MEMORY;
    }
    *out = table;
    return SG_OK;
}

void sg_call_table_destroy(struct sg_call_table *table)
{
    if (table == NULL)
        return;
    forget(&table->functions);
    forget(&table->comms);
    sg_map_clear(&table->sum_by_key);
    sg_map_clear(&table->row_by_key);
    sg_map_clear(&table->pair_by_key);
    free(table->rows);
    free(table->pairs);
    free(table->ranks);
    sg_call_targets_clear(&table->one_sided);
    sg_mmds_clear(&table->mmds);
    sg_slices_clear(&table->slices);
    sg_before_sums_destroy(table->before);
    free(table);
}
