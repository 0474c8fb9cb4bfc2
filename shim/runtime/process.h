/* What every part of the library knows of this process: its rank, the settings of all ranks, the
 * log.
 *
 * runtime/start.c fills it in MPI_Init and empties it in MPI_Finalize; in between it is constant,
 * except for the two flags.
 */
#ifndef SG_RUNTIME_PROCESS_H
#define SG_RUNTIME_PROCESS_H

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
    atomic_bool recording; /* calls are logged (MPI_Pcontrol) */
    int rank;              /* in MPI_COMM_WORLD */
    int size;
    MPI_Comm world; /* our duplicate of MPI_COMM_WORLD */
    struct sg_config config;
    struct sg_ruleset *rules;
    bool by_site[SG_OPERATION_COUNT]; /* the chosen algorithm may depend on the call site */
    bool has_trials;
    struct sg_exchange exchange;               /* over our duplicate */
    struct sg_log *log;                        /* NULL: nothing is recorded */
    const struct sg_companion *companion;      /* NULL: some rank could not load it */
    int (*backtrace)(void **frames, int size); /* libunwind's; NULL: not loaded */
    uint64_t machine;
    struct sg_clocksync *clocks; /* NULL: nothing is recorded */
    char directory[4096];        /* of output; "": none */
    char word[SG_WORD_BYTES];    /* the directory, quoted for a shell if need be */
    const char *directory_word;  /* the directory as a word of a command line */
};

extern struct sg_process sg_process;

/* Relaxed: a wrapper that reads an old value behaves as if it had been called a moment earlier. */
static inline bool sg_process_running(void)
{
    return atomic_load_explicit(&sg_process.running, memory_order_relaxed);
}

/* Whether this rank prints the messages that concern the whole job. */
static inline bool sg_process_speaks(void)
{
    return sg_process.rank == 0 && !sg_process.config.quiet;
}

#endif
