#include "compare/run_spread.h"

#include <math.h>

void sg_run_means_add(struct sg_run_means *means, double mean)
{
    double before = mean - means->mean;

    means->count++;
    means->mean += before / means->count;
    means->squares_sum += before * (mean - means->mean);
}

/* Student's t that 2.5 % exceed. Between whole degrees of freedom it is interpolated linearly in
 * their inverses, which gives slightly too much. */
static double student(double degrees)
{
    static const double table[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                   2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                   2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                   2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
    const int count = sizeof table / sizeof table[0];
    int whole = (int)degrees;
    double above;

    if (whole >= count)
        return 1.96 + 2.46 / degrees;
    if (whole < 1)
        return table[0];
    above = (degrees - whole) * (whole + 1) / degrees;
    return table[whole - 1] + above * (table[whole] - table[whole - 1]);
}

static double variance_of(const struct sg_run_means *means, const struct sg_run_means *other)
{
    const struct sg_run_means *of = means->count > 1 ? means : other;

    return of->squares_sum / (of->count - 1);
}

struct sg_difference sg_run_spread(const struct sg_run_means *a, const struct sg_run_means *b)
{
    struct sg_difference out = {.verdict = SG_VERDICT_FEW};
    double difference = b->mean - a->mean, of_a, of_b, degrees, margin = 0;

    if (a->count == 0 || b->count == 0 || a->count + b->count < 3)
        return out;
    of_a = variance_of(a, b) / a->count;
    of_b = variance_of(b, a) / b->count;
    if (a->count == 1 || b->count == 1)
        degrees = (double)a->count + b->count - 2;
    else
        degrees = (of_a + of_b) * (of_a + of_b) /
                  (of_a * of_a / (a->count - 1) + of_b * of_b / (b->count - 1));
    if (of_a + of_b > 0)
        margin = student(degrees) * sqrt(of_a + of_b);
    out.low = difference - margin;
    out.high = difference + margin;
    sg_difference_judge(&out);
    return out;
}
