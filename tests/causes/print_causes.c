/* print_causes LOG...: prints the records of intervals between MPI calls in ranks' logs as text,
 * a line a record: "WHAT rank R NAME=VALUE ...". Sites are printed by their ids, communicators by
 * their identities. */
#include "trace/export/logread.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 65536

static uint32_t sites[MOST];
static uint64_t comms[MOST]; /* identity, with the ordinal in it */
static int rank;

static void keep(struct sg_logread *log)
{
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    while ((record = sg_logread_next(log, &slot, &kind)) != NULL) {
        const struct sg_record_site *site = record;
        const struct sg_record_profile_comm *comm = record;

        if (kind == SG_RECORD_SITE && site->index < MOST)
            sites[site->index] = site->id;
        if (kind == SG_RECORD_PROFILE_COMM && comm->index < MOST)
            comms[comm->index] = comm->identity + comm->ordinal;
    }
}

static void put_name(const char *name)
{
    for (; *name != '\0'; name++)
        putchar(*name == ' ' ? '_' : *name);
}

static void put_figures(uint32_t mask, const struct sg_figure_slot *slots)
{
    for (unsigned figure = 0; figure < SG_FIGURE_COUNT; figure++) {
        if ((mask & 1u << figure) == 0)
            continue;
        putchar(' ');
        put_name(sg_figure_table[figure].name);
        printf("=%" PRIu64, sg_figure_read(slots, figure));
    }
    putchar('\n');
}

static void put_interval(const struct sg_record_interval *interval)
{
    printf("interval rank %d thread=%u left=%08x entered=%08x comm=%" PRIx64
           " number=%u flags=%u begin=%" PRIu64 " time=%" PRIu64 " processor=%d",
           rank, interval->thread, sites[interval->left % MOST], sites[interval->entered % MOST],
           comms[interval->comm % MOST], interval->number, interval->flags, interval->begin_ns,
           interval->end_ns - interval->begin_ns,
           interval->processor == UINT16_MAX ? -1 : interval->processor);
    put_figures(interval->mask, interval->figures);
}

static void put_sum(const struct sg_record_interval_sum *sum)
{
    printf("sum rank %d thread=%u left=%08x entered=%08x intervals=%" PRIu64 " time=%" PRIu64, rank,
           sum->thread, sites[sum->left % MOST], sites[sum->entered % MOST], sum->intervals,
           sum->time_ns);
    put_figures(sum->mask, sum->figures);
}

static void put_source(const struct sg_record_source *source)
{
    printf("source rank %d name=", rank);
    put_name(source->source < SG_SOURCE_COUNT ? sg_source_table[source->source].name : "?");
    printf(" there=%u error=%d cost=%" PRIu64 "\n", source->is_there, source->error,
           source->cost_ns);
}

static void put_all(struct sg_logread *log)
{
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    while ((record = sg_logread_next(log, &slot, &kind)) != NULL) {
        const struct sg_record_causes *causes = record;

        if (kind == SG_RECORD_INTERVAL)
            put_interval(record);
        else if (kind == SG_RECORD_INTERVAL_SUM &&
                 ((const struct sg_record_interval_sum *)record)->is_before_init == 0)
            put_sum(record);
        else if (kind == SG_RECORD_SOURCE)
            put_source(record);
        else if (kind == SG_RECORD_CAUSES)
            printf("causes rank %d mode=%u intervals=%" PRIu64 " left_out=%" PRIu64 " cost=%" PRIu64
                   " time=%" PRIu64 "\n",
                   rank, causes->mode, causes->intervals, causes->left_out, causes->cost_ns,
                   causes->time_ns);
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct sg_logread *log;
        struct sg_refusal refusal;

        if (sg_logread_try(argv[i], &log, &refusal) != SG_OK) {
            fprintf(stderr, "print_causes: %s: %s\n", argv[i], refusal.reason);
            return 2;
        }
        rank = sg_logread_header(log)->rank;
        keep(log);
        put_all(log);
        sg_logread_close(log);
    }
    return 0;
}
