/* Tests `stagger recover` as users call it, on logs made by hand. */
#include "lib/unit.h"
#include "trace/fabricate.h"
#include "trace/log.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char out[2000], err[2000];

static void read_back(const char *name, char *text, size_t size_bytes)
{
    char path[300];
    size_t length;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", unit_directory(), name);
    file = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    length = fread(text, 1, size_bytes - 1, file);
    text[length] = '\0';
    fclose(file);
}

/* Runs the stagger of this test's build in the test's directory; its exit status. What it said is
 * in out and err. */
static __attribute__((format(printf, 1, 2))) int stagger(const char *format, ...)
{
    char self[PATH_MAX], arguments[500], command[2 * PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    va_list list;
    int status;

    CU_ASSERT_FATAL(length > 0);
    self[length] = '\0';
    for (int i = 0; i < 3; i++) /* BUILD/tests/trace/test_recover */
        *strrchr(self, '/') = '\0';
    va_start(list, format);
    vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    snprintf(command, sizeof command, "cd %s && %s/stagger %s >out 2>err", unit_directory(), self,
             arguments);
    status = system(command);
    read_back("out", out, sizeof out);
    read_back("err", err, sizeof err);
    CU_ASSERT_TRUE_FATAL(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int count_lines(const char *text)
{
    int lines = 0;

    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

static bool exists(const char *name)
{
    char path[300];
    struct stat info;

    snprintf(path, sizeof path, "%s/%s", unit_directory(), name);
    return lstat(path, &info) == 0;
}

/* Logs of two ranks with three barriers, in a fresh directory. */
static void make_logs(const char *name, enum sg_trace_mode mode, uint32_t version,
                      enum sg_log_state state)
{
    char directory[300];

    snprintf(directory, sizeof directory, "%s/%s", unit_directory(), name);
    CU_ASSERT_EQUAL_FATAL(mkdir(directory, 0777), 0);
    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        log.header.version = version;
        log.header.trace_mode = mode;
        log.header.state = state;
        for (uint32_t seq = 0; seq < 3; seq++)
            fabricate_call(&log, 0, 0, seq, 2000 + 100 * seq, 2050 + 100 * seq);
        fabricate_finish(&log, directory);
    }
}

static void makes_an_archive(void)
{
    make_logs("whole", SG_TRACE_OTF2, SG_LOG_VERSION, SG_LOG_FINALIZED);
    CU_ASSERT_EQUAL(stagger("recover whole"), 0);
    CU_ASSERT_STRING_EQUAL(out, "whole/traces.otf2: 6 calls of 2 ranks, 0 dropped\n");
    CU_ASSERT_STRING_EQUAL(err, "");
    CU_ASSERT_TRUE(exists("whole/traces.otf2"));
    CU_ASSERT_TRUE(exists("whole/rank-000000.log"));
    CU_ASSERT_TRUE(exists("whole/rank-000001.log"));
}

static void says_partial(void)
{
    char path[300];

    make_logs("killed", SG_TRACE_OTF2, SG_LOG_VERSION, SG_LOG_RUNNING);
    CU_ASSERT_EQUAL(stagger("recover killed"), 0);
    CU_ASSERT_STRING_EQUAL(out, "killed/traces.otf2: 6 calls of 2 ranks, 0 dropped, partial\n");
    make_logs("lost", SG_TRACE_OTF2, SG_LOG_VERSION, SG_LOG_FINALIZED);
    snprintf(path, sizeof path, "%s/lost/rank-000001.log", unit_directory());
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT_EQUAL(stagger("recover lost"), 0);
    CU_ASSERT_STRING_EQUAL(out, "lost/traces.otf2: 0 calls of 2 ranks, 3 dropped, partial\n");
    CU_ASSERT_STRING_EQUAL(err, "stagger: lost: no log of rank 1\n");
    make_logs("cut", SG_TRACE_OTF2, SG_LOG_VERSION, SG_LOG_FINALIZED);
    snprintf(path, sizeof path, "%s/cut/rank-000001.log", unit_directory());
    CU_ASSERT_EQUAL(truncate(path, SG_LOG_HEADER_BYTES + 2 * SG_SLOT_BYTES + 10), 0);
    CU_ASSERT_EQUAL(stagger("recover cut"), 0);
    CU_ASSERT_STRING_EQUAL(out, "cut/traces.otf2: 4 calls of 2 ranks, 2 dropped, partial\n");
}

static void replaces_only_when_told(void)
{
    make_logs("twice", SG_TRACE_OTF2, SG_LOG_VERSION, SG_LOG_FINALIZED);
    CU_ASSERT_EQUAL(stagger("recover twice"), 0);
    CU_ASSERT_EQUAL(stagger("recover twice"), 1);
    CU_ASSERT_STRING_EQUAL(err, "stagger: twice/traces.otf2 exists already (--force replaces "
                                "it)\n");
    CU_ASSERT_STRING_EQUAL(out, "");
    CU_ASSERT_TRUE(exists("twice/traces.otf2"));
    CU_ASSERT_EQUAL(stagger("recover --force twice"), 0);
    CU_ASSERT_EQUAL(stagger("recover twice -f"), 0);
    CU_ASSERT_TRUE(exists("twice/traces.otf2"));
}

static void refuses(const char *directory, const char *reason)
{
    CU_ASSERT_EQUAL(stagger("recover %s", directory), 1);
    CU_ASSERT_STRING_EQUAL(out, "");
    CU_ASSERT_EQUAL(count_lines(err), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err, reason));
}

static void refuses_bad_input(void)
{
    char path[300];

    make_logs("stats", SG_TRACE_STATS, SG_LOG_VERSION, SG_LOG_FINALIZED);
    refuses("stats", "stagger report reads them");
    make_logs("later", SG_TRACE_OTF2, SG_LOG_VERSION + 1, SG_LOG_FINALIZED);
    refuses("later", "log format");
    refuses("nonexistent", "No such file");
    snprintf(path, sizeof path, "%s/bare", unit_directory());
    CU_ASSERT_EQUAL(mkdir(path, 0777), 0);
    refuses("bare", "contains no logs");
    refuses("bare/../whole/rank-000000.log", "Not a directory");
    snprintf(path, sizeof path, "%s/bare/rank-000000.log", unit_directory());
    fabricate_file(path, "not a log", 9);
    refuses("bare", "cut off");
}

static void refuses_bad_usage(void)
{
    static const char *const usages[] = {"recover a b", "recover --nonsense a", "recover -x a"};

    for (size_t i = 0; i < sizeof usages / sizeof usages[0]; i++) {
        CU_ASSERT_EQUAL(stagger("%s", usages[i]), 2);
        CU_ASSERT_STRING_EQUAL(out, "");
        CU_ASSERT_EQUAL(count_lines(err), 1);
    }
    CU_ASSERT_EQUAL(stagger("recover --help"), 0);
    CU_ASSERT_STRING_EQUAL(err, "");
    CU_ASSERT_PTR_NOT_NULL(strstr(out, "--force"));
}

static void leaves_another_alone(void)
{
    char path[300];
    int begun;

    make_logs("busy", SG_TRACE_OTF2, SG_LOG_VERSION, SG_LOG_FINALIZED);
    snprintf(path, sizeof path, "%s/busy/traces.otf2.part", unit_directory());
    begun = open(path, O_RDWR | O_CREAT, 0666);
    CU_ASSERT_FATAL(begun >= 0 && sg_lock_take(begun));
    CU_ASSERT_EQUAL(stagger("recover busy"), 1);
    CU_ASSERT_STRING_EQUAL(
        err, "stagger: busy: cannot write the trace: another process is writing it\n");
    CU_ASSERT_TRUE(exists("busy/traces.otf2.part"));
    close(begun); /* it was cut off */
    CU_ASSERT_EQUAL(stagger("recover busy"), 0);
    CU_ASSERT_FALSE(exists("busy/traces.otf2.part"));
}

const struct unit_test unit_tests[] = {
    {"stagger recover makes an archive, says so in one line and keeps the logs", makes_an_archive},
    {"stagger recover says partial where a rank did not end, is cut off or lost", says_partial},
    {"stagger recover replaces an archive only when told to", replaces_only_when_told},
    {"stagger recover leaves an archive alone that another process is making",
     leaves_another_alone},
    {"stagger recover refuses bad input with one line and status 1", refuses_bad_input},
    {"stagger recover refuses bad usage with one line and status 2", refuses_bad_usage},
    {NULL, NULL},
};
