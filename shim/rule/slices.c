#include "rule/ruleset.h"

bool sg_ruleset_has_slices(const struct sg_ruleset *rules)
{
    bool has = false;

    for (int i = 0; i < rules->count; i++)
        has = has || sg_parameter_find(rules->rules[i].choice.algorithm, "slice") >= 0;
    return has;
}

bool sg_ruleset_is_slice_short(const struct sg_ruleset *rules, double wake_us, int64_t *slice_us)
{
    bool is_any_short = false;

    for (int i = 0; i < rules->count; i++) {
        const struct sg_choice *choice = &rules->rules[i].choice;
        int at = sg_parameter_find(choice->algorithm, "slice");
        int64_t slice = at < 0 ? 0 : choice->parameters[at];

        if (at < 0 || (double)slice >= SG_SLICE_WAKES * wake_us ||
            (is_any_short && slice >= *slice_us))
            continue;
        is_any_short = true;
        *slice_us = slice;
    }
    return is_any_short;
}
