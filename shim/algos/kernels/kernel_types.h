/* Types through which kernels access memory, and the macros that define their loops.
 *
 * Each is the C type without its alignment and may alias any other type: an application may keep
 * doubles at any address, but the code that vectorised loops peel off assumes the type's alignment.
 * Pairs have MPI's layout: that of a C struct, with padding. */
#ifndef SG_ALGOS_KERNELS_KERNEL_TYPES_H
#define SG_ALGOS_KERNELS_KERNEL_TYPES_H

#include "core/cpu/cpu.h"

#include <stddef.h>
#include <stdint.h>

#define ANYWHERE __attribute__((aligned(1), may_alias))

typedef int8_t any_int8 ANYWHERE;

typedef int16_t any_int16 ANYWHERE;

typedef int32_t any_int32 ANYWHERE;

typedef int64_t any_int64 ANYWHERE;

typedef uint8_t any_uint8 ANYWHERE;

typedef uint16_t any_uint16 ANYWHERE;

typedef uint32_t any_uint32 ANYWHERE;

typedef uint64_t any_uint64 ANYWHERE;

typedef float any_float ANYWHERE;

typedef double any_double ANYWHERE;

typedef long double any_long_double ANYWHERE;

#define COMPLEX(name, type)                                                                        \
    typedef struct {                                                                               \
        type re;                                                                                   \
        type im;                                                                                   \
    } __attribute__((packed, may_alias)) any_##name;

COMPLEX(complex_float, float)
COMPLEX(complex_double, double)
COMPLEX(complex_long_double, long double)

#define PAIR(name, value_type, location_type, extent_bytes)                                        \
    typedef struct {                                                                               \
        value_type value;                                                                          \
        location_type location;                                                                    \
        char padding[extent_bytes - sizeof(value_type) - sizeof(location_type)];                   \
    } __attribute__((packed, may_alias)) any_##name;

#define PAIR_PADDED_INSIDE(name, value_type, inside_bytes, location_type)                          \
    typedef struct {                                                                               \
        value_type value;                                                                          \
        char padding[inside_bytes];                                                                \
        location_type location;                                                                    \
    } __attribute__((packed, may_alias)) any_##name;

PAIR(float_int, float, int32_t, 8)
PAIR(double_int, double, int32_t, 16)
PAIR(long_int, int64_t, int32_t, 16)
PAIR(int_int, int32_t, int32_t, 8)
PAIR_PADDED_INSIDE(short_int, int16_t, 2, int32_t)
PAIR(long_double_int, long double, int32_t, 32)
PAIR(float_float, float, float, 8)
PAIR(double_double, double, double, 16)

/* a * b + c as MPICH computes it in a complex product: its compiler fuses if the processor can,
 * unless told not to. Long double is software there, and rounded twice. */
#ifdef SG_CPU_FUSES
static inline long double multiply_add_long(long double a, long double b, long double c)
{
    return a * b + c;
}

#define MULTIPLY_ADD(a, b, c)                                                                      \
    _Generic((a), float                                                                            \
             : __builtin_fmaf, double                                                              \
             : __builtin_fma, long double                                                          \
             : multiply_add_long)(a, b, c)
#else
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif
/* The arrays are identical or disjoint: iterations are independent. */
#ifdef __clang__
#define VECTORIZE _Pragma("clang loop vectorize(assume_safety) interleave(assume_safety)")
/* A loop that clang leaves scalar is slower, but correct. */
#pragma clang diagnostic ignored "-Wpass-failed"
#else
#define VECTORIZE _Pragma("GCC ivdep")
#endif
/* Defines a kernel whose element i is `expression` of a = inout[i] and b = in[i], values of type
 * `value`. */
#define LOOP(target, name, memory, value, expression)                                              \
    target static void name(const void *in, const void *inout, void *out, size_t count)            \
    {                                                                                              \
        const memory *left = in;                                                                   \
        const memory *right = inout;                                                               \
        memory *result = out;                                                                      \
                                                                                                   \
        VECTORIZE                                                                                  \
        for (size_t i = 0; i < count; i++) {                                                       \
            const value b = left[i];                                                               \
            const value a = right[i];                                                              \
                                                                                                   \
            result[i] = (memory)(expression);                                                      \
        }                                                                                          \
    }
/* MAXLOC (before is <, equal <=) and MINLOC (>, >=): equal values take the lower location; the
 * value of inout stays if neither comparison holds. */
#define LOOP_PAIR(target, name, memory, before, equal)                                             \
    target static void name(const void *in, const void *inout, void *out, size_t count)            \
    {                                                                                              \
        const memory *left = in;                                                                   \
        const memory *right = inout;                                                               \
        memory *result = out;                                                                      \
                                                                                                   \
        VECTORIZE                                                                                  \
        for (size_t i = 0; i < count; i++) {                                                       \
            const memory b = left[i];                                                              \
            const memory a = right[i];                                                             \
            const memory lower = a.location < b.location ? a : b;                                  \
            const memory tied = a.value equal b.value ? lower : a;                                 \
                                                                                                   \
            result[i].location = a.value before b.value ? b.location : tied.location;              \
            result[i].value = a.value before b.value ? b.value : a.value;                          \
        }                                                                                          \
    }
/* One element of this kernel is several elements of `inner`. */
#define REPEAT(target, name, inner, times)                                                         \
    target static void name(const void *in, const void *inout, void *out, size_t count)            \
    {                                                                                              \
        inner(in, inout, out, count *(times));                                                     \
    }
/* A row of a table, and an entry in it. */
#define ROW(reduction, ...) [SG_REDUCTION_##reduction] = {__VA_ARGS__},
#define AT(element, kernel) [SG_ELEMENT_##element] = kernel,

#endif
