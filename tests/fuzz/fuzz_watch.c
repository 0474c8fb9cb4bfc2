/* Fuzzes `stagger watch` with logs of two running ranks, damaged in any way: shown twice as text
 * and once as JSON. Their headers are sound: others are refused, and looked at again for a
 * second.
 *
 * Input: the two files' bytes by halves.
 */
#include "fuzz/directory.h"

#include "trace/fabricate.h"
#include "watch/watch.h"

static void write_log(const char *directory, int rank, const uint8_t *data, size_t size)
{
    struct fabricated log;

    fabricate_start(&log, rank, 2);
    log.header.state = SG_LOG_RUNNING;
    log.header.counts_calls = 1;
    memcpy(fabricate_slots(&log, size / SG_SLOT_BYTES + 1), data, size);
    fabricate_finish(&log, directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *directory = fuzz_directory();
    struct sg_live_options options = {.directory = directory, .count = 2, .interval_ns = 1};

    write_log(directory, 0, data, size / 2);
    write_log(directory, 1, data + size / 2, size - size / 2);
    sg_live_show(&options);
    options.count = 1;
    options.json = true;
    sg_live_show(&options);
    return 0;
}
