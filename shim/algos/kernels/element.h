/* Element types and reductions of the kernels. Types are distinguished only as far as kernels need;
 * also copies elements without their padding. */
#ifndef SG_ALGOS_KERNELS_ELEMENT_H
#define SG_ALGOS_KERNELS_ELEMENT_H

#include <stddef.h>

/* Types: name, MPI's size in bytes, extent in bytes. Several MPI types may share one
 * (shim/mpi/operands.h maps them). */
#define SG_ELEMENTS(X)                                                                             \
    X(INT8, 1, 1)                                                                                  \
    X(INT16, 2, 2)                                                                                 \
    X(INT32, 4, 4)                                                                                 \
    X(INT64, 8, 8)                                                                                 \
    X(UINT8, 1, 1)                                                                                 \
    X(UINT16, 2, 2)                                                                                \
    X(UINT32, 4, 4)                                                                                \
    X(UINT64, 8, 8)                                                                                \
    X(BYTE, 1, 1)                                                                                  \
    X(BOOL, 1, 1)    /* C and C++ */                                                               \
    X(LOGICAL, 4, 4) /* Fortran */                                                                 \
    X(FLOAT, 4, 4)                                                                                 \
    X(DOUBLE, 8, 8)                                                                                \
    X(LONG_DOUBLE, 16, 16)                                                                         \
    X(REAL4, 4, 4) /* Fortran: C's arithmetic, but other logical operations */                     \
    X(REAL8, 8, 8)                                                                                 \
    X(REAL16, 16, 16) /* MPICH treats it as sixteen signed characters */                           \
    X(C_COMPLEX_FLOAT, 8, 8)                                                                       \
    X(C_COMPLEX_DOUBLE, 16, 16)                                                                    \
    X(C_COMPLEX_LONG_DOUBLE, 32, 32)                                                               \
    X(COMPLEX_FLOAT, 8, 8) /* Fortran and C++ */                                                   \
    X(COMPLEX_DOUBLE, 16, 16)                                                                      \
    X(COMPLEX_LONG_DOUBLE, 32, 32)                                                                 \
    X(FLOAT_INT, 8, 8)                                                                             \
    X(DOUBLE_INT, 12, 16)                                                                          \
    X(LONG_INT, 12, 16)                                                                            \
    X(INT_INT, 8, 8)                                                                               \
    X(SHORT_INT, 6, 8)                                                                             \
    X(LONG_DOUBLE_INT, 20, 32)                                                                     \
    X(FLOAT_FLOAT, 8, 8)                                                                           \
    X(DOUBLE_DOUBLE, 16, 16)

#define SG_REDUCTIONS(X)                                                                           \
    X(MAX)                                                                                         \
    X(MIN)                                                                                         \
    X(SUM)                                                                                         \
    X(PROD)                                                                                        \
    X(LAND)                                                                                        \
    X(BAND)                                                                                        \
    X(LOR)                                                                                         \
    X(BOR)                                                                                         \
    X(LXOR)                                                                                        \
    X(BXOR)                                                                                        \
    X(MINLOC)                                                                                      \
    X(MAXLOC)

#define SG_ELEMENT_NAME(name, size_bytes, extent_bytes) SG_ELEMENT_##name,
#define SG_REDUCTION_NAME(name) SG_REDUCTION_##name,
enum sg_element { SG_ELEMENTS(SG_ELEMENT_NAME) SG_ELEMENT_COUNT };
enum sg_reduction { SG_REDUCTIONS(SG_REDUCTION_NAME) SG_REDUCTION_COUNT };
#undef SG_ELEMENT_NAME
#undef SG_REDUCTION_NAME

/* Bytes that MPI counts (MPI_Type_size), and the distance between elements. */
size_t sg_element_size_bytes(enum sg_element element);
size_t sg_element_extent_bytes(enum sg_element element);

/* "DOUBLE_INT", "MAXLOC": for messages. */
extern const char *const sg_element_names[SG_ELEMENT_COUNT];
extern const char *const sg_reduction_names[SG_REDUCTION_COUNT];

/* Copies elements into an application's buffer: their values, and no byte that MPI's type map
 * leaves out, because an application may keep its own data between and after the values of a pair.
 * The buffers do not overlap and need no alignment. Any thread, any signal handler. */
typedef void (*sg_copy)(void *to, const void *from, size_t count);

/* NULL: the elements have no holes, so memcpy suffices. */
sg_copy sg_copy_find(enum sg_element element);

#endif
