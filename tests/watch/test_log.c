/* Tests logs that are read while they grow, are filled in later, or are cut off. */
#include "lib/unit.h"
#include "trace/log.h"
#include "watch/watch_arrivals.h"
#include "watch/watch_log.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- slots ----------------------------------------------------------------------------------- */

TEST("a file that is truncated while mapped ends the copy, and nothing else")
{
    long page = sysconf(_SC_PAGESIZE);
    unsigned char copy[2 * SG_SLOT_BYTES];
    char path[4096];

    snprintf(path, sizeof path, "%s/cut", unit_directory());
    int file = open(path, O_RDWR | O_CREAT, 0600);
    ASSERT(file >= 0 && ftruncate(file, 2 * page) == 0);
    unsigned char *map =
        mmap(NULL, (size_t)(2 * page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ASSERT(map != MAP_FAILED);
    memset(map, SG_RECORD_CONT, (size_t)(2 * page));
    sg_slots_guard();
    EXPECT(sg_slots_copy(copy, map + page - SG_SLOT_BYTES, 2),
           copy[0] == SG_RECORD_CONT && copy[2 * SG_SLOT_BYTES - 1] == SG_RECORD_CONT);
    ASSERT(ftruncate(file, page) == 0);
    EXPECT(!sg_slots_copy(copy, map + page - SG_SLOT_BYTES, 2),
           !sg_slots_copy_words(copy, map + page, SG_SLOT_BYTES),
           sg_slots_copy(copy, map + page - SG_SLOT_BYTES, 1));
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

    ASSERT(sg_live_log_begin(log));
    while (more)
        ASSERT(sg_live_log_read(log, tell, told, &more) == SG_OK);
    ASSERT(sg_live_log_end(log, tell, told) == SG_OK);
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
    ASSERT(sg_log_create(&options, &log) == SG_OK);
    return log;
}

static struct sg_record_call *begin_call(struct sg_log *log)
{
    struct sg_record_call *call = sg_log_event_growing(log);

    ASSERT(call != NULL);
    call->begin_ns = 100;
    return call;
}

static void end_call(struct sg_record_call *call, uint64_t end_ns)
{
    atomic_store_explicit(&call->end_ns, end_ns, memory_order_release);
}

TEST("each call is reported once, when complete; statistics are current")
{
    struct told told = {0};
    struct sg_live_log live;
    struct sg_refusal why;
    char path[4096];
    struct sg_log *log = create(path, sizeof path);

    for (int i = 0; i < 1000; i++) {
        struct sg_record_call *call = begin_call(log);

        end_call(call, 200);
        sg_log_publish(call, SG_RECORD_CALL);
    }
    struct sg_record_call *open = begin_call(log);
    sg_log_publish(open, SG_RECORD_CALL);
    struct sg_record_call *unwritten = begin_call(log);
    struct sg_record_stat *stat = sg_log_entry(log, SG_STAT_SLOTS);
    ASSERT(stat != NULL);
    stat->calls = 7;
    sg_log_publish(stat, SG_RECORD_STAT);
    ASSERT(sg_live_log_open(path, 3, &live, &why) == SG_OK);
    look(&live, &told);
    EXPECT(told.calls == 1000, live.open_count == 2);
    look(&live, &told);
    EXPECT(told.calls == 1000); /* nothing is told twice */

    end_call(open, 300);
    stat->calls = 8;
    look(&live, &told);
    EXPECT(told.calls == 1001 && told.last_end_ns == 300);
    end_call(unwritten, 400);
    sg_log_publish(unwritten, SG_RECORD_CALL);
    look(&live, &told);
    EXPECT(told.calls == 1002 && told.last_end_ns == 400, live.open_count == 0);
    {
        uint64_t slot = 0;
        enum sg_record_kind kind;
        const struct sg_record_stat *kept = sg_logread_next(live.held, &slot, &kind);

        ASSERT(kept != NULL && kind == SG_RECORD_STAT);
        EXPECT(kept->calls == 8);
        EXPECT(sg_logread_next(live.held, &slot, &kind) == NULL); /* events are not kept */
    }
    sg_log_close(log, SG_LOG_FINALIZED);
    look(&live, &told);
    EXPECT(live.state == SG_LIVE_FINISHED, !sg_live_log_begin(&live));
    sg_live_log_close(&live);
}

/* The end of a log that has been removed is read all the same. */
TEST("the end of a removed log is read")
{
    struct told told = {0};
    struct sg_live_log live;
    struct sg_refusal why;
    char path[4096];
    struct sg_log *log = create(path, sizeof path);

    ASSERT(sg_live_log_open(path, 3, &live, &why) == SG_OK);
    struct sg_record_call *call = begin_call(log);
    end_call(call, 200);
    sg_log_publish(call, SG_RECORD_CALL);
    sg_log_close(log, SG_LOG_FINALIZED);
    unlink(path);
    look(&live, &told);
    EXPECT(told.calls == 1, live.state == SG_LIVE_FINISHED);
    sg_live_log_close(&live);
}

TEST("damaged logs and logs of another run are refused")
{
    struct sg_live_log live;
    struct sg_refusal why;
    char path[4096];
    struct sg_log *log = create(path, sizeof path);

    EXPECT(sg_live_log_open(path, 2, &live, &why) == SG_ERR_FORMAT,
           text_is(why.reason, "belongs to another rank"));
    sg_log_header(log)->version = 1;
    EXPECT(sg_live_log_open(path, 3, &live, &why) == SG_ERR_VERSION);
    sg_log_header(log)->version = SG_LOG_VERSION;
    sg_log_close(log, SG_LOG_ABORTED);
    ASSERT(sg_live_log_open(path, 3, &live, &why) == SG_OK, truncate(path, 100) == 0);
    EXPECT(!sg_live_log_begin(&live), live.state == SG_LIVE_DAMAGED,
           text_is(live.refusal.reason, "is cut off in its header"));
    sg_live_log_close(&live);
}
