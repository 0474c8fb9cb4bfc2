/* Opens the log in MPI_Init, and in MPI_Finalize closes it and exports the archive (recording.h).
 * Logs stay on disk unless the archive is complete.
 *
 * Rank 0 chooses an output directory, and all ranks create their logs there. A directory of another
 * user than root is never used, and creating the configuration file decides between two runs that
 * choose the same name.
 */
#include "runtime/recording.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/launch.h"
#include "wait/hook.h"
#include "wait/processors.h"
#include "wait/turn.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- output directory -------------------------------------------------------------------- */

#define NAMES_TRIED 10000
/* The umask applies; other users never get write permission. */
#define DIRECTORY_MODE 0755
#define FILE_MODE 0644
/* Limit of the program's name in the directory's: some file systems limit a name to 143 bytes. */
#define PROGRAM_BYTES 100

/* Rank 0's choice, for all ranks. */
struct plan {
    int32_t error; /* an errno; 0: the directory exists */
    char directory[sizeof((struct sg_process *)0)->directory];
    char unique[64];
};

static void program_name(char *name, size_t size_bytes)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    const char *base;

    path[length > 0 ? length : 0] = '\0';
    base = strrchr(path, '/');
    snprintf(name, size_bytes, "%s", base ? base + 1 : "program");
}

/* Returns the bytes of a program's name to use in a directory's; never splits a character. */
static int shown_bytes(const char *program)
{
    size_t used = strlen(program);

    if (used > PROGRAM_BYTES) {
        used = PROGRAM_BYTES;
        while (used > 0 && ((unsigned char)program[used] & 0xc0) == 0x80)
            used--;
    }
    return (int)used;
}

/* ---- a directory for this run alone ---- */

/* Makes a directory and its parents. Returns 0 or errno; an existing parent is no error. */
static int make_directories(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, DIRECTORY_MODE) == 0) {
            sg_log("made the directory %s", path);
        } else if (errno != EEXIST) {
            int error = errno;

            *slash = '/';
            return error;
        }
        *slash = '/';
    }
    return mkdir(path, DIRECTORY_MODE) == 0 ? 0 : errno;
}

/* True if the directory, and the link to it if there is one, belongs to this user or to root:
 * nobody else can replace it. */
static bool is_trusted(int directory, const char *path)
{
    struct stat link, info;

    return lstat(path, &link) == 0 && (link.st_uid == geteuid() || link.st_uid == 0) &&
           fstat(directory, &info) == 0 && (info.st_uid == geteuid() || info.st_uid == 0);
}

/* Closes the descriptor. */
static bool is_empty(int directory)
{
    DIR *stream = fdopendir(directory);
    int entries = 0;

    if (stream == NULL) {
        close(directory);
        return false;
    }
    while (entries <= 2 && readdir(stream) != NULL)
        entries++;
    closedir(stream);
    return entries <= 2; /* . and .. */
}

/* Makes the directory, or takes an existing empty one. Returns 0; EEXIST if the name is taken, with
 * *foreign true if another user took it; or another errno. */
static int take_directory(char *path, bool *made, bool *foreign)
{
    int error = make_directories(path);
    int directory;

    *made = error == 0;
    if (error != EEXIST)
        return error;
    directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return errno == EACCES ? EEXIST : errno;
    if (!is_trusted(directory, path)) {
        *foreign = true;
        close(directory);
        return EEXIST;
    }
    return is_empty(directory) ? 0 : EEXIST;
}

/* Returns the line with the launcher's identifier of the launch (core/launch.h); empty: there is
 * none. */
static const char *launch_line(char line[SG_LAUNCH_BYTES + 32])
{
    const char *launch = sg_config_environment(SG_LAUNCH_VARIABLE);
    size_t length = launch != NULL ? strlen(launch) : 0;

    line[0] = '\0';
    if (length > 0 && length <= SG_LAUNCH_BYTES && strspn(launch, SG_LAUNCH_LETTERS) == length)
        snprintf(line, SG_LAUNCH_BYTES + 32, SG_LAUNCH_LINE "%s\n", launch);
    return line;
}

/* Writes the configuration, below the lines that name the run, to a new file: if two runs take one
 * directory at the same time, only one can create the file. Returns 0 or errno. */
static int write_config(const struct sg_process *process, const char *directory, const char *unique)
{
    char path[sizeof process->directory + 16];
    char *settings = sg_config_text(&process->config);
    char launch[SG_LAUNCH_BYTES + 32];
    char *text = NULL;
    int error, file;

    if (settings == NULL ||
        asprintf(&text, SG_RUN_LINE "%s\n%s%s", unique, launch_line(launch), settings) < 0) {
        free(settings);
        return ENOMEM;
    }
    free(settings);
    snprintf(path, sizeof path, "%s/" SG_RUN_FILE, directory);
    file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
    error = file < 0 ? errno : sg_file_write(file, 0, text, strlen(text));
    free(text);
    if (file < 0)
        return error;
    if (close(file) != 0 && error == 0)
        error = errno;
    if (error != 0)
        unlink(path);
    return error;
}

/* Rank 0: takes the first free name among NAME, NAME-2, NAME-3, ... */
static int make_fresh_directory(const struct sg_process *process, const char *wanted,
                                struct plan *plan, bool *foreign)
{
    int error = EEXIST;

    for (int i = 1; i <= NAMES_TRIED && error == EEXIST; i++) {
        int length = i == 1 ? snprintf(plan->directory, sizeof plan->directory, "%s", wanted)
                            : snprintf(plan->directory, sizeof plan->directory, "%s-%d", wanted, i);
        bool made = false;

        if (length >= (int)sizeof plan->directory - 64) /* space for the names inside */
            return ENAMETOOLONG;
        error = take_directory(plan->directory, &made, foreign);
        if (error == 0)
            error = write_config(process, plan->directory, plan->unique);
        if (error != 0 && made)
            rmdir(plan->directory);
    }
    return error;
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* Rank 0: chooses the directory's name and makes it. */
static void make_plan(const struct sg_process *process, const char *program, struct plan *plan)
{
    char wanted[sizeof plan->directory];
    char working[sizeof plan->directory];
    char stamp[32];
    time_t now = time(NULL);
    struct tm local;
    const char *chosen = process->config.directory;
    bool foreign = false;
    int length;

    localtime_r(&now, &local);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
    snprintf(plan->unique, sizeof plan->unique, "%s-%d-%08x", stamp, (int)getpid(),
             sg_hash_fold(process->machine));
    if (getcwd(working, sizeof working) == NULL) {
        plan->error = errno;
        return;
    }
    if (chosen[0] == '/')
        length = snprintf(wanted, sizeof wanted, "%s", chosen);
    else if (chosen[0] != '\0')
        length = snprintf(wanted, sizeof wanted, "%s/%s", working, chosen);
    else
        length = snprintf(wanted, sizeof wanted, "%s/stagger-%.*s-%s", working,
                          shown_bytes(program), program, stamp);
    if (length >= (int)sizeof wanted) {
        plan->error = ENAMETOOLONG;
        return;
    }
    while (length > 1 && wanted[length - 1] == '/')
        wanted[--length] = '\0';
    plan->error = make_fresh_directory(process, wanted, plan, &foreign);
    if (plan->error == 0 && chosen[0] != '\0' && strcmp(wanted, plan->directory) != 0)
        sg_log("%s %s; writing to %s", wanted, foreign ? "belongs to another user" : "is not empty",
               plan->directory);
}

/* Other ranks: true if this rank sees the directory that rank 0 made, not one of the same name from
 * an earlier run on this machine. Makes the directory if it is missing. */
static bool see_directory(struct plan *plan)
{
    char path[sizeof plan->directory + 16];
    char line[sizeof plan->unique + 32] = "", expected[sizeof line];
    FILE *file;

    snprintf(path, sizeof path, "%s/" SG_RUN_FILE, plan->directory);
    snprintf(expected, sizeof expected, SG_RUN_LINE "%s\n", plan->unique);
    file = fopen(path, "re");
    if (file != NULL) {
        if (fgets(line, sizeof line, file) == NULL)
            line[0] = '\0';
        fclose(file);
    }
    if (strcmp(line, expected) == 0)
        return true;
    make_directories(plan->directory);
    return false;
}

static enum sg_status create_log(struct sg_process *process, const char *program,
                                 const struct plan *plan)
{
    struct sg_log_options options = {.directory = plan->directory,
                                     .rank = process->rank,
                                     .world_size = process->size,
                                     .mode = (enum sg_trace_mode)process->config.trace,
                                     .limit_bytes = process->config.trace_bytes,
                                     .machine = process->machine,
                                     .program = program,
                                     .unique = plan->unique};
    char host[128] = "";

    gethostname(host, sizeof host - 1);
    options.host = host;
    options.place = sg_socket_own();
    return sg_log_create(&options, &process->log);
}

/* Call after sg_log_close. */
static void remove_log(const struct sg_process *process)
{
    char path[sizeof process->directory + 32];

    snprintf(path, sizeof path, "%s/" SG_LOG_NAME_FORMAT, process->directory, process->rank);
    if (unlink(path) != 0)
        sg_log("cannot remove %s: %m", path);
}

/* Rank 0 chooses and makes the directory, never one with entries, and writes stagger.conf; every
 * rank creates its log. If any rank fails, no rank records, and one line says why. *shared is false
 * if ranks do not see the same directory. */
static enum sg_status output_open(struct sg_process *process, bool *shared)
{
    char program[256];
    struct plan plan = {0};
    enum sg_status status;
    int first_unshared, first_failed, error;

    program_name(program, sizeof program);
    if (process->rank == 0)
        make_plan(process, program, &plan);
    status = process->exchange.broadcast(process->exchange.context, &plan, sizeof plan);
    if (status != SG_OK)
        return status;
    if (plan.error != 0) {
        errno = plan.error;
        if (process->rank == 0)
            sg_log("cannot write to %s: %m; nothing is recorded",
                   plan.directory[0] ? plan.directory : "the output directory");
        return SG_ERR_SYSTEM;
    }
    status = sg_exchange_agree(&process->exchange, process->rank == 0 || see_directory(&plan),
                               &first_unshared);
    if (status != SG_OK)
        return status;
    *shared = first_unshared < 0;
    status = create_log(process, program, &plan);
    error = errno;
    if (status != SG_OK)
        process->log = NULL;
    snprintf(process->directory, sizeof process->directory, "%s", plan.directory);
    process->directory_word = sg_text_word(process->directory, process->word, sizeof process->word);
    if (sg_exchange_agree(&process->exchange, status == SG_OK, &first_failed) != SG_OK)
        return SG_ERR_SYSTEM;
    errno = error;
    if (first_failed == process->rank)
        sg_log("rank %d cannot write its log to %s: %m; nothing is recorded", process->rank,
               plan.directory);
    if (first_failed < 0)
        return SG_OK;
    if (process->log != NULL) {
        sg_log_close(process->log, SG_LOG_FINALIZED);
        process->log = NULL;
        remove_log(process);
    }
    return SG_ERR_SYSTEM;
}

/* ---- log --------------------------------------------------------------------------------- */

static void record_clock(struct sg_process *process)
{
    struct sg_clock_offset offset;
    struct sg_record_clock *record;

    if (process->clocks == NULL || sg_clocksync_measure(process->clocks, &offset) != SG_OK)
        return;
    record = sg_log_definition(process->log, NULL, 0);
    if (record == NULL)
        return;
    record->local_ns = offset.measured.local_ns;
    record->offset_ns = offset.measured.offset_ns;
    record->error_ns = offset.measured.error_ns;
    record->deviation_ns = offset.deviation_ns;
    sg_log_publish(record, SG_RECORD_CLOCK);
}

void *sg_recording_define(struct sg_log *log, const char *first, const char *second,
                          size_t *text_bytes)
{
    size_t first_bytes = strlen(first) + 1, second_bytes = strlen(second) + 1;
    char *both = malloc(first_bytes + second_bytes);
    void *record;

    if (both == NULL)
        return NULL;
    memcpy(both, first, first_bytes);
    memcpy(both + first_bytes, second, second_bytes);
    *text_bytes = first_bytes + second_bytes;
    record = sg_log_definition(log, both, *text_bytes);
    free(both);
    return record;
}

#define COMM_SHARE 4u   /* definitions may use one in COMM_SHARE of the events' slots */
#define COMMS_ALWAYS 4u /* predefined ones, for the library and for the profile */

static _Atomic uint64_t comm_slots, comms_defined, comms_left_out;

static void leave_out_comm(void)
{
    if (atomic_fetch_add_explicit(&comms_left_out, 1, memory_order_relaxed) == 0 &&
        sg_process_speaks())
        sg_log("communicators fill a quarter of the log: the trace lacks calls on later "
               "communicators; raise STAGGER_TRACE_BYTES");
}

void *sg_recording_define_comm(struct sg_log *log, const void *text, size_t text_bytes)
{
    uint64_t slots = 1 + (text_bytes + SG_CONT_BYTES - 1) / SG_CONT_BYTES;
    uint64_t limit = sg_log_header(log)->event_limit_slots / COMM_SHARE;
    uint64_t before = atomic_fetch_add_explicit(&comm_slots, slots, memory_order_relaxed);

    if (sg_process.config.trace == SG_TRACE_OTF2 && before + slots > limit &&
        atomic_load_explicit(&comms_defined, memory_order_relaxed) >= COMMS_ALWAYS) {
        atomic_fetch_sub_explicit(&comm_slots, slots, memory_order_relaxed);
        leave_out_comm();
        return NULL;
    }
    atomic_fetch_add_explicit(&comms_defined, 1, memory_order_relaxed);
    return sg_log_definition(log, text, text_bytes);
}

static void tell_of_comms(void)
{
    uint64_t left_out = atomic_load_explicit(&comms_left_out, memory_order_relaxed);

    if (left_out > 0 && sg_process_speaks())
        sg_log("%llu definitions of communicators are missing from the log of rank %d",
               (unsigned long long)left_out, sg_process.rank);
}

static void record_mode(struct sg_log_header *header)
{
    const struct sg_processors processors = sg_processors_found();
    const struct sg_hook *hook = sg_hook_chosen();

    header->wait_mode = 1 + sg_turn_mode();
    header->wait_ranks = processors.ranks;
    header->wait_processors = processors.processors;
    header->wait_quota = processors.quota == INT_MAX ? 0 : processors.quota;
    header->wait_apart = processors.apart;
    if (hook != NULL)
        snprintf(header->wait_hook, sizeof header->wait_hook, "%s", hook->name);
}

/* False: the task is gone. */
static bool read_name(const char *path, char name[32])
{
    FILE *file = fopen(path, "re");
    bool has = file != NULL && fgets(name, 32, file) != NULL;

    if (file != NULL)
        fclose(file);
    return has;
}

/* The threads of the program: OpenMP's have the main thread's name. Those of MPI and of this
 * library have names of their own. */
static uint32_t count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    char path[64], main_name[32], name[32];
    bool has_main = read_name("/proc/self/comm", main_name);
    uint32_t count = 0;

    for (const struct dirent *entry; tasks != NULL && (entry = readdir(tasks)) != NULL;) {
        snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", entry->d_name);
        count += entry->d_name[0] != '.' && has_main && read_name(path, name) &&
                 strcmp(name, main_name) == 0;
    }
    if (tasks != NULL)
        closedir(tasks);
    return count;
}

/* OpenMP's threads spin between parallel regions unless the user has them sleep. GNU's library also
 * has them sleep if they are more than the processors. A program that is linked with OpenMP may
 * have no threads: then the process has fewer than OpenMP would use. The program may have larger
 * teams than OpenMP would use: then it has more. */
static uint32_t count_spinning_threads(void)
{
    const char *policy = sg_config_environment("OMP_WAIT_POLICY");
    int (*most)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_get_max_threads");
    int (*processors)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_get_num_procs");
    bool is_gnu = dlsym(RTLD_DEFAULT, "__kmpc_fork_call") == NULL;
    uint32_t threads = most != NULL ? count_threads() : 0;
    int team;

    if (processors == NULL || threads < 2 ||
        (policy != NULL && strcasecmp(policy, "passive") == 0) ||
        (is_gnu && threads > (uint32_t)processors()))
        return 0;
    team = most();
    return team > 1 && (uint32_t)team <= threads ? (uint32_t)team : 0;
}

void sg_recording_waiting(struct sg_log *log)
{
    struct sg_log_header *header = sg_log_header(log);
    const struct sg_turn_times times = sg_turn_times();

    atomic_store_explicit(&header->yields, times.yields, memory_order_relaxed);
    atomic_store_explicit(&header->yield_ns, times.yield_ns, memory_order_relaxed);
    atomic_store_explicit(&header->sleeps, times.sleeps, memory_order_relaxed);
    atomic_store_explicit(&header->sleep_ns, times.sleep_ns, memory_order_relaxed);
}

void sg_recording_switch(struct sg_process *process, bool is_on)
{
    struct sg_log_header *header = process->log != NULL ? sg_log_header(process->log) : NULL;
    uint64_t now_ns = sg_clock_ns(), since_ns;

    if (atomic_exchange(&process->recording, is_on) == is_on || header == NULL)
        return;
    since_ns =
        atomic_exchange_explicit(&header->off_since_ns, is_on ? 0 : now_ns, memory_order_relaxed);
    if (is_on && since_ns > 0 && now_ns > since_ns)
        atomic_fetch_add_explicit(&header->off_ns, now_ns - since_ns, memory_order_relaxed);
}

void sg_recording_start(struct sg_process *process, uint64_t begin_ns)
{
    struct sg_log_header *header;
    bool shared;

    if (process->config.trace == SG_TRACE_OFF || output_open(process, &shared) != SG_OK) {
        process->config.trace = SG_TRACE_OFF;
        return;
    }
    if (!shared) {
        if (process->rank == 0)
            sg_log("%s is not the same directory on all machines: collect the logs in one "
                   "directory and run `stagger recover`",
                   process->directory);
        process->companion = NULL;
    }
    header = sg_log_header(process->log);
    header->init_begin_ns = begin_ns;
    record_mode(header);
    if (sg_clocksync_open(&process->exchange, process->machine, sg_clock_ns, SG_CLOCKSYNC_TREE,
                          &process->clocks) != SG_OK)
        process->clocks = NULL;
    record_clock(process);
}

static void keep_site_name(void *context, uint32_t id, const char *function, const char *file,
                           uint32_t line)
{
    struct sg_process *process = context;
    size_t text_bytes;
    struct sg_record_site_name *record =
        sg_recording_define(process->log, function ? function : "", file ? file : "", &text_bytes);

    if (record == NULL)
        return;
    record->id = id;
    record->line = line;
    record->text_bytes = (uint32_t)text_bytes;
    sg_log_publish(record, SG_RECORD_SITE_NAME);
}

#define FAILURE_BYTES 192

/* Opens this rank's log for the exporter. On failure writes the reason. */
static struct sg_logread *open_own_log(const struct sg_process *process, char reason[FAILURE_BYTES])
{
    char path[sizeof process->directory + 32];
    struct sg_refusal refusal;
    struct sg_logread *log;

    snprintf(path, sizeof path, "%s/" SG_LOG_NAME_FORMAT, process->directory, process->rank);
    if (process->companion->logread_try(path, &log, &refusal) == SG_OK)
        return log;
    snprintf(reason, FAILURE_BYTES, "rank %d cannot read its log: %s", process->rank,
             refusal.reason);
    return NULL;
}

/* The log is complete from here on. */
static void export_archive(struct sg_process *process, const struct sg_export *input)
{
    struct sg_export_result result = {0};
    enum sg_status status = process->companion->export_archive(input, &result);

    if (status != SG_OK)
        return;
    /* A partial archive lacks some events; the statistics in the logs count them. */
    if (!result.partial)
        remove_log(process);
    if (sg_process_speaks())
        sg_log("%llu calls in %s/traces.otf2 (%llu KiB)%s; see: stagger report %s",
               (unsigned long long)result.calls, process->directory,
               (unsigned long long)(result.archive_bytes + 1023) / 1024,
               result.partial ? ", partial" : "", process->directory_word);
}

void sg_recording_stop(struct sg_process *process)
{
    static const char *names[256];
    char advice[sizeof process->word + 64], failure[FAILURE_BYTES];
    struct sg_export input = {.directory = process->directory,
                              .world_size = process->size,
                              .algorithms = names,
                              .algorithm_count = sg_algorithm_count,
                              .exchange = &process->exchange,
                              .advice = advice};
    bool stats = process->config.trace == SG_TRACE_STATS;
    struct sg_logread *log = NULL;

    for (int i = 0; i < sg_algorithm_count; i++)
        names[i] = sg_algorithms[i].name;
    snprintf(advice, sizeof advice, "; the logs are kept: run `stagger recover %s`",
             process->directory_word);
    tell_of_comms();
    sg_log_header(process->log)->spinning_threads = count_spinning_threads();
    record_clock(process);
    sg_clocksync_close(process->clocks);
    process->clocks = NULL;
    sg_recording_waiting(process->log);
    input.end_ns = sg_clock_ns();
    sg_log_header(process->log)->finalize_end_ns = input.end_ns;
    if (!stats)
        sg_log_finish(process->log, SG_LOG_FINALIZED);
    if (process->companion != NULL) {
        log = open_own_log(process, failure);
        input.logs = &log;
        input.log_count = log != NULL;
        input.failure = log != NULL ? NULL : failure;
        if (stats)
            process->companion->export_site_names(&input, keep_site_name, process);
        else
            export_archive(process, &input);
    }
    if (log != NULL)
        process->companion->logread_close(log);
    sg_log_close(process->log, SG_LOG_FINALIZED);
    if (stats) {
        if (sg_process_speaks())
            sg_log("statistics in %s; see: stagger report %s", process->directory,
                   process->directory_word);
    } else if (process->companion == NULL && sg_process_speaks()) {
        sg_log("logs in %s; run `stagger recover %s` to make the archive", process->directory,
               process->directory_word);
    }
    process->log = NULL;
}

/* A program built with AddressSanitizer whose runtime is linked dynamically requires the runtime to
 * be the first library of the process. It ends at its start if another library is preloaded before
 * it. The check is for libraries that replace malloc or other functions that the runtime
 * intercepts, which this one does not. The runtime asks for a program's defaults by this symbol,
 * before anything else of the process runs; ASAN_OPTIONS overrides them.
 */

const char *__asan_default_options(void)
    __attribute__((visibility("default"), no_sanitize("address", "undefined", "thread"),
                   no_profile_instrument_function));

const char *__asan_default_options(void)
{
    return "verify_asan_link_order=0";
}
