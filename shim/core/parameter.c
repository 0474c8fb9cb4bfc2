#include "core/parameter.h"

#include "core/text.h"

#include <string.h>

/* Index of a word in "auto|off", or -1. */
static int choice_index(const char *choices, const char *begin, const char *end)
{
    for (int index = 0; choices != NULL; index++) {
        const char *bar = strchrnul(choices, '|');

        if (bar - choices == end - begin && memcmp(choices, begin, (size_t)(end - begin)) == 0)
            return index;
        choices = *bar == '|' ? bar + 1 : NULL;
    }
    return -1;
}

/* A whole number with an optional sign, k, m or g; false for anything else. */
static bool parse_integer(const char *begin, const char *end, int64_t *out)
{
    bool negative = begin < end && *begin == '-';
    uint64_t magnitude;

    if (sg_text_number(begin + negative, end, true, &magnitude) != end || magnitude > INT64_MAX)
        return false;
    *out = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

bool sg_parameter_parse(const struct sg_parameter *parameter, const char *begin, const char *end,
                        int64_t *value)
{
    int index = choice_index(parameter->choices, begin, end);
    int64_t number;

    if (index >= 0) {
        *value = parameter->kind == SG_PARAMETER_CHOICE ? index : parameter->low - 1 - index;
        return true;
    }
    if (parameter->kind != SG_PARAMETER_INTEGER || !parse_integer(begin, end, &number) ||
        number < parameter->low || number > parameter->high)
        return false;
    *value = number;
    return true;
}
