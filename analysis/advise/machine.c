#include "advise/machine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The values that the simulator's network takes from a calibration. */
static const struct {
    enum sg_calibrated from;
    bool both; /* the same inside a node and between nodes */
} taken[] = {
    {SG_CALIBRATED_LATENCY, false}, {SG_CALIBRATED_OVERHEAD, false}, {SG_CALIBRATED_GAP, false},
    {SG_CALIBRATED_COPY, true},     {SG_CALIBRATED_REDUCE, true},    {SG_CALIBRATED_SIGNAL, true},
    {SG_CALIBRATED_WAKE, true},     {SG_CALIBRATED_LOCAL, true},
};

static void set(struct sg_network *network, const char *key, double value)
{
    char assignment[80];

    snprintf(assignment, sizeof assignment, "%s=%.9f", key, value);
    sg_network_set(network, assignment);
}

static void borrow(struct sg_machine *machine, const char *key)
{
    size_t used = strlen(machine->borrowed);

    snprintf(machine->borrowed + used, sizeof machine->borrowed - used, "%s%s",
             used > 0 ? ", " : "", key);
}

/* Messages inside a node, if they were not measured. */
static void derive_inside(struct sg_machine *machine)
{
    double local_us = machine->between.local_us;

    machine->inside = machine->between;
    machine->inside.latency_us = local_us;
    machine->inside.overhead_us = local_us;
    machine->inside.gap_ns_per_byte = machine->between.copy_ns_per_byte;
}

/* With several nodes `between` is needed, with one node `inside`: a run of one kind does not lack
 * what only the other kind can measure. */
static void take(const struct sg_calibration *calibration, struct sg_machine *machine)
{
    const double *value = calibration->value;
    bool several = value[SG_CALIBRATED_LATENCY] > 0;

    machine->knows_between = several;
    machine->knows_signal = value[SG_CALIBRATED_SIGNAL] > 0;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        const char *key = sg_calibrated_names[taken[i].from];

        if (value[taken[i].from] > 0)
            set(&machine->between, key, value[taken[i].from]);
        else if (taken[i].both && taken[i].from != SG_CALIBRATED_SIGNAL)
            borrow(machine, key);
    }
    derive_inside(machine);
    if (value[SG_CALIBRATED_INSIDE_LATENCY] > 0) {
        machine->inside.latency_us = value[SG_CALIBRATED_INSIDE_LATENCY];
        machine->inside.overhead_us = value[SG_CALIBRATED_INSIDE_OVERHEAD];
        machine->inside.gap_ns_per_byte = value[SG_CALIBRATED_INSIDE_GAP];
    } else if (several) {
        /* Every rank is a node of its own. */
        machine->inside.latency_us = value[SG_CALIBRATED_LATENCY];
        machine->inside.overhead_us = value[SG_CALIBRATED_OVERHEAD];
        machine->inside.gap_ns_per_byte = value[SG_CALIBRATED_GAP];
    }
    machine->slice_us = value[SG_CALIBRATED_SLICE];
    machine->spread = value[SG_CALIBRATED_SPREAD];
    machine->samples = value[SG_CALIBRATED_SAMPLES];
    if (value[SG_CALIBRATED_PROCESSORS] > 0)
        machine->crowd = value[SG_CALIBRATED_RANKS] / value[SG_CALIBRATED_PROCESSORS];
}

enum sg_status sg_machine_make(const struct sg_calibration *calibration, const char *network,
                               struct sg_machine *out)
{
    struct sg_machine machine = {
        .asked = network != NULL, .knows_between = true, .knows_signal = true};
    enum sg_status status =
        sg_network_read("advise", network != NULL ? network : SG_MACHINE_DEFAULT, &machine.between);

    if (status != SG_OK)
        return status;
    machine.measured = network == NULL && !sg_calibration_is_empty(calibration);
    if (machine.measured)
        take(calibration, &machine);
    else
        derive_inside(&machine);
    *out = machine;
    return SG_OK;
}

bool sg_machine_was_busy(const struct sg_machine *machine)
{
    return machine->measured && (machine->spread > SG_CALIBRATED_SPREAD_MOST ||
                                 (machine->samples > 0 && machine->samples < SG_CALIBRATED_FEW));
}

double sg_machine_turn_us(const struct sg_machine *machine)
{
    return machine->crowd > 1 ? (machine->crowd - 1) * machine->slice_us : 0;
}
