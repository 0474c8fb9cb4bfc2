/* Writes the known run as an archive, and reads reports through the JSON that programs read. */
#ifndef SG_TESTS_REPORT_JSON_H
#define SG_TESTS_REPORT_JSON_H

#include "lib/unit.h"
#include "report/known.h"
#include "report/report.h"
#include "report/report_columns.h"
#include "report/report_print.h"

#include <jansson.h>

/* Writes the known run, changed by `change` unless that is NULL, and returns its directory, valid
 * until the next call. */
static inline const char *write_known(void (*change)(struct archive *))
{
    static struct archive archive;
    const char *directory = unit_fresh_directory();

    known_run(&archive);
    if (change != NULL)
        change(&archive);
    archive_write(&archive, directory);
    return directory;
}

/* Reports all call sites, in the command's default order. The result stays until the program ends.
 */
static inline json_t *report_of(const char *path)
{
    static json_t *kept;
    struct sg_report report;

    char *text = PRINTED(
        ASSERT(sg_report_read(path, false, NULL, &report) == SG_OK,
               sg_report_sort(&report, sg_column_find(sg_site_columns, SG_COLUMN_DEFAULT)) == SG_OK,
               sg_report_print_json(&report, &(struct sg_print_options){0}, stream) == SG_OK));
    sg_report_clear(&report);
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    ASSERT(json != NULL);
    free(text);
    if (kept == NULL)
        kept = json_array();
    json_array_append_new(kept, json);
    return json;
}

/* -1 is null. */
static inline json_int_t figure(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);

    ASSERT(value != NULL, json_is_integer(value) || json_is_null(value));
    return json_is_null(value) ? -1 : json_integer_value(value);
}

/* text NULL: null. */
static inline void expect_text(const json_t *object, const char *name, const char *text)
{
    const json_t *value = json_object_get(object, name);

    ASSERT(value != NULL);
    if (text == NULL)
        EXPECT(json_is_null(value));
    else
        EXPECT(text_is(json_string_value(value), text));
}

#endif
