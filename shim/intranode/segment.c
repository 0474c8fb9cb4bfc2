#include "intranode/segment.h"

#include "core/cgroup.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t sg_segment_domain(void)
{
    struct stat info;

    if (stat("/proc/self/ns/pid", &info) != 0)
        return 0;
    return sg_hash_mix((uint64_t)info.st_ino ^ (uint64_t)info.st_dev << 32);
}

static enum sg_status map(int file, size_t size_bytes, void **segment)
{
    void *base = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    if (base == MAP_FAILED)
        return SG_ERR_SYSTEM;
    *segment = base;
    return SG_OK;
}

/* Reserving more memory than a control group has would end a process of it: the program keeps most
 * of what is left. */
static bool fits_control_group(size_t size_bytes)
{
    return size_bytes <= sg_cgroup_memory_left("/proc", "/sys") / 4;
}

enum sg_status sg_segment_create(size_t size_bytes, void **segment,
                                 struct sg_segment_ticket *ticket)
{
    int file, error;

    if (!fits_control_group(size_bytes)) {
        errno = ENOMEM;
        return SG_ERR_SYSTEM;
    }
    file = memfd_create("stagger", MFD_CLOEXEC);
    if (file < 0)
        return SG_ERR_SYSTEM;
    fchmod(file, 0600);
    error = sg_file_allocate(file, 0, size_bytes);
    if (error != 0 || map(file, size_bytes, segment) != SG_OK) {
        if (error == 0)
            error = errno;
        close(file);
        errno = error;
        return SG_ERR_SYSTEM;
    }
    ticket->size_bytes = size_bytes;
    ticket->nonce = sg_hash_mix(sg_clock_ns() ^ (uint64_t)getpid() << 32);
    ticket->domain = sg_segment_domain();
    ticket->pid = (int32_t)getpid();
    ticket->file = file;
    return SG_OK;
}

enum sg_status sg_segment_open(const struct sg_segment_ticket *ticket, void **segment)
{
    char path[64];
    struct stat info;
    enum sg_status status = SG_ERR_SYSTEM;
    int file, error;

    /* In another process namespace the number may be anybody's. */
    if (ticket->domain != sg_segment_domain()) {
        errno = ESRCH;
        return SG_ERR_SYSTEM;
    }
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)ticket->pid, (int)ticket->file);
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return SG_ERR_SYSTEM;
    errno = EBADF;
    if (fstat(file, &info) == 0 && (uint64_t)info.st_size == ticket->size_bytes)
        status = map(file, ticket->size_bytes, segment);
    error = errno;
    close(file);
    errno = error;
    return status;
}

void sg_segment_seal(const struct sg_segment_ticket *ticket)
{
    close(ticket->file);
}

void sg_segment_unmap(void *segment, size_t size_bytes)
{
    munmap(segment, size_bytes);
}
