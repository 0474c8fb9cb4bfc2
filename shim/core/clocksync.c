#include "core/clocksync.h"

#include "core/hash.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Enough that one of them meets no interruption on a busy machine. */
#define ROUND_TRIPS 128

struct measured {
    uint64_t machine;
    int64_t offset_ns;
    uint64_t error_ns;
    uint64_t deviation_ns;
};

static enum sg_status serve(const struct sg_exchange *exchange, int leader,
                            uint64_t (*clock_ns)(void))
{
    for (int trip = 0; trip < ROUND_TRIPS; trip++) {
        uint64_t now;
        enum sg_status status = exchange->receive(exchange->context, leader, &now, sizeof now);

        if (status != SG_OK)
            return status;
        now = clock_ns();
        status = exchange->send(exchange->context, leader, &now, sizeof now);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

static enum sg_status ask(const struct sg_exchange *exchange, uint64_t (*clock_ns)(void),
                          struct measured *out)
{
    uint64_t best_ns = UINT64_MAX;
    double sum = 0.0;
    double sum_squares = 0.0;
    double variance;

    for (int trip = 0; trip < ROUND_TRIPS; trip++) {
        uint64_t begin_ns = clock_ns();
        uint64_t global_ns = begin_ns;
        uint64_t round_trip_ns;
        enum sg_status status = exchange->send(exchange->context, 0, &global_ns, sizeof global_ns);

        if (status == SG_OK)
            status = exchange->receive(exchange->context, 0, &global_ns, sizeof global_ns);
        if (status != SG_OK)
            return status;
        round_trip_ns = clock_ns() - begin_ns;
        sum += (double)round_trip_ns;
        sum_squares += (double)round_trip_ns * (double)round_trip_ns;
        if (round_trip_ns < best_ns) {
            best_ns = round_trip_ns;
            out->offset_ns = (int64_t)(global_ns - (begin_ns + round_trip_ns / 2));
            out->error_ns = (round_trip_ns + 1) / 2;
        }
    }
    variance = sum_squares / ROUND_TRIPS - (sum / ROUND_TRIPS) * (sum / ROUND_TRIPS);
    out->deviation_ns = variance > 0.0 ? (uint64_t)sqrt(variance) : 0;
    return SG_OK;
}

/* The lowest rank of each machine, from every rank's machine. */
static int leader_of(const struct measured *all, int rank)
{
    for (int other = 0; other < rank; other++) {
        if (all[other].machine == all[rank].machine)
            return other;
    }
    return rank;
}

/* Every rank's entry on every rank. */
static enum sg_status share_all(const struct sg_exchange *exchange, const struct measured *own,
                                struct measured *all)
{
    void *gathered = NULL;
    size_t *sizes = calloc((size_t)exchange->size, sizeof *sizes);
    enum sg_status status = SG_ERR_MEMORY;

    if (sizes == NULL)
        return status;
    status = exchange->gather(exchange->context, own, sizeof *own, &gathered, sizes);
    if (status == SG_OK && exchange->rank == 0)
        memcpy(all, gathered, (size_t)exchange->size * sizeof *all);
    free(gathered);
    free(sizes);
    if (status == SG_OK)
        status = exchange->broadcast(exchange->context, all, (size_t)exchange->size * sizeof *all);
    return status;
}

enum sg_status sg_clocksync_measure(const struct sg_exchange *exchange, uint64_t machine,
                                    uint64_t (*clock_ns)(void), struct sg_clock_offset *out)
{
    struct measured own = {.machine = machine};
    struct measured *all = calloc((size_t)exchange->size, sizeof *all);
    enum sg_status status = SG_ERR_MEMORY;

    if (all == NULL)
        return status;
    status = share_all(exchange, &own, all);
    for (int rank = 1; rank < exchange->size && status == SG_OK; rank++) {
        if (leader_of(all, rank) != rank)
            continue;
        if (exchange->rank == 0)
            status = serve(exchange, rank, clock_ns);
        else if (exchange->rank == rank)
            status = ask(exchange, clock_ns, &own);
    }
    if (status == SG_OK)
        status = share_all(exchange, &own, all);
    if (status == SG_OK) {
        const struct measured *leader = &all[leader_of(all, exchange->rank)];

        out->local_ns = clock_ns();
        out->offset_ns = leader->offset_ns;
        out->error_ns = leader->error_ns;
        out->deviation_ns = leader->deviation_ns;
    }
    free(all);
    return status;
}

uint64_t sg_clocksync_machine(void)
{
    char text[128];
    uint64_t hash = SG_HASH_START;
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t length = -1;

    if (file >= 0) {
        length = read(file, text, sizeof text);
        close(file);
    }
    if (length <= 0) { /* no boot id: the host's name is the next best */
        memset(text, 0, sizeof text);
        gethostname(text, sizeof text - 1);
        length = (ssize_t)strlen(text);
    }
    hash = sg_hash_bytes(hash, text, (size_t)length);
    length = readlink("/proc/self/ns/time", text, sizeof text);
    if (length > 0)
        hash = sg_hash_bytes(hash, text, (size_t)length);
    return hash;
}
