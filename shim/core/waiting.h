/* Wait modes, the epoch of buffered coscheduling, and the configuration table.
 *
 * Wait modes and statistics: a rank writes them to its log, and a run's archive and reports add
 * them up. The configuration: every STAGGER_* variable with its default, documentation and parser,
 * the values in force, and the rules as text, which shim/rule parses. */
#ifndef SG_CORE_WAITING_H
#define SG_CORE_WAITING_H

#include "core/clocksync.h"
#include "core/exchange.h"
#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values of STAGGER_WAIT. Stored in logs by number: append only. */
enum sg_wait_mode { SG_WAIT_AUTO, SG_WAIT_SPIN, SG_WAIT_YIELD, SG_WAIT_SLEEP, SG_WAIT_MODE_COUNT };

/* "auto", ...; ends with NULL. */
extern const char *const sg_wait_mode_names[SG_WAIT_MODE_COUNT + 1];

#define SG_WAIT_HOOK_BYTES 16 /* of a hook's name, with its NUL */

/* Hooks (wait/hook.h), in the order in which they are tried. */
struct sg_wait_hook_entry {
    const char *name;
    const char *symbol; /* MPICH's library imports it if the hook works; NULL: the hook is a
                         * setting */
};

/* Ends with a NULL name. */
extern const struct sg_wait_hook_entry sg_wait_hooks[];

/* One rank's wait statistics. */
struct sg_waiting {
    uint32_t told;             /* 1: reported; 0: the rest is unknown */
    uint32_t mode;             /* enum sg_wait_mode */
    int32_t ranks;             /* of its machine; 0: unknown */
    int32_t processors;        /* that these ranks may use */
    int32_t quota;             /* processors by their control groups; 0: no limit */
    uint32_t spinning_threads; /* of OpenMP, which spin while they wait for work; 0: none known */
    uint32_t apart; /* 1: the kernel's autogroups separate them (wait/scheduling_group.h) */
    char hook[SG_WAIT_HOOK_BYTES];               /* "": none */
    uint64_t yields, yield_ns, sleeps, sleep_ns; /* over its threads */
};

#define SG_WAIT_HOST_BYTES 128

/* Wait statistics of a run. */
struct sg_run_waiting {
    uint64_t told; /* ranks that reported; 0: the rest is unknown */
    uint64_t mode; /* enum sg_wait_mode; mode and hook are those of the lowest such rank */
    char hook[SG_WAIT_HOOK_BYTES];
    /* The machine with the fewest processors per rank. */
    char host[SG_WAIT_HOST_BYTES];
    uint64_t ranks, processors, quota;
    uint64_t spinning_threads; /* of the rank that has the most */
    uint64_t short_ranks;      /* ranks on all machines with fewer processors than ranks */
    uint64_t apart_ranks;      /* ... of those, ranks that the kernel's autogroups separate */
    uint64_t yields, yield_ns, sleeps, sleep_ns; /* over all ranks */
};

/* Processors for the ranks of the machine with the fewest per rank. */
static inline uint64_t sg_waiting_processors(const struct sg_run_waiting *run)
{
    return run->quota > 0 && run->quota < run->processors ? run->quota : run->processors;
}

/* True if threads that spin keep processors from the threads that they wait for. */
static inline bool sg_waiting_has_spinning(const struct sg_run_waiting *run)
{
    return run->spinning_threads > 1 && run->processors > 0 &&
           run->spinning_threads > sg_waiting_processors(run) / run->ranks;
}

/* True if the rank's machine has fewer processors than ranks, or a smaller quota. */
bool sg_waiting_is_short(const struct sg_waiting *rank);
/* Call in order of rank. *run is all zeros at first. */
void sg_waiting_add(struct sg_run_waiting *run, const struct sg_waiting *rank, const char *host);

/* ---- epoch from which slices of buffered coscheduling are counted ----
 *
 * It is the same moment on all machines, by the clock offsets that MPI_Init measures
 * (docs/decisions/09). */

/* Collective over the exchange. Sets *epoch_ns to rank 0's present time on this machine's clock.
 * clocks NULL: measures the clocks. If the status is not SG_OK, *epoch_ns is this rank's present
 * time. */
enum sg_status sg_epoch_agree(const struct sg_exchange *exchange, uint64_t machine,
                              uint64_t (*clock_ns)(void), const struct sg_clocksync *clocks,
                              uint64_t *epoch_ns);

/* ---- configuration --------------------------------------------------------------------------- */

#define SG_CONFIG_FILE_VARIABLE "STAGGER_CONFIG"

/* Source of a rule; the numbers are the order of precedence. */
enum sg_config_rule_kind {
    SG_CONFIG_RULE_NONE = 0,  /* not a rule */
    SG_CONFIG_RULE_TRIAL = 1, /* STAGGER_TRIAL: algorithms that alternate at a call site */
    SG_CONFIG_RULE_SITE = 2,  /* STAGGER_SITE_<id>: an algorithm for one call site */
    SG_CONFIG_RULE_RULES = 3, /* STAGGER_RULES: one or more rules, separated by ';' */
    SG_CONFIG_RULE_FILE = 4,  /* a rule line of the configuration file */
    SG_CONFIG_RULE_SHORT = 5, /* STAGGER_REDUCE and the like: an algorithm for one operation */
};

/* Text as the user wrote it; shim/rule parses it. */
struct sg_config_rule {
    enum sg_config_rule_kind kind;
    char *name;   /* the variable, with an id in lower case; "" for a rule line */
    char *source; /* for messages: "STAGGER_RULES", "stagger.conf:12", ... */
    char *text;
};

struct sg_config {
    int trace;            /* enum sg_trace_mode */
    char *directory;      /* "": stagger-<program>-<id> */
    uint64_t trace_bytes; /* per rank */
    char *calls, *events; /* globs of function names, separated by commas */
    int depth;            /* frames in a call site's id, 1..16 */
    int causes;           /* enum sg_causes_mode */
    bool quiet;
    bool calibrate;        /* measure costs at start if events are recorded */
    int ranks_per_node;    /* of virtual nodes on one machine; 0: all of the machine's ranks */
    int setup_after;       /* barriers and allreduces on a communicator before its setup */
    uint64_t count_from;   /* first number of a collective */
    int slots;             /* collectives that a rank may run ahead; a power of two */
    int wait;              /* enum sg_wait_mode */
    int wait_hook;         /* 0: none, 1: auto */
    int stall_s;           /* waits longer than this are reported; 0: never */
    int progress;          /* enum sg_progress_mode */
    int signal;            /* signal number, for progress by signals */
    uint64_t memory_bytes; /* limit of the memory that the job shares on a machine */
    int single_copy;       /* 0: off, 1: auto */
    int trial_block;       /* collectives of a communicator until a trial's next candidate */
    int trial_seed;        /* seed of the candidates' order */
    char *verbs_device;    /* "": any */
    int verbs_port, verbs_gid_index, verbs_mtu; /* -1: chosen automatically */
    int verbs_partition;                        /* -1: the port's first */
    int verbs_service_level, verbs_traffic_class;
    int verbs_multicast;          /* 0: off, 1: auto */
    int verbs_senders;            /* processes of a node that have connections */
    uint64_t verbs_memory_bytes;  /* limit of the memory that a process registers */
    int mmds;                     /* 0: off, 1: on */
    char *mmds_ranks;             /* "": all */
    char *mmds_calls;             /* globs of functions; "": none */
    int mmds_bins;                /* per doubling; a power of two */
    int emds;                     /* 0: off, 1: on */
    char *emds_nodes;             /* "": all */
    char *emds_metrics;           /* separated by commas; "": all */
    char *emds_slices;            /* "FIRST-LAST"; "": all */
    int emds_every;               /* records every emds_every-th slice */
    char *config_file;            /* "" : none */
    struct sg_config_rule *rules; /* in order of precedence */
    int rule_count;
    uint64_t from_environment; /* bit i: sg_config_entries[i] was set in the environment */
    uint64_t from_file;        /* ... or in the file */
};

/* One variable. docs/libstagger.7 describes the variables by this table alone: `make manual` writes
 * its part, tests/cli/manuals.sh compares it. In texts, `word` is printed bold there. */
struct sg_config_entry {
    const char *name;         /* "STAGGER_TRACE"; a prefix if it ends in '_' */
    const char *default_text; /* as a user would write it */
    const char *summary;      /* one sentence, without `; `stagger info` prints it */
    const char *details;      /* more sentences; NULL: none */
    const char *heading;      /* of the group that begins here; NULL: the same group */
    const char *placeholder;  /* of the value: "N", "PATH"; NULL: words lists the values */
    /* SG_ERR_SYNTAX: invalid value, *config is unchanged. NULL: a rule, which shim/rule parses. */
    enum sg_status (*parse)(const char *text, const struct sg_config_entry *entry,
                            struct sg_config *config);
    /* Prints the value as a user would write it, cut if too long. NULL for a rule. */
    void (*print)(const struct sg_config_entry *entry, const struct sg_config *config, char *text,
                  int size_bytes);
    const char *expected;     /* for error messages: "otf2, stats or off" */
    size_t field;             /* offset in struct sg_config, for shared parsers */
    double low, high;         /* range, for numbers */
    const char *const *words; /* ended by NULL, indexed by the value of words; NULL: other types */
    enum sg_config_rule_kind rule;
};

/* Capacity for any value that print writes. */
#define SG_CONFIG_VALUE_BYTES 4096

extern const struct sg_config_entry sg_config_entries[];

extern const int sg_config_entry_count;

/* Returns a variable's entry, also by prefix, or NULL. */
const struct sg_config_entry *sg_config_find(const char *name);
/* Sets out to the defaults. SG_ERR_MEMORY: *out is empty. */
enum sg_status sg_config_defaults(struct sg_config *out);
void sg_config_clear(struct sg_config *config);
void sg_config_clear_rule(struct sg_config_rule *rule);
/* Checks a value of the named variable, which is no rule. If it is invalid, logs one line that
 * begins with source ("--trace") and returns SG_ERR_SYNTAX. */
enum sg_status sg_config_check(const char *source, const char *name, const char *value);

#endif
