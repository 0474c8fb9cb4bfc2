/* What parsing, matching and printing of rules share: one rule, and the set.
 *
 * The table of algorithms is an argument, so that tests bring algorithms of their own.
 */
#ifndef SG_RULE_RULESET_H
#define SG_RULE_RULESET_H

#include "rule/rule.h"

#include <string.h>

#define SG_RULE_DEFAULT "default" /* the source of built-in rules */

struct sg_algorithm_table {
    const struct sg_algorithm *entries; /* has mpich, which takes every operation */
    int count;
    const char *defaults; /* the rules that hold where the user says nothing; the last takes all */
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
#define SG_RULE_OF_AUTO (-3) /* an algorithm that `auto` may choose: it matches no call by itself */

struct sg_rule {
    /* enum sg_operation; -1: every one that the algorithm takes; or SG_RULE_OF_... */
    int operation;
    enum sg_rule_site_kind site_kind;
    enum sg_rule_comm_kind comm_kind;
    bool any_bytes;
    char *site; /* globs; NULL where there is none */
    char *comm;
    char *comm_bare; /* of "NAME(SIZE)", which may also be a name as it is; NULL: another form */
    uint32_t id;
    uint32_t line;
    uint64_t offset;
    int size_low, size_high;      /* ranks, inclusive; of comm_bare both the size */
    uint64_t byte_low, byte_high; /* inclusive */
    struct sg_choice choice;
    char *source;
};

/* Arms are rules like others, with one left side. They are the first rules of a set, so that an
 * arm's number is its rule's index plus 1. */
struct sg_trial {
    char *pattern; /* the left side, as written */
    int first, count;
    uint16_t takes[2][SG_REACH_INTERNODE +
                      1]; /* arms that run there: by nonblocking calls, reach; none: no trial */
};

struct sg_ruleset {
    struct sg_algorithm_table table;
    struct sg_rule *rules; /* in order of precedence */
    int count;
    _Atomic uint8_t *seen; /* by rule: enum sg_rule_seen; all else is immutable */
    bool needs_names;
    struct sg_trial trials[SG_TRIALS_MAX];
    int trial_count;
    char *arm_texts[SG_TRIAL_ARMS_MAX]; /* the right sides, by number less 1 */
};

/* How a text is read: complaints go to the log when speak is true, and end in what becomes of the
 * rule when it is left out of a set. */
struct sg_rule_reader {
    struct sg_algorithm_table table;
    const char *source;
    bool speak;
    bool checking; /* there is no set: nothing is left out, and the first fault is enough */
    int faults;    /* so far; the first few are said */
};

static inline bool sg_rule_is_default(const struct sg_rule *rule)
{
    return strcmp(rule->source, SG_RULE_DEFAULT) == 0;
}

/* Parses the rules in text, which are separated by ';' and lines, and adds them to the set. Faults
 * are counted and their rules left out. SG_ERR_MEMORY only. */
enum sg_status sg_rule_parse_list(struct sg_rule_reader *reader, const char *text,
                                  struct sg_ruleset *set);
/* Parses "algorithm[(parameters)]" and adds a rule with that left side; left owns no text. */
enum sg_status sg_rule_parse_algorithm(struct sg_rule_reader *reader, const char *text,
                                       const struct sg_rule *left, struct sg_ruleset *set);
/* Parses trials, likewise. */
enum sg_status sg_trial_parse_list(struct sg_rule_reader *reader, const char *text,
                                   struct sg_ruleset *set);
void sg_trials_clear(struct sg_ruleset *set);
/* Adds a parsed rule behind the set's, which takes it over; SG_ERR_MEMORY only. */
enum sg_status sg_rule_add(struct sg_ruleset *set, const char *source, struct sg_rule *rule);
/* Says what is wrong between begin and end, and that it is left out. text: what columns count in.
 */
void sg_rule_say(struct sg_rule_reader *reader, const char *text, const char *begin,
                 const char *end, const char *at, const char *message);
/* The left side of a rule, without its algorithm's reach. */
bool sg_rule_matches(const struct sg_rule *rule, const struct sg_rule_site *site,
                     const struct sg_rule_comm *comm, uint64_t bytes);
/* Parts of it: the communicator; the operation, and whether the algorithm runs there. */
bool sg_rule_matches_comm(const struct sg_rule *rule, const struct sg_rule_comm *comm);
bool sg_rule_takes(const struct sg_ruleset *rules, const struct sg_rule *rule,
                   enum sg_operation operation, const struct sg_rule_comm *comm);
/* Whether its algorithm runs on a communicator, and the rule is for it. */
bool sg_rule_concerns(const struct sg_ruleset *rules, const struct sg_rule *rule,
                      const struct sg_rule_comm *comm);

/* What is wrong with a text, and where. */
struct sg_rule_fault {
    const char *at;
    char message[400];
};

/* Fills the fault; always SG_ERR_SYNTAX. */
enum sg_status sg_rule_fail(struct sg_rule_fault *fault, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For "expected ..., found %s": the text at a place in quotes, or "the end". */
#define SG_RULE_FOUND_BYTES 32

const char *sg_rule_found(const char *at, const char *end, char found[SG_RULE_FOUND_BYTES]);
const char *sg_rule_skip_blanks(const char *at, const char *end);
/* The end without the blanks before it. */
const char *sg_rule_trim(const char *begin, const char *end);
/* The first of the characters in set that no backslash precedes, or end. */
const char *sg_rule_find_plain(const char *at, const char *end, const char *set);
/* The next part of a list with text in it, *begin to *stop, from *at on, which goes behind it;
 * lists are separated by ';' and lines. False: there is none. */
bool sg_rule_next_item(const char **at, const char *end, const char **begin, const char **stop);
/* A communicator, from behind its '~' on. */
enum sg_status sg_rule_parse_comm(const char *begin, const char *end, struct sg_rule *rule,
                                  struct sg_rule_fault *fault);
/* Parses one rule, without blanks before it; *rule is zeroed but for any_bytes, and on a fault
 * holds what sg_rule_clear frees. The first function: a rule for messages (messages.c). */
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
/* The left side of a rule, as it may be written. */
void sg_rule_print_pattern(const struct sg_rule *rule, FILE *out);
/* Says how many faults were not said one by one. */
void sg_rule_say_rest(const struct sg_rule_reader *reader);
/* Frees what a rule owns. */
void sg_rule_clear(struct sg_rule *rule);
/* As sg_ruleset_create, with these algorithms, and none for `auto` to choose between nodes. */
enum sg_status sg_ruleset_create_with(const struct sg_algorithm_table *table,
                                      const struct sg_config *config, bool speak,
                                      struct sg_ruleset **out);

/* The rules that hold where the user says nothing. */
extern const char sg_rule_defaults[];

#endif
