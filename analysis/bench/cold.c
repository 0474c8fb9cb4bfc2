#include "bench/cold.h"

#include "core/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 64
#define SWEEP_LEAST ((size_t)64 << 20)
#define SWEEP_MOST ((size_t)256 << 20)

static struct {
    unsigned char *data;
    size_t size_bytes;
} room;

size_t sg_bench_largest_cache(void)
{
    static const int names[] = {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE,
                                _SC_LEVEL4_CACHE_SIZE};
    long most = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        long bytes = sysconf(names[i]);

        most = bytes > most ? bytes : most;
    }
    return (size_t)most;
}

size_t sg_bench_sweep_bytes(size_t cache_bytes)
{
    if (cache_bytes < SWEEP_LEAST / 2)
        return SWEEP_LEAST;
    return cache_bytes < SWEEP_MOST / 2 ? 2 * cache_bytes : SWEEP_MOST;
}

enum sg_status sg_bench_sweep_open(size_t size_bytes)
{
    room.data = malloc(size_bytes);
    if (room.data == NULL) {
        sg_log("bench: --cold: no memory for %zu bytes", size_bytes);
        return SG_ERR_MEMORY;
    }
    /* Pages of its own: reads of untouched memory would all be of one page of zeros. */
    memset(room.data, 1, size_bytes);
    room.size_bytes = size_bytes;
    return SG_OK;
}

void sg_bench_sweep(void)
{
    volatile unsigned char *data = room.data;

    for (size_t at = 0; at < room.size_bytes; at += LINE_BYTES)
        data[at]++;
}

void sg_bench_sweep_close(void)
{
    free(room.data);
    room.data = NULL;
    room.size_bytes = 0;
}

#ifdef SG_CPU_HAS_FLUSH

void sg_bench_flush(const void *data, size_t size_bytes)
{
    const char *bytes = data;

    for (size_t at = 0; at < size_bytes; at += LINE_BYTES)
        sg_cpu_flush(bytes + at);
    if (size_bytes > 0)
        sg_cpu_flush(bytes + size_bytes - 1);
    sg_cpu_flush_all_done();
}

#else

void sg_bench_flush(const void *data, size_t size_bytes)
{
}

#endif
