#include "trace/lock.h"

#include "core/clocksync.h"
#include "core/procfs.h"

#include <fcntl.h>
#include <unistd.h>

static struct flock first_byte(void)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
}

bool sg_lock_take(int file)
{
    struct flock lock = first_byte();

    return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

bool sg_lock_is_held(int file)
{
    struct flock lock = first_byte();

    return fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool sg_lock_writer_lives(int file, const struct sg_log_header *header)
{
    bool here = header->pid_start != 0 && header->machine == sg_clocksync_machine();

    if (here && header->pid == (uint32_t)getpid() &&
        header->pid_start == sg_procfs_stat((int32_t)header->pid).start)
        return false;
    if (header->is_locked)
        return sg_lock_is_held(file);
    return here && sg_procfs_stat((int32_t)header->pid).start == header->pid_start;
}
