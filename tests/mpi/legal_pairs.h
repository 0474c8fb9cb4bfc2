/* The predefined operations that MPICH carries out on predefined types. Needs shim/mpi/operands.h
 * and predefined.h; MPI must be initialised.
 */
#ifndef SG_TESTS_LEGAL_PAIRS_H
#define SG_TESTS_LEGAL_PAIRS_H

#include "mpi/operands.h"
#include "mpi/real.h"
#include "mpi_test.h"
#include "predefined.h"

/* Upper bound of any element's extent, in bytes. */
#define EXTENT_MAX 32

/* Before 4.1 they include six logical operations on real types; from 4.1 on MPI_REAL16 is no
 * number. */
#define IS_BEFORE_4_1 (MPICH_NUMVERSION < 40100000)
#define LEGAL_PAIRS (IS_BEFORE_4_1 ? 368 : 358)

/* Referenced by shim/mpi/operands.o, in functions that no test calls. */
struct sg_real sg_real;

static bool legal_pairs[PREDEFINED_OPERATIONS][PREDEFINED_TYPES];

/* True if MPI_Reduce_local carries out the operation. It accepts logical operations on Fortran's
 * reals but does not do them. */
static bool takes(int operation, int type)
{
    unsigned char in[EXTENT_MAX] = {0}, inout[EXTENT_MAX] = {0};
    const MPI_Op op = predefined_operations[operation].handle;
    enum sg_element element;

    if (!sg_type_of(predefined_types[type].handle, &element) ||
        (element == SG_ELEMENT_REAL16 && !IS_BEFORE_4_1) ||
        predefined_fatal(op, predefined_types[type].handle) ||
        ((element == SG_ELEMENT_REAL4 || element == SG_ELEMENT_REAL8) &&
         (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR)))
        return false;
    return PMPI_Reduce_local(in, inout, 1, predefined_types[type].handle, op) == MPI_SUCCESS;
}

/* Fills legal_pairs; returns their number, LEGAL_PAIRS. */
static int find_legal(void)
{
    int pairs = 0;

    MUST(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int type = 0; type < PREDEFINED_TYPES; type++) {
        for (int operation = 0; operation < PREDEFINED_OPERATIONS; operation++) {
            legal_pairs[operation][type] = takes(operation, type);
            pairs += legal_pairs[operation][type];
        }
    }
    MUST(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    REQUIRE(pairs == LEGAL_PAIRS);
    return pairs;
}

#endif
