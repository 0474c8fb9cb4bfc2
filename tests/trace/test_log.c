/* Tests the log's writer: limits, growth, and the contents of the disk after a kill. The reader
 * has tests of its own; here the file is inspected as bytes. */
#include "core/clocksync.h"
#include "core/file.h"
#include "lib/unit.h"
#include "trace/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int next_rank;

static struct sg_log_options options_of(uint64_t limit_bytes)
{
    struct sg_log_options options = {.directory = unit_directory(),
                                     .rank = next_rank++,
                                     .world_size = 1,
                                     .mode = SG_TRACE_OTF2,
                                     .limit_bytes = limit_bytes,
                                     .host = "host",
                                     .program = "program",
                                     .unique = "run"};

    return options;
}

static void path_of(const struct sg_log_options *options, char *path, size_t size_bytes)
{
    snprintf(path, size_bytes, "%s/" SG_LOG_NAME_FORMAT, options->directory, options->rank);
}

/* Maps the file as it is on disk now. */
static const unsigned char *map_file(const struct sg_log_options *options, size_t *size_bytes)
{
    char path[256];
    struct stat info;

    path_of(options, path, sizeof path);
    FILE *file = fopen(path, "r");
    ASSERT(file != NULL, fstat(fileno(file), &info) == 0);
    *size_bytes = (size_t)info.st_size;
    void *base = mmap(NULL, *size_bytes, PROT_READ, MAP_SHARED, fileno(file), 0);
    fclose(file);
    ASSERT(base != MAP_FAILED);
    return base;
}

static uint64_t count_kind(const unsigned char *file, size_t size_bytes, int kind)
{
    uint64_t count = 0;

    for (size_t at = SG_LOG_HEADER_BYTES; at + SG_SLOT_BYTES <= size_bytes; at += SG_SLOT_BYTES)
        count += file[at] == kind;
    return count;
}

static void append_calls(struct sg_log *log, int count)
{
    for (int i = 0; i < count; i++) {
        struct sg_record_call *call = sg_log_event_growing(log);

        if (call == NULL)
            continue;
        call->seq = (uint32_t)i;
        sg_log_publish(call, SG_RECORD_CALL);
    }
}

TEST("the log grows by segments and is cut to its used size")
{
    struct sg_log_options options = options_of(64 << 20);
    struct sg_log *log;
    size_t size_bytes;

    ASSERT(sg_log_create(&options, &log) == SG_OK);
    append_calls(log, 100000);
    EXPECT(sg_log_header(log)->dropped_events == 0);
    sg_log_close(log, SG_LOG_FINALIZED);
    const unsigned char *file = map_file(&options, &size_bytes);
    EXPECT(size_bytes == SG_LOG_HEADER_BYTES + 100000 * SG_SLOT_BYTES,
           memcmp(file, SG_LOG_MAGIC, 8) == 0,
           count_kind(file, size_bytes, SG_RECORD_CALL) == 100000);
    for (uint32_t i = 0; i < 100000; i++) {
        const struct sg_record_call *call =
            (const void *)(file + SG_LOG_HEADER_BYTES + i * SG_SLOT_BYTES);

        if (call->seq != i)
            CU_FAIL("records in order");
    }
}

TEST("events stop at the limit, definitions and statistics continue")
{
    struct sg_log_options options = options_of(1 << 20);
    struct sg_log *log;
    char text[200] = "a module's path";

    ASSERT(sg_log_create(&options, &log) == SG_OK);
    append_calls(log, 20000);
    EXPECT(sg_log_header(log)->next_slot == 16384,
           sg_log_header(log)->dropped_events == 20000 - 16384);
    struct sg_record_site *site = sg_log_definition(log, text, sizeof text);
    EXPECT(site != NULL, sg_log_entry(log, SG_STAT_SLOTS) != NULL);
    append_calls(log, 10);
    EXPECT(sg_log_header(log)->dropped_events == 20010 - 16384);
    sg_log_close(log, SG_LOG_FINALIZED);
}

TEST("a definition's text is stored in the slots after it")
{
    struct sg_log_options options = options_of(1 << 20);
    struct sg_log *log;
    char text[150];
    const struct sg_record_cont *cont;
    size_t size_bytes;

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i % 26);
    ASSERT(sg_log_create(&options, &log) == SG_OK);
    struct sg_record_site *site = sg_log_definition(log, text, sizeof text);
    site->text_bytes = sizeof text;
    sg_log_publish(site, SG_RECORD_SITE);
    sg_log_close(log, SG_LOG_FINALIZED);
    const unsigned char *file = map_file(&options, &size_bytes);
    EXPECT(size_bytes == SG_LOG_HEADER_BYTES + 4 * SG_SLOT_BYTES,
           count_kind(file, size_bytes, SG_RECORD_CONT) == 3);
    for (unsigned part = 0; part < 3; part++) {
        size_t left = sizeof text - part * SG_CONT_BYTES;

        cont = (const void *)(file + SG_LOG_HEADER_BYTES + (1 + part) * SG_SLOT_BYTES);
        EXPECT(cont->part == part, memcmp(cont->data, text + part * SG_CONT_BYTES,
                                          left < SG_CONT_BYTES ? left : SG_CONT_BYTES) == 0);
    }
}

/* In a child, because the limit stays: events stop at it, no SIGXFSZ, statistics go on. */
TEST("RLIMIT_FSIZE stops events and raises no signal")
{
    struct sg_log_options options = options_of(64 << 20);
    int status;
    pid_t child = fork();

    if (child == 0) {
        struct rlimit limit = {.rlim_cur = 3 << 20, .rlim_max = 3 << 20};
        struct sg_log *log;

        setrlimit(RLIMIT_FSIZE, &limit);
        if (sg_log_create(&options, &log) != SG_OK)
            _exit(2);
        append_calls(log, 100000);
        if (sg_log_header(log)->dropped_events == 0)
            _exit(3);
        if (sg_log_header(log)->dropped_events > 100000 - 30000)
            _exit(4);
        if (sg_log_entry(log, SG_STAT_SLOTS) == NULL)
            _exit(5);
        sg_log_close(log, SG_LOG_FINALIZED);
        _exit(0);
    }
    EXPECT(waitpid(child, &status, 0) == child, WIFEXITED(status), WEXITSTATUS(status) == 0);
}

TEST("a log that cannot be created leaves no file")
{
    struct sg_log_options options = options_of(1 << 20);
    int status;
    pid_t child = fork();

    if (child == 0) {
        struct rlimit limit = {.rlim_cur = 4096, .rlim_max = 4096};
        struct sg_log *log;
        char path[256];

        setrlimit(RLIMIT_FSIZE, &limit);
        path_of(&options, path, sizeof path);
        _exit(sg_log_create(&options, &log) != SG_ERR_SYSTEM ? 1
              : errno != ENOSPC                              ? 2
              : access(path, F_OK) == 0                      ? 3
                                                             : 0);
    }
    EXPECT(waitpid(child, &status, 0) == child, WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST("an existing log is never overwritten")
{
    struct sg_log_options options = options_of(1 << 20);
    struct sg_log *log, *other;

    ASSERT(sg_log_create(&options, &log) == SG_OK);
    EXPECT(sg_log_create(&options, &other) == SG_ERR_SYSTEM, errno == EEXIST);
    sg_log_close(log, SG_LOG_FINALIZED);
}

TEST("records are in the file after SIGKILL")
{
    struct sg_log_options options = options_of(64 << 20);
    size_t size_bytes;
    int status;
    pid_t child = fork();

    if (child == 0) {
        struct sg_log *log;

        if (sg_log_create(&options, &log) == SG_OK)
            append_calls(log, 5000);
        raise(SIGKILL);
    }
    EXPECT(waitpid(child, &status, 0) == child, WIFSIGNALED(status));
    const unsigned char *file = map_file(&options, &size_bytes);
    EXPECT(count_kind(file, size_bytes, SG_RECORD_CALL) == 5000,
           ((const struct sg_log_header *)file)->state == SG_LOG_RUNNING);
}

#define WRITERS 4
#define EACH 20000

static void *write_many(void *context)
{
    for (int i = 0; i < EACH; i++) {
        struct sg_record_call *call = sg_log_event_growing(context);

        if (call == NULL)
            return context;
        call->seq = (uint32_t)i;
        sg_log_publish(call, SG_RECORD_CALL);
        if (i % 1000 == 0 && sg_log_definition(context, "text", 5) == NULL)
            return context;
    }
    return NULL;
}

TEST("concurrent threads append and lose nothing")
{
    struct sg_log_options options = options_of(64 << 20);
    pthread_t threads[WRITERS];
    struct sg_log *log;
    size_t size_bytes;
    void *failed;

    ASSERT(sg_log_create(&options, &log) == SG_OK);
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, write_many, log);
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(threads[i], &failed);
        EXPECT(failed == NULL);
    }
    EXPECT(sg_log_header(log)->dropped_events == 0);
    sg_log_close(log, SG_LOG_FINALIZED);
    const unsigned char *file = map_file(&options, &size_bytes);
    EXPECT(count_kind(file, size_bytes, SG_RECORD_CALL) == WRITERS * EACH,
           count_kind(file, size_bytes, SG_RECORD_CONT) == WRITERS * EACH / 1000);
}

/* A reader of the same file, as another process is one. */
static bool lives(const struct sg_log_options *options)
{
    char path[300];
    struct sg_log_header header;

    snprintf(path, sizeof path, "%s/" SG_LOG_NAME_FORMAT, options->directory, options->rank);
    int file = open(path, O_RDONLY);
    ASSERT(file >= 0, read(file, &header, sizeof header) == sizeof header);
    header.pid++; /* as if it were not us who ask */
    bool lives = sg_lock_writer_lives(file, &header);
    close(file);
    return lives;
}

/* The writer lives until it lets go, whatever forked children and readers do. */
TEST("the writer counts as alive until it releases the lock, despite children and readers")
{
    struct sg_log_options options = options_of(64 << 20);
    struct sg_log *log;
    int orders[2], answers[2];
    char byte = 0;

    ASSERT(sg_log_create(&options, &log) == SG_OK);
    ASSERT(sg_log_header(log)->is_locked); /* temporary files' systems have locks */
    ASSERT((pipe(orders) | pipe(answers)) == 0);
    pid_t child = fork();
    if (child == 0) {
        sg_log_forget(log);
        close(orders[1]);
        (void)!write(answers[1], &byte, 1);
        _exit(read(orders[0], &byte, 1) != 0); /* lives on until it is let go */
    }
    ASSERT(read(answers[0], &byte, 1) == 1);
    EXPECT(lives(&options));
    EXPECT(lives(&options)); /* looking did not change it */
    sg_log_finish(log, SG_LOG_FINALIZED);
    EXPECT(lives(&options));
    sg_log_close(log, SG_LOG_FINALIZED);
    EXPECT(!lives(&options));
    close(orders[0]);
    close(orders[1]);
    waitpid(child, NULL, 0);
    close(answers[0]);
    close(answers[1]);
}

/* Without locks the process tells: itself, not another that has its number now. */
TEST("without file locks the process id and start time show whether the writer lives")
{
    struct sg_log_header header = {.machine = sg_clocksync_machine(), .pid = (uint32_t)getppid()};

    header.pid_start = sg_procfs_stat((int32_t)header.pid).start;
    EXPECT(header.pid_start > 0, sg_lock_writer_lives(-1, &header));
    header.pid_start++;
    EXPECT(!sg_lock_writer_lives(-1, &header));
    header.pid_start--;
    header.machine++;
    EXPECT(!sg_lock_writer_lives(-1, &header));
    header.machine--;
    header.pid = (uint32_t)getpid(); /* one's own log is one to read */
    header.pid_start = sg_procfs_stat((int32_t)header.pid).start;
    EXPECT(!sg_lock_writer_lives(-1, &header));
}

/* A handler uses what ordinary calls have made ready, and drops beyond that. */
TEST("a handler never grows the file")
{
    struct sg_log_options options = options_of(64 << 20);
    struct sg_log *log;
    int taken = 0;

    ASSERT(sg_log_create(&options, &log) == SG_OK);
    uint64_t allocated = sg_log_header(log)->allocated_slots;
    while (sg_log_event(log) != NULL)
        taken++;
    EXPECT(sg_log_header(log)->allocated_slots == allocated, taken > 4096,
           sg_log_header(log)->dropped_events == 1, sg_log_event_growing(log) != NULL,
           sg_log_event(log) != NULL);
    sg_log_close(log, SG_LOG_FINALIZED);
}
