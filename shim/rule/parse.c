/* Parses the left side of a rule: operation[@site][~communicator][[bytes]]=, and rules for
 * messages.
 *
 * Reads from the outside in: the first '=' ends the left side, brackets right before it are the
 * byte range, the first '~' begins the communicator. A backslash makes the next character literal,
 * here as in the globs that fnmatch reads later, so it stays in the text. */
#include "core/text.h"
#include "rule/ruleset.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { ID_DIGITS = 8, OFFSET_DIGITS = 16 };

const char *sg_rule_find_plain(const char *at, const char *end, const char *set)
{
    for (; at < end; at++) {
        if (*at == '\\' && at + 1 < end)
            at++;
        else if (*at != '\0' && strchr(set, *at) != NULL)
            return at;
    }
    return end;
}

/* Returns the last one, or NULL. */
static const char *find_last_plain(const char *at, const char *end, char wanted)
{
    const char set[] = {wanted, '\0'};
    const char *last = NULL;

    while ((at = sg_rule_find_plain(at, end, set)) < end)
        last = at++;
    return last;
}

static enum sg_status copy_glob(const char *begin, const char *end, char **out,
                                struct sg_rule_fault *fault)
{
    const char *open = sg_rule_find_plain(begin, end, "[");
    int slashes = 0;

    while (slashes < end - begin && end[-1 - slashes] == '\\')
        slashes++;
    if (slashes % 2 == 1)
        return sg_rule_fail(fault, end - 1, "expected a character after '\\', found the end");
    while (open < end) {
        /* "[]x]" and "[!]x]": a bracket right after the opening one is a member. */
        const char *first =
            open + 1 < end && (open[1] == '!' || open[1] == '^') ? open + 2 : open + 1;
        const char *close = first < end ? sg_rule_find_plain(first + 1, end, "]") : end;

        if (close == end)
            return sg_rule_fail(fault, open, "expected ']' to close '['");
        open = sg_rule_find_plain(close, end, "[");
    }
    *out = strndup(begin, (size_t)(end - begin));
    return *out != NULL ? SG_OK : SG_ERR_MEMORY;
}

/* ---- site ------------------------------------------------------------------------------------*/

static bool all_hex(const char *begin, const char *end)
{
    while (begin < end && isxdigit((unsigned char)*begin))
        begin++;
    return begin == end;
}

static uint64_t hex_number(const char *begin, const char *end)
{
    uint64_t value = 0;

    for (; begin < end; begin++) {
        int digit = *begin <= '9' ? *begin - '0' : (*begin | 0x20) - 'a' + 10;

        value = value << 4 | (uint64_t)digit;
    }
    return value;
}

static enum sg_status parse_offset(const char *begin, const char *plus, const char *end,
                                   struct sg_rule *rule, struct sg_rule_fault *fault)
{
    const char *digits = plus + strlen("+0x");

    if (digits == end || end - digits > OFFSET_DIGITS || !all_hex(digits, end))
        return sg_rule_fail(fault, digits, "expected 1 to 16 hex digits after '+0x'");
    if (plus == begin)
        return sg_rule_fail(fault, begin, "expected a module before '+0x'");
    rule->site_kind = SG_RULE_SITE_OFFSET;
    rule->offset = hex_number(digits, end);
    return copy_glob(begin, plus, &rule->site, fault);
}

static enum sg_status parse_line(const char *begin, const char *colon, const char *end,
                                 struct sg_rule *rule, struct sg_rule_fault *fault)
{
    uint64_t line;

    if (sg_text_number(colon + 1, end, false, &line) != end || line == 0 || line > UINT32_MAX)
        return sg_rule_fail(fault, colon + 1, "expected a line from 1 to 4294967295");
    if (colon == begin)
        return sg_rule_fail(fault, begin, "expected a file before ':'");
    /* Some compilers omit "./". */
    if (colon - begin > 2 && begin[0] == '.' && begin[1] == '/')
        begin += 2;
    rule->site_kind = SG_RULE_SITE_LINE;
    rule->line = (uint32_t)line;
    return copy_glob(begin, colon, &rule->site, fault);
}

/* "3f2a9c1b", "#3f2a9c1b" */
static bool is_id(const char *begin, const char *end)
{
    if (begin < end && *begin == '#')
        begin++;
    return end - begin == ID_DIGITS && all_hex(begin, end);
}

static enum sg_status parse_site(const char *begin, const char *end, struct sg_rule *rule,
                                 struct sg_rule_fault *fault)
{
    const char *colon = find_last_plain(begin, end, ':');
    const char *plus;

    begin = sg_rule_skip_blanks(begin, end);
    end = sg_rule_trim(begin, end);
    if (begin == end)
        return sg_rule_fail(fault, begin,
                            "expected a call site: file:line, a function, module+0xoffset, "
                            "an id of 8 hex digits or *");
    if (end - begin == 1 && *begin == '*')
        return SG_OK;
    if (is_id(begin, end)) {
        rule->site_kind = SG_RULE_SITE_ID;
        rule->id = (uint32_t)hex_number(end - ID_DIGITS, end);
        return SG_OK;
    }
    plus = find_last_plain(begin, end, '+');
    if (plus != NULL && end - plus >= 3 && plus[1] == '0' && (plus[2] | 0x20) == 'x')
        return parse_offset(begin, plus, end, rule, fault);
    if (colon != NULL && colon + 1 < end && isdigit((unsigned char)colon[1]))
        return parse_line(begin, colon, end, rule, fault);
    rule->site_kind = SG_RULE_SITE_FUNCTION;
    return copy_glob(begin, end, &rule->site, fault);
}

/* ---- communicator and bytes ------------------------------------------------------------------*/

/* Parses "low-high", "low-", "-high" or "n", numbers at most max. */
static enum sg_status parse_range(const char *begin, const char *end, bool suffixes, uint64_t max,
                                  const char *expected, uint64_t *low, uint64_t *high,
                                  struct sg_rule_fault *fault)
{
    char found[SG_RULE_FOUND_BYTES];
    const char *at = begin;

    *low = 0;
    if (at < end && *at != '-')
        at = sg_text_number(at, end, suffixes, low);
    *high = *low;
    if (at != NULL && at < end && *at == '-') {
        bool open = at + 1 == end;

        *high = max;
        if (open && at == begin)
            at = NULL;
        else
            at = open ? end : sg_text_number(at + 1, end, suffixes, high);
    }
    if (begin == end || at != end || *low > max || *high > max)
        return sg_rule_fail(fault, begin, "expected %s, found %s", expected,
                            sg_rule_found(begin, end, found));
    if (*low > *high)
        return sg_rule_fail(
            fault, begin,
            "expected a range whose first number is no greater than its last, found %s",
            sg_rule_found(begin, end, found));
    return SG_OK;
}

/* "NAME(SIZE)", as reports print it. */
static enum sg_status parse_bare_comm(struct sg_rule *rule)
{
    size_t length = strlen(rule->comm);
    const char *open = strrchr(rule->comm, '(');
    const char *end = rule->comm + length - 1;
    uint64_t size;

    if (open == NULL || open == rule->comm || *end != ')' ||
        sg_text_number(open + 1, end, false, &size) != end || size == 0 || size > INT_MAX)
        return SG_OK;
    rule->comm_bare = strndup(rule->comm, (size_t)(open - rule->comm));
    rule->size_low = rule->size_high = (int)size;
    return rule->comm_bare != NULL ? SG_OK : SG_ERR_MEMORY;
}

enum sg_status sg_rule_parse_comm(const char *begin, const char *end, struct sg_rule *rule,
                                  struct sg_rule_fault *fault)
{
    const char *stray = sg_rule_find_plain(begin, end, "@~");
    uint64_t low, high;
    enum sg_status status;

    begin = sg_rule_skip_blanks(begin, end);
    end = sg_rule_trim(begin, end);
    if (begin == end)
        return sg_rule_fail(fault, begin,
                            "expected a communicator: a name, a range of sizes such as 2-64 or *");
    if (stray < end && *stray == '@')
        return sg_rule_fail(fault, stray,
                            "expected the call site before the communicator, or '\\@' in a name");
    if (stray < end)
        return sg_rule_fail(fault, stray, "expected one communicator, or '\\~' in a name");
    if (end - begin == 1 && *begin == '*')
        return SG_OK;
    for (const char *at = begin; at < end; at++) {
        if (!isdigit((unsigned char)*at) && *at != '-') {
            rule->comm_kind = SG_RULE_COMM_NAME;
            status = copy_glob(begin, end, &rule->comm, fault);
            return status == SG_OK ? parse_bare_comm(rule) : status;
        }
    }
    status = parse_range(begin, end, false, INT_MAX, "a range of sizes such as 2-64, 8, 16- or -4",
                         &low, &high, fault);
    if (status != SG_OK)
        return status;
    rule->comm_kind = SG_RULE_COMM_SIZE;
    rule->size_low = (int)low;
    rule->size_high = (int)high;
    return SG_OK;
}

/* begin is at '[', end behind ']'. */
static enum sg_status parse_bytes(const char *begin, const char *end, struct sg_rule *rule,
                                  struct sg_rule_fault *fault)
{
    begin = sg_rule_skip_blanks(begin + 1, end - 1);
    end = sg_rule_trim(begin, end - 1);
    rule->any_bytes = false;
    return parse_range(begin, end, true, UINT64_MAX,
                       "bytes such as [0-4k], [1m-], [-64] or [8] before '='", &rule->byte_low,
                       &rule->byte_high, fault);
}

/* ---- one rule --------------------------------------------------------------------------------*/

static const char *parse_operation(const char *begin, const char *end, int *out,
                                   struct sg_rule_fault *fault)
{
    const char *at = begin;
    char found[SG_RULE_FOUND_BYTES];

    if (at < end && *at == '*') {
        *out = -1;
        return at + 1;
    }
    while (at < end && (isalnum((unsigned char)*at) || *at == '_'))
        at++;
    for (int i = 0; i < SG_OPERATION_COUNT; i++) {
        size_t length = strlen(sg_operation_names[i]);

        if ((size_t)(at - begin) == length && memcmp(begin, sg_operation_names[i], length) == 0) {
            *out = i;
            return at;
        }
    }
    sg_rule_fail(fault, begin, "expected barrier, reduce, allreduce, bcast or *, found %s",
                 sg_rule_found(begin, at > begin ? at : end, found));
    return NULL;
}

/* "[@site][~communicator]" between begin and end. */
static enum sg_status parse_pattern(const char *begin, const char *end, struct sg_rule *rule,
                                    struct sg_rule_fault *fault)
{
    const char *tilde = sg_rule_find_plain(begin, end, "~");
    char found[SG_RULE_FOUND_BYTES];
    enum sg_status status = SG_OK;

    if (begin < end && *begin == '@') {
        status = parse_site(begin + 1, tilde, rule, fault);
    } else if (sg_rule_skip_blanks(begin, tilde) < tilde) {
        if (*begin == '[')
            return sg_rule_fail(fault, end, "expected ']' before '='");
        return sg_rule_fail(fault, begin,
                            "expected '@' and a call site, '~' and a communicator, "
                            "'[' and bytes, or '=', found %s",
                            sg_rule_found(begin, end, found));
    }
    if (status == SG_OK && tilde < end)
        status = sg_rule_parse_comm(tilde + 1, end, rule, fault);
    return status;
}

enum sg_status sg_rule_parse(const struct sg_algorithm_table *table, const char *begin,
                             const char *end, struct sg_rule *rule, struct sg_rule_fault *fault)
{
    const char *equals = sg_rule_find_plain(begin, end, "=");
    const char *place_end = sg_rule_trim(begin, equals);
    const char *at = parse_operation(begin, end, &rule->operation, fault);
    enum sg_status status = SG_OK;

    if (at == NULL)
        return SG_ERR_SYNTAX;
    if (equals == end)
        return sg_rule_fail(fault, place_end, "expected '=' and an algorithm, found the end");
    at = sg_rule_skip_blanks(at, place_end);
    if (at < place_end && place_end[-1] == ']') {
        const char *open = find_last_plain(at, place_end, '[');

        if (open == NULL)
            return sg_rule_fail(fault, place_end - 1, "expected '[' before ']'");
        status = parse_bytes(open, place_end, rule, fault);
        place_end = open;
    }
    if (status == SG_OK)
        status = parse_pattern(at, place_end, rule, fault);
    if (status == SG_OK)
        status =
            sg_rule_parse_target(table, rule->operation, equals + 1, end, &rule->choice, fault);
    return status;
}

/* ---- rules for messages: p2p[~communicator]=algorithm ----
 *
 * Such a rule covers all of a communicator's messages or none, so it names no call site and no
 * bytes. It gives the communicator by size or as MPI_COMM_WORLD, because the decision is made when
 * the communicator is created (docs/decisions/09). */

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
                            "expected no call site: messages match across call sites");
    if (*begin == '[' || end[-1] == ']')
        return sg_rule_fail(fault, *begin == '[' ? begin : end - 1,
                            "expected no bytes: messages of all sizes match in order");
    if (*begin != '~')
        return sg_rule_fail(fault, begin, "expected '~' and a communicator, or '=', found %s",
                            sg_rule_found(begin, end, found));
    status = sg_rule_parse_comm(begin + 1, end, rule, fault);
    if (status == SG_OK && rule->comm_kind == SG_RULE_COMM_NAME &&
        strcmp(rule->comm, "MPI_COMM_WORLD") != 0)
        status = sg_rule_fail(fault, begin + 1,
                              "expected a range of sizes or MPI_COMM_WORLD: other communicators "
                              "have no name when they are made");
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
