/* Reads and writes calibrations as text, the form in which an archive's property holds them. */
#include "core/calibration.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST 1e9
#define NAME_BYTES 48

const char *const sg_calibrated_names[SG_CALIBRATED_COUNT] = {
    [SG_CALIBRATED_LATENCY] = "latency_us",
    [SG_CALIBRATED_OVERHEAD] = "overhead_us",
    [SG_CALIBRATED_GAP] = "gap_ns_per_byte",
    [SG_CALIBRATED_INSIDE_LATENCY] = "inside_latency_us",
    [SG_CALIBRATED_INSIDE_OVERHEAD] = "inside_overhead_us",
    [SG_CALIBRATED_INSIDE_GAP] = "inside_gap_ns_per_byte",
    [SG_CALIBRATED_COPY] = "copy_ns_per_byte",
    [SG_CALIBRATED_REDUCE] = "reduce_ns_per_byte",
    [SG_CALIBRATED_SIGNAL] = "signal_us",
    [SG_CALIBRATED_WAKE] = "wake_us",
    [SG_CALIBRATED_LOCAL] = "local_us",
    [SG_CALIBRATED_SLICE] = "slice_us",
    [SG_CALIBRATED_PROCESSORS] = "processors",
    [SG_CALIBRATED_RANKS] = "ranks",
    [SG_CALIBRATED_SPREAD] = "spread",
    [SG_CALIBRATED_SAMPLES] = "samples",
};

void sg_calibration_print(const struct sg_calibration *calibration, char text[SG_CALIBRATION_BYTES])
{
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < SG_CALIBRATED_COUNT && used < SG_CALIBRATION_BYTES; i++) {
        if (calibration->value[i] > 0)
            used += (size_t)snprintf(text + used, SG_CALIBRATION_BYTES - used, "%s%s=%.6g",
                                     used > 0 ? " " : "", sg_calibrated_names[i],
                                     calibration->value[i]);
    }
}

static void take(const char *name, size_t length, double value, struct sg_calibration *out)
{
    for (int i = 0; i < SG_CALIBRATED_COUNT; i++) {
        if (strlen(sg_calibrated_names[i]) == length &&
            memcmp(sg_calibrated_names[i], name, length) == 0)
            out->value[i] = value;
    }
}

void sg_calibration_parse(const char *text, struct sg_calibration *out)
{
    *out = (struct sg_calibration){{0}};
    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        size_t length = strcspn(text, "= ");

        if (length < word && length < NAME_BYTES &&
            (isdigit((unsigned char)text[length + 1]) || text[length + 1] == '.')) {
            char *end;
            double value = strtod(text + length + 1, &end);

            if (end == text + word && isfinite(value) && value >= 0 && value <= LARGEST)
                take(text, length, value, out);
        }
        text += word;
        text += strspn(text, " ");
    }
}
