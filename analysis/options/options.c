/* Reads the options of a command with argp. A table of rows describes the options; argp's own
 * table, --help and the values are made from it.
 */
#include "options/options.h"

#include "core/text.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_FIRST 0x100
#define ROWS_MAX 64 /* rows of a table */

/* ---- faults ---------------------------------------------------------------------------------- */

const char *sg_option_fault(char *fault, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(fault, SG_OPTION_FAULT_BYTES, format, arguments);
    va_end(arguments);
    return fault;
}

const char *sg_option_wants(char *fault, const char *wants, const char *word, size_t length)
{
    char excerpt[SG_EXCERPT_BYTES];

    return sg_option_fault(fault, "wants %s, not '%s'", wants,
                           sg_text_excerpt(word, length, excerpt, sizeof excerpt));
}

static const char *wants_number(const struct sg_option *option, const char *what, char *fault,
                                const char *word, size_t length)
{
    char wants[96];

    snprintf(wants, sizeof wants, "%s from %llu to %llu", what, (unsigned long long)option->least,
             (unsigned long long)option->most);
    return sg_option_wants(fault, wants, word, length);
}

/* ---- values ---------------------------------------------------------------------------------- */

const char *sg_option_flag(const struct sg_option *option, const char *text, void *into,
                           char *fault)
{
    *(bool *)sg_option_place(option, into) = true;
    return NULL;
}

const char *sg_option_text(const struct sg_option *option, const char *text, void *into,
                           char *fault)
{
    *(const char **)sg_option_place(option, into) = text;
    return NULL;
}

int sg_option_find_word(const char *const *words, const char *word, size_t length)
{
    for (int i = 0; words[i] != NULL; i++) {
        if (strlen(words[i]) == length && memcmp(words[i], word, length) == 0)
            return i;
    }
    return -1;
}

const char *sg_option_word(const struct sg_option *option, const char *text, void *into,
                           char *fault)
{
    char wants[160] = "";
    size_t used = 0;
    int found = sg_option_find_word(option->words, text, strlen(text));

    if (found >= 0) {
        *(int *)sg_option_place(option, into) = found;
        return NULL;
    }
    for (int i = 0; option->words[i] != NULL && used < sizeof wants; i++)
        used += (size_t)snprintf(wants + used, sizeof wants - used, "%s%s",
                                 i == 0                         ? ""
                                 : option->words[i + 1] == NULL ? " or "
                                                                : ", ",
                                 option->words[i]);
    return sg_option_wants(fault, wants, text, strlen(text));
}

static const char *read_count(const struct sg_option *option, const char *text, uint64_t *value,
                              char *fault)
{
    const char *end = text + strlen(text);

    if (sg_text_number(text, end, false, value) == end && *value >= option->least &&
        *value <= option->most)
        return NULL;
    return wants_number(option, "a number", fault, text, strlen(text));
}

const char *sg_option_u32(const struct sg_option *option, const char *text, void *into, char *fault)
{
    uint64_t value = 0;
    const char *wrong = read_count(option, text, &value, fault);

    if (wrong == NULL)
        *(uint32_t *)sg_option_place(option, into) = (uint32_t)value;
    return wrong;
}

const char *sg_option_u64(const struct sg_option *option, const char *text, void *into, char *fault)
{
    uint64_t value = 0;
    const char *wrong = read_count(option, text, &value, fault);

    if (wrong == NULL)
        *(uint64_t *)sg_option_place(option, into) = value;
    return wrong;
}

/* Reads a number from least to most; the whole word must be the number. */
static bool read_real(const struct sg_option *option, const char *word, size_t length,
                      double *value)
{
    char *end;

    if (length == 0)
        return false;
    *value = strtod(word, &end);
    /* Written so that a NaN fails, too. */
    return end == word + length && *value >= (double)option->least &&
           *value <= (double)option->most;
}

const char *sg_option_real(const struct sg_option *option, const char *text, void *into,
                           char *fault)
{
    double value;

    if (!read_real(option, text, strlen(text), &value) || value <= 0)
        return wants_number(option, option->least > 0 ? "a number" : "a number above 0,", fault,
                            text, strlen(text));
    *(double *)sg_option_place(option, into) = value;
    return NULL;
}

/* ---- lists ----------------------------------------------------------------------------------- */

const char *sg_option_each(const struct sg_option *option, const char *list, sg_option_taker *take,
                           void *into, char *fault)
{
    for (;;) {
        size_t length = strcspn(list, ",");
        const char *wrong = take(option, list, length, into, fault);

        if (wrong != NULL || list[length] == '\0')
            return wrong;
        list += length + 1;
    }
}

static const char *take_real(const struct sg_option *option, const char *word, size_t length,
                             void *into, char *fault)
{
    struct sg_numbers *numbers = sg_option_place(option, into);
    double value;

    if (!read_real(option, word, length, &value))
        return wants_number(option, "numbers", fault, word, length);
    if (numbers->count == SG_OPTION_LIST_MAX)
        return sg_option_fault(fault, "takes %d numbers at most", SG_OPTION_LIST_MAX);
    numbers->list[numbers->count++] = value;
    return NULL;
}

static const char *take_whole(const struct sg_option *option, const char *word, size_t length,
                              void *into, char *fault)
{
    double value;

    if (!read_real(option, word, length, &value) || value != floor(value))
        return wants_number(option, "whole numbers", fault, word, length);
    return take_real(option, word, length, into, fault);
}

const char *sg_option_reals(const struct sg_option *option, const char *text, void *into,
                            char *fault)
{
    ((struct sg_numbers *)sg_option_place(option, into))->count = 0;
    return sg_option_each(option, text, take_real, into, fault);
}

const char *sg_option_wholes(const struct sg_option *option, const char *text, void *into,
                             char *fault)
{
    ((struct sg_numbers *)sg_option_place(option, into))->count = 0;
    return sg_option_each(option, text, take_whole, into, fault);
}

/* ---- argp ------------------------------------------------------------------------------------ */

static int key_of(const struct sg_option *table, int place, int first_key)
{
    return table[place].letter != 0 ? table[place].letter : first_key + place;
}

int sg_options_fill(const struct sg_option *table, int first_key, struct argp_option *rows)
{
    int count = 0;

    for (; table[count].name != NULL; count++)
        rows[count] = (struct argp_option){.name = table[count].name,
                                           .key = key_of(table, count, first_key),
                                           .arg = table[count].argument,
                                           .doc = table[count].says,
                                           .group = table[count].group};
    rows[count] = (struct argp_option){0};
    return count;
}

const struct sg_option *sg_options_find(const struct sg_option *table, int first_key, int key)
{
    for (int place = 0; table != NULL && table[place].name != NULL; place++) {
        if (key_of(table, place, first_key) == key)
            return &table[place];
    }
    return NULL;
}

static error_t take_argument(const struct sg_command_line *line, const char *text,
                             struct argp_state *state)
{
    if (line->argument == NULL)
        argp_error(state, "no argument is taken: '%s'", text);
    else if (*line->argument != NULL)
        argp_error(state, "one argument at a time: '%s' is one too many", text);
    else
        *line->argument = text;
    return 0;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    const struct sg_command_line *line = state->input;

    if (key == ARGP_KEY_ARG)
        return take_argument(line, text, state);
    for (int i = 0; i < 2; i++) {
        const struct sg_option *option =
            sg_options_find(line->tables[i].options, KEY_FIRST + i * ROWS_MAX, key);
        char fault[SG_OPTION_FAULT_BYTES];
        const char *wrong;

        if (option == NULL)
            continue;
        wrong = option->read(option, text, line->tables[i].into, fault);
        if (wrong != NULL)
            argp_error(state, "--%s%s%s", option->name, *wrong == ':' ? "" : " ", wrong);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

bool sg_options_read(const struct sg_command_line *line, int argc, char **argv)
{
    struct argp_option rows[2 * ROWS_MAX + 1] = {{0}};
    const struct argp argp = {rows, parse, line->arguments, line->documentation, NULL, NULL, NULL};
    int count = 0;

    for (int i = 0; i < 2 && line->tables[i].options != NULL; i++)
        count += sg_options_fill(line->tables[i].options, KEY_FIRST + i * ROWS_MAX, rows + count);
    argv[0] = line->name;
    argp_err_exit_status = SG_OPTIONS_USAGE;
    return argp_parse(&argp, argc, argv, 0, NULL, (void *)line) == 0;
}
