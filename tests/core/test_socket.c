/* Tests sockets and cores of processors, in trees of files made as the kernel shows them. */
#include "core/file.h"
#include "lib/unit.h"

static const char *root;

static void put(int processor, const char *name, int number)
{
    char text[16];

    snprintf(text, sizeof text, "%d\n", number);
    unit_write(text, "%s/devices/system/cpu/cpu%d/topology/%s", root, processor, name);
}

/* Two sockets of two cores of two threads: as many systems number them, threads last. */
static void machine(void)
{
    root = unit_fresh_directory();
    for (int processor = 0; processor < 8; processor++) {
        put(processor, "physical_package_id", processor / 2 % 2);
        put(processor, "core_id", processor % 2);
    }
}

/* processors: ends with -1. */
static void expect(uint32_t socket, uint32_t core, const int *processors)
{
    cpu_set_t mask;

    CPU_ZERO(&mask);
    for (; *processors >= 0; processors++)
        CPU_SET(*processors, &mask);
    struct sg_socket place = sg_socket_of(root, &mask);
    EXPECT(place.socket == socket, place.core == core);
}

#define SHARES(socket, core, ...) expect(socket, core, (const int[]){__VA_ARGS__, -1})

TEST("processors of one core have its socket and its core")
{
    machine();
    SHARES(1, 1, 0);
    SHARES(1, 2, 1);
    SHARES(2, 1, 2);
    SHARES(2, 2, 7);
    SHARES(2, 2, 3, 7);
}

TEST("processors of several cores have a socket if they share one")
{
    machine();
    SHARES(1, 0, 0, 1);
    SHARES(1, 0, 0, 4, 5);
    SHARES(1, 0, 0, 1, 4);
    SHARES(0, 0, 0, 2);
    SHARES(0, 0, 0, 1, 2, 3, 4, 5, 6, 7);
    SHARES(0, 0, -1);
}

TEST("topology that the kernel does not report is unknown")
{
    machine();
    put(2, "physical_package_id", -1);
    SHARES(0, 0, 2);
    SHARES(0, 0, 2, 3);
    put(5, "core_id", -1);
    SHARES(1, 0, 5);
    SHARES(1, 0, 1, 5);
    SHARES(1, 0, 5, 1);
    SHARES(1, 2, 1);
    SHARES(0, 0, 9);
}
