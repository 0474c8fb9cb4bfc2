#include "report/json_values.h"

#include "report/format.h"

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
