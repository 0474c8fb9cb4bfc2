/* Reads the kernel's lists of processors that share something. Each list is read once, for its
 * first processor that is wanted, and covers all the others: some hundred files instead of
 * thousands on a machine of 256 processors. */
#include "core/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 512
#define LIST_BYTES 8192 /* 1024 processors with a gap after each need 5 KiB */
#define CACHES_MAX 16

enum part { CORE, CLUSTER, NUMA, SOCKET, PARTS };

struct sg_topology {
    int number[CPU_SETSIZE][PARTS]; /* first processor of the part; -1: unknown */
};

struct reading {
    const char *sys;
    struct sg_topology *topology;
    char path[PATH_BYTES], text[LIST_BYTES];
    cpu_set_t listed;
};

/* Reads the first line of a file below devices/system; false: none. */
static bool read_line(struct reading *reading, const char *name)
{
    FILE *file;
    bool got;

    if (snprintf(reading->path, PATH_BYTES, "%s/devices/system/%s", reading->sys, name) >=
        PATH_BYTES)
        return false;
    file = fopen(reading->path, "re");
    if (file == NULL)
        return false;
    got = fgets(reading->text, LIST_BYTES, file) != NULL;
    fclose(file);
    return got;
}

/* Parses "0-7,64-71". False: the text is no list of processors, or has none. */
static bool parse_list(const char *text, cpu_set_t *out)
{
    CPU_ZERO(out);
    for (const char *at = text;; at++) {
        char *end;
        unsigned long first = strtoul(at, &end, 10), last = first;

        if (end == at || *at < '0' || *at > '9')
            return false;
        if (*end == '-') {
            at = end + 1;
            last = strtoul(at, &end, 10);
            if (end == at || *at < '0' || *at > '9')
                return false;
        }
        if (last < first || last >= CPU_SETSIZE)
            return false;
        for (; first <= last; first++)
            CPU_SET((int)first, out);
        at = end;
        if (*at != ',')
            return *at == '\n' || *at == '\0';
    }
}

static int first_of(const cpu_set_t *set)
{
    int first = 0;

    while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, set))
        first++;
    return first;
}

/* Numbers a part whose processors are in reading->text. */
static bool take_list(struct reading *reading, enum part part)
{
    int first;

    if (!parse_list(reading->text, &reading->listed))
        return false;
    first = first_of(&reading->listed);
    for (int processor = first; processor < CPU_SETSIZE; processor++) {
        if (CPU_ISSET(processor, &reading->listed))
            reading->topology->number[processor][part] = first;
    }
    return true;
}

static bool read_list(struct reading *reading, int processor, const char *file, enum part part)
{
    char name[64];

    snprintf(name, sizeof name, "cpu/cpu%d/%s", processor, file);
    /* A list without its own processor would leave that unknown. */
    return read_line(reading, name) && take_list(reading, part) &&
           reading->topology->number[processor][part] >= 0;
}

static bool read_cluster(struct reading *reading, int processor)
{
    char name[64];
    int last_level = 0, last = -1;

    for (int i = 0; i < CACHES_MAX; i++) {
        int level;

        snprintf(name, sizeof name, "cpu/cpu%d/cache/index%d/level", processor, i);
        if (!read_line(reading, name))
            break;
        level = atoi(reading->text);
        if (level > last_level) {
            last_level = level;
            last = i;
        }
    }
    if (last < 0)
        return false;
    snprintf(name, sizeof name, "cache/index%d/shared_cpu_list", last);
    return read_list(reading, processor, name, CLUSTER);
}

static void read_nodes(struct reading *reading)
{
    char name[64];
    cpu_set_t nodes;

    if (!(read_line(reading, "node/has_cpu") || read_line(reading, "node/online")) ||
        !parse_list(reading->text, &nodes))
        return;
    for (int node = 0; node < CPU_SETSIZE; node++) {
        snprintf(name, sizeof name, "node/node%d/cpulist", node);
        if (CPU_ISSET(node, &nodes) && read_line(reading, name))
            take_list(reading, NUMA);
    }
}

static bool read_processor(struct reading *reading, int processor)
{
    int *number = reading->topology->number[processor];

    if ((number[CLUSTER] < 0 && !read_cluster(reading, processor)) ||
        (number[CORE] < 0 &&
         !read_list(reading, processor, "topology/thread_siblings_list", CORE)) ||
        (number[SOCKET] < 0 &&
         !read_list(reading, processor, "topology/core_siblings_list", SOCKET)))
        return false;
    if (number[NUMA] < 0)
        number[NUMA] = number[SOCKET];
    return true;
}

struct sg_topology *sg_topology_read(const char *sys, const cpu_set_t *wanted)
{
    struct sg_topology *topology = malloc(sizeof *topology);
    struct reading *reading = calloc(1, sizeof *reading);
    bool is_known = topology != NULL && reading != NULL;

    if (is_known) {
        memset(topology, 0xff, sizeof *topology); /* -1 */
        reading->sys = sys;
        reading->topology = topology;
        read_nodes(reading);
        for (int processor = 0; processor < CPU_SETSIZE && is_known; processor++)
            is_known = !CPU_ISSET(processor, wanted) || read_processor(reading, processor);
    }
    free(reading);
    if (is_known)
        return topology;
    free(topology);
    return NULL;
}

void sg_topology_free(struct sg_topology *topology)
{
    free(topology);
}

/* ---- places of ranks ---- */

/* Ranks dealt to each processor and part so far. */
struct load {
    int of[PARTS][CPU_SETSIZE];
    int processor[CPU_SETSIZE];
};

/* True if a rank would have more to itself on `one`. */
static bool is_idler(const struct sg_topology *topology, const struct load *load, int one,
                     int other)
{
    static const enum part parts[] = {SOCKET, NUMA, CLUSTER, CORE};

    for (int i = 0; i < PARTS; i++) {
        const int *loads = load->of[parts[i]];
        int here = loads[topology->number[one][parts[i]]];
        int there = loads[topology->number[other][parts[i]]];

        if (here != there)
            return here < there;
    }
    return load->processor[one] < load->processor[other];
}

/* A list of another processor may show one part of a processor that nobody wanted. */
static bool is_known(const struct sg_topology *topology, int processor)
{
    for (int part = 0; part < PARTS; part++) {
        if (topology->number[processor][part] < 0)
            return false;
    }
    return true;
}

static int deal_one(const struct sg_topology *topology, const cpu_set_t *mask, struct load *load)
{
    int found = -1;

    for (int processor = 0; processor < CPU_SETSIZE; processor++) {
        if (CPU_ISSET(processor, mask) && is_known(topology, processor) &&
            (found < 0 || is_idler(topology, load, processor, found)))
            found = processor;
    }
    return found;
}

bool sg_topology_deal(const struct sg_topology *topology, const cpu_set_t *masks, int ranks,
                      struct sg_place *places)
{
    struct load *load = calloc(1, sizeof *load);
    int processor = load != NULL ? 0 : -1;

    for (int rank = 0; rank < ranks && processor >= 0; rank++) {
        const int *number;

        processor = deal_one(topology, &masks[rank], load);
        if (processor < 0)
            break;
        number = topology->number[processor];
        places[rank] =
            (struct sg_place){number[CORE], number[CLUSTER], number[NUMA], number[SOCKET]};
        load->processor[processor]++;
        for (int part = 0; part < PARTS; part++)
            load->of[part][number[part]]++;
    }
    free(load);
    return processor >= 0;
}

/* ---- text ---- */

/* Counts the parts that have wanted processors. */
static int count_parts(const struct sg_topology *topology, const cpu_set_t *wanted, enum part part)
{
    cpu_set_t seen;

    CPU_ZERO(&seen);
    for (int processor = 0; processor < CPU_SETSIZE; processor++) {
        if (CPU_ISSET(processor, wanted))
            CPU_SET(topology->number[processor][part], &seen);
    }
    return CPU_COUNT(&seen);
}

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

const char *sg_topology_describe(const struct sg_topology *topology, const cpu_set_t *wanted,
                                 char text[SG_TOPOLOGY_TEXT_BYTES])
{
    int processors = CPU_COUNT(wanted), cores = count_parts(topology, wanted, CORE);
    int clusters = count_parts(topology, wanted, CLUSTER);
    int nodes = count_parts(topology, wanted, NUMA),
        sockets = count_parts(topology, wanted, SOCKET);

    snprintf(text, SG_TOPOLOGY_TEXT_BYTES,
             "%d processor%s, %d core%s, %d last-level cache%s, %d NUMA node%s, %d socket%s",
             processors, plural(processors), cores, plural(cores), clusters, plural(clusters),
             nodes, plural(nodes), sockets, plural(sockets));
    return text;
}
