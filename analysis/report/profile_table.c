/* Gathers the statistics of all calls and makes the result. The first part collects names, rows and
 * messages from the logs. The second resolves the ranks of communicators other than MPI_COMM_WORLD.
 * The last sums the rows over communicators and over call sites, and computes shares of the run
 * time.
 */
#include "report/profile_table.h"

#include "core/hash.h"
#include "core/room.h"
#include "report/between_calls.h"
#include "report/filter.h"
#include "report/profile_calls.h"
#include "trace/export/summary_calls.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the state of a table while it is filled ------------------------------------------------- */

/* A function's name; or the name of communicators, with their size. */
struct sg_call_label {
    char *text;
    uint32_t size;
};

struct sg_call_labels {
    struct sg_call_label *of;
    uint32_t count;
    struct sg_map index; /* by hash */
};

struct sg_gathered_row {
    struct sg_call_place place;
    uint32_t sum; /* number of the sum for its function and call site */
    bool is_left_out;
    struct sg_call_figures figures;
};

struct sg_gathered_rank {
    uint64_t time_ns;
    uint64_t ends_ns; /* in MPI_Init and MPI_Finalize */
    uint64_t callers; /* a bit for each thread that called; the last bit is for all further ones */
    bool is_seen;
};

struct sg_call_table {
    const struct sg_aggregate *aggregate;
    const struct sg_filter *filter;
    struct sg_call_labels functions, comms;
    struct sg_gathered_row *rows;
    struct sg_call_pair *pairs;
    struct sg_gathered_rank *ranks;
    uint32_t row_count, sum_count, pair_count, rank_count;
    struct sg_map sum_by_key, row_by_key, pair_by_key;
    uint64_t other_messages, other_bytes;
    struct sg_call_targets one_sided;
    struct sg_mmds mmds; /* without names */
    struct sg_slice_set slices;
    struct sg_before_sums *before, *starts;
};

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

static void name_place(const struct sg_call_table *table, const struct sg_call_place *place,
                       struct sg_report_site *out)
{
    sg_aggregate_name_site(table->aggregate, place->site, out);
    out->comms = place->comm != SG_CALL_NO_COMM;
    if (out->comms > 0) {
        out->comm = table->comms.of[place->comm].text;
        out->comm_size = table->comms.of[place->comm].size;
    }
}

static enum sg_status find_row(struct sg_call_table *table, const struct sg_call_place *place,
                               struct sg_gathered_row **out)
{
    struct sg_gathered_row row = {.place = *place};
    struct sg_report_site name = {0};
    enum sg_status status = find_sum(table, place, &row.sum);
    uint64_t key = (uint64_t)row.sum << 32 | place->comm;
    int64_t found = sg_map_get(&table->row_by_key, key);

    if (status == SG_OK && found < 0) {
        name_place(table, place, &name);
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

static void add_figures(struct sg_call_figures *into, const struct sg_call_figures *more)
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
    enum sg_status status = find_row(table, place, &row);

    if (status != SG_OK || row->is_left_out)
        return status;
    add_figures(&row->figures, figures);
    table->ranks[rank].time_ns += figures->time_ns;
    table->ranks[rank].callers |= UINT64_C(1) << (thread < 63 ? thread : 63);
    return SG_OK;
}

/* ---- messages -------------------------------------------------------------------------------- */

static enum sg_status add_pair(struct sg_call_table *table, const struct sg_call_pair *pair)
{
    uint64_t key = (uint64_t)pair->from << 32 | pair->to;
    int64_t found = SG_MAP_INDEX(&table->pair_by_key, key, table->pairs, table->pair_count,
                                 ((struct sg_call_pair){.from = pair->from, .to = pair->to}));
    struct sg_call_pair *into;

    if (found < 0)
        return SG_ERR_MEMORY;
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

struct sg_before_sums *sg_call_table_starts(struct sg_call_table *table)
{
    return table->starts;
}

void sg_call_table_saw_rank(struct sg_call_table *table, uint32_t rank, uint64_t ends_ns)
{
    table->ranks[rank].is_seen = true;
    if (table->filter == NULL || (table->filter->site == NULL && table->filter->comm == NULL))
        table->ranks[rank].ends_ns = ends_ns;
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
    /* Name 0 is SG_CALL_NO_COMM. */
    if (table->ranks == NULL || intern(&table->comms, "", 0, &none) != SG_OK ||
        sg_before_sums_create(&table->before) != SG_OK ||
        sg_before_sums_create(&table->starts) != SG_OK) {
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
    sg_before_sums_destroy(table->starts);
    free(table);
}

#define NOT_KNOWN UINT32_MAX

struct sg_call_members {
    uint32_t *ranks; /* ranks in MPI_COMM_WORLD, or NOT_KNOWN */
    uint32_t size;
    bool is_whole; /* all ranks are known */
    /* Peers and targets below are ranks in the communicator. */
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
    /* The identity stands for the member list: equal identities have the same members in the same
     * order. */
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

/* ---- the result ------------------------------------------------------------------------------ */

/* Counts bytes like the statistics of all calls: only the root of a reduce receives, and only the
 * root of a broadcast sends. */
static uint64_t of_one_member(const struct sg_report_site *site)
{
    return site->comm_size > 0 ? site->bytes / site->comm_size : 0;
}

static uint64_t sent_bytes(const struct sg_report_site *site)
{
    return site->operation == SG_OPERATION_BCAST ? of_one_member(site) : site->bytes;
}

static uint64_t received_bytes(const struct sg_report_site *site)
{
    if (site->operation == SG_OPERATION_ALLREDUCE)
        return site->bytes;
    if (site->operation == SG_OPERATION_BCAST)
        return site->bytes - of_one_member(site);
    return site->operation == SG_OPERATION_REDUCE ? of_one_member(site) : 0;
}

static struct sg_call_figures own_figures(const struct sg_report_site *site)
{
    return (struct sg_call_figures){.calls = site->calls,
                                    .carried_out = site->calls,
                                    .time_ns = site->own.sum_ns,
                                    .min_ns = site->own.min_ns,
                                    .max_ns = site->own.max_ns,
                                    .square = site->own.square,
                                    .sent_bytes = sent_bytes(site),
                                    .received_bytes = received_bytes(site),
                                    .completed = site->latency.calls,
                                    .latency_ns = site->latency.sum_ns,
                                    .latency_min_ns = site->latency.min_ns,
                                    .latency_max_ns = site->latency.max_ns};
}

/* The report's rows are already filtered. */
static enum sg_status add_own(struct sg_call_table *table, const struct sg_report_site *site)
{
    const struct sg_call_figures figures = own_figures(site);
    struct sg_call_place place = {.site = site->site};
    struct sg_gathered_row *row;
    enum sg_status status =
        sg_call_table_function(table,
                               (site->nonblocking ? sg_operation_nonblocking_regions
                                                  : sg_operation_regions)[site->operation],
                               &place.function);

    if (status == SG_OK)
        status = sg_call_table_comm(table, site->comm, site->comm_size, &place.comm);
    if (status == SG_OK)
        status = find_row(table, &place, &row);
    if (status == SG_OK) {
        row->is_left_out = false;
        add_figures(&row->figures, &figures);
    }
    return status;
}

/* ---- rows of the result ---------------------------------------------------------------------- */

static int order_of(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_rows(const void *left, const void *right)
{
    const struct sg_call_row *a = left, *b = right;
    int order = order_of(b->of.time_ns, a->of.time_ns);

    if (order == 0)
        order = order_of(b->of.calls, a->of.calls);
    if (order == 0)
        order = strcmp(a->function, b->function);
    if (order == 0)
        order = order_of(a->place.id, b->place.id);
    if (order == 0 && a->place.comm != NULL && b->place.comm != NULL)
        order = strcmp(a->place.comm, b->place.comm);
    return order != 0 ? order : order_of(a->place.comm_size, b->place.comm_size);
}

static int compare_pairs(const void *left, const void *right)
{
    const struct sg_call_pair *a = left, *b = right;
    int order = order_of(b->bytes, a->bytes);

    if (order == 0)
        order = order_of(b->messages, a->messages);
    if (order == 0)
        order = order_of(a->from, b->from);
    return order != 0 ? order : order_of(a->to, b->to);
}

static void finish_figures(struct sg_call_row *row)
{
    const struct sg_call_figures *of = &row->of;
    double calls = (double)of->calls, variance;

    row->is_carried_out = of->carried_out == of->calls;
    row->mean_ns = (double)of->time_ns / calls;
    row->latency_ns = of->completed > 0 ? (double)of->latency_ns / (double)of->completed : NAN;
    variance = of->square / calls - row->mean_ns * row->mean_ns;
    /* The difference of two large numbers can be slightly negative; damaged input can give any
     * value. */
    row->deviation_ns = isfinite(variance) ? sqrt(fmax(variance, 0)) : NAN;
}

/* Drops rows without calls, finishes the others and sorts them. */
static void finish_rows(struct sg_call_row *rows, uint32_t *count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < *count; i++) {
        if (rows[i].of.calls == 0)
            continue;
        rows[kept] = rows[i];
        finish_figures(&rows[kept++]);
    }
    *count = kept;
    qsort(rows, kept, sizeof *rows, compare_rows);
}

static void add_to_site(struct sg_call_row *site, const struct sg_call_row *row)
{
    uint32_t comms = site->place.comms + row->place.comms;

    if (site->of.calls == 0) {
        *site = *row;
        return;
    }
    if (site->place.comms == 0) {
        site->place.comm = row->place.comm;
        site->place.comm_size = row->place.comm_size;
    } else if (row->place.comms > 0) {
        site->place.comm = NULL;
        if (site->place.comm_size != row->place.comm_size)
            site->place.comm_size = 0;
    }
    site->place.comms = comms;
    add_figures(&site->of, &row->of);
}

/* ---- rows by line ---------------------------------------------------------------------------- */

static int compare_texts(const char *a, const char *b)
{
    return a == NULL || b == NULL ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

static bool has_line(const struct sg_call_row *row)
{
    return row->place.file != NULL && row->place.line > 0;
}

static int compare_comms(const struct sg_call_row *a, const struct sg_call_row *b)
{
    int order = compare_texts(a->place.comm, b->place.comm);

    if (order == 0)
        order = order_of(a->place.comm_size, b->place.comm_size);
    return order != 0 ? order : order_of(a->place.comm_index, b->place.comm_index);
}

static int compare_lines(const void *left, const void *right)
{
    const struct sg_call_row *a = left, *b = right;
    int order = strcmp(a->function, b->function);

    if (order == 0)
        order = (int)has_line(a) - (int)has_line(b);
    if (order == 0 && !has_line(a))
        order = order_of(a->place.site, b->place.site);
    else if (order == 0)
        order = strcmp(a->place.file, b->place.file);
    return order == 0 && has_line(a) ? order_of(a->place.line, b->place.line) : order;
}

static int compare_lines_and_comms(const void *left, const void *right)
{
    int order = compare_lines(left, right);

    return order != 0 ? order : compare_comms(left, right);
}

struct sg_call_row *sg_call_rows_by_line(const struct sg_call_row *rows, uint32_t *count,
                                         bool by_comm)
{
    int (*compare)(const void *, const void *) = by_comm ? compare_lines_and_comms : compare_lines;
    struct sg_call_row *lines = calloc((size_t)*count + 1, sizeof *lines);
    uint32_t kept = 0;

    if (lines == NULL)
        return NULL;
    if (*count > 0)
        memcpy(lines, rows, *count * sizeof *lines);
    qsort(lines, *count, sizeof *lines, compare);
    for (uint32_t i = 0; i < *count; i++) {
        if (kept == 0 || compare(&lines[kept - 1], &lines[i]) != 0)
            lines[kept++] = lines[i];
        else if (compare_comms(&lines[kept - 1], &lines[i]) == 0)
            add_figures(&lines[kept - 1].of, &lines[i].of);
        else
            add_to_site(&lines[kept - 1], &lines[i]);
    }
    *count = kept;
    finish_rows(lines, count);
    return lines;
}

static enum sg_status make_rows(const struct sg_call_table *table, struct sg_calls *calls)
{
    calls->rows = calloc((size_t)table->row_count + 1, sizeof *calls->rows);
    calls->sites = calloc((size_t)table->sum_count + 1, sizeof *calls->sites);
    calls->functions = calloc((size_t)table->functions.count + 1, sizeof *calls->functions);
    if (calls->rows == NULL || calls->sites == NULL || calls->functions == NULL)
        return SG_ERR_MEMORY;
    calls->site_count = table->sum_count;
    calls->function_count = table->functions.count;
    for (uint32_t i = 0; i < table->row_count; i++) {
        const struct sg_gathered_row *from = &table->rows[i];
        struct sg_call_row *row = &calls->rows[calls->row_count];
        struct sg_call_row *function = &calls->functions[from->place.function];

        if (from->is_left_out || from->figures.calls == 0)
            continue;
        calls->row_count++;
        row->function = function->function = table->functions.of[from->place.function].text;
        row->of = from->figures;
        name_place(table, &from->place, &row->place);
        add_to_site(&calls->sites[from->sum], row);
        add_figures(&function->of, &row->of);
    }
    finish_rows(calls->rows, &calls->row_count);
    finish_rows(calls->sites, &calls->site_count);
    finish_rows(calls->functions, &calls->function_count);
    return SG_OK;
}

/* ---- messages and shares --------------------------------------------------------------------- */

static uint64_t greater_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t lesser_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void take_messages(struct sg_call_table *table, struct sg_calls *calls)
{
    calls->pairs = table->pairs;
    calls->pair_count = table->pair_count;
    table->pairs = NULL;
    table->pair_count = 0;
    for (uint32_t i = 0; i < calls->pair_count; i++) {
        struct sg_call_pair *pair = &calls->pairs[i];

        pair->messages = greater_of(pair->sent_messages, pair->received_messages);
        pair->bytes = greater_of(pair->sent_bytes, pair->received_bytes);
    }
    if (calls->pair_count > 0)
        qsort(calls->pairs, calls->pair_count, sizeof *calls->pairs, compare_pairs);
    calls->other_messages = table->other_messages;
    calls->other_bytes = table->other_bytes;
    calls->one_sided = table->one_sided;
    table->one_sided = (struct sg_call_targets){0};
    sg_call_targets_sort(&calls->one_sided);
}

/* Counts the rank's threads by their calls, too; so many that no share of its time is
 * above 1: threads may be more than the numbers that are told apart. */
static void count_threads(const struct sg_gathered_rank *gathered, struct sg_report *report,
                          struct sg_report_rank *rank)
{
    uint32_t callers = (uint32_t)__builtin_popcountll(gathered->callers | 1);
    uint64_t before_ns = rank->thread_ns;

    if (callers > rank->threads) {
        rank->thread_ns += (callers - rank->threads) * rank->run_ns;
        rank->threads = callers;
    }
    rank->thread_ns = greater_of(rank->thread_ns, rank->mpi_ns + rank->ends_ns);
    if (sg_filter_takes_rank(report->filter, (uint32_t)(rank - report->ranks)))
        report->ranks_run_ns += rank->thread_ns - before_ns;
}

static void share_out(const struct sg_call_table *table, struct sg_report *report,
                      struct sg_calls *calls)
{
    bool is_first = true;

    for (uint32_t i = 0; i < table->rank_count; i++) {
        struct sg_report_rank *rank = &report->ranks[i];
        uint64_t own_ns =
            rank->blocked_ns > rank->exposed_ns ? rank->blocked_ns - rank->exposed_ns : 0;
        uint64_t ends_ns =
            lesser_of(greater_of(table->ranks[i].ends_ns, rank->ends_ns), rank->run_ns);
        uint64_t time_ns = table->ranks[i].time_ns + own_ns + ends_ns;
        uint64_t all_ns;
        double share;

        if (!table->ranks[i].is_seen)
            continue;
        rank->has_mpi = true;
        /* An open call can begin with the first of a loop of tests, which the statistics have. */
        if (rank->thread_ns > time_ns)
            time_ns += lesser_of(rank->open_ns, rank->thread_ns - time_ns);
        rank->mpi_ns = time_ns - ends_ns;
        rank->ends_ns = ends_ns;
        count_threads(&table->ranks[i], report, rank);
        all_ns = rank->thread_ns;
        if (time_ns > all_ns) /* a damaged log: more threads than are counted */
            time_ns = all_ns;
        share = all_ns > 0 ? (double)time_ns / (double)all_ns : 0;
        assert(share >= 0 && share <= 1);
        calls->time_ns += time_ns;
        calls->ends_ns += ends_ns;
        calls->processor_ns += all_ns;
        if (all_ns > 0 && (is_first || share < calls->least_share)) {
            calls->least_rank = i;
            calls->least_share = share;
        }
        if (all_ns > 0 && (is_first || share > calls->greatest_share)) {
            calls->greatest_rank = i;
            calls->greatest_share = share;
        }
        is_first = is_first && all_ns == 0;
    }
}

static void take_mmds(struct sg_call_table *table, struct sg_calls *calls)
{
    calls->mmds = table->mmds;
    table->mmds = (struct sg_mmds){0};
    for (uint32_t i = 0; i < calls->mmds.distribution_count; i++) {
        struct sg_mmds_distribution *distribution = &calls->mmds.distributions[i];

        distribution->primitive = sg_mmds_is_of_function(distribution->of)
                                      ? table->functions.of[distribution->function].text
                                      : sg_mmds_names[distribution->of];
    }
}

/* Returns the function with the most time at a site: the rows are sorted by time. */
static const char *function_at(const void *context, uint32_t site)
{
    const struct sg_calls *calls = context;

    for (uint32_t i = 0; i < calls->site_count; i++) {
        if (calls->sites[i].place.site == site)
            return calls->sites[i].function;
    }
    return "MPI";
}

/* ---- finishing ------------------------------------------------------------------------------- */

static bool is_any_seen(const struct sg_call_table *table)
{
    for (uint32_t i = 0; i < table->rank_count; i++) {
        if (table->ranks[i].is_seen)
            return true;
    }
    return false;
}

enum sg_status sg_call_table_finish(struct sg_call_table *table, struct sg_report *report,
                                    struct sg_calls **out)
{
    struct sg_calls *calls;
    enum sg_status status = SG_OK;

    *out = NULL;
    if (!is_any_seen(table)) {
        sg_call_table_destroy(table);
        return SG_OK;
    }
    calls = calloc(1, sizeof *calls);
    if (calls == NULL) {
        sg_call_table_destroy(table);
        return SG_ERR_MEMORY;
    }
    calls->table = table;
    calls->rank_count = table->rank_count;
    for (uint32_t i = 0; i < report->site_count && status == SG_OK; i++)
        status = add_own(table, &report->sites[i]);
    if (status == SG_OK)
        status = make_rows(table, calls);
    if (status == SG_OK)
        status = sg_slices_finish(&table->slices);
    if (status == SG_OK)
        status = sg_before_sums_finish(table->before, table->aggregate, table->filter, function_at,
                                       calls, &calls->before);
    if (status == SG_OK)
        status = sg_before_sums_finish(table->starts, table->aggregate, table->filter, function_at,
                                       calls, &calls->starts);
    if (status != SG_OK) {
        sg_calls_free(calls);
        return status;
    }
    take_messages(table, calls);
    take_mmds(table, calls);
    calls->slices = table->slices;
    table->slices = (struct sg_slice_set){0};
    share_out(table, report, calls);
    *out = calls;
    return SG_OK;
}

void sg_calls_free(struct sg_calls *calls)
{
    if (calls == NULL)
        return;
    sg_call_table_destroy(calls->table);
    free(calls->functions);
    free(calls->sites);
    free(calls->rows);
    free(calls->pairs);
    sg_call_targets_clear(&calls->one_sided);
    sg_mmds_clear(&calls->mmds);
    sg_slices_clear(&calls->slices);
    sg_before_free(calls->before);
    sg_before_free(calls->starts);
    free(calls);
}
