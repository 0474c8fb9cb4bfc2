/* Tests the reading of the kernel's lists of processors, and the places of ranks, in trees of files
 * made as the kernel shows them. */
#include "core/topology.h"
#include "lib/unit.h"

#define RANKS 64

static const char *root;
static cpu_set_t masks[RANKS];
static struct sg_place places[RANKS];

static void put(int processor, const char *name, const char *text)
{
    unit_write(text, "%s/devices/system/cpu/cpu%d/%s", root, processor, name);
}

static cpu_set_t range(int first, int end)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (; first < end; first++)
        CPU_SET(first, &set);
    return set;
}

/* A processor's lists: its core's, its cluster's and its socket's. */
static void put_lists(int processor, const char *core, const char *cluster, const char *socket)
{
    put(processor, "cache/index0/level", "1\n");
    put(processor, "cache/index0/shared_cpu_list", core);
    put(processor, "cache/index1/level", "3\n");
    put(processor, "cache/index1/shared_cpu_list", cluster);
    put(processor, "cache/index2/level", "2\n");
    put(processor, "cache/index2/shared_cpu_list", core);
    put(processor, "topology/thread_siblings_list", core);
    put(processor, "topology/core_siblings_list", socket);
}

/* 2 sockets of 2 clusters of 2 cores; processors 8 to 15 are second threads. */
static void put_machine(void)
{
    root = unit_fresh_directory();
    for (int core = 0; core < 8; core++) {
        char threads[16], cluster[16], socket[16];
        int first = core / 2 * 2, low = core / 4 * 4;

        snprintf(threads, sizeof threads, "%d,%d\n", core, core + 8);
        snprintf(cluster, sizeof cluster, "%d-%d,%d-%d\n", first, first + 1, first + 8, first + 9);
        snprintf(socket, sizeof socket, "%d-%d,%d-%d\n", low, low + 3, low + 8, low + 11);
        put_lists(core, threads, cluster, socket);
        put_lists(core + 8, threads, cluster, socket);
    }
}

static bool deal(const struct sg_topology *topology, int ranks)
{
    return sg_topology_deal(topology, masks, ranks, places);
}

TEST("ranks bound to processors have the places of these, in any order")
{
    cpu_set_t all = range(0, 16);
    struct sg_topology *topology;
    static const int bound[] = {7, 0, 8, 2};

    put_machine();
    topology = sg_topology_read(root, &all);
    ASSERT(topology != NULL);
    for (int rank = 0; rank < 4; rank++)
        masks[rank] = range(bound[rank], bound[rank] + 1);
    EXPECT(deal(topology, 4));
    EXPECT(places[0].core == 7, places[0].cluster == 6, places[0].numa == 4, places[0].socket == 4);
    EXPECT(places[1].core == 0, places[2].core == 0, places[2].socket == 0);
    EXPECT(places[3].core == 2, places[3].cluster == 2, places[3].numa == 0);
    sg_topology_free(topology);
}

TEST("ranks that are not bound are dealt to the idlest sockets, clusters and cores")
{
    cpu_set_t all = range(0, 16);
    struct sg_topology *topology;
    int on[16] = {0};

    put_machine();
    topology = sg_topology_read(root, &all);
    for (int rank = 0; rank < 16; rank++)
        masks[rank] = all;
    EXPECT(deal(topology, 16));
    EXPECT(places[0].socket != places[1].socket, places[0].cluster != places[2].cluster);
    for (int rank = 0; rank < 16; rank++)
        on[places[rank].core]++;
    for (int core = 0; core < 8; core++)
        EXPECT(on[core] == 2);
    /* Within one socket. */
    for (int rank = 0; rank < 4; rank++)
        masks[rank] = range(4, 8);
    EXPECT(deal(topology, 4));
    for (int rank = 0; rank < 4; rank++)
        EXPECT(places[rank].socket == 4);
    EXPECT(places[0].cluster != places[1].cluster, places[0].core != places[2].core);
    sg_topology_free(topology);
}

TEST("nodes of memory divide a socket, with gaps in their numbers")
{
    cpu_set_t all = range(0, 16);
    struct sg_topology *topology;
    char text[SG_TOPOLOGY_TEXT_BYTES];

    put_machine();
    unit_write("0,2,4-5\n", "%s/devices/system/node/has_cpu", root);
    unit_write("0-1,8-9\n", "%s/devices/system/node/node0/cpulist", root);
    unit_write("2-3,10-11\n", "%s/devices/system/node/node2/cpulist", root);
    unit_write("4-7,12-15\n", "%s/devices/system/node/node4/cpulist", root);
    unit_write("\n", "%s/devices/system/node/node5/cpulist", root); /* memory alone */
    topology = sg_topology_read(root, &all);
    ASSERT(topology != NULL);
    masks[0] = range(3, 4);
    masks[1] = range(15, 16);
    EXPECT(deal(topology, 2), places[0].numa == 2, places[1].numa == 4);
    EXPECT(text_is(sg_topology_describe(topology, &all, text),
                   "16 processors, 8 cores, 4 last-level caches, 3 NUMA nodes, 2 sockets"));
    sg_topology_free(topology);
}

/* A container's ranks may use some processors, of which others are off line. */
TEST("processors that no rank may use need no files")
{
    cpu_set_t some = range(2, 6);
    struct sg_topology *topology;

    root = unit_fresh_directory();
    for (int core = 2; core < 6; core++) {
        char own[16];

        snprintf(own, sizeof own, "%d\n", core);
        put_lists(core, own, core < 4 ? "0-3\n" : "4-5\n", "0-5\n");
    }
    topology = sg_topology_read(root, &some);
    ASSERT(topology != NULL);
    masks[0] = some;
    masks[1] = range(0, 2); /* unknown to the topology */
    EXPECT(deal(topology, 1), !deal(topology, 2));
    masks[1] = range(0, 0);
    EXPECT(!deal(topology, 2));
    sg_topology_free(topology);
}

TEST("missing or malformed lists give no topology")
{
    static const char *const wrong[] = {"",  "\n",    "3-0\n", "0-3,\n",   ",0\n", "0x3\n",
                                        "-", "0 1\n", "+0\n",  "0-2000\n", "1-3\n"};
    static const char *const files[] = {"cache/index1/shared_cpu_list",
                                        "topology/thread_siblings_list",
                                        "topology/core_siblings_list"};
    cpu_set_t one = range(0, 1);
    struct sg_topology *topology;

    EXPECT(sg_topology_read("/nowhere", &one) == NULL);
    for (size_t file = 0; file < sizeof files / sizeof *files; file++) {
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            root = unit_fresh_directory();
            put_lists(0, "0\n", "0\n", "0\n");
            topology = sg_topology_read(root, &one);
            EXPECT(topology != NULL);
            sg_topology_free(topology);
            put(0, files[file], wrong[i]);
            EXPECT(sg_topology_read(root, &one) == NULL);
        }
    }
    root = unit_fresh_directory();
    put_lists(0, "0\n", "0\n", "0\n");
    for (int i = 0; i < 3; i++) {
        char name[40];

        snprintf(name, sizeof name, "cache/index%d/level", i);
        put(0, name, "none\n");
    }
    EXPECT(sg_topology_read(root, &one) == NULL);
}
