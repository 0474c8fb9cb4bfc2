/* Tests the search for cores that share a cache, in trees of files made as the kernel shows them.
 */
#include "core/calibration.h"
#include "lib/unit.h"

static const char *root;

static void put(const char *name, const char *text)
{
    unit_write(text, "%s/devices/system/cpu/cpu0/%s", root, name);
}

TEST("cores that share the last cache are counted, not their hardware threads")
{
    root = unit_fresh_directory();
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

TEST("a missing or malformed list gives 0")
{
    EXPECT(sg_caches_cores("/nowhere") == 0);
    root = unit_fresh_directory();
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
