/* Tests calibrations as text. */
#include "core/calibration.h"
#include "lib/unit.h"

#include <math.h>

TEST("a calibration survives its text form")
{
    struct sg_calibration calibration = {{0}}, back;
    char text[SG_CALIBRATION_BYTES];

    EXPECT(sg_calibration_is_empty(&calibration));
    calibration.value[SG_CALIBRATED_LATENCY] = 0.25;
    calibration.value[SG_CALIBRATED_PROCESSORS] = 2;
    EXPECT(!sg_calibration_is_empty(&calibration));
    sg_calibration_print(&calibration, text);
    EXPECT(text_is(text, "latency_us=0.25 processors=2"));
    sg_calibration_parse(text, &back);
    for (int i = 0; i < SG_CALIBRATED_COUNT; i++)
        EXPECT(back.value[i] == calibration.value[i]);
}

TEST("the text has capacity for all values")
{
    struct sg_calibration calibration, back;
    char text[SG_CALIBRATION_BYTES];

    for (int i = 0; i < SG_CALIBRATED_COUNT; i++)
        calibration.value[i] = 123456e-9 * (i + 1);
    sg_calibration_print(&calibration, text);
    sg_calibration_parse(text, &back);
    for (int i = 0; i < SG_CALIBRATED_COUNT; i++)
        EXPECT(is_near(back.value[i], calibration.value[i], 1e-5 * calibration.value[i]));
}

TEST("malformed text gives no calibration")
{
    static const char *const texts[] = {
        "",
        " ",
        "latency_us",
        "latency_us=",
        "=1",
        "latency_us=x",
        "latency_us=-1",
        "latency_us=1e99",
        "latency_us=nan",
        "latency_us=inf",
        "latency_us=1x",
        "other_us=1 =2 = ",
        "latency_us =1",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sg_calibration calibration;

        sg_calibration_parse(texts[i], &calibration);
        EXPECT(sg_calibration_is_empty(&calibration));
    }
}

/* As a damaged log may hold them. */
TEST("values that are not finite and positive are left out")
{
    struct sg_calibration calibration = {{0}}, back;
    char text[SG_CALIBRATION_BYTES];

    calibration.value[SG_CALIBRATED_LATENCY] = NAN;
    calibration.value[SG_CALIBRATED_OVERHEAD] = INFINITY;
    calibration.value[SG_CALIBRATED_GAP] = -1;
    calibration.value[SG_CALIBRATED_COPY] = 1.5;
    sg_calibration_print(&calibration, text);
    sg_calibration_parse(text, &back);
    EXPECT(back.value[SG_CALIBRATED_COPY] == 1.5);
    back.value[SG_CALIBRATED_COPY] = 0;
    EXPECT(sg_calibration_is_empty(&back));
}
