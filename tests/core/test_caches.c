/* Tests the search for cores that share a cache, in trees of files made as the kernel shows them.
 */
#include "core/calibration.h"
#include "lib/unit.h"

#include <sys/stat.h>

static char root[256];

/* A new tree with the first processor's folders. */
static void fresh(void)
{
    static const char *const folders[] = {"",
                                          "/devices",
                                          "/devices/system",
                                          "/devices/system/cpu",
                                          "/devices/system/cpu/cpu0",
                                          "/devices/system/cpu/cpu0/cache",
                                          "/devices/system/cpu/cpu0/cache/index0",
                                          "/devices/system/cpu/cpu0/cache/index1",
                                          "/devices/system/cpu/cpu0/cache/index2",
                                          "/devices/system/cpu/cpu0/topology"};
    static int number;
    char path[512];

    snprintf(root, sizeof root, "%s/%d", unit_directory(), number++);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s%s", root, folders[i]);
        ASSERT(mkdir(path, 0777) == 0);
    }
}

static void put(const char *name, const char *text)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/devices/system/cpu/cpu0/%s", root, name);
    file = fopen(path, "w");
    ASSERT(file != NULL, fputs(text, file) >= 0);
    fclose(file);
}

TEST("cores that share the last cache are counted, not their threads")
{
    fresh();
    put("cache/index0/level", "1\n");
    put("cache/index0/shared_cpu_list", "0,64\n");
    put("cache/index1/level", "3\n");
    put("cache/index1/shared_cpu_list", "0-7,64-71\n");
    put("cache/index2/level", "2\n");
    put("cache/index2/shared_cpu_list", "0,64\n");
    EXPECT(sg_caches_cores(root) == 16);
    put("topology/thread_siblings_list", "0,64\n");
    EXPECT(sg_caches_cores(root) == 8);
    put("topology/thread_siblings_list", "0\n");
    EXPECT(sg_caches_cores(root) == 16);
}

TEST("what is not told, or is no list, is 0")
{
    EXPECT(sg_caches_cores("/nowhere") == 0);
    fresh();
    EXPECT(sg_caches_cores(root) == 0);
    put("cache/index0/level", "none\n");
    put("cache/index0/shared_cpu_list", "0-3\n");
    EXPECT(sg_caches_cores(root) == 0);
    put("cache/index0/level", "1\n");
    put("cache/index0/shared_cpu_list", "3-0\n");
    EXPECT(sg_caches_cores(root) == 0);
    put("cache/index0/shared_cpu_list", "");
    EXPECT(sg_caches_cores(root) == 0);
    put("cache/index0/shared_cpu_list", "0-3\n");
    put("topology/thread_siblings_list", "\n");
    EXPECT(sg_caches_cores(root) == 4);
}
