/* Fuzzes commands with OTF2 archives of any events that the format can hold. OTF2 itself writes
 * them: damage to its own reader is not stagger's concern. */
#include "fuzz/commands.h"
#include "fuzz/directory.h"

#include "report/archive.h"

#define RANKS_MAX 4
#define CALLS_MAX 24

static const char *const sites[] = {"solve (/home/user/src/solver.c:88) [cg+0x11c4] #0000000a",
                                    "norm (solver.c:0) [cg+] #",
                                    "()[]#",
                                    "",
                                    " (:) [+0x] #zzzzzzzz",
                                    "\xff\xfe\x01 (\x7f:4294967296) [a+0xffffffffffffffffff] #1"};
static const char *const algorithms[] = {"srm", "", "mpich", "bypass #3", "no such"};

static void take_call(struct fuzz_bytes *bytes, struct archive *archive)
{
    struct archive_call *call = &archive->calls[archive->call_count++];
    uint64_t bits = fuzz_take(bytes, 1);

    call->rank = (int)(fuzz_take(bytes, 1) % (uint64_t)archive->ranks);
    call->thread = bits & 1;
    call->nested = bits & 2;
    call->operation = (enum sg_operation)(fuzz_take(bytes, 1) % 3);
    call->comm = (enum archive_comm)(bits >> 2 & 3) % ARCHIVE_COMM_COUNT;
    call->seq = bits & 16 ? fuzz_take(bytes, 8) : fuzz_take(bytes, 1);
    call->begin_ns = bits & 32 ? fuzz_take(bytes, 8) : fuzz_take(bytes, 2);
    call->end_ns = bits & 32 ? fuzz_take(bytes, 8) : call->begin_ns + fuzz_take(bytes, 2);
    call->bytes = bits & 64 ? fuzz_take(bytes, 8) : fuzz_take(bytes, 1);
    call->root = (uint32_t)fuzz_take(bytes, bits & 64 ? 4 : 1);
    call->site = sites[fuzz_take(bytes, 1) % (sizeof sites / sizeof *sites)];
    call->algorithm = algorithms[fuzz_take(bytes, 1) % (sizeof algorithms / sizeof *algorithms)];
    call->early = fuzz_take(bytes, bits & 128 ? 8 : 1);
    call->late = fuzz_take(bytes, 1);
    call->signals = fuzz_take(bytes, bits & 128 ? 8 : 1);
}

/* OTF2 refuses events of a location that go back in time. */
static int compare_times(const void *left, const void *right)
{
    const struct archive_call *a = left, *b = right;

    return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

/* Limit of times: half the range of a signed word. */
#define TIME_LIMIT_NS (UINT64_C(1) << 62)

static void order(struct archive *archive)
{
    uint64_t last[2 * RANKS_MAX] = {0};

    qsort(archive->calls, (size_t)archive->call_count, sizeof archive->calls[0], compare_times);
    for (int i = 0; i < archive->call_count; i++) {
        struct archive_call *call = &archive->calls[i];
        uint64_t *at = &last[2 * call->rank + call->thread];

        /* The clocks' offsets are added to them. */
        call->begin_ns %= TIME_LIMIT_NS;
        call->end_ns %= TIME_LIMIT_NS;
        if (call->begin_ns < *at)
            call->begin_ns = *at;
        if (call->end_ns < call->begin_ns)
            call->end_ns = call->begin_ns;
        *at = call->end_ns;
    }
    for (int rank = 0; rank < archive->ranks; rank++) {
        if (archive->finalize_ns[rank] < last[2 * rank])
            archive->finalize_ns[rank] = last[2 * rank];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct archive archive;
    struct fuzz_bytes bytes = {data, data + size};
    uint64_t bits = fuzz_take(&bytes, 1);
    char calibration[200];
    char path[256];

    memset(&archive, 0, sizeof archive);
    archive.ranks = 1 + (int)(fuzz_take(&bytes, 1) % RANKS_MAX);
    archive.ticks_per_ns = 1;
    archive.machines = bits & 1;
    archive.no_init = bits & 2;
    archive.no_attributes = bits & 4;
    archive.partial = bits & 8 ? "1" : "0";
    archive.dropped = bits & 16 ? "18446744073709551615" : "x";
    archive.half_size = (int)(fuzz_take(&bytes, 1) % (uint64_t)(archive.ranks + 1));
    for (int i = 0; i < archive.half_size; i++)
        archive.half[i] = (int)(fuzz_take(&bytes, 1) % (uint64_t)archive.ranks);
    for (int i = 0; i < archive.ranks && bits & 32; i++) {
        archive.offset_ns[i] = (int64_t)fuzz_take(&bytes, 3) - (1 << 23);
        archive.offset_error_ticks[i] = (double)fuzz_take(&bytes, 2);
    }
    if (bits & 64) {
        size_t taken = 0;

        while (taken < sizeof calibration - 1 && bytes.at < bytes.end && *bytes.at != 0)
            calibration[taken++] = (char)*bytes.at++;
        calibration[taken] = '\0';
        archive.calibration = taken > 0 ? calibration : NULL;
    }
    while (bytes.at < bytes.end && archive.call_count < CALLS_MAX)
        take_call(&bytes, &archive);
    order(&archive);
    const char *directory = fuzz_directory();
    archive_write(&archive, directory);
    snprintf(path, sizeof path, "%s/traces.otf2", directory);
    fuzz_directory_read(path);
    return 0;
}
