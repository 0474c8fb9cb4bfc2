/* Tests the findings of `stagger doctor` on made-up machines. */
#include "../../analysis/cli/doctor_machine.c"
#include "lib/unit.h"

#include <stdarg.h>
#include <sys/stat.h>

/* ---- a machine that is made up --------------------------------------------------------------- */

static int refused;
static bool is_used;

int sg_machine_read_refused(void)
{
    return refused;
}

int sg_machine_is_device(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

bool sg_machine_put_rdma(const struct sg_config *config, FILE *out)
{
    fputs(is_used ? "device mlx9_0, port 1" : "not used: no active port", out);
    return is_used;
}

static char place[300];

static void put(const char *name, const char *text)
{
    unit_write(text, "%s/%s", place, name);
}

static struct sg_config config;

static struct sg_finding examine(const char *name, sg_doctor_check check)
{
    static char processes[400], systems[400];
    const struct sg_doctor doctor = {
        .processes = processes, .systems = systems, .shared = place, .config = &config};
    struct sg_finding finding = {0};

    snprintf(processes, sizeof processes, "%s/%s/proc", unit_directory(), name);
    snprintf(systems, sizeof systems, "%s/%s/sys", unit_directory(), name);
    check(&doctor, &finding);
    return finding;
}

static void begin(const char *name)
{
    snprintf(place, sizeof place, "%s/%s", unit_directory(), name);
    mkdir(place, 0777);
}

static bool says(const struct sg_finding *finding, const char *text)
{
    bool found = strstr(finding->says, text) != NULL || strstr(finding->remedy, text) != NULL;

    if (!found)
        printf("# %s; %s\n", finding->says, finding->remedy);
    return found;
}

/* ---- the tests ------------------------------------------------------------------------------- */

TEST("a quota is noted with its number of processors")
{
    cpu_set_t mask;

    begin("quota");
    struct sg_finding finding = examine("quota", sg_doctor_check_processors);
    EXPECT((finding.health != SG_HEALTH_BAD) == true);
    put("proc/self/cgroup", "0::/job\n");
    put("sys/fs/cgroup/job/cpu.max", "50000 100000\n");
    finding = examine("quota", sg_doctor_check_processors);
    CPU_ZERO(&mask);
    sched_getaffinity(0, sizeof mask, &mask);
    if (CPU_COUNT(&mask) < 2)
        return;
    EXPECT(finding.health == SG_HEALTH_NOTE, says(&finding, "quota is 1 of "),
           says(&finding, "cpu.max"));
    put("sys/fs/cgroup/job/cpu.max", "max 100000\n");
    finding = examine("quota", sg_doctor_check_processors);
    EXPECT(!contains(finding.says, "quota"));
}

TEST("refused memory is noted with the limit that refuses it")
{
    begin("reading");
    refused = 0;
    struct sg_finding finding = examine("reading", sg_doctor_check_reading);
    EXPECT(finding.health == SG_HEALTH_GOOD);
    refused = EPERM;
    finding = examine("reading", sg_doctor_check_reading);
    EXPECT(finding.health == SG_HEALTH_NOTE, says(&finding, "SYS_PTRACE"));
    put("proc/sys/kernel/yama/ptrace_scope", "2\n");
    finding = examine("reading", sg_doctor_check_reading);
    EXPECT(says(&finding, "Yama"), says(&finding, "sysctl kernel.yama.ptrace_scope=1"));
    /* Ranks allow it to each other under the lesser restriction: it is something else. */
    put("proc/sys/kernel/yama/ptrace_scope", "1\n");
    finding = examine("reading", sg_doctor_check_reading);
    EXPECT(says(&finding, "SYS_PTRACE"));
    refused = 0;
}

TEST("devices and locked memory matter only if there is a device")
{
    struct rlimit limit;

    begin("devices");
    struct sg_finding finding = examine("devices", sg_doctor_check_devices);
    EXPECT(finding.health == SG_HEALTH_GOOD, says(&finding, "none"));
    put("sys/class/infiniband/mlx9_0/node_guid", "0\n");
    is_used = false;
    finding = examine("devices", sg_doctor_check_devices);
    EXPECT(finding.health == SG_HEALTH_NOTE,
           says(&finding, "mlx9_0 is there, but not used: no active port"));
    is_used = true;
    finding = examine("devices", sg_doctor_check_devices);
    EXPECT(finding.health == SG_HEALTH_GOOD, says(&finding, "device mlx9_0, port 1"));

    ASSERT(getrlimit(RLIMIT_MEMLOCK, &limit) == 0);
    struct rlimit low = (struct rlimit){64 * 1024, limit.rlim_max};
    ASSERT(setrlimit(RLIMIT_MEMLOCK, &low) == 0);
    config.verbs_memory_bytes = UINT64_C(1) << 26;
    finding = examine("devices", sg_doctor_check_memlock);
    EXPECT(finding.health == SG_HEALTH_NOTE,
           says(&finding, "may lock 0.1 MiB, RDMA needs up to 64 MiB"));
    finding = examine("nowhere", sg_doctor_check_memlock);
    EXPECT(finding.health == SG_HEALTH_GOOD, says(&finding, "not needed"));
    config.verbs_memory_bytes = 1024;
    finding = examine("devices", sg_doctor_check_memlock);
    EXPECT(finding.health == SG_HEALTH_GOOD);
    setrlimit(RLIMIT_MEMLOCK, &limit);
}

TEST("MPICH needs shared memory")
{
    begin("shared");
    strcat(place, "/nowhere");
    struct sg_finding finding = examine("shared", sg_doctor_check_shared);
    EXPECT(finding.health == SG_HEALTH_BAD, says(&finding, "No such file"));
}

TEST("a directory that cannot be written is reported as bad")
{
    static char where[400];

    begin("directory");
    snprintf(where, sizeof where, "%s", "/proc/new/run/");
    config.directory = where;
    struct sg_finding finding = examine("directory", sg_doctor_check_directory);
    EXPECT(finding.health == SG_HEALTH_BAD, says(&finding, "runs cannot write into /proc"));
    /* One that is taken: the run's is beside it. */
    snprintf(where, sizeof where, "%s", "/proc");
    finding = examine("directory", sg_doctor_check_directory);
    EXPECT(finding.health != SG_HEALTH_BAD);
    snprintf(where, sizeof where, "%s/new/run", place);
    finding = examine("directory", sg_doctor_check_directory);
    EXPECT(finding.health != SG_HEALTH_BAD, says(&finding, "MiB free"));
}
