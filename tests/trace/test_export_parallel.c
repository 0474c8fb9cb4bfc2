/* Tests the exporter with one log a process, as at MPI_Finalize, and the files that are left when
 * it fails. */
#include "lib/exchange_fork.h"
#include "trace/export_setup.h"

#include <fcntl.h>
#include <link.h>
#include <sys/resource.h>

/* OTF2 forgets a writer that it fails to close. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libopen-trace-format2";
}

enum { BARRIER, REDUCE, ALLREDUCE };
enum { RANKS = 3, CALLS = 3000 };

static void write_logs(const char *directory)
{
    static const uint32_t members[] = {2, 0};

    for (int rank = 0; rank < RANKS; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, RANKS);
        fabricate_site(&log, 1, 0x100u + (uint32_t)rank, "/opt/bin/cg", "", 0x100);
        fabricate_site_name(&log, 0x100u + (uint32_t)rank, "solve", "solver.c",
                            10 + (uint32_t)rank);
        if (rank != 1)
            fabricate_comm(&log, 2, 2, 2, 2, rank == 2 ? 0 : 1, "ends", rank == 2 ? members : NULL);
        for (uint32_t seq = 0; seq < CALLS; seq++) {
            uint64_t begin_ns = 2000 + 100 * seq + (uint64_t)rank;

            if (rank == 1 && seq == 17)
                continue;
            fabricate_call(&log, seq % 2 ? ALLREDUCE : BARRIER, 0, seq, begin_ns, begin_ns + 40)
                ->site = 1;
            if (rank != 1 && seq % 3 == 0)
                fabricate_call(&log, REDUCE, 2, seq / 3, begin_ns + 50, begin_ns + 60)->root = 0;
        }
        log.header.finalize_begin_ns = 2000 + 100 * CALLS;
        log.header.state = SG_LOG_RUNNING;
        fabricate_marker(&log, SG_MARKER_NOTE, 2500, "a note");
        fabricate_finish(&log, directory);
    }
}

struct run {
    const char *directory;
    int full_rank; /* whose files may not grow; -1: none */
    rlim_t limit_bytes;
    enum sg_status expected;
    struct sg_export_result result;
};

/* Lets writes beyond a size fail, as they would on a full disk. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit = {.rlim_max = RLIM_INFINITY};

    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static int export_own(const struct sg_exchange *exchange, void *context)
{
    struct run *run = context;
    struct sg_refusal refusal;
    struct sg_logread *log;
    struct sg_export input = {
        .directory = run->directory,
        .logs = &log,
        .log_count = 1,
        .world_size = RANKS,
        .end_ns = 2100 + 100 * CALLS,
        .algorithms = setup_algorithms,
        .algorithm_count = 2,
        .exchange = exchange,
    };
    char path[300];

    snprintf(path, sizeof path, "%s/" SG_LOG_NAME_FORMAT, run->directory, exchange->rank);
    if (sg_logread_try(path, &log, &refusal) != SG_OK)
        return 1;
    if (exchange->rank == run->full_rank)
        limit_files(run->limit_bytes);
    enum sg_status status = sg_export_archive(&input, &run->result);
    if (exchange->rank == run->full_rank)
        limit_files(RLIM_INFINITY);
    sg_logread_close(log);
    return status != run->expected;
}

TEST("each process exports its own log, with the same result as one process for all")
{
    struct run run = {.directory = strdup(setup_directory("parallel")), .full_rank = -1};
    const char *serial;
    json_t *events, *serial_events;

    write_logs(run.directory);
    ASSERT(exchange_fork(RANKS, export_own, &run));
    EXPECT(run.result.calls == 3 * (CALLS - 1) + 2 * (CALLS / 3), run.result.dropped == 2);
    json_t *counts = setup_check(run.directory, &events);
    EXPECT(json_integer_value(json_object_get(json_array_get(events, json_array_size(events) - 1),
                                              "time")) == 2100 + 100 * CALLS);

    /* In one process the same comes out, but for the end of MPI_Finalize, which no log tells. */
    serial = setup_directory("serial");
    write_logs(serial);
    ASSERT(setup_export(serial) == SG_OK);
    EXPECT(exported.calls == run.result.calls, exported.dropped == run.result.dropped,
           exported.partial);
    json_t *serial_counts = setup_check(serial, &serial_events);
    EXPECT(json_equal(counts, serial_counts),
           json_array_size(events) == json_array_size(serial_events));
    free((char *)run.directory);
}

static bool exists(const char *directory, const char *name)
{
    char path[300];
    struct stat info;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    return lstat(path, &info) == 0;
}

/* The logs are there, the archive and all its parts are not. */
static void nothing_is_left(const char *directory)
{
    EXPECT(!exists(directory, "traces"), !exists(directory, "traces.def"),
           !exists(directory, "traces.otf2"), !exists(directory, "traces.marker"),
           exists(directory, "rank-000000.log"));
}

/* Turns stderr into a pipe, which no limit of files bounds; a few lines fit. */
struct diversion {
    int kept;
    int pipe[2];
};

static struct diversion divert(void)
{
    struct diversion diversion = {.kept = dup(STDERR_FILENO)};

    if (pipe2(diversion.pipe, O_CLOEXEC) != 0 || dup2(diversion.pipe[1], STDERR_FILENO) < 0)
        abort();
    return diversion;
}

/* Puts stderr back and counts the lines said, each of which must hold the text. */
static int restore(struct diversion *diversion, const char *text)
{
    char line[1200];
    int count = 0;

    dup2(diversion->kept, STDERR_FILENO);
    close(diversion->kept);
    close(diversion->pipe[1]);
    FILE *said = fdopen(diversion->pipe[0], "r");
    ASSERT(said != NULL);
    while (fgets(line, sizeof line, said) != NULL) {
        EXPECT(contains(line, text));
        count++;
    }
    fclose(said);
    return count;
}

TEST("a rank with a full disk makes all ranks give up, with one line and no files left")
{
    const char *directory = setup_directory("room");

    write_logs(directory);
    for (int rank = 0; rank < RANKS; rank++) {
        struct run run = {.directory = directory,
                          .full_rank = rank,
                          .limit_bytes = 1000,
                          .expected = SG_ERR_SYSTEM};
        struct diversion diversion = divert();
        bool agreed = exchange_fork(RANKS, export_own, &run);

        EXPECT(restore(&diversion, "cannot write the trace: File too large") == 1, agreed);
        nothing_is_left(directory);
    }
}

/* Every size at which some file's last or first byte has no room. */
TEST("a full disk at any point leaves nothing or a complete archive")
{
    const char *directory = setup_directory("anywhere");
    int failures = 0, successes = 0;

    for (int rank = 0; rank < 2; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, 2);
        fabricate_call(&log, BARRIER, 0, 0, 2000, 2100);
        fabricate_marker(&log, SG_MARKER_NOTE, 2050, "a note");
        fabricate_finish(&log, directory);
    }
    for (rlim_t limit = 0; limit < 6000; limit += limit < 100 ? 10 : 50) {
        struct diversion diversion = divert();

        limit_files(limit);
        enum sg_status status = setup_export(directory);
        limit_files(RLIM_INFINITY);
        EXPECT(restore(&diversion, "cannot write the trace: ") == (status != SG_OK));
        if (status == SG_OK) {
            char path[300];

            successes++;
            setup_check(directory, NULL);
            snprintf(path, sizeof path, "%s/traces.otf2", directory);
            unlink(path);
        } else {
            failures++;
            nothing_is_left(directory);
        }
    }
    EXPECT(failures > 0, successes > 0);
}

static void names_found(void *context, uint32_t id, const char *function, const char *file,
                        uint32_t line)
{
    int *found = context;

    EXPECT(id == 0x55, function != NULL, file != NULL);
    ++*found;
}

static int resolve_own(const struct sg_exchange *exchange, void *context)
{
    const char *directory = context;
    struct sg_refusal refusal;
    struct sg_logread *log;
    struct sg_export input = {.directory = directory,
                              .logs = &log,
                              .log_count = 1,
                              .world_size = RANKS,
                              .exchange = exchange};
    char path[300];
    int found = 0;

    snprintf(path, sizeof path, "%s/" SG_LOG_NAME_FORMAT, directory, exchange->rank);
    if (sg_logread_try(path, &log, &refusal) != SG_OK)
        return 1;
    enum sg_status status = sg_export_site_names(&input, names_found, &found);
    sg_logread_close(log);
    return status != SG_OK || found != (exchange->rank == 0);
}

static int take_base(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    *(uintptr_t *)context = info->dlpi_addr;
    return 1; /* the program itself comes first */
}

/* Returns the offset of a function of this program, as the library records it. */
static uint64_t own_offset(void)
{
    uintptr_t base = 0;

    dl_iterate_phdr(take_base, &base);
    return (uintptr_t)own_offset + 8 - base;
}

TEST("rank 0 finds the names of all ranks' sites once")
{
    const char *directory = setup_directory("names");
    char self[300];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    ASSERT(length > 0);
    self[length] = '\0';
    for (int rank = 0; rank < RANKS; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, RANKS);
        log.header.trace_mode = SG_TRACE_STATS;
        if (rank == 2)
            fabricate_site(&log, 1, 0x55, self, "", own_offset());
        fabricate_site(&log, 2, 0x66, "/nonexistent", "", 4);
        fabricate_site(&log, 3, 0x77, self, "", own_offset());
        fabricate_site_name(&log, 0x77, "known", "already.c", 1);
        fabricate_finish(&log, directory);
    }
    EXPECT(exchange_fork(RANKS, resolve_own, (void *)directory));
}
