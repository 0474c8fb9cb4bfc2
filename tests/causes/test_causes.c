/* Tests the intervals that a log gets from threads that are made up. */
#include "causes/causes.h"
#include "core/clock.h"
#include "core/hash.h"
#include "lib/unit.h"
#include "trace/export/logread.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHARE_RUNS 10
#define SHARE_RUN_NS UINT64_C(300000000)
#define SHARE_SAMPLES 8

static char directory[256];
static struct sg_log *writer;
static uint64_t begin_ns;

/* A log of so many slots of events, and the recording of causes into it. */
static void start(enum sg_causes_mode mode, bool has_events, uint64_t slots)
{
    static int number;
    struct sg_log_options options = {.directory = directory,
                                     .world_size = 1,
                                     .mode = SG_TRACE_OTF2,
                                     .limit_bytes = slots * SG_SLOT_BYTES,
                                     .host = "here",
                                     .program = "test",
                                     .unique = "one"};
    struct sg_causes_options causes = {
        .mode = mode, .has_events = has_events, .places = {"/proc", "/sys", NULL}};

    snprintf(directory, sizeof directory, "%s/%d", unit_directory(), number++);
    CU_ASSERT_EQUAL_FATAL(mkdir(directory, 0777), 0);
    CU_ASSERT_EQUAL_FATAL(sg_log_create(&options, &writer), SG_OK);
    begin_ns = sg_clock_ns();
    causes.log = writer;
    causes.begin_ns = begin_ns;
    sg_causes_start(&causes);
}

/* Returns the number of records of a kind in the log, and the last of them in *last. */
static struct sg_logread *log_read;

static unsigned count(enum sg_record_kind wanted, const void **last)
{
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;
    unsigned found = 0;

    while ((record = sg_logread_next(log_read, &slot, &kind)) != NULL) {
        if (kind != wanted)
            continue;
        found++;
        if (last != NULL)
            *last = record;
    }
    return found;
}

static void stop(void)
{
    struct sg_refusal refusal;
    char path[512];

    sg_causes_stop();
    sg_log_close(writer, SG_LOG_FINALIZED);
    snprintf(path, sizeof path, "%s/" SG_LOG_NAME_FORMAT, directory, 0);
    CU_ASSERT_EQUAL_FATAL(sg_logread_try(path, &log_read, &refusal), SG_OK);
    CU_ASSERT_EQUAL(sg_logread_damaged(log_read), 0);
}

/* A call at a site, of no collective: entered and left. */
static void call(uint32_t site, uint64_t key, uint32_t number)
{
    static uint32_t calls;
    struct sg_causes_call one = {.site = site,
                                 .key = key,
                                 .comm = key != 0,
                                 .number = number,
                                 .calls = calls++,
                                 .now_ns = sg_clock_ns()};

    one.hash = sg_hash_mix(key != 0 ? key + number : ((uint64_t)site << 32) + one.calls);
    if (sg_causes_samples)
        sg_causes_enter();
    if (atomic_load(&sg_causes_is_on) && !sg_causes_drops(key != 0, one.hash, one.now_ns))
        sg_causes_leave(&one);
}

static void every_interval(void)
{
    const struct sg_record_causes *totals = NULL;
    const struct sg_record_interval *interval = NULL;
    const struct sg_record_interval_sum *sum = NULL;

    start(SG_CAUSES_ALL, true, 65536);
    for (uint32_t i = 0; i < 100; i++)
        call(5, 0, 0);
    stop();
    CU_ASSERT_EQUAL(count(SG_RECORD_INTERVAL, (const void **)&interval), 100);
    CU_ASSERT_EQUAL(interval->left, 5);
    CU_ASSERT_EQUAL(interval->entered, 0); /* the end of the run */
    CU_ASSERT_TRUE(interval->begin_ns >= begin_ns && interval->begin_ns <= interval->end_ns);
    CU_ASSERT_EQUAL(count(SG_RECORD_INTERVAL_SUM, (const void **)&sum), 2);
    CU_ASSERT_EQUAL(count(SG_RECORD_CAUSES, (const void **)&totals), 1);
    CU_ASSERT_EQUAL(totals->intervals, 100);
    CU_ASSERT_EQUAL(totals->left_out, 0);
    CU_ASSERT_TRUE(totals->cost_ns > 0 && totals->time_ns > 0);
    CU_ASSERT_EQUAL(count(SG_RECORD_SOURCE, NULL), SG_SOURCE_COUNT);
    sg_logread_close(log_read);
}

static void sums_alone(void)
{
    const struct sg_record_interval_sum *sum = NULL;

    start(SG_CAUSES_ALL, false, 65536);
    for (uint32_t i = 0; i < 1000; i++)
        call(1 + i % 100, 0, 0);
    stop();
    CU_ASSERT_EQUAL(count(SG_RECORD_INTERVAL, NULL), 0);
    /* 1 to 2 ... 100 to 1, and 100 to the end. */
    CU_ASSERT_EQUAL(count(SG_RECORD_INTERVAL_SUM, (const void **)&sum), 101);
    CU_ASSERT_EQUAL(sum->intervals, 1);
    sg_logread_close(log_read);
}

/* Two communicators with one stretch each: an interval belongs to the stretch it lies in, or to
 * the inner one if it lies in both. */
static void stretches(void)
{
    const uint64_t outer = sg_hash_mix(1) | 1, inner = sg_hash_mix(2) | 1;
    const struct sg_record_interval *interval;
    enum sg_record_kind kind;
    uint64_t slot = 0;
    unsigned firsts = 0, lasts = 0, stretched = 0, number = 0;

    start(SG_CAUSES_ALL, true, 65536);
    call(1, outer, 7); /* begins 7 of outer */
    call(2, 0, 0);
    call(3, inner, 0); /* begins 0 of inner */
    call(2, 0, 0);
    call(3, inner, 1); /* ends it, and begins 1 */
    call(1, outer, 8); /* ends 7 of outer */
    stop();
    while ((interval = sg_logread_next(log_read, &slot, &kind)) != NULL) {
        static const uint32_t numbers[] = {7, 7, 0, 0, 1, 8};

        if (kind != SG_RECORD_INTERVAL)
            continue;
        CU_ASSERT_EQUAL(interval->number, numbers[number % 6]);
        number++;
        stretched += (interval->flags & SG_INTERVAL_STRETCH) != 0;
        firsts += (interval->flags & SG_INTERVAL_FIRST) != 0;
        lasts += (interval->flags & SG_INTERVAL_LAST) != 0;
    }
    CU_ASSERT_EQUAL(number, 6);
    CU_ASSERT_EQUAL(stretched, 6);
    CU_ASSERT_EQUAL(firsts, 4);
    CU_ASSERT_EQUAL(lasts, 1); /* inner's: the way to 8 lies in inner's last stretch */
    sg_logread_close(log_read);
}

/* Records fill their share of the log, no more; what is left out is counted, and in the sums. */
static void room(void)
{
    const struct sg_record_causes *totals = NULL;
    const struct sg_record_interval_sum *sum = NULL;
    unsigned kept;

    start(SG_CAUSES_ALL, true, 65536);
    for (uint32_t i = 0; i < 20000; i++)
        call(1, 0, 0);
    stop();
    kept = count(SG_RECORD_INTERVAL, NULL);
    CU_ASSERT_TRUE(kept <= 65536 / 8 / SG_INTERVAL_SLOTS);
    CU_ASSERT_TRUE(kept > 65536 / 8 / SG_INTERVAL_SLOTS / 2);
    count(SG_RECORD_CAUSES, (const void **)&totals);
    CU_ASSERT_EQUAL(totals->left_out + kept, 20000);
    CU_ASSERT_EQUAL(totals->intervals, 20000);
    count(SG_RECORD_INTERVAL_SUM, (const void **)&sum);
    CU_ASSERT_EQUAL(sg_logread_header(log_read)->dropped_events, 0);
    sg_logread_close(log_read);
}

static long preempted(void)
{
    struct rusage usage;

    CU_ASSERT_EQUAL(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_nivcsw;
}

/* The share is of a thread that runs. What a reading took that was preempted nobody knows: such a
 * run is made again. Costs are measured, and those of the first samples are known only when they
 * are over: the share and a few samples are allowed. test_sampler is exact. */
static void samples_have_a_share(void)
{
    const struct sg_record_causes *totals = NULL;
    bool disturbed = true;
    double cost_ns, elapsed_ns = 0;

    for (int run = 0; run < SHARE_RUNS && disturbed; run++) {
        long before = preempted();

        if (run > 0)
            sg_logread_close(log_read);
        start(SG_CAUSES_SAMPLE, true, 65536);
        for (uint32_t i = 0; i % 1000 != 0 || sg_clock_ns() - begin_ns < SHARE_RUN_NS; i++)
            call(1, i % 3 == 0 ? 99 : 0, i / 3);
        elapsed_ns = (double)(sg_clock_ns() - begin_ns);
        stop();
        disturbed = preempted() != before;
    }
    count(SG_RECORD_CAUSES, (const void **)&totals);
    CU_ASSERT_TRUE_FATAL(totals->intervals > 0);
    cost_ns = (double)totals->cost_ns;
    CU_ASSERT_TRUE(cost_ns < SG_CAUSES_SHARE * elapsed_ns +
                                 SHARE_SAMPLES * cost_ns / (double)totals->intervals);
    sg_logread_close(log_read);
}

static void errno_stays(void)
{
    start(SG_CAUSES_ALL, true, 65536);
    for (uint32_t i = 0; i < 1000; i++) {
        errno = 4711;
        call(1 + i, 0, 0);
        CU_ASSERT_EQUAL_FATAL(errno, 4711);
    }
    stop();
    sg_logread_close(log_read);
}

static void skipped(void)
{
    start(SG_CAUSES_ALL, true, 65536);
    call(1, 0, 0);
    sg_causes_skip();
    CU_ASSERT_FALSE(sg_causes_samples);
    call(2, 0, 0);
    call(3, 0, 0);
    stop();
    CU_ASSERT_EQUAL(count(SG_RECORD_INTERVAL, NULL), 2);
    sg_logread_close(log_read);
}

static void set_to_zero(void)
{
    const struct sg_record_interval_sum *sum = NULL;

    start(SG_CAUSES_ALL, false, 65536);
    for (uint32_t i = 0; i < 10; i++)
        call(1, 0, 0);
    sg_causes_reset();
    for (uint32_t i = 0; i < 3; i++)
        call(1, 0, 0);
    sg_causes_skip();
    stop();
    CU_ASSERT_EQUAL(count(SG_RECORD_INTERVAL_SUM, (const void **)&sum), 1);
    CU_ASSERT_EQUAL(sum->intervals, 3);
    CU_ASSERT_TRUE((sum->mask & 1u << SG_FIGURE_CPU) != 0);
    sg_logread_close(log_read);
}

/* A child of fork leaves the log alone. */
static void children(void)
{
    int status;
    pid_t child;

    start(SG_CAUSES_ALL, true, 65536);
    call(1, 0, 0);
    child = fork();
    if (child == 0) {
        sg_causes_forget();
        call(2, 0, 0);
        call(3, 0, 0);
        _exit(sg_causes_samples);
    }
    CU_ASSERT_TRUE_FATAL(waitpid(child, &status, 0) == child);
    CU_ASSERT_EQUAL(status, 0);
    call(4, 0, 0);
    stop();
    CU_ASSERT_EQUAL(count(SG_RECORD_INTERVAL, NULL), 2);
    sg_logread_close(log_read);
}

static void *make_calls(void *unused)
{
    for (uint32_t i = 0; i < 10; i++)
        call(9, 0, 0);
    return NULL;
}

static void threads(void)
{
    const struct sg_record_interval_sum *sum;
    enum sg_record_kind kind;
    uint64_t slot = 0, intervals[3] = {0};

    start(SG_CAUSES_ALL, false, 65536);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;

        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, make_calls, NULL), 0);
        pthread_join(thread, NULL);
    }
    stop();
    while ((sum = sg_logread_next(log_read, &slot, &kind)) != NULL) {
        if (kind == SG_RECORD_INTERVAL_SUM)
            intervals[sum->thread < 2 ? sum->thread : 2] += sum->intervals;
    }
    CU_ASSERT_EQUAL(intervals[2], 0);
    CU_ASSERT_EQUAL(intervals[0] + intervals[1], 20 * 9);
    sg_logread_close(log_read);
}

static void off(void)
{
    start(SG_CAUSES_OFF, true, 65536);
    CU_ASSERT_FALSE(atomic_load(&sg_causes_is_on));
    call(1, 0, 0);
    stop();
    CU_ASSERT_EQUAL(count(SG_RECORD_CAUSES, NULL), 0);
    CU_ASSERT_EQUAL(count(SG_RECORD_SOURCE, NULL), 0);
    sg_logread_close(log_read);
}

const struct unit_test unit_tests[] = {
    {"all intervals have a record each, the last one by the end", every_interval},
    {"without events there are sums by the sites at both ends", sums_alone},
    {"an interval is of the stretch that began last", stretches},
    {"records have a share of the log, and the rest is counted", room},
    {"samples take no more than their share of the time", samples_have_a_share},
    {"errno stays as it was", errno_stays},
    {"an interval in which recording is off is none", skipped},
    {"sums can be set to zero", set_to_zero},
    {"children of fork record nothing", children},
    {"threads that follow one another have one set of sums", threads},
    {"off is off", off},
    {NULL, NULL},
};
