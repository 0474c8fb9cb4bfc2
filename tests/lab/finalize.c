/* Preloaded into the lab's programs: lets MPI_Finalize of MPICH before 4.2 return over UCX's TCP.
 *
 * There each rank flushes its connections, which needs an answer from the other side, and then
 * waits in a launcher barrier, where it answers nobody: a rank that is late by a round trip waits
 * for ever (pmodels/mpich#6596). This version keeps answering while it waits for the launcher. It
 * declares the few UCX functions it needs, so that UCX's headers are not needed.
 */
#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef int create_function(void *context, const void *params, void **worker);
typedef void destroy_function(void *worker);
typedef unsigned progress_function(void *worker);

create_function ucp_worker_create;
destroy_function ucp_worker_destroy;

static void *current_worker;
static int launcher = -1;

int ucp_worker_create(void *context, const void *params, void **worker)
{
    create_function *create = (create_function *)dlsym(RTLD_NEXT, "ucp_worker_create");
    const char *descriptor = getenv("PMI_FD");
    int status = create(context, params, worker);

    if (status == 0 && descriptor) {
        current_worker = *worker;
        launcher = atoi(descriptor);
    }
    return status;
}

void ucp_worker_destroy(void *worker)
{
    destroy_function *destroy = (destroy_function *)dlsym(RTLD_NEXT, "ucp_worker_destroy");

    current_worker = NULL;
    destroy(worker);
}

ssize_t read(int fd, void *buffer, size_t size_bytes)
{
    struct pollfd word = {.fd = fd, .events = POLLIN};

    if (current_worker && fd == launcher) {
        progress_function *progress =
            (progress_function *)dlsym(RTLD_DEFAULT, "ucp_worker_progress");

        while (poll(&word, 1, 0) == 0)
            progress(current_worker);
    }
    return syscall(SYS_read, fd, buffer, size_bytes);
}
