/* How one clock runs against the global one, from measurements with known errors.
 *
 *     global = local + offset(local)
 *
 * A measurement says: at this local time the offset is this, within so much. The model is a line
 * through the measurements, weighted by their precision, once they span a second at least: a slope
 * of two offsets that lie closer together is wrong by more than what clocks drift apart meanwhile.
 * Before that it is the last offset alone.
 *
 * The error is a bound, not an estimate, as long as the clocks run at constant rates up to
 * SG_CLOCK_WANDER: the true offset is a line, too, and passes each measurement within its error, so
 * that the two lines are apart by no more than their distances at the first and the last
 * measurement allow. A single offset is bounded by the rate at which any two clocks may drift
 * apart.
 *
 * Pure functions of the model; no libm.
 */
#ifndef SG_CORE_CLOCKMODEL_H
#define SG_CORE_CLOCKMODEL_H

#include <stdbool.h>
#include <stdint.h>

/* The newest are kept. */
#define SG_CLOCK_POINTS 32
/* What measurements have to span for a drift to be made of them. */
#define SG_CLOCK_BASELINE_NS UINT64_C(1000000000)
/* Crystals of computers are specified within 100 parts in a million. */
#define SG_CLOCK_DRIFT_MAX 200e-6
/* How much a rate changes over the seconds that a model is used for. */
#define SG_CLOCK_WANDER 1e-7

struct sg_clock_measurement {
    uint64_t local_ns;
    int64_t offset_ns; /* to add to a local time */
    uint64_t error_ns; /* at most so far from the truth */
};

/* Zeroes are a model without a measurement. */
struct sg_clock_model {
    bool exact; /* it is the global clock, and needs no measurement */
    uint32_t count;
    struct sg_clock_measurement points[SG_CLOCK_POINTS]; /* in the order of time */
    double drift;                                        /* of the offset: ns a ns */
    double intercept_ns; /* what the line has at the last point beyond that point's offset */
    double first_error_ns, last_error_ns; /* of the line, at the first and last point */
};

/* A measurement later than all so far. One that says less than the model does already, as on a
 * machine that was busy, is left out. */
void sg_clock_model_add(struct sg_clock_model *model, const struct sg_clock_measurement *point);

/* The rest wants one measurement at least, or an exact model. */
uint64_t sg_clock_model_global(const struct sg_clock_model *model, uint64_t local_ns);
uint64_t sg_clock_model_local(const struct sg_clock_model *model, uint64_t global_ns);

/* How far sg_clock_model_global may be from the truth at that local time. */
uint64_t sg_clock_model_error(const struct sg_clock_model *model, uint64_t local_ns);

#endif
