/* How ranks wait: the words for it, what a rank tells of it in its log, and what that comes to over
 * a run, as archives and reports have it.
 */
#ifndef SG_CORE_WAITING_H
#define SG_CORE_WAITING_H

#include "core/clocksync.h"
#include "core/exchange.h"
#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What STAGGER_WAIT names. Stored in logs by number: append only. */
enum sg_wait_mode { SG_WAIT_AUTO, SG_WAIT_SPIN, SG_WAIT_YIELD, SG_WAIT_SLEEP, SG_WAIT_MODE_COUNT };

/* "auto", ...; after the last one NULL. */
extern const char *const sg_wait_mode_names[SG_WAIT_MODE_COUNT + 1];

#define SG_WAIT_HOOK_BYTES 16 /* of a hook's name */

/* A hook (wait/hook.h), in the order in which they are tried. */
struct sg_wait_hook_entry {
    const char *name;
    const char *symbol; /* that MPICH's library calls where the hook serves; NULL: a setting */
};

/* After the last one a NULL name. */
extern const struct sg_wait_hook_entry sg_wait_hooks[];

/* Of one rank. */
struct sg_waiting {
    uint32_t told;      /* 1; 0: the rest is not known */
    uint32_t mode;      /* enum sg_wait_mode */
    int32_t ranks;      /* of its machine; 0: not known */
    int32_t processors; /* that these may use */
    int32_t quota;      /* ... by their control groups; 0: none */
    uint32_t apart;     /* 1: the kernel's autogroups keep them apart (wait/scheduling_group.h) */
    char hook[SG_WAIT_HOOK_BYTES];               /* "": none */
    uint64_t yields, yield_ns, sleeps, sleep_ns; /* over its threads */
};

#define SG_WAIT_HOST_BYTES 128

/* Of a run. */
struct sg_run_waiting {
    uint64_t told; /* ranks that told; 0: the rest is not known */
    uint64_t mode; /* enum sg_wait_mode; this and the hook are the lowest such rank's */
    char hook[SG_WAIT_HOOK_BYTES];
    /* The machine with the fewest processors a rank. */
    char host[SG_WAIT_HOST_BYTES];
    uint64_t ranks, processors, quota;
    uint64_t short_ranks; /* on machines, this one and others, with fewer processors than ranks */
    uint64_t apart_ranks; /* those among them that the kernel's autogroups keep apart */
    uint64_t yields, yield_ns, sleeps, sleep_ns; /* over all ranks */
};

/* Whether the rank's machine has fewer processors than ranks, or a quota of fewer. */
bool sg_waiting_is_short(const struct sg_waiting *rank);
/* Ranks are added in their order to what began as zeros. */
void sg_waiting_add(struct sg_run_waiting *run, const struct sg_waiting *rank, const char *host);

/* From where slices of buffered coscheduling are counted: the same moment on all machines, by the
 * clock offsets that MPI_Init measures (docs/decisions/0048-bcs.md).
 */

/* Collective over the exchange: rank 0's time now, as the clock of this rank's machine has it.
 * clocks NULL: they are measured here. Any status but SG_OK: *epoch_ns is this rank's time now. */
enum sg_status sg_epoch_agree(const struct sg_exchange *exchange, uint64_t machine,
                              uint64_t (*clock_ns)(void), const struct sg_clocksync *clocks,
                              uint64_t *epoch_ns);

/* The configuration table: every STAGGER_* variable, its default, its documentation, its parser. */

#define SG_CONFIG_FILE_VARIABLE "STAGGER_CONFIG"

/* Where a rule stands; the numbers are the order of precedence. */
enum sg_config_rule_kind {
    SG_CONFIG_RULE_NONE = 0,  /* not a rule */
    SG_CONFIG_RULE_TRIAL = 1, /* STAGGER_TRIAL: algorithms that take turns at a place */
    SG_CONFIG_RULE_SITE = 2,  /* STAGGER_SITE_<id>: an algorithm for one call site */
    SG_CONFIG_RULE_RULES = 3, /* STAGGER_RULES: one rule or several, separated by ';' */
    SG_CONFIG_RULE_FILE = 4,  /* a rule line of the configuration file */
    SG_CONFIG_RULE_SHORT = 5, /* STAGGER_REDUCE and its like: an algorithm for one operation */
};

/* Text as the user wrote it; parsing is shim/rule's. */
struct sg_config_rule {
    enum sg_config_rule_kind kind;
    char *name;   /* the variable, an id in lower case; "" for a rule line */
    char *source; /* for messages: "STAGGER_RULES", "stagger.conf:12", ... */
    char *text;
};

struct sg_config {
    int trace;            /* enum sg_trace_mode */
    char *directory;      /* "": stagger-<program>-<id> */
    uint64_t trace_bytes; /* per rank */
    char *calls, *events; /* globs of functions, separated by commas */
    int depth;            /* frames in a call site's id, 1..16 */
    int causes;           /* enum sg_causes_mode */
    bool quiet;
    bool calibrate;        /* measure costs at start, where events are recorded */
    int ranks_per_node;    /* of virtual nodes on one machine; 0: all of a machine's */
    int setup_after;       /* barriers and allreduces on a communicator before its set-up */
    uint64_t count_from;   /* numbers of collectives begin there */
    int slots;             /* collectives a rank may run ahead; a power of two */
    int wait;              /* enum sg_wait_mode */
    int wait_hook;         /* 0: none, 1: auto */
    int stall_s;           /* waits longer than this are reported; 0: never */
    int progress;          /* enum sg_progress_mode */
    int signal;            /* its number, for progress by signals */
    uint64_t memory_bytes; /* the most that the job shares on a machine */
    int single_copy;       /* 0: off, 1: auto */
    int trial_block;       /* collectives of a communicator until a trial's next arm */
    int trial_seed;        /* of the arms' order */
    char *verbs_device;    /* "": any */
    int verbs_port, verbs_gid_index, verbs_mtu; /* -1: chosen */
    int verbs_partition;                        /* -1: the first */
    int verbs_service_level, verbs_traffic_class;
    int verbs_multicast;          /* 0: off, 1: auto */
    int verbs_senders;            /* processes of a node that are connected */
    uint64_t verbs_memory_bytes;  /* the most that a process registers */
    int mmds;                     /* 0: off, 1: on */
    char *mmds_ranks;             /* "": all */
    char *mmds_calls;             /* globs of functions; "": none */
    int mmds_bins;                /* to each doubling; a power of two */
    int emds;                     /* 0: off, 1: on */
    char *emds_nodes;             /* "": all */
    char *emds_metrics;           /* separated by commas; "": all */
    char *emds_slices;            /* "FIRST-LAST"; "": all */
    int emds_every;               /* one slice in so many */
    char *config_file;            /* "" : none */
    struct sg_config_rule *rules; /* in order of precedence */
    int rule_count;
    uint64_t from_environment; /* bit i: sg_config_entries[i] was set there */
    uint64_t from_file;        /* or in the file */
};

struct sg_config_entry {
    const char *name;          /* "STAGGER_TRACE"; a prefix where it ends in '_' */
    const char *default_text;  /* as a user would write it */
    const char *documentation; /* one sentence */
    /* SG_ERR_SYNTAX: not a value; *config is then as before. NULL: a rule, which shim/rule
     * parses. */
    enum sg_status (*parse)(const char *text, const struct sg_config_entry *entry,
                            struct sg_config *config);
    /* The value as a user would write it, NULL for a rule; a text too long is cut. */
    void (*print)(const struct sg_config_entry *entry, const struct sg_config *config, char *text,
                  int size_bytes);
    const char *expected;     /* what a parse error says: "otf2, stats or off" */
    size_t field;             /* offset in struct sg_config, for shared parsers */
    double low, high;         /* range, for numbers */
    const char *const *words; /* by value, ended by NULL; NULL: not a word */
    enum sg_config_rule_kind rule;
};

/* Room for any value that print writes. */
#define SG_CONFIG_VALUE_BYTES 4096

extern const struct sg_config_entry sg_config_entries[];

extern const int sg_config_entry_count;

/* The entry of a variable, prefix entries included, or NULL. */
const struct sg_config_entry *sg_config_find(const char *name);
/* Sets out to the defaults. SG_ERR_MEMORY: *out is empty. */
enum sg_status sg_config_defaults(struct sg_config *out);
void sg_config_clear(struct sg_config *config);
void sg_config_clear_rule(struct sg_config_rule *rule);
/* Tells whether value suits the named variable (one that is no rule); if not, logs one line that
 * begins with source ("--trace") and gives SG_ERR_SYNTAX. */
enum sg_status sg_config_check(const char *source, const char *name, const char *value);

#endif
