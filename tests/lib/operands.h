/* Operands of reductions for tests: random values, hard cases among them. Compares results bit for
 * bit in the bytes that hold an element's value, not in padding.
 */
#ifndef SG_TESTS_LIB_OPERANDS_H
#define SG_TESTS_LIB_OPERANDS_H

#include "algos/kernels/kernel.h"

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Value bytes of a long double: x87 uses 10 of the 16. */
#if LDBL_MANT_DIG == 64
#define LONG_DOUBLE_BYTES 10
#else
#define LONG_DOUBLE_BYTES 16
#endif

enum operand_values {
    OPERANDS_ORDINARY, /* finite, of similar magnitude: other orders of summing give other bits */
    OPERANDS_HARD,     /* infinities, denormals, zeros of both signs, extremes, ties, one NaN */
    OPERANDS_NANS,     /* the same, with NaNs of every kind */
};

/* Kind of a value inside an element. */
enum operand_kind { OPERAND_NONE, OPERAND_BITS, OPERAND_TRUTH, OPERAND_REAL };

struct operand_field {
    enum operand_kind kind;
    unsigned offset_bytes;
    unsigned size_bytes; /* for a real: 4, 8 or LONG_DOUBLE_BYTES */
};

static const struct operand_field operand_fields[SG_ELEMENT_COUNT][2] = {
    [SG_ELEMENT_INT8] = {{OPERAND_BITS, 0, 1}},
    [SG_ELEMENT_INT16] = {{OPERAND_BITS, 0, 2}},
    [SG_ELEMENT_INT32] = {{OPERAND_BITS, 0, 4}},
    [SG_ELEMENT_INT64] = {{OPERAND_BITS, 0, 8}},
    [SG_ELEMENT_UINT8] = {{OPERAND_BITS, 0, 1}},
    [SG_ELEMENT_UINT16] = {{OPERAND_BITS, 0, 2}},
    [SG_ELEMENT_UINT32] = {{OPERAND_BITS, 0, 4}},
    [SG_ELEMENT_UINT64] = {{OPERAND_BITS, 0, 8}},
    [SG_ELEMENT_BYTE] = {{OPERAND_BITS, 0, 1}},
    [SG_ELEMENT_BOOL] = {{OPERAND_TRUTH, 0, 1}},
    [SG_ELEMENT_LOGICAL] = {{OPERAND_TRUTH, 0, 4}},
    [SG_ELEMENT_FLOAT] = {{OPERAND_REAL, 0, 4}},
    [SG_ELEMENT_DOUBLE] = {{OPERAND_REAL, 0, 8}},
    [SG_ELEMENT_LONG_DOUBLE] = {{OPERAND_REAL, 0, LONG_DOUBLE_BYTES}},
    [SG_ELEMENT_REAL4] = {{OPERAND_REAL, 0, 4}},
    [SG_ELEMENT_REAL8] = {{OPERAND_REAL, 0, 8}},
    [SG_ELEMENT_REAL16] = {{OPERAND_BITS, 0, 8}, {OPERAND_BITS, 8, 8}},
    [SG_ELEMENT_C_COMPLEX_FLOAT] = {{OPERAND_REAL, 0, 4}, {OPERAND_REAL, 4, 4}},
    [SG_ELEMENT_C_COMPLEX_DOUBLE] = {{OPERAND_REAL, 0, 8}, {OPERAND_REAL, 8, 8}},
    [SG_ELEMENT_C_COMPLEX_LONG_DOUBLE] = {{OPERAND_REAL, 0, LONG_DOUBLE_BYTES},
                                          {OPERAND_REAL, 16, LONG_DOUBLE_BYTES}},
    [SG_ELEMENT_COMPLEX_FLOAT] = {{OPERAND_REAL, 0, 4}, {OPERAND_REAL, 4, 4}},
    [SG_ELEMENT_COMPLEX_DOUBLE] = {{OPERAND_REAL, 0, 8}, {OPERAND_REAL, 8, 8}},
    [SG_ELEMENT_COMPLEX_LONG_DOUBLE] = {{OPERAND_REAL, 0, LONG_DOUBLE_BYTES},
                                        {OPERAND_REAL, 16, LONG_DOUBLE_BYTES}},
    [SG_ELEMENT_FLOAT_INT] = {{OPERAND_REAL, 0, 4}, {OPERAND_BITS, 4, 4}},
    [SG_ELEMENT_DOUBLE_INT] = {{OPERAND_REAL, 0, 8}, {OPERAND_BITS, 8, 4}},
    [SG_ELEMENT_LONG_INT] = {{OPERAND_BITS, 0, 8}, {OPERAND_BITS, 8, 4}},
    [SG_ELEMENT_INT_INT] = {{OPERAND_BITS, 0, 4}, {OPERAND_BITS, 4, 4}},
    [SG_ELEMENT_SHORT_INT] = {{OPERAND_BITS, 0, 2}, {OPERAND_BITS, 4, 4}},
    [SG_ELEMENT_LONG_DOUBLE_INT] = {{OPERAND_REAL, 0, LONG_DOUBLE_BYTES}, {OPERAND_BITS, 16, 4}},
    [SG_ELEMENT_FLOAT_FLOAT] = {{OPERAND_REAL, 0, 4}, {OPERAND_REAL, 4, 4}},
    [SG_ELEMENT_DOUBLE_DOUBLE] = {{OPERAND_REAL, 0, 8}, {OPERAND_REAL, 8, 8}},
};

/* splitmix64 */
static inline uint64_t operand_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline void operand_store(unsigned char *at, unsigned size_bytes, long double value)
{
    float f = (float)value;
    double d = (double)value;

    memcpy(at,
           size_bytes == 4   ? (void *)&f
           : size_bytes == 8 ? (void *)&d
                             : (void *)&value,
           size_bytes);
}

static inline bool operand_is_nan(const unsigned char *at, unsigned size_bytes)
{
    float f = 0;
    double d = 0;
    long double x = 0;

    memcpy(size_bytes == 4   ? (void *)&f
           : size_bytes == 8 ? (void *)&d
                             : (void *)&x,
           at, size_bytes);
    return size_bytes == 4 ? f != f : size_bytes == 8 ? d != d : x != x;
}

/* Stores the processor's own NaN: combining it with any other operand has one possible result. */
static inline void operand_store_nan(unsigned char *at, unsigned size_bytes)
{
    static volatile long double zero; /* volatile: the compiler must not divide */
    static volatile float zero_f;
    static volatile double zero_d;
    const float f = zero_f / zero_f;
    const double d = zero_d / zero_d;
    const long double x = zero / zero;

    memcpy(at,
           size_bytes == 4   ? (const void *)&f
           : size_bytes == 8 ? (const void *)&d
                             : (const void *)&x,
           size_bytes);
}

/* Stores random bits that form a number or a NaN: x87 has encodings that are neither. */
static inline void operand_store_bits(unsigned char *at, unsigned size_bytes, uint64_t *random)
{
    uint64_t low = operand_random(random), high = operand_random(random);

    if (size_bytes != 10) {
        memcpy(at, &low, size_bytes < 8 ? size_bytes : 8);
        if (size_bytes > 8)
            memcpy(at + 8, &high, size_bytes - 8);
        return;
    }
    low = (high & 0x7fff) != 0 ? low | UINT64_C(1) << 63 : low & ~(UINT64_C(1) << 63);
    memcpy(at, &low, 8);
    memcpy(at + 8, &high, 2);
}

static inline void operand_real(unsigned char *at, unsigned size_bytes, enum operand_values values,
                                uint64_t *random)
{
    static const long double hard[] = {0,        -0.0L,     1,          -1,         2,
                                       3,        0x1p-149L, -0x1p-140L, 0x1p-1074L, 0x1p-16445L,
                                       0x1p127L, 0x1p1023L, 0x1p16383L, 0x1p-126L,  0x1p-70L};
    const uint64_t choice = operand_random(random);
    const unsigned hard_count = sizeof hard / sizeof hard[0];

    if (values == OPERANDS_ORDINARY) {
        operand_store(at, size_bytes, (long double)(int64_t)choice / 0x1p62L);
    } else if (choice % 4 == 0) {
        operand_store(at, size_bytes, hard[choice / 4 % hard_count]);
    } else if (choice % 16 == 1) {
        operand_store(at, size_bytes, choice & 64 ? __builtin_infl() : -__builtin_infl());
    } else if (choice % 16 == 2) {
        operand_store_nan(at, size_bytes);
    } else {
        operand_store_bits(at, size_bytes, random);
        if (values != OPERANDS_NANS && operand_is_nan(at, size_bytes))
            operand_store_nan(at, size_bytes);
    }
}

static inline void operand_bits(unsigned char *at, unsigned size_bytes, enum operand_values values,
                                uint64_t *random)
{
    uint64_t choice = operand_random(random), bits = operand_random(random);
    const uint64_t top = UINT64_C(1) << (8 * size_bytes - 1);
    const uint64_t hard[] = {0, 1, 2, ~UINT64_C(0), top, top - 1, top + 1, 255};

    if (values != OPERANDS_ORDINARY && choice % 3 == 0)
        bits = hard[choice / 3 % (sizeof hard / sizeof hard[0])];
    memcpy(at, &bits, size_bytes);
}

/* Writes count elements; padding becomes random too. The same seed gives the same bytes. */
static inline void operands_fill(enum sg_element element, enum operand_values values, uint64_t seed,
                                 void *buffer, size_t count)
{
    const size_t extent_bytes = sg_element_extent_bytes(element);
    uint64_t random = seed;

    for (size_t i = 0; i < count; i++) {
        unsigned char *at = (unsigned char *)buffer + i * extent_bytes;

        memset(at, (int)(operand_random(&random) & 0xff), extent_bytes);
        for (int k = 0; k < 2; k++) {
            const struct operand_field *field = &operand_fields[element][k];
            uint32_t truth = operand_random(&random) & 1;

            if (field->kind == OPERAND_BITS)
                operand_bits(at + field->offset_bytes, field->size_bytes, values, &random);
            else if (field->kind == OPERAND_TRUTH)
                memcpy(at + field->offset_bytes, &truth, field->size_bytes);
            else if (field->kind == OPERAND_REAL)
                operand_real(at + field->offset_bytes, field->size_bytes, values, &random);
        }
    }
}

/* True if NaNs must agree in their payload too, which they need not when they are computed from
 * several different ones. */
static inline bool operands_exact(enum sg_reduction reduction, enum operand_values values)
{
    return values != OPERANDS_NANS ||
           (reduction != SG_REDUCTION_SUM && reduction != SG_REDUCTION_PROD);
}

/* True if MPI's type map includes the byte: it includes a long double's padding, but not the holes
 * of a pair. */
static inline bool operand_has_byte(enum sg_element element, size_t at)
{
    for (int k = 0; k < 2; k++) {
        const struct operand_field *field = &operand_fields[element][k];
        const unsigned size_bytes = field->size_bytes == LONG_DOUBLE_BYTES ? 16 : field->size_bytes;

        if (field->kind != OPERAND_NONE && at >= field->offset_bytes &&
            at < field->offset_bytes + size_bytes)
            return true;
    }
    return false;
}

/* Returns the index of the first element whose value differs, or -1. */
static inline long operands_differ(enum sg_element element, bool exact, const void *expected,
                                   const void *got, size_t count)
{
    const size_t extent_bytes = sg_element_extent_bytes(element);

    for (size_t i = 0; i < count; i++) {
        const unsigned char *a = (const unsigned char *)expected + i * extent_bytes;
        const unsigned char *b = (const unsigned char *)got + i * extent_bytes;

        for (int k = 0; k < 2 && operand_fields[element][k].kind != OPERAND_NONE; k++) {
            const struct operand_field *field = &operand_fields[element][k];
            const unsigned at = field->offset_bytes, size_bytes = field->size_bytes;

            if (memcmp(a + at, b + at, size_bytes) == 0)
                continue;
            if (!exact && field->kind == OPERAND_REAL && operand_is_nan(a + at, size_bytes) &&
                operand_is_nan(b + at, size_bytes))
                continue;
            return (long)i;
        }
    }
    return -1;
}

/* Hexadecimal text, "0011ff..", for messages; valid until the next call but one. */
static inline const char *operand_text(enum sg_element element, const void *buffer, size_t i)
{
    static char texts[4][65];
    static int next;
    const size_t extent_bytes = sg_element_extent_bytes(element);
    char *text = texts[next++ % 4];

    for (size_t k = 0; k < extent_bytes; k++)
        for (int half = 0; half < 2; half++)
            text[2 * k + half] =
                "0123456789abcdef"[((const unsigned char *)buffer)[i * extent_bytes + k] >>
                                       (half ? 0 : 4) &
                                   15];
    text[2 * extent_bytes] = '\0';
    return text;
}

#endif
