#include "output/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_BYTES 96
#define NS_PER_US 1000

struct sg_record {
    json_t *row;
    bool failed; /* out of memory */
};

struct sg_record *sg_record_new(void)
{
    struct sg_record *record = calloc(1, sizeof *record);

    if (record != NULL)
        record->row = json_object();
    return record;
}

json_t *sg_record_take(struct sg_record *record)
{
    json_t *row = record != NULL ? record->row : NULL;

    if (record != NULL && record->failed) {
        json_decref(row);
        row = NULL;
    }
    free(record);
    return row;
}

static json_t *number_of(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* Takes value, which may be NULL. */
static void set(struct sg_record *record, const char *name, json_t *value)
{
    if (record == NULL)
        json_decref(value);
    else if (json_object_set_new(record->row, name, value) != 0)
        record->failed = true;
}

void sg_record_text(struct sg_record *record, const char *name, const char *text)
{
    set(record, name, text != NULL ? json_string(text) : json_null());
}

void sg_record_count(struct sg_record *record, const char *name, uint64_t count)
{
    set(record, name, json_integer((json_int_t)count));
}

void sg_record_flag(struct sg_record *record, const char *name, bool flag)
{
    set(record, name, json_boolean(flag));
}

void sg_record_number(struct sg_record *record, const char *name, double value)
{
    set(record, name, number_of(value));
}

void sg_record_us(struct sg_record *record, const char *name, double ns)
{
    char whole[NAME_BYTES];

    snprintf(whole, sizeof whole, "%s_us", name);
    sg_record_number(record, whole, ns / NS_PER_US);
}

void sg_record_list(struct sg_record *record, const char *name, const double *ns, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, number_of(ns[i] / NS_PER_US));
    set(record, name, list);
}
