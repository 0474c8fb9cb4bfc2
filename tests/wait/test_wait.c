/* When a rank that waits in one of the library's own collectives sleeps: the clock, sched_yield,
 * futex and what is known of processors are this file's.
 */
#include "lib/unit.h"
#include "mpi/real.h"
#include "wait/processors.h"
#include "wait/turn.h"
#include "wait/wait.h"

#include <sched.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STEP_NS 300

static uint64_t now_ns;
static bool apart;
static int sleeps;

struct sg_real sg_real;

int clock_gettime(clockid_t id, struct timespec *time)
{
    (void)id;
    time->tv_sec = (time_t)(now_ns / 1000000000);
    time->tv_nsec = (long)(now_ns % 1000000000);
    return 0;
}

int sched_yield(void)
{
    now_ns += STEP_NS;
    return 0;
}

long syscall(long number, ...)
{
    sleeps += number == SYS_futex;
    now_ns += 1000;
    return 0;
}

bool sg_processors_are_short(void)
{
    return true;
}

bool sg_processors_keep_apart(void)
{
    return apart;
}

void sg_processors_look_again(void)
{
}

static int probe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    (void)source, (void)tag, (void)comm, (void)status;
    *flag = 0;
    return MPI_SUCCESS;
}

static bool never_ready(void *context)
{
    (void)context;
    return false;
}

/* How often one sleeps in a wait of so many steps. */
static int sleeps_in(enum sg_wait_mode mode, int steps)
{
    static _Atomic uint32_t sleepers, wake;
    const struct sg_wait_queue queue = {.sleepers = &sleepers, .wake = &wake};
    struct sg_wait wait = {0};

    sg_real.Iprobe = probe;
    sg_turn_start(mode, false);
    sleeps = 0;
    for (int i = 0; i < steps; i++)
        sg_wait_step(&wait, &queue, never_ready, NULL);
    return sleeps;
}

static void in_one_group(void)
{
    apart = false;
    CU_ASSERT_EQUAL(sleeps_in(SG_WAIT_AUTO, 200), 0);
    CU_ASSERT_TRUE(sleeps_in(SG_WAIT_AUTO, 2000) > 0);
}

static void kept_apart(void)
{
    apart = true;
    CU_ASSERT_EQUAL(sleeps_in(SG_WAIT_AUTO, 10), 0);
    CU_ASSERT_TRUE(sleeps_in(SG_WAIT_AUTO, 200) > 0);
}

static void asked_not_to(void)
{
    apart = true;
    CU_ASSERT_EQUAL(sleeps_in(SG_WAIT_YIELD, 2000), 0);
}

const struct unit_test unit_tests[] = {
    {"ranks of one scheduling group yield for long before they sleep", in_one_group},
    {"ranks whose yields may reach nobody soon sleep", kept_apart},
    {"who is asked to yield never sleeps", asked_not_to},
    {NULL, NULL},
};
