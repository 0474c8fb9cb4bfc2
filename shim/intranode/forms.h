/* Srm's default form inside a node, by ranks and bytes: docs/decisions/03. */
#ifndef SG_INTRANODE_FORMS_H
#define SG_INTRANODE_FORMS_H

#include "algos/lines.h"
#include "algos/parameters.h"
#include "core/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SG_FLAT_RANKS_MAX SG_LINES_FLAT_RANKS
#define SG_FLAT_BYTES_MAX 1024
#define SG_FLAT_BYTES_MAX_OF_TWO 4096
#define SG_CLIMB_BYTES_MAX 4096
#define SG_SINGLE_BYTES_MIN (64u * 1024u)

/* Largest operand of a flat exchange. */
static inline uint64_t sg_form_flat_bytes(int ranks)
{
    return ranks == 2 ? SG_FLAT_BYTES_MAX_OF_TWO : SG_FLAT_BYTES_MAX;
}

/* True if groups may replace the flat or climbing form among `ranks` ranks. */
static inline bool sg_form_may_group(uint64_t size_bytes, int ranks)
{
    return size_bytes <= SG_CLIMB_BYTES_MAX && ranks > SG_FLAT_RANKS_MAX;
}

/* Default form of a barrier, reduce or allreduce; the node's memory may force another one.
 * grouped_bytes: largest operand of groups, 0: none. A reduce climbs: its contributors wait for
 * nobody there (docs/decisions/03). */
static inline enum sg_srm_form sg_form_of(enum sg_operation operation, uint64_t size_bytes,
                                          int ranks, uint32_t grouped_bytes)
{
    if (size_bytes <= sg_form_flat_bytes(ranks) && ranks <= SG_FLAT_RANKS_MAX)
        return SG_SRM_FLAT;
    if (operation != SG_OPERATION_REDUCE && grouped_bytes > 0 && size_bytes <= grouped_bytes &&
        sg_form_may_group(size_bytes, ranks))
        return SG_SRM_GROUPS;
    return size_bytes <= SG_CLIMB_BYTES_MAX ? SG_SRM_CLIMB : SG_SRM_CHUNKS;
}

/* Ranks of a group where the machine's caches are unknown: the limit of a flat exchange, more if
 * there would otherwise be more than SG_GROUPS_MAX groups. */
#define SG_GROUPS_MAX 16
static inline int sg_form_group(int ranks)
{
    int group = SG_FLAT_RANKS_MAX;

    while (group * SG_GROUPS_MAX < ranks)
        group *= 2;
    return group;
}

#define SG_FORM_TEXT_BYTES 128

/* "groups of 8 ranks, 32 in an outer group, up to 48 bytes (by the model 1112 ns, climb 2055)", or
 * "climb (by the model ...)": the default form of a choice. */
static inline const char *sg_form_describe(const struct sg_lines_choice *choice,
                                           char text[SG_FORM_TEXT_BYTES])
{
    char outer[40] = "";

    if (choice->sizes.outer > 0)
        snprintf(outer, sizeof outer, ", %d in an outer group", choice->sizes.outer);
    if (choice->bytes > 0)
        snprintf(text, SG_FORM_TEXT_BYTES,
                 "groups of %d ranks%s, up to %u bytes (by the model %.0f ns, climb %.0f)",
                 choice->sizes.group, outer, choice->bytes, choice->groups_ns, choice->climb_ns);
    else
        snprintf(text, SG_FORM_TEXT_BYTES, "climb (by the model %.0f ns, groups are slower)",
                 choice->climb_ns);
    return text;
}

/* A broadcast has two forms. */
static inline enum sg_srm_form sg_form_of_broadcast(uint64_t size_bytes)
{
    return size_bytes >= SG_SINGLE_BYTES_MIN ? SG_SRM_SINGLE : SG_SRM_CHUNKS;
}

#endif
