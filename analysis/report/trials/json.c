#include "report/trials/json.h"

#include "output/json.h"

/* Known only if there are rounds. */
static json_t *estimate_of(const struct sg_report_trial *trial, const struct sg_estimate *estimate)
{
    bool known = trial->rounds > 0;
    bool interval = sg_trial_has_intervals(trial);

    if (!known)
        return json_null();
    return json_pack("{s:f, s:o, s:o}", "mean", estimate->mean, "low",
                     sg_json_real(interval, estimate->low), "high",
                     sg_json_real(interval, estimate->high));
}

static json_t *arm_of(const struct sg_report_trial *trial, const struct sg_report_arm *arm)
{
    json_t *value =
        json_pack("{s:o, s:I, s:I, s:I, s:I, s:I}", "arm", sg_json_text(arm->text), "calls",
                  (json_int_t)arm->calls, "declined_calls", (json_int_t)arm->declined_calls,
                  "blocks", (json_int_t)arm->blocks, "used_calls", (json_int_t)arm->used_calls,
                  "used_instances", (json_int_t)arm->used_instances);

    for (int tried = 0; tried < SG_TRIED_COUNT; tried++) {
        char name[64];

        snprintf(name, sizeof name, "%s_ns", sg_tried_names[tried]);
        sg_json_set(&value, name, estimate_of(trial, &arm->cost[tried]));
        if (tried == SG_TRIED_SKEW) /* not a cost: no arm wins by it */
            continue;
        snprintf(name, sizeof name, "%s_above_least_ns", sg_tried_names[tried]);
        sg_json_set(&value, name, estimate_of(trial, &arm->above[tried]));
    }
    if (trial->verdict[SG_TRIED_BLOCKED] == SG_TRIED_UNKNOWN)
        sg_json_set(&value, "mean_blocked_ns", json_real(arm->cost[SG_TRIED_BLOCKED].mean));
    return value;
}

static json_t *arms_of(const struct sg_report_trial *trial)
{
    json_t *arms = json_array();

    for (uint32_t i = 0; i < trial->arm_count && arms != NULL; i++)
        sg_json_append(&arms, arm_of(trial, &trial->arms[i]));
    return arms;
}

static json_t *verdict_of(const struct sg_report_trial *trial, int tried)
{
    bool known = trial->verdict[tried] == SG_TRIED_WINNER;

    return json_pack("{s:s, s:o}", "verdict", sg_tried_verdict_names[trial->verdict[tried]],
                     "winner",
                     known ? sg_json_text(trial->arms[trial->least[tried]].text) : json_null());
}

static json_t *trial_of(const struct sg_report_trial *trial)
{
    return json_pack(
        "{s:o, s:o, s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "trial",
        sg_json_text(trial->place), "id", sg_json_id(trial->has_id, trial->id), "op",
        sg_trial_operation(trial), "function", sg_json_text(trial->function), "file",
        sg_json_text(trial->file), "line", sg_json_count(trial->line > 0, trial->line), "block",
        (json_int_t)trial->block, "rounds", (json_int_t)trial->rounds, "first_calls",
        (json_int_t)trial->first_calls, "loose_calls", (json_int_t)trial->loose_calls,
        "mixed_calls", (json_int_t)trial->mixed_calls, "arms", arms_of(trial), "blocked",
        verdict_of(trial, SG_TRIED_BLOCKED), "processor", verdict_of(trial, SG_TRIED_PROCESSOR));
}

json_t *sg_report_trials_json(const struct sg_report *report)
{
    json_t *trials = json_array();

    for (uint32_t i = 0; i < report->trial_count && trials != NULL; i++)
        sg_json_append(&trials, trial_of(&report->trials[i]));
    return trials;
}
