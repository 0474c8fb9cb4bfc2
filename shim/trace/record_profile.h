/* The log's records of the profile of all calls: functions, communicators, running statistics,
 * peers and distributions. As trace/record.h says, which includes this.
 */
#ifndef SG_TRACE_RECORD_PROFILE_H
#define SG_TRACE_RECORD_PROFILE_H

#include <stdatomic.h>
#include <stdint.h>

/* A function of MPI that the program called. Text: "MPI_Send\0". */
struct sg_record_function {
    _Atomic uint8_t kind;
    uint8_t mode;  /* enum sg_function_mode (profile/function.h) */
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
 * All members derive the same identity and ordinal without a message (profile/identity.h); of an
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

#endif
