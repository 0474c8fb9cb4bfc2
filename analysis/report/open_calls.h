/* The MPI calls that a run's ranks are in, or were in when they ended, read from the logs of a run
 * that has not reached the end of MPI_Finalize on all ranks: groups of ranks in the same call, the
 * ranks that others wait for, and a cycle of waits.
 *
 * Each thread keeps its call in its log (struct sg_record_thread), so this works for ranks that
 * were killed, with events and without. A rank contributes each call that one of its threads is
 * in, and the last call of the thread that called MPI_Init if that thread is in none.
 *
 * Functions that return a status return SG_OK or SG_ERR_MEMORY, which they do not log. Not
 * thread-safe.
 */
#ifndef SG_REPORT_OPEN_CALLS_H
#define SG_REPORT_OPEN_CALLS_H

#include "core/status.h"
#include "output/json_output.h"
#include "report/report.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct sg_aggregate;
struct sg_log_set;
struct sg_logread;
struct sg_record_profile_comm;

enum sg_open_state {
    SG_OPEN_RUNS,
    SG_OPEN_FINALIZES, /* it is in MPI_Finalize */
    SG_OPEN_DIED,      /* it ended before MPI_Finalize */
    SG_OPEN_ABORTED,   /* it called MPI_Abort */
    SG_OPEN_FINISHED,
    SG_OPEN_UNKNOWN, /* it has no log that can be read */
    SG_OPEN_STATES
};

#define SG_OPEN_NOBODY (-1)
#define SG_OPEN_ANY (-2)
#define SG_OPEN_NO_COMM UINT32_MAX
#define SG_OPEN_LONG_NS UINT64_C(1000000000)

struct sg_rank_call {
    uint32_t rank, thread;
    bool is_open;         /* false: its thread has left it and is outside MPI */
    bool tests;           /* it does not wait; the program calls it again and again */
    const char *function; /* "MPI_Recv"; NULL: the thread has made no call */
    uint32_t site;        /* index in the aggregate */
    struct sg_report_site place;
    uint32_t comm;    /* index of its communicator in `comms`, or SG_OPEN_NO_COMM */
    uint32_t order;   /* 1 + its index among the communicator's collectives; 0: none, not known */
    int64_t to, from; /* ranks of MPI_COMM_WORLD, or SG_OPEN_NOBODY or ANY; to: also a root */
    int64_t tag;      /* -1: none, or any */
    int64_t since_ns; /* begin of the call, or its end if it is not open, from the run's start */
    bool has_age;     /* age_ns is known: the rank runs, or has just ended */
    uint64_t age_ns;
};

struct sg_open_comm {
    uint64_t key;
    char *name;
    uint32_t *members; /* ranks of MPI_COMM_WORLD by rank, of both groups; NULL: not known */
    uint32_t count, own_count;
    bool is_inter, is_world;
};

/* Calls of the same function, site, communicator and number, all open or none. */
struct sg_open_group {
    enum sg_open_state state;
    uint32_t first, count; /* in `calls` */
};

/* Ranks that have not come to a collective that others are in, or whose messages others await. */
struct sg_open_absence {
    uint32_t group;  /* that waits */
    uint32_t *ranks; /* ascending */
    uint32_t count;
};

struct sg_open_calls {
    uint32_t rank_count, living;
    enum sg_open_state *states;
    struct sg_rank_call *calls; /* by group, then by rank */
    uint32_t call_count;
    struct sg_open_comm *comms;
    uint32_t comm_count;
    struct sg_open_group *groups; /* the largest first */
    uint32_t group_count;
    struct sg_open_absence *absences;
    uint32_t absence_count;
    uint32_t *cycle; /* each waits for the next, the last one for the first */
    uint32_t cycle_count;
    uint32_t run_end; /* as in struct sg_log_header; 0: not known */
    uint32_t *idle;   /* ranks that ended before MPI_Finalize and waited in no call */
    uint32_t idle_count;
    char **names; /* of functions */
    uint32_t name_count;
};

/* Reads the calls, and adds their sites to the aggregate. just_ended: the run ended at this moment.
 * *out: NULL if all ranks have finished. */
enum sg_status sg_open_calls_read(const struct sg_log_set *set, struct sg_aggregate *aggregate,
                                  bool just_ended, struct sg_open_calls **out);
/* Makes groups, absences and the cycle from states, calls and comms. */
enum sg_status sg_open_calls_judge(struct sg_open_calls *open);
void sg_open_calls_free(struct sg_open_calls *open);

/* The same for a communicator in all logs; 0: its ranks cannot be joined with those of others. */
uint64_t sg_open_comm_key(const struct sg_record_profile_comm *record);
/* Takes the members, unless they are known, from the record of a log that has them (of its rank
 * 0). */
enum sg_status sg_open_comm_take(struct sg_open_comm *comm, const struct sg_logread *log,
                                 const struct sg_record_profile_comm *record, uint32_t ranks);
/* Converts a rank of the communicator, of `own`'s peers there, to one of MPI_COMM_WORLD, which has
 * `ranks`. In an intercommunicator it is one of the other group. SG_OPEN_NOBODY: not known. */
int64_t sg_open_comm_world(const struct sg_open_comm *comm, uint32_t ranks, uint32_t own,
                           int64_t rank);

/* True if a call is likely to hang: its run has ended, or it has lasted a second. */
static inline bool sg_open_call_lasts(const struct sg_rank_call *call)
{
    return !call->has_age || call->age_ns >= SG_OPEN_LONG_NS;
}

/* Notes in the logs of the run's ranks that did not finish how the run ended. exit_status: as a
 * shell has it; is_told: a signal told the run to end. */
void sg_open_calls_note_end(const char *directory, int exit_status, bool is_told);
/* True if there is a rank that probably ended before the others did: the only one that waited in no
 * call, in a run that no signal told to end. */
bool sg_open_calls_has_first(const struct sg_open_calls *open);

/* Receives a fact, or the call of a group, whose label names the ranks. */
typedef void (*sg_open_line)(void *context, const char *label, bool is_group, char *text);
/* Passes at most about a dozen lines. open: NULL: none. only_lasting: leave out calls that do not
 * last. Returns their number. */
uint32_t sg_open_calls_each(const struct sg_open_calls *open, const struct sg_report *report,
                            bool only_lasting, sg_open_line line, void *context);
json_t *sg_open_calls_json(const struct sg_open_calls *open); /* NULL: null */

#endif
