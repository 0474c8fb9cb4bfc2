/* The archive's system tree: a machine, below it a node for each host and clock, below a node the
 * sockets and the cores that ranks were bound to. A rank stands as low as its affinity mask tells.
 * On rank 0.
 */
#ifndef SG_TRACE_SYSTEM_TREE_H
#define SG_TRACE_SYSTEM_TREE_H

#include "trace/export/archive.h"
#include "trace/export/unify.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_system_tree {
    struct sg_tree_node {
        const struct sg_summary *summary; /* of the first rank there; NULL: the machine */
        uint32_t parent;
        struct sg_socket place; /* of a socket without a core, of a node neither */
    } * nodes;                  /* by number; the machine is 0 */
    uint32_t count;
    uint32_t *parents;   /* by rank: the node that it stands on */
    const char *machine; /* its name; as long as unified */
    char system[65];     /* the kind of system, where there are several hosts */
};

/* False: out of memory. Clear it in any case; it must not be copied. A rank without a log stands on
 * the first host. */
bool sg_system_tree_make(struct sg_system_tree *tree, const struct sg_unified *unified);
void sg_system_tree_clear(struct sg_system_tree *tree);

/* writer: NULL to collect strings only. */
void sg_system_tree_write(const struct sg_system_tree *tree, struct sg_archive *archive,
                          struct sg_unified *unified, OTF2_GlobalDefWriter *writer);

#endif
