/* Tests logs that are read while they grow, are filled in later, or are cut off. */
#include "lib/unit.h"
#include "trace/log.h"
#include "watch/watch_arrivals.h"
#include "watch/watch_log.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- slots ----------------------------------------------------------------------------------- */

static void test_cut_off(void)
{
    long page = sysconf(_SC_PAGESIZE);
    unsigned char copy[2 * SG_SLOT_BYTES];
    unsigned char *map;
    char path[4096];
    int file;

    snprintf(path, sizeof path, "%s/cut", unit_directory());
    file = open(path, O_RDWR | O_CREAT, 0600);
    CU_ASSERT_FATAL(file >= 0 && ftruncate(file, 2 * page) == 0);
    map = mmap(NULL, (size_t)(2 * page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CU_ASSERT_FATAL(map != MAP_FAILED);
    memset(map, SG_RECORD_CONT, (size_t)(2 * page));
    sg_slots_guard();
    CU_ASSERT(sg_slots_copy(copy, map + page - SG_SLOT_BYTES, 2));
    CU_ASSERT(copy[0] == SG_RECORD_CONT && copy[2 * SG_SLOT_BYTES - 1] == SG_RECORD_CONT);
    CU_ASSERT_FATAL(ftruncate(file, page) == 0);
    CU_ASSERT(!sg_slots_copy(copy, map + page - SG_SLOT_BYTES, 2));
    CU_ASSERT(!sg_slots_copy_words(copy, map + page, SG_SLOT_BYTES));
    CU_ASSERT(sg_slots_copy(copy, map + page - SG_SLOT_BYTES, 1));
    munmap(map, (size_t)(2 * page));
    close(file);
}

/* ---- a log ----------------------------------------------------------------------------------- */

struct told {
    int calls, definitions;
    uint64_t last_end_ns;
};

static enum sg_status tell(void *context, const struct sg_live_log *log, enum sg_record_kind kind,
                           const void *record)
{
    struct told *told = context;

    (void)log;
    if (kind == SG_RECORD_CALL) {
        told->calls++;
        told->last_end_ns = ((const struct sg_record_call *)record)->end_ns;
    } else {
        told->definitions++;
    }
    return SG_OK;
}

/* Looks once. */
static void look(struct sg_live_log *log, struct told *told)
{
    bool more = true;

    CU_ASSERT_FATAL(sg_live_log_begin(log));
    while (more)
        CU_ASSERT_EQUAL_FATAL(sg_live_log_read(log, tell, told, &more), SG_OK);
    CU_ASSERT_EQUAL_FATAL(sg_live_log_end(log, tell, told), SG_OK);
}

static struct sg_log *create(char *path, size_t bytes)
{
    struct sg_log_options options = {.rank = 3,
                                     .world_size = 4,
                                     .mode = SG_TRACE_OTF2,
                                     .limit_bytes = 1 << 20,
                                     .host = "host",
                                     .program = "program",
                                     .unique = "unique",
                                     .directory = unit_directory()};
    struct sg_log *log;

    snprintf(path, bytes, "%s/" SG_LOG_NAME_FORMAT, options.directory, options.rank);
    unlink(path);
    CU_ASSERT_EQUAL_FATAL(sg_log_create(&options, &log), SG_OK);
    return log;
}

static struct sg_record_call *begin_call(struct sg_log *log)
{
    struct sg_record_call *call = sg_log_event_growing(log);

    CU_ASSERT_FATAL(call != NULL);
    call->begin_ns = 100;
    return call;
}

static void end_call(struct sg_record_call *call, uint64_t end_ns)
{
    atomic_store_explicit(&call->end_ns, end_ns, memory_order_release);
}

static void test_grows(void)
{
    struct told told = {0};
    struct sg_live_log live;
    struct sg_refusal why;
    struct sg_record_call *open, *unwritten;
    struct sg_record_stat *stat;
    char path[4096];
    struct sg_log *log = create(path, sizeof path);

    for (int i = 0; i < 1000; i++) {
        struct sg_record_call *call = begin_call(log);

        end_call(call, 200);
        sg_log_publish(call, SG_RECORD_CALL);
    }
    open = begin_call(log);
    sg_log_publish(open, SG_RECORD_CALL);
    unwritten = begin_call(log);
    stat = sg_log_entry(log, SG_STAT_SLOTS);
    CU_ASSERT_FATAL(stat != NULL);
    stat->calls = 7;
    sg_log_publish(stat, SG_RECORD_STAT);
    CU_ASSERT_EQUAL_FATAL(sg_live_log_open(path, 3, &live, &why), SG_OK);
    look(&live, &told);
    CU_ASSERT_EQUAL(told.calls, 1000);
    CU_ASSERT_EQUAL(live.open_count, 2);
    look(&live, &told);
    CU_ASSERT_EQUAL(told.calls, 1000); /* nothing is told twice */

    end_call(open, 300);
    stat->calls = 8;
    look(&live, &told);
    CU_ASSERT(told.calls == 1001 && told.last_end_ns == 300);
    end_call(unwritten, 400);
    sg_log_publish(unwritten, SG_RECORD_CALL);
    look(&live, &told);
    CU_ASSERT(told.calls == 1002 && told.last_end_ns == 400);
    CU_ASSERT_EQUAL(live.open_count, 0);
    {
        uint64_t slot = 0;
        enum sg_record_kind kind;
        const struct sg_record_stat *kept = sg_logread_next(live.held, &slot, &kind);

        CU_ASSERT_FATAL(kept != NULL && kind == SG_RECORD_STAT);
        CU_ASSERT_EQUAL(kept->calls, 8);
        CU_ASSERT(sg_logread_next(live.held, &slot, &kind) == NULL); /* events are not kept */
    }
    sg_log_close(log, SG_LOG_FINALIZED);
    look(&live, &told);
    CU_ASSERT_EQUAL(live.state, SG_LIVE_FINISHED);
    CU_ASSERT(!sg_live_log_begin(&live));
    sg_live_log_close(&live);
}

/* The end of a log that has been removed is read all the same. */
static void test_removed(void)
{
    struct told told = {0};
    struct sg_live_log live;
    struct sg_refusal why;
    struct sg_record_call *call;
    char path[4096];
    struct sg_log *log = create(path, sizeof path);

    CU_ASSERT_EQUAL_FATAL(sg_live_log_open(path, 3, &live, &why), SG_OK);
    call = begin_call(log);
    end_call(call, 200);
    sg_log_publish(call, SG_RECORD_CALL);
    sg_log_close(log, SG_LOG_FINALIZED);
    unlink(path);
    look(&live, &told);
    CU_ASSERT_EQUAL(told.calls, 1);
    CU_ASSERT_EQUAL(live.state, SG_LIVE_FINISHED);
    sg_live_log_close(&live);
}

static void test_refused(void)
{
    struct sg_live_log live;
    struct sg_refusal why;
    char path[4096];
    struct sg_log *log = create(path, sizeof path);

    CU_ASSERT_EQUAL(sg_live_log_open(path, 2, &live, &why), SG_ERR_FORMAT);
    CU_ASSERT_STRING_EQUAL(why.reason, "belongs to another rank");
    sg_log_header(log)->version = 1;
    CU_ASSERT_EQUAL(sg_live_log_open(path, 3, &live, &why), SG_ERR_VERSION);
    sg_log_header(log)->version = SG_LOG_VERSION;
    sg_log_close(log, SG_LOG_ABORTED);
    CU_ASSERT_EQUAL_FATAL(sg_live_log_open(path, 3, &live, &why), SG_OK);
    CU_ASSERT_FATAL(truncate(path, 100) == 0);
    CU_ASSERT(!sg_live_log_begin(&live));
    CU_ASSERT_EQUAL(live.state, SG_LIVE_DAMAGED);
    CU_ASSERT_STRING_EQUAL(live.refusal.reason, "is cut off in its header");
    sg_live_log_close(&live);
}

const struct unit_test unit_tests[] = {
    {"a file that is cut off while it is mapped ends the copy, and nothing else", test_cut_off},
    {"each call is told once, when it is complete; statistics are those of now", test_grows},
    {"the end of a log that was removed is read", test_removed},
    {"logs of others, and damaged ones, are refused", test_refused},
    {NULL, NULL},
};
