/* Reads the sources, one table row each: how to open, read and close it.
 *
 * Figures that the kernel changes only in context switches stay constant while the thread keeps its
 * processor. They are read again only if the count of switches has changed, which is cheaper to
 * read.
 */
#include "causes/reader.h"

#include "core/cgroup.h"
#include "core/clock.h"
#include "core/tick.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MEASURED 5

/* ---- the sources ---- */

static int open_always(struct sg_reader *reader, const struct sg_reader_places *places)
{
    return 0;
}

static void close_never(struct sg_reader *reader)
{
}

static bool read_clock(struct sg_reader *reader, uint64_t *figures)
{
    figures[SG_FIGURE_CPU] = sg_clock_of_ns(CLOCK_THREAD_CPUTIME_ID);
    return true;
}

static int open_scheduler(struct sg_reader *reader, const struct sg_reader_places *places)
{
    return sg_kernel_file_open(&reader->scheduler, places->processes, "thread-self/schedstat");
}

/* "TIME ON A PROCESSOR, TIME RUNNABLE, TIMES". The first is only as recent as the last tick; the
 * thread's clock is better. */
static bool read_scheduler(struct sg_reader *reader, uint64_t *figures)
{
    char text[SG_KERNEL_FILE_BYTES], *first_end, *end;

    if (!sg_kernel_file_read(&reader->scheduler, text))
        return false;
    strtoull(text, &first_end, 10);
    figures[SG_FIGURE_RUNNABLE] = strtoull(first_end, &end, 10);
    return first_end > text && *first_end == ' ' && end > first_end && *end == ' ';
}

static void close_scheduler(struct sg_reader *reader)
{
    sg_kernel_file_close(&reader->scheduler);
}

static uint64_t ns_of(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * UINT64_C(1000000000) + (uint64_t)time->tv_usec * 1000;
}

static bool read_usage(struct sg_reader *reader, uint64_t *figures)
{
    struct rusage usage;

    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return false;
    figures[SG_FIGURE_MINOR_FAULTS] = (uint64_t)usage.ru_minflt;
    figures[SG_FIGURE_MAJOR_FAULTS] = (uint64_t)usage.ru_majflt;
    figures[SG_FIGURE_VOLUNTARY] = (uint64_t)usage.ru_nvcsw;
    figures[SG_FIGURE_INVOLUNTARY] = (uint64_t)usage.ru_nivcsw;
    figures[SG_FIGURE_BLOCKS_IN] = (uint64_t)usage.ru_inblock;
    figures[SG_FIGURE_BLOCKS_OUT] = (uint64_t)usage.ru_oublock;
    figures[SG_FIGURE_USER] = ns_of(&usage.ru_utime);
    figures[SG_FIGURE_SYSTEM] = ns_of(&usage.ru_stime);
    return true;
}

static bool read_processor(struct sg_reader *reader, uint64_t *figures)
{
    int processor = sched_getcpu();

    figures[SG_FIGURE_MOVES] = (uint64_t)processor;
    return processor >= 0 && processor < UINT16_MAX;
}

/* Opens the event of the switches, too, which is later in the table. */
static int open_migrations(struct sg_reader *reader, const struct sg_reader_places *places)
{
    reader->errors[SG_SOURCE_SWITCHES] =
        places->no_events ? ECANCELED : sg_switches_open(&reader->switches);
    if (reader->errors[SG_SOURCE_SWITCHES] != 0)
        return reader->errors[SG_SOURCE_SWITCHES];
    return reader->switches.has_migrations ? 0 : EACCES;
}

static bool read_migrations(struct sg_reader *reader, uint64_t *figures)
{
    return sg_switches_migrations(&reader->switches, &figures[SG_FIGURE_MIGRATIONS]);
}

static int open_quota(struct sg_reader *reader, const struct sg_reader_places *places)
{
    struct sg_cgroup *group = malloc(sizeof *group);
    int error = ENOENT;

    if (group != NULL && sg_cgroup_own(places->processes, places->systems, group))
        error = sg_kernel_file_open(&reader->quota, group->directory, "cpu.stat");
    free(group);
    return error;
}

/* Finds the number in a line "NAME NUMBER". */
static bool find_number(const char *text, const char *name, uint64_t *out)
{
    size_t length = strlen(name);
    const char *line = text;

    while (line != NULL && (strncmp(line, name, length) != 0 || line[length] != ' ')) {
        line = strchr(line, '\n');
        if (line != NULL)
            line++;
    }
    if (line == NULL)
        return false;
    *out = strtoull(line + length, NULL, 10);
    return true;
}

/* Version 1 of control groups reports ns. */
static bool read_quota(struct sg_reader *reader, uint64_t *figures)
{
    uint64_t *throttled = &figures[SG_FIGURE_THROTTLED];
    char text[SG_KERNEL_FILE_BYTES];

    if (!sg_kernel_file_read(&reader->quota, text) ||
        !find_number(text, "nr_throttled", &figures[SG_FIGURE_THROTTLES]))
        return false;
    if (find_number(text, "throttled_time", throttled))
        return true;
    if (!find_number(text, "throttled_usec", throttled))
        return false;
    *throttled *= 1000;
    return true;
}

static void close_quota(struct sg_reader *reader)
{
    sg_kernel_file_close(&reader->quota);
}

static void close_counters(struct sg_reader *reader)
{
    for (int i = 0; i < SG_COUNTERS; i++)
        sg_counter_close(&reader->counters[i]);
}

static int open_again(struct sg_reader *reader)
{
    int error = 0;

    for (int i = 0; i < SG_COUNTERS; i++)
        reader->counters[i] = (struct sg_counter){.file = -1};
    for (int i = 0; i < SG_COUNTERS && error == 0; i++)
        error = sg_counter_open(&reader->counted[i], &reader->counters[i]);
    if (error != 0)
        close_counters(reader);
    return error;
}

static int open_counters(struct sg_reader *reader, const struct sg_reader_places *places)
{
    static const struct sg_counter_event hardware[SG_COUNTERS] = {
        {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false},
        {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false},
        {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false},
    };

    reader->counted = places->counted != NULL ? places->counted : hardware;
    return places->no_events ? ECANCELED : open_again(reader);
}

static bool read_counters(struct sg_reader *reader, uint64_t *figures)
{
    for (int i = 0; i < SG_COUNTERS; i++) {
        if (!sg_counter_read(&reader->counters[i], &figures[SG_FIGURE_INSTRUCTIONS + i]))
            return false;
    }
    return true;
}

static int open_switches(struct sg_reader *reader, const struct sg_reader_places *places)
{
    return reader->errors[SG_SOURCE_SWITCHES];
}

static bool read_switches(struct sg_reader *reader, uint64_t *figures)
{
    struct sg_switch last;

    if (!sg_switches_read(&reader->switches, &last))
        return false;
    figures[SG_FIGURE_RESUMED] = last.resumed_ns;
    figures[SG_FIGURE_AWAY] = last.away_ns;
    figures[SG_FIGURE_READY] = last.was_ready;
    return true;
}

static void close_switches(struct sg_reader *reader)
{
    sg_switches_close(&reader->switches);
}

static int open_call(struct sg_reader *reader, const struct sg_reader_places *places)
{
    uint32_t mask = sg_source_mask(SG_SOURCE_CLOCK) | sg_source_mask(SG_SOURCE_SCHEDULER);

    return (reader->mask & mask) == mask ? 0 : ENOENT;
}

/* A single reading cannot have it: see sg_reading_call. */
static bool read_call(struct sg_reader *reader, uint64_t *figures)
{
    return false;
}

static int open_call_others(struct sg_reader *reader, const struct sg_reader_places *places)
{
    uint32_t mask = sg_source_mask(SG_SOURCE_CALL) | sg_source_mask(SG_SOURCE_THREADS);

    return (reader->mask & mask) == mask ? 0 : ENOENT;
}

static int open_threads(struct sg_reader *reader, const struct sg_reader_places *places)
{
    sg_threads_open(&reader->threads, places->processes);
    return 0;
}

static bool read_threads(struct sg_reader *reader, uint64_t *figures)
{
    sg_threads_read(&reader->threads);
    figures[SG_FIGURE_THREADS_HERE] = reader->threads.here_ns;
    figures[SG_FIGURE_THREADS_ELSEWHERE] = reader->threads.elsewhere_ns;
    return true;
}

static const struct {
    /* Returns 0, or errno. */
    int (*open)(struct sg_reader *reader, const struct sg_reader_places *places);
    bool (*read)(struct sg_reader *reader, uint64_t *figures);
    void (*close)(struct sg_reader *reader);
} sources[SG_SOURCE_COUNT] = {
    [SG_SOURCE_CLOCK] = {open_always, read_clock, close_never},
    [SG_SOURCE_SCHEDULER] = {open_scheduler, read_scheduler, close_scheduler},
    [SG_SOURCE_USAGE] = {open_always, read_usage, close_never},
    [SG_SOURCE_PROCESSOR] = {open_always, read_processor, close_never},
    [SG_SOURCE_MIGRATIONS] = {open_migrations, read_migrations, close_never},
    [SG_SOURCE_QUOTA] = {open_quota, read_quota, close_quota},
    [SG_SOURCE_COUNTERS] = {open_counters, read_counters, close_counters},
    [SG_SOURCE_SWITCHES] = {open_switches, read_switches, close_switches},
    [SG_SOURCE_CALL] = {open_call, read_call, close_never},
    [SG_SOURCE_THREADS] = {open_threads, read_threads, close_never},
    [SG_SOURCE_CALL_OTHERS] = {open_call_others, read_call, close_never},
};

/* ---- all sources ---- */

static uint64_t count_switches(void)
{
    struct rusage usage;

    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return 0;
    return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

static void open_source(struct sg_reader *reader, int source, const struct sg_reader_places *places)
{
    reader->errors[source] = sources[source].open(reader, places);
    if (reader->errors[source] == 0)
        reader->mask |= sg_source_mask(source);
}

void sg_reader_open(struct sg_reader *reader, const struct sg_reader_places *places)
{
    struct sg_reading reading;

    reader->mask = reader->kept_mask = 0;
    reader->kept_switches = 0;
    for (int source = 0; source < SG_SOURCE_COUNT; source++)
        open_source(reader, source, places);
    reader->watched_switches = count_switches();
    /* A source may open and still not be readable. */
    sg_reader_begin(reader, &reading);
    for (int source = 0; source < SG_SOURCE_COUNT; source++) {
        if ((reader->mask & ~reading.mask & sg_source_mask(source)) != 0)
            sources[source].close(reader);
    }
    reader->mask = reading.mask;
    open_source(reader, SG_SOURCE_CALL, places);
    open_source(reader, SG_SOURCE_CALL_OTHERS, places);
}

void sg_reader_close(struct sg_reader *reader)
{
    for (int source = 0; source < SG_SOURCE_COUNT; source++) {
        if ((reader->mask & sg_source_mask(source)) != 0)
            sources[source].close(reader);
    }
    reader->mask = 0;
}

static uint64_t switches_of(const struct sg_reading *reading)
{
    return reading->figures[SG_FIGURE_VOLUNTARY] + reading->figures[SG_FIGURE_INVOLUNTARY];
}

static inline void read_source(struct sg_reader *reader, int source, struct sg_reading *out)
{
    uint32_t mask = sg_source_mask(source);

    if ((reader->mask & mask) == 0 || !sources[source].read(reader, out->figures))
        return;
    out->mask |= mask;
    if (source == SG_SOURCE_PROCESSOR)
        out->processor = (uint16_t)out->figures[SG_FIGURE_MOVES];
}

static void read_or_keep(struct sg_reader *reader, int source, bool is_unchanged,
                         struct sg_reading *out)
{
    size_t bytes = sg_source_table[source].count * sizeof *out->figures;
    uint64_t *kept = &reader->kept[sg_source_table[source].first];
    uint64_t *figures = &out->figures[sg_source_table[source].first];
    uint32_t mask = sg_source_mask(source);

    if (is_unchanged && (reader->kept_mask & mask) != 0) {
        memcpy(figures, kept, bytes);
        out->mask |= mask;
        return;
    }
    read_source(reader, source, out);
    memcpy(kept, figures, bytes);
    reader->kept_mask = (reader->kept_mask & ~mask) | (out->mask & mask);
}

/* A switch after the count belongs to the next reading, which reads again. */
static void read_switched(struct sg_reader *reader, struct sg_reading *out)
{
    bool is_counted, is_unchanged;

    read_source(reader, SG_SOURCE_USAGE, out);
    is_counted = (out->mask & sg_source_mask(SG_SOURCE_USAGE)) != 0;
    is_unchanged = is_counted && switches_of(out) == reader->kept_switches;
    read_or_keep(reader, SG_SOURCE_SCHEDULER, is_unchanged, out);
    read_or_keep(reader, SG_SOURCE_THREADS, is_unchanged, out);
    read_or_keep(reader, SG_SOURCE_MIGRATIONS, is_unchanged, out);
    if (is_counted)
        reader->kept_switches = switches_of(out);
    else
        reader->kept_mask = 0;
}

/* The processor time of an interval is read inside its time. */
void sg_reader_begin(struct sg_reader *reader, struct sg_reading *out)
{
    uint64_t *resumed = &out->figures[SG_FIGURE_RESUMED];

    out->mask = 0;
    out->processor = UINT16_MAX;
    read_source(reader, SG_SOURCE_COUNTERS, out);
    read_source(reader, SG_SOURCE_QUOTA, out);
    read_switched(reader, out);
    read_source(reader, SG_SOURCE_PROCESSOR, out);
    read_source(reader, SG_SOURCE_SWITCHES, out);
    out->time_ns = sg_tick_ns();
    read_source(reader, SG_SOURCE_CLOCK, out);
    if ((out->mask & 1u << SG_FIGURE_RESUMED) != 0)
        *resumed = sg_tick_between(*resumed, out->time_ns);
}

void sg_reader_end(struct sg_reader *reader, struct sg_reading *out)
{
    out->mask = 0;
    out->processor = UINT16_MAX;
    read_source(reader, SG_SOURCE_CLOCK, out);
    out->time_ns = sg_tick_ns();
    read_source(reader, SG_SOURCE_PROCESSOR, out);
    read_switched(reader, out);
    read_source(reader, SG_SOURCE_QUOTA, out);
    read_source(reader, SG_SOURCE_COUNTERS, out);
}

/* Returns the cost of switches while the events are open. A hardware counter adds to a switch at
 * most what the switch event does: its registers are saved and restored. */
static uint64_t cost_of_switches(const struct sg_reader *reader, uint64_t switches)
{
    bool counts = (reader->mask & sg_source_mask(SG_SOURCE_COUNTERS)) != 0;

    return switches * (counts ? 1 + SG_COUNTERS : 1) * SG_SWITCH_COST_NS;
}

/* The figures that the kernel's events give. */
static uint32_t watched_of(const struct sg_reader *reader)
{
    return reader->mask &
           (sg_source_mask(SG_SOURCE_SWITCHES) | sg_source_mask(SG_SOURCE_MIGRATIONS) |
            sg_source_mask(SG_SOURCE_COUNTERS));
}

static void watch(struct sg_reader *reader)
{
    uint32_t counters = sg_source_mask(SG_SOURCE_COUNTERS);

    reader->watched_switches = count_switches();
    if ((watched_of(reader) & ~counters) != 0)
        sg_switches_open(&reader->switches);
    if ((reader->mask & counters) != 0)
        open_again(reader);
    /* Migrations kept from the closed event are invalid. */
    reader->kept_mask &= ~sg_source_mask(SG_SOURCE_MIGRATIONS);
}

uint64_t sg_reader_watch(struct sg_reader *reader, bool on)
{
    uint32_t counters = sg_source_mask(SG_SOURCE_COUNTERS), watched = watched_of(reader);

    if (watched == 0)
        return 0;
    if (on) {
        watch(reader);
        return 0;
    }
    if ((watched & ~counters) != 0)
        sg_switches_close(&reader->switches);
    if ((watched & counters) != 0)
        close_counters(reader);
    return cost_of_switches(reader, count_switches() - reader->watched_switches);
}

uint64_t sg_reader_watched(struct sg_reader *reader, const struct sg_reading *reading)
{
    uint64_t before = reader->watched_switches;

    if (watched_of(reader) == 0 || (reading->mask & 1u << SG_FIGURE_VOLUNTARY) == 0)
        return 0;
    reader->watched_switches = switches_of(reading);
    return cost_of_switches(reader, reader->watched_switches - before);
}

void sg_reader_measure(struct sg_reader *reader, uint64_t costs_ns[SG_SOURCE_COUNT])
{
    uint64_t figures[SG_FIGURE_COUNT];

    for (int source = 0; source < SG_SOURCE_COUNT; source++) {
        costs_ns[source] = 0;
        for (int i = 0; i < MEASURED && (reader->mask & sg_source_mask(source)) != 0; i++) {
            uint64_t begin_ns = sg_clock_ns(), took_ns;

            sources[source].read(reader, figures);
            took_ns = sg_clock_ns() - begin_ns;
            if (i == 0 || took_ns < costs_ns[source])
                costs_ns[source] = took_ns;
        }
    }
}

void sg_reading_plain(struct sg_reading *out)
{
    const struct sg_reader_places places = {.processes = "/proc", .systems = "/sys"};
    struct sg_reader reader = {.mask = sg_source_mask(SG_SOURCE_CLOCK) |
                                       sg_source_mask(SG_SOURCE_USAGE)};

    open_source(&reader, SG_SOURCE_SCHEDULER, &places);
    out->mask = 0;
    out->processor = UINT16_MAX;
    read_source(&reader, SG_SOURCE_USAGE, out);
    read_source(&reader, SG_SOURCE_SCHEDULER, out);
    read_source(&reader, SG_SOURCE_CLOCK, out);
    out->time_ns = sg_clock_ns();
    sg_reader_close(&reader);
}

/* Without a quota nothing is throttled. */
static void call_others(const struct sg_reading *end, struct sg_reading *begin)
{
    const uint32_t threads = sg_source_mask(SG_SOURCE_THREADS);
    const uint32_t quota = 1u << SG_FIGURE_THROTTLED;
    const uint64_t *from = end->figures;
    uint64_t *to = begin->figures;

    if ((end->mask & begin->mask & threads) != threads || ((end->mask ^ begin->mask) & quota) != 0)
        return;
    to[SG_FIGURE_CALL_THREADS_HERE] = to[SG_FIGURE_THREADS_HERE] - from[SG_FIGURE_THREADS_HERE];
    to[SG_FIGURE_CALL_THREADS_ELSEWHERE] =
        to[SG_FIGURE_THREADS_ELSEWHERE] - from[SG_FIGURE_THREADS_ELSEWHERE];
    to[SG_FIGURE_CALL_THROTTLED] = 0;
    if ((begin->mask & quota) != 0 && to[SG_FIGURE_THROTTLED] > from[SG_FIGURE_THROTTLED])
        to[SG_FIGURE_CALL_THROTTLED] = to[SG_FIGURE_THROTTLED] - from[SG_FIGURE_THROTTLED];
    begin->mask |= sg_source_mask(SG_SOURCE_CALL_OTHERS);
}

void sg_reading_call(const struct sg_reading *end, struct sg_reading *begin)
{
    const uint32_t needed = 1u << SG_FIGURE_CPU | 1u << SG_FIGURE_RUNNABLE;
    const uint64_t *from = end->figures;
    uint64_t *to = begin->figures;

    if ((end->mask & begin->mask & needed) != needed || to[SG_FIGURE_CPU] < from[SG_FIGURE_CPU] ||
        to[SG_FIGURE_RUNNABLE] < from[SG_FIGURE_RUNNABLE])
        return;
    to[SG_FIGURE_CALL_CPU] = to[SG_FIGURE_CPU] - from[SG_FIGURE_CPU];
    to[SG_FIGURE_CALL_RUNNABLE] = to[SG_FIGURE_RUNNABLE] - from[SG_FIGURE_RUNNABLE];
    begin->mask |= sg_source_mask(SG_SOURCE_CALL);
    call_others(end, begin);
}

void sg_reading_between(const struct sg_reading *begin, const struct sg_reading *end,
                        struct sg_reading *out)
{
    uint32_t before = sg_source_mask(SG_SOURCE_SWITCHES) | sg_source_mask(SG_SOURCE_CALL) |
                      sg_source_mask(SG_SOURCE_CALL_OTHERS);

    out->time_ns = end->time_ns - begin->time_ns;
    out->mask = begin->mask & (end->mask | before);
    out->processor = end->processor;
    for (unsigned figure = 0; figure < SG_FIGURE_COUNT; figure++) {
        bool is_before = (before & 1u << figure) != 0;

        out->figures[figure] =
            is_before ? begin->figures[figure] : end->figures[figure] - begin->figures[figure];
        if (!is_before && figure != SG_FIGURE_MOVES &&
            end->figures[figure] < begin->figures[figure])
            out->mask &= ~(1u << figure);
        if ((out->mask & 1u << figure) == 0)
            out->figures[figure] = 0;
    }
    out->figures[SG_FIGURE_MOVES] = out->figures[SG_FIGURE_MOVES] != 0;
}
