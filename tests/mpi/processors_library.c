/* Preloaded: pretends that this process may use the first PRETENDED_PROCESSORS processors. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

int sched_getaffinity(pid_t thread, size_t size_bytes, cpu_set_t *mask)
{
    const char *text = getenv("PRETENDED_PROCESSORS");
    int count = text != NULL ? atoi(text) : 1;

    memset(mask, 0, size_bytes);
    for (int processor = 0; processor < count; processor++)
        CPU_SET_S((size_t)processor, size_bytes, mask);
    return 0;
}
