#include "core/clockmodel.h"

#include <string.h>

/* From one time to another, which may be the earlier. */
static double passed_ns(uint64_t from_ns, uint64_t to_ns)
{
    return (double)(int64_t)(to_ns - from_ns);
}

static int64_t rounded(double value)
{
    return (int64_t)(value < 0 ? value - 0.5 : value + 0.5);
}

static double distance(double value)
{
    return value < 0 ? -value : value;
}

static const struct sg_clock_measurement *last_of(const struct sg_clock_model *model)
{
    return &model->points[model->count - 1];
}

/* Of the line against the last point's offset, at a local time. */
static double line_ns(const struct sg_clock_model *model, uint64_t local_ns)
{
    return model->intercept_ns + model->drift * passed_ns(last_of(model)->local_ns, local_ns);
}

static double error_at_point(const struct sg_clock_model *model,
                             const struct sg_clock_measurement *point)
{
    double offset_ns = (double)(point->offset_ns - last_of(model)->offset_ns);

    return (double)point->error_ns + distance(line_ns(model, point->local_ns) - offset_ns);
}

/* Least squares, each point with the weight of its precision. */
static void fit(struct sg_clock_model *model)
{
    const struct sg_clock_measurement *last = last_of(model);
    double weights = 0, x_mean = 0, y_mean = 0, xx = 0, xy = 0;

    for (uint32_t i = 0; i < model->count; i++) {
        const struct sg_clock_measurement *point = &model->points[i];
        double weight = 1 / ((double)point->error_ns + 1) / ((double)point->error_ns + 1);

        weights += weight;
        x_mean += weight * passed_ns(last->local_ns, point->local_ns);
        y_mean += weight * (double)(point->offset_ns - last->offset_ns);
    }
    x_mean /= weights;
    y_mean /= weights;
    for (uint32_t i = 0; i < model->count; i++) {
        const struct sg_clock_measurement *point = &model->points[i];
        double weight = 1 / ((double)point->error_ns + 1) / ((double)point->error_ns + 1);
        double x = passed_ns(last->local_ns, point->local_ns) - x_mean;

        xx += weight * x * x;
        xy += weight * x * ((double)(point->offset_ns - last->offset_ns) - y_mean);
    }
    model->drift = xx > 0 ? xy / xx : 0;
    model->intercept_ns = y_mean - model->drift * x_mean;
}

static uint64_t baseline_ns(const struct sg_clock_model *model)
{
    return last_of(model)->local_ns - model->points[0].local_ns;
}

uint64_t sg_clock_model_global(const struct sg_clock_model *model, uint64_t local_ns)
{
    if (model->exact)
        return local_ns;
    return local_ns + (uint64_t)last_of(model)->offset_ns +
           (uint64_t)rounded(line_ns(model, local_ns));
}

uint64_t sg_clock_model_local(const struct sg_clock_model *model, uint64_t global_ns)
{
    const struct sg_clock_measurement *last;
    double after_ns;

    if (model->exact)
        return global_ns;
    last = last_of(model);
    after_ns = passed_ns(last->local_ns + (uint64_t)last->offset_ns, global_ns);
    after_ns -= model->intercept_ns;
    return last->local_ns + (uint64_t)rounded(after_ns / (1 + model->drift));
}

static uint64_t bound_ns(const struct sg_clock_model *model, uint64_t local_ns)
{
    double after_ns = passed_ns(last_of(model)->local_ns, local_ns);
    double before_ns = passed_ns(local_ns, model->points[0].local_ns);
    double first_ns = model->first_error_ns, last_ns = model->last_error_ns;
    double outside_ns = after_ns > 0 ? after_ns : before_ns > 0 ? before_ns : 0;
    double error_ns;

    if (baseline_ns(model) < SG_CLOCK_BASELINE_NS)
        return (uint64_t)(last_ns + SG_CLOCK_DRIFT_MAX * distance(after_ns)) + 1;
    if (outside_ns == 0)
        error_ns = first_ns > last_ns ? first_ns : last_ns;
    else
        error_ns =
            (after_ns > 0 ? last_ns : first_ns) +
            outside_ns * ((first_ns + last_ns) / (double)baseline_ns(model) + SG_CLOCK_WANDER);
    return (uint64_t)error_ns + 1;
}

uint64_t sg_clock_model_error(const struct sg_clock_model *model, uint64_t local_ns)
{
    return model->exact ? 0 : bound_ns(model, local_ns);
}

void sg_clock_model_add(struct sg_clock_model *model, const struct sg_clock_measurement *point)
{
    if (model->count > 0 && point->error_ns > sg_clock_model_error(model, point->local_ns))
        return;
    if (model->count == SG_CLOCK_POINTS) {
        memmove(model->points, model->points + 1, (SG_CLOCK_POINTS - 1) * sizeof *model->points);
        model->count--;
    }
    model->points[model->count++] = *point;
    model->drift = model->intercept_ns = 0;
    if (baseline_ns(model) >= SG_CLOCK_BASELINE_NS)
        fit(model);
    model->first_error_ns = error_at_point(model, &model->points[0]);
    model->last_error_ns = error_at_point(model, last_of(model));
}
