/* The log's format: what the library writes at run time and the tools read.
 *
 * One file per rank, DIR/rank-NNNNNN.log, memory-mapped and append-only: a header of
 * SG_LOG_HEADER_BYTES, then slots of SG_SLOT_BYTES. A record is one slot or several adjacent
 * ones; every slot's first byte is its kind, so a reader finds its way again after a slot that
 * was reserved and never written (kind SG_RECORD_EMPTY) and after a file cut off in mid-record.
 *
 * Order of writing, for readers after a kill: a record's fields are written before its kind
 * (release), a call's end_ns after everything else. end_ns == 0 means: still open.
 *
 * All times are CLOCK_MONOTONIC_RAW ns of the machine that wrote them; host byte order (a log is
 * read on the machine kind that wrote it; magic and version are checked first).
 */
#ifndef SG_TRACE_RECORD_H
#define SG_TRACE_RECORD_H

#include "core/calibration.h"
#include "core/slice.h"
#include "core/waiting.h"
#include "trace/figure.h"

#include <stdatomic.h>
#include <stdint.h>

/* The log's records of what a thread did between two calls of MPI. As trace/record.h says, which
 * includes this.
 *
 * An interval is the time from leaving one outermost call to entering the next on the same thread.
 */

/* Why an interval was sampled, and where it lies. */
enum sg_interval_flags {
    SG_INTERVAL_STRETCH = 1, /* comm and number are of the collective that began the stretch */
    SG_INTERVAL_FIRST = 2,   /* ... whose call it follows */
    SG_INTERVAL_LAST = 4,    /* it ends where the communicator's next collective begins */
};

/* In continuation slots a word is left free for the slot's kind. */
#define SG_WORDS_A_SLOT 7u
#define SG_FIGURE_SLOTS ((SG_FIGURE_COUNT + SG_WORDS_A_SLOT - 1) / SG_WORDS_A_SLOT)

struct sg_figure_slot {
    uint8_t kind; /* SG_RECORD_CONT */
    uint8_t reserved[7];
    _Atomic uint64_t words[SG_WORDS_A_SLOT];
};

/* One interval that was sampled. There when it ends; entered comes with the end of the call that
 * ends it. */
struct sg_record_interval {
    _Atomic uint8_t kind;
    _Atomic uint8_t flags; /* enum sg_interval_flags */
    uint16_t thread;       /* of this rank: 0 is the thread that called MPI_Init */
    uint32_t left;         /* site of the call before it; 0: not known, or MPI_Init */
    _Atomic uint32_t entered;
    uint32_t comm;   /* as in struct sg_record_event; 0: sampled for itself, by the calls of left */
    uint32_t number; /* of the collective among all on comm; or of left's calls, from 0 */
    uint32_t mask;   /* a bit a figure that is there */
    uint64_t begin_ns;
    uint64_t end_ns;
    uint16_t processor; /* at its end; UINT16_MAX: not known */
    uint8_t reserved[22];
    struct sg_figure_slot figures[SG_FIGURE_SLOTS];
};

/* Sums over the intervals that were sampled from one site to another on one thread, updated in
 * place. A figure that some of them lack is in none of the sums. */
struct sg_record_interval_sum {
    _Atomic uint8_t kind;
    uint8_t reserved;
    uint16_t thread; /* of this rank; one that has ended leaves its number to the next */
    uint32_t left;
    uint32_t entered;
    _Atomic uint32_t mask;
    _Atomic uint64_t intervals;
    _Atomic uint64_t time_ns;
    uint64_t reserved2[4];
    struct sg_figure_slot figures[SG_FIGURE_SLOTS];
};

/* What was sampled in all, and what it cost; one a rank. */
struct sg_record_causes {
    _Atomic uint8_t kind;
    uint8_t mode; /* enum sg_causes_mode */
    uint16_t reserved;
    uint32_t mask;              /* figures that there are on this rank */
    _Atomic uint64_t intervals; /* sampled */
    _Atomic uint64_t left_out;  /* of them: without a record, as there was no room */
    _Atomic uint64_t cost_ns;   /* of taking the readings */
    _Atomic uint64_t time_ns;   /* of the threads that did, together */
    uint64_t reserved2[3];
};

enum sg_causes_mode { SG_CAUSES_OFF = 0, SG_CAUSES_SAMPLE = 1, SG_CAUSES_ALL = 2 };

/* A source of figures on this rank. */
struct sg_record_source {
    _Atomic uint8_t kind;
    uint8_t source; /* enum sg_source */
    uint8_t is_there;
    uint8_t reserved;
    int32_t error;    /* errno, where it is not there; 0: there is nothing to be read */
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

/* The log's records of the profile of all calls: functions, communicators, running statistics,
 * peers and distributions. As trace/record.h says, which includes this.
 */

/* A function of MPI that the program called. Text: "MPI_Send\0". */
struct sg_record_function {
    _Atomic uint8_t kind;
    uint8_t mode;  /* enum sg_function_mode (profile/counted_functions.h) */
    uint8_t class; /* enum sg_function_class */
    uint8_t reserved;
    uint32_t index; /* of this log */
    uint32_t text_bytes;
    uint32_t reserved2;
    _Atomic uint64_t left_out; /* events that there was no room for */
    uint64_t reserved3[5];
};

/* A communicator as the profile of all calls numbers them: 1 is MPI_COMM_WORLD, 2 MPI_COMM_SELF,
 * others follow; 0: a call on none. Data: "name\0", padded to 4 bytes; where has_members, size
 * world ranks as uint32_t, and of an intercommunicator then those of its remote group; then of a
 * Cartesian topology the sizes of its dimensions and whether they are periodic (0 or 1), a uint32_t
 * each.
 *
 * All members derive the same identity and ordinal without a message (profile/module.h); of an
 * intercommunicator both groups. */
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
    uint64_t identity; /* 0: not known, as of members outside MPI_COMM_WORLD */
    uint32_t size;     /* of the own group */
    uint32_t parent;   /* index of the communicator it was made from; 0: not known */
    uint64_t created_ns;
    /* 1 + the group of the ranks whose data its neighborhood collectives bring here, without the
     * own one; 0: there are none, or they are not told. */
    uint32_t sources;
    uint32_t reserved;
    uint64_t reserved2;
};

/* Running statistics of one (site, function, communicator, size class) on one thread, updated in
 * place. Size class: of the greater of what was sent and received, as in struct sg_record_stat. */
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
    /* Of what was posted and is complete: from its begin to its completion. */
    _Atomic uint64_t completed;
    _Atomic uint64_t latency_ns;
    _Atomic uint64_t latency_min_ns;
    _Atomic uint64_t latency_max_ns;
    uint64_t reserved2;
};

/* Messages to and from one rank of a communicator, of one thread, updated in place. Of kind
 * SG_RECORD_TARGET: one-sided operations on that rank's memory; those that put count as sent, those
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
    uint32_t world; /* between groups: 1 + the peer's rank in MPI_COMM_WORLD; 0: not told */
    uint32_t reserved2;
    uint64_t reserved3;
};

enum sg_distribution {
    SG_DISTRIBUTION_GRANULARITY = 1, /* ns from leaving a blocking function to entering the next */
    SG_DISTRIBUTION_OVERHEAD = 2,    /* ns inside one */
    SG_DISTRIBUTION_LATENCY = 3,     /* ns of a function's calls, or from posts to completions */
    SG_DISTRIBUTION_BYTES = 4,       /* that these moved: the greater of sent and received */
};

/* How often which values came, on one thread, updated in place. In the continuation slots are
 * sg_bins_count(bins) counts (core/bins.h), uint64_t, SG_BINS_A_SLOT in each. */
struct sg_record_distribution {
    _Atomic uint8_t kind;
    uint8_t of;          /* enum sg_distribution */
    uint16_t thread;     /* as in struct sg_record_profile */
    uint32_t function;   /* of latencies and bytes */
    uint32_t text_bytes; /* of the counts */
    uint32_t bins;       /* to each doubling */
    _Atomic uint64_t count;
    _Atomic uint64_t sum;
    _Atomic uint64_t min;
    _Atomic uint64_t max;
    /* Of granularity: since when the thread is followed, and what is known of it last. */
    _Atomic uint64_t from_ns;
    _Atomic uint64_t until_ns;
};

/* The log's records of slices of buffered coscheduling (core/slice.h). As trace/record.h says,
 * which includes this.
 *
 * A node's slices are in the logs of whichever of its ranks was there when they ended: readers join
 * them.
 */

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

#define SG_LOG_MAGIC "stagger\n" /* 8 bytes, no NUL */
#define SG_LOG_VERSION 3u
#define SG_LOG_HEADER_BYTES 4096u
#define SG_SLOT_BYTES 64u
#define SG_LOG_NAME_FORMAT "rank-%06d.log"
#define SG_CALLS_NAME_FORMAT "%d.calls" /* trace/export/calls_file.h */
#define SG_OVERHEAD_LONG_NS 10000u

enum sg_log_state {
    SG_LOG_RUNNING = 1,   /* also: killed, or left without MPI_Finalize */
    SG_LOG_ABORTED = 2,   /* MPI_Abort was called by this rank */
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
    _Atomic uint64_t dropped_events;  /* calls and others left out: limit reached or disk full */
    _Atomic uint64_t unmanaged_calls; /* collectives passed through and not recorded */
    _Atomic uint64_t failed_calls;    /* collectives that returned an error */
    char host[128];
    char program[256]; /* base name of the executable */
    char unique[64];   /* the run, the same on all ranks */
    /* What stagger itself takes of a call beyond the time in it: of the calls that were timed.
     * Those beyond SG_OVERHEAD_LONG_NS (names were looked up, or the process was interrupted) are
     * only counted. */
    _Atomic uint64_t overhead_calls;
    _Atomic uint64_t overhead_ns;
    _Atomic uint64_t overhead_long_calls;
    double calibration[SG_CALIBRATION_ROOM]; /* by enum sg_calibrated; 0: not measured */
    /* Whether the writer lives (trace/log.h); both 0 in logs of writers that do not tell. */
    uint64_t pid_start;                     /* of the process, in the kernel's ticks since boot */
    uint32_t is_locked;                     /* 1: the writer holds the lock of the file */
    uint32_t counts_calls;                  /* 1: the statistics are of all calls of MPI */
    _Atomic uint64_t unmanaged_nonblocking; /* nonblocking ones of unmanaged_calls */
    /* As in struct sg_waiting; its times are stored when a call in some hundred ends, and at the
     * end. Logs of writers that do not tell have 0 in all of it. */
    uint32_t wait_mode; /* 1 + enum sg_wait_mode */
    int32_t wait_ranks;
    int32_t wait_processors;
    int32_t wait_quota;
    char wait_hook[SG_WAIT_HOOK_BYTES];
    _Atomic uint64_t yields, yield_ns, sleeps, sleep_ns;
    uint32_t wait_apart;
    /* As in struct sg_socket, when MPI_Init was called; 0 in logs of writers that do not tell. */
    uint32_t socket, core;
    uint32_t init_thread; /* the kernel's number of the thread that called MPI_Init; 0: not known */
};

_Static_assert(SG_CALIBRATED_COUNT <= SG_CALIBRATION_ROOM, "a calibration has its room");

_Static_assert(sizeof(struct sg_log_header) <= SG_LOG_HEADER_BYTES, "header fits its page");

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
    SG_RECORD_KINDS
};

#define SG_CALL_WIDE_BITS 48
#define SG_CALL_WIDE_MAX ((UINT64_C(1) << SG_CALL_WIDE_BITS) - 1)

enum sg_call_flags {
    SG_CALL_IN_PLACE = 1, /* this rank passed MPI_IN_PLACE */
    SG_CALL_FAILED = 2,   /* the call returned an error: belongs to no instance */
    SG_CALL_SKEW = 4,     /* skew_ns is known */
    SG_CALL_SLICE = 16,   /* the slice that it ran in is known: of a call, in skew_ns */
};

/* One collective call. Site and comm are this log's indices (records SITE and COMM).
 *
 * One slot, whatever there is to count: a call is one write of one line. So bytes and skew have 48
 * bits (256 TiB, three days) and share their words with counts; every count stands at its greatest
 * value for that or more. Statistics have all of them in full.
 */
struct sg_record_call {
    _Atomic uint8_t kind;
    uint8_t operation; /* enum sg_operation */
    uint8_t executed;  /* algorithm and arm, by core/executed.h */
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
    /* Of the call; between nodes: at this rank's node, since a call there told of them last. */
    uint16_t early;      /* messages there before the call */
    uint16_t late;       /* messages handled after a call returned */
    uint16_t signals;    /* signals that brought something */
    uint8_t ignored;     /* signals that found progress under way */
    uint8_t outstanding; /* instances outstanding when the call returned */
    /* Own arrival minus first arrival, where SG_CALL_SKEW; where SG_CALL_SLICE the slice. */
    uint64_t skew_ns : SG_CALL_WIDE_BITS;
    uint64_t repeats : 16; /* releases that came again */
};

/* One nonblocking collective that stagger ran, from its start to the completion of its request. */
struct sg_record_nonblocking {
    _Atomic uint8_t kind;
    uint8_t operation; /* of the blocking form */
    uint8_t executed;  /* algorithm and arm, by core/executed.h */
    uint8_t flags;     /* enum sg_call_flags */
    uint32_t site;
    uint32_t comm;
    uint16_t thread;                    /* that started it */
    uint16_t slice_high;                /* where SG_CALL_SLICE */
    uint64_t begin_ns;                  /* of its start */
    uint64_t bytes : SG_CALL_WIDE_BITS; /* count times type size; 0 for a barrier */
    uint64_t tests : 16;                /* times the program asked for it: waits and tests */
    uint32_t seq;                       /* of the instance on its communicator, from 0 */
    int32_t root;                       /* rank in the communicator; -1: none */
    uint32_t start_ns;                  /* its start took */
    uint32_t slice_low;
    uint64_t exposed_ns; /* then spent in waits and tests; what is left of its time was hidden */
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
    int32_t child; /* rank in the communicator whose contribution it was: of a node the first */
    uint64_t avoided_ns; /* since the call returned, or the instance's last one before this */
    uint64_t reserved3;
};

/* A call site. Text: "module path\0build id in hex\0callers\0" (each may be empty). Callers: of the
 * frames that the id is made of all but the innermost, from there out, a line each: "offset in hex,
 * build id in hex, module path", with blanks between; a path that is empty is the site's own. */
struct sg_record_site {
    _Atomic uint8_t kind;
    uint8_t depth; /* frames the id is made of */
    uint16_t reserved;
    uint32_t index;      /* of this log, from 0; 0 is "unknown" and has no record */
    uint32_t id;         /* the same on all ranks and in all runs */
    uint32_t text_bytes; /* in the continuation slots */
    uint64_t offset;     /* return address, link-time address in the module */
    uint64_t reserved2[5];
};

/* Names of a site, where they were resolved at run time. Text: "function\0file\0". */
struct sg_record_site_name {
    _Atomic uint8_t kind;
    uint8_t reserved[3];
    uint32_t id;
    uint32_t line; /* 0: not known */
    uint32_t text_bytes;
    uint64_t reserved2[6];
};

/* A managed communicator, written when its members agreed on its identity:
 * (world rank of its rank 0, that rank's counter). Data: "name\0", padded to 4 bytes; on the
 * communicator's rank 0 then size world ranks as uint32_t. */
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
    uint64_t error_ns;     /* the offset is at most so far from the truth */
    uint64_t deviation_ns; /* spread of the round trips seen */
    uint64_t reserved2[3];
};

enum sg_marker_kind {
    SG_MARKER_STALL = 1,    /* a wait longer than STAGGER_STALL_S */
    SG_MARKER_MISMATCH = 2, /* ranks disagreed on operation, size or site */
    SG_MARKER_PARTIAL = 3,  /* recording stopped: limit or full disk */
    SG_MARKER_NOTE = 4,
    SG_MARKER_LEARNED = 5, /* what `auto` has found at a place; the last one holds */
};

struct sg_record_marker {
    _Atomic uint8_t kind;
    uint8_t marker; /* enum sg_marker_kind */
    uint16_t reserved;
    uint32_t text_bytes;
    uint64_t time_ns;
    uint64_t reserved2[6];
};

/* One arm of a trial (shim/rule/trial.h). Text: "left side\0right side\0". */
struct sg_record_arm {
    _Atomic uint8_t kind;
    uint8_t arm;   /* from 1, through all trials */
    uint8_t trial; /* from 0 */
    uint8_t reserved;
    uint32_t text_bytes;
    uint32_t block; /* collectives of a communicator: block number is seq divided by it */
    uint32_t seed;
    uint64_t reserved2[6];
};

/* Running statistics of one (site, communicator, operation, algorithm, arm, size class), updated in
 * place; counts are those of struct sg_record_call. Size class: 0 for 0 bytes, else 1 +
 * floor(log2(bytes)). */
struct sg_record_stat {
    _Atomic uint8_t kind;
    uint8_t operation;
    uint8_t executed;
    uint8_t size_class;
    uint32_t site;
    uint32_t comm;
    /* 1: the entry is of nonblocking calls; blocked: the start and what was exposed */
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
    _Atomic uint64_t skew_calls; /* how many those are */
    _Atomic uint64_t skew_max_ns;
    _Atomic uint64_t ignored;
    uint8_t kind3; /* SG_RECORD_CONT */
    uint8_t reserved3[7];
    _Atomic uint64_t moves;
    _Atomic uint64_t repeats;
    _Atomic uint64_t handler_ns;      /* sum over what came late */
    _Atomic uint64_t outstanding_max; /* instances outstanding when a call returned */
    /* Of nonblocking calls: from start to completion, not in waits or tests. */
    _Atomic uint64_t hidden_ns;
    uint64_t reserved4[2];
    uint8_t kind4; /* SG_RECORD_CONT */
    uint8_t reserved5[7];
    /* Of the call itself: of a nonblocking one its start. */
    _Atomic uint64_t own_ns;
    _Atomic uint64_t own_min_ns;
    _Atomic uint64_t own_max_ns;
    _Atomic double own_square; /* sum of the squares, in ns^2 */
    /* Of nonblocking calls: from their begin to their completion. */
    _Atomic uint64_t latency_min_ns;
    _Atomic uint64_t latency_max_ns;
    uint64_t reserved6;
};

/* One call of MPI that is in no record of collectives; not a test that found nothing.
 *
 * A call that posts one message is that message's post, too: its request is known by this record's
 * slot (struct sg_record_request). What a call posts otherwise (MPI_Isendrecv, MPI_Start), and all
 * that it completes, has records of its own, behind this one. MPI_Mprobe posts its message's
 * receive. Calls that wait are there when they begin, without flags: peers and tags are as asked
 * for. One that an exception or longjmp has left ends, as failed, when its thread's next begins.
 * Those of calls on windows are as trace/record.h says. */
enum sg_event_flags {
    SG_EVENT_FAILED = 1,   /* the call returned an error */
    SG_EVENT_SENDS = 2,    /* to, to_tag, sent_bytes are of a message */
    SG_EVENT_RECEIVES = 4, /* from, from_tag, received_bytes are of one; of a post what was asked */
    SG_EVENT_POSTS = 8,    /* ... which a request, or MPI_Mrecv, completes */
    SG_EVENT_ROOTED = 16,  /* to is the root of a collective, between groups a remote one */
    SG_EVENT_ORDERED = 32, /* from_tag: its place among all collectives of its communicator */
    SG_EVENT_TARGETS = 64, /* to is the target of a one-sided operation */
};

#define SG_EVENT_ROOT_HERE (-3) /* between groups, on the root itself; -1 on others of its group */

struct sg_record_event {
    _Atomic uint8_t kind;
    uint8_t flags; /* enum sg_event_flags */
    uint16_t thread;
    uint32_t site;
    uint32_t comm;     /* as the profile numbers them; 0: none */
    uint32_t function; /* struct sg_record_function */
    uint64_t begin_ns;
    _Atomic uint64_t end_ns; /* 0: open */
    int32_t to, to_tag;      /* ranks of the communicator; < 0: none, or any */
    int32_t from, from_tag;
    uint64_t sent_bytes, received_bytes;
};

enum sg_request_event {
    SG_REQUEST_SEND = 1,    /* begins: a persistent one, or a part of MPI_Isendrecv */
    SG_REQUEST_RECEIVE = 2, /* likewise; peer and tag as asked */
    SG_REQUEST_SENT = 3,
    SG_REQUEST_RECEIVED = 4,
    SG_REQUEST_COMPLETE = 5, /* of what is no message to or from a rank, or of one that failed */
    SG_REQUEST_CANCELLED = 6,
    SG_REQUEST_FREED = 7,
    SG_REQUEST_PREPARED = 8, /* begins: a partitioned message, which no others are matched with; or
                                a persistent collective: peer is its root as in sg_record_event, tag
                                the place of the call that made it, as with SG_EVENT_ORDERED */
};

/* What happens to a request in the call whose record comes before it on its thread. */
struct sg_record_request {
    _Atomic uint8_t kind;
    uint8_t what; /* enum sg_request_event */
    uint16_t thread;
    uint32_t site;     /* of the call that made the request */
    uint32_t comm;     /* as in struct sg_record_event */
    uint32_t function; /* that made it */
    uint64_t time_ns;
    uint64_t request; /* slot of the record that began it; of those that begin: their own */
    int32_t peer, tag;
    uint64_t bytes;
    /* Of a persistent collective that begins, whose bytes are those sent. */
    uint64_t received_bytes;
    uint32_t start; /* how often it has begun, from 1; 0: it is not known, or no collective */
    uint32_t reserved;
};

/* Messages that have no record, of the communicator, ranks and tag of a message that has one: so
 * many come before it in the order in which messages are matched with those at their other end. */
struct sg_record_gap {
    _Atomic uint8_t kind;
    uint8_t is_send; /* of what the record tells the send; else the receive */
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

#define SG_RECORD_IS_SLOT(type) _Static_assert(sizeof(struct type) == SG_SLOT_BYTES, #type)

SG_RECORD_IS_SLOT(sg_record_call);
SG_RECORD_IS_SLOT(sg_record_nonblocking);
SG_RECORD_IS_SLOT(sg_record_late);
SG_RECORD_IS_SLOT(sg_record_site);
SG_RECORD_IS_SLOT(sg_record_site_name);
SG_RECORD_IS_SLOT(sg_record_comm);
SG_RECORD_IS_SLOT(sg_record_clock);
SG_RECORD_IS_SLOT(sg_record_marker);
SG_RECORD_IS_SLOT(sg_record_event);
SG_RECORD_IS_SLOT(sg_record_request);
SG_RECORD_IS_SLOT(sg_record_gap);
SG_RECORD_IS_SLOT(sg_record_arm);
SG_RECORD_IS_SLOT(sg_record_cont);
SG_RECORD_IS_SLOT(sg_record_function);
SG_RECORD_IS_SLOT(sg_record_profile_comm);
SG_RECORD_IS_SLOT(sg_record_peer);
SG_RECORD_IS_SLOT(sg_record_distribution);
SG_RECORD_IS_SLOT(sg_record_window);
SG_RECORD_IS_SLOT(sg_record_group);
SG_RECORD_IS_SLOT(sg_record_causes);
SG_RECORD_IS_SLOT(sg_record_source);
SG_RECORD_IS_SLOT(sg_figure_slot);

#define SG_INTERVAL_SLOTS (1u + SG_FIGURE_SLOTS)

_Static_assert(sizeof(struct sg_record_interval) == SG_INTERVAL_SLOTS * SG_SLOT_BYTES,
               "sg_record_interval");

_Static_assert(sizeof(struct sg_record_interval_sum) == SG_INTERVAL_SLOTS * SG_SLOT_BYTES,
               "sg_record_interval_sum");

#define SG_STAT_SLOTS 4u

_Static_assert(sizeof(struct sg_record_stat) == SG_STAT_SLOTS * SG_SLOT_BYTES, "sg_record_stat");

_Static_assert(sizeof(struct sg_record_slice) == SG_SLICE_SLOTS * SG_SLOT_BYTES, "sg_record_slice");

_Static_assert(sizeof(struct sg_record_slice_sum) == SG_SLICE_SUM_SLOTS * SG_SLOT_BYTES,
               "sg_record_slice_sum");

#define SG_PROFILE_SLOTS 2u

_Static_assert(sizeof(struct sg_record_profile) == SG_PROFILE_SLOTS * SG_SLOT_BYTES,
               "sg_record_profile");

static inline uint8_t sg_size_class(uint64_t bytes)
{
    return bytes == 0 ? 0 : (uint8_t)(64 - __builtin_clzll(bytes));
}

#endif
