/* Explains why ranks come late to collectives, so that others wait there.
 *
 * Each member of an instance left the collective before it on the communicator, and came to this
 * one. Its path shows what took it so long. The path is followed back from its arrival through its
 * own intervals and calls and, where a call waited for another rank, through that rank's until it
 * was ready, and so on. The last member's path is compared with that of each other one: the other
 * waits for the excess of the last one's path, split by kind of time and by the rank that spent it.
 * Kinds of which a path has less reduce the excess of all others in proportion.
 *
 * Only instances count for which the intervals of all members were sampled (STAGGER_CAUSES). If
 * figures do not decide, the cause is "not told apart". The method is that of delays (Boehme et
 * al., Identifying the Root Causes of Wait States, TOPC 2016), with kinds of time.
 */
#ifndef SG_REPORT_CAUSE_TABLE_H
#define SG_REPORT_CAUSE_TABLE_H

#include "report/wait_sums.h"

#include <stdbool.h>
#include <stdint.h>

enum sg_cause {
    SG_CAUSE_COMPUTING,         /* longer on a processor, by its own code */
    SG_CAUSE_WORK,              /* ... by more instructions */
    SG_CAUSE_SLOWER,            /* ... by fewer instructions a cycle, or fewer cycles a second */
    SG_CAUSE_FAULTS,            /* longer on a processor, in the kernel, with more page faults */
    SG_CAUSE_KERNEL,            /* ... without */
    SG_CAUSE_PREEMPTED,         /* runnable, but not on a processor; it is not known who was */
    SG_CAUSE_PREEMPTED_THREADS, /* ... other threads of its process */
    SG_CAUSE_PREEMPTED_OTHERS,  /* ... other processes */
    SG_CAUSE_THROTTLED,         /* its control group had used up its quota */
    SG_CAUSE_IO,                /* asleep in intervals that read or wrote blocks */
    SG_CAUSE_ASLEEP,            /* asleep in other intervals */
    /* Longer in calls of MPI, without waiting for a rank. */
    SG_CAUSE_CALLS_BUSY,      /* on a processor */
    SG_CAUSE_CALLS_PREEMPTED, /* the four as above */
    SG_CAUSE_CALLS_PREEMPTED_THREADS,
    SG_CAUSE_CALLS_PREEMPTED_OTHERS,
    SG_CAUSE_CALLS_THROTTLED,
    SG_CAUSE_CALLS_ASLEEP,
    SG_CAUSE_CALLS,   /* not attributed further */
    SG_CAUSE_LEFT,    /* left the collective before this one later; likewise */
    SG_CAUSE_UNKNOWN, /* not known */
    SG_CAUSES
};

/* "computing", ... */
extern const char *const sg_cause_names[SG_CAUSES];

/* The meaning of each cause, in one line. */
extern const char *const sg_cause_texts[SG_CAUSES];

/* True if the cause is time in calls, not between them. */
static inline bool sg_cause_is_in_calls(enum sg_cause cause)
{
    return cause >= SG_CAUSE_CALLS_BUSY && cause <= SG_CAUSE_LEFT;
}

/* True if processes that share the processors are the cause. */
static inline bool sg_cause_is_crowding(enum sg_cause cause)
{
    return cause == SG_CAUSE_PREEMPTED || cause == SG_CAUSE_PREEMPTED_OTHERS ||
           cause == SG_CAUSE_CALLS_PREEMPTED || cause == SG_CAUSE_CALLS_PREEMPTED_OTHERS;
}

/* A cause on a rank. */
struct sg_cause_row {
    struct sg_waitstate_place at; /* must be first; the site's, as is site_ns */
    uint64_t site_ns;             /* sum of the last rank's lateness there */
    enum sg_cause cause;
    uint32_t rank; /* the rank where it began: not always the one that came last */
    uint64_t ns;   /* part of the time that others waited at the site */
    /* 95 % intervals over instances: of the time, and of its share of site_ns; NAN: too few. */
    double low_ns, high_ns, low_share, high_share;
    uint64_t instances; /* number of instances in which it had a part */
    uint32_t steps;     /* most links back from the rank that came last; 0: it is that rank */
    /* Ends of the longest interval, of all instances; function NULL: not known. For causes in
     * calls, `until` is the longest call, and there is no `after`. */
    struct sg_waitstate_place after, until;
};

/* A collective at a call site, which is that of its last rank. */
struct sg_cause_site {
    struct sg_waitstate_place at; /* must be first */
    uint64_t instances;           /* with known causes */
    uint64_t late_ns;          /* sum of the last rank's lateness, compared with each other rank */
    struct sg_cause_row *rows; /* largest first; owned */
    uint32_t row_count;
};

/* A rank's part in the lateness of an instance's last rank. */
struct sg_cause_link {
    uint32_t rank;
    int64_t from_ns, to_ns;                 /* since the run's start */
    double ns[SG_CAUSES];                   /* time by cause; they add up to its length */
    struct sg_waitstate_place after, until; /* ends of its longest interval */
    /* The call in which the rank of the link before waited for this one until to_ns; function NULL:
     * there is none. */
    struct sg_waitstate_place waited;
};

/* One of the instances in which others waited longest: the last rank's path, back to where it
 * began. */
struct sg_cause_chain {
    struct sg_waitstate_place at; /* call site of the last rank */
    uint64_t late_ns;             /* as in struct sg_cause_site */
    uint32_t first_rank;          /* the rank that came first, and when */
    int64_t first_ns;
    /* The main cause. */
    enum sg_cause cause;
    uint32_t cause_rank;
    uint64_t cause_ns;
    struct sg_cause_link *links; /* the last rank's first; owned */
    uint32_t link_count;
};

#define SG_CAUSE_CHAINS 8u

struct sg_causes_found {
    struct sg_cause_site *sites; /* most lateness first */
    uint32_t site_count;
    uint64_t instances, late_ns;
    uint64_t unsampled;            /* number of instances without known causes */
    struct sg_cause_chain *chains; /* most lateness first; one for each of the worst sites */
    uint32_t chain_count;
};

/* Returns the collective of this name at this call site (index in the aggregate); NULL: nothing is
 * known of it, or found is NULL. */
const struct sg_cause_site *sg_causes_at(const struct sg_causes_found *found, const char *function,
                                         uint32_t site);
void sg_causes_found_free(struct sg_causes_found *found);

/* Splits additional time on a processor as far as figures allow: into kernel and program and, with
 * counters, into more instructions and slower ones. Splits runnable time by who had the processor.
 *
 * The kernel counts its time and the program's by ticks, which are right in the mean: split only
 * sums over many intervals.
 */

/* Excess over those that it is compared with. */
struct sg_cause_more {
    double ns;                 /* on a processor; above 0 */
    double user_ns, system_ns; /* by ticks; valid if has_usage */
    double faults;             /* likewise */
    double work_ns; /* time of additional instructions at the others' speed; NAN: not known */
    bool has_usage;
};

/* Splits the time by cause into shares that add up to 1: SG_CAUSE_COMPUTING to SG_CAUSE_KERNEL
 * only. */
void sg_cause_split(const struct sg_cause_more *more, double shares[SG_CAUSES]);
/* Splits runnable time likewise. cause: SG_CAUSE_PREEMPTED or SG_CAUSE_CALLS_PREEMPTED. here_ns:
 * the process's other threads had the thread's processor. elsewhere_ns: they ran for so long, and
 * may have been there, too. */
void sg_cause_split_preempted(enum sg_cause cause, double ns, double here_ns, double elsewhere_ns,
                              double shares[SG_CAUSES]);

#endif
