/* Fuzzes the readers of logs with two ranks' logs, damaged in any way: they are read record by
 * record, for the present call as a rank that waits reads it, made into an archive as `stagger
 * recover` makes it, and read by a command; statistics are read without an archive.
 *
 * Input: a byte of bits (1: headers as they come, else sound ones; 2: statistics), then the two
 * files' bytes by halves. All of it is stagger.conf, too.
 */
#include "fuzz/commands.h"
#include "fuzz/directory.h"

#include "core/exchange.h"
#include "rule/rule.h"
#include "trace/export/export.h"
#include "trace/fabricate.h"
#include "trace/log.h"

static void write_log(const char *directory, int rank, int bits, const uint8_t *data, size_t size)
{
    char path[256];
    struct fabricated log;

    snprintf(path, sizeof path, "%s/" SG_LOG_NAME_FORMAT, directory, rank);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        abort();
    if ((bits & 1) == 0) {
        fabricate_start(&log, rank, 2);
        log.header.trace_mode = bits & 2 ? SG_TRACE_STATS : SG_TRACE_OTF2;
        log.header.next_slot = log.header.allocated_slots = size / SG_SLOT_BYTES;
        log.header.counts_calls = 1;
        fwrite(&log.header, 1, sizeof log.header, file);
        for (size_t at = sizeof log.header; at < SG_LOG_HEADER_BYTES; at++)
            fputc(0, file);
    }
    fwrite(data, 1, size, file);
    fclose(file);
}

static void write_configuration(const char *directory, const uint8_t *data, size_t size)
{
    char path[256];

    snprintf(path, sizeof path, "%s/stagger.conf", directory);
    FILE *file = fopen(path, "w");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

static void read_log(struct sg_logread *log)
{
    enum sg_record_kind kind;
    struct sg_waiting waiting;
    const void *record;
    uint64_t slot = 0, before = 0;

    fuzz_holds(sg_logread_header(log) != NULL, "a log that opens has a header");
    while ((record = sg_logread_next(log, &slot, &kind)) != NULL) {
        fuzz_holds(slot > before, "reading goes on");
        before = slot;
    }
    sg_logread_damaged(log);
    sg_logread_waiting(log, &waiting);
    fuzz_holds(memchr(waiting.hook, '\0', sizeof waiting.hook) != NULL, "a hook's name ends");
    sg_logread_last_ns(log);
}

static void read_present(const char *directory, int rank)
{
    struct sg_log_present call;
    char path[256];

    snprintf(path, sizeof path, "%s/" SG_LOG_NAME_FORMAT, directory, rank);
    if (!sg_log_present("one-run", path, &call))
        return;
    fuzz_holds(memchr(call.function, '\0', sizeof call.function) != NULL &&
                   memchr(call.module, '\0', sizeof call.module) != NULL &&
                   memchr(call.comm, '\0', sizeof call.comm) != NULL,
               "the texts of a present call end");
}

static void export_logs(const char *directory)
{
    static const char *names[64];
    struct sg_export input = {.directory = directory,
                              .algorithms = names,
                              .algorithm_count = sg_algorithm_count,
                              .exchange = &sg_exchange_serial};
    struct sg_export_result result;
    int missing;

    for (int i = 0; i < sg_algorithm_count; i++)
        names[i] = sg_algorithms[i].name;
    if (sg_logread_open_all(directory, &input.logs, &input.log_count, &input.world_size,
                            &missing) != SG_OK)
        return;
    for (int i = 0; i < input.log_count; i++)
        read_log(input.logs[i]);
    sg_export_archive(&input, &result);
    for (int i = 0; i < input.log_count; i++)
        sg_logread_close(input.logs[i]);
    free(input.logs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *directory = fuzz_directory();
    int bits = size > 0 ? data[0] : 0;
    size_t half = size > 0 ? (size - 1) / 2 : 0;

    write_log(directory, 0, bits, data + (size > 0), half);
    write_log(directory, 1, bits, data + (size > 0) + half, size - (size > 0) - half);
    write_configuration(directory, data, size);
    read_present(directory, 0);
    read_present(directory, 1);
    if ((bits & 2) == 0)
        export_logs(directory);
    fuzz_directory_read(directory);
    return 0;
}
