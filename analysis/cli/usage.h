/* The command line of a command: its options in a table of one row each, by which it is read and
 * --help is printed. Bad usage is one line on standard error and exit status 2.
 *
 * Every command has -h and --help, which are in no table; -? and --usage do the same.
 */
#ifndef SG_CLI_USAGE_H
#define SG_CLI_USAGE_H

#include "output/column.h"

#include <stdbool.h>
#include <stddef.h>

struct sg_usage;

/* Reads a value into *to, or complains (sg_usage_fault). text: NULL where an option that may have a
 * value has none. */
typedef void (*sg_option_set)(const struct sg_usage *usage, const char *text, void *to);

struct sg_command_option {
    const char *name;
    char letter;
    const char
        *argument;     /* what --help calls its value; NULL: takes none; "[=X]": it may have one */
    const char *says;  /* for --help */
    void *to;          /* a bool that becomes true or, of an option with a value, a const char * */
    sg_option_set set; /* NULL, or what reads the value into another type */
};

struct sg_usage {
    const char *command;
    const char *synopsis; /* behind "stagger COMMAND" */
    const char *operand;  /* what an operand is called; NULL: there are none */
    bool many;            /* any number of them, as the command checks; else one */
    bool is_optional;     /* none will do, too */
    bool is_launcher; /* options end at the first operand: those behind it are another program's */
    const char *text; /* what the command does: paragraphs, without a newline at the end */
    const char *end;  /* what --help ends with; NULL: nothing */
    const struct sg_command_option *options; /* the last one has no name; NULL: none */
};

struct sg_arguments {
    char **words; /* the command line's, moved behind the options */
    int count;
};

/* --help and bad usage end the program. */
struct sg_arguments sg_usage_read(const struct sg_usage *usage, int argc, char **argv);

/* Says what is wrong in one line, and ends the program with the status of bad usage. */
_Noreturn void sg_usage_fault(const struct sg_usage *usage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The column to sort by; bad usage where there is none of that name. what: what the command calls a
 * column. */
const struct sg_column *sg_usage_column(const struct sg_usage *usage, const char *what,
                                        const char *name, struct sg_columns columns);

/* A number of rows from 1 up, into a uint32_t: of --top. */
void sg_usage_set_top(const struct sg_usage *usage, const char *text, void *to);

/* Writes out what is left of standard output. Returns status, or 1 (one line) where output is lost:
 * that must not look like success. */
int sg_usage_finish(int status);

/* Bad usage of which a line has told. */
#define SG_USAGE_STATUS 2

#endif
