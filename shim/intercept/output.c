#include "intercept/output.h"

#include "core/hash.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CONFIG_NAME "stagger.conf"
#define NAMES_TRIED 10000

/* What rank 0 tells the others. */
struct plan {
    int32_t error; /* errno; 0: the directory is there */
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

/* Makes a directory and those above it. 0 or errno; EEXIST is no error for those above. */
static int make_directories(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST) {
            int error = errno;

            *slash = '/';
            return error;
        }
        *slash = '/';
    }
    return mkdir(path, 0777) == 0 ? 0 : errno;
}

static bool is_empty_directory(const char *path)
{
    DIR *directory = opendir(path);
    int entries = 0;

    if (directory == NULL)
        return false;
    while (entries <= 2 && readdir(directory) != NULL)
        entries++;
    closedir(directory);
    return entries <= 2; /* . and .. */
}

static bool is_directory(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Rank 0: the first free name among NAME, NAME-2, NAME-3, ... */
static int make_fresh_directory(const char *wanted, char *path, size_t size_bytes)
{
    int error = EEXIST;

    for (int i = 1; i <= NAMES_TRIED && error == EEXIST; i++) {
        int length = i == 1 ? snprintf(path, size_bytes, "%s", wanted)
                            : snprintf(path, size_bytes, "%s-%d", wanted, i);

        if (length >= (int)size_bytes - 64) /* room for the names inside */
            return ENAMETOOLONG;
        error = make_directories(path);
        if (error == EEXIST && !is_directory(path))
            error = ENOTDIR;
        else if (error == EEXIST && is_empty_directory(path))
            error = 0;
    }
    return error;
}

static int write_config(const struct sg_process *process, const char *directory)
{
    char path[sizeof process->directory + 16];
    char *text = sg_config_text(&process->config);
    FILE *file;
    int error = 0;

    if (text == NULL)
        return ENOMEM;
    snprintf(path, sizeof path, "%s/%s", directory, CONFIG_NAME);
    file = fopen(path, "we");
    if (file == NULL || fputs(text, file) == EOF)
        error = errno;
    if (file != NULL && fclose(file) != 0)
        error = errno;
    free(text);
    return error;
}

/* Rank 0: chooses, makes and names the directory. */
static void make_plan(const struct sg_process *process, const char *program, struct plan *plan)
{
    char wanted[sizeof plan->directory];
    char working[sizeof plan->directory];
    char stamp[32];
    time_t now = time(NULL);
    struct tm local;
    const char *chosen = process->config.directory;
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
        length = snprintf(wanted, sizeof wanted, "%s/stagger-%s-%s", working, program, stamp);
    if (length >= (int)sizeof wanted) {
        plan->error = ENAMETOOLONG;
        return;
    }
    while (length > 1 && wanted[length - 1] == '/')
        wanted[--length] = '\0';
    plan->error = make_fresh_directory(wanted, plan->directory, sizeof plan->directory);
    if (plan->error == 0)
        plan->error = write_config(process, plan->directory);
    if (plan->error == 0 && chosen[0] != '\0' && strcmp(wanted, plan->directory) != 0)
        sg_log("%s holds something: writing to %s", wanted, plan->directory);
}

/* The other ranks: true when rank 0's directory is there; made where it is not. */
static bool see_directory(struct plan *plan)
{
    char path[sizeof plan->directory + 16];
    bool seen;

    snprintf(path, sizeof path, "%s/%s", plan->directory, CONFIG_NAME);
    seen = access(path, F_OK) == 0;
    if (!seen)
        make_directories(plan->directory);
    return seen;
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
    return sg_log_create(&options, &process->log);
}

enum sg_status sg_output_open(struct sg_process *process, bool *shared)
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
        sg_output_remove_log(process);
    }
    return SG_ERR_SYSTEM;
}

void sg_output_remove_log(const struct sg_process *process)
{
    char path[sizeof process->directory + 32];

    snprintf(path, sizeof path, "%s/" SG_LOG_NAME_FORMAT, process->directory, process->rank);
    if (unlink(path) != 0)
        sg_log("cannot remove %s: %m", path);
}
