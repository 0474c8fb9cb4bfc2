/* Reports MPI calls that bypass the library, and hides wrappers of functions that this MPI does not
 * have (past.h). Constructors and the destructor run also in processes that never start MPI; they
 * return early there.
 */
#include "intercept/past.h"

#include "core/config.h"
#include "core/imports.h"
#include "core/status.h"
#include "mpi/real.h"
#include "profile/counted_functions.h"
#include "profile/entries.h"
#include "runtime/settings.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_bool is_started;

void sg_past_started(void)
{
    atomic_store_explicit(&is_started, true, memory_order_relaxed);
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Returns the object other than this library that the function's calls reach first; NULL: none. */
static const char *first_of(const char *function)
{
    void *address = dlsym(RTLD_DEFAULT, function);
    Dl_info info, own;

    if (address == NULL || dladdr(address, &info) == 0 || info.dli_fname == NULL ||
        dladdr((void *)sg_past_started, &own) == 0 || info.dli_fbase == own.dli_fbase)
        return NULL;
    return info.dli_fname;
}

/* Does not use sg_real_owns: tools are also named libpmpi. */
static bool is_mpi(const char *object)
{
    Dl_info home;

    return strncmp(base_of(object), "libmpi", 6) == 0 ||
           (dladdr((void *)sg_real.Init, &home) != 0 && home.dli_fname != NULL &&
            strcmp(base_of(home.dli_fname), base_of(object)) == 0);
}

/* ---- functions of a tool that is first in symbol order ---- */

static struct {
    bool is_first[SG_FUNCTION_COUNT];
    char object[SG_IMPORT_BYTES];
} tool;

static bool is_left_out(const char *object)
{
    return strcmp(object, tool.object) == 0 || strncmp(object, "libstagger", 10) == 0 ||
           is_mpi(object);
}

static bool is_of_tool(const char *symbol)
{
    for (int i = 0; i < SG_FUNCTION_COUNT; i++) {
        if (tool.is_first[i] && strcmp(sg_functions[i].name, symbol) == 0)
            return true;
    }
    return false;
}

void sg_past_report(void)
{
    static bool seen[SG_FUNCTION_COUNT];
    struct sg_import import;
    int count = 0;

    sg_profile_entries_seen(seen);
    for (int i = 0; i < SG_FUNCTION_COUNT; i++) {
        const char *object = first_of(sg_functions[i].name);

        tool.is_first[i] = object != NULL && !is_mpi(object);
        if (!tool.is_first[i])
            continue;
        if (seen[i]) /* the tool passes calls on */
            return;
        if (count++ == 0)
            snprintf(tool.object, sizeof tool.object, "%s", base_of(object));
    }
    if (count > 0 && sg_imports_find(is_left_out, is_of_tool, &import))
        sg_log("calls of %s and of other functions that %s wraps were not recorded: that tool "
               "precedes libstagger.so and calls PMPI_*; put libstagger.so first in LD_PRELOAD",
               import.symbol, tool.object);
}

bool sg_past_is_direct(void)
{
    for (int i = 0; i < SG_FUNCTION_COUNT; i++) {
        void *next = sg_functions[i].may_loop ? sg_real_find(sg_functions[i].name) : NULL;

        if (next != NULL && !sg_real_has(next))
            return false;
    }
    return true;
}

/* ---- MPI_Init bypassed the library ---- */

static pid_t loaded_in;

__attribute__((constructor)) static void note_process(void)
{
    loaded_in = getpid();
}

static int find_mpi(struct dl_phdr_info *info, size_t size, void *context)
{
    const char **path = context;

    (void)size;
    if (info->dlpi_name == NULL || strncmp(base_of(info->dlpi_name), "libmpi", 6) != 0)
        return 0;
    *path = info->dlpi_name;
    return 1;
}

/* Most processes have no library of that name and look nothing up. */
static bool is_mpi_initialized(void)
{
    const char *path = NULL;
    int (*initialized)(int *flag) = NULL;
    void *library;
    int flag = 0;

    dl_iterate_phdr(find_mpi, &path);
    library = path != NULL ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (library == NULL || dlsym(library, "MPIR_Dup_fn") == NULL)
        return false;
    *(void **)&initialized = dlsym(library, "PMPI_Initialized");
    return initialized != NULL && initialized(&flag) == MPI_SUCCESS && flag;
}

/* One process of a job logs the line, if its launcher sets the rank. */
static bool speaks(void)
{
    const char *rank = sg_config_environment("PMI_RANK");
    const char *quiet = sg_config_environment("STAGGER_QUIET");

    return (rank == NULL || strcmp(rank, "0") == 0) && (quiet == NULL || strcmp(quiet, "0") == 0);
}

__attribute__((destructor)) static void say_if_not_started(void)
{
    const char *object;

    if (atomic_load_explicit(&is_started, memory_order_relaxed) || getpid() != loaded_in ||
        !speaks() || !is_mpi_initialized())
        return;
    object = first_of("MPI_Init");
    if (object != NULL)
        sg_log("stagger was inactive in this run: %s precedes libstagger.so, and its MPI_Init "
               "calls PMPI_Init; put libstagger.so first in LD_PRELOAD",
               base_of(object));
    else
        sg_log("stagger was inactive in this run: the program's call of MPI_Init bypassed it "
               "(RTLD_DEEPBIND, or an MPI library linked into the program)");
    sg_log_drain();
}

/* ---- functions that look-ups must not find ---- */

/* Returns the protection of the loaded segment that contains an address; 0: no segment does. */
static int protection_of(const Dl_info *object, const void *address)
{
    const ElfW(Ehdr) *header = object->dli_fbase;
    const ElfW(Phdr) *segments = (const void *)((const char *)header + header->e_phoff);
    size_t at = (size_t)((const char *)address - (const char *)header);

    for (int i = 0; i < header->e_phnum; i++) {
        const ElfW(Phdr) *segment = &segments[i];

        if (segment->p_type == PT_LOAD && at >= segment->p_vaddr &&
            at - segment->p_vaddr < segment->p_filesz)
            return (segment->p_flags & PF_R ? PROT_READ : 0) |
                   (segment->p_flags & PF_W ? PROT_WRITE : 0) |
                   (segment->p_flags & PF_X ? PROT_EXEC : 0);
    }
    return 0;
}

/* The loader treats a symbol without a value as missing. */
static void hide(const Dl_info *own, void *library, const char *symbol)
{
    void *address = dlsym(library, symbol);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first;
    ElfW(Sym) *entry = NULL;
    Dl_info found;
    size_t size;
    int protection;

    if (address == NULL || dladdr1(address, &found, (void **)&entry, RTLD_DL_SYMENT) == 0 ||
        entry == NULL || found.dli_fbase != own->dli_fbase || found.dli_sname == NULL ||
        strcmp(found.dli_sname, symbol) != 0)
        return;
    protection = protection_of(&found, entry);
    first = (uintptr_t)entry & ~(page - 1);
    size = (uintptr_t)(entry + 1) - first;
    if (protection == 0 || mprotect((void *)first, size, protection | PROT_WRITE) != 0)
        return;
    entry->st_value = 0;
    mprotect((void *)first, size, protection);
}

/* Runs before the program and its threads. Returns at once if the program has no MPI. */
__attribute__((constructor)) static void hide_what_is_lacking(void)
{
    static const char *const others[] = {"MPIX_Request_get_status_all",
                                         "MPIX_Request_get_status_any",
                                         "MPIX_Request_get_status_some"};
    void *library;
    Dl_info own;

    if (dlsym(RTLD_NEXT, "PMPI_Init") == NULL || dladdr((void *)sg_lacking_called, &own) == 0)
        return;
    library = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return;
    for (int i = 0; i < SG_FUNCTION_COUNT; i++) {
        if (dlsym(RTLD_NEXT, sg_functions[i].name) == NULL)
            hide(&own, library, sg_functions[i].name);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (dlsym(RTLD_NEXT, others[i]) == NULL)
            hide(&own, library, others[i]);
    }
    dlclose(library);
}

/* ---- calls of missing functions ---- */

int sg_lacking_called(const char *function)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set_explicit(&told, memory_order_relaxed))
        sg_log("this MPI lacks %s; returning an error", function);
    if (sg_real_is_mpich() && sg_process_running())
        sg_real.Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_UNSUPPORTED_OPERATION);
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

static int ask(MPI_Request request, int *flag, MPI_Status *statuses, int at)
{
    return sg_real.Request_get_status(
        request, flag, statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[at]);
}

int sg_lacking_status_all(int count, const MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    int error = MPI_SUCCESS;

    *flag = 1;
    for (int i = 0; i < count && *flag && error == MPI_SUCCESS; i++)
        error = ask(requests[i], flag, statuses, i);
    return error;
}

/* If no request is active, returns what MPI_Request_get_status returns for MPI_REQUEST_NULL. */
int sg_lacking_status_any(int count, const MPI_Request *requests, int *index, int *flag,
                          MPI_Status *status)
{
    int error = MPI_SUCCESS, is_active = 0;

    *flag = 0;
    *index = MPI_UNDEFINED;
    for (int i = 0; i < count && !*flag && error == MPI_SUCCESS; i++) {
        if (requests[i] == MPI_REQUEST_NULL)
            continue;
        is_active = 1;
        error = sg_real.Request_get_status(requests[i], flag, status);
        if (*flag)
            *index = i;
    }
    return is_active ? error : sg_real.Request_get_status(MPI_REQUEST_NULL, flag, status);
}

int sg_lacking_status_some(int count, const MPI_Request *requests, int *done, int *indices,
                           MPI_Status *statuses)
{
    int error = MPI_SUCCESS, is_active = 0;

    *done = 0;
    for (int i = 0; i < count && error == MPI_SUCCESS; i++) {
        int flag = 0;

        if (requests[i] == MPI_REQUEST_NULL)
            continue;
        is_active = 1;
        error = ask(requests[i], &flag, statuses, *done);
        if (flag)
            indices[(*done)++] = i;
    }
    if (!is_active)
        *done = MPI_UNDEFINED;
    return error;
}
