/* Reads the events of an archive in time order over all its locations, with the fields and
 * attributes that a report needs. Several processes (processes/processes.h) share the locations:
 * each but process 0 reads its own, and process 0 merges what they send.
 *
 * The order is that of OTF2's global reader: by time, at equal times by location, and on a location
 * as recorded. It does not depend on the number of processes: of the next events of all locations
 * the first is also the first of its process. A failure to read a location is a record after the
 * events before it, so all numbers of processes report the same one.
 *
 * Memory: a location whose events are few is read as a whole and closed. OTF2 keeps a chunk of
 * memory, 1 MiB by default, and an open file for each of the others; beyond a limit of both, a
 * location is opened again for each of its parts. Not thread-safe.
 */
#ifndef SG_REPORT_ARCHIVE_READING_H
#define SG_REPORT_ARCHIVE_READING_H

#include "core/status.h"
#include "report/archive_definitions.h"
#include "report/archive_encoding.h"

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdint.h>

/* The local definitions of a location. */
struct sg_location_clock {
    uint64_t count;                             /* of offsets; 0: none */
    int64_t first_offset, last_offset, between; /* ticks */
    double deviation;                           /* the largest; negative: none */
    bool has_offset;                            /* some offset is not 0 */
};

struct sg_archive_reading;

/* Makes a reading of the locations with events. Reader and definitions must outlive it. complaint:
 * OTF2's current error, for the text of failures; "" while there is none. SG_ERR_MEMORY, not
 * logged. */
enum sg_status sg_archive_reading_create(OTF2_Reader *reader, const struct sg_archive_defs *defs,
                                         const char *complaint, struct sg_archive_reading **out);
void sg_archive_reading_destroy(struct sg_archive_reading *reading);

/* True if this process reads the location. */
bool sg_archive_reading_owns(uint32_t location);
/* Receives the clock of a location that another process reads. Call for each of them in the order
 * of locations, before the first event. False: the process failed, see
 * sg_archive_reading_failure(). */
bool sg_archive_reading_clock(struct sg_archive_reading *reading, uint32_t location,
                              struct sg_location_clock *out);

/* Returns the next event, valid until the next call; NULL: the end, or a failure. */
const struct sg_archive_event *sg_archive_reading_next(struct sg_archive_reading *reading);
/* Returns SG_OK if nothing failed; else the status, and the text to log ("" if memory ran out). */
enum sg_status sg_archive_reading_failure(const struct sg_archive_reading *reading,
                                          const char **text);
/* Returns the number of events read so far, over all processes, also of kinds that no report
 * needs. */
uint64_t sg_archive_reading_count(const struct sg_archive_reading *reading);

/* In other processes than 0: sends a clock, a failure, or all events. */
void sg_archive_reading_send_clock(struct sg_archive_reading *reading, uint32_t location,
                                   const struct sg_location_clock *clock);
void sg_archive_reading_send_failure(struct sg_archive_reading *reading, enum sg_status status,
                                     const char *text);
void sg_archive_reading_send_events(struct sg_archive_reading *reading);

#endif
