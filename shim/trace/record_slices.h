/* The log's records of slices of buffered coscheduling (core/slice.h). As trace/record.h says,
 * which includes this.
 *
 * A node's slices are in the logs of whichever of its ranks was there when they ended: readers join
 * them.
 */
#ifndef SG_TRACE_RECORD_SLICES_H
#define SG_TRACE_RECORD_SLICES_H

#include "core/slice.h"
#include "trace/record_causes.h"

#include <stdatomic.h>
#include <stdint.h>

#define SG_SLICE_SLOTS 2u
#define SG_SLICE_VALUES_HERE 4u /* in the first slot */

/* One slice at one node, written when it is over there. Values that there are none of have no bit
 * in known, and are 0. */
struct sg_record_slice {
    _Atomic uint8_t kind;
    uint8_t reserved;
    uint16_t thread; /* that wrote it */
    uint32_t comm;   /* index of this log */
    uint32_t node;   /* among the job's */
    uint32_t known;  /* a bit an enum sg_slice_metric */
    uint64_t number;
    uint64_t begin_ns;
    uint64_t since_ns;
    uint32_t first;    /* seq of the first collective that it ran; UINT32_MAX: none, or not known */
    uint32_t until_ns; /* since begin_ns: when it was written */
    uint32_t values[SG_SLICE_VALUES_HERE];
    uint8_t kind2; /* SG_RECORD_CONT */
    uint8_t reserved2[3];
    uint32_t more[SG_SLICE_VALUES - SG_SLICE_VALUES_HERE];
};

/* What there was no record for, of one node's slices on one communicator: of each metric how often
 * it was known, its sum, least and greatest; updated in place. */
enum sg_slice_sum { SG_SLICE_COUNT, SG_SLICE_SUM, SG_SLICE_MIN, SG_SLICE_MAX, SG_SLICE_SUMS };

#define SG_SLICE_SUM_SLOTS                                                                         \
    (1u + (SG_SLICE_METRICS * SG_SLICE_SUMS + SG_WORDS_A_SLOT - 1) / SG_WORDS_A_SLOT)
struct sg_record_slice_sum {
    _Atomic uint8_t kind;
    uint8_t reserved[3];
    uint32_t comm;
    uint32_t node;
    uint32_t reserved2;
    _Atomic uint64_t slices; /* that it is of */
    uint64_t reserved3[5];
    struct sg_figure_slot sums[SG_SLICE_SUM_SLOTS - 1];
};

static inline uint32_t *sg_record_slice_place(struct sg_record_slice *record, unsigned place)
{
    return place < SG_SLICE_VALUES_HERE ? &record->values[place]
                                        : &record->more[place - SG_SLICE_VALUES_HERE];
}

/* A record as a slice; first is the collective's. */
static inline struct sg_slice sg_record_slice_read(const struct sg_record_slice *record)
{
    struct sg_slice slice = {.number = record->number,
                             .begin_ns = record->begin_ns,
                             .since_ns = record->since_ns,
                             .first = record->first,
                             .known = record->known};

    for (unsigned place = 0; place < SG_SLICE_VALUES; place++)
        slice.value[place] = place < SG_SLICE_VALUES_HERE
                                 ? record->values[place]
                                 : record->more[place - SG_SLICE_VALUES_HERE];
    return slice;
}

static inline uint64_t sg_record_slice_sum_read(const struct sg_record_slice_sum *record,
                                                enum sg_slice_metric metric, enum sg_slice_sum sum)
{
    return sg_figure_read(record->sums, (unsigned)metric * SG_SLICE_SUMS + sum);
}

#endif
