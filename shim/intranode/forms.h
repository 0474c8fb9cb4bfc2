/* Srm's default form inside a node, by ranks and bytes: docs/decisions/03. */
#ifndef SG_INTRANODE_FORMS_H
#define SG_INTRANODE_FORMS_H

#include "algos/parameters.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_FLAT_RANKS_MAX 8
#define SG_FLAT_BYTES_MAX 1024
#define SG_FLAT_BYTES_MAX_OF_TWO 4096
#define SG_CLIMB_BYTES_MAX 4096
#define SG_SINGLE_BYTES_MIN (64u * 1024u)

/* Largest operand of a flat exchange. */
static inline uint64_t sg_form_flat_bytes(int ranks)
{
    return ranks == 2 ? SG_FLAT_BYTES_MAX_OF_TWO : SG_FLAT_BYTES_MAX;
}

/* Default form of a reduction; the node's memory may force another one. */
static inline enum sg_srm_form sg_form_of(uint64_t size_bytes, int ranks)
{
    if (size_bytes <= sg_form_flat_bytes(ranks) && ranks <= SG_FLAT_RANKS_MAX)
        return SG_SRM_FLAT;
    return size_bytes <= SG_CLIMB_BYTES_MAX ? SG_SRM_CLIMB : SG_SRM_CHUNKS;
}

/* True if groups may replace the flat or climbing form among `ranks` ranks. */
static inline bool sg_form_may_group(uint64_t size_bytes, int ranks)
{
    return size_bytes <= SG_CLIMB_BYTES_MAX && ranks > SG_FLAT_RANKS_MAX;
}

/* Ranks of a group: cores that share a cache, at most the limit of a flat exchange; more if there
 * would otherwise be more than SG_GROUPS_MAX groups (docs/decisions/03). */
#define SG_GROUP_RANKS_MIN 4
#define SG_GROUPS_MAX 16
static inline int sg_form_group(int cores, int ranks)
{
    int group = SG_GROUP_RANKS_MIN;

    while (2 * group <= cores && 2 * group <= SG_FLAT_RANKS_MAX)
        group *= 2;
    while (group * SG_GROUPS_MAX < ranks)
        group *= 2;
    return group;
}

/* A broadcast has two forms. */
static inline enum sg_srm_form sg_form_of_broadcast(uint64_t size_bytes)
{
    return size_bytes >= SG_SINGLE_BYTES_MIN ? SG_SRM_SINGLE : SG_SRM_CHUNKS;
}

#endif
