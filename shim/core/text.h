/* Users' text: numbers in it, columns, and excerpts that are safe to show.
 *
 * Pure functions, thread-safe; any bytes are accepted, malformed UTF-8 included.
 */
#ifndef SG_CORE_TEXT_H
#define SG_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the UTF-8 character that text of length bytes (at least 1) begins with; 0 where it
 * begins with none. Overlong forms, surrogates and values past U+10FFFF are none. */
size_t sg_text_character(const char *text, size_t length);
/* Whether the character of so many bytes is C0, C1 or DEL: what could move a terminal's cursor. */
bool sg_text_is_control(const char *text, size_t bytes);

/* Room for an excerpt in a message. */
#define SG_EXCERPT_BYTES 80

/* Copies length bytes of text for a message: control characters and bytes that are not UTF-8
 * become '?', and what does not fit size_bytes (at least 8) ends in "...". Returns excerpt. */
const char *sg_text_excerpt(const char *text, size_t length, char *excerpt, size_t size_bytes);

/* Room for a path of PATH_MAX bytes as a word of the shell. */
#define SG_WORD_BYTES 16400

/* The text as one word to paste into a shell: itself where it needs no quotes, else quoted in word,
 * control characters and bytes that are not UTF-8 as bash and zsh read them ($'\x0a'). What does
 * not fit size_bytes is returned as it is. */
const char *sg_text_word(const char *text, char *word, size_t size_bytes);
/* The column, from 1, of text[position]: characters, not bytes. */
int sg_text_column(const char *text, size_t position);
/* What follows the last '/' of a path, unless that is nothing; NULL for NULL. */
const char *sg_text_base_name(const char *path);
/* Copies text to size_bytes (at least 1) at to; of one that is too long the end. */
void sg_text_tail(const char *text, char *to, size_t size_bytes);

/* Levenshtein's distance of two texts of at most SG_DISTANCE_BYTES bytes. */
#define SG_DISTANCE_BYTES 60

int sg_text_distance(const char *a, const char *b);
/* Reads decimal digits at begin and, with suffixes, a k, m or g (powers of 1024, either case).
 * Returns where the number ends, NULL where there is none or it exceeds 64 bits. */
const char *sg_text_number(const char *begin, const char *end, bool suffixes, uint64_t *out);

/* Ranks as users write them: "3", "0-3,7". */

#define SG_RANK_RANGES 32

struct sg_rank_list {
    uint32_t count; /* of ranges */
    struct {
        uint32_t first, last;
    } ranges[SG_RANK_RANGES];
};

/* False: the text is none, or has more ranges than fit. */
bool sg_rank_list_parse(const char *text, struct sg_rank_list *out);
bool sg_rank_list_has(const struct sg_rank_list *list, uint32_t rank);

/* A parameter as a table describes it (algos/parameters.h has the tables), and reading its values.
 *
 * Pure: any thread.
 */

struct sg_algo_parameters;

enum sg_parameter_kind { SG_PARAMETER_INTEGER, SG_PARAMETER_CHOICE };

struct sg_parameter {
    const char *name;
    enum sg_parameter_kind kind;
    int64_t low, high;   /* inclusive, for integers */
    const char *choices; /* "auto|off": index is the value; for an integer, words it also takes,
                            valued low - 1, low - 2, ...; NULL: none */
    const char *default_text;
    const char *unit; /* "microseconds"; NULL: a count, or a word */
    const char *documentation;
    /* Where a value goes. NULL: nowhere in the protocol's, the engine looks at it. */
    void (*put)(const struct sg_parameter *parameter, int64_t value,
                struct sg_algo_parameters *into);
    uint16_t offset, size_bytes; /* of the field */
    uint32_t scale;              /* what the field counts, in one of the unit */
};

/* Reads the value between begin and end. False: it is none. */
bool sg_parameter_parse(const struct sg_parameter *parameter, const char *begin, const char *end,
                        int64_t *value);

/* The collectives stagger handles. The numbers are stored in logs: append only. */

enum sg_operation {
    SG_OPERATION_BARRIER = 0,
    SG_OPERATION_REDUCE = 1,
    SG_OPERATION_ALLREDUCE = 2,
    SG_OPERATION_BCAST = 3,
    SG_OPERATION_COUNT = 4
};

/* "barrier", "reduce", "allreduce", "bcast": as rules and reports spell them. */
extern const char *const sg_operation_names[SG_OPERATION_COUNT];

/* "MPI_Barrier", ...: as the trace's regions are called. */
extern const char *const sg_operation_regions[SG_OPERATION_COUNT];

/* "ibarrier", ... and "MPI_Ibarrier", ...: so are their nonblocking forms. */
extern const char *const sg_operation_nonblocking_names[SG_OPERATION_COUNT];

extern const char *const sg_operation_nonblocking_regions[SG_OPERATION_COUNT];

/* Whether one of its members is not like the others. */
static inline bool sg_operation_has_root(enum sg_operation operation)
{
    return operation == SG_OPERATION_REDUCE || operation == SG_OPERATION_BCAST;
}

/* Whether no member can leave before all have come. */
static inline bool sg_operation_synchronises(enum sg_operation operation)
{
    return !sg_operation_has_root(operation);
}

#endif
