/* make_traffic RANKS SITES DIRECTORY [ID]: writes the statistics of all calls of a run in which
 * every rank sends messages to every other one. They are logs, or, if the directory has an
 * archive, the files beside it. Rank 0 sends from SITES call sites in turn, whose ids begin
 * behind ID (0).
 *
 * From rank f to rank t go 1 + (f + 2 t) mod 7 messages of 1000 (f + 1) bytes each; to the next
 * rank 100 times as many.
 */
#include "report/logs.h"

#include <inttypes.h>
#include <unistd.h>

static uint64_t messages_of(int ranks, int from, int to)
{
    return (uint64_t)(1 + (from + 2 * to) % 7) * (to == (from + 1) % ranks ? 100 : 1);
}

static uint32_t first_id;

static void put_site(struct fabricated *log, uint32_t site)
{
    static const uint64_t times_ns[] = {500, 700, 900};
    struct sg_record_profile sent = log_profile(site, 0, 0, 3, times_ns);
    char name[40], file[40];

    fabricate_site(log, site, first_id + site, "/opt/bin/large", "", 0x1000 + 16 * site);
    snprintf(name, sizeof name, "exchange_%" PRIu32, site);
    snprintf(file, sizeof file, "/home/user/src/part_%" PRIu32 ".c", site / 10);
    fabricate_site_name(log, first_id + site, name, file, 10 + site % 1000);
    sent.sent_bytes = 3000;
    log_put(log, &sent, sizeof sent);
}

static void write_rank(const char *path, int rank, int ranks, uint32_t sites)
{
    struct fabricated log;

    log_begin_at(&log, path, rank, ranks, SG_TRACE_STATS, SG_LOG_FINALIZED);
    fabricate_function(&log, 0, "MPI_Send");
    log_put_profile_comm(&log, 0, (uint32_t)ranks, "MPI_COMM_WORLD");
    for (uint32_t site = 1; rank == 0 && site <= sites; site++)
        put_site(&log, site);
    for (int other = 0; other < ranks; other++) {
        uint64_t sent = messages_of(ranks, rank, other), received = messages_of(ranks, other, rank);

        if (other != rank)
            log_put_peer(&log, 0, (uint32_t)other, sent, sent * 1000 * (uint64_t)(rank + 1),
                         received, received * 1000 * (uint64_t)(other + 1));
    }
    log_end(&log);
}

int main(int argc, char **argv)
{
    int ranks = argc == 4 || argc == 5 ? atoi(argv[1]) : 0;
    char path[8192];

    if (ranks < 2) {
        fprintf(stderr, "usage: make_traffic RANKS SITES DIRECTORY [ID]\n");
        return 2;
    }
    first_id = argc == 5 ? (uint32_t)atoi(argv[4]) : 0;
    snprintf(path, sizeof path, "%s/traces", argv[3]);
    for (int rank = 0; rank < ranks; rank++) {
        char file[64];
        int has_archive = access(path, F_OK) == 0;

        snprintf(file, sizeof file, has_archive ? "traces/%d.calls" : SG_LOG_NAME_FORMAT, rank);
        snprintf(path + strlen(argv[3]), sizeof path - strlen(argv[3]), "/%s", file);
        write_rank(path, rank, ranks, (uint32_t)atoi(argv[2]));
        snprintf(path, sizeof path, "%s/traces", argv[3]);
    }
    return 0;
}
