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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    FILE *file;
    void *base;

    path_of(options, path, sizeof path);
    file = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL_FATAL(fstat(fileno(file), &info), 0);
    *size_bytes = (size_t)info.st_size;
    base = mmap(NULL, *size_bytes, PROT_READ, MAP_SHARED, fileno(file), 0);
    fclose(file);
    CU_ASSERT_PTR_NOT_EQUAL_FATAL(base, MAP_FAILED);
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

static void test_growth(void)
{
    struct sg_log_options options = options_of(64 << 20);
    struct sg_log *log;
    const unsigned char *file;
    size_t size_bytes;

    CU_ASSERT_EQUAL_FATAL(sg_log_create(&options, &log), SG_OK);
    append_calls(log, 100000);
    CU_ASSERT_EQUAL(sg_log_header(log)->dropped_events, 0);
    sg_log_close(log, SG_LOG_FINALIZED);
    file = map_file(&options, &size_bytes);
    CU_ASSERT_EQUAL(size_bytes, SG_LOG_HEADER_BYTES + 100000 * SG_SLOT_BYTES);
    CU_ASSERT_EQUAL(memcmp(file, SG_LOG_MAGIC, 8), 0);
    CU_ASSERT_EQUAL(count_kind(file, size_bytes, SG_RECORD_CALL), 100000);
    for (uint32_t i = 0; i < 100000; i++) {
        const struct sg_record_call *call =
            (const void *)(file + SG_LOG_HEADER_BYTES + i * SG_SLOT_BYTES);

        if (call->seq != i)
            CU_FAIL("records in order");
    }
}

static void test_limit(void)
{
    struct sg_log_options options = options_of(1 << 20);
    struct sg_log *log;
    struct sg_record_site *site;
    char text[200] = "a module's path";

    CU_ASSERT_EQUAL_FATAL(sg_log_create(&options, &log), SG_OK);
    append_calls(log, 20000);
    CU_ASSERT_EQUAL(sg_log_header(log)->next_slot, 16384);
    CU_ASSERT_EQUAL(sg_log_header(log)->dropped_events, 20000 - 16384);
    site = sg_log_definition(log, text, sizeof text);
    CU_ASSERT_PTR_NOT_NULL(site);
    CU_ASSERT_PTR_NOT_NULL(sg_log_entry(log, SG_STAT_SLOTS));
    append_calls(log, 10);
    CU_ASSERT_EQUAL(sg_log_header(log)->dropped_events, 20010 - 16384);
    sg_log_close(log, SG_LOG_FINALIZED);
}

static void test_definition_text(void)
{
    struct sg_log_options options = options_of(1 << 20);
    struct sg_log *log;
    char text[150];
    struct sg_record_site *site;
    const struct sg_record_cont *cont;
    const unsigned char *file;
    size_t size_bytes;

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i % 26);
    CU_ASSERT_EQUAL_FATAL(sg_log_create(&options, &log), SG_OK);
    site = sg_log_definition(log, text, sizeof text);
    site->text_bytes = sizeof text;
    sg_log_publish(site, SG_RECORD_SITE);
    sg_log_close(log, SG_LOG_FINALIZED);
    file = map_file(&options, &size_bytes);
    CU_ASSERT_EQUAL(size_bytes, SG_LOG_HEADER_BYTES + 4 * SG_SLOT_BYTES);
    CU_ASSERT_EQUAL(count_kind(file, size_bytes, SG_RECORD_CONT), 3);
    for (unsigned part = 0; part < 3; part++) {
        size_t left = sizeof text - part * SG_CONT_BYTES;

        cont = (const void *)(file + SG_LOG_HEADER_BYTES + (1 + part) * SG_SLOT_BYTES);
        CU_ASSERT_EQUAL(cont->part, part);
        CU_ASSERT_EQUAL(memcmp(cont->data, text + part * SG_CONT_BYTES,
                               left < SG_CONT_BYTES ? left : SG_CONT_BYTES),
                        0);
    }
}

/* In a child, because the limit stays: events stop at it, no SIGXFSZ, statistics go on. */
static void test_file_size_limit(void)
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
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT_TRUE(WIFEXITED(status));
    CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
}

static void test_too_small_for_a_log(void)
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
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_never_overwrites(void)
{
    struct sg_log_options options = options_of(1 << 20);
    struct sg_log *log, *other;

    CU_ASSERT_EQUAL_FATAL(sg_log_create(&options, &log), SG_OK);
    CU_ASSERT_EQUAL(sg_log_create(&options, &other), SG_ERR_SYSTEM);
    CU_ASSERT_EQUAL(errno, EEXIST);
    sg_log_close(log, SG_LOG_FINALIZED);
}

static void test_killed(void)
{
    struct sg_log_options options = options_of(64 << 20);
    const unsigned char *file;
    size_t size_bytes;
    int status;
    pid_t child = fork();

    if (child == 0) {
        struct sg_log *log;

        if (sg_log_create(&options, &log) == SG_OK)
            append_calls(log, 5000);
        raise(SIGKILL);
    }
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT_TRUE(WIFSIGNALED(status));
    file = map_file(&options, &size_bytes);
    CU_ASSERT_EQUAL(count_kind(file, size_bytes, SG_RECORD_CALL), 5000);
    CU_ASSERT_EQUAL(((const struct sg_log_header *)file)->state, SG_LOG_RUNNING);
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

static void test_threads(void)
{
    struct sg_log_options options = options_of(64 << 20);
    pthread_t threads[WRITERS];
    struct sg_log *log;
    const unsigned char *file;
    size_t size_bytes;
    void *failed;

    CU_ASSERT_EQUAL_FATAL(sg_log_create(&options, &log), SG_OK);
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, write_many, log);
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(threads[i], &failed);
        CU_ASSERT_PTR_NULL(failed);
    }
    CU_ASSERT_EQUAL(sg_log_header(log)->dropped_events, 0);
    sg_log_close(log, SG_LOG_FINALIZED);
    file = map_file(&options, &size_bytes);
    CU_ASSERT_EQUAL(count_kind(file, size_bytes, SG_RECORD_CALL), WRITERS * EACH);
    CU_ASSERT_EQUAL(count_kind(file, size_bytes, SG_RECORD_CONT), WRITERS * EACH / 1000);
}

/* A reader of the same file, as another process is one. */
static bool lives(const struct sg_log_options *options)
{
    char path[300];
    struct sg_log_header header;
    bool lives;
    int file;

    snprintf(path, sizeof path, "%s/" SG_LOG_NAME_FORMAT, options->directory, options->rank);
    file = open(path, O_RDONLY);
    CU_ASSERT_FATAL(file >= 0);
    CU_ASSERT_EQUAL_FATAL(read(file, &header, sizeof header), sizeof header);
    header.pid++; /* as if it were not us who ask */
    lives = sg_lock_writer_lives(file, &header);
    close(file);
    return lives;
}

/* The writer lives until it lets go, whatever forked children and readers do. */
static void test_writer_lives(void)
{
    struct sg_log_options options = options_of(64 << 20);
    struct sg_log *log;
    int orders[2], answers[2];
    char byte = 0;
    pid_t child;

    CU_ASSERT_EQUAL_FATAL(sg_log_create(&options, &log), SG_OK);
    CU_ASSERT_TRUE_FATAL(sg_log_header(log)->is_locked); /* temporary files' systems have locks */
    CU_ASSERT_EQUAL_FATAL(pipe(orders) | pipe(answers), 0);
    child = fork();
    if (child == 0) {
        sg_log_forget(log);
        close(orders[1]);
        (void)!write(answers[1], &byte, 1);
        _exit(read(orders[0], &byte, 1) != 0); /* lives on until it is let go */
    }
    CU_ASSERT_EQUAL_FATAL(read(answers[0], &byte, 1), 1);
    CU_ASSERT_TRUE(lives(&options));
    CU_ASSERT_TRUE(lives(&options)); /* looking did not change it */
    sg_log_finish(log, SG_LOG_FINALIZED);
    CU_ASSERT_TRUE(lives(&options));
    sg_log_close(log, SG_LOG_FINALIZED);
    CU_ASSERT_FALSE(lives(&options));
    close(orders[0]);
    close(orders[1]);
    waitpid(child, NULL, 0);
    close(answers[0]);
    close(answers[1]);
}

/* Without locks the process tells: itself, not another that has its number now. */
static void test_process_lives(void)
{
    struct sg_log_header header = {.machine = sg_clocksync_machine(), .pid = (uint32_t)getppid()};

    header.pid_start = sg_procfs_stat((int32_t)header.pid).start;
    CU_ASSERT(header.pid_start > 0);
    CU_ASSERT_TRUE(sg_lock_writer_lives(-1, &header));
    header.pid_start++;
    CU_ASSERT_FALSE(sg_lock_writer_lives(-1, &header));
    header.pid_start--;
    header.machine++;
    CU_ASSERT_FALSE(sg_lock_writer_lives(-1, &header));
    header.machine--;
    header.pid = (uint32_t)getpid(); /* one's own log is one to read */
    header.pid_start = sg_procfs_stat((int32_t)header.pid).start;
    CU_ASSERT_FALSE(sg_lock_writer_lives(-1, &header));
}

/* A handler uses what ordinary calls have made ready, and drops beyond that. */
static void test_handler_never_grows(void)
{
    struct sg_log_options options = options_of(64 << 20);
    struct sg_log *log;
    uint64_t allocated;
    int taken = 0;

    CU_ASSERT_EQUAL_FATAL(sg_log_create(&options, &log), SG_OK);
    allocated = sg_log_header(log)->allocated_slots;
    while (sg_log_event(log) != NULL)
        taken++;
    CU_ASSERT_EQUAL(sg_log_header(log)->allocated_slots, allocated);
    CU_ASSERT_TRUE(taken > 4096);
    CU_ASSERT_EQUAL(sg_log_header(log)->dropped_events, 1);
    CU_ASSERT_PTR_NOT_NULL(sg_log_event_growing(log));
    CU_ASSERT_PTR_NOT_NULL(sg_log_event(log));
    sg_log_close(log, SG_LOG_FINALIZED);
}

const struct unit_test unit_tests[] = {
    {"the log grows by segments and is cut to what is used", test_growth},
    {"events stop at the limit, definitions and statistics go on", test_limit},
    {"a definition's text lies in the slots behind it", test_definition_text},
    {"RLIMIT_FSIZE stops events and raises no signal", test_file_size_limit},
    {"a log that cannot be made leaves no file", test_too_small_for_a_log},
    {"an existing log is never overwritten", test_never_overwrites},
    {"records stand in the file after SIGKILL", test_killed},
    {"threads append side by side and lose nothing", test_threads},
    {"a handler never grows the file", test_handler_never_grows},
    {"the writer lives until it lets go, whatever children and readers do", test_writer_lives},
    {"where a file system has no locks the process tells", test_process_lives},
    {NULL, NULL},
};
