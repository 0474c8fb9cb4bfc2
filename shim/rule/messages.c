/* Rules for messages: p2p[~communicator]=algorithm, of all of a communicator's messages or of none.
 * So they name no call site and no bytes; and only a communicator that is known by its size or is
 * MPI_COMM_WORLD, because it is handed over when it is created
 * (docs/decisions/0060-live-messages.md).
 */
#include "core/text.h"
#include "rule/ruleset.h"

#include <ctype.h>
#include <string.h>

static const char word[] = "p2p";

bool sg_rule_is_of_messages(const char *begin, const char *end)
{
    size_t length = sizeof word - 1;

    return (size_t)(end - begin) >= length && memcmp(begin, word, length) == 0 &&
           (begin + length == end ||
            (!isalnum((unsigned char)begin[length]) && begin[length] != '_'));
}

/* "[~communicator]" between begin and end. */
static enum sg_status parse_left(const char *begin, const char *end, struct sg_rule *rule,
                                 struct sg_rule_fault *fault)
{
    char found[SG_RULE_FOUND_BYTES];
    enum sg_status status;

    begin = sg_rule_skip_blanks(begin, end);
    if (begin == end)
        return SG_OK;
    if (*begin == '@')
        return sg_rule_fail(fault, begin,
                            "expected no call site: messages are matched across them");
    if (*begin == '[' || end[-1] == ']')
        return sg_rule_fail(fault, *begin == '[' ? begin : end - 1,
                            "expected no bytes: messages of all sizes are matched in order");
    if (*begin != '~')
        return sg_rule_fail(fault, begin, "expected '~' and a communicator, or '=', found %s",
                            sg_rule_found(begin, end, found));
    status = sg_rule_parse_comm(begin + 1, end, rule, fault);
    if (status == SG_OK && rule->comm_kind == SG_RULE_COMM_NAME &&
        strcmp(rule->comm, "MPI_COMM_WORLD") != 0)
        status =
            sg_rule_fail(fault, begin + 1,
                         "expected a range of sizes or MPI_COMM_WORLD: others have no name yet "
                         "when they are created");
    return status;
}

enum sg_status sg_rule_parse_messages(const struct sg_algorithm_table *table, const char *begin,
                                      const char *end, struct sg_rule *rule,
                                      struct sg_rule_fault *fault)
{
    const char *equals = sg_rule_find_plain(begin, end, "=");
    const char *left_end = sg_rule_trim(begin, equals), *name;
    char found[SG_RULE_FOUND_BYTES];
    enum sg_status status = parse_left(begin + sizeof word - 1, left_end, rule, fault);

    if (status != SG_OK)
        return status;
    if (equals == end)
        return sg_rule_fail(fault, left_end, "expected '=' and an algorithm, found the end");
    status =
        sg_rule_parse_target(table, SG_OPERATION_BARRIER, equals + 1, end, &rule->choice, fault);
    if (status != SG_OK)
        return status;
    begin = sg_rule_skip_blanks(equals + 1, end);
    name = table->entries[rule->choice.algorithm].name;
    if (strcmp(name, "mpich") != 0 && strcmp(name, "bcs") != 0)
        return sg_rule_fail(fault, begin, "expected mpich or bcs, found %s",
                            sg_rule_found(begin, end, found));
    rule->operation = SG_RULE_OF_MESSAGES;
    return SG_OK;
}
