/* How ranks wait: the words for it, what a rank tells of it in its log, and what that comes to over
 * a run, as archives and reports have it.
 */
#ifndef SG_CORE_WAITING_H
#define SG_CORE_WAITING_H

#include <stdbool.h>
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

#endif
