/* Tests the reader of logs: records, texts, refusals, damage, and directories of logs. */
#include "lib/unit.h"
#include "trace/export/logread.h"
#include "trace/fabricate.h"

#include <sys/stat.h>
#include <unistd.h>

static char path[256];

static const char *log_path(void)
{
    snprintf(path, sizeof path, "%s/one.log", unit_directory());
    return path;
}

/* One log with every kind of record. */
static unsigned char *every_kind(size_t *size_bytes)
{
    static const uint32_t members[] = {1, 0};
    struct fabricated log;

    fabricate_start(&log, 1, 3);
    fabricate_comm(&log, 2, 1, 2, 2, 0, "row communicator", members);
    fabricate_site(&log, 1, 0x1234, "/somewhere/with/a/long/path/to/a/module/called/solver",
                   "00112233445566778899aabbccddeeff00112233", 0x11c4);
    fabricate_call(&log, 0, 0, 0, 2000, 2100);
    fabricate_slots(&log, 2); /* reserved and never written */
    fabricate_late(&log, 2200, 2250);
    fabricate_nonblocking(&log, 2, 0, 1, 2260, 10, 5, 2290);
    fabricate_site_name(&log, 0x1234, "solve", "solver.c", 88);
    fabricate_clock(&log, 1500, -100);
    fabricate_marker(&log, SG_MARKER_NOTE, 2300, "a note");
    fabricate_stat(&log, 0, 1, 0, 12);
    fabricate_call(&log, 2, 2, 0, 9000, 0);
    unsigned char *bytes = fabricate_bytes(&log, size_bytes);
    fabricate_free(&log);
    return bytes;
}

static enum sg_status open_bytes(const void *bytes, size_t size_bytes, struct sg_logread **log)
{
    struct sg_refusal refusal;

    fabricate_file(log_path(), bytes, size_bytes);
    return sg_logread_try(path, log, &refusal);
}

/* A log with two posts, then a wait that completes them, itself, and a slot that is not there.
 * *record: the wait's. */
static struct sg_logread *open_waited(uint8_t completes, const void **record,
                                      enum sg_record_kind *kind)
{
    struct sg_record_event *event;
    struct sg_logread *reader;
    struct fabricated log;
    unsigned char *bytes;
    size_t size_bytes;
    uint64_t slot = 2;

    fabricate_start(&log, 0, 8);
    event = fabricate_event(&log, 1, 1, 2100, 2110);
    fabricate_received(event, 3, 7, 80);
    event->flags |= SG_EVENT_POSTS;
    event = fabricate_event(&log, 2, 1, 2120, 2130);
    fabricate_sent(event, 4, 8, 90);
    event->flags |= SG_EVENT_POSTS;
    event = fabricate_event(&log, 3, 0, 2140, 2150);
    event->completes = completes;
    for (uint32_t i = 0; i < 4; i++)
        event->completed[i] = i < 3 ? i : 1000;
    bytes = fabricate_bytes(&log, &size_bytes);
    ASSERT(open_bytes(bytes, size_bytes, &reader) == SG_OK);
    free(bytes);
    fabricate_free(&log);
    *record = sg_logread_next(reader, &slot, kind);
    ASSERT(*record != NULL);
    return reader;
}

/* stderr goes nowhere while refusals are expected by the thousand. */
static int silence(void)
{
    int kept = dup(STDERR_FILENO);

    if (freopen("/dev/null", "w", stderr) == NULL)
        abort();
    return kept;
}

static void speak_again(int kept)
{
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
}

static int count_records(struct sg_logread *log, int kinds[16])
{
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;
    int count = 0;

    memset(kinds, 0, 16 * sizeof *kinds);
    while ((record = sg_logread_next(log, &slot, &kind)) != NULL) {
        kinds[kind & 15]++;
        count++;
    }
    return count;
}

TEST("a log's records are read, and holes between them are skipped")
{
    size_t size_bytes;
    unsigned char *bytes = every_kind(&size_bytes);
    struct sg_logread *log;
    int kinds[16];

    ASSERT(open_bytes(bytes, size_bytes, &log) == SG_OK);
    EXPECT(count_records(log, kinds) == 10, kinds[SG_RECORD_CALL] == 2, kinds[SG_RECORD_STAT] == 1,
           kinds[SG_RECORD_NONBLOCKING] == 1, sg_logread_damaged(log) == 0,
           sg_logread_last_ns(log) == 9000, sg_logread_header(log)->rank == 1);
    sg_logread_close(log);
    free(bytes);
}

/* A post may be the last that was heard of a rank, completed or not. */
TEST("a post's times extend the last time of a log")
{
    static const uint64_t ends_ns[] = {2500, 0, SG_TIME_LIMIT_NS}, lasts_ns[] = {2500, 2340, 2340};

    for (size_t i = 0; i < 3; i++) {
        struct fabricated log;
        struct sg_logread *read;
        size_t size_bytes;

        fabricate_start(&log, 0, 1);
        fabricate_nonblocking(&log, 2, 0, 0, 2300, 40, 5, ends_ns[i]);
        unsigned char *bytes = fabricate_bytes(&log, &size_bytes);
        ASSERT(open_bytes(bytes, size_bytes, &read) == SG_OK);
        EXPECT(sg_logread_last_ns(read) == lasts_ns[i]);
        sg_logread_close(read);
        fabricate_free(&log);
        free(bytes);
    }
}

TEST("texts are assembled from their slots")
{
    size_t size_bytes;
    unsigned char *bytes = every_kind(&size_bytes);
    enum sg_record_kind kind;
    struct sg_logread *log;
    uint64_t slot = 0;
    uint32_t members[2];

    ASSERT(open_bytes(bytes, size_bytes, &log) == SG_OK);
    const struct sg_record_comm *comm = sg_logread_next(log, &slot, &kind);
    ASSERT(kind == SG_RECORD_COMM);
    char *text = sg_logread_text(log, comm, comm->text_bytes);
    ASSERT(text != NULL);
    EXPECT(text_is(text, "row communicator"));
    memcpy(members, text + 20, sizeof members);
    EXPECT(members[0] == 1, members[1] == 0);
    free(text);
    const struct sg_record_site *site = sg_logread_next(log, &slot, &kind);
    ASSERT(kind == SG_RECORD_SITE);
    text = sg_logread_text(log, site, site->text_bytes);
    ASSERT(text != NULL);
    EXPECT(text_is(text, "/somewhere/with/a/long/path/to/a/module/called/solver"),
           text_is(text + strlen(text) + 1, "00112233445566778899aabbccddeeff00112233"));
    free(text);
    sg_logread_close(log);
    free(bytes);
}

TEST("files that are not logs, or of another version, are refused")
{
    size_t size_bytes;
    unsigned char *bytes = every_kind(&size_bytes);
    struct sg_log_header *header = (struct sg_log_header *)bytes;
    struct sg_refusal refusal;
    struct sg_logread *log = NULL;
    int kept = silence();

    EXPECT(sg_logread_try("/nonexistent/rank-000000.log", &log, &refusal) == SG_ERR_SYSTEM,
           sg_logread_try("/dev/null", &log, &refusal) == SG_ERR_FORMAT,
           sg_logread_try("/", &log, &refusal) == SG_ERR_FORMAT,
           open_bytes("", 0, &log) == SG_ERR_FORMAT,
           open_bytes(bytes, SG_LOG_HEADER_BYTES - 1, &log) == SG_ERR_FORMAT);
    header->rank = 3;
    EXPECT(open_bytes(bytes, size_bytes, &log) == SG_ERR_FORMAT);
    header->rank = 1;
    header->world_size = INT32_MAX;
    EXPECT(open_bytes(bytes, size_bytes, &log) == SG_ERR_FORMAT);
    header->world_size = 3;
    header->slot_bytes = 0;
    EXPECT(open_bytes(bytes, size_bytes, &log) == SG_ERR_FORMAT);
    header->slot_bytes = SG_SLOT_BYTES;
    header->version = SG_LOG_VERSION + 1;
    EXPECT(open_bytes(bytes, size_bytes, &log) == SG_ERR_VERSION);
    header->magic[0] = 'S';
    EXPECT(open_bytes(bytes, size_bytes, &log) == SG_ERR_FORMAT, log == NULL);
    speak_again(kept);
    free(bytes);
}

TEST("counts beyond the file are bounded by its size")
{
    size_t size_bytes;
    unsigned char *bytes = every_kind(&size_bytes);
    struct sg_log_header *header = (struct sg_log_header *)bytes;
    struct sg_record_comm *comm = (void *)(bytes + SG_LOG_HEADER_BYTES);
    struct sg_logread *log;
    int kinds[16];

    header->next_slot = header->allocated_slots = UINT64_MAX;
    comm->text_bytes = UINT32_MAX;
    ASSERT(open_bytes(bytes, size_bytes, &log) == SG_OK);
    EXPECT(count_records(log, kinds) == 9, sg_logread_damaged(log) == 2,
           count_records(log, kinds) == 9, sg_logread_damaged(log) == 2,
           sg_logread_text(log, comm, 12) == NULL);
    sg_logread_close(log);
    free(bytes);
}

TEST("records that were cut off are counted")
{
    size_t size_bytes;
    unsigned char *bytes = every_kind(&size_bytes);
    struct sg_logread *log;

    /* The last record is gone, and half of the statistics before it. */
    ASSERT(open_bytes(bytes, size_bytes - 2 * SG_SLOT_BYTES + 5, &log) == SG_OK);
    EXPECT(sg_logread_damaged(log) == 3, sg_logread_last_ns(log) == 2300);
    sg_logread_close(log);
    free(bytes);
}

/* Walks a log as the exporter does: records, texts, all bounded by the file. */
static void walk(const void *bytes, size_t size_bytes)
{
    struct sg_logread *log = NULL;
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;
    uint64_t steps = 0;

    if (open_bytes(bytes, size_bytes, &log) != SG_OK) {
        EXPECT(log == NULL);
        return;
    }
    while ((record = sg_logread_next(log, &slot, &kind)) != NULL) {
        if (kind == SG_RECORD_SITE || kind == SG_RECORD_SITE_NAME || kind == SG_RECORD_COMM ||
            kind == SG_RECORD_MARKER) {
            /* text_bytes has its place in each. */
            uint32_t text_bytes =
                kind == SG_RECORD_COMM     ? ((const struct sg_record_comm *)record)->text_bytes
                : kind == SG_RECORD_MARKER ? ((const struct sg_record_marker *)record)->text_bytes
                                           : ((const struct sg_record_site *)record)->text_bytes;
            char *text = sg_logread_text(log, record, text_bytes);

            ASSERT(text != NULL);
            EXPECT(text[text_bytes] == '\0');
            free(text);
        }
        ASSERT(++steps <= size_bytes / SG_SLOT_BYTES);
    }
    sg_logread_close(log);
}

TEST("a log cut anywhere or damaged at random is read safely")
{
    size_t size_bytes;
    unsigned char *bytes = every_kind(&size_bytes);
    unsigned char *copy = malloc(size_bytes);
    int kept = silence();

    ASSERT(copy != NULL);
    for (size_t cut = SG_LOG_HEADER_BYTES - 70; cut <= size_bytes; cut++)
        walk(bytes, cut);
    srand48(1);
    for (int round = 0; round < 4000; round++) {
        int flips = 1 + (int)(lrand48() % 8);

        memcpy(copy, bytes, size_bytes);
        while (flips-- > 0) {
            /* Half of them in the header's used part, half in the records. */
            size_t at =
                lrand48() % 2 == 0
                    ? (size_t)lrand48() % 160
                    : SG_LOG_HEADER_BYTES + (size_t)lrand48() % (size_bytes - SG_LOG_HEADER_BYTES);

            copy[at] = (unsigned char)lrand48();
        }
        walk(copy, size_bytes);
    }
    speak_again(kept);
    free(copy);
    free(bytes);
}

static void put_log(const char *directory, int rank, int world_size, uint32_t version,
                    const char *unique)
{
    struct fabricated log;

    fabricate_start(&log, rank, world_size);
    log.header.version = version;
    strcpy(log.header.unique, unique);
    fabricate_finish(&log, directory);
}

static void make_directory(char *directory, size_t size_bytes, const char *name)
{
    snprintf(directory, size_bytes, "%s/%s", unit_directory(), name);
    ASSERT(mkdir(directory, 0777) == 0);
}

/* Lines that a call leaves on stderr. */
static int count_lines(const char *file)
{
    FILE *said = fopen(file, "r");
    int lines = 0, character;

    while (said != NULL && (character = getc(said)) != EOF)
        lines += character == '\n';
    if (said != NULL)
        fclose(said);
    return lines;
}

static enum sg_status open_all(const char *directory, int *count, int *world_size, int *missing,
                               int *lines)
{
    struct sg_logread **logs = NULL;
    int kept = dup(STDERR_FILENO);
    char said[300];

    snprintf(said, sizeof said, "%s/said", unit_directory());
    if (freopen(said, "w", stderr) == NULL)
        abort();
    *count = 0;
    enum sg_status status = sg_logread_open_all(directory, &logs, count, world_size, missing);
    speak_again(kept);
    *lines = count_lines(said);
    for (int i = 0, last = -1; status == SG_OK && i < *count; i++) {
        EXPECT(sg_logread_header(logs[i])->rank > last);
        last = sg_logread_header(logs[i])->rank;
        sg_logread_close(logs[i]);
    }
    if (status == SG_OK)
        free(logs);
    return status;
}

TEST("all logs of a directory are opened in order of rank")
{
    int count, world_size, missing, lines;
    char directory[200], name[240];

    make_directory(directory, sizeof directory, "whole");
    for (int rank = 11; rank >= 0; rank--)
        put_log(directory, rank, 12, SG_LOG_VERSION, "run");
    snprintf(name, sizeof name, "%s/rank-1.log", directory);
    fabricate_file(name, "x", 1); /* not a log's name */
    EXPECT(open_all(directory, &count, &world_size, &missing, &lines) == SG_OK, count == 12,
           world_size == 12, missing == 0, lines == 0);
}

TEST("each rank without a readable log gets one line")
{
    int count, world_size, missing, lines;
    char directory[200], name[240];

    make_directory(directory, sizeof directory, "holes");
    put_log(directory, 0, 5, SG_LOG_VERSION, "run");
    put_log(directory, 1, 5, SG_LOG_VERSION + 3, "run");
    put_log(directory, 3, 5, SG_LOG_VERSION, "another");
    snprintf(name, sizeof name, "%s/rank-000004.log", directory);
    fabricate_file(name, "short", 5);
    EXPECT(open_all(directory, &count, &world_size, &missing, &lines) == SG_OK, count == 1,
           world_size == 5, missing == 4, lines == 4);
}

TEST("a log that claims a thousand ranks is accepted with few lines, a larger one refused")
{
    int count, world_size, missing, lines;
    char directory[200];

    make_directory(directory, sizeof directory, "many");
    put_log(directory, 0, 1024, SG_LOG_VERSION, "run");
    EXPECT(open_all(directory, &count, &world_size, &missing, &lines) == SG_OK, missing == 1023,
           lines == 9);
    make_directory(directory, sizeof directory, "made-up");
    put_log(directory, 0, 1025, SG_LOG_VERSION, "run");
    EXPECT(open_all(directory, &count, &world_size, &missing, &lines) == SG_ERR_FORMAT, lines == 1);
}

TEST("a directory without a usable log gets one line")
{
    int count, world_size, missing, lines;
    char directory[200];

    make_directory(directory, sizeof directory, "bare");
    EXPECT(open_all(directory, &count, &world_size, &missing, &lines) == SG_ERR_MISSING, lines == 1,
           open_all("/nonexistent", &count, &world_size, &missing, &lines) == SG_ERR_SYSTEM,
           lines == 1);
    put_log(directory, 0, 2, SG_LOG_VERSION + 1, "run");
    put_log(directory, 1, 2, SG_LOG_VERSION + 1, "run");
    EXPECT(open_all(directory, &count, &world_size, &missing, &lines) == SG_ERR_VERSION,
           lines == 1);
}

TEST("a wait's event stands for the completions of messages as they were posted")
{
    struct sg_record_request received, sent, none;
    struct sg_completions completions;
    enum sg_record_kind kind;
    const void *record;
    struct sg_logread *log = open_waited(4, &record, &kind);

    completions = sg_completions_of(record, kind);
    EXPECT(completions.count == 4, completions.time_ns == 2150,
           sg_completion_read(log, &completions, 0, &received),
           sg_completion_read(log, &completions, 1, &sent),
           !sg_completion_read(log, &completions, 2, &none),
           !sg_completion_read(log, &completions, 3, &none));
    EXPECT(received.what == SG_REQUEST_RECEIVED, received.peer == 3, received.tag == 7,
           received.bytes == 80, received.request == 0, received.time_ns == 2150);
    EXPECT(sent.what == SG_REQUEST_SENT, sent.peer == 4, sent.tag == 8, sent.bytes == 90,
           sent.request == 1, sent.function == 2);
    sg_logread_close(log);
}

TEST("an event that claims more completions than it can hold has none")
{
    enum sg_record_kind kind;
    const void *record;
    struct sg_logread *log = open_waited(SG_EVENT_COMPLETES_MOST + 1, &record, &kind);

    EXPECT(sg_completions_of(record, kind).count == 0);
    sg_logread_close(log);
}
