#include "intercept/lacking.h"

#include "core/status.h"
#include "mpi/real.h"
#include "profile/function.h"
#include "runtime/process.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- what is not to be found ---- */

/* How the segment of a loaded object is protected in which an address lies; 0: in none. */
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

/* The loader takes a symbol without a value for none. */
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

/* Before the program runs, and other threads. In what is no MPI program there is nothing to do. */
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

/* ---- what is called all the same ---- */

int sg_lacking_called(const char *function)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set_explicit(&told, memory_order_relaxed))
        sg_log("this MPI has no %s: an error of the call", function);
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

/* Where none is active, what MPI_Request_get_status says of MPI_REQUEST_NULL. */
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
