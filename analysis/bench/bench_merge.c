#include "bench/bench_merge.h"

#include "bench/distribution.h"
#include "output/format.h"
#include "output/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The fields that identify a row. */
static const char *const identity[] = {
    "op",        "bytes",   "elements", "algorithm", "vs",        "scheme",
    "reduction", "arrival", "skew_us",  "late_us",   "skewed_by", "test_bytes",
    "kind",      "rank",    "peer",     "processes", "caches"};

#define IDENTITY (sizeof identity / sizeof *identity)

static bool is_same(const json_t *one, const json_t *other)
{
    for (size_t i = 0; i < IDENTITY; i++) {
        json_t *left = json_object_get(one, identity[i]),
               *right = json_object_get(other, identity[i]);

        if ((left == NULL) != (right == NULL) || (left != NULL && !json_equal(left, right)))
            return false;
    }
    return true;
}

/* ---- reading --------------------------------------------------------------------------------- */

static enum sg_status read_run(const char *path, const json_t *first, json_t **out)
{
    static const char *const alike[] = {"command", "ranks", "version"};
    json_error_t error;
    json_t *run = json_load_file(path, 0, &error);

    if (run == NULL) {
        sg_log("bench-merge: %s: %s", path, error.text);
        return error.line >= 0 ? SG_ERR_FORMAT : SG_ERR_MISSING;
    }
    if (!json_is_array(json_object_get(run, "results")) ||
        !json_is_string(json_object_get(run, "command"))) {
        sg_log("bench-merge: %s is not an output of stagger-bench --json", path);
        goto err_run;
    }
    for (size_t i = 0; first != NULL && i < sizeof alike / sizeof *alike; i++) {
        if (!json_equal(json_object_get(run, alike[i]), json_object_get(first, alike[i]))) {
            sg_log("bench-merge: %s and the first file differ in %s", path, alike[i]);
            goto err_run;
        }
    }
    *out = run;
    return SG_OK;

err_run:
    json_decref(run);
    return SG_ERR_FORMAT;
}

/* ---- one row --------------------------------------------------------------------------------- */

/* The lists share one allocation; each has capacity for all samples. */
struct pooled {
    double *samples, *others; /* others: of the other side, as many */
    double *sorted, *scratch;
    double *medians; /* by launch, like counts */
    size_t *counts;
    size_t launches, total;
    bool paired;
};

static const json_t *find_row(const json_t *run, const json_t *row)
{
    json_t *other;
    size_t i;

    json_array_foreach(json_object_get(run, "results"), i, other)
    {
        if (is_same(row, other) && json_array_size(json_object_get(other, "samples_us")) > 0)
            return other;
    }
    return NULL;
}

static size_t count_samples(const json_t *runs, const json_t *row)
{
    size_t total = 0, i;
    json_t *run;

    json_array_foreach(runs, i, run)
    {
        const json_t *found = find_row(run, row);

        total += found != NULL ? json_array_size(json_object_get(found, "samples_us")) : 0;
    }
    return total;
}

static void take_launch(struct pooled *pooled, const json_t *row)
{
    const json_t *own = json_object_get(row, "samples_us");
    const json_t *other = json_object_get(row, "vs_samples_us");
    size_t count = json_array_size(own);

    pooled->paired = pooled->paired && json_array_size(other) == count;
    for (size_t i = 0; i < count; i++) {
        pooled->samples[pooled->total + i] = json_number_value(json_array_get(own, i));
        pooled->others[pooled->total + i] = json_number_value(json_array_get(other, i));
    }
    pooled->counts[pooled->launches++] = count;
    pooled->total += count;
}

static bool open_pooled(struct pooled *pooled, size_t total, size_t launches)
{
    pooled->samples = calloc(4 * total + launches + 1, sizeof *pooled->samples);
    pooled->counts = calloc(launches, sizeof *pooled->counts);
    if (pooled->samples == NULL || pooled->counts == NULL)
        return false;
    pooled->others = pooled->samples + total;
    pooled->sorted = pooled->others + total;
    pooled->scratch = pooled->sorted + total;
    pooled->medians = pooled->scratch + total;
    pooled->paired = true;
    return true;
}

static void set(json_t *row, const char *name, double value)
{
    json_object_set_new(row, name, isfinite(value) ? json_real(value) : json_null());
}

static void set_summary(json_t *row, const char *name, const char *unit,
                        const struct sg_bench_summary *summary)
{
    char whole[64];

    snprintf(whole, sizeof whole, "%s%s", name, unit);
    set(row, whole, summary->median);
    snprintf(whole, sizeof whole, "%s_low%s", name, unit);
    set(row, whole, summary->low);
    snprintf(whole, sizeof whole, "%s_high%s", name, unit);
    set(row, whole, summary->high);
}

static void describe(json_t *row, struct pooled *pooled)
{
    struct sg_bench_pool pool;
    struct sg_bench_comparison comparison;

    if (pooled->paired) {
        /* Copies, because sorting destroys the pairs. */
        memcpy(pooled->sorted, pooled->samples, pooled->total * sizeof *pooled->sorted);
        comparison =
            sg_bench_compare(pooled->sorted, pooled->others, pooled->scratch, pooled->total);
        set_summary(row, "vs", "_us", &comparison.stock);
        set_summary(row, "ratio", "", &comparison.ratio);
    }
    pool = sg_bench_pool(pooled->samples, pooled->counts, pooled->launches, pooled->medians);
    json_object_set_new(row, "launches", json_integer((json_int_t)pool.launches));
    json_object_set_new(row, "samples", json_integer((json_int_t)pool.all.count));
    json_object_set_new(row, "outliers", json_integer((json_int_t)pool.all.outliers));
    set_summary(row, "pooled", "_us", &pool.all.median);
    set(row, "pooled_min_us", pool.all.least);
    set(row, "pooled_mean_us", pool.all.mean);
    set(row, "pooled_p95_us", pool.all.p95);
    set(row, "pooled_p99_us", pool.all.p99);
    set(row, "pooled_max_us", pool.all.most);
    set_summary(row, "launch", "_us", &pool.launch);
}

static enum sg_status pool_row(const json_t *runs, const json_t *row, json_t *results)
{
    struct pooled pooled = {0};
    json_t *merged = json_object(), *run;
    size_t total = count_samples(runs, row), i;
    json_int_t changed = 0; /* launches in which the processor speed changed */
    enum sg_status status = SG_ERR_MEMORY;

    if (merged != NULL && open_pooled(&pooled, total, json_array_size(runs))) {
        for (i = 0; i < IDENTITY; i++) {
            json_t *value = json_object_get(row, identity[i]);

            if (value != NULL)
                json_object_set(merged, identity[i], value);
        }
        json_array_foreach(runs, i, run)
        {
            const json_t *found = find_row(run, row);

            if (found == NULL)
                continue;
            take_launch(&pooled, found);
            changed += json_is_true(json_object_get(found, "speed_changed"));
        }
        describe(merged, &pooled);
        json_object_set_new(merged, "speed_changed", json_integer(changed));
        status = SG_OK;
    }
    free(pooled.samples);
    free(pooled.counts);
    if (status == SG_OK && json_array_append(results, merged) != 0)
        status = SG_ERR_MEMORY;
    json_decref(merged);
    return status;
}

/* ---- all rows -------------------------------------------------------------------------------- */

/* Keeps rows in the order of the first run that has them. */
static enum sg_status pool_rows(const json_t *runs, json_t *results)
{
    json_t *run, *row, *done;
    enum sg_status status = SG_OK;
    size_t i, j, k;

    json_array_foreach(runs, i, run)
    {
        json_array_foreach(json_object_get(run, "results"), j, row)
        {
            bool known = json_array_size(json_object_get(row, "samples_us")) == 0;

            json_array_foreach(results, k, done)
            {
                known = known || is_same(row, done);
            }
            if (!known && status == SG_OK)
                status = pool_row(runs, row, results);
        }
    }
    return status;
}

enum sg_status sg_bench_merge(char *const *paths, int count, json_t **out)
{
    json_t *runs = json_array(), *results = json_array(), *run = NULL;
    enum sg_status status = runs != NULL && results != NULL ? SG_OK : SG_ERR_MEMORY;

    for (int i = 0; i < count && status == SG_OK; i++) {
        status = read_run(paths[i], json_array_get(runs, 0), &run);
        if (status == SG_OK && json_array_append_new(runs, run) != 0)
            status = SG_ERR_MEMORY;
    }
    if (status == SG_OK)
        status = pool_rows(runs, results);
    if (status == SG_OK && json_array_size(results) == 0) {
        sg_log(
            "bench-merge: no samples in these files: stagger-bench --json --samples records them");
        status = SG_ERR_MISSING;
    }
    if (status == SG_OK) {
        const json_t *first = json_array_get(runs, 0);

        *out = json_pack("{s:i, s:s, s:O, s:O, s:i, s:O}", "version", 1, "command", "bench-merge",
                         "merged", json_object_get(first, "command"), "ranks",
                         json_object_get(first, "ranks"), "files", count, "results", results);
        status = *out != NULL ? SG_OK : SG_ERR_MEMORY;
    }
    if (status == SG_ERR_MEMORY)
        sg_log("bench-merge: out of memory");
    json_decref(runs);
    json_decref(results);
    return status;
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct sg_line_column columns[] = {
    {"launches", "launches", .width = 8},
    {"samples", "samples", .width = 8},
    {"launch_us", "median", .width = 10, .decimals = SG_LINE_THOUSANDTHS},
    {"launch_low_us", "low", .width = 10, .decimals = SG_LINE_THOUSANDTHS},
    {"launch_high_us", "high", .width = 10, .decimals = SG_LINE_THOUSANDTHS},
    {"pooled_p95_us", "p95", .width = 10, .decimals = SG_LINE_THOUSANDTHS},
    {"ratio", "ratio", .width = 8, .decimals = SG_LINE_THOUSANDTHS},
    {"speed_changed", "changed", .width = 7},
    {0}};

/* Prints the fields that identify the row, in one cell. */
static void print_name(FILE *stream, const json_t *row)
{
    char name[160] = "", *clean;
    size_t used = 0;

    for (size_t i = 0; i < IDENTITY && used < sizeof name - 40; i++) {
        const json_t *value = json_object_get(row, identity[i]);
        const char *space = used > 0 ? " " : "";

        if (json_is_string(value))
            used += (size_t)snprintf(name + used, sizeof name - used, "%s%.30s", space,
                                     json_string_value(value));
        else if (json_is_number(value))
            used += (size_t)snprintf(name + used, sizeof name - used, "%s%.10g", space,
                                     json_number_value(value));
    }
    clean = sg_format_clean(name, true);
    fprintf(stream, "%-50s  ", clean != NULL ? clean : "?");
    free(clean);
}

void sg_bench_merge_print(const json_t *merged, FILE *stream)
{
    json_t *row;
    size_t i;

    sg_format_put(json_string_value(json_object_get(merged, "merged")), stream);
    fprintf(stream, ", %lld ranks, %lld files; us\n\n%-50s  ",
            (long long)json_integer_value(json_object_get(merged, "ranks")),
            (long long)json_integer_value(json_object_get(merged, "files")), "row");
    sg_line_print_titles(columns, stream);
    json_array_foreach(json_object_get(merged, "results"), i, row)
    {
        print_name(stream, row);
        sg_line_print(columns, row, stream);
    }
    fputs(
        "\nmedian, low, high: of the launches' medians, with their 95 % interval (with fewer than "
        "six launches, their range)\nchanged: launches in which the processor speed changed\n",
        stream);
}
