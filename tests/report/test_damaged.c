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

static const char *directory;

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

static void fresh_archive(bool no_events)
{
    static struct archive archive;

    directory = unit_fresh_directory();
    known_run(&archive);
    archive.no_events = no_events;
    archive_write(&archive, directory);
}

/* path is refused with one line that holds the text. */
static bool is_refused(const char *path, const char *text)
{
    struct capture capture;
    struct sg_report report;

    capture_begin(&capture);
    enum sg_status status = sg_report_read(path, false, NULL, &report);
    char *said = capture_end(&capture);
    if (status == SG_OK)
        sg_report_clear(&report);
    bool refused = status != SG_OK && strncmp(said, "stagger: ", 9) == 0 &&
                   strchr(said, '\n') == said + strlen(said) - 1 && strstr(said, text) != NULL;
    if (!refused)
        printf("# %s: status %d, said: %s\n", path, (int)status, said);
    free(said);
    return refused;
}

TEST("a missing path and a directory without a trace are refused")
{
    directory = unit_fresh_directory();
    EXPECT(is_refused(in_directory("nowhere"), "No such file"),
           is_refused(directory, "neither traces.otf2 nor rank-*.log"));
}

TEST("files that are not archives are refused")
{
    directory = unit_fresh_directory();
    unit_write("this is a letter, not an archive\n", "%s/traces.otf2", directory);
    EXPECT(is_refused(directory, "not an OTF2 archive"),
           is_refused(in_directory("traces.otf2"), "not an OTF2 archive"));
    unit_write("", "%s/traces.otf2", directory);
    EXPECT(is_refused(directory, "not an OTF2 archive"));
}

TEST("an archive without events is refused")
{
    fresh_archive(true);
    EXPECT(is_refused(directory, "without events"));
}

static long size_of(const char *name)
{
    struct stat info;

    ASSERT(stat(in_directory(name), &info) == 0);
    return (long)info.st_size;
}

/* Lengths from nothing to three bytes short: the last ones only end a file. */
TEST("an archive cut short anywhere in any of its files is refused")
{
    static const char *const names[] = {"traces.otf2", "traces.def", "traces/1.def", "traces/0.evt",
                                        "traces/4294967296.evt"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        fresh_archive(false);
        long size_bytes = size_of(names[i]);
        long step = size_bytes > 500 ? 61 : 7;
        for (long length = size_bytes - 3; length >= 0; length -= step) {
            ASSERT(truncate(in_directory(names[i]), length) == 0);
            EXPECT(is_refused(directory, "traces.otf2: "));
        }
        ASSERT(truncate(in_directory(names[i]), 0) == 0);
        EXPECT(is_refused(directory, "traces.otf2: "));
    }
}

TEST("an archive that lacks a file is refused")
{
    static const char *const names[] = {"traces.def", "traces/0.evt"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        fresh_archive(false);
        ASSERT(unlink(in_directory(names[i])) == 0);
        EXPECT(is_refused(directory, "traces.otf2: "));
    }
}

/* Without its local definitions a location has no clock: that is told, not fatal. */
TEST("a location without clock offsets among others is reported")
{
    struct sg_report report;

    fresh_archive(false);
    ASSERT(unlink(in_directory("traces/3.def")) == 0,
           sg_report_read(directory, false, NULL, &report) == SG_OK);
    EXPECT(report.locations_without_offset == 1);
    sg_report_clear(&report);
}

TEST("logs of a run without an archive point to stagger recover")
{
    struct fabricated log;

    directory = unit_fresh_directory();
    log_begin(&log, directory, 0, 1, SG_TRACE_OTF2, SG_LOG_RUNNING);
    log_end(&log);
    EXPECT(is_refused(directory, "stagger recover "));
}

TEST("a file that is not a log is refused")
{
    directory = unit_fresh_directory();
    unit_write("not a log\n", "%s/rank-000000.log", directory);
    EXPECT(is_refused(directory, "rank-000000.log"));
}

/* Logs of another run beside a partial archive. */
TEST("logs of another run beside a partial archive are refused")
{
    static struct archive archive;
    struct fabricated log;

    directory = unit_fresh_directory();
    known_run(&archive);
    archive.partial = "1";
    archive_write(&archive, directory);
    log_begin(&log, directory, 0, 1, SG_TRACE_OTF2, SG_LOG_FINALIZED);
    log_end(&log);
    EXPECT(is_refused(directory, "there are logs of 1 ranks, but the archive is of 4"));
}
