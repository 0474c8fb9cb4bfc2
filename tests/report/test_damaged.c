/* Tests archives and directories that cannot be read: each gets one line and an error, none a
 * crash. */
#include "core/capture.h"
#include "lib/unit.h"
#include "report/known.h"
#include "report/logs.h"
#include "report/report.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[PATH_MAX];

/* OTF2 itself leaks what it had of an archive whose anchor it refuses. */
const char *__lsan_default_suppressions(void) __attribute__((visibility("default")));
const char *__lsan_default_suppressions(void)
{
    return "leak:otf2_archive_open\nleak:otf2_file_posix_open\n";
}

static const char *in_directory(const char *name)
{
    static char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void fresh_directory(void)
{
    static int number;

    snprintf(directory, sizeof directory, "%s/%d", unit_directory(), number++);
    CU_ASSERT_EQUAL_FATAL(mkdir(directory, 0777), 0);
}

static void fresh_archive(bool no_events)
{
    static struct archive archive;

    fresh_directory();
    known_run(&archive);
    archive.no_events = no_events;
    archive_write(&archive, directory);
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(in_directory(name), "wb");

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
}

/* path is refused with one line that holds the text. */
static bool is_refused(const char *path, const char *text)
{
    struct capture capture;
    struct sg_report report;
    enum sg_status status;
    bool refused;
    char *said;

    capture_begin(&capture);
    status = sg_report_read(path, false, NULL, &report);
    said = capture_end(&capture);
    if (status == SG_OK)
        sg_report_clear(&report);
    refused = status != SG_OK && strncmp(said, "stagger: ", 9) == 0 &&
              strchr(said, '\n') == said + strlen(said) - 1 && strstr(said, text) != NULL;
    if (!refused)
        printf("# %s: status %d, said: %s\n", path, (int)status, said);
    free(said);
    return refused;
}

static void test_missing(void)
{
    fresh_directory();
    CU_ASSERT_TRUE(is_refused(in_directory("nowhere"), "No such file"));
    CU_ASSERT_TRUE(is_refused(directory, "neither traces.otf2 nor rank-*.log"));
}

static void test_foreign_file(void)
{
    fresh_directory();
    write_file("traces.otf2", "this is a letter, not an archive\n");
    CU_ASSERT_TRUE(is_refused(directory, "not an OTF2 archive"));
    CU_ASSERT_TRUE(is_refused(in_directory("traces.otf2"), "not an OTF2 archive"));
    write_file("traces.otf2", "");
    CU_ASSERT_TRUE(is_refused(directory, "not an OTF2 archive"));
}

static void test_no_events(void)
{
    fresh_archive(true);
    CU_ASSERT_TRUE(is_refused(directory, "without events"));
}

static long size_of(const char *name)
{
    struct stat info;

    CU_ASSERT_EQUAL_FATAL(stat(in_directory(name), &info), 0);
    return (long)info.st_size;
}

/* Lengths from nothing to three bytes short: the last ones only end a file. */
static void test_cut(void)
{
    static const char *const names[] = {"traces.otf2", "traces.def", "traces/1.def", "traces/0.evt",
                                        "traces/4294967296.evt"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        long size_bytes, step;

        fresh_archive(false);
        size_bytes = size_of(names[i]);
        step = size_bytes > 500 ? 61 : 7;
        for (long length = size_bytes - 3; length >= 0; length -= step) {
            CU_ASSERT_EQUAL_FATAL(truncate(in_directory(names[i]), length), 0);
            CU_ASSERT_TRUE(is_refused(directory, "traces.otf2: "));
        }
        CU_ASSERT_EQUAL_FATAL(truncate(in_directory(names[i]), 0), 0);
        CU_ASSERT_TRUE(is_refused(directory, "traces.otf2: "));
    }
}

static void test_removed(void)
{
    static const char *const names[] = {"traces.def", "traces/0.evt"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        fresh_archive(false);
        CU_ASSERT_EQUAL_FATAL(unlink(in_directory(names[i])), 0);
        CU_ASSERT_TRUE(is_refused(directory, "traces.otf2: "));
    }
}

/* Without its local definitions a location has no clock: that is told, not fatal. */
static void test_no_clock(void)
{
    struct sg_report report;

    fresh_archive(false);
    CU_ASSERT_EQUAL_FATAL(unlink(in_directory("traces/3.def")), 0);
    CU_ASSERT_EQUAL_FATAL(sg_report_read(directory, false, NULL, &report), SG_OK);
    CU_ASSERT_EQUAL(report.locations_without_offset, 1);
    sg_report_clear(&report);
}

static void test_unrecovered(void)
{
    struct log_writer log;

    fresh_directory();
    log_begin(&log, directory, 0, 1, SG_TRACE_OTF2, SG_LOG_RUNNING);
    log_end(&log);
    CU_ASSERT_TRUE(is_refused(directory, "stagger recover "));
}

static void test_no_log(void)
{
    fresh_directory();
    write_file("rank-000000.log", "not a log\n");
    CU_ASSERT_TRUE(is_refused(directory, "rank-000000.log"));
}

/* Logs of another run beside a partial archive. */
static void test_other_logs(void)
{
    static struct archive archive;
    struct log_writer log;

    fresh_directory();
    known_run(&archive);
    archive.partial = "1";
    archive_write(&archive, directory);
    log_begin(&log, directory, 0, 1, SG_TRACE_OTF2, SG_LOG_FINALIZED);
    log_end(&log);
    CU_ASSERT_TRUE(is_refused(directory, "there are logs of 1 ranks, but the archive is of 4"));
}

const struct unit_test unit_tests[] = {
    {"a path that is not there and a directory without a trace are refused", test_missing},
    {"files that are no archive are refused", test_foreign_file},
    {"an archive without events is refused", test_no_events},
    {"an archive cut short anywhere in any of its files is refused", test_cut},
    {"an archive that lacks a file is refused", test_removed},
    {"a location without clock offsets among others is told", test_no_clock},
    {"logs of a run without an archive point to stagger recover", test_unrecovered},
    {"a file that is no log is refused", test_no_log},
    {"logs of another run beside a partial archive are refused", test_other_logs},
    {NULL, NULL},
};
