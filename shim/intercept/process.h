/* This process's part in a run: from the return of MPI_Init to the call of MPI_Finalize stagger is
 * running; before, after, and in everything that is not an MPICH program it is inert.
 *
 * Not running: processes without MPI, launchers, children of fork, spawned processes, programs
 * that use only sessions, programs under a foreign MPI.
 */
#ifndef SG_INTERCEPT_PROCESS_H
#define SG_INTERCEPT_PROCESS_H

#include "core/clocksync.h"
#include "core/config.h"
#include "core/exchange.h"
#include "core/text.h"
#include "rule/rule.h"
#include "trace/export/export.h"
#include "trace/log.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sg_process {
    atomic_bool running;   /* calls are managed */
    atomic_bool recording; /* MPI_Pcontrol: calls are logged */
    int rank;              /* in MPI_COMM_WORLD */
    int size;
    MPI_Comm world; /* our duplicate of MPI_COMM_WORLD */
    struct sg_config config;
    struct sg_ruleset *rules;
    bool by_site[SG_OPERATION_COUNT]; /* the rules' choice may depend on the call site */
    bool has_trials;
    struct sg_exchange exchange;               /* over our duplicate */
    struct sg_log *log;                        /* NULL: nothing is recorded */
    const struct sg_companion *companion;      /* NULL: could not be loaded on some rank */
    int (*backtrace)(void **frames, int size); /* libunwind's; NULL: could not be loaded */
    uint64_t machine;
    struct sg_clocksync *clocks; /* NULL: nothing is recorded */
    char directory[4096];        /* of output; "": none */
    char word[SG_WORD_BYTES];    /* where directory_word needs quotes */
    const char *directory_word;  /* the directory as commands take it */
};

extern struct sg_process sg_process;

/* Relaxed: a wrapper that reads a stale value acts as if it had been called a moment earlier. */
static inline bool sg_process_running(void)
{
    return atomic_load_explicit(&sg_process.running, memory_order_relaxed);
}

/* After a successful MPI_Init or MPI_Init_thread; collective over MPI_COMM_WORLD. begin_ns is
 * when it was entered. */
void sg_process_start(uint64_t begin_ns);

/* At the call of MPI_Finalize, before MPICH's own; collective over MPI_COMM_WORLD. */
void sg_process_finalize(void);

/* At MPI_Abort: local. */
void sg_process_abort(void);

/* MPI_Pcontrol's level; local. */
void sg_process_control(int level);

#endif
