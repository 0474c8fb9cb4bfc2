/* The options of a command as a table, which argp's table, --help and the values all come from.
 *
 * A row says where in the command's structure its value goes, and names the function that reads it.
 * Such a function gives NULL, or what is wrong with the text, to be put behind the option's name:
 * "wants a number from 1 to 9, not 'x'", or, with a colon in front, ": no such algorithm"; `fault`
 * has room for it. It writes where the row says, and more only where it says so.
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
    const char *name;     /* NULL: the end of the table */
    int letter;           /* 0: none */
    const char *argument; /* the value's name in --help; NULL: the option takes none */
    const char *says;
    sg_option_reader *read;
    size_t at; /* of the value, in the structure that is read into */
    uint64_t least, most;
    const char *const *words; /* of sg_option_word; NULL at the end */
    unsigned commands;        /* which take it, as a mask of the caller's */
    int group;                /* in --help */
};

struct sg_numbers {
    double list[SG_OPTION_LIST_MAX];
    int count;
};

/* ---- values */

/* Each writes a value of its type. Numbers are decimal, from least to most. */
sg_option_reader sg_option_flag; /* bool: true */
sg_option_reader sg_option_text; /* const char *: argv's */
sg_option_reader sg_option_word; /* int: the word's place in words */
sg_option_reader sg_option_u32;  /* uint32_t or int32_t */
sg_option_reader sg_option_u64;
sg_option_reader sg_option_real;  /* double; above 0 */
sg_option_reader sg_option_reals; /* struct sg_numbers */
sg_option_reader sg_option_wholes;

/* ---- for functions that read others */

static inline void *sg_option_place(const struct sg_option *option, void *into)
{
    return (char *)into + option->at;
}

/* Hands the words between commas to `take` until one is wrong. An empty word is one. */
typedef const char *sg_option_taker(const struct sg_option *option, const char *word, size_t length,
                                    void *into, char *fault);
const char *sg_option_each(const struct sg_option *option, const char *list, sg_option_taker *take,
                           void *into, char *fault);

/* "wants WANTS, not 'WORD'". */
const char *sg_option_wants(char *fault, const char *wants, const char *word, size_t length);
const char *sg_option_fault(char *fault, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The word's place among words, which end with NULL; -1: it is none of them. */
int sg_option_find_word(const char *const *words, const char *word, size_t length);

/* ---- argp */

/* Writes argp's rows of a table and its end; returns how many there are without the end. Options
 * without a letter have keys from first_key on. */
int sg_options_fill(const struct sg_option *table, int first_key, struct argp_option *rows);
/* The option of a key, or NULL. */
const struct sg_option *sg_options_find(const struct sg_option *table, int first_key, int key);

/* A command line that ends the program when it is wrong, with one line and status 2. */
struct sg_command_line {
    char *name;                            /* of the command: "stagger sim cpu" */
    const char *arguments, *documentation; /* of argp */
    struct sg_option_table {
        const struct sg_option *options; /* NULL: none */
        void *into;
    } tables[2];
    const char **argument; /* where the one argument goes; NULL: none is taken */
};

#define SG_OPTIONS_USAGE 2 /* the exit status of bad usage */

/* False where argp has not ended the program on bad usage, which it has told of. */
bool sg_options_read(const struct sg_command_line *line, int argc, char **argv);

#endif
