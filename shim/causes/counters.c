#include "causes/counters.h"

#include "core/cpu/cpu.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t own_register(uint32_t index)
{
#ifdef SG_CPU_HAS_EVENTS
    return sg_cpu_event_register(index);
#else
    return 0; /* never asked for: sg_counter_open maps no page */
#endif
}

#ifdef SG_CPU_HAS_EVENTS
#define HAS_EVENTS true
#else
#define HAS_EVENTS false
#endif

bool sg_event_is_own(int file, uint64_t id)
{
    uint64_t now;

    return file >= 0 && ioctl(file, PERF_EVENT_IOC_ID, &now) == 0 && now == id;
}

int sg_counter_open(const struct sg_counter_event *event, struct sg_counter *out)
{
    struct perf_event_attr attributes = {
        .size = sizeof attributes,
        .type = event->type,
        .config = event->config,
        .exclude_kernel = !event->in_kernel,
        .exclude_hv = 1,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };
    void *page;

    *out = (struct sg_counter){.file = -1};
    out->file = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (out->file < 0)
        return errno;
    if (ioctl(out->file, PERF_EVENT_IOC_ID, &out->id) != 0) {
        int error = errno;

        close(out->file);
        out->file = -1;
        return error;
    }
    page = HAS_EVENTS
               ? mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, out->file, 0)
               : MAP_FAILED;
    if (page != MAP_FAILED)
        out->page = page;
    return 0;
}

static void *open_kept(void *out)
{
    static const struct sg_counter_event nothing = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, false};
    struct sg_event_kept *kept = out;
    struct sg_counter counter;

    if (sg_counter_open(&nothing, &counter) != 0)
        return NULL;
    if (counter.page != NULL)
        munmap(counter.page, (size_t)sysconf(_SC_PAGESIZE));
    *kept = (struct sg_event_kept){counter.file, counter.id};
    return NULL;
}

/* The thread takes no signal of the program's. */
void sg_event_keep(struct sg_event_kept *out)
{
    sigset_t all, before;
    pthread_t thread;

    *out = (struct sg_event_kept){.file = -1};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, open_kept, out) == 0)
        pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void sg_event_let_go(struct sg_event_kept *kept)
{
    if (sg_event_is_own(kept->file, kept->id))
        close(kept->file);
    kept->file = -1;
}

bool sg_counter_of_page(const volatile struct perf_event_mmap_page *page,
                        uint64_t (*read_register)(uint32_t index), uint64_t *value, bool *is_whole)
{
    uint32_t lock, index;
    int64_t count;

    do {
        lock = page->lock;
        /* The kernel changes the page on this processor: only the compiler must keep the order. */
        atomic_signal_fence(memory_order_seq_cst);
        *is_whole = page->time_enabled == page->time_running;
        index = page->cap_user_rdpmc ? page->index : 0;
        count = page->offset;
        if (index != 0) {
            unsigned shift = 64u - page->pmc_width;

            count += (int64_t)(read_register(index - 1) << shift) >> shift;
        }
        atomic_signal_fence(memory_order_seq_cst);
    } while (page->lock != lock);
    *value = (uint64_t)count;
    return index != 0;
}

bool sg_counter_read(const struct sg_counter *counter, uint64_t *value)
{
    struct {
        uint64_t value, enabled_ns, running_ns;
    } now;
    bool is_whole;

    if (counter->page != NULL && sg_counter_of_page(counter->page, own_register, value, &is_whole))
        return is_whole;
    if (!sg_event_is_own(counter->file, counter->id) ||
        read(counter->file, &now, sizeof now) != sizeof now)
        return false;
    *value = now.value;
    return now.enabled_ns == now.running_ns;
}

void sg_counter_close(struct sg_counter *counter)
{
    if (counter->page != NULL)
        munmap(counter->page, (size_t)sysconf(_SC_PAGESIZE));
    if (sg_event_is_own(counter->file, counter->id))
        close(counter->file);
    *counter = (struct sg_counter){.file = -1};
}
