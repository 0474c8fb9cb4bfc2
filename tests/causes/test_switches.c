/* Tests the last context switch, from a made-up ring and from this thread. */
#include "causes/kernel_figures.h"
#include "causes/reader.h"
#include "core/clock.h"
#include "lib/unit.h"

#include <time.h>

#define RING_BYTES 64

/* Written as the kernel does: the latest first, at the head, which goes down. */
static struct perf_event_mmap_page page;
static union {
    char bytes[RING_BYTES];
    uint64_t words[RING_BYTES / 8];
} ring;

static void put(uint32_t type, uint16_t misc, uint64_t time_ns)
{
    struct perf_event_header header = {.type = type, .misc = misc, .size = 16};

    page.data_head -= 16;
    size_t at = page.data_head & (RING_BYTES - 1);
    memcpy(&ring.bytes[at], &header, sizeof header);
    memcpy(&ring.bytes[at + 8], &time_ns, sizeof time_ns);
}

static void put_out(uint64_t time_ns, bool is_ready)
{
    put(PERF_RECORD_SWITCH,
        PERF_RECORD_MISC_SWITCH_OUT | (is_ready ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0),
        time_ns);
}

static void put_in(uint64_t time_ns)
{
    put(PERF_RECORD_SWITCH, 0, time_ns);
}

static bool look(struct sg_switch *out)
{
    return sg_switches_of_page(&page, ring.bytes, RING_BYTES, 50, out);
}

TEST("the last switch of a ring is reported, whatever their number")
{
    struct sg_switch last;

    page.data_head = 0;
    EXPECT(look(&last), last.resumed_ns == 50, last.away_ns == 0);
    put_out(100, true);
    put_in(130);
    EXPECT(look(&last), last.resumed_ns == 130, last.away_ns == 30, last.was_ready);
    /* More than the ring has room for. */
    for (uint64_t i = 0; i < 10; i++) {
        put_out(200 + 10 * i, i % 2 == 0);
        put_in(207 + 10 * i);
    }
    EXPECT(look(&last), last.resumed_ns == 297, last.away_ns == 7, !last.was_ready);
}

TEST("a ring without a switch back to the processor reports nothing")
{
    struct sg_switch last;

    page.data_head = 0;
    put_in(130);
    EXPECT(!look(&last));
    put_in(140);
    EXPECT(!look(&last));
    put_out(150, true);
    EXPECT(!look(&last));
    put(PERF_RECORD_LOST, 0, 160);
    EXPECT(!look(&last));
    put_out(180, true);
    put_in(170);
    EXPECT(!look(&last));
}

TEST("a sleeping thread is off the processor and not runnable")
{
    const struct timespec pause = {.tv_nsec = 2000000};
    struct sg_switches switches;
    struct sg_switch last;

    if (sg_switches_open(&switches) != 0) {
        EXPECT(switches.file == -1, !sg_switches_read(&switches, &last));
        return; /* the kernel records them for nobody: the made up ring tells */
    }
    uint64_t before_ns = sg_clock_ns();
    nanosleep(&pause, NULL);
    uint64_t after_ns = sg_clock_ns();
    EXPECT(sg_switches_read(&switches, &last));
    /* It may have been preempted since, which the machine does as it likes. */
    EXPECT(last.resumed_ns >= before_ns);
    if (last.resumed_ns <= after_ns && !last.was_ready)
        EXPECT(last.away_ns > 0 && last.away_ns <= after_ns - before_ns);
    /* Nobody watches the second sleep. */
    sg_switches_close(&switches);
    EXPECT(!sg_switches_read(&switches, &last));
    nanosleep(&pause, NULL);
    before_ns = sg_clock_ns();
    ASSERT(sg_switches_open(&switches) == 0);
    EXPECT(sg_switches_read(&switches, &last), last.resumed_ns >= before_ns);
    sg_switches_close(&switches);
}

/* Time between two intervals belongs to the call, and the second interval reports it. */
TEST("a call's time is the difference of the readings at its start and end")
{
    static const struct sg_reader_places here = {.processes = "/proc", .systems = "/sys"};
    const struct timespec pause = {.tv_nsec = 2000000};
    struct sg_reading begin, end, between;
    struct sg_reader reader;

    sg_reader_open(&reader, &here);
    sg_reader_begin(&reader, &begin);
    sg_reader_end(&reader, &end);
    uint64_t until_ns = sg_clock_of_ns(CLOCK_THREAD_CPUTIME_ID) + 3000000;
    while (sg_clock_of_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
        ;
    nanosleep(&pause, NULL);
    sg_reader_begin(&reader, &begin);
    EXPECT((begin.mask & sg_source_mask(SG_SOURCE_CALL)) == 0);
    sg_reading_call(&end, &begin);
    sg_reader_end(&reader, &end);
    sg_reading_between(&begin, &end, &between);
    EXPECT(((between.mask & sg_source_mask(SG_SOURCE_CALL)) != 0) ==
           ((reader.mask & sg_source_mask(SG_SOURCE_SCHEDULER)) != 0));
    if ((between.mask & sg_source_mask(SG_SOURCE_CALL)) != 0) {
        EXPECT(between.figures[SG_FIGURE_CALL_CPU] >= 3000000,
               between.figures[SG_FIGURE_CPU] < between.figures[SG_FIGURE_CALL_CPU],
               (between.mask & sg_source_mask(SG_SOURCE_CALL_OTHERS)) ==
                   sg_source_mask(SG_SOURCE_CALL_OTHERS),
               between.figures[SG_FIGURE_CALL_THREADS_HERE] == 0);
    }
    /* An interval that has no other before it does not tell of the call. */
    sg_reader_begin(&reader, &begin);
    sg_reader_end(&reader, &end);
    sg_reading_between(&begin, &end, &between);
    EXPECT((between.mask & sg_source_mask(SG_SOURCE_CALL)) == 0);
    sg_reader_close(&reader);
}
