/* `stagger doctor`: looks for what can be wrong on this machine, a line for each thing. */
#include "cli/doctor.h"

#include "cli/command.h"
#include "cli/locate.h"
#include "cli/machine.h"
#include "cli/usage.h"
#include "core/status.h"
#include "core/text.h"
#include "output/format.h"
#include "output/style.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void set_limit(const struct sg_usage *usage, const char *text, void *to)
{
    uint64_t seconds;
    const char *end = text + strlen(text);

    if (sg_text_number(text, end, false, &seconds) != end || seconds < 1 || seconds > 3600)
        sg_usage_fault(usage, "--limit wants seconds from 1 to 3600, not '%s'", text);
    *(unsigned *)to = (unsigned)seconds;
}

static void parse(int argc, char **argv, struct sg_doctor *doctor)
{
    const struct sg_command_option table[] = {
        {"launcher", 'l', "PROGRAM",
         "start ranks with it (default: mpiexec.mpich or mpiexec.hydra)", &doctor->launcher, NULL},
        {"limit", 't', "SECONDS", "give the launcher so long (default: 60)", &doctor->limit_s,
         set_limit},
        {0},
    };
    const struct sg_usage usage = {
        .command = "doctor",
        .synopsis = "[OPTION...]",
        .text = "Looks for what can be wrong on this machine: whether MPI is found and which, "
                "whether the library reaches ranks, processors, what ranks may do with each "
                "other's memory, RDMA, libraries, room. A line for each, with what to do.",
        .end = "Exit status: 0, 1 where something is BAD, 2 on bad usage.",
        .options = table,
    };

    sg_usage_read(&usage, argc, argv);
}

int sg_command_doctor(int argc, char **argv)
{
    struct sg_doctor doctor = {
        .processes = "/proc", .systems = "/sys", .shared = "/dev/shm", .limit_s = LIMIT_S};
    enum sg_health worst = SG_HEALTH_GOOD;
    struct sg_config config;
    char *library, *launcher = NULL;

    parse(argc, argv, &doctor);
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
