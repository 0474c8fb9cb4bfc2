/* Text from users: numbers, columns, lists of ranks, excerpts that are safe to show, values of
 * parameters, and the names of the operations.
 *
 * Pure functions, thread-safe; any bytes are accepted, including malformed UTF-8. */
#ifndef SG_CORE_TEXT_H
#define SG_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the bytes of the UTF-8 character at the start of text, which has length bytes (at least
 * 1); 0 if there is no valid one. Overlong forms, surrogates and values beyond U+10FFFF are
 * invalid. */
size_t sg_text_character(const char *text, size_t length);
/* True if the character of that many bytes is C0, C1 or DEL, which could move a terminal's
 * cursor. */
bool sg_text_is_control(const char *text, size_t bytes);

/* Capacity for an excerpt in a message. */
#define SG_EXCERPT_BYTES 80

/* Copies length bytes of text for a message: replaces control characters and invalid UTF-8 by '?',
 * and ends text that does not fit size_bytes (at least 8) in "...". Returns excerpt. */
const char *sg_text_excerpt(const char *text, size_t length, char *excerpt, size_t size_bytes);

/* Capacity for a path of PATH_MAX bytes as a shell word. */
#define SG_WORD_BYTES 16400

/* Returns the text as one word to paste into a shell. Text that needs no quotes is returned itself;
 * other text is quoted in word, control characters and invalid UTF-8 in the form that bash and zsh
 * read ($'\x0a'). Text that does not fit size_bytes is returned unchanged. */
const char *sg_text_word(const char *text, char *word, size_t size_bytes);
/* Column of text[position], from 1, counted in characters, not bytes. */
int sg_text_column(const char *text, size_t position);
/* Returns the part of a path after the last '/', or the path if that part is empty; NULL for
 * NULL. */
const char *sg_text_base_name(const char *path);
/* Copies text to `to`, of size_bytes (at least 1); of a text that is too long, only the end. */
void sg_text_tail(const char *text, char *to, size_t size_bytes);

/* Levenshtein distance of two texts of at most SG_DISTANCE_BYTES bytes. */
#define SG_DISTANCE_BYTES 60

int sg_text_distance(const char *a, const char *b);
/* Reads decimal digits at begin and, with suffixes, a k, m or g (powers of 1024, either case).
 * Returns the end of the number; NULL if there is none or it exceeds 64 bits. */
const char *sg_text_number(const char *begin, const char *end, bool suffixes, uint64_t *out);

/* Lists of ranks as users write them: "3", "0-3,7". */

#define SG_RANK_RANGES 32

struct sg_rank_list {
    uint32_t count; /* of ranges */
    struct {
        uint32_t first, last;
    } ranges[SG_RANK_RANGES];
};

/* False: the text is no list, or has too many ranges. */
bool sg_rank_list_parse(const char *text, struct sg_rank_list *out);
bool sg_rank_list_has(const struct sg_rank_list *list, uint32_t rank);

/* A parameter's description in a table (algos/parameters.h has the tables), and the parser of its
 * values. Pure: any thread. */

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
    /* Stores a value. NULL: the value is not a protocol parameter, the engine reads it. */
    void (*put)(const struct sg_parameter *parameter, int64_t value,
                struct sg_algo_parameters *into);
    uint16_t offset, size_bytes; /* of the field */
    uint32_t scale;              /* field units per unit of the parameter */
};

/* Parses the value between begin and end. False: invalid. */
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

/* "barrier", "reduce", "allreduce", "bcast": the spelling of rules and reports. */
extern const char *const sg_operation_names[SG_OPERATION_COUNT];

/* "MPI_Barrier", ...: the names of the trace's regions. */
extern const char *const sg_operation_regions[SG_OPERATION_COUNT];

/* "ibarrier", ... and "MPI_Ibarrier", ...: the same for the nonblocking forms. */
extern const char *const sg_operation_nonblocking_names[SG_OPERATION_COUNT];

extern const char *const sg_operation_nonblocking_regions[SG_OPERATION_COUNT];

/* True if one member, the root, differs from the others. */
static inline bool sg_operation_has_root(enum sg_operation operation)
{
    return operation == SG_OPERATION_REDUCE || operation == SG_OPERATION_BCAST;
}

/* True if no member can leave before all have arrived. */
static inline bool sg_operation_synchronises(enum sg_operation operation)
{
    return !sg_operation_has_root(operation);
}

#endif
