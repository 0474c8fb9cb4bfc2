#include "causes/switches.h"

#include "causes/counters.h"
#include "core/clock.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A record of a switch, with its time: all that is in the ring. */
struct record {
    struct perf_event_header header;
    uint64_t time_ns;
};

/* Who may have it count its own code alone could count no migrations: these are the kernel's. */
static int open_event(bool has_migrations)
{
    struct perf_event_attr attributes = {
        .size = sizeof attributes,
        .type = PERF_TYPE_SOFTWARE,
        .config = has_migrations ? PERF_COUNT_SW_CPU_MIGRATIONS : PERF_COUNT_SW_DUMMY,
        .exclude_kernel = !has_migrations,
        .exclude_hv = 1,
        .context_switch = 1,
        .sample_id_all = 1,
        .sample_type = PERF_SAMPLE_TIME,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC_RAW,
        .write_backward = 1,
    };

    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Written backwards the ring has the latest records, however many there were; and nobody need tell
 * the kernel what was read. */
int sg_switches_open(struct sg_switches *out)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = MAP_FAILED;
    int error;

    *out = (struct sg_switches){
        .file = open_event(true), .page_bytes = page_bytes, .ring_bytes = page_bytes};
    out->has_migrations = out->file >= 0;
    if (out->file < 0)
        out->file = open_event(false);
    if (out->file < 0)
        return errno;
    if (ioctl(out->file, PERF_EVENT_IOC_ID, &out->id) == 0)
        page = mmap(NULL, page_bytes + out->ring_bytes, PROT_READ, MAP_SHARED, out->file, 0);
    if (page == MAP_FAILED) {
        error = errno;
        close(out->file);
        out->file = -1;
        return error;
    }
    out->page = page;
    out->since_ns = sg_clock_ns();
    return 0;
}

static const struct record *record_at(const void *ring, size_t bytes, uint64_t position)
{
    return (const struct record *)(const void *)((const char *)ring + (position & (bytes - 1)));
}

static bool is_switch(const struct record *record, bool is_out)
{
    return record->header.type == PERF_RECORD_SWITCH && record->header.size == sizeof *record &&
           ((record->header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0) == is_out;
}

bool sg_switches_of_page(const struct perf_event_mmap_page *page, const void *ring, size_t bytes,
                         uint64_t since_ns, struct sg_switch *out)
{
    const _Atomic __u64 *head = (const _Atomic __u64 *)&page->data_head;
    /* The kernel writes on this processor, or, before the thread came to it, on another: records
     * are there when the head says so. */
    uint64_t position = atomic_load_explicit(head, memory_order_acquire);
    const struct record *in = record_at(ring, bytes, position);
    const struct record *gone = record_at(ring, bytes, position + sizeof *in);

    *out = (struct sg_switch){.resumed_ns = since_ns};
    if (position == 0)
        return true;
    if (UINT64_MAX - position < 2 * sizeof *in - 1 || !is_switch(in, false) ||
        !is_switch(gone, true) || in->time_ns < gone->time_ns)
        return false;
    *out = (struct sg_switch){
        .resumed_ns = in->time_ns,
        .away_ns = in->time_ns - gone->time_ns,
        .was_ready = (gone->header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0,
    };
    /* A switch meanwhile may have overwritten them. */
    atomic_signal_fence(memory_order_seq_cst);
    return atomic_load_explicit(head, memory_order_acquire) == position;
}

bool sg_switches_read(const struct sg_switches *switches, struct sg_switch *out)
{
    return switches->page != NULL &&
           sg_switches_of_page(switches->page, (const char *)switches->page + switches->page_bytes,
                               switches->ring_bytes, switches->since_ns, out);
}

bool sg_switches_migrations(const struct sg_switches *switches, uint64_t *out)
{
    return switches->has_migrations && sg_event_is_own(switches->file, switches->id) &&
           read(switches->file, out, sizeof *out) == sizeof *out;
}

void sg_switches_close(struct sg_switches *switches)
{
    if (switches->page != NULL)
        munmap(switches->page, switches->page_bytes + switches->ring_bytes);
    if (sg_event_is_own(switches->file, switches->id))
        close(switches->file);
    *switches = (struct sg_switches){.file = -1};
}
