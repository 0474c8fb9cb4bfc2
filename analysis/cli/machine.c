/* Describes this machine for `stagger info` and `stagger doctor`: the algorithms within a node,
 * transports, libraries, MPI, and the sources of what a rank does between calls.
 */
#include "cli/machine.h"

#include "causes/reader.h"
#include "cli/elf.h"
#include "core/imports.h"
#include "core/topology.h"
#include "core/waiting.h"
#include "intranode/forms.h"
#include "output/format.h"
#include "transport/verbs/verbs.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- forms ----------------------------------------------------------------------------------- */

/* Prints the form among that many ranks with these masks. */
static void print_choice(const struct sg_topology *topology, const cpu_set_t *masks, int ranks,
                         const char *bound, FILE *out)
{
    struct sg_place *places = calloc((size_t)ranks, sizeof *places);
    struct sg_lines_choice choice;
    char text[SG_FORM_TEXT_BYTES];
    void *memory = NULL;

    if (places != NULL && sg_topology_deal(topology, masks, ranks, places))
        memory = malloc(sg_lines_bytes(places, ranks));
    if (memory != NULL) {
        sg_lines_choose(places, ranks, memory, &choice);
        fprintf(out, "    %d ranks, %s: %s\n", ranks, bound, sg_form_describe(&choice, text));
    }
    free(memory);
    free(places);
}

/* Binds ranks to the processors in their order. */
static void bind_in_order(const cpu_set_t *processors, int ranks, cpu_set_t *masks)
{
    int processor = 0;

    for (int rank = 0; rank < ranks; rank++) {
        while (!CPU_ISSET(processor, processors))
            processor++;
        CPU_ZERO(&masks[rank]);
        CPU_SET(processor++, &masks[rank]);
    }
}

/* Powers of two from 16 on, and at last all processors. */
static void print_choices(const struct sg_topology *topology, const cpu_set_t *processors,
                          FILE *out)
{
    int all = CPU_COUNT(processors), most = all < SG_LINES_RANKS_MAX ? all : SG_LINES_RANKS_MAX;
    cpu_set_t *masks = calloc((size_t)most, sizeof *masks);
    int ranks = most > SG_FLAT_RANKS_MAX ? 0 : most;

    while (masks != NULL && ranks < most) {
        ranks = ranks == 0 ? 2 * SG_FLAT_RANKS_MAX : 2 * ranks;
        if (ranks > most)
            ranks = most;
        bind_in_order(processors, ranks, masks);
        print_choice(topology, masks, ranks, "bound in order", out);
        for (int rank = 0; rank < ranks; rank++)
            masks[rank] = *processors;
        print_choice(topology, masks, ranks, "not bound", out);
    }
    free(masks);
}

void sg_machine_print_forms(const char *sys, const cpu_set_t *processors, FILE *out)
{
    struct sg_topology *topology = sg_topology_read(sys, processors);
    char text[SG_TOPOLOGY_TEXT_BYTES];

    fprintf(out,
            "  up to %d ranks: flat (up to %d bytes, %d of two ranks), climb (up to %d), "
            "chunks\n",
            SG_FLAT_RANKS_MAX, SG_FLAT_BYTES_MAX, SG_FLAT_BYTES_MAX_OF_TWO, SG_CLIMB_BYTES_MAX);
    fprintf(
        out,
        "  more: climb (up to %d bytes), chunks; barriers and allreduces in groups if these are "
        "faster by the model\n  and each rank has a processor:\n",
        SG_CLIMB_BYTES_MAX);
    if (topology == NULL)
        fprintf(out, "    climb: /sys does not show which processors share caches\n");
    else
        fprintf(out, "    %s\n", sg_topology_describe(topology, processors, text));
    if (topology != NULL && CPU_COUNT(processors) <= SG_FLAT_RANKS_MAX)
        fprintf(out, "    at most %d ranks have a processor each: no groups\n",
                CPU_COUNT(processors));
    else if (topology != NULL)
        print_choices(topology, processors, out);
    sg_topology_free(topology);
}

/* ---- transports ------------------------------------------------------------------------------ */

/* Runs in the child: reads a word of its parent, as one rank does with another's memory. Returns
 * the errno of the attempt. */
static int read_parent(const uint64_t *word)
{
    uint64_t copy = 0;
    struct iovec local = {&copy, sizeof copy};
    struct iovec remote = {(void *)(uintptr_t)word, sizeof *word};

    if (process_vm_readv(getppid(), &local, 1, &remote, 1, 0) < 0)
        return errno;
    return copy == *word ? 0 : EIO;
}

int sg_machine_read_refused(void)
{
    static const uint64_t word = UINT64_C(0x5747474552);
    int status = 0;
    pid_t child;

    /* Ranks do the same, for a strict Yama setting. */
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    child = fork();
    if (child == 0)
        _exit(read_parent(&word) & 0xff);
    if (child < 0 || waitpid(child, &status, 0) < 0)
        status = -1;
    prctl(PR_SET_PTRACER, 0, 0, 0, 0);
    return status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : EAGAIN;
}

static void print_shared_memory(FILE *out)
{
    int refused = sg_machine_read_refused();
    struct statvfs space;

    if (refused == 0)
        fprintf(out, "  shared memory: CMA (process_vm_readv) is allowed\n");
    else
        fprintf(out, "  shared memory: CMA (process_vm_readv) is refused: %s\n", strerror(refused));
    if (statvfs("/dev/shm", &space) == 0)
        fprintf(out, "  /dev/shm: %.1f MiB, %.1f MiB free\n",
                (double)space.f_blocks * (double)space.f_frsize / (1024 * 1024),
                (double)space.f_bavail * (double)space.f_frsize / (1024 * 1024));
    else
        fprintf(out, "  /dev/shm: none\n");
}

int sg_machine_is_device(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void print_verbs(FILE *out)
{
    struct dirent **devices = NULL;
    int count = scandir("/sys/class/infiniband", &devices, sg_machine_is_device, alphasort);

    fprintf(out, "  verbs devices:%s", count > 0 ? "" : " none");
    for (int i = 0; i < count; i++) {
        fprintf(out, " %s", devices[i]->d_name);
        free(devices[i]);
    }
    free(devices);
    fputc('\n', out);
}

static void put_device(const struct sg_verbs *verbs, const struct sg_verbs_settings *settings,
                       FILE *out)
{
    struct sg_verbs_description about;

    verbs->describe(&about);
    fprintf(out, "device %s, port %d (%s), GID %d (%s), MTU %d; ", about.device, about.port,
            about.link_layer, about.gid_index, about.gid, about.mtu);
    if (about.locked_bytes == UINT64_MAX)
        fputs("a process may lock any amount of memory", out);
    else
        fprintf(out, "a process may lock %" PRIu64 " KiB", about.locked_bytes / 1024);
    fprintf(out, " and registers at most %" PRIu64 " KiB", settings->memory_bytes / 1024);
}

bool sg_machine_put_rdma(const struct sg_config *config, FILE *out)
{
    struct sg_verbs_settings settings = sg_verbs_settings(config);
    char *library = sg_locate_library();
    const char *reason = "libstagger.so is not found";
    const struct sg_verbs *verbs =
        library != NULL ? sg_companion_load(library, SG_VERBS_LIBRARY, SG_VERBS_SYMBOL, &reason)
                        : NULL;

    bool used = verbs != NULL && verbs->version == SG_VERBS_VERSION &&
                verbs->start(&settings, NULL, &reason);

    if (used) {
        put_device(verbs, &settings, out);
        verbs->stop();
    } else if (verbs != NULL && verbs->version != SG_VERBS_VERSION) {
        fputs("not used: " SG_VERBS_LIBRARY " has another version", out);
    } else {
        fprintf(out, "not used: %s", reason);
    }
    free(library);
    return used;
}

void sg_machine_print_transports(const struct sg_config *config, FILE *out)
{
    print_shared_memory(out);
    print_verbs(out);
    fputs("  verbs: ", out);
    sg_machine_put_rdma(config, out);
    fputc('\n', out);
    fprintf(
        out,
        "  in use: shared memory, between ranks of one machine; others pass through to MPICH\n");
}

/* ---- libraries ------------------------------------------------------------------------------- */

struct library {
    const char *name;
    const char *purpose;
    const char *files[2]; /* in order of preference */
};

static const struct library libraries[] = {
    {"libunwind",
     "call sites of Fortran programs and paths of calls",
     {"libunwind.so.8", "libunwind.so"}},
    {"OTF2", "the archive", {"libopen-trace-format2.so.10", "libotf2.so"}},
    {"libdw", "function, file and line of call sites", {"libdw.so.1", "libdw.so"}},
};

static void print_path(const char *what, const char *path, FILE *out)
{
    fprintf(out, "  %s: ", what);
    sg_format_put(path, out);
    fputc('\n', out);
}

static void print_library(const struct library *library, FILE *out)
{
    for (size_t i = 0; i < sizeof library->files / sizeof *library->files; i++) {
        void *handle = dlopen(library->files[i], RTLD_LAZY | RTLD_LOCAL);
        struct link_map *map;

        if (handle == NULL)
            continue;
        if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0)
            print_path(library->name, map->l_name, out);
        dlclose(handle);
        return;
    }
    fprintf(out, "  %s: not found; provides %s\n", library->name, library->purpose);
}

static void print_own_libraries(FILE *out)
{
    char *library = sg_locate_library();
    char *companion = NULL;
    char *slash;

    if (library == NULL) {
        fprintf(out, "  libstagger.so: not found beside this program, in ../lib/stagger or in "
                     "../lib\n");
        return;
    }
    print_path("libstagger.so", library, out);
    slash = strrchr(library, '/');
    if (asprintf(&companion, "%.*s/libstagger-otf2.so", (int)(slash - library), library) < 0)
        companion = NULL;
    if (companion != NULL && access(companion, R_OK) == 0)
        print_path("libstagger-otf2.so", companion, out);
    else
        fprintf(out, "  libstagger-otf2.so: not found beside libstagger.so; writes the "
                     "archive\n");
    free(companion);
    free(library);
}

void sg_machine_print_libraries(FILE *out)
{
    print_own_libraries(out);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        print_library(&libraries[i], out);
}

/* ---- MPI -------------------------------------------------------------------------------------*/

char *sg_machine_launcher(void)
{
    static const char *const launchers[] = {"mpiexec.mpich", "mpiexec.hydra"};
    char *path = NULL;

    for (size_t i = 0; i < sizeof launchers / sizeof *launchers && path == NULL; i++)
        path = sg_locate_program(launchers[i]);
    return path;
}

static void print_launcher(FILE *out)
{
    char *path = sg_machine_launcher();

    if (path != NULL)
        print_path("MPICH's launcher", path, out);
    else
        fprintf(out, "  MPICH's launcher: neither mpiexec.mpich nor mpiexec.hydra is in PATH\n");
    free(path);
}

/* MPICH 5 or later: it has a setting of its own to yield the processor. */
static bool gives_way_itself(void *library)
{
    static char version[16384];
    int (*get_version)(char *version, int *length);
    int length = 0;

    *(void **)&get_version = dlsym(library, "MPI_Get_library_version");
    return get_version != NULL && get_version(version, &length) == 0 &&
           strncmp(version, "MPICH Version:", strlen("MPICH Version:")) == 0 &&
           atoi(version + strcspn(version, "0123456789")) >= 5;
}

static const struct sg_wait_hook_entry *hook_of(void *library)
{
    const struct sg_wait_hook_entry *hook = sg_wait_hooks;

    while (hook->name != NULL && !(hook->symbol != NULL ? dlsym(library, hook->symbol) != NULL
                                                        : gives_way_itself(library)))
        hook++;
    return hook->name != NULL ? hook : NULL;
}

/* Runs in a child, to contain the side effects of loading MPICH's library. */
static void print_hook(FILE *out)
{
    static const char *const files[] = {"libmpich.so.12", "libmpi.so.12"};
    const struct sg_wait_hook_entry *hook;
    void *library = NULL;
    struct link_map *map;

    for (size_t i = 0; i < sizeof files / sizeof *files && library == NULL; i++)
        library = dlopen(files[i], RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) {
        fprintf(out, "MPICH's library is not found");
        return;
    }
    hook = hook_of(library);
    if (hook != NULL)
        fprintf(out, "hook %s, by %s of ", hook->name,
                hook->symbol != NULL ? hook->symbol : "a setting");
    else
        fputs("no hook serves for ", out);
    sg_format_put(map->l_name, out);
}

/* Prints which wait hook a program would use with the MPICH that the loader finds. */
static void print_waiting(const struct sg_config *config, FILE *out)
{
    int status = 0;
    pid_t child;

    fprintf(out, "  waiting: ");
    if (config->wait_hook == 0) {
        fprintf(out, "no hook, as STAGGER_WAIT_HOOK says\n");
        return;
    }
    fflush(out);
    child = fork();
    if (child == 0) {
        print_hook(out);
        fflush(out);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
        fprintf(out, "MPICH's library cannot be loaded");
    fprintf(out, "\n  hooks that the library has:");
    for (const struct sg_wait_hook_entry *hook = sg_wait_hooks; hook->name != NULL; hook++)
        fprintf(out, " %s", hook->name);
    fputc('\n', out);
}

void sg_machine_print_mpi(const struct sg_config *config, FILE *out)
{
    print_launcher(out);
    print_waiting(config, out);
}

/* ---- sources of what a rank does between calls (STAGGER_CAUSES) ------------------------------ */

static void print_source(const struct sg_reader *reader, int source, uint64_t cost_ns, FILE *out)
{
    const struct sg_source_facts *facts = &sg_source_table[source];

    if ((reader->mask & sg_source_mask(source)) != 0)
        fprintf(out, "  %s: %" PRIu64 " ns a reading", facts->name, cost_ns);
    else
        fprintf(out, "  %s: unavailable (%s)", facts->name,
                reader->errors[source] != 0 ? strerror(reader->errors[source])
                                            : "reports nothing readable");
    fprintf(out, "; needs %s\n      ", facts->needs);
    for (unsigned i = 0; i < facts->count; i++)
        fprintf(out, "%s%s", i > 0 ? ", " : "", sg_figure_table[facts->first + i].name);
    fputc('\n', out);
}

void sg_machine_print_sources(FILE *out)
{
    static const struct sg_reader_places places = {.processes = "/proc", .systems = "/sys"};
    uint64_t costs_ns[SG_SOURCE_COUNT];
    struct sg_reader reader;

    sg_reader_open(&reader, &places);
    sg_reader_measure(&reader, costs_ns);
    for (int source = 0; source < SG_SOURCE_COUNT; source++)
        print_source(&reader, source, costs_ns[source], out);
    sg_reader_close(&reader);
}
