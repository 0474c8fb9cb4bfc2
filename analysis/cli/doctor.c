/* `stagger doctor`: checks this machine for problems, one line for each check. This file has the
 * command and the checks of the software: the library and its companions, the launcher, MPI, and
 * whether a launched rank gets the library. doctor_machine.c checks the machine itself.
 *
 * Work that might hang, or change this process, runs in a child.
 */
#include "cli/elf.h"
#include "cli/machine.h"
#include "cli/main.h"
#include "core/clock.h"
#include "core/status.h"
#include "core/text.h"
#include "options/options.h"
#include "output/format.h"
#include "output/table.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void sg_doctor_check_library(const struct sg_doctor *doctor, struct sg_finding *out);
static void sg_doctor_check_archive(const struct sg_doctor *doctor, struct sg_finding *out);
static void sg_doctor_check_sites(const struct sg_doctor *doctor, struct sg_finding *out);
static void sg_doctor_check_launcher(const struct sg_doctor *doctor, struct sg_finding *out);
static void sg_doctor_check_mpi(const struct sg_doctor *doctor, struct sg_finding *out);
static void sg_doctor_check_ranks(const struct sg_doctor *doctor, struct sg_finding *out);

#define LIMIT_S 60

static const struct {
    const char *name;
    sg_doctor_check check;
} checks[] = {
    {"libstagger.so", sg_doctor_check_library},
    {"archive", sg_doctor_check_archive},
    {"call sites", sg_doctor_check_sites},
    {"launcher", sg_doctor_check_launcher},
    {"MPI", sg_doctor_check_mpi},
    {"ranks", sg_doctor_check_ranks},
    {"processors", sg_doctor_check_processors},
    {"OpenMP", sg_doctor_check_threads},
    {"single copy", sg_doctor_check_reading},
    {"shared memory", sg_doctor_check_shared},
    {"RDMA devices", sg_doctor_check_devices},
    {"locked memory", sg_doctor_check_memlock},
    {"perf events", sg_doctor_check_counters},
    {"directory", sg_doctor_check_directory},
};

static void print(const char *name, const struct sg_finding *finding, FILE *out)
{
    static const struct {
        const char *word;
        enum sg_style style;
    } healths[] = {[SG_HEALTH_GOOD] = {"ok", SG_GREEN},
                   [SG_HEALTH_NOTE] = {"note", SG_YELLOW},
                   [SG_HEALTH_BAD] = {"BAD", SG_RED}};
    bool has_remedy = finding->remedy[0] != '\0';

    fprintf(out, "%s%-4s%s  %-13s  ", sg_style(healths[finding->health].style, out),
            healths[finding->health].word, sg_style(SG_PLAIN, out), name);
    sg_format_put(finding->says, out);
    fputs(has_remedy ? "; " : "", out);
    sg_format_put(finding->remedy, out);
    fputc('\n', out);
}

#define AT(member) offsetof(struct sg_doctor, member)

static const struct sg_option options[] = {
    {"launcher", 'l', "PROGRAM",
     "launcher to start ranks with (default: mpiexec.mpich or mpiexec.hydra)", sg_option_text,
     .at = AT(launcher)},
    {"limit", 't', "SECONDS", "time limit of the launcher (default: 60)", sg_option_u32,
     AT(limit_s), .least = 1, .most = 3600},
    {0}};

int sg_command_doctor(int argc, char **argv)
{
    struct sg_doctor doctor = {
        .processes = "/proc", .systems = "/sys", .shared = "/dev/shm", .limit_s = LIMIT_S};
    struct sg_command_line line = {
        .name = "stagger doctor",
        .documentation = "Checks this machine for problems: MPI and its launcher, whether the "
                         "library reaches the ranks, processors, access to other ranks' memory, "
                         "RDMA, libraries, free space. Prints a line for each, with a remedy.\v"
                         "Exit status: 0; 1 if a check is BAD; 2 on bad usage.",
        .tables = {{options, &doctor}}};
    enum sg_health worst = SG_HEALTH_GOOD;
    struct sg_config config;
    char *library, *launcher = NULL;

    sg_options_read(&line, argc, argv);
    if (sg_config_read(&config, true) != SG_OK) {
        sg_log("doctor: %s", sg_status_text(SG_ERR_MEMORY));
        return 1;
    }
    if (doctor.launcher == NULL)
        doctor.launcher = launcher = sg_machine_launcher();
    doctor.library = library = sg_locate_library();
    doctor.config = &config;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        struct sg_finding finding = {0};

        checks[i].check(&doctor, &finding);
        print(checks[i].name, &finding, stdout);
        fflush(stdout);
        if (finding.health > worst)
            worst = finding.health;
    }
    free(library);
    free(launcher);
    sg_config_clear(&config);
    return worst == SG_HEALTH_BAD;
}

/* ---- checks of the software ------------------------------------------------------------------ */

#define TEXT_BYTES 16384
#define RANKS 2
#define LOAD_LIMIT_S 20

/* ---- children -------------------------------------------------------------------------------- */

/* Reads until end of file or until limit_s pass. Returns false on a timeout. */
static bool read_all(int file, unsigned limit_s, char *text)
{
    uint64_t end_ns = sg_clock_ns() + limit_s * UINT64_C(1000000000);
    size_t used = 0;
    ssize_t got = 1;

    while (got > 0) {
        uint64_t now_ns = sg_clock_ns();
        struct pollfd ready = {.fd = file, .events = POLLIN};
        char rest[256];
        bool has_room = used < TEXT_BYTES - 1;

        if (now_ns >= end_ns)
            break;
        if (poll(&ready, 1, (int)((end_ns - now_ns) / 1000000) + 1) <= 0)
            continue;
        got = read(file, has_room ? text + used : rest,
                   has_room ? TEXT_BYTES - 1 - used : sizeof rest);
        used += has_room && got > 0 ? (size_t)got : 0;
    }
    text[used] = '\0';
    return got <= 0;
}

/* Runs `work` in a child in its own process group, and captures its output. Returns the waitpid
 * status; -1: it timed out and was killed. */
static int run_apart(int (*work)(const void *context), const void *context, unsigned limit_s,
                     char text[TEXT_BYTES])
{
    int ends[2], status = 0;
    bool ended;
    pid_t child;

    text[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_RDONLY);

        setpgid(0, 0);
        if (null >= 0)
            dup2(null, STDIN_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        _exit(work(context));
    }
    close(ends[1]);
    ended = child > 0 && read_all(ends[0], limit_s, text);
    close(ends[0]);
    if (child > 0 && !ended)
        kill(-child, SIGKILL);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return ended ? status : -1;
}

/* The last line that is not blank or a rule, with control characters replaced. Modifies text. */
static const char *last_line(char *text)
{
    char *line = text, *rest, *last = text;

    for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        if (line[strspn(line, " \t=")] != '\0')
            last = line;
    }
    for (char *at = last; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ')
            *at = ' ';
    }
    return last;
}

/* ---- the library ----------------------------------------------------------------------------- */

static void sg_doctor_check_library(const struct sg_doctor *doctor, struct sg_finding *out)
{
    if (doctor->library != NULL)
        sg_finding_set(out, SG_HEALTH_GOOD, NULL, "%s", doctor->library);
    else
        sg_finding_set(out, SG_HEALTH_BAD, "run make install",
                       "not found beside this program, in ../lib/stagger or in ../lib");
}

static int load(const void *path)
{
    if (dlopen(path, RTLD_NOW | RTLD_LOCAL) != NULL)
        return 0;
    printf("%s\n", dlerror());
    fflush(stdout);
    return 1;
}

static void sg_doctor_check_archive(const struct sg_doctor *doctor, struct sg_finding *out)
{
    char text[TEXT_BYTES];
    char *path = NULL;
    int length =
        doctor->library != NULL ? (int)(strrchr(doctor->library, '/') - doctor->library) : 0;

    if (doctor->library == NULL ||
        asprintf(&path, "%.*s/libstagger-otf2.so", length, doctor->library) < 0)
        sg_finding_set(out, SG_HEALTH_BAD, "run make install", "no library, no archive");
    else if (run_apart(load, path, LOAD_LIMIT_S, text) == 0)
        sg_finding_set(out, SG_HEALTH_GOOD, NULL, "libstagger-otf2.so loads, with OTF2 and libdw");
    else
        sg_finding_set(out, SG_HEALTH_BAD,
                       "install libotf2 and libdw (Debian: libotf2-trace-format2, libdw1)",
                       "runs leave logs but no archive: %s", last_line(text));
    free(path);
}

static void sg_doctor_check_sites(const struct sg_doctor *doctor, struct sg_finding *out)
{
    static const char *const names[] = {"libunwind.so.8", "libunwind.so"};
    char text[TEXT_BYTES];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (run_apart(load, names[i], LOAD_LIMIT_S, text) == 0) {
            sg_finding_set(out, SG_HEALTH_GOOD, NULL, "%s loads", names[i]);
            return;
        }
    }
    sg_finding_set(out, SG_HEALTH_NOTE, "install libunwind (Debian: libunwind8)",
                   "no libunwind: call sites of Fortran programs and call paths are unknown");
}

/* ---- MPI ------------------------------------------------------------------------------------- */

static void sg_doctor_check_launcher(const struct sg_doctor *doctor, struct sg_finding *out)
{
    char *path = doctor->launcher != NULL ? sg_locate_program(doctor->launcher) : NULL;

    if (path != NULL)
        sg_finding_set(out, SG_HEALTH_GOOD, NULL, "%s", path);
    else if (doctor->launcher != NULL)
        sg_finding_set(out, SG_HEALTH_BAD, NULL, "no program '%s'", doctor->launcher);
    else
        sg_finding_set(out, SG_HEALTH_BAD,
                       "install MPICH (Debian: mpich), load its module, or name one by --launcher",
                       "neither mpiexec.mpich nor mpiexec.hydra is in PATH");
    free(path);
}

static int print_version(const void *name)
{
    static char version[TEXT_BYTES];
    int (*get_version)(char *version, int *length);
    int length = 0;
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);

    if (library == NULL)
        return 1;
    *(void **)&get_version = dlsym(library, "MPI_Get_library_version");
    if (get_version == NULL || get_version(version, &length) != 0)
        return 2;
    version[strcspn(version, "\n")] = '\0';
    printf("%s\n", version);
    fflush(stdout);
    return 0;
}

/* The first library that the loader finds, and the first line of its version; NULL: none. */
static const char *find_mpi(const char *const *names, size_t count, char text[TEXT_BYTES])
{
    for (size_t i = 0; i < count; i++) {
        if (run_apart(print_version, names[i], LOAD_LIMIT_S, text) == 0)
            return names[i];
    }
    return NULL;
}

static void sg_doctor_check_mpi(const struct sg_doctor *doctor, struct sg_finding *out)
{
    static const char *const mpich[] = {"libmpich.so.12", "libmpi.so.12"};
    static const char *const others[] = {"libmpi_abi.so.0", "libmpi.so.40", "libmpi.so"};
    char text[TEXT_BYTES];
    const char *name = find_mpi(mpich, 2, text);

    if (name != NULL) {
        sg_finding_set(out, SG_HEALTH_GOOD, NULL, "%s: %s", name, last_line(text));
        return;
    }
    name = find_mpi(others, 3, text);
    if (name != NULL)
        sg_finding_set(out, SG_HEALTH_NOTE,
                       "build programs with MPICH: programs of another MPI run unobserved",
                       "the loader finds no MPICH, but %s: %s", name, last_line(text));
    else
        sg_finding_set(out, SG_HEALTH_NOTE,
                       "programs with their own path to MPICH are observed nevertheless",
                       "the loader finds no MPI");
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static int launch(const void *context)
{
    const struct sg_doctor *doctor = context;
    const char *const words[] = {doctor->launcher,
                                 "-n",
                                 "2",
                                 "grep",
                                 "-h",
                                 "-E",
                                 "^Cpus_allowed_list|r-xp .*/libstagger[.]so",
                                 "/proc/self/status",
                                 "/proc/self/maps",
                                 NULL};

    if (setenv("LD_PRELOAD", doctor->library, 1) != 0)
        return 1;
    execvp(words[0], (char *const *)words);
    printf("%s\n", strerror(errno));
    fflush(stdout);
    return 1;
}

struct ranks {
    int count;
    int with_library;
    char processors[200]; /* that the first rank may use, as /proc prints it */
    bool is_one;          /* all ranks have the same single processor */
};

static struct ranks read_ranks(char *text)
{
    static const char label[] = "Cpus_allowed_list:";
    struct ranks ranks = {.is_one = true};
    char *rest;

    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        const char *mask = strstr(line, label);

        ranks.with_library += strstr(line, "libstagger.so") != NULL;
        if (mask == NULL)
            continue;
        mask += strlen(label);
        mask += strspn(mask, " \t");
        if (ranks.count++ == 0)
            snprintf(ranks.processors, sizeof ranks.processors, "%s", mask);
        ranks.is_one =
            ranks.is_one && strcmp(mask, ranks.processors) == 0 && strpbrk(mask, ",-") == NULL;
    }
    return ranks;
}

static void sg_doctor_check_ranks(const struct sg_doctor *doctor, struct sg_finding *out)
{
    char text[TEXT_BYTES], kept[TEXT_BYTES];
    struct ranks ranks;
    int status;

    if (doctor->launcher == NULL || doctor->library == NULL) {
        sg_finding_set(out, SG_HEALTH_BAD, NULL, "not tried: there is no %s",
                       doctor->library == NULL ? "library" : "launcher");
        return;
    }
    status = run_apart(launch, doctor, doctor->limit_s, text);
    memcpy(kept, text, sizeof kept);
    ranks = read_ranks(kept);
    if (status == -1)
        sg_finding_set(out, SG_HEALTH_BAD,
                       "run it by hand: it may wait for a host, a name server or a key",
                       "%s -n 2 does not end in %u s", doctor->launcher, doctor->limit_s);
    else if (ranks.count < RANKS)
        sg_finding_set(out, SG_HEALTH_BAD, NULL, "%s -n 2 starts %d rank%s: %s", doctor->launcher,
                       ranks.count, ranks.count == 1 ? "" : "s", last_line(text));
    else if (ranks.with_library < ranks.count)
        sg_finding_set(
            out, SG_HEALTH_BAD,
            "start programs like this: mpiexec -n 4 stagger run ./app, or see the launcher's "
            "options for the environment (-genv, -x, --export)",
            "the library reaches %d of %d ranks: the launcher or a wrapper drops "
            "LD_PRELOAD",
            ranks.with_library, ranks.count);
    else if (ranks.is_one && sysconf(_SC_NPROCESSORS_ONLN) > 1)
        sg_finding_set(out, SG_HEALTH_NOTE, "see the launcher's binding options (-bind-to none)",
                       "the library reaches them, but all are bound to processor %s",
                       ranks.processors);
    else
        sg_finding_set(out, SG_HEALTH_GOOD, NULL, "the library reaches %d of %d",
                       ranks.with_library, ranks.count);
}
