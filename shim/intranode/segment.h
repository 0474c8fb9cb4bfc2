/* A shared segment without a name: memfd, its blocks allocated, opened by the other ranks of the
 * machine through /proc/PID/fd. Nothing is left behind whatever way a process ends.
 *
 * Not thread-safe per segment; system calls, at set-up only.
 */
#ifndef SG_INTRANODE_SEGMENT_H
#define SG_INTRANODE_SEGMENT_H

#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

/* What its maker tells the others. */
struct sg_segment_ticket {
    uint64_t size_bytes;
    uint64_t nonce;  /* the user's own, to write into the segment and compare */
    uint64_t domain; /* what the number of its process means something in */
    int32_t pid;
    int32_t file;
};

/* Processes of one machine share segments where this is the same: it is the process namespace, in
 * which their numbers stand for the same processes. 0: cannot be told (no /proc). */
uint64_t sg_segment_domain(void);

/* Makes and maps a zeroed segment of mode 0600. SG_ERR_SYSTEM: errno tells; nothing is logged. */
enum sg_status sg_segment_create(size_t size_bytes, void **segment,
                                 struct sg_segment_ticket *ticket);

/* Another process of the same user maps it, while the maker has not closed it. */
enum sg_status sg_segment_open(const struct sg_segment_ticket *ticket, void **segment);

/* The maker, when all have mapped it: nobody can open it any more. */
void sg_segment_seal(const struct sg_segment_ticket *ticket);

void sg_segment_unmap(void *segment, size_t size_bytes);

#endif
