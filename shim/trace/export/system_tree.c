#include "trace/export/system_tree.h"

#include "core/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define MACHINE 0
#define FIRST_HOST 1

/* ---- numbering ------------------------------------------------------------------------------ */

/* Nodes by what they are, with open addressing: there may be as many cores as ranks. */
struct node_table {
    uint32_t *slots; /* 0: free */
    size_t size;     /* a power of two, more than twice the nodes */
};

static bool is_node(const struct sg_tree_node *node, uint32_t parent,
                    const struct sg_summary *summary, struct sg_socket place)
{
    return node->parent == parent && node->place.socket == place.socket &&
           node->place.core == place.core && node->summary->machine == summary->machine &&
           strcmp(node->summary->host, summary->host) == 0;
}

/* Of a parent; new ones get the next number. */
static uint32_t find_node(struct sg_system_tree *tree, struct node_table *table, uint32_t parent,
                          const struct sg_summary *summary, struct sg_socket place)
{
    const uint64_t key[] = {parent, place.socket, place.core, summary->machine};
    uint64_t hash = sg_hash_bytes(SG_HASH_START, key, sizeof key);
    size_t at = sg_hash_bytes(hash, summary->host, strlen(summary->host)) & (table->size - 1);

    while (table->slots[at] != 0) {
        if (is_node(&tree->nodes[table->slots[at]], parent, summary, place))
            return table->slots[at];
        at = (at + 1) & (table->size - 1);
    }
    tree->nodes[tree->count] = (struct sg_tree_node){summary, parent, place};
    return table->slots[at] = tree->count++;
}

static uint32_t place_rank(struct sg_system_tree *tree, struct node_table *table,
                           const struct sg_summary *summary)
{
    struct sg_socket place = {0};
    uint32_t node = find_node(tree, table, MACHINE, summary, place);

    if (summary->place.socket == 0)
        return node;
    place.socket = summary->place.socket;
    node = find_node(tree, table, node, summary, place);
    if (summary->place.core == 0)
        return node;
    place.core = summary->place.core;
    return find_node(tree, table, node, summary, place);
}

/* The host where there is one only, else the kind of system. */
static const char *name_machine(struct sg_system_tree *tree, const struct sg_unified *unified)
{
    struct utsname system;
    uint32_t hosts = 0;

    for (uint32_t i = FIRST_HOST; i < tree->count; i++)
        hosts += tree->nodes[i].parent == MACHINE;
    if (hosts == 1)
        return unified->summaries[0].host;
    snprintf(tree->system, sizeof tree->system, "%s",
             uname(&system) == 0 ? system.sysname : "machine");
    return tree->system;
}

bool sg_system_tree_make(struct sg_system_tree *tree, const struct sg_unified *unified)
{
    size_t ranks = (size_t)unified->world_size;
    struct node_table table = {.size = 16};

    while (table.size < 8 * ranks)
        table.size *= 2;
    table.slots = calloc(table.size, sizeof *table.slots);
    tree->nodes = calloc(3 * ranks + FIRST_HOST, sizeof *tree->nodes);
    tree->parents = calloc(ranks, sizeof *tree->parents);
    if (table.slots == NULL || tree->nodes == NULL || tree->parents == NULL) {
        free(table.slots);
        return false;
    }
    tree->nodes[tree->count++] = (struct sg_tree_node){.parent = UINT32_MAX};
    for (size_t rank = 0; rank < ranks; rank++) {
        const struct sg_summary *summary = sg_unified_summary(unified, (uint32_t)rank);

        tree->parents[rank] =
            summary != NULL ? place_rank(tree, &table, summary) : (uint32_t)FIRST_HOST;
    }
    free(table.slots);
    tree->machine = name_machine(tree, unified);
    return true;
}

void sg_system_tree_clear(struct sg_system_tree *tree)
{
    free(tree->nodes);
    free(tree->parents);
    *tree = (struct sg_system_tree){0};
}

/* ---- writing -------------------------------------------------------------------------------- */

static void write_node(struct sg_archive *archive, OTF2_GlobalDefWriter *writer, uint32_t number,
                       uint32_t name, uint32_t kind, uint32_t parent, OTF2_SystemTreeDomain domain)
{
    if (writer == NULL)
        return;
    sg_archive_check(archive, OTF2_GlobalDefWriter_WriteSystemTreeNode(
                                  writer, number, name, kind,
                                  number == MACHINE ? OTF2_UNDEFINED_SYSTEM_TREE_NODE : parent));
    sg_archive_check(archive,
                     OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(writer, number, domain));
}

void sg_system_tree_write(const struct sg_system_tree *tree, struct sg_archive *archive,
                          struct sg_unified *unified, OTF2_GlobalDefWriter *writer)
{
    struct sg_strings *strings = &unified->strings;

    write_node(archive, writer, MACHINE, sg_strings_add(strings, tree->machine),
               sg_strings_add(strings, "machine"), MACHINE, OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
    for (uint32_t i = FIRST_HOST; i < tree->count; i++) {
        const struct sg_tree_node *node = &tree->nodes[i];
        uint32_t name;

        if (node->place.core != 0) {
            name = sg_strings_addf(strings, "core %u", node->place.core - 1);
            write_node(archive, writer, i, name, sg_strings_add(strings, "core"), node->parent,
                       OTF2_SYSTEM_TREE_DOMAIN_CORE);
        } else if (node->place.socket != 0) {
            name = sg_strings_addf(strings, "socket %u", node->place.socket - 1);
            write_node(archive, writer, i, name, sg_strings_add(strings, "socket"), node->parent,
                       OTF2_SYSTEM_TREE_DOMAIN_SOCKET);
        } else {
            name = sg_strings_add(strings, node->summary->host);
            write_node(archive, writer, i, name, sg_strings_add(strings, "node"), node->parent,
                       OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
        }
    }
}
