/* State of this process, and steps of MPI_Init that fill it: rank 0's configuration for all ranks,
 * calibration, and the libraries loaded at run time (libunwind, OTF2 companion, RDMA).
 *
 * These steps are collective over the exchange, only in MPI_Init; all ranks succeed or none does.
 */
#ifndef SG_RUNTIME_SETTINGS_H
#define SG_RUNTIME_SETTINGS_H

#include "core/clocksync.h"
#include "core/config.h"
#include "core/exchange.h"
#include "core/text.h"
#include "rule/rule.h"
#include "trace/export/export.h"
#include "trace/log.h"
#include "transport/transport.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The state of this process for every part of the library: its rank, the settings of all ranks, the
 * log.
 *
 * runtime/start.c fills it in MPI_Init and empties it in MPI_Finalize; in between it is constant,
 * except for the two flags.
 */

struct sg_process {
    atomic_bool running;   /* true: calls are managed */
    atomic_bool recording; /* true: calls are logged (MPI_Pcontrol) */
    int rank;              /* in MPI_COMM_WORLD */
    int size;
    MPI_Comm world; /* the library's duplicate of MPI_COMM_WORLD */
    struct sg_config config;
    struct sg_ruleset *rules;
    bool by_site[SG_OPERATION_COUNT]; /* the chosen algorithm may depend on the call site */
    bool has_trials;
    struct sg_exchange exchange;               /* over world */
    struct sg_log *log;                        /* NULL: nothing is recorded */
    const struct sg_companion *companion;      /* NULL: some rank could not load it */
    int (*backtrace)(void **frames, int size); /* libunwind's; NULL: not loaded */
    uint64_t machine;
    struct sg_clocksync *clocks; /* NULL: nothing is recorded */
    char directory[4096];        /* of output; "": none */
    char word[SG_WORD_BYTES];    /* the directory, quoted for a shell if necessary */
    const char *directory_word;  /* the same, as a word of a command line */
};

extern struct sg_process sg_process;

/* Relaxed: a wrapper that reads an old value behaves as if it had been called a moment earlier. */
static inline bool sg_process_running(void)
{
    return atomic_load_explicit(&sg_process.running, memory_order_relaxed);
}

/* True if this rank prints messages about the whole job. */
static inline bool sg_process_speaks(void)
{
    return sg_process.rank == 0 && !sg_process.config.quiet;
}

/* Reads every rank's configuration, warns once if they differ, gives rank 0's to all ranks, and
 * parses its rules. */
enum sg_status sg_settings_agree(struct sg_process *process);

/* ---- calibration of a recorded run ----
 *
 * Chooses the ranks to measure between, and writes the costs to the logs. Collective over
 * MPI_COMM_WORLD; only in MPI_Init, when every rank has its log open.
 */

/* Best effort: a cost that cannot be measured is not recorded. */
void sg_calibrate_run(struct sg_process *process);

/* ---- libraries loaded when the program starts MPI ----
 *
 * They are loaded with RTLD_LOCAL: no symbol of libunwind, OTF2 or libdw may reach the
 * application's scope (a preloaded libunwind, for example, would replace the C++ library's
 * _Unwind_RaiseException).
 */

/* Sets process->backtrace, and process->companion on all ranks or on none. One line reports a
 * library that cannot be loaded. Collective over the exchange. */
void sg_libraries_load(struct sg_process *process);

/* ---- RDMA to other machines ----
 *
 * Starts the companion library in MPI_Init if the job runs on several machines. If some rank cannot
 * use it, no rank does, and one line says why.
 */

/* Collective over process->exchange, after sg_placement_start. */
enum sg_status sg_rdma_start(const struct sg_process *process);
/* NULL, the same on all ranks, if there is no RDMA. */
const struct sg_transport_ops *sg_rdma_ops(void);
/* Returns the name of a world rank's machine; only if RDMA is used. */
const char *sg_rdma_host(int world_rank);
/* Call when the last communicator's engine is freed. */
void sg_rdma_stop(void);
/* Call in the child of a fork. */
void sg_rdma_forget(void);

#endif
