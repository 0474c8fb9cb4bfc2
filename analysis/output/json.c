#include "output/json.h"

#include "output/format.h"

#include <stdlib.h>

json_t *sg_json_text(const char *text)
{
    char *clean;
    json_t *value;

    if (text == NULL)
        return json_null();
    clean = sg_format_clean(text, false);
    value = clean != NULL ? json_string(clean) : NULL;
    free(clean);
    return value;
}

json_t *sg_json_count(bool known, uint64_t count)
{
    return known ? json_integer((json_int_t)count) : json_null();
}

json_t *sg_json_real(bool known, double value)
{
    return known ? json_real(value) : json_null();
}

json_t *sg_json_share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? json_real((double)part / (double)whole) : json_null();
}

json_t *sg_json_id(bool known, uint32_t id)
{
    return known ? json_sprintf("%08x", id) : json_null();
}

static void drop(json_t **whole)
{
    json_decref(*whole);
    *whole = NULL;
}

void sg_json_append(json_t **whole, json_t *value)
{
    if (json_array_append_new(*whole, value) != 0)
        drop(whole);
}

void sg_json_set(json_t **whole, const char *name, json_t *value)
{
    if (json_object_set_new(*whole, name, value) != 0)
        drop(whole);
}

enum sg_status sg_json_print(json_t *root, int digits, const char *who, FILE *out)
{
    if (root == NULL) {
        sg_log("%s: out of memory", who);
        return SG_ERR_MEMORY;
    }
    if (json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(digits)) == 0)
        fputc('\n', out);
    json_decref(root);
    return SG_OK;
}
