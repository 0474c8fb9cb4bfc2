/* Summary of one log without its events: the rank, its call sites, communicators with the
 * instances recorded on them, functions and windows, clock, markers. It is small, so that rank 0
 * can hold the summaries of all ranks.
 *
 * A summary is made from a log, or read from the bytes that another process sent. It owns its
 * texts in the first case; in the second they point into those bytes. */
#ifndef SG_TRACE_EXPORT_SUMMARY_H
#define SG_TRACE_EXPORT_SUMMARY_H

#include "core/file.h"
#include "core/status.h"
#include "trace/export/clockmap.h"
#include "trace/export/logread.h"
#include "trace/export/logread_all.h"
#include "trace/export/strings.h"
#include "trace/export/summary_calls.h"

#include <stdbool.h>
#include <stdint.h>

/* Totals and cost of sampling causes (struct sg_record_causes), on one rank or summed over
 * several. */
struct sg_summary_causes {
    uint64_t ranks; /* ranks that recorded causes; 0: none did */
    uint64_t mode;  /* enum sg_causes_mode */
    uint64_t intervals, left_out;
    uint64_t cost_ns, time_ns;
    uint64_t lacking[SG_SOURCE_COUNT]; /* ranks without the source */
};

void sg_summary_causes_add(struct sg_summary_causes *sum, const struct sg_summary_causes *one);

/* Indices of the predefined communicators in every log (struct sg_record_comm). */
#define SG_COMM_WORLD_INDEX 0u
#define SG_COMM_SELF_INDEX 1u

struct sg_site_entry {
    uint32_t index; /* in the log */
    uint32_t id;
    uint64_t offset;
    const char *module; /* path; "": not known, as for the other texts */
    const char *build_id;
    const char *callers; /* as in struct sg_record_site */
};

struct sg_name_entry {
    uint32_t id;
    uint32_t line;
    const char *function;
    const char *file;
};

struct sg_marker_entry {
    uint32_t kind; /* enum sg_marker_kind */
    uint64_t time_ns;
    const char *text;
};

/* A candidate of a trial. place is the trial's left side, text the candidate's right side. */
struct sg_arm_entry {
    uint32_t arm;   /* from 1, through all trials */
    uint32_t block; /* collectives per block */
    const char *place, *text;
};

struct sg_summary {
    int32_t rank;
    int32_t world_size;
    bool finished; /* reached MPI_Finalize */
    uint32_t progress_thread;
    uint64_t machine;
    uint64_t realtime_ns, monotonic_ns;
    uint64_t last_ns;
    uint64_t dropped;          /* events dropped for lack of capacity, records cut off or damaged */
    uint64_t dropped_since_ns; /* 0: none was dropped for lack of capacity, or not known */
    uint64_t wanted_bytes; /* STAGGER_TRACE_BYTES with which none would have been; 0: as above */
    uint64_t off_ns;       /* sg_log_off_ns() */
    uint64_t slices;       /* records of slices of buffered coscheduling */
    /* As in struct sg_log_header. */
    uint64_t overhead_calls, overhead_ns, overhead_long_calls;
    uint64_t unmanaged_calls, unmanaged_nonblocking, unmanaged_full;
    struct sg_calibration calibration;
    struct sg_waiting waiting;
    struct sg_summary_causes causes;
    const char *host;
    struct sg_socket place;
    const char *program;
    struct sg_site_entry *sites; /* by index */
    uint32_t site_count;
    struct sg_name_entry *names;
    uint32_t name_count;
    struct sg_comm_entry *comms; /* by index; always with MPI_COMM_WORLD and MPI_COMM_SELF */
    uint32_t comm_count;
    struct sg_summary_calls calls;
    struct sg_clock_point *clock;
    uint32_t clock_count;
    struct sg_marker_entry *markers;
    uint32_t marker_count;
    struct sg_arm_entry *arms;
    uint32_t arm_count;
    char **owned; /* texts made from a log; freed with the summary */
    uint32_t owned_count;
};

/* at_finalize: the process that writes the log is inside MPI_Finalize. *out is set only with
 * SG_OK. */
enum sg_status sg_summary_make(struct sg_logread *log, bool at_finalize, struct sg_summary *out);
void sg_summary_clear(struct sg_summary *summary);
/* To read, pass a zeroed summary; clear it also on failure. */
void sg_summary_pack(struct sg_pack *pack, struct sg_summary *summary);
/* NULL: the log has no such record. */
const struct sg_site_entry *sg_summary_site(const struct sg_summary *summary, uint32_t index);
const struct sg_comm_entry *sg_summary_comm(const struct sg_summary *summary, uint32_t index);
/* Returns the communicator of a recorded call; NULL: the record cannot be true, and callers
 * leave it out. */
const struct sg_comm_entry *sg_summary_part_comm(const struct sg_summary *summary,
                                                 const struct sg_recorded_call *recorded);
/* Converts the rank's local time to rank 0's clock. */
uint64_t sg_summary_global_ns(const struct sg_summary *summary, uint64_t local_ns);

#endif
