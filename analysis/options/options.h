/* The options of a command as a table, the source of argp's table, --help and the values.
 *
 * A row gives the offset of its value in the command's structure and the function that reads it.
 * The reader returns NULL, or a message about the text that follows the option's name: "wants a
 * number from 1 to 9, not 'x'", or, with a leading colon, ": no such algorithm". `fault` is the
 * buffer for the message. A reader writes only the row's value, unless its comment says otherwise.
 */
#ifndef SG_OPTIONS_OPTIONS_H
#define SG_OPTIONS_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_OPTION_FAULT_BYTES 400
#define SG_OPTION_LIST_MAX 32

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
    const char *const *words; /* for sg_option_word; NULL at the end */
    unsigned commands;        /* the commands that take it, as a mask defined by the caller */
    int group;                /* in --help */
};

struct sg_numbers {
    double list[SG_OPTION_LIST_MAX];
    int count;
};

/* ---- values ---------------------------------------------------------------------------------- */

/* Each reader writes a value of its type. Numbers are decimal, from least to most. */
sg_option_reader sg_option_flag; /* bool: true */
sg_option_reader sg_option_text; /* const char *: points into argv */
sg_option_reader sg_option_word; /* int: index of the word in words */
sg_option_reader sg_option_u32;  /* uint32_t or int32_t */
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

/* ---- argp ------------------------------------------------------------------------------------ */

/* Writes argp's rows of a table, and its end; returns the number of rows without the end. Options
 * without a letter get keys from first_key on. */
int sg_options_fill(const struct sg_option *table, int first_key, struct argp_option *rows);
/* The option of a key, or NULL. */
const struct sg_option *sg_options_find(const struct sg_option *table, int first_key, int key);

/* A command line. If it is wrong, the program ends with one line and status 2. */
struct sg_command_line {
    char *name;                            /* name of the command: "stagger sim cpu" */
    const char *arguments, *documentation; /* for argp */
    struct sg_option_table {
        const struct sg_option *options; /* NULL: none */
        void *into;
    } tables[2];
    const char **argument; /* receives the one argument; NULL: none is allowed */
};

#define SG_OPTIONS_USAGE 2 /* exit status of bad usage */

/* Returns false if argp reported bad usage without ending the program. */
bool sg_options_read(const struct sg_command_line *line, int argc, char **argv);

#endif
