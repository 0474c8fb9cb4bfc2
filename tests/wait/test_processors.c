/* Tests whether a rank decides that its processors are too few. Masks, threads, control groups
 * and the clock are this file's. */
#include "core/cgroup.h"
#include "core/clock.h"
#include "lib/unit.h"
#include "wait/processors.h"
#include "wait/scheduling_group.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

enum { RANKS = 3, MACHINE = 7, THREAD = 100, LATER_S = 2 };

/* Affinity masks by rank, a bit per processor; rank 0 is this process. */
static unsigned masks[RANKS];
static int rank, reads;
static bool are_readable;
static uint64_t now_ns;
/* The masks that the ranks have reported. */
static char told[RANKS][1024];
static size_t told_bytes;

int clock_gettime(clockid_t id, struct timespec *time)
{
    (void)id;
    time->tv_sec = (time_t)(now_ns / 1000000000);
    time->tv_nsec = (long)(now_ns % 1000000000);
    return 0;
}

pid_t gettid(void)
{
    return THREAD + rank;
}

int sched_getaffinity(pid_t thread, size_t bytes, cpu_set_t *mask)
{
    int of = thread == 0 ? rank : thread - THREAD;

    reads += thread != 0;
    if (thread != 0 && !are_readable) {
        errno = ESRCH;
        return -1;
    }
    CPU_ZERO_S(bytes, mask);
    for (size_t i = 0; i < 8; i++) {
        if (masks[of] & 1u << i)
            CPU_SET_S(i, bytes, mask);
    }
    return 0;
}

bool sg_cgroup_own(const char *processes, const char *systems, struct sg_cgroup *out)
{
    (void)processes, (void)systems, (void)out;
    return false;
}

uint64_t sg_scheduling_group(const char *proc)
{
    (void)proc;
    return 0;
}

/* Keeps what a rank tells; rank 0, which comes last, is given all. */
static enum sg_status gather(void *context, const void *data, size_t bytes, void **all,
                             size_t *sizes)
{
    (void)context;
    if (bytes > sizeof told[0])
        return SG_ERR_SYSTEM;
    memcpy(told[rank], data, bytes);
    told_bytes = bytes;
    if (rank != 0)
        return SG_ERR_SYSTEM;
    *all = malloc(RANKS * bytes);
    for (int i = 0; i < RANKS; i++) {
        memcpy((char *)*all + (size_t)i * bytes, told[i], bytes);
        sizes[i] = bytes;
    }
    return SG_OK;
}

static enum sg_status broadcast(void *context, void *data, size_t bytes)
{
    (void)context, (void)data, (void)bytes;
    return SG_OK;
}

static void start(unsigned first, unsigned second, unsigned third)
{
    struct sg_exchange exchange = {.size = RANKS, .gather = gather, .broadcast = broadcast};

    masks[0] = first, masks[1] = second, masks[2] = third;
    are_readable = true;
    for (rank = RANKS - 1; rank >= 0; rank--) {
        exchange.rank = rank;
        sg_processors_start(&exchange, MACHINE);
    }
    rank = 0;
}

static bool is_short_with(unsigned first, unsigned second, unsigned third)
{
    masks[0] = first, masks[1] = second, masks[2] = third;
    sg_processors_look_again();
    return sg_processors_are_short();
}

TEST("ranks are counted against the processors of all of them")
{
    start(0xf, 0xf, 0xf);
    EXPECT(!sg_processors_are_short());
    start(3, 3, 3);
    EXPECT(sg_processors_are_short());
    start(1, 2, 4);
    EXPECT(!sg_processors_are_short());
}

TEST("a rank that binds itself leaves the other ranks their processors")
{
    start(0xf, 0xf, 0xf);
    EXPECT(!is_short_with(3, 0xf, 0xf), !is_short_with(1, 0xf, 0xf), !is_short_with(3, 0xc, 0xc));
}

TEST("ranks that all bind themselves are short only of processors they share")
{
    start(0xf, 0xf, 0xf);
    EXPECT(is_short_with(3, 3, 3), !is_short_with(1, 2, 4), is_short_with(8, 2, 8));
    /* As short as they were, each has now one. */
    start(3, 3, 3);
    EXPECT(!is_short_with(1, 2, 4));
}

TEST("ranks notice others that bind themselves within two seconds")
{
    start(3, 0xc, 0xc);
    EXPECT(!is_short_with(3, 3, 3));
    now_ns += LATER_S * UINT64_C(1000000000);
    EXPECT(is_short_with(3, 3, 3));
    now_ns += LATER_S * UINT64_C(1000000000);
    EXPECT(!is_short_with(3, 4, 8));
}

TEST("an unreadable mask keeps its last value")
{
    start(0xf, 0xf, 0xf);
    are_readable = false;
    EXPECT(!is_short_with(3, 3, 3));
    start(3, 3, 3);
    are_readable = false;
    EXPECT(is_short_with(1, 2, 4));
}

TEST("other ranks' masks are read rarely")
{
    start(0xf, 0xf, 0xf);
    reads = 0;
    for (int i = 0; i < 1000; i++)
        is_short_with(0xf, 0xf, 0xf);
    EXPECT(reads == 0);
}
