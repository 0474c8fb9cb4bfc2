/* MPICH's predefined handles contain their kind, size and number: 0x4c00SSNN (SS the size in bytes,
 * NN the number), 0x8c00000N for pairs with padding, 0x5800000N for operations. The number finds
 * the entry; comparing the whole handle decides whether it is the entry's, as the same type with
 * another size has another handle.
 */
#include "mpi/types.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#define ENTRIES 256u

struct type_entry {
    MPI_Datatype handle;
    uint8_t element;
};

/* One bit for the kind, seven for the number. */
#define INDEX(handle) (((uint32_t)(handle) >> 24 & 0x80u) | ((uint32_t)(handle)&0x7fu))
#define ENTRY(type, name) [INDEX(type)] = {type, SG_ELEMENT_##name},

_Static_assert(sizeof(short) == 2 && sizeof(int) == 4 && sizeof(long) == 8 &&
                   sizeof(long long) == 8 && sizeof(long double) == 16,
               "the table below holds for x86-64 and 64-bit Arm");
_Static_assert(sizeof(MPI_Aint) == 8 && sizeof(MPI_Offset) == 8 && sizeof(MPI_Count) == 8,
               "the table below holds for x86-64 and 64-bit Arm");
/* Characters are unsigned on Arm; sg_types_init finds out how MPICH treats them. */
#define SG_ELEMENT_CHARACTER (CHAR_MIN < 0 ? SG_ELEMENT_INT8 : SG_ELEMENT_UINT8)

/* clang-format off */
static struct type_entry types[ENTRIES] = {
    ENTRY(MPI_CHAR, CHARACTER)
    ENTRY(MPI_SIGNED_CHAR, INT8)
    ENTRY(MPI_UNSIGNED_CHAR, UINT8)
    ENTRY(MPI_BYTE, BYTE)
    ENTRY(MPI_SHORT, INT16)
    ENTRY(MPI_UNSIGNED_SHORT, UINT16)
    ENTRY(MPI_INT, INT32)
    ENTRY(MPI_UNSIGNED, UINT32)
    ENTRY(MPI_LONG, INT64)
    ENTRY(MPI_UNSIGNED_LONG, UINT64)
    ENTRY(MPI_LONG_LONG, INT64)
    ENTRY(MPI_UNSIGNED_LONG_LONG, UINT64)
    ENTRY(MPI_INT8_T, INT8)
    ENTRY(MPI_INT16_T, INT16)
    ENTRY(MPI_INT32_T, INT32)
    ENTRY(MPI_INT64_T, INT64)
    ENTRY(MPI_UINT8_T, UINT8)
    ENTRY(MPI_UINT16_T, UINT16)
    ENTRY(MPI_UINT32_T, UINT32)
    ENTRY(MPI_UINT64_T, UINT64)
    ENTRY(MPI_AINT, INT64)
    ENTRY(MPI_OFFSET, INT64)
    ENTRY(MPI_COUNT, INT64)
    ENTRY(MPI_FLOAT, FLOAT)
    ENTRY(MPI_DOUBLE, DOUBLE)
    ENTRY(MPI_LONG_DOUBLE, LONG_DOUBLE)
    ENTRY(MPI_C_BOOL, BOOL)
    ENTRY(MPI_C_FLOAT_COMPLEX, C_COMPLEX_FLOAT)
    ENTRY(MPI_C_DOUBLE_COMPLEX, C_COMPLEX_DOUBLE)
    ENTRY(MPI_C_LONG_DOUBLE_COMPLEX, C_COMPLEX_LONG_DOUBLE)
    ENTRY(MPI_FLOAT_INT, FLOAT_INT)
    ENTRY(MPI_DOUBLE_INT, DOUBLE_INT)
    ENTRY(MPI_LONG_INT, LONG_INT)
    ENTRY(MPI_2INT, INT_INT)
    ENTRY(MPI_SHORT_INT, SHORT_INT)
    ENTRY(MPI_LONG_DOUBLE_INT, LONG_DOUBLE_INT)

    ENTRY(MPI_CXX_BOOL, BOOL)
    ENTRY(MPI_CXX_FLOAT_COMPLEX, COMPLEX_FLOAT)
    ENTRY(MPI_CXX_DOUBLE_COMPLEX, COMPLEX_DOUBLE)
    ENTRY(MPI_CXX_LONG_DOUBLE_COMPLEX, COMPLEX_LONG_DOUBLE)

    ENTRY(MPI_CHARACTER, CHARACTER)
    ENTRY(MPI_LOGICAL, LOGICAL)
    ENTRY(MPI_INTEGER, INT32)
    ENTRY(MPI_INTEGER1, INT8)
    ENTRY(MPI_INTEGER2, INT16)
    ENTRY(MPI_INTEGER4, INT32)
    ENTRY(MPI_INTEGER8, INT64)
    ENTRY(MPI_REAL, REAL4)
    ENTRY(MPI_DOUBLE_PRECISION, REAL8)
    ENTRY(MPI_REAL4, REAL4)
    ENTRY(MPI_REAL8, REAL8)
    ENTRY(MPI_REAL16, REAL16)
    ENTRY(MPI_COMPLEX, COMPLEX_FLOAT)
    ENTRY(MPI_DOUBLE_COMPLEX, COMPLEX_DOUBLE)
    ENTRY(MPI_COMPLEX8, COMPLEX_FLOAT)
    ENTRY(MPI_COMPLEX16, COMPLEX_DOUBLE)
    ENTRY(MPI_2INTEGER, INT_INT)
    ENTRY(MPI_2REAL, FLOAT_FLOAT)
    ENTRY(MPI_2DOUBLE_PRECISION, DOUBLE_DOUBLE)
};

#define OPERATION(name) [MPI_##name & 0xf] = SG_REDUCTION_##name,
static const uint8_t reductions[] = {SG_REDUCTIONS(OPERATION)};
/* clang-format on */

/* Returns the signed type of the same size. */
static uint8_t signed_element(uint8_t element)
{
    bool is_unsigned = element >= SG_ELEMENT_UINT8 && element <= SG_ELEMENT_UINT64;

    return is_unsigned ? (uint8_t)(element - SG_ELEMENT_UINT8 + SG_ELEMENT_INT8) : element;
}

/* MPICH 4.0 treats MPI_REAL16 as sixteen signed characters, later ones as a number. */
static bool real16_is_characters(sg_reduce_local reduce_local)
{
    signed char from[16], into[16];
    bool is_alike = true;

    for (int i = 0; i < 16; i++) {
        from[i] = (signed char)(i + 1);
        into[i] = 2;
    }
    if (reduce_local(from, into, 1, MPI_REAL16, MPI_SUM) != MPI_SUCCESS)
        return false;
    for (int i = 0; i < 16; i++)
        is_alike = is_alike && into[i] == i + 3;
    return is_alike;
}

static bool is_complex(uint8_t element)
{
    return element == SG_ELEMENT_COMPLEX_FLOAT || element == SG_ELEMENT_COMPLEX_DOUBLE ||
           element == SG_ELEMENT_C_COMPLEX_FLOAT || element == SG_ELEMENT_C_COMPLEX_DOUBLE;
}

/* True if MPICH's compiler fused products of complex numbers as the kernels do; that depends on
 * MPICH's build options (-march=native). The square of a third is inexact, so its rounding
 * shows. */
static bool multiplies_alike(sg_reduce_local reduce_local, const struct type_entry *entry)
{
    const float singles[] = {1.0f / 3, 1.0f / 3};
    const double doubles[] = {1.0 / 3, 1.0 / 3};
    const size_t bytes = sg_element_size_bytes(entry->element);
    const void *thirds = bytes == sizeof singles ? (const void *)singles : (const void *)doubles;
    unsigned char own[sizeof doubles], of_mpich[sizeof doubles];

    memcpy(of_mpich, thirds, bytes);
    if (reduce_local(thirds, of_mpich, 1, entry->handle, MPI_PROD) != MPI_SUCCESS)
        return true;
    sg_kernel_find(SG_REDUCTION_PROD, entry->element)(thirds, thirds, own, 1);
    return memcmp(own, of_mpich, bytes) == 0;
}

void sg_types_init(sg_reduce_local reduce_local)
{
    for (struct type_entry *entry = types; entry < types + ENTRIES; entry++)
        if (entry->handle != 0 && is_complex(entry->element) &&
            !multiplies_alike(reduce_local, entry))
            entry->handle = 0;
    if (!real16_is_characters(reduce_local))
        types[INDEX(MPI_REAL16)].handle = 0;
    for (struct type_entry *entry = types; entry < types + ENTRIES; entry++) {
        const uint64_t largest = UINT64_MAX;
        uint64_t result = 1;

        if (signed_element(entry->element) == entry->element || entry->handle == 0)
            continue;
        if (reduce_local(&largest, &result, 1, entry->handle, MPI_MAX) == MPI_SUCCESS &&
            result == 1)
            entry->element = signed_element(entry->element);
    }
}

bool sg_type_of(MPI_Datatype datatype, enum sg_element *out)
{
    const struct type_entry *entry = &types[INDEX(datatype)];

    /* An unused entry has handle 0, which is no datatype but may be passed. */
    if (entry->handle != datatype || datatype == 0)
        return false;
    *out = entry->element;
    return true;
}

/* Predefined operations have consecutive numbers from MPI_MAX to MPI_MAXLOC. */
bool sg_reduction_of(MPI_Op op, enum sg_reduction *out)
{
    if (op < MPI_MAX || op > MPI_MAXLOC)
        return false;
    *out = reductions[op & 0xf];
    return true;
}
