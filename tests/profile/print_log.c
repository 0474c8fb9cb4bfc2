/* print_log LOG...: prints the communicators, and the calls and their requests, of ranks' logs as
 * text, a line a record: the communicators in the order of the log, the others by time. Events are
 * printed by their numbers among those printed, and communicators by their names. */
#include "core/text.h"
#include "trace/export/logread.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4096

static char *function_names[MOST], *comm_names[MOST];
static uint64_t slots[MOST * 16]; /* of the events and requests that have been printed */
static unsigned printed;

static void fail(const char *what)
{
    fprintf(stderr, "print_log: %s\n", what);
    exit(2);
}

static const char *or_none(char *const *names, uint32_t index)
{
    return index < MOST && names[index] != NULL ? names[index] : "-";
}

static unsigned number_of(uint64_t slot)
{
    for (unsigned i = 0; i < printed; i++) {
        if (slots[i] == slot)
            return i + 1;
    }
    return 0;
}

static void put_number(uint64_t slot)
{
    if (printed == sizeof slots / sizeof *slots)
        fail("too many records");
    slots[printed++] = slot;
    printf("%u ", printed);
}

static void put_comm(const struct sg_record_profile_comm *comm, const char *name)
{
    const char *members = name + ((strlen(name) + 1 + 3) & ~(size_t)3);
    uint32_t count = comm->is_inter ? comm->size + comm->peers : comm->size;

    printf("comm %u %s %016" PRIx64 ":%u rank %u size %u peers %u of %s", comm->index, name,
           comm->identity, comm->ordinal, comm->rank, comm->size, comm->peers,
           or_none(comm_names, comm->parent));
    if (comm->has_members) {
        printf(" members");
        for (uint32_t i = 0; i < count; i++) {
            uint32_t rank;

            memcpy(&rank, members + i * sizeof rank, sizeof rank);
            printf(" %u", rank);
        }
    }
    putchar('\n');
}

static void put_flags(uint8_t flags)
{
    static const char *const names[] = {"failed", "sends",   "receives", "posts",
                                        "rooted", "ordered", "targets"};

    for (int i = 0; i < 7; i++) {
        if (flags & 1 << i)
            printf(" %s", names[i]);
    }
}

static void put_thread(uint16_t thread)
{
    if (thread != 0)
        printf("thread %u ", thread);
}

static void put_side(const char *word, int peer, int tag, uint64_t bytes)
{
    if (peer != -1 || tag != -1 || bytes != 0)
        printf(" %s %d:%d %" PRIu64, word, peer, tag, bytes);
}

static void put_event(const struct sg_record_event *event, uint64_t slot)
{
    put_number(slot);
    put_thread(event->thread);
    printf("%s %s%s", or_none(function_names, event->function), or_none(comm_names, event->comm),
           event->end_ns == 0 ? " open" : "");
    put_flags(event->flags);
    if (event->completes == 0) {
        put_side("to", event->to, event->to_tag, event->sent_bytes);
        put_side("from", event->from, event->from_tag, event->received_bytes);
    }
    putchar('\n');
    if (event->end_ns != 0 && event->end_ns < event->begin_ns)
        fail("an event ends before it begins");
}

static void put_request(const struct sg_record_request *request, uint64_t slot)
{
    static const char *const names[] = {"?",        "send",      "receive", "sent",    "received",
                                        "complete", "cancelled", "freed",   "prepared"};

    put_number(slot);
    put_thread(request->thread);
    printf("- %s %u of %s %s", names[request->what < 9 ? request->what : 0],
           number_of(request->request), or_none(function_names, request->function),
           or_none(comm_names, request->comm));
    put_side("with", request->peer, request->tag, request->bytes);
    if (request->start > 0)
        printf(" %" PRIu64 " start %u", request->received_bytes, request->start);
    putchar('\n');
}

static char *text_of(struct sg_logread *log, const void *record, enum sg_record_kind kind)
{
    uint32_t text_bytes;
    char *text = sg_logread_text_bytes(record, kind, &text_bytes)
                     ? sg_logread_text(log, record, text_bytes)
                     : NULL;

    if (text == NULL)
        fail("no text");
    return text;
}

/* Names, first: an event may come before the definitions of what it names. */
static void keep_names(struct sg_logread *log)
{
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    memset(function_names, 0, sizeof function_names);
    memset(comm_names, 0, sizeof comm_names);
    while ((record = sg_logread_next(log, &slot, &kind)) != NULL) {
        const struct sg_record_function *function = record;
        const struct sg_record_profile_comm *comm = record;

        if (kind == SG_RECORD_FUNCTION && function->index < MOST)
            function_names[function->index] = text_of(log, record, kind);
        else if (kind == SG_RECORD_PROFILE_COMM && comm->index < MOST)
            comm_names[comm->index] = text_of(log, record, kind);
    }
}

static void put_record(struct sg_logread *log, const void *record, enum sg_record_kind kind,
                       uint64_t slot)
{
    const struct sg_record_comm *comm = record;
    char *text;

    if (kind == SG_RECORD_PROFILE_COMM) {
        put_comm(record, text_of(log, record, kind));
    } else if (kind == SG_RECORD_COMM) {
        text = text_of(log, record, kind);
        printf("managed %s is %s\n", text, or_none(comm_names, comm->profile_comm));
        free(text);
    } else if (kind == SG_RECORD_CALL) {
        const struct sg_record_call *call = record;

        printf("call %s %u\n", sg_operation_names[call->operation], call->seq);
    } else if (kind == SG_RECORD_EVENT) {
        put_event(record, slot);
    } else if (kind == SG_RECORD_REQUEST) {
        put_request(record, slot);
    }
}

/* ---- records by time ---- */

static struct timed {
    uint64_t time_ns, slot;
    const void *record;
    enum sg_record_kind kind;
    unsigned part; /* of a request that the record completes: 1 + its index; else 0 */
} timed[MOST * 16];

static int compare(const void *a, const void *b)
{
    const struct timed *left = a, *right = b;

    if (left->time_ns != right->time_ns)
        return left->time_ns > right->time_ns ? 1 : -1;
    if (left->slot != right->slot)
        return left->slot > right->slot ? 1 : -1;
    return (left->part > right->part) - (left->part < right->part);
}

/* Returns a record's time; 0: it has none. */
static uint64_t time_of(const void *record, enum sg_record_kind kind)
{
    return kind == SG_RECORD_CALL      ? ((const struct sg_record_call *)record)->begin_ns
           : kind == SG_RECORD_EVENT   ? ((const struct sg_record_event *)record)->begin_ns
           : kind == SG_RECORD_REQUEST ? ((const struct sg_record_request *)record)->time_ns
                                       : 0;
}

static size_t timed_count;

static void add_timed(struct timed one)
{
    if (timed_count == sizeof timed / sizeof *timed)
        fail("too many records");
    timed[timed_count++] = one;
}

static void put_timed(struct sg_logread *log, const struct timed *one)
{
    const struct sg_completions completions = sg_completions_of(one->record, one->kind);
    struct sg_record_request request;

    if (one->part == 0) {
        put_record(log, one->record, one->kind, one->slot);
        return;
    }
    if (!sg_completion_read(log, &completions, one->part - 1, &request))
        fail("a completion of nothing");
    put_request(&request, UINT64_MAX);
}

static void put_records(struct sg_logread *log)
{
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    timed_count = 0;
    while ((record = sg_logread_next(log, &slot, &kind)) != NULL) {
        uint64_t first = slot - sg_logread_slots(log, record, kind);
        const struct sg_completions completions = sg_completions_of(record, kind);

        add_timed((struct timed){time_of(record, kind), first, record, kind, 0});
        for (unsigned i = 0; i < completions.count; i++)
            add_timed((struct timed){completions.time_ns, first, record, kind, i + 1});
    }
    qsort(timed, timed_count, sizeof *timed, compare);
    for (size_t i = 0; i < timed_count; i++)
        put_timed(log, &timed[i]);
}

static void put_left_out(struct sg_logread *log)
{
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    while ((record = sg_logread_next(log, &slot, &kind)) != NULL) {
        const struct sg_record_function *function = record;

        if (kind == SG_RECORD_FUNCTION && function->left_out > 0)
            printf("left out %s %" PRIu64 "\n", function_names[function->index],
                   (uint64_t)function->left_out);
    }
}

static void put_log(const char *path)
{
    struct sg_logread *log;
    struct sg_refusal refusal;

    if (sg_logread_try(path, &log, &refusal) != SG_OK)
        fail(refusal.reason);
    keep_names(log);
    printed = 0;
    printf("rank %d\n", sg_logread_header(log)->rank);
    put_records(log);
    put_left_out(log);
    sg_logread_close(log);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        put_log(argv[i]);
    return 0;
}
