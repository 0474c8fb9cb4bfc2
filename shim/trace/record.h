/* The log's format, which the library writes at run time and the tools read.
 *
 * One file per rank, DIR/rank-NNNNNN.log, memory-mapped and append-only: a header of
 * SG_LOG_HEADER_BYTES, then slots of SG_SLOT_BYTES. A record is one slot or several adjacent ones.
 * The first byte of every slot is its kind, so a reader can resynchronise after a slot that was
 * reserved and never written (kind SG_RECORD_EMPTY), and after a file that ends in mid-record.
 *
 * Write order, for readers after a kill: a record's fields are written before its kind (release), a
 * call's end_ns after everything else. end_ns == 0 means: still open.
 *
 * All times are CLOCK_MONOTONIC_RAW ns of the machine that wrote them, in host byte order (a log is
 * read on the kind of machine that wrote it; magic and version are checked first).
 */
#ifndef SG_TRACE_RECORD_H
#define SG_TRACE_RECORD_H

#include "core/calibration.h"
#include "core/slice.h"
#include "core/waiting.h"
#include "trace/figure.h"

#include <stdatomic.h>
#include <stdint.h>

/* Records of a thread's activity between two MPI calls.
 *
 * An interval is the time from leaving one outermost call to entering the next on the same thread.
 * A stretch is all intervals from one collective of a communicator to the next one there; it is
 * sampled as a whole or not at all (causes/causes.h).
 */

/* The reason for sampling an interval, and its position. */
enum sg_interval_flags {
    SG_INTERVAL_STRETCH = 1, /* comm and number identify the collective that begins the stretch */
    SG_INTERVAL_FIRST = 2,   /* ... and follows that collective's call */
    SG_INTERVAL_LAST = 4,    /* ends at the communicator's next collective */
};

/* Each continuation slot reserves a word for the slot's kind. */
#define SG_WORDS_A_SLOT 7u
#define SG_FIGURE_SLOTS ((SG_FIGURE_COUNT + SG_WORDS_A_SLOT - 1) / SG_WORDS_A_SLOT)

struct sg_figure_slot {
    uint8_t kind; /* SG_RECORD_CONT */
    uint8_t reserved[7];
    _Atomic uint64_t words[SG_WORDS_A_SLOT];
};

/* One sampled interval. It is written when the interval ends; `entered` follows when the call that
 * ended the interval ends. */
struct sg_record_interval {
    _Atomic uint8_t kind;
    _Atomic uint8_t flags; /* enum sg_interval_flags */
    uint16_t thread;       /* of this rank: 0 is the thread that called MPI_Init */
    uint32_t left;         /* site of the call before it; 0: not known, or MPI_Init */
    _Atomic uint32_t entered;
    uint32_t comm;   /* as in struct sg_record_event; 0: sampled alone, by the calls of left */
    uint32_t number; /* of the collective among all on comm; or of left's calls, from 0 */
    uint32_t mask;   /* one bit for each figure present */
    uint64_t begin_ns;
    uint64_t end_ns;
    uint16_t processor; /* at its end; UINT16_MAX: not known */
    uint8_t reserved[22];
    struct sg_figure_slot figures[SG_FIGURE_SLOTS];
};

/* Sums over the sampled intervals from one site to another on one thread, updated in place. A
 * figure that some of them lack is in none of the sums. */
struct sg_record_interval_sum {
    _Atomic uint8_t kind;
    uint8_t is_before_init; /* 1: the one interval from loading the library to MPI_Init */
    uint16_t thread;        /* of this rank; reused by another thread after this one ends */
    uint32_t left;
    uint32_t entered;
    _Atomic uint32_t mask;
    _Atomic uint64_t intervals;
    _Atomic uint64_t time_ns;
    uint64_t reserved2[4];
    struct sg_figure_slot figures[SG_FIGURE_SLOTS];
};

/* Totals and cost of sampling; one for each rank. */
struct sg_record_causes {
    _Atomic uint8_t kind;
    uint8_t mode; /* enum sg_causes_mode */
    uint16_t reserved;
    uint32_t mask;              /* figures available on this rank */
    _Atomic uint64_t intervals; /* sampled */
    _Atomic uint64_t left_out;  /* of them, those without a record, mostly for lack of capacity */
    _Atomic uint64_t cost_ns;   /* of taking the readings */
    _Atomic uint64_t time_ns;   /* total of the threads that took them */
    uint64_t reserved2[3];
};

enum sg_causes_mode { SG_CAUSES_OFF = 0, SG_CAUSES_SAMPLE = 1, SG_CAUSES_ALL = 2 };

/* A source of figures on this rank. */
struct sg_record_source {
    _Atomic uint8_t kind;
    uint8_t source; /* enum sg_source */
    uint8_t is_there;
    uint8_t reserved;
    int32_t error;    /* errno if it is not there; 0: it has nothing to read */
    uint64_t cost_ns; /* of one reading */
    uint64_t reserved2[6];
};

static inline uint64_t sg_figure_read(const struct sg_figure_slot *slots, unsigned figure)
{
    return atomic_load_explicit(&slots[figure / SG_WORDS_A_SLOT].words[figure % SG_WORDS_A_SLOT],
                                memory_order_relaxed);
}

/* One thread writes; others read. */
static inline void sg_figure_write(struct sg_figure_slot *slots, unsigned figure, uint64_t value)
{
    atomic_store_explicit(&slots[figure / SG_WORDS_A_SLOT].words[figure % SG_WORDS_A_SLOT], value,
                          memory_order_relaxed);
}

/* ---- the profile of all calls: functions, communicators, statistics, peers, distributions ---- */

/* An MPI function that the program called. Text: "MPI_Send\0". */
struct sg_record_function {
    _Atomic uint8_t kind;
    uint8_t mode;  /* enum sg_function_mode (profile/counted_functions.h) */
    uint8_t class; /* enum sg_function_class */
    uint8_t reserved;
    uint32_t index; /* of this log */
    uint32_t text_bytes;
    uint32_t reserved2;
    _Atomic uint64_t left_out; /* events dropped for lack of capacity */
    uint64_t reserved3[5];
};

/* A communicator in the numbering of the profile of all calls: 1 is MPI_COMM_WORLD, 2
 * MPI_COMM_SELF, others follow; 0: a call without communicator. Data: "name\0", padded to 4 bytes;
 * if has_members, `size` world ranks as uint32_t, and for an intercommunicator then those of its
 * remote group; then, for a Cartesian topology, the sizes of its dimensions and their periodicity
 * (0 or 1), a uint32_t each.
 *
 * All members, for an intercommunicator those of both groups, derive the same identity and ordinal
 * without a message (profile/module.h). */
struct sg_record_profile_comm {
    _Atomic uint8_t kind;
    uint8_t is_inter; /* 1: peers are in the remote group */
    uint8_t has_members;
    uint8_t dimensions; /* of a Cartesian topology; 0: there is none */
    uint32_t index;     /* of this log */
    uint32_t peers;     /* ranks in it, or in its remote group */
    uint32_t rank;      /* own rank in it */
    uint32_t text_bytes;
    uint32_t ordinal;
    uint64_t identity; /* 0: not known, for example with members outside MPI_COMM_WORLD */
    uint32_t size;     /* of the own group */
    uint32_t parent;   /* index of the communicator it was made from; 0: not known */
    uint64_t created_ns;
    /* 1 + the group of the ranks that send to this one in neighborhood collectives, without the own
     * rank; 0: there are none, or they are not known. */
    uint32_t sources;
    uint32_t is_world; /* 1: it is MPI_COMM_WORLD, whatever its name */
    uint64_t reserved2;
};

/* Running statistics of one (site, function, communicator, size class) on one thread, updated in
 * place. Size class: of the larger of sent and received bytes, as in struct sg_record_stat. */
struct sg_record_profile {
    _Atomic uint8_t kind;
    uint8_t size_class;
    uint16_t thread; /* of this rank: 0 is the thread that called MPI_Init */
    uint32_t site;
    uint32_t comm;
    uint32_t function;
    _Atomic uint64_t calls;
    _Atomic uint64_t failed; /* calls, among them, that returned an error */
    _Atomic uint64_t time_ns;
    _Atomic uint64_t time_min_ns;
    _Atomic uint64_t time_max_ns;
    _Atomic uint64_t sent_bytes;
    uint8_t kind2; /* SG_RECORD_CONT */
    uint8_t reserved[7];
    _Atomic uint64_t received_bytes;
    _Atomic double time_square; /* sum of the squares, in ns^2 */
    /* Completed operations that a call posted: time from begin to completion. */
    _Atomic uint64_t completed;
    _Atomic uint64_t latency_ns;
    _Atomic uint64_t latency_min_ns;
    _Atomic uint64_t latency_max_ns;
    uint64_t reserved2;
};

/* Messages to and from one rank of a communicator, of one thread, updated in place. With kind
 * SG_RECORD_TARGET: one-sided operations on that rank's memory. Those that put count as sent, those
 * that get as received, and those that do both as both. */
struct sg_record_peer {
    _Atomic uint8_t kind;
    uint8_t reserved[3];
    uint32_t comm;
    int32_t peer; /* rank in it */
    uint32_t thread;
    _Atomic uint64_t sent_messages;
    _Atomic uint64_t sent_bytes;
    _Atomic uint64_t received_messages;
    _Atomic uint64_t received_bytes;
    uint32_t world; /* between groups: 1 + the peer's rank in MPI_COMM_WORLD; 0: not known */
    uint32_t reserved2;
    uint64_t reserved3;
};

#define SG_THREAD_ANY (-2)    /* a message from any rank */
#define SG_THREAD_PASSES 255u /* operation of a call that does not wait */

/* The counted call that a thread is in, or its last one. Each call overwrites it, so it survives a
 * kill, with events and without. A sequence lock guards it: `turn` is odd while the thread changes
 * the fields after it, except end_ns. A thread that starts takes over the record of one that has
 * ended. */
struct sg_record_thread {
    _Atomic uint8_t kind;
    /* 1 + enum sg_operation of a collective with a record; else 0, or SG_THREAD_PASSES: only times,
     * site and function are valid. */
    uint8_t operation;
    uint16_t thread;
    _Atomic uint32_t turn;
    uint64_t begin_ns;       /* of consecutive tests at one call site: begin of the first */
    _Atomic uint64_t end_ns; /* 0: open */
    uint32_t site;
    uint32_t function; /* struct sg_record_function */
    uint32_t comm;     /* in the profile's numbering; 0: none, or not known */
    uint32_t order;    /* 1 + index among all collectives of comm; 0: none, or not known */
    /* Ranks of comm. Of a collective, to: its root. SG_EVENT_ROOT_HERE and SG_THREAD_ANY likewise;
     * -1: none. */
    int32_t to, to_tag;
    int32_t from, from_tag;
    uint64_t reserved;
};

enum sg_distribution {
    SG_DISTRIBUTION_GRANULARITY = 1, /* ns from leaving a blocking function to entering the next */
    SG_DISTRIBUTION_OVERHEAD = 2,    /* ns inside a blocking function */
    SG_DISTRIBUTION_LATENCY = 3,     /* ns of a function's calls, or from posts to completions */
    SG_DISTRIBUTION_BYTES = 4,       /* bytes these moved: the larger of sent and received */
};

/* A histogram of values on one thread, updated in place. The continuation slots have
 * sg_bins_count(bins) counts (core/bins.h), uint64_t, SG_BINS_A_SLOT in each. */
struct sg_record_distribution {
    _Atomic uint8_t kind;
    uint8_t of;          /* enum sg_distribution */
    uint16_t thread;     /* as in struct sg_record_profile */
    uint32_t function;   /* for latencies and bytes */
    uint32_t text_bytes; /* of the counts */
    uint32_t bins;       /* in each doubling */
    _Atomic uint64_t count;
    _Atomic uint64_t sum;
    _Atomic uint64_t min;
    _Atomic uint64_t max;
    /* For granularity: the begin and the last known time of observing the thread. */
    _Atomic uint64_t from_ns;
    _Atomic uint64_t until_ns;
};

/* Records of slices of buffered coscheduling (core/slice.h).
 *
 * A node's slices are spread over the logs of those of its ranks that were there when they ended:
 * readers join them.
 */

#define SG_SLICE_SLOTS 2u
#define SG_SLICE_VALUES_HERE 4u /* in the first slot */

/* One slice at one node, written when it is over there. A missing value has no bit in `known` and
 * is 0. */
struct sg_record_slice {
    _Atomic uint8_t kind;
    uint8_t reserved;
    uint16_t thread; /* that wrote it */
    uint32_t comm;   /* index of this log */
    uint32_t node;   /* among the job's */
    uint32_t known;  /* one bit for each enum sg_slice_metric */
    uint64_t number;
    uint64_t begin_ns;
    uint64_t since_ns;
    uint32_t first;    /* seq of the first collective that it ran; UINT32_MAX: none, or not known */
    uint32_t until_ns; /* time of writing, relative to begin_ns */
    uint32_t values[SG_SLICE_VALUES_HERE];
    uint8_t kind2; /* SG_RECORD_CONT */
    uint8_t reserved2[3];
    uint32_t more[SG_SLICE_VALUES - SG_SLICE_VALUES_HERE];
};

/* Sums over the slices that got no record, of one node and one communicator. For each metric: the
 * number of slices that know it, sum, minimum and maximum; updated in place. */
enum sg_slice_sum { SG_SLICE_COUNT, SG_SLICE_SUM, SG_SLICE_MIN, SG_SLICE_MAX, SG_SLICE_SUMS };

#define SG_SLICE_SUM_SLOTS                                                                         \
    (1u + (SG_SLICE_METRICS * SG_SLICE_SUMS + SG_WORDS_A_SLOT - 1) / SG_WORDS_A_SLOT)

struct sg_record_slice_sum {
    _Atomic uint8_t kind;
    uint8_t reserved[3];
    uint32_t comm;
    uint32_t node;
    uint32_t reserved2;
    _Atomic uint64_t slices; /* in these sums */
    uint64_t reserved3[5];
    struct sg_figure_slot sums[SG_SLICE_SUM_SLOTS - 1];
};

static inline uint32_t *sg_record_slice_place(struct sg_record_slice *record, unsigned place)
{
    return place < SG_SLICE_VALUES_HERE ? &record->values[place]
                                        : &record->more[place - SG_SLICE_VALUES_HERE];
}

/* Converts a record to a slice. `first` is the seq of a collective. */
static inline struct sg_slice sg_record_slice_read(const struct sg_record_slice *record)
{
    struct sg_slice slice = {.number = record->number,
                             .begin_ns = record->begin_ns,
                             .since_ns = record->since_ns,
                             .first = record->first,
                             .known = record->known};

    for (unsigned place = 0; place < SG_SLICE_VALUES; place++)
        slice.value[place] = *sg_record_slice_place((struct sg_record_slice *)record, place);
    return slice;
}

/* Records of windows and of the groups that they are synchronised with.
 *
 * Events of calls on windows (struct sg_record_event) use their fields as follows, if the call has
 * the value:
 *
 *   comm             the window's communicator
 *   from             the window's number; < 0: not known
 *   to               the target's rank, or the number of the group that it synchronises with
 *   to_tag           enum sg_window_detail, of a lock or of an operation that computes
 *   from_tag         with SG_EVENT_ORDERED: its index among the collectives on the window:
 *                    creation (0), fences, destruction
 *   sent_bytes, received_bytes   that the operation puts and gets
 */

enum sg_window_detail {
    SG_WINDOW_OTHER = 0, /* another MPI_Op */
    SG_WINDOW_SUM = 1,
    SG_WINDOW_REPLACE = 2,
    SG_WINDOW_SHARED = 3, /* a lock */
    SG_WINDOW_EXCLUSIVE = 4,
};

/* A window. Its communicator and its ordinal there identify it across ranks. Text: its name. */
struct sg_record_window {
    _Atomic uint8_t kind;
    uint8_t reserved[3];
    uint32_t index;   /* of this log, from 0 */
    uint32_t comm;    /* in the profile's numbering; 0: not known */
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

/* ---- the file and its header ----------------------------------------------------------------- */

#define SG_LOG_MAGIC "stagger\n" /* 8 bytes, no NUL */
#define SG_LOG_VERSION 4u
#define SG_LOG_HEADER_BYTES 4096u
#define SG_SLOT_BYTES 64u
#define SG_LOG_NAME_FORMAT "rank-%06d.log"
#define SG_CALLS_NAME_FORMAT "%d.calls" /* trace/export/calls_file.c */
#define SG_OVERHEAD_LONG_NS 10000u
#define SG_TRACE_BYTES_MOST (UINT64_C(64) << 30) /* STAGGER_TRACE_BYTES */

enum sg_log_state {
    SG_LOG_RUNNING = 1,   /* also: killed, or exited without MPI_Finalize */
    SG_LOG_ABORTED = 2,   /* this rank called MPI_Abort */
    SG_LOG_FINALIZED = 3, /* MPI_Finalize was reached, the log is complete */
};

enum sg_trace_mode { SG_TRACE_OFF = 0, SG_TRACE_STATS = 1, SG_TRACE_OTF2 = 2 };

struct sg_log_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes;
    uint32_t slot_bytes;
    int32_t rank;       /* in MPI_COMM_WORLD */
    int32_t world_size; /* ranks of MPI_COMM_WORLD */
    uint32_t pid;
    uint32_t trace_mode; /* enum sg_trace_mode */
    _Atomic uint32_t state;
    _Atomic uint32_t thread_count;    /* locations of this rank: threads that recorded */
    uint32_t progress_thread;         /* 1 + index of the progress thread; 0: there is none */
    uint64_t machine;                 /* hash of boot id and time namespace: one clock */
    uint64_t realtime_ns;             /* CLOCK_REALTIME when monotonic_ns was read */
    uint64_t monotonic_ns;            /* at log creation */
    uint64_t init_begin_ns;           /* MPI_Init entered; 0: not known */
    uint64_t init_end_ns;             /* MPI_Init left */
    uint64_t finalize_begin_ns;       /* MPI_Finalize entered; 0: not reached */
    uint64_t event_limit_slots;       /* slots that events may use; definitions may go beyond */
    _Atomic uint64_t next_slot;       /* slots reserved so far, possibly past allocated_slots */
    _Atomic uint64_t allocated_slots; /* slots backed by the file */
    _Atomic uint64_t dropped_events;  /* calls and others dropped: limit reached, disk full */
    _Atomic uint64_t unmanaged_calls; /* collectives passed through and not recorded */
    _Atomic uint64_t failed_calls;    /* collectives that returned an error */
    char host[128];
    char program[256]; /* base name of the executable */
    char unique[64];   /* identifies the run, the same on all ranks */
    /* Overhead of stagger beyond the time in the call, measured on the timed calls. Those beyond
     * SG_OVERHEAD_LONG_NS (names were looked up, or the process was interrupted) are only
     * counted. */
    _Atomic uint64_t overhead_calls;
    _Atomic uint64_t overhead_ns;
    _Atomic uint64_t overhead_long_calls;
    double calibration[SG_CALIBRATION_ROOM]; /* by enum sg_calibrated; 0: not measured */
    /* Liveness of the writer (trace/log.h); both 0 in logs of writers without it. */
    uint64_t pid_start;                     /* of the process, in the kernel's ticks since boot */
    uint32_t is_locked;                     /* 1: the writer holds the lock of the file */
    uint32_t counts_calls;                  /* 1: the statistics cover all MPI calls */
    _Atomic uint64_t unmanaged_nonblocking; /* nonblocking ones of unmanaged_calls */
    /* As in struct sg_waiting. The times are stored every few hundred calls and at the end. All are
     * 0 in logs of writers without them. */
    uint32_t wait_mode; /* 1 + enum sg_wait_mode */
    int32_t wait_ranks;
    int32_t wait_processors;
    int32_t wait_quota;
    char wait_hook[SG_WAIT_HOOK_BYTES];
    _Atomic uint64_t yields, yield_ns, sleeps, sleep_ns;
    uint32_t wait_apart;
    /* As in struct sg_socket, when MPI_Init was called; 0 in logs of writers without it. */
    uint32_t socket, core;
    uint32_t init_thread; /* the kernel's id of the thread that called MPI_Init; 0: not known */
    /* Those of unmanaged_calls that had no row, because the table of rows or that of call sites was
     * full. */
    _Atomic uint64_t unmanaged_full;
    /* End of the run in MPI_Finalize, before the archive is made and MPICH's own part; 0: not
     * reached. */
    uint64_t finalize_end_ns;
    /* Time of the first dropped event; 0: there is none, or the writer did not record it. */
    _Atomic uint64_t dropped_since_ns;
    uint32_t spinning_threads; /* as in struct sg_waiting; set by MPI_Finalize */
    /* MPI_Pcontrol: for how long recording was off before it was last switched off, and since when
     * it is off; 0: it is on. */
    _Atomic uint64_t off_ns, off_since_ns;
    /* Set by `stagger run` in the log of a rank that did not finish: SG_RUN_ENDED plus the exit
     * status of the run, and SG_RUN_TOLD if a signal told it to end; 0: not known. */
    uint32_t run_end;
};

#define SG_RUN_ENDED 0x100u
#define SG_RUN_TOLD 0x200u

/* For how long recording was off in all, up to the end of the run. */
static inline uint64_t sg_log_off_ns(const struct sg_log_header *header, uint64_t last_ns)
{
    uint64_t since_ns = atomic_load_explicit(&header->off_since_ns, memory_order_relaxed);
    uint64_t end_ns = header->finalize_begin_ns > 0 ? header->finalize_begin_ns : last_ns;

    return atomic_load_explicit(&header->off_ns, memory_order_relaxed) +
           (since_ns > 0 && end_ns > since_ns ? end_ns - since_ns : 0);
}

/* The rank's time in MPI_Init and MPI_Finalize, as far as known. */
static inline uint64_t sg_log_ends_ns(const struct sg_log_header *header)
{
    uint64_t init_ns = header->init_begin_ns > 0 && header->init_end_ns > header->init_begin_ns
                           ? header->init_end_ns - header->init_begin_ns
                           : 0;

    return header->finalize_begin_ns > 0 && header->finalize_end_ns > header->finalize_begin_ns
               ? init_ns + (header->finalize_end_ns - header->finalize_begin_ns)
               : init_ns;
}

_Static_assert(SG_CALIBRATED_COUNT <= SG_CALIBRATION_ROOM, "a calibration has its room");

_Static_assert(sizeof(struct sg_log_header) <= SG_LOG_HEADER_BYTES, "header fits its page");

/* ---- records of collectives, definitions and events ------------------------------------------ */

enum sg_record_kind {
    SG_RECORD_EMPTY = 0,
    SG_RECORD_CONT = 1,         /* continuation slot of the record before it */
    SG_RECORD_CALL = 2,         /* struct sg_record_call */
    SG_RECORD_LATE = 3,         /* struct sg_record_late */
    SG_RECORD_SITE = 4,         /* struct sg_record_site + text: module path, build id */
    SG_RECORD_SITE_NAME = 5,    /* struct sg_record_site_name + text: function, file */
    SG_RECORD_COMM = 6,         /* struct sg_record_comm + text: name; members of rank 0 */
    SG_RECORD_CLOCK = 7,        /* struct sg_record_clock */
    SG_RECORD_MARKER = 8,       /* struct sg_record_marker + text */
    SG_RECORD_STAT = 9,         /* struct sg_record_stat (four slots) */
    SG_RECORD_NONBLOCKING = 10, /* struct sg_record_nonblocking */
    SG_RECORD_ARM = 11,      /* struct sg_record_arm + text: a trial's left side, one right side */
    SG_RECORD_FUNCTION = 12, /* struct sg_record_function + text: its name */
    SG_RECORD_PROFILE = 13,  /* struct sg_record_profile (two slots) */
    SG_RECORD_PROFILE_COMM = 14, /* struct sg_record_profile_comm + text: its name */
    SG_RECORD_PEER = 15,         /* struct sg_record_peer: messages */
    SG_RECORD_EVENT = 16,        /* struct sg_record_event */
    SG_RECORD_REQUEST = 17,      /* struct sg_record_request */
    SG_RECORD_DISTRIBUTION = 18, /* struct sg_record_distribution + its bins */
    SG_RECORD_INTERVAL = 19,     /* struct sg_record_interval (SG_INTERVAL_SLOTS) */
    SG_RECORD_INTERVAL_SUM = 20, /* struct sg_record_interval_sum (likewise) */
    SG_RECORD_CAUSES = 21,       /* struct sg_record_causes */
    SG_RECORD_SOURCE = 22,       /* struct sg_record_source */
    SG_RECORD_WINDOW = 23,       /* struct sg_record_window + text: its name */
    SG_RECORD_GROUP = 24,        /* struct sg_record_group + its members */
    SG_RECORD_TARGET = 25,       /* struct sg_record_peer: one-sided operations */
    SG_RECORD_GAP = 26,          /* struct sg_record_gap */
    SG_RECORD_SLICE = 27,        /* struct sg_record_slice (SG_SLICE_SLOTS) */
    SG_RECORD_SLICE_SUM = 28,    /* struct sg_record_slice_sum (SG_SLICE_SUM_SLOTS) */
    SG_RECORD_THREAD = 29,       /* struct sg_record_thread */
    SG_RECORD_COMPLETIONS = 30,  /* struct sg_record_completions */
    SG_RECORD_KINDS
};

#define SG_CALL_WIDE_BITS 48
#define SG_CALL_WIDE_MAX ((UINT64_C(1) << SG_CALL_WIDE_BITS) - 1)

enum sg_call_flags {
    SG_CALL_IN_PLACE = 1, /* this rank passed MPI_IN_PLACE */
    SG_CALL_FAILED = 2,   /* the call returned an error: belongs to no instance */
    SG_CALL_SKEW = 4,     /* skew_ns is known */
    SG_CALL_SLICE = 16,   /* the slice that ran it is known: for a call, in skew_ns */
};

/* One collective call. Site and comm are this log's indices (records SITE and COMM).
 *
 * It is one slot in any case, so that a call writes one cache line. So bytes and skew have 48 bits
 * (256 TiB, three days) and share their words with counts, and every count saturates: its greatest
 * value means that or more. The statistics have the full counts.
 */
struct sg_record_call {
    _Atomic uint8_t kind;
    uint8_t operation; /* enum sg_operation */
    uint8_t executed;  /* algorithm and candidate, by core/executed.h */
    uint8_t flags;     /* enum sg_call_flags */
    uint32_t site;
    uint32_t comm;
    uint16_t thread; /* of this rank: 0 is the thread that called MPI_Init */
    uint8_t stalls;  /* times the call waited for a slot or a credit */
    uint8_t copies;  /* times an operand or a result was copied */
    uint64_t begin_ns;
    _Atomic uint64_t end_ns;            /* 0: open */
    uint64_t bytes : SG_CALL_WIDE_BITS; /* count times type size; 0 for a barrier */
    uint64_t moves : 16;                /* of tokens, down a level */
    uint32_t seq;                       /* of the instance on its communicator, from 0 */
    int32_t root;                       /* rank in the communicator; -1: none */
    /* Counts of the call; between nodes, of this rank's node since a call there last reported
     * them. */
    uint16_t early;      /* messages that arrived before the call */
    uint16_t late;       /* messages handled after a call returned */
    uint16_t signals;    /* signals that brought something */
    uint8_t ignored;     /* signals that found progress under way */
    uint8_t outstanding; /* instances outstanding when the call returned */
    /* With SG_CALL_SKEW, own arrival minus first arrival; with SG_CALL_SLICE, the slice. */
    uint64_t skew_ns : SG_CALL_WIDE_BITS;
    uint64_t repeats : 16; /* releases received again */
};

/* One nonblocking collective that stagger ran, from its start to the completion of its request. */
struct sg_record_nonblocking {
    _Atomic uint8_t kind;
    uint8_t operation; /* of the blocking form */
    uint8_t executed;  /* algorithm and candidate, by core/executed.h */
    uint8_t flags;     /* enum sg_call_flags */
    uint32_t site;
    uint32_t comm;
    uint16_t thread;                    /* that started it */
    uint16_t slice_high;                /* with SG_CALL_SLICE */
    uint64_t begin_ns;                  /* of its start */
    uint64_t bytes : SG_CALL_WIDE_BITS; /* count times type size; 0 for a barrier */
    uint64_t tests : 16;                /* times the program waited or tested for it */
    uint32_t seq;                       /* of the instance on its communicator, from 0 */
    int32_t root;                       /* rank in the communicator; -1: none */
    uint32_t start_ns;                  /* duration of the start */
    uint32_t slice_low;
    uint64_t exposed_ns;     /* then spent in waits and tests; the rest of its time was hidden */
    _Atomic uint64_t end_ns; /* the request was completed; 0: open */
};

/* A late contribution, handled after the receiving call had returned. */
struct sg_record_late {
    _Atomic uint8_t kind;
    uint8_t operation;
    uint8_t by_signal; /* 1: in a signal handler */
    uint8_t reserved;
    uint32_t site;
    uint32_t comm;
    uint16_t thread; /* on which it was handled */
    uint16_t reserved2;
    uint64_t begin_ns;
    _Atomic uint64_t end_ns;
    uint64_t bytes;
    uint32_t seq;
    int32_t child; /* rank of the contributor in the communicator; of a node, its first rank */
    uint64_t avoided_ns; /* since the call returned, or the instance's previous late one */
    uint64_t reserved3;
};

/* A call site. Text: "module path\0build id in hex\0callers\0" (each may be empty). Callers are the
 * frames behind the id except the innermost, from there outwards, a line each: "offset in hex,
 * build id in hex, module path", separated by blanks; an empty path means the site's own module. */
struct sg_record_site {
    _Atomic uint8_t kind;
    uint8_t depth; /* frames the id is made of */
    uint16_t reserved;
    uint32_t index;      /* of this log, from 0; 0 is "unknown" and has no record */
    uint32_t id;         /* the same on all ranks and in all runs */
    uint32_t text_bytes; /* in the continuation slots */
    uint64_t offset;     /* return address, as link-time address in the module */
    uint64_t reserved2[5];
};

/* Names of a site, if they were resolved at run time. Text: "function\0file\0". */
struct sg_record_site_name {
    _Atomic uint8_t kind;
    uint8_t reserved[3];
    uint32_t id;
    uint32_t line; /* 0: not known */
    uint32_t text_bytes;
    uint64_t reserved2[6];
};

/* A managed communicator, written when its members agreed on its identity: (world rank of its rank
 * 0, that rank's counter). Data: "name\0", padded to 4 bytes; on the communicator's rank 0 then
 * size world ranks as uint32_t. */
struct sg_record_comm {
    _Atomic uint8_t kind;
    uint8_t has_members;
    uint16_t reserved;
    uint32_t index; /* of this log: 0 is MPI_COMM_WORLD, 1 MPI_COMM_SELF */
    uint32_t root_world_rank;
    uint32_t root_counter;
    uint32_t size;
    uint32_t rank;   /* own rank in it */
    uint32_t parent; /* index of the communicator it was made from; UINT32_MAX: not known */
    uint32_t text_bytes;
    uint64_t created_ns;
    uint32_t profile_comm; /* its number in the profile of all calls; 0: not known */
    uint32_t reserved2;
    uint64_t reserved3[2];
};

/* One clock synchronisation: global = local + offset (at local time local_ns). */
struct sg_record_clock {
    _Atomic uint8_t kind;
    uint8_t reserved[7];
    uint64_t local_ns;
    int64_t offset_ns;
    uint64_t error_ns;     /* bound of the offset's error */
    uint64_t deviation_ns; /* spread of the round trips seen */
    uint64_t reserved2[3];
};

enum sg_marker_kind {
    SG_MARKER_STALL = 1,    /* a wait longer than STAGGER_STALL_S */
    SG_MARKER_MISMATCH = 2, /* ranks disagreed on operation, size or site */
    SG_MARKER_PARTIAL = 3,  /* recording stopped: limit or full disk */
    SG_MARKER_NOTE = 4,
    SG_MARKER_LEARNED = 5, /* findings of `auto` for a rule, comm and size range; the last holds */
};

struct sg_record_marker {
    _Atomic uint8_t kind;
    uint8_t marker; /* enum sg_marker_kind */
    uint16_t reserved;
    uint32_t text_bytes;
    uint64_t time_ns;
    uint64_t reserved2[6];
};

/* One candidate of a trial (shim/rule/trial.h). Text: "left side\0right side\0". */
struct sg_record_arm {
    _Atomic uint8_t kind;
    uint8_t arm;   /* from 1, through all trials */
    uint8_t trial; /* from 0 */
    uint8_t reserved;
    uint32_t text_bytes;
    uint32_t block; /* collectives of a communicator per block: its number is seq / block */
    uint32_t seed;
    uint64_t reserved2[6];
};

/* Running statistics of one (site, communicator, operation, algorithm, candidate, size class),
 * updated in place; counts are those of struct sg_record_call. Size class: 0 for 0 bytes, else 1 +
 * floor(log2(bytes)). */
struct sg_record_stat {
    _Atomic uint8_t kind;
    uint8_t operation;
    uint8_t executed;
    uint8_t size_class;
    uint32_t site;
    uint32_t comm;
    /* 1: nonblocking calls; blocked is then the start plus the exposed time */
    uint8_t nonblocking;
    uint8_t reserved[3];
    _Atomic uint64_t calls;
    _Atomic uint64_t bytes;
    _Atomic uint64_t blocked_ns;
    _Atomic uint64_t blocked_max_ns;
    _Atomic uint64_t early;
    _Atomic uint64_t late;
    uint8_t kind2; /* SG_RECORD_CONT */
    uint8_t reserved2[7];
    _Atomic uint64_t signals;
    _Atomic uint64_t stalls;
    _Atomic uint64_t copies;
    _Atomic uint64_t skew_ns;    /* sum over the calls where it is known */
    _Atomic uint64_t skew_calls; /* number of those calls */
    _Atomic uint64_t skew_max_ns;
    _Atomic uint64_t ignored;
    uint8_t kind3; /* SG_RECORD_CONT */
    uint8_t reserved3[7];
    _Atomic uint64_t moves;
    _Atomic uint64_t repeats;
    _Atomic uint64_t handler_ns;      /* sum over late contributions */
    _Atomic uint64_t outstanding_max; /* instances outstanding when a call returned */
    /* Nonblocking calls: time from start to completion outside of waits and tests. */
    _Atomic uint64_t hidden_ns;
    uint64_t reserved4[2];
    uint8_t kind4; /* SG_RECORD_CONT */
    uint8_t reserved5[7];
    /* Time of the call itself; for a nonblocking one, of its start. */
    _Atomic uint64_t own_ns;
    _Atomic uint64_t own_min_ns;
    _Atomic uint64_t own_max_ns;
    _Atomic double own_square; /* sum of the squares, in ns^2 */
    /* Nonblocking calls: time from begin to completion. */
    _Atomic uint64_t latency_min_ns;
    _Atomic uint64_t latency_max_ns;
    uint64_t reserved6;
};

/* One MPI call that is in no record of collectives; not a test that found nothing.
 *
 * A call that posts one message is also that message's post: this record's slot identifies the
 * request (struct sg_record_request). Other posts (MPI_Isendrecv, MPI_Start), and all completions,
 * have records of their own after this one. MPI_Mprobe posts the receive of its message. Calls that
 * wait are written when they begin, without flags: peers and tags are those requested. If an
 * exception or longjmp leaves a call, it ends, as failed, when its thread's next call begins. Calls
 * on windows use the fields as described above. In a collective with a count for each rank, from is
 * the group of the ranks whose data it brings, itself included; < 0: all, or not known. The
 * members of the communicator that MPI_Comm_create_group or MPI_Intercomm_create makes call it:
 * sent_bytes is the created_ns of that one; 0: none. */
enum sg_event_flags {
    SG_EVENT_FAILED = 1,   /* the call returned an error */
    SG_EVENT_SENDS = 2,    /* to, to_tag, sent_bytes describe a message */
    SG_EVENT_RECEIVES = 4, /* from, from_tag, received_bytes describe one (a post: requested) */
    SG_EVENT_POSTS = 8,    /* ... which a request, or MPI_Mrecv, completes */
    SG_EVENT_ROOTED = 16,  /* to is the root of a collective; between groups, a remote one */
    /* from_tag: its index among the calls that all members of its communicator make: collectives,
     * those that make communicators, MPI_File_open. For a call on a file, from_tag is that of its
     * MPI_File_open, and to_tag its index among such calls on the file, from 1. */
    SG_EVENT_ORDERED = 32,
    SG_EVENT_TARGETS = 64, /* to is the target of a one-sided operation */
    SG_EVENT_POLLED = 128, /* of a test: sent_bytes is the time (ns) before its begin for which the
                              * thread had tested in vain, and did little else */
    SG_EVENT_COMPLETE =
        128, /* with SG_EVENT_SENDS: the send that it posts was complete when the call returned */
};

/* Requests that a call's event completes, and a record of more of them. */
#define SG_EVENT_COMPLETES_MOST 8u
#define SG_COMPLETIONS_MOST 13u

#define SG_EVENT_ROOT_HERE (-3) /* between groups, on the root itself; -1 on others of its group */

struct sg_record_event {
    _Atomic uint8_t kind;
    uint8_t flags; /* enum sg_event_flags */
    uint16_t thread;
    uint32_t site;
    uint32_t comm;     /* in the profile's numbering; 0: none */
    uint16_t function; /* struct sg_record_function */
    uint8_t completes; /* of a wait that has ended: requests in `completed` */
    uint8_t reserved;
    uint64_t begin_ns;
    _Atomic uint64_t end_ns; /* 0: open */
    union {
        struct {
            int32_t to, to_tag; /* ranks of the communicator; < 0: none, or any */
            int32_t from, from_tag;
            uint64_t sent_bytes, received_bytes;
        };
        uint32_t completed[SG_EVENT_COMPLETES_MOST]; /* as in struct sg_record_completions */
    };
};

/* Messages that the call whose record precedes it on its thread has completed, as they were posted:
 * the slots of the records that began them, each that of a call with SG_EVENT_SENDS or
 * SG_EVENT_RECEIVES. A receive brought just what it asked for: rank, tag and bytes. */
struct sg_record_completions {
    _Atomic uint8_t kind;
    uint8_t completes;
    uint16_t thread;
    uint32_t completed[SG_COMPLETIONS_MOST];
    uint64_t time_ns;
};

enum sg_request_event {
    SG_REQUEST_SEND = 1,    /* begins: a persistent send, or a part of MPI_Isendrecv */
    SG_REQUEST_RECEIVE = 2, /* begins: the same for a receive; peer and tag as requested */
    SG_REQUEST_SENT = 3,
    SG_REQUEST_RECEIVED = 4,
    SG_REQUEST_COMPLETE = 5, /* completes: no message to or from a rank, or a failed one */
    SG_REQUEST_CANCELLED = 6,
    SG_REQUEST_FREED = 7,
    SG_REQUEST_PREPARED = 8, /* begins: a partitioned message, which is matched with no other kind;
                              * or a persistent collective: peer is its root as in sg_record_event,
                              * tag the index of the call that made it, as with SG_EVENT_ORDERED */
};

/* An event of a request, in the call whose record precedes it on its thread. */
struct sg_record_request {
    _Atomic uint8_t kind;
    uint8_t what; /* enum sg_request_event */
    uint16_t thread;
    uint32_t site;     /* of the call that made the request */
    uint32_t comm;     /* as in struct sg_record_event */
    uint32_t function; /* that made the request */
    uint64_t time_ns;
    uint64_t request; /* slot of the record that began it; if it begins here, its own slot */
    int32_t peer, tag;
    uint64_t bytes;
    /* For the begin of a persistent collective, whose sent bytes are in `bytes`. */
    uint64_t received_bytes;
    uint32_t start;   /* number of its begins, from 1; 0: not known, or not a collective */
    uint32_t sources; /* 1 + a group, as `from` in struct sg_record_event; 0: not known */
};

/* Messages that have no record, with the same communicator, ranks and tag as a message that has
 * one. `count` of them precede it in the order in which messages are matched with the other end. */
struct sg_record_gap {
    _Atomic uint8_t kind;
    uint8_t is_send; /* the record's message is a send; else a receive */
    uint16_t reserved;
    uint32_t count;
    uint64_t slot; /* of the record that begins the message, or of a receive's completion */
    uint64_t reserved2[6];
};

/* Carries text_bytes of the record before it, SG_CONT_BYTES a slot. */
#define SG_CONT_BYTES 56u
#define SG_BINS_A_SLOT (SG_CONT_BYTES / sizeof(uint64_t))

struct sg_record_cont {
    uint8_t kind;
    uint8_t reserved[3];
    uint32_t part; /* from 0 */
    unsigned char data[SG_CONT_BYTES];
};

/* Slots of the records that have several, whatever their text. */
#define SG_INTERVAL_SLOTS (1u + SG_FIGURE_SLOTS)
#define SG_STAT_SLOTS 4u
#define SG_PROFILE_SLOTS 2u

static inline uint8_t sg_size_class(uint64_t bytes)
{
    return bytes == 0 ? 0 : (uint8_t)(64 - __builtin_clzll(bytes));
}

#endif
