/* Finds, makes and updates the entries of collectives (statistics.h), and writes them as CSV. Only
 * making an entry takes the lock.
 */
#include "profile/statistics.h"

#include "profile/site.h"
#include "runtime/settings.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct sg_pointer_table table; /* key_of -> entry in the log */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Identifies an entry. */
struct entry {
    uint32_t site, comm;
    int operation, executed;
    uint8_t size_class;
    bool nonblocking;
};

/* Never 0: the size class is stored plus one. */
static uint64_t key_of(const struct entry *entry)
{
    return (uint64_t)entry->site << 44 ^ (uint64_t)entry->comm << 20 ^
           (uint64_t)entry->nonblocking << 18 ^ (uint64_t)entry->operation << 16 ^
           (uint64_t)entry->executed << 8 ^ (uint64_t)(entry->size_class + 1u);
}

/* Returns the entry, making it if necessary; NULL if the table or the disk is full: such calls
 * count as unmanaged. */
static struct sg_record_stat *add_entry(uint64_t key, const struct entry *entry)
{
    struct sg_record_stat *stat;

    pthread_mutex_lock(&lock);
    stat = sg_pointer_table_find(&table, key);
    if (stat == NULL && !sg_pointer_table_is_full(&table)) {
        stat = sg_log_entry(sg_process.log, SG_STAT_SLOTS);
        if (stat != NULL) {
            stat->operation = (uint8_t)entry->operation;
            stat->executed = (uint8_t)entry->executed;
            stat->size_class = entry->size_class;
            stat->site = entry->site;
            stat->comm = entry->comm;
            stat->nonblocking = entry->nonblocking;
            sg_log_publish(stat, SG_RECORD_STAT);
            sg_pointer_table_add(&table, key, stat);
        }
    }
    pthread_mutex_unlock(&lock);
    return stat;
}

static void add_to(_Atomic uint64_t *counter, uint64_t value)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + value,
                          memory_order_relaxed);
}

static void raise_to(_Atomic uint64_t *maximum, uint64_t value)
{
    if (value > atomic_load_explicit(maximum, memory_order_relaxed))
        atomic_store_explicit(maximum, value, memory_order_relaxed);
}

/* Returns the entry of a call; NULL: it has none. */
static struct sg_record_stat *entry_of(const struct sg_call *call, struct sg_site *site,
                                       uint32_t comm, int executed)
{
    /* Acquire: pairs with the store below; an entry's identity never changes. */
    struct sg_record_stat *stat =
        atomic_load_explicit(&site->last[call->operation], memory_order_acquire);
    struct entry entry = {
        site->index,          comm, call->operation, executed, sg_size_class(call->bytes),
        call->request != NULL};
    uint64_t key;

    if (stat != NULL && stat->comm == comm && stat->executed == executed &&
        stat->size_class == entry.size_class && stat->nonblocking == entry.nonblocking)
        return stat;
    key = key_of(&entry);
    stat = sg_pointer_table_find(&table, key);
    if (stat == NULL)
        stat = add_entry(key, &entry);
    if (stat != NULL)
        atomic_store_explicit(&site->last[call->operation], stat, memory_order_release);
    return stat;
}

/* before: earlier calls. */
static void lower_to(_Atomic uint64_t *minimum, uint64_t before, uint64_t value)
{
    if (before == 0 || value < atomic_load_explicit(minimum, memory_order_relaxed))
        atomic_store_explicit(minimum, value, memory_order_relaxed);
}

static void add_own(struct sg_record_stat *stat, uint64_t own_ns)
{
    double square = (double)own_ns * (double)own_ns;

    lower_to(&stat->own_min_ns, atomic_load_explicit(&stat->calls, memory_order_relaxed), own_ns);
    raise_to(&stat->own_max_ns, own_ns);
    add_to(&stat->own_ns, own_ns);
    atomic_store_explicit(&stat->own_square,
                          atomic_load_explicit(&stat->own_square, memory_order_relaxed) + square,
                          memory_order_relaxed);
}

static void add(struct sg_record_stat *stat, const struct sg_call *call,
                const struct sg_call_statistics *statistics, uint64_t own_ns, uint64_t blocked_ns)
{
    if (stat == NULL) {
        atomic_fetch_add_explicit(&sg_log_header(sg_process.log)->unmanaged_calls, 1,
                                  memory_order_relaxed);
        return;
    }
    add_own(stat, own_ns);
    add_to(&stat->calls, 1);
    add_to(&stat->bytes, call->bytes);
    add_to(&stat->blocked_ns, blocked_ns);
    raise_to(&stat->blocked_max_ns, blocked_ns);
    if (sg_executed_algorithm(statistics->executed) == SG_ALGORITHM_MPICH)
        return;
    add_to(&stat->early, statistics->early);
    add_to(&stat->late, statistics->late);
    add_to(&stat->signals, statistics->signals);
    add_to(&stat->stalls, statistics->stalls);
    add_to(&stat->copies, statistics->copies);
    add_to(&stat->ignored, statistics->ignored);
    add_to(&stat->moves, statistics->moves);
    add_to(&stat->repeats, statistics->repeats);
    add_to(&stat->handler_ns, statistics->handler_ns);
    raise_to(&stat->outstanding_max, statistics->outstanding);
    if (statistics->skew_known) {
        add_to(&stat->skew_ns, statistics->skew_ns);
        add_to(&stat->skew_calls, 1);
        raise_to(&stat->skew_max_ns, statistics->skew_ns);
    }
}

void sg_statistics_add(const struct sg_call *call, struct sg_site *site, uint32_t comm,
                       const struct sg_call_statistics *statistics, uint64_t blocked_ns)
{
    add(entry_of(call, site, comm, statistics->executed), call, statistics, blocked_ns, blocked_ns);
}

void sg_statistics_add_nonblocking(const struct sg_call *call, struct sg_site *site, uint32_t comm,
                                   const struct sg_call_statistics *statistics,
                                   const struct sg_nonblocking_times *times)
{
    struct sg_record_stat *stat = entry_of(call, site, comm, statistics->executed);
    uint64_t latency_ns = times->start_ns + times->exposed_ns + times->hidden_ns;

    if (stat != NULL) {
        lower_to(&stat->latency_min_ns, atomic_load_explicit(&stat->calls, memory_order_relaxed),
                 latency_ns);
        raise_to(&stat->latency_max_ns, latency_ns);
    }
    add(stat, call, statistics, times->start_ns, times->start_ns + times->exposed_ns);
    if (stat != NULL)
        add_to(&stat->hidden_ns, times->hidden_ns);
}

/* The counters of an entry in the order of their columns. */
#define COUNTERS(X)                                                                                \
    X(calls)                                                                                       \
    X(bytes)                                                                                       \
    X(blocked_ns)                                                                                  \
    X(blocked_max_ns)                                                                              \
    X(early)                                                                                       \
    X(late)                                                                                        \
    X(signals)                                                                                     \
    X(stalls)                                                                                      \
    X(copies)                                                                                      \
    X(skew_ns)                                                                                     \
    X(skew_calls)                                                                                  \
    X(skew_max_ns)                                                                                 \
    X(ignored)                                                                                     \
    X(moves)                                                                                       \
    X(repeats)                                                                                     \
    X(handler_ns)                                                                                  \
    X(outstanding_max)                                                                             \
    X(hidden_ns) X(own_ns) X(own_min_ns) X(own_max_ns) X(latency_min_ns) X(latency_max_ns)

void sg_statistics_reset(void)
{
    for (unsigned i = 0; i < SG_POINTER_TABLE_SLOTS; i++) {
        struct sg_record_stat *stat = sg_pointer_table_at(&table, i);

        if (stat == NULL)
            continue;
#define ZERO(counter) atomic_store_explicit(&stat->counter, 0, memory_order_relaxed);
        COUNTERS(ZERO)
#undef ZERO
        atomic_store_explicit(&stat->own_square, 0, memory_order_relaxed);
    }
}

void sg_statistics_write(void)
{
    static atomic_uint count;
    char *path;
    FILE *file;

    if (sg_process.log == NULL || asprintf(&path, "%s/interim-%06d-%u.csv", sg_process.directory,
                                           sg_process.rank, atomic_fetch_add(&count, 1) + 1) < 0)
        return;
    file = fopen(path, "wxe");
    if (file == NULL) {
        sg_log("cannot write %s: %m", path);
        free(path);
        return;
    }
    fputs("rank,operation,algorithm,arm,site,comm,size_class", file);
#define HEAD(counter) fputs("," #counter, file);
    COUNTERS(HEAD)
#undef HEAD
    fputc('\n', file);
    for (unsigned i = 0; i < SG_POINTER_TABLE_SLOTS; i++) {
        struct sg_record_stat *stat = sg_pointer_table_at(&table, i);

        if (stat == NULL)
            continue;
        fprintf(file, "%d,%s,%s,%d,%u,%u,%u", sg_process.rank,
                stat->nonblocking ? sg_operation_nonblocking_names[stat->operation]
                                  : sg_operation_names[stat->operation],
                sg_algorithms[sg_executed_algorithm(stat->executed)].name,
                sg_executed_arm(stat->executed), stat->site, stat->comm, stat->size_class);
#define CELL(counter)                                                                              \
    fprintf(file, ",%llu",                                                                         \
            (unsigned long long)atomic_load_explicit(&stat->counter, memory_order_relaxed));
        COUNTERS(CELL)
#undef CELL
        fputc('\n', file);
    }
    if (ferror(file) | fclose(file))
        sg_log("cannot write %s: %m", path);
    free(path);
}
