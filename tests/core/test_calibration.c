/* Tests calibrations as text. */
#include "core/calibration.h"
#include "lib/unit.h"

#include <math.h>

static void round_trip(void)
{
    struct sg_calibration calibration = {{0}}, back;
    char text[SG_CALIBRATION_BYTES];

    CU_ASSERT_TRUE(sg_calibration_is_empty(&calibration));
    calibration.value[SG_CALIBRATED_LATENCY] = 0.25;
    calibration.value[SG_CALIBRATED_PROCESSORS] = 2;
    CU_ASSERT_FALSE(sg_calibration_is_empty(&calibration));
    sg_calibration_print(&calibration, text);
    CU_ASSERT_STRING_EQUAL(text, "latency_us=0.25 processors=2");
    sg_calibration_parse(text, &back);
    for (int i = 0; i < SG_CALIBRATED_COUNT; i++)
        CU_ASSERT_EQUAL(back.value[i], calibration.value[i]);
}

static void all_fit(void)
{
    struct sg_calibration calibration, back;
    char text[SG_CALIBRATION_BYTES];

    for (int i = 0; i < SG_CALIBRATED_COUNT; i++)
        calibration.value[i] = 123456e-9 * (i + 1);
    sg_calibration_print(&calibration, text);
    sg_calibration_parse(text, &back);
    for (int i = 0; i < SG_CALIBRATED_COUNT; i++)
        CU_ASSERT_DOUBLE_EQUAL(back.value[i], calibration.value[i], 1e-5 * calibration.value[i]);
}

static void nonsense(void)
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
        CU_ASSERT_TRUE(sg_calibration_is_empty(&calibration));
    }
}

/* As a damaged log may hold them. */
static void no_numbers(void)
{
    struct sg_calibration calibration = {{0}}, back;
    char text[SG_CALIBRATION_BYTES];

    calibration.value[SG_CALIBRATED_LATENCY] = NAN;
    calibration.value[SG_CALIBRATED_OVERHEAD] = INFINITY;
    calibration.value[SG_CALIBRATED_GAP] = -1;
    calibration.value[SG_CALIBRATED_COPY] = 1.5;
    sg_calibration_print(&calibration, text);
    sg_calibration_parse(text, &back);
    CU_ASSERT_EQUAL(back.value[SG_CALIBRATED_COPY], 1.5);
    back.value[SG_CALIBRATED_COPY] = 0;
    CU_ASSERT_TRUE(sg_calibration_is_empty(&back));
}

const struct unit_test unit_tests[] = {
    {"a calibration is read back from its text", round_trip},
    {"all values have room in the text", all_fit},
    {"what is no calibration is none", nonsense},
    {"what is no number is left out", no_numbers},
    {NULL, NULL},
};
