/* Sums up waits by place, by kind and place, by pair of places and by rank, and makes the result. A
 * place is a function at a call site; the last part of the file numbers them.
 */
#include "report/wait_sums.h"

#include "core/room.h"
#include "report/aggregate.h"
#include "report/filter.h"

#include <stdlib.h>
#include <string.h>

const char *const sg_waitstate_names[SG_WAITSTATE_KINDS] = {
    [SG_WAITSTATE_LATE_SENDER] = "late sender",
    [SG_WAITSTATE_LATE_RECEIVER] = "late receiver",
    [SG_WAITSTATE_BARRIER] = "wait at barrier",
    [SG_WAITSTATE_NXN] = "wait at NxN",
    [SG_WAITSTATE_LATE_BROADCAST] = "late broadcast",
    [SG_WAITSTATE_EARLY_REDUCE] = "early reduce",
    [SG_WAITSTATE_EARLY_SCAN] = "early scan",
    [SG_WAITSTATE_LATE_NEIGHBOR] = "late neighbor",
    [SG_WAITSTATE_FENCE] = "wait at fence",
    [SG_WAITSTATE_CREATE] = "wait at create",
    [SG_WAITSTATE_FREE] = "wait at free",
    [SG_WAITSTATE_LATE_POST] = "late post",
    [SG_WAITSTATE_EARLY_WAIT] = "early wait",
    [SG_WAITSTATE_LOCK] = "lock contention",
    [SG_WAITSTATE_LATE_TARGET] = "late target",
    [SG_WAITSTATE_FILE] = "wait at file",
    [SG_WAITSTATE_COMM] = "wait at communicator",
    [SG_WAITSTATE_INIT] = "wait at init",
    [SG_WAITSTATE_FINALIZE] = "wait at finalize",
};

struct row {
    uint32_t place;
    enum sg_waitstate_kind kind;
    struct sg_waitstate_figures of;
    uint64_t wrong_order_waits, wrong_order_ns;
};

struct pair {
    uint32_t row, place;
    struct sg_waitstate_figures of;
};

/* A rank that the waits of a pair were for. */
struct culprit {
    uint32_t pair, rank;
    uint64_t waits, wait_ns;
};

struct sg_waitstate_sums {
    const struct sg_aggregate *aggregate;
    const struct sg_filter *filter;
    struct sg_places *places;
    struct row *rows;
    struct pair *pairs;
    struct culprit *culprits;
    struct sg_waitstate_rank *ranks;
    uint32_t row_count, pair_count, culprit_count, rank_count;
    struct sg_map row_by_key, pair_by_key, culprit_by_key, taken_by_key;
    uint64_t *waited_ns; /* by call site and waiting rank */
    uint32_t waited_count;
    struct sg_map waited_by_key;
    struct sg_waitstate_figures total;
};

enum sg_status sg_waitstate_sums_create(const struct sg_aggregate *aggregate,
                                        const struct sg_filter *filter, struct sg_places *places,
                                        struct sg_waitstate_sums **out)
{
    struct sg_waitstate_sums *sums = calloc(1, sizeof *sums);

    if (sums == NULL)
        return SG_ERR_MEMORY;
    sums->aggregate = aggregate;
    sums->filter = filter;
    sums->places = places;
    sums->rank_count = sg_aggregate_ranks(aggregate);
    sums->ranks = calloc((size_t)sums->rank_count + 1, sizeof *sums->ranks);
    if (sums->ranks == NULL) {
        free(sums);
        return SG_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < sums->rank_count; i++)
        sums->ranks[i].rank = i;
    *out = sums;
    return SG_OK;
}

void sg_waitstate_sums_destroy(struct sg_waitstate_sums *sums)
{
    if (sums == NULL)
        return;
    sg_map_clear(&sums->row_by_key);
    sg_map_clear(&sums->pair_by_key);
    sg_map_clear(&sums->culprit_by_key);
    sg_map_clear(&sums->taken_by_key);
    sg_map_clear(&sums->waited_by_key);
    free(sums->waited_ns);
    free(sums->rows);
    free(sums->pairs);
    free(sums->culprits);
    free(sums->ranks);
    free(sums);
}

/* ---- adding ---------------------------------------------------------------------------------- */

static uint64_t key_of(uint64_t high, uint32_t low)
{
    return high << 32 | low;
}

static int64_t find_row(struct sg_waitstate_sums *sums, int64_t place, enum sg_waitstate_kind kind)
{
    return SG_MAP_INDEX(&sums->row_by_key, key_of(kind, (uint32_t)place), sums->rows,
                        sums->row_count, ((struct row){.place = (uint32_t)place, .kind = kind}));
}

static int64_t find_pair(struct sg_waitstate_sums *sums, int64_t row, int64_t place)
{
    return SG_MAP_INDEX(&sums->pair_by_key, key_of((uint64_t)row, (uint32_t)place), sums->pairs,
                        sums->pair_count,
                        ((struct pair){.row = (uint32_t)row, .place = (uint32_t)place}));
}

static int64_t find_culprit(struct sg_waitstate_sums *sums, int64_t pair, uint32_t rank)
{
    return SG_MAP_INDEX(&sums->culprit_by_key, key_of((uint64_t)pair, rank), sums->culprits,
                        sums->culprit_count,
                        ((struct culprit){.pair = (uint32_t)pair, .rank = rank}));
}

static void count(struct sg_waitstate_figures *figures, uint64_t wait_ns)
{
    figures->waits++;
    figures->wait_ns += wait_ns;
    if (wait_ns > figures->max_ns)
        figures->max_ns = wait_ns;
}

/* True if the filter takes the wait; sites with communicators are evaluated once for each pair. */
static enum sg_status takes(struct sg_waitstate_sums *sums, const struct sg_waitstate *wait,
                            bool *out)
{
    uint64_t key = key_of(wait->at.site, wait->comm);
    struct sg_report_site name = {0};
    int64_t found;

    *out = sg_filter_takes_rank(sums->filter, wait->at.rank) &&
           sg_filter_takes_time(sums->filter, wait->begin_ns);
    if (!*out || sums->filter == NULL || sums->filter->rule == NULL)
        return SG_OK;
    found = sg_map_get(&sums->taken_by_key, key);
    *out = found > 0;
    if (found >= 0)
        return SG_OK;
    sg_aggregate_name_site(sums->aggregate, wait->at.site, &name);
    sg_aggregate_name_comm(sums->aggregate, wait->comm, &name);
    *out = sg_filter_takes_row(sums->filter, &name);
    return sg_map_put(&sums->taken_by_key, key, *out);
}

static uint64_t *find_waited(struct sg_waitstate_sums *sums, const struct sg_waitstate_end *at)
{
    int64_t found = SG_MAP_INDEX(&sums->waited_by_key, key_of(at->site, at->rank), sums->waited_ns,
                                 sums->waited_count, (uint64_t){0});

    return found >= 0 ? &sums->waited_ns[found] : NULL;
}

uint64_t sg_waitstates_waited(const struct sg_waitstates *states, uint32_t site, uint32_t rank)
{
    int64_t found = sg_map_get(&states->waited_by_key, key_of(site, rank));

    return found >= 0 ? states->waited_ns[found] : 0;
}

enum sg_status sg_waitstate_sums_add(struct sg_waitstate_sums *sums,
                                     const struct sg_waitstate *wait, uint32_t *row_out)
{
    int64_t at, other, row, pair, culprit;
    uint64_t *waited_ns;
    bool taken;
    enum sg_status status = takes(sums, wait, &taken);

    if (row_out != NULL)
        *row_out = SG_WAITSTATE_LEFT_OUT;
    if (status != SG_OK || !taken)
        return status;
    at = sg_places_find(sums->places, &wait->at);
    other = sg_places_find(sums->places, &wait->other);
    row = at >= 0 && other >= 0 ? find_row(sums, at, wait->kind) : -1;
    pair = row >= 0 ? find_pair(sums, row, other) : -1;
    culprit = pair >= 0 ? find_culprit(sums, pair, wait->other.rank) : -1;
    waited_ns = culprit >= 0 ? find_waited(sums, &wait->at) : NULL;
    if (waited_ns == NULL)
        return SG_ERR_MEMORY;
    *waited_ns += wait->wait_ns;
    count(&sums->rows[row].of, wait->wait_ns);
    count(&sums->pairs[pair].of, wait->wait_ns);
    count(&sums->ranks[wait->at.rank].waited, wait->wait_ns);
    count(&sums->ranks[wait->other.rank].caused, wait->wait_ns);
    count(&sums->total, wait->wait_ns);
    sums->culprits[culprit].waits++;
    sums->culprits[culprit].wait_ns += wait->wait_ns;
    if (row_out != NULL)
        *row_out = (uint32_t)row;
    return SG_OK;
}

void sg_waitstate_sums_wrong_order(struct sg_waitstate_sums *sums, uint32_t row, uint64_t wait_ns)
{
    sums->rows[row].wrong_order_waits++;
    sums->rows[row].wrong_order_ns += wait_ns;
}

/* ---- the result ------------------------------------------------------------------------------ */

/* The longest sum first, then the most waits. */
static int compare(const struct sg_waitstate_figures *a, const struct sg_waitstate_figures *b)
{
    if (a->wait_ns != b->wait_ns)
        return a->wait_ns < b->wait_ns ? 1 : -1;
    return (a->waits < b->waits) - (a->waits > b->waits);
}

int sg_waitstate_compare_places(const struct sg_waitstate_place *a,
                                const struct sg_waitstate_place *b)
{
    int order = strcmp(a->function, b->function);

    if (order == 0)
        order = (a->site.id > b->site.id) - (a->site.id < b->site.id);
    return order != 0 ? order : (a->site.site > b->site.site) - (a->site.site < b->site.site);
}

static int compare_rows(const void *left, const void *right)
{
    const struct sg_waitstate_row *a = left, *b = right;
    int order = compare(&a->of, &b->of);

    if (order == 0)
        order = sg_waitstate_compare_places(&a->at, &b->at);
    return order != 0 ? order : (int)a->kind - (int)b->kind;
}

static int compare_pairs(const void *left, const void *right)
{
    const struct sg_waitstate_pair *a = left, *b = right;
    int order = compare(&a->of, &b->of);

    if (order == 0)
        order = sg_waitstate_compare_places(&a->at, &b->at);
    if (order == 0)
        order = sg_waitstate_compare_places(&a->other, &b->other);
    return order != 0 ? order : (int)a->kind - (int)b->kind;
}

static void sort(void *rows, uint32_t count, size_t row_bytes,
                 int (*compare_two)(const void *left, const void *right))
{
    if (count > 0)
        qsort(rows, count, row_bytes, compare_two);
}

static bool is_greater(const struct culprit *culprit, const struct sg_waitstate_pair *pair)
{
    if (pair->ranks == 0 || culprit->wait_ns != pair->rank_ns)
        return pair->ranks == 0 || culprit->wait_ns > pair->rank_ns;
    return culprit->rank < pair->rank;
}

static void make_pairs(const struct sg_waitstate_sums *sums, struct sg_waitstates *states)
{
    for (uint32_t i = 0; i < sums->pair_count; i++) {
        const struct pair *from = &sums->pairs[i];
        struct sg_waitstate_pair *pair = &states->pairs[i];

        pair->kind = sums->rows[from->row].kind;
        pair->of = from->of;
        sg_places_name(sums->places, sums->rows[from->row].place, &pair->at);
        sg_places_name(sums->places, from->place, &pair->other);
    }
    for (uint32_t i = 0; i < sums->culprit_count; i++) {
        const struct culprit *culprit = &sums->culprits[i];
        struct sg_waitstate_pair *pair = &states->pairs[culprit->pair];

        if (is_greater(culprit, pair)) {
            pair->rank = culprit->rank;
            pair->rank_waits = culprit->waits;
            pair->rank_ns = culprit->wait_ns;
        }
        pair->ranks++;
    }
    states->pair_count = sums->pair_count;
    sort(states->pairs, states->pair_count, sizeof *states->pairs, compare_pairs);
}

static void make_rows(const struct sg_waitstate_sums *sums, struct sg_waitstates *states)
{
    for (uint32_t i = 0; i < sums->row_count; i++) {
        const struct row *from = &sums->rows[i];
        struct sg_waitstate_row *row = &states->rows[i];

        sg_places_name(sums->places, from->place, &row->at);
        row->kind = from->kind;
        row->of = from->of;
        row->wrong_order_waits = from->wrong_order_waits;
        row->wrong_order_ns = from->wrong_order_ns;
    }
    states->row_count = sums->row_count;
}

/* ---- the result, by call site ---------------------------------------------------------------- */

/* All waits at a call site for a rank. */
struct awaited {
    uint32_t site;
    struct sg_waitstate_late late;
};

static bool has_line(const struct sg_report_site *site)
{
    return site->file != NULL && site->line > 0;
}

/* Equal places are those that sg_waitstate_is_same_line() finds equal. */
static int compare_lines(const struct sg_waitstate_place *a, const struct sg_waitstate_place *b)
{
    int order = strcmp(a->function, b->function);

    if (order == 0)
        order = (int)has_line(&a->site) - (int)has_line(&b->site);
    if (order != 0)
        return order;
    if (!has_line(&a->site))
        return (a->site.site > b->site.site) - (a->site.site < b->site.site);
    order = strcmp(a->site.file, b->site.file);
    return order != 0 ? order : (a->site.line > b->site.line) - (a->site.line < b->site.line);
}

bool sg_waitstate_is_same_line(const struct sg_waitstate_place *a,
                               const struct sg_waitstate_place *b)
{
    return a->function != NULL && b->function != NULL && compare_lines(a, b) == 0;
}

/* Rows of one place follow each other. */
static int compare_by_line(const void *left, const void *right)
{
    const struct sg_waitstate_row *const *a = left, *const *b = right;
    int order = compare_lines(&(*a)->at, &(*b)->at);

    if (order == 0)
        order =
            ((*a)->at.site.site > (*b)->at.site.site) - ((*a)->at.site.site < (*b)->at.site.site);
    return order != 0 ? order : (*a > *b) - (*a < *b);
}

static int compare_sites(const void *left, const void *right)
{
    const struct sg_waitstate_site *a = left, *b = right;
    int order = compare(&a->of, &b->of);

    return order != 0 ? order : sg_waitstate_compare_places(&a->at, &b->at);
}

static void add_figures(struct sg_waitstate_figures *sum, const struct sg_waitstate_figures *more)
{
    sum->waits += more->waits;
    sum->wait_ns += more->wait_ns;
    if (more->max_ns > sum->max_ns)
        sum->max_ns = more->max_ns;
}

/* Makes sites from rows in the order of lines, and stores the site of each row in site_of. */
static void sum_lines(struct sg_waitstate_row *const *order, struct sg_waitstates *states,
                      uint32_t *site_of)
{
    struct sg_waitstate_site *site = NULL;
    uint64_t most_ns = 0, place_ns = 0;

    for (uint32_t i = 0; i < states->row_count; i++) {
        const struct sg_waitstate_row *row = order[i];
        bool is_new = site == NULL || compare_lines(&site->at, &row->at) != 0;
        bool is_place = is_new || order[i - 1]->at.site.site != row->at.site.site;

        if (is_new) {
            site = &states->sites[states->site_count++];
            most_ns = 0;
        }
        if (is_place)
            place_ns = 0;
        place_ns += row->of.wait_ns;
        if (is_new || place_ns > most_ns) {
            site->at = row->at;
            most_ns = place_ns;
        }
        site->places += is_place;
        add_figures(&site->of, &row->of);
        site_of[row - states->rows] = states->site_count - 1;
    }
}

static int compare_kinds(const void *left, const void *right)
{
    const struct sg_waitstate_row *a = left, *b = right;

    return a->kind != b->kind ? (int)a->kind - (int)b->kind : compare_lines(&a->at, &b->at);
}

struct sg_waitstate_row *sg_waitstate_rows_by_line(const struct sg_waitstate_row *rows,
                                                   uint32_t *count)
{
    struct sg_waitstate_row *lines = calloc((size_t)*count + 1, sizeof *lines);
    uint32_t kept = 0;

    if (lines == NULL || *count == 0)
        return lines;
    memcpy(lines, rows, *count * sizeof *lines);
    qsort(lines, *count, sizeof *lines, compare_kinds);
    for (uint32_t i = 0; i < *count; i++) {
        struct sg_waitstate_row *line = &lines[kept > 0 ? kept - 1 : 0];

        if (kept == 0 || compare_kinds(line, &lines[i]) != 0) {
            lines[kept++] = lines[i];
            continue;
        }
        add_figures(&line->of, &lines[i].of);
        line->wrong_order_waits += lines[i].wrong_order_waits;
        line->wrong_order_ns += lines[i].wrong_order_ns;
    }
    *count = kept;
    qsort(lines, kept, sizeof *lines, compare_rows);
    return lines;
}

/* The longest first; of equal ones the lowest rank. */
static void add_late(struct sg_waitstate_site *site, const struct sg_waitstate_late *late)
{
    uint32_t at = site->late_count;

    site->ranks++;
    while (at > 0 && (late->wait_ns > site->late[at - 1].wait_ns ||
                      (late->wait_ns == site->late[at - 1].wait_ns &&
                       late->rank < site->late[at - 1].rank))) {
        if (at < SG_WAITSTATE_LATE)
            site->late[at] = site->late[at - 1];
        at--;
    }
    if (at < SG_WAITSTATE_LATE)
        site->late[at] = *late;
    site->late_count += site->late_count < SG_WAITSTATE_LATE;
}

/* Sums up waits by site and awaited rank. */
static enum sg_status find_late(const struct sg_waitstate_sums *sums, const uint32_t *site_of,
                                struct sg_waitstates *states)
{
    struct sg_map by_key = {0};
    struct awaited *awaited = NULL;
    uint32_t count = 0;
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < sums->culprit_count && status == SG_OK; i++) {
        const struct culprit *culprit = &sums->culprits[i];
        uint32_t site = site_of[sums->pairs[culprit->pair].row];
        int64_t at = SG_MAP_INDEX(&by_key, key_of(site, culprit->rank), awaited, count,
                                  ((struct awaited){site, {culprit->rank, 0}}));

        if (at < 0)
            status = SG_ERR_MEMORY;
        else
            awaited[at].late.wait_ns += culprit->wait_ns;
    }
    for (uint32_t i = 0; i < count; i++)
        add_late(&states->sites[awaited[i].site], &awaited[i].late);
    free(awaited);
    sg_map_clear(&by_key);
    return status;
}

/* The first one of equal pairs counts. */
static void find_others(const struct sg_waitstate_sums *sums, const uint32_t *site_of,
                        struct sg_waitstates *states)
{
    for (uint32_t i = 0; i < sums->pair_count; i++) {
        const struct pair *pair = &sums->pairs[i];
        struct sg_waitstate_site *site = &states->sites[site_of[pair->row]];

        if (site->other_of.waits > 0 && pair->of.wait_ns <= site->other_of.wait_ns)
            continue;
        site->other_of = pair->of;
        sg_places_name(sums->places, pair->place, &site->other);
    }
}

/* The rows must be known in the order of the sums. */
static enum sg_status make_sites(const struct sg_waitstate_sums *sums, struct sg_waitstates *states)
{
    struct sg_waitstate_row **order = calloc((size_t)states->row_count + 1, sizeof *order);
    uint32_t *site_of = calloc((size_t)states->row_count + 1, sizeof *site_of);
    enum sg_status status = SG_ERR_MEMORY;

    if (order != NULL && site_of != NULL) {
        for (uint32_t i = 0; i < states->row_count; i++)
            order[i] = &states->rows[i];
        qsort(order, states->row_count, sizeof *order, compare_by_line);
        sum_lines(order, states, site_of);
        find_others(sums, site_of, states);
        status = find_late(sums, site_of, states);
    }
    free(order);
    free(site_of);
    return status;
}

enum sg_status sg_waitstate_sums_finish(struct sg_waitstate_sums *sums, struct sg_waitstates **out)
{
    struct sg_waitstates *states = calloc(1, sizeof *states);

    if (states == NULL)
        return SG_ERR_MEMORY;
    states->rows = calloc((size_t)sums->row_count + 1, sizeof *states->rows);
    states->pairs = calloc((size_t)sums->pair_count + 1, sizeof *states->pairs);
    states->sites = calloc((size_t)sums->row_count + 1, sizeof *states->sites);
    if (states->rows == NULL || states->pairs == NULL || states->sites == NULL) {
        sg_waitstates_free(states);
        return SG_ERR_MEMORY;
    }
    make_rows(sums, states);
    if (make_sites(sums, states) != SG_OK) {
        sg_waitstates_free(states);
        return SG_ERR_MEMORY;
    }
    sort(states->rows, states->row_count, sizeof *states->rows, compare_rows);
    make_pairs(sums, states);
    sort(states->sites, states->site_count, sizeof *states->sites, compare_sites);
    states->total = sums->total;
    states->ranks = sums->ranks;
    states->rank_count = sums->rank_count;
    sums->ranks = NULL;
    states->waited_by_key = sums->waited_by_key;
    states->waited_ns = sums->waited_ns;
    states->waited_count = sums->waited_count;
    sums->waited_by_key = (struct sg_map){0};
    sums->waited_ns = NULL;
    *out = states;
    return SG_OK;
}

void sg_waitstates_free(struct sg_waitstates *states)
{
    if (states == NULL)
        return;
    sg_places_destroy(states->places);
    free(states->rows);
    free(states->pairs);
    free(states->sites);
    sg_map_clear(&states->waited_by_key);
    free(states->waited_ns);
    free(states->skews);
    free(states->ranks);
    free(states);
}

struct place {
    uint32_t function, site;
};

struct sg_places {
    const struct sg_aggregate *aggregate;
    struct sg_names functions;
    struct place *of;
    uint32_t count;
    struct sg_map by_key;
};

enum sg_status sg_places_create(const struct sg_aggregate *aggregate, struct sg_places **out)
{
    struct sg_places *places = calloc(1, sizeof *places);

    if (places == NULL)
        return SG_ERR_MEMORY;
    places->aggregate = aggregate;
    *out = places;
    return SG_OK;
}

void sg_places_destroy(struct sg_places *places)
{
    if (places == NULL)
        return;
    sg_names_clear(&places->functions);
    sg_map_clear(&places->by_key);
    free(places->of);
    free(places);
}

enum sg_status sg_places_function(struct sg_places *places, const char *name, uint32_t *out)
{
    return sg_names_number(&places->functions, name, out);
}

int64_t sg_places_find(struct sg_places *places, const struct sg_waitstate_end *end)
{
    return SG_MAP_INDEX(&places->by_key, (uint64_t)end->function << 32 | end->site, places->of,
                        places->count, ((struct place){end->function, end->site}));
}

uint32_t sg_places_site(const struct sg_places *places, uint32_t place)
{
    return places->of[place].site;
}

void sg_places_name(const struct sg_places *places, uint32_t place, struct sg_waitstate_place *out)
{
    if (place == SG_NO_PLACE)
        return;
    out->function = places->functions.of[places->of[place].function];
    sg_aggregate_name_site(places->aggregate, places->of[place].site, &out->site);
}
