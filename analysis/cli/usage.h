/* Parses the command line of a command. One table row for each option drives both parsing and
 * --help. Bad usage prints one line on standard error and exits with status 2.
 *
 * Every command has -h and --help, which are in no table; -? and --usage do the same.
 */
#ifndef SG_CLI_USAGE_H
#define SG_CLI_USAGE_H

#include "output/column.h"

#include <stdbool.h>
#include <stddef.h>

struct sg_usage;

/* Reads a value into *to, or exits with sg_usage_fault. text is NULL if an optional value is
 * missing. */
typedef void (*sg_option_set)(const struct sg_usage *usage, const char *text, void *to);

struct sg_command_option {
    const char *name;
    char letter;
    const char *argument; /* name of its value in --help; NULL: takes none; "[=X]": optional */
    const char *says;     /* description in --help */
    void *to;             /* a bool to set; with a value, a const char * to set */
    sg_option_set set;    /* converts the value to another type; NULL: not needed */
};

struct sg_usage {
    const char *command;
    const char *synopsis; /* follows "stagger COMMAND" */
    const char *operand;  /* name of an operand; NULL: takes none */
    bool many;            /* any number of operands, which the command checks; else one */
    bool is_optional;     /* the operand may be missing */
    bool is_launcher; /* options end at the first operand: later ones belong to another program */
    const char *text; /* description of the command: paragraphs, without a final newline */
    const char *end;  /* last paragraphs of --help; NULL: nothing */
    const struct sg_command_option *options; /* the last one has no name; NULL: none */
};

struct sg_arguments {
    char **words; /* pointers into argv, permuted behind the options */
    int count;
};

/* Exits on --help and on bad usage. */
struct sg_arguments sg_usage_read(const struct sg_usage *usage, int argc, char **argv);

/* Logs one line about the error and exits with the status of bad usage. */
_Noreturn void sg_usage_fault(const struct sg_usage *usage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The column to sort by. Exits with bad usage if no column has that name. what: the command's word
 * for a column. */
const struct sg_column *sg_usage_column(const struct sg_usage *usage, const char *what,
                                        const char *name, struct sg_columns columns);

/* Sets a uint32_t to a number of rows from 1 up, for --top. */
void sg_usage_set_top(const struct sg_usage *usage, const char *text, void *to);

/* Flushes standard output. Returns status, or 1 (one line logged) if output was lost: that must not
 * look like success. */
int sg_usage_finish(int status);

/* Exit status of bad usage, which has been logged. */
#define SG_USAGE_STATUS 2

#endif
