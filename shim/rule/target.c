/* Parses the right side of a rule: algorithm[(parameter=value,...)]; and helpers of the other
 * parsers. */
#include "core/text.h"
#include "rule/ruleset.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum sg_status sg_rule_fail(struct sg_rule_fault *fault, const char *at, const char *format, ...)
{
    va_list arguments;

    fault->at = at;
    va_start(arguments, format);
    vsnprintf(fault->message, sizeof fault->message, format, arguments);
    va_end(arguments);
    return SG_ERR_SYNTAX;
}

const char *sg_rule_found(const char *at, const char *end, char found[SG_RULE_FOUND_BYTES])
{
    char excerpt[SG_RULE_FOUND_BYTES - 2];

    at = sg_rule_skip_blanks(at, end);
    if (at == end)
        return "the end";
    sg_text_excerpt(at, (size_t)(end - at), excerpt, sizeof excerpt);
    snprintf(found, SG_RULE_FOUND_BYTES, "'%s'", excerpt);
    return found;
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

const char *sg_rule_skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

const char *sg_rule_trim(const char *begin, const char *end)
{
    while (end > begin && is_blank(end[-1]))
        end--;
    return end;
}

static const char *word_end(const char *at, const char *end)
{
    while (at < end && (isalnum((unsigned char)*at) || *at == '_' || *at == '-' || *at == '.'))
        at++;
    return at;
}

static bool is_word(const char *begin, const char *end, const char *word)
{
    size_t length = strlen(word);

    return (size_t)(end - begin) == length && memcmp(begin, word, length) == 0;
}

/* ---- lists of names in messages --------------------------------------------------------------*/

struct names {
    char text[240];
    size_t used;
};

static void names_add(struct names *names, const char *name)
{
    size_t room = sizeof names->text - names->used;
    int length = snprintf(names->text + names->used, room, "%s%s", names->used ? ", " : "", name);

    if (length > 0)
        names->used += (size_t)length < room ? (size_t)length : room - 1;
}

static const char *algorithm_names(const struct sg_algorithm_table *table, struct names *names)
{
    for (int i = 0; i < table->count; i++)
        names_add(names, table->entries[i].name);
    return names->text;
}

static const char *operation_names(unsigned operations, struct names *names)
{
    for (int i = 0; i < SG_OPERATION_COUNT; i++) {
        if (operations & 1u << i)
            names_add(names, sg_operation_names[i]);
    }
    return names->text;
}

static const char *parameter_names(const struct sg_parameter *parameters, struct names *names)
{
    for (; parameters->name != NULL; parameters++)
        names_add(names, parameters->name);
    return names->text;
}

/* ---- parameters ------------------------------------------------------------------------------*/

static enum sg_status fail_value(const struct sg_parameter *parameter, const char *begin,
                                 const char *end, struct sg_rule_fault *fault)
{
    char found[SG_RULE_FOUND_BYTES];

    sg_rule_found(begin, end, found);
    if (parameter->kind == SG_PARAMETER_CHOICE)
        return sg_rule_fail(fault, begin, "expected %s to be one of %s, found %s", parameter->name,
                            parameter->choices, sg_rule_found(begin, end, found));
    return sg_rule_fail(
        fault, begin, "expected %s from %" PRId64 " to %" PRId64 "%s%s, found %s", parameter->name,
        parameter->low, parameter->high, parameter->choices != NULL ? " or " : "",
        parameter->choices != NULL ? parameter->choices : "", sg_rule_found(begin, end, found));
}

static void fill_defaults(const struct sg_algorithm *algorithm, struct sg_choice *choice)
{
    memset(choice->parameters, 0, sizeof choice->parameters);
    for (int i = 0; algorithm->parameters[i].name != NULL; i++) {
        const struct sg_parameter *parameter = &algorithm->parameters[i];
        const char *text = parameter->default_text;

        /* Cannot fail: a test parses every default of the table. */
        (void)sg_parameter_parse(parameter, text, text + strlen(text), &choice->parameters[i]);
    }
}

/* Parses one "name=value" between begin and end; *given has a bit for each parameter seen. */
static enum sg_status parse_parameter(const struct sg_algorithm *algorithm, const char *begin,
                                      const char *end, unsigned *given, struct sg_choice *choice,
                                      struct sg_rule_fault *fault)
{
    const struct sg_parameter *parameters = algorithm->parameters;
    const char *name_end = word_end(begin, end);
    const char *equals = sg_rule_skip_blanks(name_end, end);
    struct names names = {.used = 0};
    char found[SG_RULE_FOUND_BYTES];
    int index = 0;

    if (name_end == begin)
        return sg_rule_fail(fault, begin, "expected a parameter of %s, found %s", algorithm->name,
                            sg_rule_found(begin, end, found));
    if (parameters[0].name == NULL)
        return sg_rule_fail(fault, begin, "%s takes no parameters", algorithm->name);
    while (parameters[index].name != NULL && !is_word(begin, name_end, parameters[index].name))
        index++;
    if (parameters[index].name == NULL)
        return sg_rule_fail(fault, begin, "%s has no parameter %s, only %s", algorithm->name,
                            sg_rule_found(begin, name_end, found),
                            parameter_names(parameters, &names));
    if (equals == end || *equals != '=')
        return sg_rule_fail(fault, equals, "expected '=' and a value for %s, found %s",
                            parameters[index].name, sg_rule_found(equals, end, found));
    if (*given & 1u << index)
        return sg_rule_fail(fault, begin, "%s appears twice", parameters[index].name);
    *given |= 1u << index;
    begin = sg_rule_skip_blanks(equals + 1, end);
    end = sg_rule_trim(begin, end);
    if (!sg_parameter_parse(&parameters[index], begin, end, &choice->parameters[index]))
        return fail_value(&parameters[index], begin, end, fault);
    return SG_OK;
}

/* Parses the text between the parentheses. */
static enum sg_status parse_parameters(const struct sg_algorithm *algorithm, const char *begin,
                                       const char *end, struct sg_choice *choice,
                                       struct sg_rule_fault *fault)
{
    unsigned given = 0;

    if (sg_rule_skip_blanks(begin, end) == end)
        return SG_OK;
    for (;;) {
        const char *comma = memchr(begin, ',', (size_t)(end - begin));
        enum sg_status status;

        begin = sg_rule_skip_blanks(begin, end);
        status =
            parse_parameter(algorithm, begin, comma != NULL ? comma : end, &given, choice, fault);
        if (status != SG_OK || comma == NULL)
            return status;
        begin = comma + 1;
    }
}

/* ---- the algorithm ---------------------------------------------------------------------------*/

static int find_algorithm(const struct sg_algorithm_table *table, const char *begin,
                          const char *end)
{
    for (int i = 0; i < table->count; i++) {
        if (is_word(begin, end, table->entries[i].name))
            return i;
    }
    return -1;
}

static enum sg_status parse_algorithm(const struct sg_algorithm_table *table, int operation,
                                      const char *begin, const char *end, int *out,
                                      struct sg_rule_fault *fault)
{
    struct names names = {.used = 0};
    char found[SG_RULE_FOUND_BYTES];
    unsigned operations;
    int index;

    if (begin == word_end(begin, end))
        return sg_rule_fail(fault, begin, "expected an algorithm (%s), found %s",
                            algorithm_names(table, &names), sg_rule_found(begin, end, found));
    end = word_end(begin, end);
    index = find_algorithm(table, begin, end);
    if (index < 0)
        return sg_rule_fail(fault, begin, "unknown algorithm %s, expected one of: %s",
                            sg_rule_found(begin, end, found), algorithm_names(table, &names));
    operations = table->entries[index].operations;
    if (operation >= 0 && (operations & 1u << operation) == 0)
        return sg_rule_fail(fault, begin, "%s does not support %s, only %s",
                            table->entries[index].name, sg_operation_names[operation],
                            operation_names(operations, &names));
    *out = index;
    return SG_OK;
}

enum sg_status sg_rule_parse_target(const struct sg_algorithm_table *table, int operation,
                                    const char *begin, const char *end, struct sg_choice *out,
                                    struct sg_rule_fault *fault)
{
    struct sg_choice choice = {0};
    char found[SG_RULE_FOUND_BYTES];
    enum sg_status status;
    const char *at;

    begin = sg_rule_skip_blanks(begin, end);
    status = parse_algorithm(table, operation, begin, end, &choice.algorithm, fault);
    if (status != SG_OK)
        return status;
    fill_defaults(&table->entries[choice.algorithm], &choice);
    choice.executed = sg_executed(choice.algorithm, 0);
    at = sg_rule_skip_blanks(word_end(begin, end), end);
    if (at < end && *at == '(') {
        const char *close = memchr(at, ')', (size_t)(end - at));

        if (close == NULL)
            return sg_rule_fail(fault, sg_rule_trim(at, end), "expected ')', found the end");
        status = parse_parameters(&table->entries[choice.algorithm], at + 1, close, &choice, fault);
        if (status != SG_OK)
            return status;
        at = sg_rule_skip_blanks(close + 1, end);
    }
    if (at < end)
        return sg_rule_fail(fault, at, "expected the end of the rule, found %s",
                            sg_rule_found(at, end, found));
    *out = choice;
    return SG_OK;
}
