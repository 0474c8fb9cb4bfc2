#include "profile/thread.h"

#include "runtime/process.h"

#include <stdatomic.h>

__thread uint16_t sg_thread_own;

uint16_t sg_thread_number_new(void)
{
    static atomic_uint count;
    uint32_t index = atomic_fetch_add(&count, 1);

    sg_thread_own = (uint16_t)(index < UINT16_MAX - 1 ? index + 1 : UINT16_MAX);
    if (index > 0 && index < UINT16_MAX && sg_process.log != NULL)
        atomic_fetch_add(&sg_log_header(sg_process.log)->thread_count, 1);
    return (uint16_t)(sg_thread_own - 1);
}
