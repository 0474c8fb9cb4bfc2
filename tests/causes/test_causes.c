/* Tests the intervals that a log gets from threads that are made up. */
#include "causes/causes.h"
#include "core/clock.h"
#include "core/hash.h"
#include "lib/unit.h"
#include "trace/export/logread.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHARE_RUNS 30
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
    struct sg_causes_options causes = {.mode = mode,
                                       .has_events = has_events,
                                       .places = {.processes = "/proc", .systems = "/sys"}};

    snprintf(directory, sizeof directory, "%s/%d", unit_directory(), number++);
    ASSERT(mkdir(directory, 0777) == 0, sg_log_create(&options, &writer) == SG_OK);
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

static void stop_after(const struct sg_causes_last *last)
{
    struct sg_refusal refusal;
    char path[512];

    sg_causes_stop(last);
    sg_log_close(writer, SG_LOG_FINALIZED);
    snprintf(path, sizeof path, "%s/" SG_LOG_NAME_FORMAT, directory, 0);
    ASSERT(sg_logread_try(path, &log_read, &refusal) == SG_OK);
    EXPECT(sg_logread_damaged(log_read) == 0);
}

static void stop(void)
{
    stop_after(&(struct sg_causes_last){0});
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

TEST("every interval has a record, the last one by the end of the run")
{
    const struct sg_record_causes *totals = NULL;
    const struct sg_record_interval *interval = NULL;
    const struct sg_record_interval_sum *sum = NULL;

    start(SG_CAUSES_ALL, true, 65536);
    for (uint32_t i = 0; i < 100; i++)
        call(5, 0, 0);
    stop();
    EXPECT(count(SG_RECORD_INTERVAL, (const void **)&interval) == 100, interval->left == 5);
    EXPECT(interval->entered == 0); /* the end of the run */
    EXPECT(interval->begin_ns >= begin_ns && interval->begin_ns <= interval->end_ns,
           count(SG_RECORD_INTERVAL_SUM, (const void **)&sum) == 2,
           count(SG_RECORD_CAUSES, (const void **)&totals) == 1, totals->intervals == 100,
           totals->left_out == 0, totals->cost_ns > 0 && totals->time_ns > 0,
           count(SG_RECORD_SOURCE, NULL) == SG_SOURCE_COUNT);
    sg_logread_close(log_read);
}

static void work_for(uint64_t span_ns)
{
    uint64_t end_ns = sg_clock_of_ns(CLOCK_THREAD_CPUTIME_ID) + span_ns;

    while (sg_clock_of_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
        ;
}

/* Waits until the last of the calls, at site 8, is no longer sampled. */
static void call_until_spent(void)
{
    do {
        call(7, 0, 0);
        call(8, 0, 0);
    } while (sg_causes_samples);
}

TEST("the interval before the end has a sum though it is not sampled, if it is long")
{
    static const uint32_t clocks = 1u << SG_FIGURE_CPU | 1u << SG_FIGURE_RUNNABLE;
    const struct sg_record_interval_sum *sum = NULL;
    struct sg_causes_last last = {.site = 8};
    uint64_t before_ns, work_ns;

    start(SG_CAUSES_SAMPLE, false, 65536);
    call_until_spent();
    last.end_ns = sg_clock_ns();
    before_ns = last.end_ns - begin_ns;
    work_ns = 50000000 + 5 * before_ns;
    work_for(work_ns);
    stop_after(&last);
    ASSERT(count(SG_RECORD_INTERVAL_SUM, (const void **)&sum) > 0, sum->left == 8,
           sum->entered == 0, sum->intervals == 1, sum->time_ns >= work_ns,
           (sum->mask & ~clocks) == 0);
    if ((sum->mask & 1u << SG_FIGURE_CPU) != 0)
        EXPECT(sg_figure_read(sum->figures, SG_FIGURE_CPU) >= work_ns - before_ns);
    sg_logread_close(log_read);
}

TEST("without events the log has sums by the sites at both ends")
{
    const struct sg_record_interval_sum *sum = NULL;

    start(SG_CAUSES_ALL, false, 65536);
    for (uint32_t i = 0; i < 1000; i++)
        call(1 + i % 100, 0, 0);
    stop();
    EXPECT(count(SG_RECORD_INTERVAL, NULL) == 0);
    /* 1 to 2 ... 100 to 1, and 100 to the end. */
    EXPECT(count(SG_RECORD_INTERVAL_SUM, (const void **)&sum) == 101, sum->intervals == 1);
    sg_logread_close(log_read);
}

/* Two communicators with one stretch each: an interval belongs to the stretch it lies in, or to
 * the inner one if it lies in both. */
TEST("an interval belongs to the series that began last")
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
        EXPECT(interval->number == numbers[number % 6]);
        number++;
        stretched += (interval->flags & SG_INTERVAL_STRETCH) != 0;
        firsts += (interval->flags & SG_INTERVAL_FIRST) != 0;
        lasts += (interval->flags & SG_INTERVAL_LAST) != 0;
    }
    EXPECT(number == 6, stretched == 6, firsts == 4);
    EXPECT(lasts == 1); /* inner's: the way to 8 lies in inner's last stretch */
    sg_logread_close(log_read);
}

/* Records fill their share of the log, no more; what is left out is counted, and in the sums. */
TEST("records use at most their share of the log, and the others are counted")
{
    const struct sg_record_causes *totals = NULL;
    const struct sg_record_interval_sum *sum = NULL;

    start(SG_CAUSES_ALL, true, 65536);
    for (uint32_t i = 0; i < 20000; i++)
        call(1 + i % 8, 0, 0);
    stop();
    unsigned kept = count(SG_RECORD_INTERVAL, NULL);
    EXPECT(kept <= 65536 / 8 / SG_INTERVAL_SLOTS, kept > 65536 / 8 / SG_INTERVAL_SLOTS / 2);
    count(SG_RECORD_CAUSES, (const void **)&totals);
    EXPECT(totals->left_out + kept == 20000, totals->intervals == 20000);
    count(SG_RECORD_INTERVAL_SUM, (const void **)&sum);
    EXPECT(sg_logread_header(log_read)->dropped_events == 0);
    sg_logread_close(log_read);
}

TEST("a call site in a long loop leaves the other sites their records")
{
    const struct sg_record_interval *interval;
    enum sg_record_kind kind;
    uint64_t slot = 0;
    unsigned by_site[6] = {0};

    start(SG_CAUSES_ALL, true, 65536);
    for (uint32_t i = 0; i < 20000; i++)
        call(1, 0, 0);
    for (uint32_t i = 0; i < 400; i++)
        call(2 + i % 4, 0, 0);
    stop();
    while ((interval = sg_logread_next(log_read, &slot, &kind)) != NULL) {
        if (kind == SG_RECORD_INTERVAL)
            by_site[interval->left]++;
    }
    EXPECT(by_site[1] > 100, by_site[1] <= 65536 / 8 / SG_INTERVAL_SLOTS / 4);
    EXPECT(by_site[2] == 100, by_site[3] == 100, by_site[4] == 100, by_site[5] == 100);
    sg_logread_close(log_read);
}

/* Costs are measured: on a busy machine a run may have greater ones, but not every run. Those of
 * the first samples are known only when they are over: the share and a few samples are allowed.
 * test_sampler is exact. */
TEST("samples take at most their share of the time")
{
    bool is_within = false;

    for (int run = 0; run < SHARE_RUNS && !is_within; run++) {
        const struct sg_record_causes *totals = NULL;

        start(SG_CAUSES_SAMPLE, true, 65536);
        for (uint32_t i = 0; i % 1000 != 0 || sg_clock_ns() - begin_ns < SHARE_RUN_NS; i++)
            call(1, i % 3 == 0 ? 99 : 0, i / 3);
        double elapsed_ns = (double)(sg_clock_ns() - begin_ns);
        stop();
        count(SG_RECORD_CAUSES, (const void **)&totals);
        ASSERT(totals->intervals > 0);
        double cost_ns = (double)totals->cost_ns;
        is_within = cost_ns < SG_CAUSES_SHARE * elapsed_ns +
                                  SHARE_SAMPLES * cost_ns / (double)totals->intervals;
        sg_logread_close(log_read);
    }
    EXPECT(is_within);
}

TEST("errno is preserved")
{
    start(SG_CAUSES_ALL, true, 65536);
    for (uint32_t i = 0; i < 1000; i++) {
        errno = 4711;
        call(1 + i, 0, 0);
        ASSERT(errno == 4711);
    }
    stop();
    sg_logread_close(log_read);
}

TEST("an interval in which recording is off is not recorded")
{
    start(SG_CAUSES_ALL, true, 65536);
    call(1, 0, 0);
    sg_causes_skip();
    EXPECT(!sg_causes_samples);
    call(2, 0, 0);
    call(3, 0, 0);
    stop();
    EXPECT(count(SG_RECORD_INTERVAL, NULL) == 2);
    sg_logread_close(log_read);
}

TEST("sums can be reset to zero")
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
    EXPECT(count(SG_RECORD_INTERVAL_SUM, (const void **)&sum) == 1, sum->intervals == 3,
           (sum->mask & 1u << SG_FIGURE_CPU) != 0);
    sg_logread_close(log_read);
}

/* A child of fork leaves the log alone. */
TEST("children of a fork record nothing")
{
    int status;

    start(SG_CAUSES_ALL, true, 65536);
    call(1, 0, 0);
    pid_t child = fork();
    if (child == 0) {
        sg_causes_forget();
        call(2, 0, 0);
        call(3, 0, 0);
        _exit(sg_causes_samples);
    }
    ASSERT(waitpid(child, &status, 0) == child);
    EXPECT(status == 0);
    call(4, 0, 0);
    stop();
    EXPECT(count(SG_RECORD_INTERVAL, NULL) == 2);
    sg_logread_close(log_read);
}

static void *make_calls(void *unused)
{
    for (uint32_t i = 0; i < 10; i++)
        call(9, 0, 0);
    return NULL;
}

TEST("consecutive threads share one set of sums")
{
    const struct sg_record_interval_sum *sum;
    enum sg_record_kind kind;
    uint64_t slot = 0, intervals[3] = {0};

    start(SG_CAUSES_ALL, false, 65536);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;

        ASSERT(pthread_create(&thread, NULL, make_calls, NULL) == 0);
        pthread_join(thread, NULL);
    }
    stop();
    while ((sum = sg_logread_next(log_read, &slot, &kind)) != NULL) {
        if (kind == SG_RECORD_INTERVAL_SUM)
            intervals[sum->thread < 2 ? sum->thread : 2] += sum->intervals;
    }
    EXPECT(intervals[2] == 0, intervals[0] + intervals[1] == 20 * 9);
    sg_logread_close(log_read);
}

TEST("nothing is recorded when causes are off")
{
    start(SG_CAUSES_OFF, true, 65536);
    EXPECT(!atomic_load(&sg_causes_is_on));
    call(1, 0, 0);
    stop();
    EXPECT(count(SG_RECORD_CAUSES, NULL) == 0, count(SG_RECORD_SOURCE, NULL) == 0);
    sg_logread_close(log_read);
}
