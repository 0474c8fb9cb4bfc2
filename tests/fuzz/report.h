/* Reads a run as `stagger report` does and prints it in every form. */
#ifndef SG_TESTS_FUZZ_REPORT_H
#define SG_TESTS_FUZZ_REPORT_H

#include "fuzz/fuzz.h"
#include "report/print.h"
#include "report/report.h"

static inline void fuzz_report(const char *path)
{
    static const struct sg_print_options all;
    static const struct sg_watch watch = {.calls = true, .waitstates = true, .paths = true};
    struct sg_report report;
    FILE *out;

    if (sg_report_read(path, false, &watch, &report) != SG_OK)
        return;
    out = fopen("/dev/null", "w");
    if (out == NULL)
        abort();
    sg_report_print_text(&report, &(struct sg_print_options){.comms = true}, out);
    sg_report_print_text(&report, &all, out);
    sg_report_print_json(&report, &all, out);
    for (int table = SG_PRINT_SITES; table < SG_PRINT_TABLES; table++)
        sg_report_print_csv(&report,
                            &(struct sg_print_options){.table = (enum sg_print_table)table}, out);
    fclose(out);
    sg_report_clear(&report);
}

#endif
