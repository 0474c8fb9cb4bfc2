/* Each reduction on one element, written out: the slow and plain reference for the kernels.
 * one[element](reduction, in, inout, result) is false where MPICH has no such pair. */
#ifndef SG_TESTS_ALGOS_ONE_ELEMENT_H
#define SG_TESTS_ALGOS_ONE_ELEMENT_H

#include "algos/kernels/kernel.h"
#include "core/cpu/cpu.h"
#include "lib/operands.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MINIMUM(a, b) ((a) < (b) ? (a) : (b))
#define MAXIMUM(a, b) ((a) > (b) ? (a) : (b))

#define INTEGER(name, type, wide)                                                                  \
    static bool one_##name(enum sg_reduction reduction, const void *left, const void *right,       \
                           void *result)                                                           \
    {                                                                                              \
        type a, b, c;                                                                              \
                                                                                                   \
        memcpy(&b, left, sizeof b);                                                                \
        memcpy(&a, right, sizeof a);                                                               \
        switch (reduction) {                                                                       \
        case SG_REDUCTION_MAX:                                                                     \
            c = MAXIMUM(a, b);                                                                     \
            break;                                                                                 \
        case SG_REDUCTION_MIN:                                                                     \
            c = MINIMUM(a, b);                                                                     \
            break;                                                                                 \
        case SG_REDUCTION_SUM:                                                                     \
            c = (type)((wide)a + (wide)b);                                                         \
            break;                                                                                 \
        case SG_REDUCTION_PROD:                                                                    \
            c = (type)((wide)a * (wide)b);                                                         \
            break;                                                                                 \
        case SG_REDUCTION_LAND:                                                                    \
            c = a && b;                                                                            \
            break;                                                                                 \
        case SG_REDUCTION_LOR:                                                                     \
            c = a || b;                                                                            \
            break;                                                                                 \
        case SG_REDUCTION_LXOR:                                                                    \
            c = (a && !b) || (!a && b);                                                            \
            break;                                                                                 \
        case SG_REDUCTION_BAND:                                                                    \
            c = a & b;                                                                             \
            break;                                                                                 \
        case SG_REDUCTION_BOR:                                                                     \
            c = a | b;                                                                             \
            break;                                                                                 \
        case SG_REDUCTION_BXOR:                                                                    \
            c = a ^ b;                                                                             \
            break;                                                                                 \
        default:                                                                                   \
            return false;                                                                          \
        }                                                                                          \
        memcpy(result, &c, sizeof c);                                                              \
        return true;                                                                               \
    }

/* clang-format off */
INTEGER(int8, int8_t, uint64_t)
INTEGER(int16, int16_t, uint64_t)
INTEGER(int32, int32_t, uint64_t)
INTEGER(int64, int64_t, uint64_t)
INTEGER(uint8, uint8_t, uint64_t)
INTEGER(uint16, uint16_t, uint64_t)
INTEGER(uint32, uint32_t, uint64_t)
INTEGER(uint64, uint64_t, uint64_t)
/* clang-format on */

static bool is_logical(enum sg_reduction reduction)
{
    return reduction == SG_REDUCTION_LAND || reduction == SG_REDUCTION_LOR ||
           reduction == SG_REDUCTION_LXOR;
}

static bool is_bitwise(enum sg_reduction reduction)
{
    return reduction == SG_REDUCTION_BAND || reduction == SG_REDUCTION_BOR ||
           reduction == SG_REDUCTION_BXOR;
}

static bool one_byte(enum sg_reduction reduction, const void *left, const void *right, void *result)
{
    return is_bitwise(reduction) && one_uint8(reduction, left, right, result);
}

static bool one_bool(enum sg_reduction reduction, const void *left, const void *right, void *result)
{
    return is_logical(reduction) && one_uint8(reduction, left, right, result);
}

static bool one_logical(enum sg_reduction reduction, const void *left, const void *right,
                        void *result)
{
    return is_logical(reduction) && one_int32(reduction, left, right, result);
}

/* Value bytes only. */
#define FLOATING(name, type, value_bytes)                                                          \
    static bool one_##name(enum sg_reduction reduction, const void *left, const void *right,       \
                           void *result)                                                           \
    {                                                                                              \
        type a = 0, b = 0, c;                                                                      \
                                                                                                   \
        memcpy(&b, left, value_bytes);                                                             \
        memcpy(&a, right, value_bytes);                                                            \
        switch (reduction) {                                                                       \
        case SG_REDUCTION_MAX:                                                                     \
            c = MAXIMUM(a, b);                                                                     \
            break;                                                                                 \
        case SG_REDUCTION_MIN:                                                                     \
            c = MINIMUM(a, b);                                                                     \
            break;                                                                                 \
        case SG_REDUCTION_SUM:                                                                     \
            c = a + b;                                                                             \
            break;                                                                                 \
        case SG_REDUCTION_PROD:                                                                    \
            c = a * b;                                                                             \
            break;                                                                                 \
        case SG_REDUCTION_LXOR:                                                                    \
            c = (a && !b) || (!a && b);                                                            \
            break;                                                                                 \
        default:                                                                                   \
            return false;                                                                          \
        }                                                                                          \
        memcpy(result, &c, value_bytes);                                                           \
        return true;                                                                               \
    }

FLOATING(float, float, 4)
FLOATING(double, double, 8)
FLOATING(long_double, long double, LONG_DOUBLE_BYTES)

/* MPICH accepts logical operations on Fortran's reals and leaves inout as it is. */
#define REAL(name, base, bytes)                                                                    \
    static bool one_##name(enum sg_reduction reduction, const void *left, const void *right,       \
                           void *result)                                                           \
    {                                                                                              \
        if (!is_logical(reduction))                                                                \
            return one_##base(reduction, left, right, result);                                     \
        memcpy(result, right, bytes);                                                              \
        return true;                                                                               \
    }

REAL(real4, float, 4)
REAL(real8, double, 8)

/* MPICH also takes REAL*16 for sixteen characters. */
static bool one_real16(enum sg_reduction reduction, const void *left, const void *right,
                       void *result)
{
    if (is_bitwise(reduction))
        return false;
    for (int i = 0; i < 16; i++)
        if (!one_int8(reduction, (const char *)left + i, (const char *)right + i,
                      (char *)result + i))
            return false;
    return true;
}

#define COMPLEX(name, type, extent_bytes, multiply)                                                \
    static bool one_##name(enum sg_reduction reduction, const void *left, const void *right,       \
                           void *result)                                                           \
    {                                                                                              \
        type a[2], b[2], c[2];                                                                     \
                                                                                                   \
        memcpy(b, left, extent_bytes);                                                             \
        memcpy(a, right, extent_bytes);                                                            \
        if (reduction == SG_REDUCTION_SUM) {                                                       \
            c[0] = a[0] + b[0];                                                                    \
            c[1] = a[1] + b[1];                                                                    \
        } else if (reduction == SG_REDUCTION_PROD) {                                               \
            multiply(a, b, c);                                                                     \
        } else {                                                                                   \
            return false;                                                                          \
        }                                                                                          \
        memcpy(result, c, extent_bytes);                                                           \
        return true;                                                                               \
    }

/* If compilers fuse multiply and add, the first product is not rounded before the sum; otherwise
 * each is. */
#ifdef SG_CPU_FUSES
#define FUSED(type) (sizeof(type) <= sizeof(double))
#else
#define FUSED(type) false
#endif

#define FMA(type, a, b, c)                                                                         \
    (sizeof(type) == sizeof(float) ? (type)fmaf((float)(a), (float)(b), (float)(c))                \
                                   : (type)fma((double)(a), (double)(b), (double)(c)))

#define FORMULA(name, type, extent_bytes)                                                          \
    static void multiply_##name(const type *a, const type *b, type *c)                             \
    {                                                                                              \
        const volatile type products[4] = {a[0] * b[0], a[1] * b[1], a[1] * b[0], a[0] * b[1]};    \
                                                                                                   \
        c[0] = FUSED(type) ? FMA(type, a[0], b[0], -products[1]) : products[0] - products[1];      \
        c[1] = FUSED(type) ? FMA(type, a[1], b[0], products[3]) : products[2] + products[3];       \
    }                                                                                              \
    COMPLEX(name, type, extent_bytes, multiply_##name)
FORMULA(complex_float, float, 8)
FORMULA(complex_double, double, 16)
FORMULA(complex_long_double, long double, 32)

/* C's operator on the parts in memory: CMPLX is not in every C library's header for every compiler.
 * Where compilers fuse, its result without NaN is that of the formula, the products of the second
 * part in the other order.
 */
#define OPERATOR(name, type, extent_bytes)                                                         \
    static void multiply_##name(const type *a, const type *b, type *c)                             \
    {                                                                                              \
        const volatile type products[2] = {a[1] * b[1], a[1] * b[0]};                              \
        _Complex type x, y, product;                                                               \
                                                                                                   \
        memcpy(&x, a, sizeof x);                                                                   \
        memcpy(&y, b, sizeof y);                                                                   \
        product = x * y;                                                                           \
        memcpy(c, &product, sizeof product);                                                       \
        if (FUSED(type) && !isnan(FMA(type, a[0], b[0], -products[0])) &&                          \
            !isnan(FMA(type, a[0], b[1], products[1]))) {                                          \
            c[0] = FMA(type, a[0], b[0], -products[0]);                                            \
            c[1] = FMA(type, a[0], b[1], products[1]);                                             \
        }                                                                                          \
    }                                                                                              \
    COMPLEX(name, type, extent_bytes, multiply_##name)
OPERATOR(c_complex_float, float, 8)
OPERATOR(c_complex_double, double, 16)
OPERATOR(c_complex_long_double, long double, 32)

#define PAIR(name, value_type, value_bytes, location_type, location_at)                            \
    static bool one_##name(enum sg_reduction reduction, const void *left, const void *right,       \
                           void *result)                                                           \
    {                                                                                              \
        value_type a = 0, b = 0;                                                                   \
        location_type i, j;                                                                        \
                                                                                                   \
        if (reduction != SG_REDUCTION_MAXLOC && reduction != SG_REDUCTION_MINLOC)                  \
            return false;                                                                          \
        memcpy(&b, left, value_bytes);                                                             \
        memcpy(&j, (const char *)left + location_at, sizeof j);                                    \
        memcpy(&a, right, value_bytes);                                                            \
        memcpy(&i, (const char *)right + location_at, sizeof i);                                   \
        if (reduction == SG_REDUCTION_MAXLOC ? a < b : a > b) {                                    \
            a = b;                                                                                 \
            i = j;                                                                                 \
        } else if (a == b) {                                                                       \
            i = MINIMUM(i, j);                                                                     \
        }                                                                                          \
        memcpy(result, &a, value_bytes);                                                           \
        memcpy((char *)result + location_at, &i, sizeof i);                                        \
        return true;                                                                               \
    }

PAIR(float_int, float, 4, int32_t, 4)
PAIR(double_int, double, 8, int32_t, 8)
PAIR(long_int, int64_t, 8, int32_t, 8)
PAIR(int_int, int32_t, 4, int32_t, 4)
PAIR(short_int, int16_t, 2, int32_t, 4)
PAIR(long_double_int, long double, LONG_DOUBLE_BYTES, int32_t, 16)
PAIR(float_float, float, 4, float, 4)
PAIR(double_double, double, 8, double, 8)

typedef bool (*one_element)(enum sg_reduction reduction, const void *left, const void *right,
                            void *result);

static const one_element one[SG_ELEMENT_COUNT] = {
    [SG_ELEMENT_INT8] = one_int8,
    [SG_ELEMENT_INT16] = one_int16,
    [SG_ELEMENT_INT32] = one_int32,
    [SG_ELEMENT_INT64] = one_int64,
    [SG_ELEMENT_UINT8] = one_uint8,
    [SG_ELEMENT_UINT16] = one_uint16,
    [SG_ELEMENT_UINT32] = one_uint32,
    [SG_ELEMENT_UINT64] = one_uint64,
    [SG_ELEMENT_BYTE] = one_byte,
    [SG_ELEMENT_BOOL] = one_bool,
    [SG_ELEMENT_LOGICAL] = one_logical,
    [SG_ELEMENT_FLOAT] = one_float,
    [SG_ELEMENT_DOUBLE] = one_double,
    [SG_ELEMENT_LONG_DOUBLE] = one_long_double,
    [SG_ELEMENT_REAL4] = one_real4,
    [SG_ELEMENT_REAL8] = one_real8,
    [SG_ELEMENT_REAL16] = one_real16,
    [SG_ELEMENT_C_COMPLEX_FLOAT] = one_c_complex_float,
    [SG_ELEMENT_C_COMPLEX_DOUBLE] = one_c_complex_double,
    [SG_ELEMENT_C_COMPLEX_LONG_DOUBLE] = one_c_complex_long_double,
    [SG_ELEMENT_COMPLEX_FLOAT] = one_complex_float,
    [SG_ELEMENT_COMPLEX_DOUBLE] = one_complex_double,
    [SG_ELEMENT_COMPLEX_LONG_DOUBLE] = one_complex_long_double,
    [SG_ELEMENT_FLOAT_INT] = one_float_int,
    [SG_ELEMENT_DOUBLE_INT] = one_double_int,
    [SG_ELEMENT_LONG_INT] = one_long_int,
    [SG_ELEMENT_INT_INT] = one_int_int,
    [SG_ELEMENT_SHORT_INT] = one_short_int,
    [SG_ELEMENT_LONG_DOUBLE_INT] = one_long_double_int,
    [SG_ELEMENT_FLOAT_FLOAT] = one_float_float,
    [SG_ELEMENT_DOUBLE_DOUBLE] = one_double_double,
};

#endif
