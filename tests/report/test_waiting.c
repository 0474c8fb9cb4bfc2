/* Tests the lines that reports print about waiting, by the figures in the logs' headers. */
#include "core/text.h"
#include "report/report.h"
#include "report/report_print.h"
#include "trace/export_setup.h"

struct waiting {
    uint32_t mode; /* as the header has it */
    int ranks, processors, quota;
    uint64_t yields, sleeps; /* each of 50 and 1000 ns, of rank 0; rank 1 has twice as many */
    const char *hook;
    bool apart;
};

static void write_logs(const char *directory, const struct waiting *waiting)
{
    for (int rank = 0; rank < 2; rank++) {
        uint64_t times = (uint64_t)rank + 1;
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        log.header.finalize_begin_ns = 11000;
        log.header.wait_mode = waiting->mode;
        log.header.wait_ranks = waiting->ranks;
        log.header.wait_processors = waiting->processors;
        log.header.wait_quota = waiting->quota;
        log.header.wait_apart = waiting->apart;
        strcpy(log.header.wait_hook, waiting->hook);
        log.header.yields = times * waiting->yields;
        log.header.yield_ns = 50 * times * waiting->yields;
        log.header.sleeps = times * waiting->sleeps;
        log.header.sleep_ns = 1000 * times * waiting->sleeps;
        fabricate_site(&log, 1, 0xa, "/opt/bin/cg", "", 0x10);
        fabricate_call(&log, SG_OPERATION_BARRIER, 0, 0, 2000, 2100)->site = 1;
        fabricate_finish(&log, directory);
    }
}

/* Reads logs written by hand, through an archive. tests/report/report.sh has their figures. */
static void read_archive(const struct waiting *waiting, struct sg_report *report)
{
    static int number;
    char name[16];

    snprintf(name, sizeof name, "archive%d", number++);
    const char *directory = setup_directory(name);
    write_logs(directory, waiting);
    ASSERT(setup_export(directory) == SG_OK,
           sg_report_read(directory, false, NULL, report) == SG_OK);
}

static const struct waiting known = {1 + SG_WAIT_SLEEP, 2, 8, 1, 10, 2, "ucx", false};

/* The lines of a report that begin in that way: how many, and the last one in line. */
static int lines_of(const struct sg_report *report, const char *begin, char line[256])
{
    struct sg_print_options options = {.all = true};
    char *text, *rest = NULL;
    int count = 0;

    text = PRINTED(EXPECT(sg_report_print_text(report, &options, stream) == SG_OK));
    line[0] = '\0';
    for (char *at = strtok_r(text, "\n", &rest); at != NULL; at = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(at, begin, strlen(begin)) != 0)
            continue;
        snprintf(line, 256, "%s", at);
        count++;
    }
    free(text);
    return count;
}

/* Expects the report's lines on waiting; NULL: no such line. */
static void expect_lines(const struct waiting *waiting, const char *oversubscribed,
                         const char *waited)
{
    struct sg_report report;
    char line[256];

    read_archive(waiting, &report);
    report.ranks_run_ns = 20000;
    EXPECT(lines_of(&report, "  oversubscribed", line) == (oversubscribed != NULL));
    if (oversubscribed != NULL)
        EXPECT(text_is(line, oversubscribed));
    EXPECT(lines_of(&report, "  waiting ", line) == (waited != NULL));
    if (waited != NULL)
        EXPECT(text_is(line, waited));
    sg_report_clear(&report);
}

TEST("a quota makes a run oversubscribed")
{
    expect_lines(
        &known,
        "  oversubscribed        2 ranks on a quota of 1 processor: waiting ranks yielded the "
        "processor;",
        "  waiting               yielded 750ns and slept 3.00us a rank, 7.5% and 30.0% of the run");
}

TEST("the number of processors makes a run oversubscribed")
{
    const struct waiting eight = {1 + SG_WAIT_AUTO, 8, 2, 0, 10, 0, "ucx", false};

    expect_lines(
        &eight,
        "  oversubscribed        8 ranks on 2 processors: waiting ranks yielded the processor;",
        "  waiting               yielded 750ns a rank, 7.5% of the run");
}

TEST("without a hook the report states that MPICH itself spun")
{
    const struct waiting hookless = {1 + SG_WAIT_AUTO, 2, 2, 0, 10, 0, "", false};

    expect_lines(
        &hookless, NULL,
        "  waiting               yielded 750ns a rank, 7.5% of the run; MPICH itself spun");
}

TEST("a run with enough processors that only spun is reported in one word")
{
    const struct waiting spinning = {1 + SG_WAIT_AUTO, 2, 2, 2, 0, 0, "ucx", false};

    expect_lines(&spinning, NULL, "  waiting               spun");
}

TEST("one of several machines is named, and all ranks are counted")
{
    struct sg_report report;
    char line[256];

    read_archive(&known, &report);
    report.waiting.short_ranks = 14;
    EXPECT(lines_of(&report, "                        on ", line) == 1,
           text_is(line,
                   "                        on fabricated, and in all 14 ranks on such machines"));
    sg_report_clear(&report);
}

TEST("ranks in different autogroups are named if processors are few")
{
    const struct waiting four = {1 + SG_WAIT_AUTO, 4, 2, 0, 10, 2, "ucx", true};
    const struct waiting enough = {1 + SG_WAIT_AUTO, 2, 2, 0, 0, 0, "ucx", true};
    struct sg_report report;
    char line[256];

    read_archive(&four, &report);
    EXPECT(report.waiting.apart_ranks == 2,
           lines_of(&report, "                        ranks in different autogroups", line) == 1);
    sg_report_clear(&report);
    read_archive(&enough, &report);
    EXPECT(report.waiting.apart_ranks == 0);
    sg_report_clear(&report);
}

TEST("logs without wait figures give no line")
{
    const struct waiting old = {.hook = ""};
    const struct waiting later = {1 + SG_WAIT_MODE_COUNT, 8, 2, 0, 10, 2, "ucx", false};
    struct sg_report report;

    expect_lines(&old, NULL, NULL);
    expect_lines(&later, NULL, NULL);
    read_archive(&old, &report);
    EXPECT(report.waiting.told == 0);
    sg_report_clear(&report);
}

TEST("a damaged header is handled safely")
{
    const struct waiting odd = {1 + SG_WAIT_AUTO, -8, 2, -1, 0, 0, "\33[2J", false};
    struct sg_report report;

    read_archive(&odd, &report);
    EXPECT(report.waiting.told == 2, report.waiting.ranks == 0, report.waiting.short_ranks == 0,
           strchr(report.waiting.hook, '\33') == NULL);
    sg_report_clear(&report);
}
