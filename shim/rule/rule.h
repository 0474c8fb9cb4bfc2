/* Rules: (operation, call site, bytes, communicator) -> algorithm and parameters, as text.
 *
 *     operation[@site][~communicator][[bytes]]=algorithm[(parameter=value,...)]
 *
 *   operation     barrier, reduce, allreduce, bcast or *
 *   site          file:line, a function glob, module+0xoffset, or an id of 8 hex digits; *
 *   communicator  a name glob, or a range of sizes (2-64, 8, 16-, -4); *
 *   bytes         [low-high], [low-], [-high], [n]; k, m, g are powers of 1024; inclusive
 *
 * A word of 8 hex digits is an id. The operation * stands for those that the algorithm takes. The
 * first '=' ends the left side, brackets right before it are bytes, the first '~' begins the
 * communicator; a backslash makes the next character literal. A file matches by its base name or by
 * the end of its path, after a slash. Globs are fnmatch's, also for modules and files.
 *
 * Rules for messages, p2p[~communicator]=algorithm, may appear among these and match no collective.
 * Their communicator is a range of sizes or MPI_COMM_WORLD, their algorithm mpich or bcs (parse.c).
 *
 * Rules are separated by ';' or line ends. The first match wins. The order of sources is: trials
 * (trial.h), SITE variables, RULES, the CONFIG file, the short variables, built-in defaults. A rule
 * that does not parse is left out, with one line that names its source, the column and what was
 * expected.
 *
 * A ruleset is immutable after parsing. Matching is thread-safe and does not allocate, except that
 * fnmatch may for names of over 250 characters in a multibyte locale.
 */
#ifndef SG_RULE_RULE_H
#define SG_RULE_RULE_H

#include "algos/parameters.h"
#include "core/config.h"
#include "core/executed.h"
#include "core/status.h"
#include "core/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The table of algorithms that a rule may name, made of the rows of algos/parameters.h. */

/* Reach of an algorithm: the ranks of one node, or between nodes. */
enum { SG_REACH_NODE = 1, SG_REACH_INTERNODE = 2 };

struct sg_algorithm {
    const char *name;
    unsigned operations;                   /* bit 1u << enum sg_operation */
    const struct sg_parameter *parameters; /* ends with a NULL name */
    const char *documentation;
    unsigned reach; /* SG_REACH_*; 0: everywhere. Rules out of reach are skipped */
};

/* SG_ALGORITHM_MPICH, ..., in the order of the rows; SG_ALGORITHM_MPICH is 0. */
#define SG_ALGORITHM_NUMBER(number, ...) SG_ALGORITHM_##number,
enum { SG_ALGORITHMS(SG_ALGORITHM_NUMBER) };

/* Parameters of auto, by index. */
enum { SG_AUTO_BLOCK, SG_AUTO_HOLD, SG_AUTO_WHERE, SG_AUTO_BITS };

extern const struct sg_algorithm sg_algorithms[];

extern const int sg_algorithm_count;

/* Returns the reach, SG_REACH_*, of an algorithm with these parameters (by index; NULL: the
 * defaults). */
unsigned sg_algorithm_reach(const struct sg_algorithm *algorithm, const int64_t *parameters);
/* Index of an algorithm's parameter, or -1. */
int sg_parameter_find(int algorithm, const char *name);

struct sg_ruleset;

#define SG_TRIAL_ARMS_MAX (SG_EXECUTED_LIMIT - 1) /* of all trials together */
#define SG_TRIALS_MAX (SG_TRIAL_ARMS_MAX / 2)

/* The algorithm and parameters that run a call. */
struct sg_choice {
    int algorithm;                         /* index into sg_algorithms */
    uint16_t arm;                          /* candidate's number in the trials; 0: of no trial */
    uint16_t executed;                     /* both, encoded as in core/executed.h */
    int64_t parameters[SG_PARAMETERS_MAX]; /* by index in the algorithm's list, with defaults filled
                                            * in */
};

struct sg_rule_site {
    uint32_t id;
    const char *module; /* base name; NULL: unknown */
    uint64_t offset;
    const char *function; /* NULL: unknown or not resolved */
    const char *file;
    uint32_t line;
};

struct sg_rule_comm {
    const char *name; /* rank 0's, agreed at setup */
    int size;
    unsigned reach;   /* SG_REACH_* of what can run on it; 0: anything */
    bool nonblocking; /* true for nonblocking calls; then MPICH's algorithms are no candidates of a
                       * trial */
};

/* Parses the config's rules (all sources) and the defaults. Always gives a usable ruleset, except
 * on SG_ERR_MEMORY, the only error. Logs problems if speak is true. */
enum sg_status sg_ruleset_create(const struct sg_config *config, bool speak,
                                 struct sg_ruleset **out);
void sg_ruleset_destroy(struct sg_ruleset *rules);
/* Checks that text is one or more rules. If not, logs one line that begins with source ("--rule")
 * and returns SG_ERR_SYNTAX. */
enum sg_status sg_rule_check(const char *source, const char *text);
/* The same for trials, in the form of STAGGER_TRIAL. */
enum sg_status sg_trial_check(const char *source, const char *text);
/* True if some rule names a file, line or function: sites are then resolved at their first call. */
bool sg_ruleset_needs_names(const struct sg_ruleset *rules);
/* Returns the choice for one call; never NULL (the last default matches everything). site NULL:
 * rules that name a site do not match. *fixed is true if the same (operation, site) gets this
 * choice for every size, and every communicator of the same reach: the caller may cache it. The
 * pointer lives as long as the ruleset. A choice with a candidate stands for its trial: see
 * sg_trial_turn. */
const struct sg_choice *sg_ruleset_match(const struct sg_ruleset *rules,
                                         enum sg_operation operation,
                                         const struct sg_rule_site *site,
                                         const struct sg_rule_comm *comm, uint64_t bytes,
                                         bool *fixed);
/* True if the choice for an operation may depend on the call site: ranks may then enter one
 * instance with different choices, and must agree. */
bool sg_ruleset_depends_on_site(const struct sg_ruleset *rules, enum sg_operation operation);

/* True if some call of at least least_bytes may get a choice that passes the test. A communicator
 * of size 0 stands for all communicators of that reach. */
typedef bool (*sg_choice_test)(const struct sg_choice *choice);

bool sg_ruleset_may_choose(const struct sg_ruleset *rules, enum sg_operation operation,
                           const struct sg_rule_comm *comm, uint64_t least_bytes,
                           sg_choice_test test);
/* Returns the index of the rule that decides the messages of MPI_COMM_WORLD, of that size; -1:
 * MPICH sends them. */
int sg_ruleset_messages(const struct sg_ruleset *rules, const char *name, int size);
/* True if some rule is for messages. */
bool sg_ruleset_has_messages(const struct sg_ruleset *rules);
bool sg_ruleset_is_of_messages(const struct sg_ruleset *rules, int index);
/* True if some rule's algorithm has slices. */
bool sg_ruleset_has_slices(const struct sg_ruleset *rules);

/* True if some rule's slice is shorter than SG_SLICE_WAKES wake-ups of this machine: processes
 * then reach its boundaries late. Only then sets *slice_us, to the shortest slice. wake_us 0:
 * unknown. */
#define SG_SLICE_WAKES 4

bool sg_ruleset_is_slice_short(const struct sg_ruleset *rules, double wake_us, int64_t *slice_us);
/* Converts a choice to a small number that is the same on all ranks, and back. */
int sg_ruleset_count(const struct sg_ruleset *rules);
int sg_ruleset_index(const struct sg_ruleset *rules, const struct sg_choice *choice);
const struct sg_choice *sg_ruleset_choice(const struct sg_ruleset *rules, int index);
/* Returns a candidate of `auto` between nodes, with an index like a rule's. NULL: the algorithm is
 * no candidate, or no rule has `auto` there. */
const struct sg_choice *sg_ruleset_arm(const struct sg_ruleset *rules, int algorithm);
/* True if calls on that communicator may get the choice. */
bool sg_ruleset_concerns(const struct sg_ruleset *rules, int index,
                         const struct sg_rule_comm *comm);
/* Returns the greatest size of the calls that the rule covers. */
uint64_t sg_ruleset_most_bytes(const struct sg_ruleset *rules, int index);

/* Events seen for a rule since the set was created. */
enum sg_rule_seen {
    SG_RULE_SEEN_TAKEN = 1,     /* it decided calls */
    SG_RULE_SEEN_NODE = 2,      /* it does not run inside a node, so a built-in rule decided */
    SG_RULE_SEEN_INTERNODE = 4, /* the same, between nodes */
};

/* Copies the events, one byte per rule. In sg_ruleset_say_unmatched, seen combines all ranks. */
void sg_ruleset_seen(const struct sg_ruleset *rules, uint8_t *seen);
/* True if the user gave the rule, and it is no candidate of a trial. */
bool sg_ruleset_is_own(const struct sg_ruleset *rules, int index);
/* Prints a rule without the parameters of its algorithm. */
void sg_ruleset_print_rule(const struct sg_ruleset *rules, int index, FILE *out);
/* True if the user's rule decided no call and likely contains a mistake: it names a site,
 * communicator or size that no call had, or its algorithm does not run where its calls were. Then
 * the other function prints which. */
bool sg_ruleset_is_unmatched(const struct sg_ruleset *rules, int index, const uint8_t *seen);
void sg_ruleset_print_unmatched(const struct sg_ruleset *rules, int index, const uint8_t *seen,
                                FILE *out);
/* Reports each of these rules in one line. */
void sg_ruleset_say_unmatched(const struct sg_ruleset *rules, const uint8_t *seen);
/* True if the user gave any rule. */
bool sg_ruleset_has_own(const struct sg_ruleset *rules);

/* Calls of one kind on a communicator, by properties on which its ranks agree. */
struct sg_rule_place {
    enum sg_operation operation;
    const char *comm_name; /* "": none */
    int comm_size;
    uint64_t byte_low, byte_high;
};

/* Prints the left side of a rule that covers the choice's calls of that kind. */
void sg_ruleset_print_place(const struct sg_ruleset *rules, const struct sg_choice *choice,
                            const struct sg_rule_place *place, FILE *out);
/* Prints the rules in force, one a line, in order and in the grammar, each with a comment that
 * names its source. */
void sg_ruleset_print(const struct sg_ruleset *rules, FILE *out);

#endif
