/* A parameter as a table describes it (algos/parameters.h has the tables), and reading its values.
 *
 * Pure: any thread.
 */
#ifndef SG_CORE_PARAMETER_H
#define SG_CORE_PARAMETER_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
