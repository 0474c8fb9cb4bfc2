/* Cold caches: takes operands and everything else out of the caches before a call.
 *
 * A sweep reads and writes twice as many bytes as the largest cache holds, which displaces what the
 * MPI library, the preloaded library and the program have there: data, and code from caches of
 * both. Operands are flushed by name where the processor has an instruction for that, because a
 * cache need not displace the oldest line first.
 *
 * Free of MPI; one sweep at a time.
 */
#ifndef SG_BENCH_COLD_H
#define SG_BENCH_COLD_H

#include "core/status.h"

#include <stddef.h>

/* The largest cache of this machine's processors, in bytes; 0: not known. */
size_t sg_bench_largest_cache(void);

/* How many bytes displace a cache of that size: 64 to 256 MiB, if its size is not known 64 MiB. */
size_t sg_bench_sweep_bytes(size_t cache_bytes);

/* Allocates what sg_bench_sweep needs; SG_ERR_MEMORY is logged. */
enum sg_status sg_bench_sweep_open(size_t size_bytes);
void sg_bench_sweep(void);
void sg_bench_sweep_close(void);

/* Takes these bytes out of all caches, unchanged; nothing where there is no instruction for it. */
void sg_bench_flush(const void *data, size_t size_bytes);

#endif
