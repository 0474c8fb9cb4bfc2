/* The log's records of windows and of the groups that they are synchronised with. As trace/record.h
 * says, which includes this.
 *
 * Events of calls on windows (struct sg_record_event) use their fields so, where a call tells of
 * it:
 *   comm             the window's communicator
 *   from             the window's number; < 0: it is not known
 *   to               the target's rank, or the number of the group that it synchronises with
 *   to_tag           enum sg_window_detail, of a lock or of an operation that computes
 *   from_tag         with SG_EVENT_ORDERED: its place among the collectives on the window: its
 *                    making (0), fences, its end
 *   sent_bytes, received_bytes   that the operation puts and gets
 */
#ifndef SG_TRACE_RECORD_WINDOWS_H
#define SG_TRACE_RECORD_WINDOWS_H

#include <stdatomic.h>
#include <stdint.h>

enum sg_window_detail {
    SG_WINDOW_OTHER = 0, /* MPI_Op */
    SG_WINDOW_SUM = 1,
    SG_WINDOW_REPLACE = 2,
    SG_WINDOW_SHARED = 3, /* a lock */
    SG_WINDOW_EXCLUSIVE = 4,
};

/* A window; its communicator and its ordinal there tell that it is the same on several ranks.
 * Text: its name. */
struct sg_record_window {
    _Atomic uint8_t kind;
    uint8_t reserved[3];
    uint32_t index;   /* of this log, from 0 */
    uint32_t comm;    /* as the profile numbers them; 0: not known */
    uint32_t ordinal; /* among the windows of the communicator, from 0 */
    uint32_t text_bytes;
    uint32_t reserved2;
    uint64_t reserved3[5];
};

/* A group of ranks. Data: a word of zeros, then size world ranks as uint32_t. */
struct sg_record_group {
    _Atomic uint8_t kind;
    uint8_t reserved[3];
    uint32_t index; /* of this log, from 0 */
    uint32_t size;
    uint32_t text_bytes;
    uint64_t reserved2[6];
};

#endif
