/* The options of a command as a table: one row drives parsing, checks and --help (with argp).
 *
 * A row gives the offset of its value in the command's structure and the function that reads it.
 * The reader returns NULL, or a message about the text that follows the option's name: "wants a
 * number from 1 to 9, not 'x'", or, with a leading colon, ": no such algorithm"; the
 * message is empty if the reader has logged the error. `fault` is the buffer for the message. A
 * reader writes only the row's value, unless its comment says otherwise.
 */
#ifndef SG_OPTIONS_OPTIONS_H
#define SG_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_OPTION_FAULT_BYTES 1000
#define SG_OPTION_LIST_MAX 32

struct sg_columns;
struct sg_option;
typedef const char *sg_option_reader(const struct sg_option *option, const char *text, void *into,
                                     char fault[SG_OPTION_FAULT_BYTES]);

struct sg_option {
    const char *name;     /* NULL: end of the table */
    int letter;           /* 0: none */
    const char *argument; /* name of the value in --help; NULL: the option takes none */
    const char *says;
    sg_option_reader *read;
    size_t at; /* offset of the value in the structure */
    uint64_t least, most;
    const char *const *words;         /* for sg_option_word; NULL at the end */
    const struct sg_columns *columns; /* for the caller's readers */
    bool optional;                    /* the value may be missing: the reader gets NULL */
    const char *needs;                /* the option without which this one has no effect */
    const char *excludes;             /* options, separated by blanks, that cannot be combined */
    const char *because;              /* the reason: "covers the whole run"; NULL: none */
    unsigned commands;                /* the commands that take it, as a mask of the caller */
    int group;                        /* in --help */
};

struct sg_numbers {
    double list[SG_OPTION_LIST_MAX];
    int count;
};

/* ---- values ---------------------------------------------------------------------------------- */

/* Each reader writes a value of its type. Numbers are decimal, from least to most. */
sg_option_reader sg_option_flag;  /* bool: true */
sg_option_reader sg_option_text;  /* const char *: points into argv */
sg_option_reader sg_option_word;  /* int: index of the word in words; 0 if the value is missing */
sg_option_reader sg_option_least; /* int: the row's least, for options without a value */
sg_option_reader sg_option_u32;   /* uint32_t or int32_t */
sg_option_reader sg_option_u64;
sg_option_reader sg_option_real;  /* double; above 0 */
sg_option_reader sg_option_reals; /* struct sg_numbers */
sg_option_reader sg_option_wholes;

/* ---- parts of other readers ------------------------------------------------------------------ */

static inline void *sg_option_place(const struct sg_option *option, void *into)
{
    return (char *)into + option->at;
}

/* Passes the words between commas to `take` until one is wrong. An empty word is passed, too. */
typedef const char *sg_option_taker(const struct sg_option *option, const char *word, size_t length,
                                    void *into, char *fault);
const char *sg_option_each(const struct sg_option *option, const char *list, sg_option_taker *take,
                           void *into, char *fault);

/* Makes "wants WANTS, not 'WORD'". */
const char *sg_option_wants(char *fault, const char *wants, const char *word, size_t length);
const char *sg_option_fault(char *fault, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The index of a word in words, which end with NULL; -1: not found. */
int sg_option_find_word(const char *const *words, const char *word, size_t length);

/* ---- a command line -------------------------------------------------------------------------- */

#define SG_OPTIONS_USAGE 2 /* exit status of bad usage */

struct sg_command_line {
    const char *name;                      /* "stagger sim cpu" */
    const char *arguments, *documentation; /* for argp; a \v in the latter precedes the options */
    struct sg_option_table {
        const struct sg_option *options; /* NULL: none */
        void *into;
    } tables[2];
    int most;         /* arguments that are allowed */
    bool is_launcher; /* options end at the first argument: later ones belong to another program */
    /* Set by reading: the arguments, as pointers into argv, which is permuted; and for each table a
     * bit for each option given, by its place. */
    char **words;
    int count;
    uint64_t given[2];
};

enum sg_options_verdict {
    SG_OPTIONS_READ,
    SG_OPTIONS_HELP, /* --help has been printed */
    SG_OPTIONS_BAD   /* bad usage; one line has been logged */
};

/* Reads a command line without ending the program. Every command has -h and --help, which are in
 * no table; -? and --usage do the same. */
enum sg_options_verdict sg_options_parse(struct sg_command_line *line, int argc, char **argv);
/* The same, but exits on --help and on bad usage. */
void sg_options_read(struct sg_command_line *line, int argc, char **argv);
/* The one argument; NULL: it is missing. */
const char *sg_options_argument(const struct sg_command_line *line);
/* True if the option, which must be in the first table, was given. */
bool sg_options_given(const struct sg_command_line *line, const char *name);

/* Logs one line about bad usage, and exits. */
_Noreturn void sg_options_fault(const struct sg_command_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Flushes standard output. Returns status, or 1 (one line logged) if output was lost: that must not
 * look like success. */
int sg_options_finish(int status);

#endif
