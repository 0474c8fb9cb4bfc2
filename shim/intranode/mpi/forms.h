/* The form that srm takes by itself inside a node, by ranks and bytes:
 * docs/decisions/0005-thresholds.md.
 */
#ifndef SG_INTRANODE_MPI_FORMS_H
#define SG_INTRANODE_MPI_FORMS_H

#include "rule/algorithm.h"

#include <stdint.h>

#define SG_FLAT_RANKS_MAX 8
/* Also what a fold of all ranks' lines has room for on its stack. */
#define SG_FLAT_BYTES_MAX 1024
#define SG_CLIMB_BYTES_MAX 4096
#define SG_SINGLE_BYTES_MIN (64u * 1024u)

/* Of a reduction; what the node's memory allows may be another one. */
static inline enum sg_srm_form sg_form_of(uint64_t size_bytes, int ranks)
{
    if (size_bytes <= SG_FLAT_BYTES_MAX && ranks <= SG_FLAT_RANKS_MAX)
        return SG_SRM_FLAT;
    return size_bytes <= SG_CLIMB_BYTES_MAX ? SG_SRM_CLIMB : SG_SRM_CHUNKS;
}

/* Of a broadcast there are two. */
static inline enum sg_srm_form sg_form_of_broadcast(uint64_t size_bytes)
{
    return size_bytes >= SG_SINGLE_BYTES_MIN ? SG_SRM_SINGLE : SG_SRM_CHUNKS;
}

#endif
