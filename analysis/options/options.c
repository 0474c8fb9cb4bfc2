/* Reads a command line with argp, from the table of its options. Faults are one line each, so
 * argp's hint at --help is turned off.
 */
#include "options/options.h"

#include "core/status.h"
#include "core/text.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_FIRST 0x100
#define KEY_USAGE 0x200
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
    char wants[300] = "";
    size_t used = 0;
    int found = text != NULL ? sg_option_find_word(option->words, text, strlen(text)) : 0;

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

const char *sg_option_least(const struct sg_option *option, const char *text, void *into,
                            char *fault)
{
    *(int *)sg_option_place(option, into) = (int)option->least;
    return NULL;
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

/* ---- rules between options ------------------------------------------------------------------- */

/* Logs a fault of the command "stagger report" as "stagger: report: ...". */
static void log_fault(const struct sg_command_line *line, const char *text)
{
    sg_log("%s: %s", line->name + strlen("stagger "), text);
}

void sg_options_fault(const struct sg_command_line *line, const char *format, ...)
{
    char text[SG_OPTION_FAULT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    log_fault(line, text);
    exit(SG_OPTIONS_USAGE);
}

static bool was_given(const struct sg_command_line *line, int table, const char *name,
                      size_t length)
{
    const struct sg_option *options = line->tables[table].options;

    for (int place = 0; options[place].name != NULL; place++) {
        if (strlen(options[place].name) == length && memcmp(options[place].name, name, length) == 0)
            return line->given[table] >> place & 1;
    }
    return false;
}

bool sg_options_given(const struct sg_command_line *line, const char *name)
{
    return was_given(line, 0, name, strlen(name));
}

/* Checks what an option that was given needs and excludes among those of its table. */
static bool agrees(const struct sg_command_line *line, int table, const struct sg_option *option)
{
    const char *other = option->excludes;
    char fault[SG_OPTION_FAULT_BYTES];

    if (option->needs != NULL && !was_given(line, table, option->needs, strlen(option->needs))) {
        log_fault(line, sg_option_fault(fault, "--%s needs --%s", option->name, option->needs));
        return false;
    }
    while (other != NULL && *other != '\0') {
        size_t length = strcspn(other, " ");

        if (was_given(line, table, other, length)) {
            log_fault(line,
                      sg_option_fault(fault, "--%s %s%scannot be combined with --%.*s",
                                      option->name, option->because != NULL ? option->because : "",
                                      option->because != NULL ? "; it " : "", (int)length, other));
            return false;
        }
        other += length + (other[length] == ' ');
    }
    return true;
}

static bool all_agree(const struct sg_command_line *line)
{
    for (int i = 0; i < 2; i++) {
        for (int place = 0; place < ROWS_MAX && line->given[i] >> place != 0; place++) {
            if ((line->given[i] >> place & 1) != 0 &&
                !agrees(line, i, &line->tables[i].options[place]))
                return false;
        }
    }
    return true;
}

/* ---- argp ------------------------------------------------------------------------------------ */

/* Options without a letter get keys by their place. */
static int key_of(const struct sg_option *options, int table, int place)
{
    return options[place].letter != 0 ? options[place].letter
                                      : KEY_FIRST + table * ROWS_MAX + place;
}

static error_t take_arguments(struct sg_command_line *line, const struct argp_state *state)
{
    char excerpt[SG_EXCERPT_BYTES], fault[SG_OPTION_FAULT_BYTES];
    const char *extra;

    line->words = state->argv + state->next;
    line->count = state->argc - state->next;
    if (line->count <= line->most)
        return 0;
    extra = line->words[line->most];
    log_fault(line,
              sg_option_fault(fault, "unexpected argument '%s'",
                              sg_text_excerpt(extra, strlen(extra), excerpt, sizeof excerpt)));
    return EINVAL;
}

static error_t take_option(struct sg_command_line *line, int key, const char *text)
{
    char fault[SG_OPTION_FAULT_BYTES], message[SG_OPTION_FAULT_BYTES];

    for (int i = 0; i < 2; i++) {
        const struct sg_option *options = line->tables[i].options;

        for (int place = 0; options != NULL && options[place].name != NULL; place++) {
            const struct sg_option *option = &options[place];
            const char *wrong;

            if (key_of(options, i, place) != key)
                continue;
            line->given[i] |= UINT64_C(1) << place;
            wrong = option->read(option, text, line->tables[i].into, fault);
            if (wrong == NULL)
                return 0;
            if (*wrong != '\0')
                log_fault(line, sg_option_fault(message, "--%s%s%s", option->name,
                                                *wrong == ':' ? "" : " ", wrong));
            return EINVAL;
        }
    }
    return ARGP_ERR_UNKNOWN;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct sg_command_line *line = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->err_stream = NULL; /* getopt's line alone reports an unknown option */
        return 0;
    case ARGP_KEY_ARGS:
        return take_arguments(line, state);
    case 'h':
    case '?':
    case KEY_USAGE:
        argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK,
                  (char *)line->name);
        return ECANCELED;
    default:
        return take_option(line, key, text);
    }
}

enum sg_options_verdict sg_options_parse(struct sg_command_line *line, int argc, char **argv)
{
    static const struct argp_option help[] = {{"help", 'h', NULL, 0, "print this text", -1},
                                              {NULL, '?', NULL, OPTION_HIDDEN, NULL, -1},
                                              {"usage", KEY_USAGE, NULL, OPTION_HIDDEN, NULL, -1}};
    struct argp_option rows[2 * ROWS_MAX + 4] = {{0}};
    const struct argp argp = {rows, parse, line->arguments, line->documentation, NULL, NULL, NULL};
    unsigned flags = ARGP_NO_HELP | ARGP_NO_EXIT | (line->is_launcher ? ARGP_IN_ORDER : 0);
    char name[80], *const own_name = argv[0];
    int count = 0, error;

    for (int i = 0; i < 2; i++) {
        const struct sg_option *options = line->tables[i].options;

        for (int place = 0; options != NULL && options[place].name != NULL; place++)
            rows[count++] =
                (struct argp_option){.name = options[place].name,
                                     .key = key_of(options, i, place),
                                     .arg = options[place].argument,
                                     .flags = options[place].optional ? OPTION_ARG_OPTIONAL : 0,
                                     .doc = options[place].says,
                                     .group = options[place].group};
    }
    memcpy(&rows[count], help, sizeof help);
    snprintf(name, sizeof name, "stagger: %s", line->name + strlen("stagger "));
    argv[0] = name; /* for getopt's messages */
    error = argp_parse(&argp, argc, argv, flags, NULL, line);
    argv[0] = own_name;
    if (error == ECANCELED)
        return SG_OPTIONS_HELP;
    return error == 0 && all_agree(line) ? SG_OPTIONS_READ : SG_OPTIONS_BAD;
}

void sg_options_read(struct sg_command_line *line, int argc, char **argv)
{
    switch (sg_options_parse(line, argc, argv)) {
    case SG_OPTIONS_READ:
        return;
    case SG_OPTIONS_HELP:
        exit(sg_options_finish(0));
    case SG_OPTIONS_BAD:
        exit(SG_OPTIONS_USAGE);
    }
}

const char *sg_options_argument(const struct sg_command_line *line)
{
    return line->count > 0 ? line->words[0] : NULL;
}

int sg_options_finish(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    sg_log("the output cannot be written: %m");
    return status != 0 ? status : 1;
}
