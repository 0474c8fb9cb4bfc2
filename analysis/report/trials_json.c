#include "report/trials_json.h"

#include "report/format.h"

#include <stdlib.h>

static json_t *text_of(const char *text)
{
    char *clean = text != NULL ? sg_format_clean(text, false) : NULL;
    json_t *value = text == NULL ? json_null() : clean != NULL ? json_string(clean) : NULL;

    free(clean);
    return value;
}

/* Only what the rounds tell. */
static json_t *estimate_of(const struct sg_report_trial *trial, const struct sg_estimate *estimate)
{
    bool known = trial->rounds > 0;
    bool interval = sg_trial_has_intervals(trial);

    if (!known)
        return json_null();
    return json_pack("{s:f, s:o, s:o}", "mean", estimate->mean, "low",
                     interval ? json_real(estimate->low) : json_null(), "high",
                     interval ? json_real(estimate->high) : json_null());
}

static json_t *arm_of(const struct sg_report_trial *trial, const struct sg_report_arm *arm)
{
    json_t *value =
        json_pack("{s:o, s:I, s:I, s:I, s:I, s:I}", "arm", text_of(arm->text), "calls",
                  (json_int_t)arm->calls, "declined_calls", (json_int_t)arm->declined_calls,
                  "blocks", (json_int_t)arm->blocks, "used_calls", (json_int_t)arm->used_calls,
                  "used_instances", (json_int_t)arm->used_instances);
    int failed = value == NULL;

    for (int tried = 0; tried < SG_TRIED_COUNT && !failed; tried++) {
        char name[64];

        snprintf(name, sizeof name, "%s_ns", sg_tried_names[tried]);
        failed |= json_object_set_new(value, name, estimate_of(trial, &arm->cost[tried]));
        if (tried == SG_TRIED_SKEW) /* is no cost: nothing wins by it */
            continue;
        snprintf(name, sizeof name, "%s_above_least_ns", sg_tried_names[tried]);
        failed |= json_object_set_new(value, name, estimate_of(trial, &arm->above[tried]));
    }
    if (!failed && trial->verdict[SG_TRIED_BLOCKED] == SG_TRIED_UNKNOWN)
        failed = json_object_set_new(value, "mean_blocked_ns",
                                     json_real(arm->cost[SG_TRIED_BLOCKED].mean));
    if (failed) {
        json_decref(value);
        return NULL;
    }
    return value;
}

static json_t *arms_of(const struct sg_report_trial *trial)
{
    json_t *arms = json_array();

    for (uint32_t i = 0; i < trial->arm_count && arms != NULL; i++) {
        if (json_array_append_new(arms, arm_of(trial, &trial->arms[i])) != 0) {
            json_decref(arms);
            return NULL;
        }
    }
    return arms;
}

static json_t *verdict_of(const struct sg_report_trial *trial, int tried)
{
    bool known = trial->verdict[tried] == SG_TRIED_WINNER;

    return json_pack("{s:s, s:o}", "verdict", sg_tried_verdict_names[trial->verdict[tried]],
                     "winner",
                     known ? text_of(trial->arms[trial->least[tried]].text) : json_null());
}

static json_t *trial_of(const struct sg_report_trial *trial)
{
    return json_pack(
        "{s:o, s:o, s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "trial",
        text_of(trial->place), "id", trial->has_id ? json_sprintf("%08x", trial->id) : json_null(),
        "op", (trial->nonblocking ? sg_operation_post_names : sg_operation_names)[trial->operation],
        "function", text_of(trial->function), "file", text_of(trial->file), "line",
        trial->line > 0 ? json_integer((json_int_t)trial->line) : json_null(), "block",
        (json_int_t)trial->block, "rounds", (json_int_t)trial->rounds, "first_calls",
        (json_int_t)trial->first_calls, "loose_calls", (json_int_t)trial->loose_calls,
        "mixed_calls", (json_int_t)trial->mixed_calls, "arms", arms_of(trial), "blocked",
        verdict_of(trial, SG_TRIED_BLOCKED), "processor", verdict_of(trial, SG_TRIED_PROCESSOR));
}

json_t *sg_report_trials_json(const struct sg_report *report)
{
    json_t *trials = json_array();

    for (uint32_t i = 0; i < report->trial_count && trials != NULL; i++) {
        if (json_array_append_new(trials, trial_of(&report->trials[i])) != 0) {
            json_decref(trials);
            return NULL;
        }
    }
    return trials;
}
