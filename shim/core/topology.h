/* The processors of this machine, by the cores, caches and nodes of memory that they share
 * (/sys/devices/system/cpu, /sys/devices/system/node), and the places of ranks on them.
 *
 * Any thread; opens files and allocates: in set-up only. */
#ifndef SG_CORE_TOPOLOGY_H
#define SG_CORE_TOPOLOGY_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/* A processor's place. Each member numbers parts of the whole machine, by their first
 * processors. */
struct sg_place {
    int core;
    int cluster; /* cores that share a last-level cache */
    int numa;    /* node of memory */
    int socket;
};

struct sg_topology;

/* Reads the places of the wanted processors. sys: "/sys", in tests another directory. NULL: out of
 * memory, or the kernel does not show the caches, cores or sockets of some wanted processor.
 * Without nodes of memory each socket is one. */
struct sg_topology *sg_topology_read(const char *sys, const cpu_set_t *wanted);
void sg_topology_free(struct sg_topology *topology);
/* Finds the places of ranks by their affinity masks. A rank with several processors is dealt one of
 * the idlest socket, node, cluster and core among them, as the kernel starts processes. False: some
 * mask has no processor whose place is known, or no memory is left. */
bool sg_topology_deal(const struct sg_topology *topology, const cpu_set_t *masks, int ranks,
                      struct sg_place *places);

#define SG_TOPOLOGY_TEXT_BYTES 160

/* "128 processors, 64 cores, 8 last-level caches, 4 NUMA nodes, 2 sockets": describes the wanted
 * processors, all of which are known. */
const char *sg_topology_describe(const struct sg_topology *topology, const cpu_set_t *wanted,
                                 char text[SG_TOPOLOGY_TEXT_BYTES]);

#endif
