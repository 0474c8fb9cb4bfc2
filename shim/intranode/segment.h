/* A shared segment without a name: a memfd with allocated blocks, which the other ranks of the
 * machine open through /proc/PID/fd. However a process ends, nothing is left behind.
 *
 * Not thread-safe for one segment; makes system calls, at set-up only.
 */
#ifndef SG_INTRANODE_SEGMENT_H
#define SG_INTRANODE_SEGMENT_H

#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

/* What the maker sends to the others. */
struct sg_segment_ticket {
    uint64_t size_bytes;
    uint64_t nonce;  /* for the user to write into the segment and compare */
    uint64_t domain; /* sg_segment_domain of its maker */
    int32_t pid;
    int32_t file;
};

/* The process namespace: processes of one machine with the same one can share segments. 0: not
 * known (no /proc). */
uint64_t sg_segment_domain(void);

/* Makes and maps a zeroed segment of mode 0600. SG_ERR_SYSTEM: errno tells why; nothing is logged.
 */
enum sg_status sg_segment_create(size_t size_bytes, void **segment,
                                 struct sg_segment_ticket *ticket);

/* Maps it in another process of the same user, as long as the maker has not closed it. */
enum sg_status sg_segment_open(const struct sg_segment_ticket *ticket, void **segment);

/* By the maker, when all have mapped it: nobody can open it any more. */
void sg_segment_seal(const struct sg_segment_ticket *ticket);

void sg_segment_unmap(void *segment, size_t size_bytes);

#endif
