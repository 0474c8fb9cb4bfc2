/* A rule and a set of rules, shared by the code that parses, matches and prints them. The table of
 * algorithms is an argument, so that tests can supply their own. */
#ifndef SG_RULE_RULESET_H
#define SG_RULE_RULESET_H

#include "rule/rule.h"

#include <string.h>

#define SG_RULE_DEFAULT "default" /* source of the built-in rules */

struct sg_algorithm_table {
    const struct sg_algorithm *entries; /* includes mpich, which takes every operation */
    int count;
    const char *defaults; /* rules that apply if the user gives none; the last matches every call */
};

enum sg_rule_site_kind {
    SG_RULE_SITE_ANY,
    SG_RULE_SITE_ID,
    SG_RULE_SITE_OFFSET,   /* text is a module glob */
    SG_RULE_SITE_LINE,     /* text is a file glob */
    SG_RULE_SITE_FUNCTION, /* text is a function glob */
};

enum sg_rule_comm_kind { SG_RULE_COMM_ANY, SG_RULE_COMM_SIZE, SG_RULE_COMM_NAME };

#define SG_RULE_OF_MESSAGES (-2)
#define SG_RULE_OF_AUTO (-3) /* a candidate of `auto`: it matches no call by itself */

struct sg_rule {
    /* enum sg_operation; -1: every operation that the algorithm takes; or SG_RULE_OF_... */
    int operation;
    enum sg_rule_site_kind site_kind;
    enum sg_rule_comm_kind comm_kind;
    bool any_bytes;
    char *site; /* globs; NULL: none */
    char *comm;
    char *comm_bare; /* the name in "NAME(SIZE)", which may also be a literal name; NULL: another
                      * form */
    uint32_t id;
    uint32_t line;
    uint64_t offset;
    int size_low, size_high;      /* ranks, inclusive; with comm_bare, both are the size */
    uint64_t byte_low, byte_high; /* inclusive */
    struct sg_choice choice;
    char *source;
};

/* A trial's candidates are rules with the same left side. They are the first rules of a set, so a
 * candidate's number is its rule's index plus 1. */
struct sg_trial {
    char *pattern; /* the left side, as written */
    int first, count;
    uint16_t takes[2][SG_REACH_INTERNODE +
                      1]; /* candidates that run there, as bits: by nonblocking, reach; 0: no
                           * trial */
};

struct sg_ruleset {
    struct sg_algorithm_table table;
    struct sg_rule *rules; /* in order of precedence */
    int count;
    _Atomic uint8_t *seen; /* by rule: enum sg_rule_seen; everything else is immutable */
    bool needs_names;
    struct sg_trial trials[SG_TRIALS_MAX];
    int trial_count;
    char *arm_texts[SG_TRIAL_ARMS_MAX]; /* the right sides, by number less 1 */
};

/* Options and state of reading rules. Complaints go to the log if speak is true, and say that the
 * rule is left out of the set. */
struct sg_rule_reader {
    struct sg_algorithm_table table;
    const char *source;
    bool speak;
    bool checking; /* there is no set: nothing is left out, and only the first fault is reported */
    int faults;    /* found so far; only the first few are reported */
};

static inline bool sg_rule_is_default(const struct sg_rule *rule)
{
    return strcmp(rule->source, SG_RULE_DEFAULT) == 0;
}

/* Parses the rules in text, separated by ';' or line ends, and adds them to the set. Counts faults
 * and leaves out their rules. SG_ERR_MEMORY is the only error. */
enum sg_status sg_rule_parse_list(struct sg_rule_reader *reader, const char *text,
                                  struct sg_ruleset *set);
/* Parses "algorithm[(parameters)]" and adds a rule with that left side; left owns no text. */
enum sg_status sg_rule_parse_algorithm(struct sg_rule_reader *reader, const char *text,
                                       const struct sg_rule *left, struct sg_ruleset *set);
/* Parses trials in the same way. */
enum sg_status sg_trial_parse_list(struct sg_rule_reader *reader, const char *text,
                                   struct sg_ruleset *set);
void sg_trials_clear(struct sg_ruleset *set);
/* Appends a parsed rule to the set, which takes ownership. SG_ERR_MEMORY is the only error. */
enum sg_status sg_rule_add(struct sg_ruleset *set, const char *source, struct sg_rule *rule);
/* Reports a fault between begin and end, and that the rule is left out. Columns count from text. */
void sg_rule_say(struct sg_rule_reader *reader, const char *text, const char *begin,
                 const char *end, const char *at, const char *message);
/* Matches the left side of a rule; ignores its algorithm's reach. */
bool sg_rule_matches(const struct sg_rule *rule, const struct sg_rule_site *site,
                     const struct sg_rule_comm *comm, uint64_t bytes);
/* Parts of the match: the communicator; the operation, and whether the algorithm runs there. */
bool sg_rule_matches_comm(const struct sg_rule *rule, const struct sg_rule_comm *comm);
bool sg_rule_takes(const struct sg_ruleset *rules, const struct sg_rule *rule,
                   enum sg_operation operation, const struct sg_rule_comm *comm);
/* True if the rule matches the communicator and its algorithm runs on it. */
bool sg_rule_concerns(const struct sg_ruleset *rules, const struct sg_rule *rule,
                      const struct sg_rule_comm *comm);

/* A fault in a text, and its position. */
struct sg_rule_fault {
    const char *at;
    char message[400];
};

/* Fills the fault; always returns SG_ERR_SYNTAX. */
enum sg_status sg_rule_fail(struct sg_rule_fault *fault, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For "expected ..., found %s": the text at `at` in quotes, or "the end". */
#define SG_RULE_FOUND_BYTES 32

const char *sg_rule_found(const char *at, const char *end, char found[SG_RULE_FOUND_BYTES]);
const char *sg_rule_skip_blanks(const char *at, const char *end);
/* Returns the end without preceding blanks. */
const char *sg_rule_trim(const char *begin, const char *end);
/* Returns the first character of set that no backslash precedes, or end. */
const char *sg_rule_find_plain(const char *at, const char *end, const char *set);
/* Finds the next nonempty item of a list, [*begin, *stop), from *at on, and moves *at behind it.
 * Items are separated by ';' or line ends. False: there is none. */
bool sg_rule_next_item(const char **at, const char *end, const char **begin, const char **stop);
/* Parses a communicator, from behind its '~' on. */
enum sg_status sg_rule_parse_comm(const char *begin, const char *end, struct sg_rule *rule,
                                  struct sg_rule_fault *fault);
/* sg_rule_parse and sg_rule_parse_messages parse one rule without blanks before it. *rule is zeroed
 * except for any_bytes; after a fault, it holds what sg_rule_clear frees. sg_rule_is_of_messages
 * tells which of them to call. */
bool sg_rule_is_of_messages(const char *begin, const char *end);
enum sg_status sg_rule_parse_messages(const struct sg_algorithm_table *table, const char *begin,
                                      const char *end, struct sg_rule *rule,
                                      struct sg_rule_fault *fault);
enum sg_status sg_rule_parse(const struct sg_algorithm_table *table, const char *begin,
                             const char *end, struct sg_rule *rule, struct sg_rule_fault *fault);
/* Parses "name[(parameter=value,...)]" between begin and end; operation as in struct sg_rule. */
enum sg_status sg_rule_parse_target(const struct sg_algorithm_table *table, int operation,
                                    const char *begin, const char *end, struct sg_choice *out,
                                    struct sg_rule_fault *fault);
/* Prints the left side of a rule in the grammar of rules. */
void sg_rule_print_pattern(const struct sg_rule *rule, FILE *out);
/* Reports how many faults were not reported one by one. */
void sg_rule_say_rest(const struct sg_rule_reader *reader);
/* Frees everything that a rule owns. */
void sg_rule_clear(struct sg_rule *rule);
/* Like sg_ruleset_create, with these algorithms, and without candidates for `auto` between
 * nodes. */
enum sg_status sg_ruleset_create_with(const struct sg_algorithm_table *table,
                                      const struct sg_config *config, bool speak,
                                      struct sg_ruleset **out);

/* The rules that apply if the user gives none. */
extern const char sg_rule_defaults[];

#endif
