#include "bench/output_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_BYTES 96

struct sg_bench_record *sg_bench_record_new(void)
{
    struct sg_bench_record *record = calloc(1, sizeof *record);

    if (record != NULL)
        record->object = json_object();
    return record;
}

void sg_bench_record_free(struct sg_bench_record *record)
{
    if (record != NULL)
        json_decref(record->object);
    free(record);
}

/* Takes value, which may be NULL. */
static void set(struct sg_bench_record *record, const char *name, json_t *value)
{
    if (record == NULL) {
        json_decref(value);
        return;
    }
    if (json_object_set_new(record->object, name, value) != 0)
        record->failed = true;
}

void sg_bench_record_text(struct sg_bench_record *record, const char *name, const char *text)
{
    set(record, name, text != NULL ? json_string(text) : json_null());
}

void sg_bench_record_count(struct sg_bench_record *record, const char *name, uint64_t count)
{
    set(record, name, json_integer((json_int_t)count));
}

void sg_bench_record_flag(struct sg_bench_record *record, const char *name, bool flag)
{
    set(record, name, json_boolean(flag));
}

void sg_bench_record_number(struct sg_bench_record *record, const char *name, double value)
{
    set(record, name, sg_bench_json_number(value));
}

static void set_us(struct sg_bench_record *record, const char *name, const char *which, double ns)
{
    char whole[NAME_BYTES];

    snprintf(whole, sizeof whole, "%s%s_us", name, which);
    set(record, whole, sg_bench_json_us(ns));
}

void sg_bench_record_us(struct sg_bench_record *record, const char *name, double ns)
{
    set_us(record, name, "", ns);
}

void sg_bench_record_summary(struct sg_bench_record *record, const char *name,
                             const struct sg_bench_summary *summary)
{
    set_us(record, name, "", summary->median);
    set_us(record, name, "_low", summary->low);
    set_us(record, name, "_high", summary->high);
}

void sg_bench_record_ratio(struct sg_bench_record *record, const char *name,
                           const struct sg_bench_summary *summary)
{
    char whole[NAME_BYTES];

    sg_bench_record_number(record, name, summary->median);
    snprintf(whole, sizeof whole, "%s_low", name);
    sg_bench_record_number(record, whole, summary->low);
    snprintf(whole, sizeof whole, "%s_high", name);
    sg_bench_record_number(record, whole, summary->high);
}

void sg_bench_record_distribution(struct sg_bench_record *record, const char *name,
                                  const struct sg_bench_distribution *distribution)
{
    char whole[NAME_BYTES];

    sg_bench_record_summary(record, name, &distribution->median);
    set_us(record, name, "_min", distribution->least);
    set_us(record, name, "_mean", distribution->mean);
    set_us(record, name, "_p95", distribution->p95);
    set_us(record, name, "_p99", distribution->p99);
    set_us(record, name, "_max", distribution->most);
    snprintf(whole, sizeof whole, "%s_outliers", name);
    sg_bench_record_count(record, whole, distribution->outliers);
    snprintf(whole, sizeof whole, "%s_count", name);
    sg_bench_record_count(record, whole, distribution->count);
}

void sg_bench_record_list(struct sg_bench_record *record, const char *name, const double *ns,
                          size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, sg_bench_json_us(ns[i]));
    set(record, name, list);
}
