/* Kernels that vector instructions do not speed up: x87 arithmetic, and C's complex product.
 *
 * That product is C11 Annex G's: if both parts are NaN although an operand is infinite, or partial
 * products overflowed, the infinity is recovered. MPICH multiplies with C's operator, which has
 * this meaning. It is written out here because the compiler's own version calls its run-time
 * library for each such element. That library never fuses, and if a part is NaN, its result is the
 * whole element. */
#include "algos/kernels/kernel_table.h"
#include "algos/kernels/kernel_types.h"
#include "core/cpu/cpu.h"

/* Prevents fused multiply-add in builds with -march=native; see vector.h. */
#define HERE SG_CPU_UNFUSED

LOOP(HERE, max_long_double, any_long_double, long double, a > b ? a : b)
LOOP(HERE, min_long_double, any_long_double, long double, a < b ? a : b)
LOOP(HERE, sum_long_double, any_long_double, long double, a + b)
LOOP(HERE, prod_long_double, any_long_double, long double, (a * b))
LOOP(HERE, lxor_long_double, any_long_double, long double, (a != 0) != (b != 0))
REPEAT(HERE, sum_complex_long_double, sum_long_double, 2)
LOOP_PAIR(HERE, minloc_long_double_int, any_long_double_int, >, >=)
LOOP_PAIR(HERE, maxloc_long_double_int, any_long_double_int, <, <=)

/* Fortran's and C++'s product: only the formula. */
HERE static void prod_complex_long_double(const void *in, const void *inout, void *out,
                                          size_t count)
{
    const any_complex_long_double *left = in;
    const any_complex_long_double *right = inout;
    any_complex_long_double *result = out;

    for (size_t i = 0; i < count; i++) {
        const any_complex_long_double b = left[i];
        const any_complex_long_double a = right[i];

        result[i].re = a.re * b.re - a.im * b.im;
        result[i].im = a.im * b.re + a.re * b.im;
    }
}

#define COPYSIGN(type, magnitude, sign)                                                            \
    _Generic((type)0, float                                                                        \
             : __builtin_copysignf, double                                                         \
             : __builtin_copysign, long double                                                     \
             : __builtin_copysignl)(magnitude, sign)

/* box: the value on the unit box that represents a direction of infinity; zero: replaces NaN by a
 * zero of its sign. */
#define C_COMPLEX(name, type)                                                                      \
    HERE static type box_##name(type x)                                                            \
    {                                                                                              \
        return COPYSIGN(type, __builtin_isinf(x) ? 1 : 0, x);                                      \
    }                                                                                              \
                                                                                                   \
    HERE static type zero_##name(type x)                                                           \
    {                                                                                              \
        return __builtin_isnan(x) ? COPYSIGN(type, 0, x) : x;                                      \
    }                                                                                              \
                                                                                                   \
    HERE static __attribute__((noinline)) any_##name recover_##name(any_##name a, any_##name b)    \
    {                                                                                              \
        any_##name product = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};               \
        const int overflowed = __builtin_isinf(a.re * b.re) || __builtin_isinf(a.im * b.im) ||     \
                               __builtin_isinf(a.re * b.im) || __builtin_isinf(a.im * b.re);       \
        int infinite = 0;                                                                          \
                                                                                                   \
        if (!__builtin_isnan(product.re) || !__builtin_isnan(product.im))                          \
            return product;                                                                        \
        if (__builtin_isinf(a.re) || __builtin_isinf(a.im)) {                                      \
            a = (any_##name){box_##name(a.re), box_##name(a.im)};                                  \
            b = (any_##name){zero_##name(b.re), zero_##name(b.im)};                                \
            infinite = 1;                                                                          \
        }                                                                                          \
        if (__builtin_isinf(b.re) || __builtin_isinf(b.im)) {                                      \
            b = (any_##name){box_##name(b.re), box_##name(b.im)};                                  \
            a = (any_##name){zero_##name(a.re), zero_##name(a.im)};                                \
            infinite = 1;                                                                          \
        }                                                                                          \
        if (!infinite && overflowed) {                                                             \
            a = (any_##name){zero_##name(a.re), zero_##name(a.im)};                                \
            b = (any_##name){zero_##name(b.re), zero_##name(b.im)};                                \
            infinite = 1;                                                                          \
        }                                                                                          \
        if (infinite) {                                                                            \
            product.re = (type)__builtin_inf() * (a.re * b.re - a.im * b.im);                      \
            product.im = (type)__builtin_inf() * (a.re * b.im + a.im * b.re);                      \
        }                                                                                          \
        return product;                                                                            \
    }                                                                                              \
                                                                                                   \
    HERE static void prod_c_##name(const void *in, const void *inout, void *out, size_t count)     \
    {                                                                                              \
        const any_##name *left = in;                                                               \
        const any_##name *right = inout;                                                           \
        any_##name *result = out;                                                                  \
                                                                                                   \
        for (size_t i = 0; i < count; i++) {                                                       \
            const any_##name b = left[i];                                                          \
            const any_##name a = right[i];                                                         \
            any_##name product = {MULTIPLY_ADD(a.re, b.re, -(a.im * b.im)),                        \
                                  MULTIPLY_ADD(a.re, b.im, a.im * b.re)};                          \
                                                                                                   \
            if (__builtin_expect(__builtin_isunordered(product.re, product.im), 0))                \
                product = recover_##name(a, b);                                                    \
            result[i].re = product.re;                                                             \
            result[i].im = product.im;                                                             \
        }                                                                                          \
    }

C_COMPLEX(complex_float, float)
C_COMPLEX(complex_double, double)
C_COMPLEX(complex_long_double, long double)

/* clang-format off: a table */
const struct sg_kernel_table sg_kernel_table_scalar = {
    .kernels = {
        ROW(MAX, AT(LONG_DOUBLE, max_long_double)) ROW(MIN, AT(LONG_DOUBLE, min_long_double)) ROW(
            SUM, AT(LONG_DOUBLE, sum_long_double) AT(COMPLEX_LONG_DOUBLE, sum_complex_long_double)
                     AT(C_COMPLEX_LONG_DOUBLE, sum_complex_long_double))
            ROW(PROD,
                AT(LONG_DOUBLE, prod_long_double) AT(COMPLEX_LONG_DOUBLE, prod_complex_long_double)
                    AT(C_COMPLEX_FLOAT, prod_c_complex_float)
                        AT(C_COMPLEX_DOUBLE, prod_c_complex_double)
                            AT(C_COMPLEX_LONG_DOUBLE, prod_c_complex_long_double))
                ROW(LXOR, AT(LONG_DOUBLE, lxor_long_double))
                    ROW(MINLOC, AT(LONG_DOUBLE_INT, minloc_long_double_int))
                        ROW(MAXLOC, AT(LONG_DOUBLE_INT, maxloc_long_double_int))}};
/* clang-format on */
