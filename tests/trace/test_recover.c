/* Tests `stagger recover` as users call it, on logs made by hand. */
#include "lib/unit.h"
#include "trace/fabricate.h"
#include "trace/log.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char out[2000], err[2000];

static void read_back(const char *name, char *text, size_t size_bytes)
{
    char path[300];

    snprintf(path, sizeof path, "%s/%s", unit_directory(), name);
    FILE *file = fopen(path, "r");
    ASSERT(file != NULL);
    size_t length = fread(text, 1, size_bytes - 1, file);
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

    ASSERT(length > 0);
    self[length] = '\0';
    for (int i = 0; i < 3; i++) /* BUILD/tests/trace/test_recover */
        *strrchr(self, '/') = '\0';
    va_start(list, format);
    vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    snprintf(command, sizeof command, "cd %s && %s/stagger %s >out 2>err", unit_directory(), self,
             arguments);
    int status = system(command);
    read_back("out", out, sizeof out);
    read_back("err", err, sizeof err);
    ASSERT(WIFEXITED(status));
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
    ASSERT(mkdir(directory, 0777) == 0);
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

TEST("stagger recover makes an archive, reports it in one line and keeps the logs")
{
    make_logs("whole", SG_TRACE_OTF2, SG_LOG_VERSION, SG_LOG_FINALIZED);
    EXPECT(stagger("recover whole") == 0,
           text_is(out, "whole/traces.otf2: 6 calls of 2 ranks, 0 dropped\n"), text_is(err, ""),
           exists("whole/traces.otf2"), exists("whole/rank-000000.log"),
           exists("whole/rank-000001.log"));
}

TEST("stagger recover reports partial if a rank did not end or its log is cut off or lost")
{
    char path[300];

    make_logs("killed", SG_TRACE_OTF2, SG_LOG_VERSION, SG_LOG_RUNNING);
    EXPECT(stagger("recover killed") == 0,
           text_is(out, "killed/traces.otf2: 6 calls of 2 ranks, 0 dropped, partial\n"));
    make_logs("lost", SG_TRACE_OTF2, SG_LOG_VERSION, SG_LOG_FINALIZED);
    snprintf(path, sizeof path, "%s/lost/rank-000001.log", unit_directory());
    EXPECT(unlink(path) == 0, stagger("recover lost") == 0,
           text_is(out, "lost/traces.otf2: 0 calls of 2 ranks, 3 dropped, partial\n"),
           text_is(err, "stagger: lost: no log of rank 1\n"));
    make_logs("cut", SG_TRACE_OTF2, SG_LOG_VERSION, SG_LOG_FINALIZED);
    snprintf(path, sizeof path, "%s/cut/rank-000001.log", unit_directory());
    EXPECT(truncate(path, SG_LOG_HEADER_BYTES + 2 * SG_SLOT_BYTES + 10) == 0,
           stagger("recover cut") == 0,
           text_is(out, "cut/traces.otf2: 4 calls of 2 ranks, 2 dropped, partial\n"));
}

TEST("stagger recover replaces an archive only if asked to")
{
    make_logs("twice", SG_TRACE_OTF2, SG_LOG_VERSION, SG_LOG_FINALIZED);
    EXPECT(stagger("recover twice") == 0, stagger("recover twice") == 1,
           text_is(err, "stagger: twice/traces.otf2 exists already (--force replaces "
                        "it)\n"),
           text_is(out, ""), exists("twice/traces.otf2"), stagger("recover --force twice") == 0,
           stagger("recover twice -f") == 0, exists("twice/traces.otf2"));
}

static void refuses(const char *directory, const char *reason)
{
    EXPECT(stagger("recover %s", directory) == 1, text_is(out, ""), count_lines(err) == 1,
           contains(err, reason));
}

TEST("stagger recover refuses bad input with one line and status 1")
{
    char path[300];

    make_logs("stats", SG_TRACE_STATS, SG_LOG_VERSION, SG_LOG_FINALIZED);
    refuses("stats", "stagger report reads them");
    make_logs("later", SG_TRACE_OTF2, SG_LOG_VERSION + 1, SG_LOG_FINALIZED);
    refuses("later", "log format");
    refuses("nonexistent", "No such file");
    snprintf(path, sizeof path, "%s/bare", unit_directory());
    EXPECT(mkdir(path, 0777) == 0);
    refuses("bare", "contains no logs");
    refuses("bare/../whole/rank-000000.log", "Not a directory");
    snprintf(path, sizeof path, "%s/bare/rank-000000.log", unit_directory());
    fabricate_file(path, "not a log", 9);
    refuses("bare", "cut off");
}

TEST("stagger recover refuses bad usage with one line and status 2")
{
    static const char *const usages[] = {"recover a b", "recover --nonsense a", "recover -x a"};

    for (size_t i = 0; i < sizeof usages / sizeof usages[0]; i++) {
        EXPECT(stagger("%s", usages[i]) == 2, text_is(out, ""), count_lines(err) == 1);
    }
    EXPECT(stagger("recover --help") == 0, text_is(err, ""), contains(out, "--force"));
}

TEST("stagger recover leaves alone an archive that another process is making")
{
    char path[300];

    make_logs("busy", SG_TRACE_OTF2, SG_LOG_VERSION, SG_LOG_FINALIZED);
    snprintf(path, sizeof path, "%s/busy/traces.otf2.part", unit_directory());
    int begun = open(path, O_RDWR | O_CREAT, 0666);
    ASSERT(begun >= 0 && sg_lock_take(begun));
    EXPECT(stagger("recover busy") == 1,
           text_is(err, "stagger: busy: cannot write the trace: another process is writing it\n"),
           exists("busy/traces.otf2.part"));
    close(begun); /* it was cut off */
    EXPECT(stagger("recover busy") == 0, !exists("busy/traces.otf2.part"));
}
