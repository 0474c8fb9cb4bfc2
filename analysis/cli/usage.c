/* Parses a command's options from its table with getopt_long, and prints --help from the same
 * table.
 */
#include "cli/usage.h"

#include "core/status.h"
#include "core/text.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_MAX 32
#define LINE_COLUMNS 79
#define TEXT_COLUMN 24 /* column of the option texts in --help */

static const struct sg_command_option help_option = {"help", 'h', NULL, "print this text",
                                                     NULL,   NULL};

/* ---- --help ---------------------------------------------------------------------------------- */

/* Breaks lines between words; a line that begins with blanks keeps them. column: the cursor's. */
static void print_wrapped(const char *text, size_t indent, size_t column)
{
    bool fresh = true;

    for (;;) {
        size_t blanks = fresh ? strspn(text, " ") : 0;
        size_t length = strcspn(text + blanks, " \n");

        if (!fresh && column + 1 + length > LINE_COLUMNS) {
            printf("\n%*s", (int)indent, "");
            column = indent;
        } else if (!fresh) {
            blanks = 1;
            text--;
        }
        printf("%.*s", (int)(blanks + length), text);
        column += blanks + length;
        text += blanks + length;
        if (*text == '\0')
            break;
        fresh = *text == '\n';
        if (fresh) {
            printf("\n%*s", (int)indent, "");
            column = indent;
        }
        text++;
    }
    putchar('\n');
}

/* True if the option's value is optional; a given value follows "=". */
static bool may_lack(const struct sg_command_option *option)
{
    return option->argument != NULL && option->argument[0] == '[';
}

static void print_option(const struct sg_command_option *option)
{
    int column = printf("  -%c, --%s%s%s", option->letter, option->name,
                        option->argument != NULL && !may_lack(option) ? " " : "",
                        option->argument != NULL ? option->argument : "");

    if (column + 2 > TEXT_COLUMN) {
        putchar('\n');
        column = 0;
    }
    printf("%*s", TEXT_COLUMN - column, "");
    print_wrapped(option->says, TEXT_COLUMN, TEXT_COLUMN);
}

static void print_help(const struct sg_usage *usage)
{
    printf("Usage: stagger %s%s%s\n\n", usage->command, *usage->synopsis != '\0' ? " " : "",
           usage->synopsis);
    print_wrapped(usage->text, 0, 0);
    putchar('\n');
    for (const struct sg_command_option *row = usage->options; row != NULL && row->name != NULL;
         row++)
        print_option(row);
    print_option(&help_option);
    if (usage->end != NULL) {
        putchar('\n');
        print_wrapped(usage->end, 0, 0);
    }
}

/* ---- bad usage ------------------------------------------------------------------------------- */

void sg_usage_fault(const struct sg_usage *usage, const char *format, ...)
{
    char text[900];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sg_log("%s: %s (see stagger %s --help)", usage->command, text, usage->command);
    exit(SG_USAGE_STATUS);
}

const struct sg_column *sg_usage_column(const struct sg_usage *usage, const char *what,
                                        const char *name, struct sg_columns columns)
{
    const struct sg_column *found = sg_column_find(columns, name);

    if (found == NULL) {
        char *known = sg_column_names(columns);

        sg_log("%s: no %s '%s' to sort by; there are:%s", usage->command, what, name,
               known != NULL ? known : "");
        free(known);
        exit(SG_USAGE_STATUS);
    }
    return found;
}

void sg_usage_set_top(const struct sg_usage *usage, const char *text, void *to)
{
    const char *end = text + strlen(text);
    uint64_t value;

    if (sg_text_number(text, end, false, &value) != end || value < 1 || value > UINT32_MAX)
        sg_usage_fault(usage, "--top wants a number of rows from 1 up, not '%s'", text);
    *(uint32_t *)to = (uint32_t)value;
}

/* ---- reading --------------------------------------------------------------------------------- */

static const struct sg_command_option *find_option(const struct sg_usage *usage, int letter)
{
    const struct sg_command_option *row = usage->options;

    while (row != NULL && row->name != NULL && row->letter != letter)
        row++;
    return row != NULL && row->name != NULL ? row : NULL;
}

static void set_option(const struct sg_usage *usage, const struct sg_command_option *option)
{
    if (option->set != NULL)
        option->set(usage, optarg, option->to);
    else if (option->argument != NULL)
        *(const char **)option->to = optarg;
    else
        *(bool *)option->to = true;
}

/* Reports the option that getopt_long refused; outcome: '?' or ':'. */
static _Noreturn void complain(const struct sg_usage *usage, int outcome, char **argv)
{
    const struct sg_command_option *option = find_option(usage, optopt);

    if (outcome == ':')
        sg_usage_fault(usage, "option %s needs a value", argv[optind - 1]);
    if (option != NULL)
        sg_usage_fault(usage, "option --%s takes no value", option->name);
    if (optopt != 0)
        sg_usage_fault(usage, "unknown option -%c", optopt);
    sg_usage_fault(usage, "unknown option %s", argv[optind - 1]);
}

static void check_operands(const struct sg_usage *usage, const struct sg_arguments *operands)
{
    if (operands->count == 0 && usage->operand != NULL && !usage->many && !usage->is_optional)
        sg_usage_fault(usage, "%s is missing", usage->operand);
    if (operands->count > 0 && usage->operand == NULL)
        sg_usage_fault(usage, "unexpected '%s'; it takes no arguments", operands->words[0]);
    if (operands->count > 1 && !usage->many)
        sg_usage_fault(usage, "one %s at a time", usage->operand);
}

/* Translates the option table for getopt_long. */
static void make_tables(const struct sg_usage *usage, struct option *names, char *letters)
{
    const struct sg_command_option *row = usage->options;

    *letters++ = usage->is_launcher ? '+' : ':';
    if (usage->is_launcher)
        *letters++ = ':';
    for (; row != NULL && row->name != NULL; row++) {
        *names++ = (struct option){row->name,
                                   row->argument == NULL ? no_argument
                                   : may_lack(row)       ? optional_argument
                                                         : required_argument,
                                   NULL, row->letter};
        *letters++ = row->letter;
        for (int colons = (row->argument != NULL) + may_lack(row); colons > 0; colons--)
            *letters++ = ':';
    }
    *letters++ = 'h';
    *letters = '\0';
    *names++ = (struct option){"help", no_argument, NULL, 'h'};
    *names++ = (struct option){"usage", no_argument, NULL, 'h'};
    *names = (struct option){0};
}

struct sg_arguments sg_usage_read(const struct sg_usage *usage, int argc, char **argv)
{
    struct option names[OPTIONS_MAX + 3];
    char letters[3 * OPTIONS_MAX + 4];
    struct sg_arguments operands;
    int letter;

    make_tables(usage, names, letters);
    opterr = 0;
    optind = 0; /* resets getopt after any earlier parse */
    while ((letter = getopt_long(argc, argv, letters, names, NULL)) != -1) {
        if (letter == 'h' || (letter == '?' && optopt == '?')) {
            print_help(usage);
            exit(sg_usage_finish(0));
        }
        if (letter == '?' || letter == ':')
            complain(usage, letter, argv);
        set_option(usage, find_option(usage, letter));
    }
    operands = (struct sg_arguments){argv + optind, argc - optind};
    check_operands(usage, &operands);
    return operands;
}

int sg_usage_finish(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    sg_log("the output cannot be written: %m");
    return status != 0 ? status : 1;
}
