#include "report/filter.h"

#include "core/hash.h"
#include "output/format.h"

/* This file's tables have keys of 64 bits; several look-ups an event are worth a quick hash. */
#define HASH_FUNCTION(key, length, hash) ((hash) = (unsigned)sg_hash_mix(*(const uint64_t *)(key)))
#define HASH_KEYCMP(a, b, length) (*(const uint64_t *)(a) != *(const uint64_t *)(b))
#include "report/keyed.h"
#include "rule/ruleset.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading --------------------------------------------------------------------------------- */

/* Parses the pattern as the left side of a rule. */
static bool parse_place(struct sg_filter *filter, char *message, size_t message_bytes)
{
    static const struct sg_algorithm mpich = {
        .name = "mpich", .operations = ~0u, .parameters = sg_parameters_none};
    const struct sg_algorithm_table table = {.entries = &mpich, .count = 1};
    struct sg_rule_fault fault;
    char *text = NULL;
    enum sg_status status;

    if (filter->site == NULL && filter->comm == NULL)
        return true;
    filter->rule = calloc(1, sizeof *filter->rule);
    if (filter->rule == NULL ||
        asprintf(&text, "*%s%s%s%s=mpich", filter->site != NULL ? "@" : "",
                 filter->site != NULL ? filter->site : "", filter->comm != NULL ? "~" : "",
                 filter->comm != NULL ? filter->comm : "") < 0) {
        snprintf(message, message_bytes, "out of memory");
        return false;
    }
    filter->rule->any_bytes = true;
    status = sg_rule_parse(&table, text, text + strlen(text), filter->rule, &fault);
    free(text);
    if (status != SG_OK)
        snprintf(message, message_bytes, "--site or --comm: %s",
                 status == SG_ERR_SYNTAX ? fault.message : "out of memory");
    return status == SG_OK;
}

/* Parses "1.5ms", "20us", "3" (seconds), up to end. */
static bool parse_moment(const char *at, const char *end, int64_t *ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1e9}};
    char *unit;
    double value;

    if (*at < '0' || *at > '9')
        return false;
    value = strtod(at, &unit);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t length = strlen(units[i].name);

        if ((size_t)(end - unit) == length && memcmp(unit, units[i].name, length) == 0 &&
            value * units[i].ns < 9e18) {
            *ns = (int64_t)(value * units[i].ns);
            return true;
        }
    }
    return false;
}

static bool parse_time(struct sg_filter *filter)
{
    const char *colon;

    filter->from_ns = INT64_MIN;
    filter->to_ns = INT64_MAX;
    if (filter->time == NULL)
        return true;
    colon = strchr(filter->time, ':');
    if (colon == NULL || (colon == filter->time && colon[1] == '\0'))
        return false;
    if (colon > filter->time && !parse_moment(filter->time, colon, &filter->from_ns))
        return false;
    if (colon[1] != '\0' && !parse_moment(colon + 1, colon + strlen(colon), &filter->to_ns))
        return false;
    return filter->from_ns < filter->to_ns;
}

bool sg_filter_parse(struct sg_filter *filter, char message[], size_t message_bytes)
{
    if (!parse_place(filter, message, message_bytes))
        return false;
    if (filter->ranks != NULL && !sg_rank_list_parse(filter->ranks, &filter->ranges)) {
        snprintf(message, message_bytes, "--rank wants ranks such as 3 or 0-3,7, not '%s'",
                 filter->ranks);
        return false;
    }
    if (!parse_time(filter)) {
        snprintf(message, message_bytes,
                 "--time wants FROM:TO such as 10ms:1.5s, since the run's start, not '%s'",
                 filter->time);
        return false;
    }
    return true;
}

void sg_filter_clear(struct sg_filter *filter)
{
    if (filter->rule != NULL)
        sg_rule_clear(filter->rule);
    free(filter->rule);
    *filter = (struct sg_filter){0};
}

/* ---- taking ---------------------------------------------------------------------------------- */

struct sg_rule_site sg_filter_rule_site(const struct sg_report_site *row)
{
    return (struct sg_rule_site){.id = row->id,
                                 .module = sg_text_base_name(row->module),
                                 .offset = row->offset,
                                 .function = row->function,
                                 .file = row->file,
                                 .line = row->line};
}

bool sg_filter_takes_row(const struct sg_filter *filter, const struct sg_report_site *row)
{
    const struct sg_rule_site site = sg_filter_rule_site(row);
    const struct sg_rule_comm comm = {.name = row->comm, .size = (int)row->comm_size};

    return filter == NULL || filter->rule == NULL || sg_rule_matches(filter->rule, &site, &comm, 0);
}

bool sg_filter_takes_rank(const struct sg_filter *filter, uint32_t rank)
{
    return filter == NULL || filter->ranks == NULL || sg_rank_list_has(&filter->ranges, rank);
}

bool sg_filter_takes_time(const struct sg_filter *filter, int64_t time_ns)
{
    return filter == NULL || filter->time == NULL ||
           (time_ns >= filter->from_ns && time_ns < filter->to_ns);
}

/* ---- map ------------------------------------------------------------------------------------- */

struct sg_map_entry {
    UT_hash_handle hh;
    uint64_t key;
    uint32_t value;
};

enum sg_status sg_map_put(struct sg_map *map, uint64_t key, uint32_t value)
{
    struct sg_map_entry *entry = SG_KEYED_FIND(map->entries, &key);

    if (entry == NULL) {
        entry = malloc(sizeof *entry);
        if (entry == NULL)
            return SG_ERR_MEMORY;
        entry->key = key;
        if (!SG_KEYED_ADD(map->entries, entry)) {
            free(entry);
            return SG_ERR_MEMORY;
        }
    }
    entry->value = value;
    return SG_OK;
}

int64_t sg_map_get(const struct sg_map *map, uint64_t key)
{
    const struct sg_map_entry *entry = SG_KEYED_FIND(map->entries, &key);

    return entry != NULL ? (int64_t)entry->value : -1;
}

int64_t sg_map_number(struct sg_map *map, uint64_t key, uint32_t count, bool *is_new)
{
    int64_t found = sg_map_get(map, key);

    *is_new = found < 0 && sg_map_put(map, key, count) == SG_OK;
    return *is_new ? (int64_t)count : found;
}

void sg_map_clear(struct sg_map *map)
{
    struct sg_map_entry *entry, *next;

    HASH_ITER(hh, map->entries, entry, next)
    {
        HASH_DEL(map->entries, entry);
        free(entry);
    }
}

int64_t sg_names_find(const struct sg_names *names, const char *name)
{
    for (uint32_t i = 0; i < names->count; i++) {
        if (strcmp(names->of[i], name) == 0)
            return i;
    }
    return -1;
}

enum sg_status sg_names_number(struct sg_names *names, const char *name, uint32_t *out)
{
    int64_t found = sg_names_find(names, name);
    char *copy = found < 0 ? strdup(name) : NULL;

    if (found < 0 && (copy == NULL || !SG_APPEND(names->of, names->count, copy))) {
        free(copy);
        return SG_ERR_MEMORY;
    }
    *out = found >= 0 ? (uint32_t)found : names->count - 1;
    return SG_OK;
}

void sg_names_clear(struct sg_names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        free(names->of[i]);
    free(names->of);
    *names = (struct sg_names){0};
}

/* While a rank is ready and has no processor, other ranks have all processors, or else another
 * program has one. So of n ranks on p processors, ranks lose at most (n - p) / p of their use. A
 * wait uses a processor unless the rank sleeps. */
bool sg_report_is_crowded(const struct sg_report *report)
{
    const struct sg_efficiency *efficiency = &report->efficiency;
    double ranks = (double)report->waiting.ranks;
    double processors = (double)sg_waiting_processors(&report->waiting);
    double waiting_ns = (double)efficiency->waiting_ns - (double)report->waiting.sleep_ns;
    double outside_ns = (double)(efficiency->work_ns + efficiency->off_ns);
    double used_ns = efficiency->on_processor * outside_ns + (double)efficiency->mpi_ns +
                     (waiting_ns > 0 ? waiting_ns : 0);
    double lost_ns = efficiency->runnable * outside_ns;

    return sg_report_is_oversubscribed(report) && efficiency->is_known &&
           efficiency->on_processor >= 0 && efficiency->runnable >= 0 &&
           lost_ns / 2 <= used_ns * (ranks - processors) / processors;
}

void sg_report_put_spinning(const struct sg_report *report, FILE *out)
{
    const struct sg_run_waiting *waiting = &report->waiting;
    uint64_t processors = sg_waiting_processors(waiting);

    fprintf(out,
            "%" PRIu64 " rank%s x %" PRIu64 " OpenMP threads spin on %" PRIu64
            " processor%s: set OMP_WAIT_POLICY=passive",
            waiting->ranks, waiting->ranks == 1 ? "" : "s", waiting->spinning_threads, processors,
            processors == 1 ? "" : "s");
}

/* Shares are of all ranks' run time. */
void sg_report_put_waited(const struct sg_report *report, FILE *out)
{
    const struct sg_run_waiting *waiting = &report->waiting;

    if (waiting->told == 0)
        return;
    if (waiting->yields == 0 && waiting->sleeps == 0) {
        fputs("spun", out);
        return;
    }
    fprintf(out, "yielded %s", SG_NS(waiting->yield_ns / waiting->told));
    if (waiting->sleeps > 0)
        fprintf(out, " and slept %s", SG_NS(waiting->sleep_ns / waiting->told));
    fprintf(out, " a rank, %s", SG_SHARE(waiting->yield_ns, report->ranks_run_ns));
    if (waiting->sleeps > 0)
        fprintf(out, " and %s", SG_SHARE(waiting->sleep_ns, report->ranks_run_ns));
    fputs(" of the run", out);
    if (waiting->hook[0] == '\0')
        fputs("; MPICH itself spun", out);
}
