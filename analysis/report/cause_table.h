/* Why ranks come late to collectives, and others wait there.
 *
 * Each member of an instance left the collective before it on the communicator, and came to this
 * one. What took it so long is on its path, followed back from when it came: its own intervals and
 * calls, and where it waited in a call for another rank, that rank's until it was ready, and so on.
 * The last member's path is compared with that of each other one: the time that the other waits is
 * what the last one's path has more, split by what the time was spent with and by the rank that
 * spent it. What a path has less of makes up for some of all that it has more.
 *
 * Only instances are counted of which the intervals of all members were sampled (STAGGER_CAUSES).
 * Where figures do not tell, the cause is "not told apart". The method is that of delays (Boehme et
 * al., Identifying the Root Causes of Wait States, TOPC 2016), with kinds of time.
 */
#ifndef SG_REPORT_CAUSE_TABLE_H
#define SG_REPORT_CAUSE_TABLE_H

#include "report/wait_sums.h"

#include <stdbool.h>
#include <stdint.h>

enum sg_cause {
    SG_CAUSE_COMPUTING, /* longer on a processor, by its own code */
    SG_CAUSE_WORK,      /* ... by more instructions */
    SG_CAUSE_SLOWER,    /* ... by fewer instructions a cycle, or fewer cycles a second */
    SG_CAUSE_FAULTS,    /* longer on a processor, in the kernel, with more page faults */
    SG_CAUSE_KERNEL,    /* ... without */
    SG_CAUSE_PREEMPTED, /* runnable, but not on a processor; the figures do not tell who was */
    SG_CAUSE_PREEMPTED_THREADS, /* ... threads of its own */
    SG_CAUSE_PREEMPTED_OTHERS,  /* ... other processes */
    SG_CAUSE_THROTTLED,         /* its control group had used up its quota */
    SG_CAUSE_IO,                /* asleep in intervals that read or wrote blocks */
    SG_CAUSE_ASLEEP,            /* asleep in others */
    /* Longer in calls of MPI, without waiting for a rank. */
    SG_CAUSE_CALLS_BUSY,      /* on a processor */
    SG_CAUSE_CALLS_PREEMPTED, /* as above, the four */
    SG_CAUSE_CALLS_PREEMPTED_THREADS,
    SG_CAUSE_CALLS_PREEMPTED_OTHERS,
    SG_CAUSE_CALLS_THROTTLED,
    SG_CAUSE_CALLS_ASLEEP,
    SG_CAUSE_CALLS,   /* the figures do not tell more */
    SG_CAUSE_LEFT,    /* it left the collective before this one later; likewise */
    SG_CAUSE_UNKNOWN, /* not told apart */
    SG_CAUSES
};

/* "computing", ... */
extern const char *const sg_cause_names[SG_CAUSES];

/* What it means, in a line. */
extern const char *const sg_cause_texts[SG_CAUSES];

/* Whether it is about time in calls, and not between them. */
static inline bool sg_cause_is_in_calls(enum sg_cause cause)
{
    return cause >= SG_CAUSE_CALLS_BUSY && cause <= SG_CAUSE_LEFT;
}

/* Whether processes that share the processors make it. */
static inline bool sg_cause_is_crowding(enum sg_cause cause)
{
    return cause == SG_CAUSE_PREEMPTED || cause == SG_CAUSE_PREEMPTED_OTHERS ||
           cause == SG_CAUSE_CALLS_PREEMPTED || cause == SG_CAUSE_CALLS_PREEMPTED_OTHERS;
}

/* A cause on a rank. */
struct sg_cause_row {
    struct sg_waitstate_place at; /* first; its site's, as is the next */
    uint64_t site_ns;             /* sum of what the last rank came later there */
    enum sg_cause cause;
    uint32_t rank;          /* where it began: not always the one that came last */
    uint64_t ns;            /* of what others waited at the site */
    double low_ns, high_ns; /* 95 %, over instances; NAN: too few */
    uint64_t instances;     /* in which it had a part */
    uint32_t steps;         /* the most changes of rank from the one that came last; 0: it itself */
    /* The longest interval there, of all instances; function NULL: not known. Where the cause is in
     * calls, `until` is the longest of them, and there is no `after`. */
    struct sg_waitstate_place after, until;
};

/* A collective at a call site: that of its last rank. */
struct sg_cause_site {
    struct sg_waitstate_place at; /* first */
    uint64_t instances;           /* whose causes are known */
    uint64_t late_ns;             /* sum of what the last rank came later than each of the others */
    struct sg_cause_row *rows;    /* the greatest first; owned */
    uint32_t row_count;
};

/* A rank's part in how an instance's last rank came to be late. */
struct sg_cause_link {
    uint32_t rank;
    int64_t from_ns, to_ns;                 /* since the run's start */
    double ns[SG_CAUSES];                   /* how it spent the time between; their sum */
    struct sg_waitstate_place after, until; /* its longest interval there */
    /* The call in which the rank of the link before waited for this one until to_ns; function NULL:
     * there is none. */
    struct sg_waitstate_place waited;
};

/* One of the instances in which others waited longest: the last rank's path back to where it began.
 */
struct sg_cause_chain {
    struct sg_waitstate_place at; /* of the last rank */
    uint64_t late_ns;             /* as in struct sg_cause_site */
    uint32_t first_rank;          /* which came first, and when */
    int64_t first_ns;
    /* What most of it is because of. */
    enum sg_cause cause;
    uint32_t cause_rank;
    uint64_t cause_ns;
    struct sg_cause_link *links; /* the last rank's first; owned */
    uint32_t link_count;
};

#define SG_CAUSE_CHAINS 8u

struct sg_causes_found {
    struct sg_cause_site *sites; /* the latest first */
    uint32_t site_count;
    uint64_t instances, late_ns;
    uint64_t unsampled;            /* instances of which no causes are known */
    struct sg_cause_chain *chains; /* of a site's latest instance, and of the latest sites */
    uint32_t chain_count;
};

/* The collective of this name at this call site (index in the aggregate); NULL: nothing is known of
 * it, or found is NULL. */
const struct sg_cause_site *sg_causes_at(const struct sg_causes_found *found, const char *function,
                                         uint32_t site);
void sg_causes_found_free(struct sg_causes_found *found);

/* What additional time on a processor was spent with, as far as figures tell: kernel or program,
 * and with counters more instructions or slower ones; and who had it while the thread was ready to
 * run.
 *
 * The kernel counts its time and the program's by ticks, which are right in the mean: only sums
 * over many intervals are split.
 */

/* More than those that it is compared with. */
struct sg_cause_more {
    double ns;                 /* on a processor; more than 0 */
    double user_ns, system_ns; /* by ticks; where has_usage */
    double faults;             /* likewise */
    double work_ns; /* the time of additional instructions at the others' speed; NAN: not known */
    bool has_usage;
};

/* Shares of its time by cause, which sum up to 1: SG_CAUSE_COMPUTING to SG_CAUSE_KERNEL only. */
void sg_cause_split(const struct sg_cause_more *more, double shares[SG_CAUSES]);
/* The same of time runnable, of SG_CAUSE_PREEMPTED or SG_CAUSE_CALLS_PREEMPTED: the process's other
 * threads had so much of the thread's processor, and were elsewhere for so long, perhaps there,
 * too. */
void sg_cause_split_preempted(enum sg_cause cause, double ns, double here_ns, double elsewhere_ns,
                              double shares[SG_CAUSES]);

#endif
