/* Tests the last context switch, from a made-up ring and from this thread. */
#include "causes/kernel_figures.h"
#include "causes/reader.h"
#include "core/clock.h"
#include "lib/unit.h"

#include <string.h>
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
    size_t at;

    page.data_head -= 16;
    at = page.data_head & (RING_BYTES - 1);
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

static void last_of_a_ring(void)
{
    struct sg_switch last;

    page.data_head = 0;
    CU_ASSERT_TRUE(look(&last));
    CU_ASSERT_EQUAL(last.resumed_ns, 50);
    CU_ASSERT_EQUAL(last.away_ns, 0);
    put_out(100, true);
    put_in(130);
    CU_ASSERT_TRUE(look(&last));
    CU_ASSERT_EQUAL(last.resumed_ns, 130);
    CU_ASSERT_EQUAL(last.away_ns, 30);
    CU_ASSERT_TRUE(last.was_ready);
    /* More than the ring has room for. */
    for (uint64_t i = 0; i < 10; i++) {
        put_out(200 + 10 * i, i % 2 == 0);
        put_in(207 + 10 * i);
    }
    CU_ASSERT_TRUE(look(&last));
    CU_ASSERT_EQUAL(last.resumed_ns, 297);
    CU_ASSERT_EQUAL(last.away_ns, 7);
    CU_ASSERT_FALSE(last.was_ready);
}

static void unusual_rings(void)
{
    struct sg_switch last;

    page.data_head = 0;
    put_in(130);
    CU_ASSERT_FALSE(look(&last));
    put_in(140);
    CU_ASSERT_FALSE(look(&last));
    put_out(150, true);
    CU_ASSERT_FALSE(look(&last));
    put(PERF_RECORD_LOST, 0, 160);
    CU_ASSERT_FALSE(look(&last));
    put_out(180, true);
    put_in(170);
    CU_ASSERT_FALSE(look(&last));
}

static void own_switches(void)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    struct sg_switches switches;
    struct sg_switch last;
    uint64_t before_ns, after_ns;

    if (sg_switches_open(&switches) != 0) {
        CU_ASSERT_EQUAL(switches.file, -1);
        CU_ASSERT_FALSE(sg_switches_read(&switches, &last));
        return; /* the kernel records them for nobody: the made up ring tells */
    }
    before_ns = sg_clock_ns();
    nanosleep(&pause, NULL);
    after_ns = sg_clock_ns();
    CU_ASSERT_TRUE(sg_switches_read(&switches, &last));
    /* It may have been preempted since, which the machine does as it likes. */
    CU_ASSERT_TRUE(last.resumed_ns >= before_ns);
    if (last.resumed_ns <= after_ns && !last.was_ready)
        CU_ASSERT_TRUE(last.away_ns >= 2000000);
    /* Nobody watches the second sleep. */
    sg_switches_close(&switches);
    CU_ASSERT_FALSE(sg_switches_read(&switches, &last));
    nanosleep(&pause, NULL);
    before_ns = sg_clock_ns();
    CU_ASSERT_EQUAL_FATAL(sg_switches_open(&switches), 0);
    CU_ASSERT_TRUE(sg_switches_read(&switches, &last));
    CU_ASSERT_TRUE(last.resumed_ns >= before_ns);
    sg_switches_close(&switches);
}

/* Time between two intervals belongs to the call, and the second interval reports it. */
static void call_between(void)
{
    static const struct sg_reader_places here = {"/proc", "/sys", NULL};
    const struct timespec pause = {.tv_nsec = 2000000};
    struct sg_reading begin, end, between;
    struct sg_reader reader;
    uint64_t until_ns;

    sg_reader_open(&reader, &here);
    sg_reader_begin(&reader, &begin);
    sg_reader_end(&reader, &end);
    until_ns = sg_clock_of_ns(CLOCK_THREAD_CPUTIME_ID) + 3000000;
    while (sg_clock_of_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
        ;
    nanosleep(&pause, NULL);
    sg_reader_begin(&reader, &begin);
    CU_ASSERT_EQUAL(begin.mask & sg_source_mask(SG_SOURCE_CALL), 0);
    sg_reading_call(&end, &begin);
    sg_reader_end(&reader, &end);
    sg_reading_between(&begin, &end, &between);
    CU_ASSERT_EQUAL((between.mask & sg_source_mask(SG_SOURCE_CALL)) != 0,
                    (reader.mask & sg_source_mask(SG_SOURCE_SCHEDULER)) != 0);
    if ((between.mask & sg_source_mask(SG_SOURCE_CALL)) != 0) {
        CU_ASSERT_TRUE(between.figures[SG_FIGURE_CALL_CPU] >= 3000000);
        CU_ASSERT_TRUE(between.figures[SG_FIGURE_CPU] < between.figures[SG_FIGURE_CALL_CPU]);
        CU_ASSERT_EQUAL(between.mask & sg_source_mask(SG_SOURCE_CALL_OTHERS),
                        sg_source_mask(SG_SOURCE_CALL_OTHERS));
        CU_ASSERT_EQUAL(between.figures[SG_FIGURE_CALL_THREADS_HERE], 0);
    }
    /* An interval that has no other before it does not tell of the call. */
    sg_reader_begin(&reader, &begin);
    sg_reader_end(&reader, &end);
    sg_reading_between(&begin, &end, &between);
    CU_ASSERT_EQUAL(between.mask & sg_source_mask(SG_SOURCE_CALL), 0);
    sg_reader_close(&reader);
}

const struct unit_test unit_tests[] = {
    {"the last switch of a ring is told, however many there were", last_of_a_ring},
    {"what is no switch back to the processor tells nothing", unusual_rings},
    {"who sleeps is away, and not ready", own_switches},
    {"a call's time is the difference of the readings at its ends", call_between},
    {NULL, NULL},
};
