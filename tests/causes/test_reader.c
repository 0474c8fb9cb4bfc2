/* Tests readings of this process, of events that the kernel itself counts, and of made-up files. */
#include "causes/reader.h"
#include "core/clock.h"
#include "lib/unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 100
#define RUNS 10 /* a busy machine does not disturb all of them */

/* Events that the kernel counts on every machine, if it lets this process. */
static const struct sg_counter_event software[SG_COUNTERS] = {
    {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false},
    {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false},
    {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, false},
};
static const struct sg_reader_places here = {
    .processes = "/proc", .systems = "/sys", .counted = software};

static const char *root;

static void put(const char *name, const char *text)
{
    unit_write(text, "%s/%s", root, name);
}

/* Returns the difference between readings before and after a function. */
static struct sg_reading of(const struct sg_reader_places *places, void (*what)(void))
{
    struct sg_reader reader;
    struct sg_reading begin, end, between;

    sg_reader_open(&reader, places);
    sg_reader_begin(&reader, &begin);
    what();
    sg_reader_end(&reader, &end);
    sg_reader_close(&reader);
    sg_reading_between(&begin, &end, &between);
    return between;
}

/* The least value of a figure in several runs: the function's own. */
static uint64_t least(void (*what)(void), enum sg_figure figure)
{
    uint64_t value = UINT64_MAX;

    for (int i = 0; i < RUNS; i++) {
        struct sg_reading reading = of(&here, what);

        if (reading.figures[figure] < value)
            value = reading.figures[figure];
    }
    return value;
}

static bool has(const struct sg_reading *reading, enum sg_figure figure)
{
    return (reading->mask & 1u << figure) != 0;
}

static void nothing(void)
{
}

static long sleeps(void)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

/* A timer may end before its sleep begins. */
static void switch_context(void)
{
    const struct timespec moment = {.tv_nsec = 1000};
    long before = sleeps();

    while (sleeps() == before)
        nanosleep(&moment, NULL);
}

static volatile char *pages;

static void touch(void)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

    madvise((void *)pages, PAGES * page_bytes, MADV_DONTNEED);
    for (size_t i = 0; i < PAGES; i++)
        pages[i * page_bytes] = 1;
}

TEST("page faults are counted within the interval")
{
    size_t bytes = PAGES * (size_t)sysconf(_SC_PAGESIZE);
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ASSERT(map != MAP_FAILED);
    madvise(map, bytes, MADV_NOHUGEPAGE);
    pages = map;
    uint64_t faults = least(touch, SG_FIGURE_MINOR_FAULTS);
    EXPECT(faults >= PAGES, faults < PAGES + 20, least(touch, SG_FIGURE_MAJOR_FAULTS) == 0);
    munmap(map, bytes);
}

/* On a processor for a while. */
static void compute(void)
{
    uint64_t end_ns = sg_clock_of_ns(CLOCK_THREAD_CPUTIME_ID) + 5000000;

    while (sg_clock_of_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
        ;
}

TEST("a computing thread is on a processor and does not yield it")
{
    struct sg_reading reading = of(&here, compute);

    EXPECT(reading.figures[SG_FIGURE_CPU] >= 5000000,
           reading.figures[SG_FIGURE_CPU] <= reading.time_ns,
           least(compute, SG_FIGURE_VOLUNTARY) == 0);
}

/* Gives its processor away, unless the child ends before it waits. */
static void wait_for_child(void)
{
    long before = sleeps();

    while (sleeps() == before) {
        pid_t child = fork();

        if (child == 0) {
            compute();
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
}

TEST("a waiting thread yields its processor and is on none")
{
    struct sg_reading reading = of(&here, wait_for_child);

    EXPECT(reading.figures[SG_FIGURE_VOLUNTARY] >= 1,
           reading.figures[SG_FIGURE_CPU] + 1000000 < reading.time_ns);
}

TEST("the sources that this system has are available")
{
    struct sg_reading reading = of(&here, nothing);

    EXPECT(has(&reading, SG_FIGURE_CPU), has(&reading, SG_FIGURE_MINOR_FAULTS),
           has(&reading, SG_FIGURE_MOVES),
           has(&reading, SG_FIGURE_RUNNABLE) == (access("/proc/thread-self/schedstat", R_OK) == 0));
}

/* ---- counters ---- */

TEST("events counted by the kernel are those of the interval")
{
    size_t bytes = PAGES * (size_t)sysconf(_SC_PAGESIZE);
    struct sg_counter counter;

    if (sg_counter_open(&software[0], &counter) != 0)
        return; /* the kernel counts for nobody: the masks of other tests tell */
    sg_counter_close(&counter);
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT(map != MAP_FAILED);
    madvise(map, bytes, MADV_NOHUGEPAGE);
    pages = map;
    struct sg_reading reading = of(&here, touch);
    EXPECT(has(&reading, SG_FIGURE_INSTRUCTIONS), reading.figures[SG_FIGURE_INSTRUCTIONS] >= PAGES,
           reading.figures[SG_FIGURE_CYCLES] > 0, reading.figures[SG_FIGURE_CACHE_MISSES] >= PAGES);
    munmap(map, bytes);
}

/* Cost of one context switch while the events are open: each counter costs as much as the event
 * of switches. */
static uint64_t cost_of_a_switch(const struct sg_reader *reader)
{
    bool counts = (reader->mask & sg_source_mask(SG_SOURCE_COUNTERS)) != 0;

    return counts ? (1 + SG_COUNTERS) * (uint64_t)SG_SWITCH_COST_NS : SG_SWITCH_COST_NS;
}

/* The kernel's events are open or not; other sources do not care. */
TEST("events can be closed between intervals, and the cost of their switches is counted")
{
    const uint32_t events = sg_source_mask(SG_SOURCE_COUNTERS) |
                            sg_source_mask(SG_SOURCE_SWITCHES) |
                            sg_source_mask(SG_SOURCE_MIGRATIONS);
    const uint32_t calls = sg_source_mask(SG_SOURCE_CALL) | sg_source_mask(SG_SOURCE_CALL_OTHERS);
    struct sg_reader reader;
    struct sg_reading reading;

    sg_reader_open(&reader, &here);
    uint64_t three_ns = 3 * cost_of_a_switch(&reader);
    sg_reader_begin(&reader, &reading);
    EXPECT(reading.mask == (reader.mask & ~calls));
    sg_reader_watch(&reader, false);
    switch_context();
    sg_reader_begin(&reader, &reading);
    EXPECT(reading.mask == (reader.mask & ~calls & ~events), sg_reader_watch(&reader, true) == 0);
    sg_reader_begin(&reader, &reading);
    EXPECT(reading.mask == (reader.mask & ~calls));
    for (int i = 0; i < 3; i++)
        switch_context();
    sg_reader_begin(&reader, &reading);
    if ((reader.mask & events) != 0)
        EXPECT(sg_reader_watched(&reader, &reading) >= three_ns);
    EXPECT(sg_reader_watched(&reader, &reading) == 0);
    for (int i = 0; i < 3; i++)
        switch_context();
    if ((reader.mask & events) != 0)
        EXPECT(sg_reader_watch(&reader, false) >= three_ns);
    sg_reader_close(&reader);
}

/* An event of a thread that has ended stays the process's. */
TEST("readers among ranks that share processors open no events of the kernel")
{
    const uint32_t events = sg_source_mask(SG_SOURCE_COUNTERS) |
                            sg_source_mask(SG_SOURCE_SWITCHES) |
                            sg_source_mask(SG_SOURCE_MIGRATIONS);
    struct sg_reader_places places = here;
    struct sg_reader reader, with;

    sg_reader_open(&with, &here);
    places.no_events = true;
    sg_reader_open(&reader, &places);
    EXPECT(reader.mask == (with.mask & ~events));
    EXPECT(reader.errors[SG_SOURCE_COUNTERS] == ECANCELED);
    EXPECT(reader.errors[SG_SOURCE_SWITCHES] == ECANCELED);
    EXPECT(reader.errors[SG_SOURCE_MIGRATIONS] == ECANCELED);
    sg_reader_watch(&reader, true);
    switch_context();
    EXPECT(reader.mask == (with.mask & ~events), sg_reader_watch(&reader, false) == 0);
    sg_reader_close(&reader);
    sg_reader_close(&with);
}

TEST("a counter stays open after its thread has ended")
{
    struct sg_event_kept kept;
    struct sg_counter counter;

    sg_event_keep(&kept);
    if (sg_counter_open(&software[1], &counter) != 0)
        return; /* the kernel has no events for this process */
    sg_counter_close(&counter);
    EXPECT(sg_event_is_own(kept.file, kept.id));
    sg_event_let_go(&kept);
    EXPECT(kept.file == -1);
    /* The program has a file of its own there. */
    sg_event_keep(&kept);
    EXPECT(dup2(STDERR_FILENO, kept.file) == kept.file, !sg_event_is_own(kept.file, kept.id));
    {
        int file = kept.file;

        sg_event_let_go(&kept);
        EXPECT(fcntl(file, F_GETFD) == 0);
        close(file);
    }
}

TEST("unavailable counters are left out together")
{
    static const struct sg_counter_event none[SG_COUNTERS] = {
        {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false},
        {PERF_TYPE_SOFTWARE, UINT32_MAX, false},
        {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false},
    };
    const struct sg_reader_places places = {
        .processes = "/proc", .systems = "/sys", .counted = none};
    struct sg_reader reader;

    sg_reader_open(&reader, &places);
    EXPECT((reader.mask & sg_source_mask(SG_SOURCE_COUNTERS)) == 0,
           reader.errors[SG_SOURCE_COUNTERS] != 0, reader.counters[0].file == -1,
           (reader.mask & sg_source_mask(SG_SOURCE_USAGE)) != 0);
    sg_reader_close(&reader);
}

/* Registers of a processor that is made up. */
static uint64_t registers[4];
static struct perf_event_mmap_page page;
static int interruptions;

static uint64_t read_register(uint32_t index)
{
    uint64_t value = registers[index];

    if (interruptions > 0) { /* the kernel takes the counter away, and gives another */
        interruptions--;
        page.lock++;
        page.index = 2;
        page.offset += 1000;
    }
    return value;
}

TEST("a mapped counter reads correctly while the kernel changes it")
{
    bool is_whole = false;
    uint64_t value;

    page = (struct perf_event_mmap_page){.cap_user_rdpmc = 1,
                                         .pmc_width = 48,
                                         .index = 3,
                                         .offset = 500,
                                         .time_enabled = 9,
                                         .time_running = 9};
    registers[2] = 77;
    EXPECT(sg_counter_of_page(&page, read_register, &value, &is_whole), is_whole, value == 577);
    /* Registers of 48 bits have a sign. */
    registers[2] = UINT64_C(0xffffffffffff);
    EXPECT(sg_counter_of_page(&page, read_register, &value, &is_whole), value == 499);
    registers[1] = 5;
    interruptions = 1;
    EXPECT(sg_counter_of_page(&page, read_register, &value, &is_whole), value == 1505);
    page.time_running = 8;
    EXPECT(sg_counter_of_page(&page, read_register, &value, &is_whole), !is_whole);
    page.index = 0;
    EXPECT(!sg_counter_of_page(&page, read_register, &value, &is_whole));
    page.index = 3;
    page.cap_user_rdpmc = 0;
    EXPECT(!sg_counter_of_page(&page, read_register, &value, &is_whole));
}

/* ---- files that are made up ---- */

/* Below a fresh directory. */
static struct sg_reader_places elsewhere(void)
{
    root = unit_fresh_directory();
    return (struct sg_reader_places){.processes = root, .systems = root, .counted = software};
}

/* Figures that change only with a context switch are not read again without it. */
static void later_figures(void)
{
    switch_context();
    put("thread-self/schedstat", "100 4500 3\n");
    put("fs/cgroup/job/cpu.stat",
        "usage_usec 5\nnr_periods 9\nnr_throttled 7\nthrottled_usec 1500\nnr_bursts 0\n");
}

TEST("the kernel's files are read")
{
    struct sg_reader_places places = elsewhere();

    put("self/cgroup", "0::/job\n");
    put("fs/cgroup/job/cpu.max", "50000 100000\n");
    put("thread-self/schedstat", "90 1000 2\n");
    put("fs/cgroup/job/cpu.stat",
        "usage_usec 1\nnr_periods 4\nnr_throttled 4\nthrottled_usec 500\nnr_bursts 0\n");
    struct sg_reading reading = of(&places, later_figures);
    EXPECT(reading.figures[SG_FIGURE_RUNNABLE] == 3500, reading.figures[SG_FIGURE_THROTTLES] == 3,
           reading.figures[SG_FIGURE_THROTTLED] == 1000000);
}

static void later_figures_1(void)
{
    put("fs/cgroup/cpu/cpu.stat", "nr_periods 9\nnr_throttled 5\nthrottled_time 777\n");
}

TEST("control groups of version 1 are read")
{
    struct sg_reader_places places = elsewhere();

    put("self/cgroup", "3:memory:/x\n2:cpu,cpuacct:/\n0::/\n");
    put("fs/cgroup/cpu/cpu.cfs_quota_us", "20000\n");
    put("fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    put("fs/cgroup/cpu/cpu.stat", "nr_periods 4\nnr_throttled 4\nthrottled_time 700\n");
    struct sg_reading reading = of(&places, later_figures_1);
    EXPECT(reading.figures[SG_FIGURE_THROTTLES] == 1, reading.figures[SG_FIGURE_THROTTLED] == 77);
}

/* Missing sources are left out, and only those. */
TEST("a missing or malformed source is left out alone")
{
    static const char *const wrong[] = {"", "nonsense\n", "1\n", "1 x 2\n", "12", "\n\n"};
    struct sg_reader_places places = elsewhere();
    struct sg_reader reader;

    sg_reader_open(&reader, &places);
    EXPECT(reader.errors[SG_SOURCE_SCHEDULER] == ENOENT, reader.errors[SG_SOURCE_QUOTA] == ENOENT,
           (reader.mask & sg_source_mask(SG_SOURCE_SCHEDULER)) == 0,
           (reader.mask & sg_source_mask(SG_SOURCE_QUOTA)) == 0,
           (reader.mask & sg_source_mask(SG_SOURCE_CLOCK)) != 0);
    sg_reader_close(&reader);
    put("self/cgroup", "0::/\n");
    put("fs/cgroup/cpu.max", "100000 100000\n");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        put("thread-self/schedstat", wrong[i]);
        put("fs/cgroup/cpu.stat", wrong[i]);
        sg_reader_open(&reader, &places);
        EXPECT((reader.mask & sg_source_mask(SG_SOURCE_SCHEDULER)) == 0,
               (reader.mask & sg_source_mask(SG_SOURCE_QUOTA)) == 0);
        sg_reader_close(&reader);
    }
}

/* The program closes files that it does not know, and opens its own: these stay open. */
TEST("a descriptor that the program reused for its own file belongs to the program")
{
    struct sg_reader reader;
    struct sg_reading reading;
    char path[512];
    int file;

    root = unit_fresh_directory();
    sg_reader_open(&reader, &here);
    if ((reader.mask & sg_source_mask(SG_SOURCE_SCHEDULER)) == 0) {
        sg_reader_close(&reader);
        return;
    }
    file = reader.scheduler.file;
    put("thread-self/schedstat", "1 9000000000000000000 1\n");
    snprintf(path, sizeof path, "%s/thread-self/schedstat", root);
    int own = open(path, O_RDONLY);
    ASSERT(dup2(own, file) == file);
    close(own);
    switch_context();
    sg_reader_end(&reader, &reading);
    EXPECT(has(&reading, SG_FIGURE_RUNNABLE),
           reading.figures[SG_FIGURE_RUNNABLE] != UINT64_C(9000000000000000000),
           has(&reading, SG_FIGURE_CPU));
    sg_reader_close(&reader);
    EXPECT(fcntl(file, F_GETFD) != -1);
    close(file);
}

static int open_files(void)
{
    int count = 0;

    for (int file = 0; file < 256; file++)
        count += fcntl(file, F_GETFD) != -1;
    return count;
}

TEST("readers leave no files open")
{
    int before = open_files();

    for (int i = 0; i < 10; i++)
        of(&here, nothing);
    EXPECT(open_files() == before);
}

TEST("available sources have a cost, unavailable ones have none")
{
    uint64_t costs_ns[SG_SOURCE_COUNT];
    struct sg_reader reader;

    sg_reader_open(&reader, &here);
    sg_reader_measure(&reader, costs_ns);
    for (int source = 0; source < SG_SOURCE_COUNT; source++)
        EXPECT((costs_ns[source] > 0) == ((reader.mask & sg_source_mask(source)) != 0));
    sg_reader_close(&reader);
}

TEST("the tables of figures and of sources agree")
{
    for (unsigned source = 0; source < SG_SOURCE_COUNT; source++) {
        const struct sg_source_facts *known = &sg_source_table[source];

        for (unsigned i = 0; i < SG_FIGURE_COUNT; i++)
            EXPECT((sg_figure_table[i].source == source) ==
                   (i >= known->first && i < known->first + (unsigned)known->count));
    }
}

/* ---- the process's other threads ------------------------------------------------------------- */

static void *compute_alone(void *unused)
{
    compute();
    return NULL;
}

static void let_compute(void)
{
    pthread_t thread;

    ASSERT(pthread_create(&thread, NULL, compute_alone, NULL) == 0);
    pthread_join(thread, NULL);
}

TEST("time of the process's other threads is reported, and of other processes is not")
{
    struct sg_reading reading = of(&here, let_compute);

    EXPECT(has(&reading, SG_FIGURE_THREADS_HERE),
           reading.figures[SG_FIGURE_THREADS_ELSEWHERE] >= 5000000,
           reading.figures[SG_FIGURE_THREADS_HERE] == 0);
    reading = of(&here, wait_for_child);
    EXPECT(has(&reading, SG_FIGURE_THREADS_HERE), reading.figures[SG_FIGURE_THREADS_HERE] == 0,
           least(wait_for_child, SG_FIGURE_THREADS_ELSEWHERE) < 1000000);
}

static atomic_bool goes_on;
static atomic_ullong computed_ns;

static void *compute_beside(void *unused)
{
    while (atomic_load(&goes_on)) {
        compute();
        atomic_store(&computed_ns, sg_clock_of_ns(CLOCK_THREAD_CPUTIME_ID));
    }
    return NULL;
}

/* Both on one processor, until the reader knows the other thread, and then until no reading is
 * interrupted: its figures are of different moments. */
static void *share_processor(void *unused)
{
    struct sg_reader reader;
    struct sg_reading begin, end, between = {0};
    pthread_t thread;
    cpu_set_t one;
    bool adds_up = false;

    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT(sched_setaffinity(0, sizeof one, &one) == 0);
    sg_reader_open(&reader, &here);
    atomic_store(&goes_on, true);
    ASSERT(pthread_create(&thread, NULL, compute_beside, NULL) == 0);
    for (int i = 0; i < 1000 && reader.threads.here_ns == 0; i++) {
        sg_reader_begin(&reader, &begin);
        compute();
        sg_reader_end(&reader, &end);
    }
    for (int run = 0; run < RUNS && !adds_up; run++) {
        sg_reader_begin(&reader, &begin);
        for (int i = 0; i < 20; i++)
            compute();
        sg_reader_end(&reader, &end);
        sg_reading_between(&begin, &end, &between);
        adds_up = between.figures[SG_FIGURE_THREADS_HERE] > 0 &&
                  between.figures[SG_FIGURE_THREADS_HERE] + between.figures[SG_FIGURE_CPU] <=
                      between.time_ns;
    }
    atomic_store(&goes_on, false);
    pthread_join(thread, NULL);
    EXPECT(adds_up, between.figures[SG_FIGURE_THREADS_HERE] <= atomic_load(&computed_ns));
    sg_reader_close(&reader);
    return NULL;
}

/* In a thread that is bound, as what binds it lasts. */
TEST("a bound thread measures the time of threads bound to the same processor")
{
    pthread_t thread;

    ASSERT(pthread_create(&thread, NULL, share_processor, NULL) == 0);
    pthread_join(thread, NULL);
}

/* As many threads would have them at a time. */
TEST("readers of many threads keep few descriptors open and still read correctly")
{
    enum { READERS = 60, DESCRIPTORS_MOST = 20 };
    static struct sg_reader readers[READERS];
    int before = open_files();
    struct sg_reading reading;

    for (int i = 0; i < READERS; i++) {
        sg_reader_open(&readers[i], &here);
        sg_reader_watch(&readers[i], false);
    }
    EXPECT(open_files() - before <= DESCRIPTORS_MOST);
    for (int i = 0; i < READERS; i++) {
        sg_reader_begin(&readers[i], &reading);
        EXPECT(has(&reading, SG_FIGURE_RUNNABLE) ==
               ((readers[0].mask & sg_source_mask(SG_SOURCE_SCHEDULER)) != 0));
    }
    for (int i = 0; i < READERS; i++)
        sg_reader_close(&readers[i]);
    EXPECT(open_files() == before);
}
