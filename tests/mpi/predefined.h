/* MPI's predefined types and operations, for programs that iterate over all of them. */
#ifndef SG_TESTS_PREDEFINED_H
#define SG_TESTS_PREDEFINED_H

#include <mpi.h>
#include <stdbool.h>
#include <string.h>

#define PREDEFINED(handle)                                                                         \
    {                                                                                              \
        handle, #handle                                                                            \
    }

static const struct {
    MPI_Datatype handle;
    const char *name;
} predefined_types[] = {
    PREDEFINED(MPI_CHAR),
    PREDEFINED(MPI_SIGNED_CHAR),
    PREDEFINED(MPI_UNSIGNED_CHAR),
    PREDEFINED(MPI_BYTE),
    PREDEFINED(MPI_WCHAR),
    PREDEFINED(MPI_SHORT),
    PREDEFINED(MPI_UNSIGNED_SHORT),
    PREDEFINED(MPI_INT),
    PREDEFINED(MPI_UNSIGNED),
    PREDEFINED(MPI_LONG),
    PREDEFINED(MPI_UNSIGNED_LONG),
    PREDEFINED(MPI_LONG_LONG),
    PREDEFINED(MPI_UNSIGNED_LONG_LONG),
    PREDEFINED(MPI_FLOAT),
    PREDEFINED(MPI_DOUBLE),
    PREDEFINED(MPI_LONG_DOUBLE),
    PREDEFINED(MPI_PACKED),
    PREDEFINED(MPI_INT8_T),
    PREDEFINED(MPI_INT16_T),
    PREDEFINED(MPI_INT32_T),
    PREDEFINED(MPI_INT64_T),
    PREDEFINED(MPI_UINT8_T),
    PREDEFINED(MPI_UINT16_T),
    PREDEFINED(MPI_UINT32_T),
    PREDEFINED(MPI_UINT64_T),
    PREDEFINED(MPI_AINT),
    PREDEFINED(MPI_OFFSET),
    PREDEFINED(MPI_COUNT),
    PREDEFINED(MPI_C_BOOL),
    PREDEFINED(MPI_C_FLOAT_COMPLEX),
    PREDEFINED(MPI_C_DOUBLE_COMPLEX),
    PREDEFINED(MPI_C_LONG_DOUBLE_COMPLEX),
    PREDEFINED(MPI_FLOAT_INT),
    PREDEFINED(MPI_DOUBLE_INT),
    PREDEFINED(MPI_LONG_INT),
    PREDEFINED(MPI_SHORT_INT),
    PREDEFINED(MPI_2INT),
    PREDEFINED(MPI_LONG_DOUBLE_INT),
    PREDEFINED(MPI_CXX_BOOL),
    PREDEFINED(MPI_CXX_FLOAT_COMPLEX),
    PREDEFINED(MPI_CXX_DOUBLE_COMPLEX),
    PREDEFINED(MPI_CXX_LONG_DOUBLE_COMPLEX),
    PREDEFINED(MPI_CHARACTER),
    PREDEFINED(MPI_LOGICAL),
    PREDEFINED(MPI_INTEGER),
    PREDEFINED(MPI_INTEGER1),
    PREDEFINED(MPI_INTEGER2),
    PREDEFINED(MPI_INTEGER4),
    PREDEFINED(MPI_INTEGER8),
    PREDEFINED(MPI_REAL),
    PREDEFINED(MPI_DOUBLE_PRECISION),
    PREDEFINED(MPI_REAL4),
    PREDEFINED(MPI_REAL8),
    PREDEFINED(MPI_REAL16),
    PREDEFINED(MPI_COMPLEX),
    PREDEFINED(MPI_DOUBLE_COMPLEX),
    PREDEFINED(MPI_COMPLEX8),
    PREDEFINED(MPI_COMPLEX16),
    PREDEFINED(MPI_COMPLEX32),
    PREDEFINED(MPI_2INTEGER),
    PREDEFINED(MPI_2REAL),
    PREDEFINED(MPI_2DOUBLE_PRECISION),
};

static const struct {
    MPI_Op handle;
    const char *name;
} predefined_operations[] = {
    PREDEFINED(MPI_MAX),  PREDEFINED(MPI_MIN),  PREDEFINED(MPI_SUM),    PREDEFINED(MPI_PROD),
    PREDEFINED(MPI_LAND), PREDEFINED(MPI_LOR),  PREDEFINED(MPI_LXOR),   PREDEFINED(MPI_BAND),
    PREDEFINED(MPI_BOR),  PREDEFINED(MPI_BXOR), PREDEFINED(MPI_MINLOC), PREDEFINED(MPI_MAXLOC),
};

#define PREDEFINED_TYPES (int)(sizeof predefined_types / sizeof predefined_types[0])
#define PREDEFINED_OPERATIONS (int)(sizeof predefined_operations / sizeof predefined_operations[0])

/* True if MPICH ends the program for this pair; from 4.1 on also for MPI_REAL16. */
static inline bool predefined_fatal(MPI_Op op, MPI_Datatype type)
{
    return (op == MPI_LAND || op == MPI_LOR) &&
           (type == MPI_FLOAT || type == MPI_DOUBLE || type == MPI_LONG_DOUBLE ||
            (MPICH_NUMVERSION >= 40100000 && type == MPI_REAL16));
}

/* True for the MPICH version whose results stagger reproduces. */
static inline bool documented_mpich(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;

    return MPI_Get_library_version(version, &length) == MPI_SUCCESS &&
           strstr(version, "4.0.2") != NULL;
}

#endif
