/* Matches a call against the trials and rules, first to last, and records which rules decided
 * calls. */
#include "rule/ruleset.h"
#include "rule/trial.h"

#include <assert.h>
#include <fnmatch.h>
#include <stdatomic.h>
#include <string.h>

/* "solver.c" and "src/solver.c" both match "/home/me/src/solver.c": tries the glob on the path and
 * on the part after each slash. */
static bool matches_file(const char *glob, const char *path)
{
    const char *slash;

    do {
        if (fnmatch(glob, path, FNM_PATHNAME) == 0)
            return true;
        slash = strchr(path, '/');
        path = slash != NULL ? slash + 1 : NULL;
    } while (path != NULL);
    return false;
}

#define FUNCTION_BYTES 512

/* "FUNCTION FILE:LINE", as reports print it. Both may contain blanks. */
static bool matches_function_and_file(const char *glob, const struct sg_rule_site *site)
{
    char function[FUNCTION_BYTES];

    for (const char *blank = strchr(glob, ' '); blank != NULL && site->function != NULL;
         blank = strchr(blank + 1, ' ')) {
        size_t length = (size_t)(blank - glob);

        if (length >= sizeof function || !matches_file(blank + strspn(blank, " "), site->file))
            continue;
        memcpy(function, glob, length);
        function[length] = '\0';
        if (fnmatch(function, site->function, 0) == 0)
            return true;
    }
    return false;
}

/* "FUNCTION MODULE+0xOFFSET": module and offset alone identify the call site. */
static bool matches_module(const char *glob, const char *module)
{
    const char *blank = strrchr(glob, ' ');

    return fnmatch(glob, module, 0) == 0 || (blank != NULL && fnmatch(blank + 1, module, 0) == 0);
}

static bool matches_site(const struct sg_rule *rule, const struct sg_rule_site *site)
{
    if (site == NULL)
        return rule->site_kind == SG_RULE_SITE_ANY;
    switch (rule->site_kind) {
    case SG_RULE_SITE_ANY:
        return true;
    case SG_RULE_SITE_ID:
        return site->id == rule->id;
    case SG_RULE_SITE_OFFSET:
        return site->module != NULL && site->offset == rule->offset &&
               matches_module(rule->site, site->module);
    case SG_RULE_SITE_LINE:
        return site->file != NULL && site->line == rule->line &&
               (matches_file(rule->site, site->file) ||
                matches_function_and_file(rule->site, site));
    case SG_RULE_SITE_FUNCTION:
        return site->function != NULL && fnmatch(rule->site, site->function, 0) == 0;
    }
    return false;
}

/* Reports omit the prefix MPI_COMM_. */
static bool matches_name(const char *glob, const char *name)
{
    static const char prefix[] = "MPI_COMM_";

    return fnmatch(glob, name, 0) == 0 || (strncmp(name, prefix, sizeof prefix - 1) == 0 &&
                                           fnmatch(glob, name + sizeof prefix - 1, 0) == 0);
}

bool sg_rule_matches_comm(const struct sg_rule *rule, const struct sg_rule_comm *comm)
{
    switch (rule->comm_kind) {
    case SG_RULE_COMM_ANY:
        return true;
    case SG_RULE_COMM_SIZE:
        return comm->size >= rule->size_low && comm->size <= rule->size_high;
    case SG_RULE_COMM_NAME:
        return comm->name != NULL && (matches_name(rule->comm, comm->name) ||
                                      (rule->comm_bare != NULL && comm->size == rule->size_low &&
                                       matches_name(rule->comm_bare, comm->name)));
    }
    return false;
}

static bool matches_operation(const struct sg_ruleset *rules, const struct sg_rule *rule,
                              enum sg_operation operation)
{
    if (rule->operation != -1)
        return rule->operation == (int)operation;
    return (rules->table.entries[rule->choice.algorithm].operations & 1u << operation) != 0;
}

static unsigned reach_of(const struct sg_ruleset *rules, const struct sg_rule *rule)
{
    return sg_algorithm_reach(&rules->table.entries[rule->choice.algorithm],
                              rule->choice.parameters);
}

static bool reaches(const struct sg_ruleset *rules, const struct sg_rule *rule,
                    const struct sg_rule_comm *comm)
{
    unsigned reach = reach_of(rules, rule);

    if (rule->choice.arm != 0)
        return sg_trial_takes(rules, rule->choice.arm, comm);
    return reach == 0 || comm->reach == 0 || (reach & comm->reach) != 0;
}

bool sg_rule_takes(const struct sg_ruleset *rules, const struct sg_rule *rule,
                   enum sg_operation operation, const struct sg_rule_comm *comm)
{
    return matches_operation(rules, rule, operation) && reaches(rules, rule, comm);
}

static bool runs_everywhere(const struct sg_ruleset *rules, const struct sg_rule *rule)
{
    unsigned reach = reach_of(rules, rule);

    return rule->choice.arm == 0 && (reach == 0 || reach == (SG_REACH_NODE | SG_REACH_INTERNODE));
}

static bool same_choice(const struct sg_choice *a, const struct sg_choice *b)
{
    return a->algorithm == b->algorithm && a->arm == b->arm &&
           memcmp(a->parameters, b->parameters, sizeof a->parameters) == 0;
}

/* A barrier has no bytes, so for it a range matches always or never. */
static bool depends_on_bytes(const struct sg_rule *rule, enum sg_operation operation)
{
    return !rule->any_bytes && operation != SG_OPERATION_BARRIER;
}

static bool matches_bytes(const struct sg_rule *rule, uint64_t bytes)
{
    return rule->any_bytes || (bytes >= rule->byte_low && bytes <= rule->byte_high);
}

bool sg_rule_matches(const struct sg_rule *rule, const struct sg_rule_site *site,
                     const struct sg_rule_comm *comm, uint64_t bytes)
{
    return matches_site(rule, site) && sg_rule_matches_comm(rule, comm) &&
           matches_bytes(rule, bytes);
}

/* Relaxed: orders nothing else. The load first keeps the line shared. */
static void note(const struct sg_ruleset *set, int index, enum sg_rule_seen seen)
{
    _Atomic uint8_t *at = &set->seen[index];

    if ((atomic_load_explicit(at, memory_order_relaxed) & seen) == 0)
        atomic_fetch_or_explicit(at, (uint8_t)seen, memory_order_relaxed);
}

int sg_ruleset_messages(const struct sg_ruleset *rules, const char *name, int size)
{
    const struct sg_rule_comm comm = {.name = name, .size = size};

    for (int i = 0; i < rules->count; i++) {
        const struct sg_rule *rule = &rules->rules[i];

        if (rule->operation != SG_RULE_OF_MESSAGES || !sg_rule_matches_comm(rule, &comm))
            continue;
        note(rules, i, SG_RULE_SEEN_TAKEN);
        return reach_of(rules, rule) != 0 ? i : -1;
    }
    return -1;
}

bool sg_ruleset_has_messages(const struct sg_ruleset *rules)
{
    for (int i = 0; i < rules->count; i++) {
        if (rules->rules[i].operation == SG_RULE_OF_MESSAGES)
            return true;
    }
    return false;
}

bool sg_ruleset_is_of_messages(const struct sg_ruleset *rules, int index)
{
    return rules->rules[index].operation == SG_RULE_OF_MESSAGES;
}

/* A fixed choice is cached and not matched again: record all its rules as having decided calls. */
static void note_fixed(const struct sg_ruleset *rules, enum sg_operation operation,
                       const struct sg_rule_site *site, const struct sg_rule_comm *comm, int end)
{
    for (int i = 0; i < end; i++) {
        const struct sg_rule *rule = &rules->rules[i];

        if (matches_operation(rules, rule, operation) && matches_site(rule, site) &&
            reaches(rules, rule, comm))
            note(rules, i, SG_RULE_SEEN_TAKEN);
    }
}

/* Records the choice for its rule, and for an earlier matching rule whose algorithm does not run on
 * the communicator (passed; -1: none). */
static void note_choice(const struct sg_ruleset *rules, int chosen, int passed,
                        const struct sg_rule_comm *comm)
{
    note(rules, chosen, SG_RULE_SEEN_TAKEN);
    if (passed >= 0 && sg_rule_is_default(&rules->rules[chosen]))
        note(rules, passed,
             comm->reach == SG_REACH_INTERNODE ? SG_RULE_SEEN_INTERNODE : SG_RULE_SEEN_NODE);
}

/* Considers every rule for the operation and site up to the first that takes all communicators and
 * sizes: if they all choose the same, the choice is fixed. */
const struct sg_choice *sg_ruleset_match(const struct sg_ruleset *rules,
                                         enum sg_operation operation,
                                         const struct sg_rule_site *site,
                                         const struct sg_rule_comm *comm, uint64_t bytes,
                                         bool *fixed)
{
    const struct sg_choice *first = NULL;
    int chosen = -1, passed = -1, i;
    bool agreed = true;

    for (i = 0; i < rules->count; i++) {
        const struct sg_rule *rule = &rules->rules[i];
        bool by_bytes = depends_on_bytes(rule, operation);

        if (!matches_operation(rules, rule, operation) || !matches_site(rule, site) ||
            (!by_bytes && !matches_bytes(rule, bytes)))
            continue;
        if (!reaches(rules, rule, comm)) { /* it may be the choice on another communicator */
            agreed = false;
            if (passed < 0 && sg_rule_matches_comm(rule, comm) && matches_bytes(rule, bytes))
                passed = i;
            continue;
        }
        if (first == NULL)
            first = &rule->choice;
        agreed = agreed && same_choice(first, &rule->choice);
        if (chosen < 0 && sg_rule_matches_comm(rule, comm) && matches_bytes(rule, bytes))
            chosen = i;
        if (chosen >= 0 && (!agreed || (rule->comm_kind == SG_RULE_COMM_ANY && !by_bytes)))
            break;
    }
    /* The last built-in rule matches every call. */
    assert(chosen >= 0);
    note_choice(rules, chosen, passed, comm);
    if (agreed)
        note_fixed(rules, operation, site, comm, i < rules->count ? i + 1 : i);
    *fixed = agreed;
    return &rules->rules[chosen].choice;
}

bool sg_ruleset_depends_on_site(const struct sg_ruleset *rules, enum sg_operation operation)
{
    for (int i = 0; i < rules->count; i++) {
        const struct sg_rule *rule = &rules->rules[i];

        if (!matches_operation(rules, rule, operation))
            continue;
        if (rule->site_kind != SG_RULE_SITE_ANY)
            return true;
        if (rule->comm_kind == SG_RULE_COMM_ANY && rule->any_bytes && runs_everywhere(rules, rule))
            return false; /* later rules are unreachable */
    }
    return false;
}

void sg_ruleset_seen(const struct sg_ruleset *rules, uint8_t *seen)
{
    for (int i = 0; i < rules->count; i++)
        seen[i] = atomic_load_explicit(&rules->seen[i], memory_order_relaxed);
}

bool sg_trial_matches(const struct sg_ruleset *rules, int trial, enum sg_operation operation,
                      const struct sg_rule_site *site, const struct sg_rule_comm *comm,
                      uint64_t bytes)
{
    const struct sg_rule *rule = &rules->rules[rules->trials[trial].first - 1];

    return rule->operation == (int)operation && sg_rule_matches(rule, site, comm, bytes);
}

bool sg_rule_concerns(const struct sg_ruleset *rules, const struct sg_rule *rule,
                      const struct sg_rule_comm *comm)
{
    return reaches(rules, rule, comm) && sg_rule_matches_comm(rule, comm);
}
