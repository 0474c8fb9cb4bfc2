/* Tests how a run's measurements of its machine get from a log's header by way of the archive to
 * the report. */
#include "report/report.h"
#include "trace/export_setup.h"

/* rank: whose log has it; -1: none. */
static void read_back(const char *name, int holder, struct sg_report *out)
{
    const char *directory = setup_directory(name);

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        if (rank == holder) {
            log.header.calibration[SG_CALIBRATED_LATENCY] = 1.5;
            log.header.calibration[SG_CALIBRATED_RANKS] = 2;
        }
        fabricate_call(&log, SG_OPERATION_BARRIER, 0, 0, 2000, 2100);
        fabricate_finish(&log, directory);
    }
    ASSERT(setup_export(directory) == SG_OK, sg_report_read(directory, false, NULL, out) == SG_OK);
}

TEST("a calibration is kept from any log that has one")
{
    for (int holder = 0; holder < 2; holder++) {
        struct sg_report report;

        read_back(holder == 0 ? "first" : "second", holder, &report);
        EXPECT(report.calibration.value[SG_CALIBRATED_LATENCY] == 1.5,
               report.calibration.value[SG_CALIBRATED_RANKS] == 2,
               report.calibration.value[SG_CALIBRATED_COPY] == 0);
        sg_report_clear(&report);
    }
}

TEST("logs without a calibration give none")
{
    struct sg_report report;

    read_back("none", -1, &report);
    EXPECT(sg_calibration_is_empty(&report.calibration));
    sg_report_clear(&report);
}
