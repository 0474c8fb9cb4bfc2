/* Kernels that vector instructions speed up, included once per instruction set. The including file
 * defines TARGET (the function attribute), PRODUCT_TARGET (the attribute of the complex product)
 * and TABLE (the name of the table).
 *
 * The complex product must not be fused by the compiler: GCC 12 fuses there whatever -ffp-contract
 * says, and rounds once where MPICH rounds twice. MULTIPLY_ADD fuses exactly what MPICH fuses. */
#include "algos/kernels/kernel_table.h"
#include "algos/kernels/kernel_types.h"

/* Arithmetic is unsigned, because that wraps, and no narrower than int, because that would promote
 * to signed. */
#define INTEGER(name, wide)                                                                        \
    LOOP(TARGET, max_u##name, any_u##name, u##name##_t, a > b ? a : b)                             \
    LOOP(TARGET, min_u##name, any_u##name, u##name##_t, a < b ? a : b)                             \
    LOOP(TARGET, max_##name, any_##name, name##_t, a > b ? a : b)                                  \
    LOOP(TARGET, min_##name, any_##name, name##_t, a < b ? a : b)                                  \
    LOOP(TARGET, sum_##name, any_u##name, wide, a + b)                                             \
    LOOP(TARGET, prod_##name, any_u##name, wide, (a * b))                                          \
    LOOP(TARGET, land_##name, any_u##name, u##name##_t, (a != 0) & (b != 0))                       \
    LOOP(TARGET, lor_##name, any_u##name, u##name##_t, (a | b) != 0)                               \
    LOOP(TARGET, lxor_##name, any_u##name, u##name##_t, (a != 0) != (b != 0))                      \
    LOOP(TARGET, band_##name, any_u##name, u##name##_t, (a & b))                                   \
    LOOP(TARGET, bor_##name, any_u##name, u##name##_t, (a | b))                                    \
    LOOP(TARGET, bxor_##name, any_u##name, u##name##_t, (a ^ b))

INTEGER(int8, uint32_t)
INTEGER(int16, uint32_t)
INTEGER(int32, uint32_t)
INTEGER(int64, uint64_t)

#define FLOATING(name)                                                                             \
    LOOP(TARGET, max_##name, any_##name, name, a > b ? a : b)                                      \
    LOOP(TARGET, min_##name, any_##name, name, a < b ? a : b)                                      \
    LOOP(TARGET, sum_##name, any_##name, name, a + b)                                              \
    LOOP(TARGET, prod_##name, any_##name, name, (a * b))                                           \
    LOOP(TARGET, lxor_##name, any_##name, name, (a != 0) != (b != 0))                              \
    REPEAT(TARGET, sum_complex_##name, sum_##name, 2)

FLOATING(float)
FLOATING(double)

/* MPICH accepts Fortran's reals in logical operations, and then does nothing. */
LOOP(TARGET, keep_real4, any_uint32, uint32_t, ((void)b, a))
LOOP(TARGET, keep_real8, any_uint64, uint64_t, ((void)b, a))

#define REAL16(operation) REPEAT(TARGET, operation##_real16, operation##_int8, 16)
REAL16(max)
REAL16(min)
REAL16(sum)
REAL16(prod)
REAL16(land)
REAL16(lor)
REAL16(lxor)

#define COMPLEX_PRODUCT(name)                                                                      \
    PRODUCT_TARGET static void prod_##name(const void *in, const void *inout, void *out,           \
                                           size_t count)                                           \
    {                                                                                              \
        const any_##name *left = in;                                                               \
        const any_##name *right = inout;                                                           \
        any_##name *result = out;                                                                  \
                                                                                                   \
        VECTORIZE                                                                                  \
        for (size_t i = 0; i < count; i++) {                                                       \
            const any_##name b = left[i];                                                          \
            const any_##name a = right[i];                                                         \
                                                                                                   \
            result[i].re = MULTIPLY_ADD(a.re, b.re, -(a.im * b.im));                               \
            result[i].im = MULTIPLY_ADD(a.im, b.re, a.re * b.im);                                  \
        }                                                                                          \
    }

COMPLEX_PRODUCT(complex_float)
COMPLEX_PRODUCT(complex_double)

#define LOCATIONS(name)                                                                            \
    LOOP_PAIR(TARGET, minloc_##name, any_##name, >, >=)                                            \
    LOOP_PAIR(TARGET, maxloc_##name, any_##name, <, <=)

LOCATIONS(float_int)
LOCATIONS(double_int)
LOCATIONS(long_int)
LOCATIONS(int_int)
LOCATIONS(short_int)
LOCATIONS(float_float)
LOCATIONS(double_double)

/* clang-format off: tables */
#define ON_SIGNED(operation)                                                                       \
    AT(INT8, operation##_int8)                                                                     \
    AT(INT16, operation##_int16)                                                                   \
    AT(INT32, operation##_int32)                                                                   \
    AT(INT64, operation##_int64)

#define ON_UNSIGNED(operation, prefix)                                                             \
    AT(UINT8, operation##_##prefix##int8)                                                          \
    AT(UINT16, operation##_##prefix##int16)                                                        \
    AT(UINT32, operation##_##prefix##int32)                                                        \
    AT(UINT64, operation##_##prefix##int64)

/* Operations for which the sign makes no difference. */
#define ON_INTEGERS(operation) ON_SIGNED(operation) ON_UNSIGNED(operation, )

#define ON_REALS(operation)                                                                        \
    AT(FLOAT, operation##_float)                                                                   \
    AT(DOUBLE, operation##_double)                                                                 \
    AT(REAL4, operation##_float)                                                                   \
    AT(REAL8, operation##_double)                                                                  \
    AT(REAL16, operation##_real16)

#define ON_COMPLEX(operation)                                                                      \
    AT(COMPLEX_FLOAT, operation##_complex_float)                                                   \
    AT(COMPLEX_DOUBLE, operation##_complex_double)

/* C's complex types, whose product differs (scalar.c). */
#define ON_C_COMPLEX(operation)                                                                    \
    AT(C_COMPLEX_FLOAT, operation##_complex_float)                                                 \
    AT(C_COMPLEX_DOUBLE, operation##_complex_double)

#define ON_LOGICALS(operation)                                                                     \
    AT(BOOL, operation##_int8)                                                                     \
    AT(LOGICAL, operation##_int32)                                                                 \
    AT(REAL4, keep_real4)                                                                          \
    AT(REAL8, keep_real8)                                                                          \
    AT(REAL16, operation##_real16)

#define ON_PAIRS(operation)                                                                        \
    AT(FLOAT_INT, operation##_float_int)                                                           \
    AT(DOUBLE_INT, operation##_double_int)                                                         \
    AT(LONG_INT, operation##_long_int)                                                             \
    AT(INT_INT, operation##_int_int)                                                               \
    AT(SHORT_INT, operation##_short_int)                                                           \
    AT(FLOAT_FLOAT, operation##_float_float)                                                       \
    AT(DOUBLE_DOUBLE, operation##_double_double)

const struct sg_kernel_table TABLE = {
    .kernels = {ROW(MAX, ON_SIGNED(max) ON_UNSIGNED(max, u) ON_REALS(max))
                    ROW(MIN, ON_SIGNED(min) ON_UNSIGNED(min, u) ON_REALS(min))
                        ROW(SUM, ON_INTEGERS(sum) ON_REALS(sum) ON_COMPLEX(sum) ON_C_COMPLEX(sum))
                            ROW(PROD, ON_INTEGERS(prod) ON_REALS(prod) ON_COMPLEX(prod))
                                ROW(LAND, ON_INTEGERS(land) ON_LOGICALS(land))
                                    ROW(LOR, ON_INTEGERS(lor) ON_LOGICALS(lor))
                                        ROW(LXOR, ON_INTEGERS(lxor) ON_LOGICALS(lxor)
                                                      AT(FLOAT, lxor_float) AT(DOUBLE, lxor_double))
                                            ROW(BAND, ON_INTEGERS(band) AT(BYTE, band_int8))
                                                ROW(BOR, ON_INTEGERS(bor) AT(BYTE, bor_int8))
                                                    ROW(BXOR, ON_INTEGERS(bxor) AT(BYTE, bxor_int8))
                                                        ROW(MINLOC, ON_PAIRS(minloc))
                                                            ROW(MAXLOC, ON_PAIRS(maxloc))}};
/* clang-format on */
