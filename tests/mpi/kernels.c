/* Compares every reduction kernel with MPI_Reduce_local, over all handles of predefined types and
 * operations: a pair either has a kernel that gives the same bits, or MPI refuses it too.
 *
 *     kernels
 *
 * One rank. Prints what it compared. Exits 1 if anything differs, 77 if MPICH is not the version
 * whose results the kernels reproduce.
 */
#include "algos/kernels/kernel.h"
#include "lib/operands.h"
#include "mpi/operands.h"
#include "mpi/real.h"
#include "mpi_test.h"
#include "predefined.h"

/* MPICH 4.0.2 computes with this many; so do the kernels. */
#define PAIRS 380

/* Referenced by shim/mpi/operands.o, in functions that this test does not call. */
struct sg_real sg_real;

static const size_t counts[] = {0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 1000, 65537};
#define LARGEST 65537
#define EXTENT_BYTES 32

static unsigned char in[LARGEST * EXTENT_BYTES], inout[LARGEST * EXTENT_BYTES];
static unsigned char expected[LARGEST * EXTENT_BYTES], got[LARGEST * EXTENT_BYTES];

static int pairs, comparisons, failures;

static void fail(int type, int op, const char *what)
{
    printf("%s on %s: %s\n", predefined_operations[op].name, predefined_types[type].name, what);
    failures++;
}

/* True where they agree. */
static bool compare(int type, int op, sg_kernel kernel, enum sg_element element, size_t count,
                    enum operand_values values)
{
    enum sg_reduction reduction;

    REQUIRE(sg_reduction_of(predefined_operations[op].handle, &reduction));
    memcpy(expected, inout, count * EXTENT_BYTES);
    memset(got, 0x5a, sizeof got[0] * count * EXTENT_BYTES);
    MUST(PMPI_Reduce_local(in, expected, (int)count, predefined_types[type].handle,
                           predefined_operations[op].handle));
    kernel(in, inout, got, count);
    comparisons++;
    long at = operands_differ(element, operands_exact(reduction, values), expected, got, count);
    if (at < 0)
        return true;
    fail(type, op, "results differ");
    printf("  %zu elements, the first that differs %ld: in %s inout %s\n", count, at,
           operand_text(element, in, (size_t)at), operand_text(element, inout, (size_t)at));
    printf("  MPI_Reduce_local %s kernel %s\n", operand_text(element, expected, (size_t)at),
           operand_text(element, got, (size_t)at));
    return false;
}

static void check_pair(int type, int op, sg_kernel kernel, enum sg_element element)
{
    pairs++;
    for (enum operand_values values = OPERANDS_ORDINARY; values <= OPERANDS_NANS; values++) {
        operands_fill(element, values, (uint64_t)(type * 100 + op), in, LARGEST);
        operands_fill(element, values, (uint64_t)(type * 100 + op) << 32, inout, LARGEST);
        for (int k = 0; k < (int)(sizeof counts / sizeof counts[0]); k++)
            if (!compare(type, op, kernel, element, counts[k], values))
                return;
    }
}

static void check_type(int type)
{
    enum sg_element element = SG_ELEMENT_COUNT;
    const bool known = sg_type_of(predefined_types[type].handle, &element);
    MPI_Aint lower_bytes, extent_bytes;
    int size_bytes;

    if (known) {
        MUST(PMPI_Type_size(predefined_types[type].handle, &size_bytes));
        MUST(PMPI_Type_get_extent(predefined_types[type].handle, &lower_bytes, &extent_bytes));
        if ((size_t)size_bytes != sg_element_size_bytes(element) || lower_bytes != 0 ||
            (size_t)extent_bytes != sg_element_extent_bytes(element))
            fail(type, 0, "its type has another size");
    }
    for (int op = 0; op < PREDEFINED_OPERATIONS; op++) {
        enum sg_reduction reduction;
        sg_kernel kernel = NULL;

        if (known && sg_reduction_of(predefined_operations[op].handle, &reduction))
            kernel = sg_kernel_find(reduction, element);
        if (kernel != NULL &&
            predefined_fatal(predefined_operations[op].handle, predefined_types[type].handle))
            fail(type, op, "MPICH has no such reduction");
        else if (kernel != NULL)
            check_pair(type, op, kernel, element);
        else if (!predefined_fatal(predefined_operations[op].handle,
                                   predefined_types[type].handle) &&
                 PMPI_Reduce_local(in, inout, 1, predefined_types[type].handle,
                                   predefined_operations[op].handle) == MPI_SUCCESS)
            fail(type, op, "MPICH accepts it and there is no kernel");
    }
}

static void user_operation(void *left, void *right, int *count, MPI_Datatype *type)
{
}

/* Handles that are not the kernels' business. */
static void check_others(void)
{
    enum sg_element element;
    enum sg_reduction reduction;
    MPI_Datatype derived, real;
    MPI_Op op;

    MUST(MPI_Type_contiguous(1, MPI_DOUBLE, &derived));
    MUST(MPI_Type_create_f90_real(15, 300, &real));
    MUST(MPI_Op_create(user_operation, 1, &op));
    REQUIRE(!sg_type_of(derived, &element) && !sg_type_of(real, &element));
    REQUIRE(!sg_type_of(MPI_DATATYPE_NULL, &element) && !sg_type_of(0, &element));
    REQUIRE(!sg_type_of(-1, &element) && !sg_type_of(MPI_SUM, &element));
    REQUIRE(!sg_type_of(MPI_INT ^ 0xc00, &element)); /* MPI_INT's number, eight bytes */
    REQUIRE(!sg_type_of(MPI_WCHAR, &element) && !sg_type_of(MPIX_C_FLOAT16, &element));
    REQUIRE(!sg_reduction_of(op, &reduction) && !sg_reduction_of(MPI_OP_NULL, &reduction));
    REQUIRE(!sg_reduction_of(MPI_REPLACE, &reduction) && !sg_reduction_of(MPI_NO_OP, &reduction));
    REQUIRE(!sg_reduction_of(MPI_INT, &reduction) && !sg_reduction_of(0, &reduction));
    MUST(MPI_Type_free(&derived));
    MUST(MPI_Op_free(&op));
}

/* Before the question to MPICH an unsigned type is unsigned; after it, what MPICH takes it for. */
static void check_unsigned(void)
{
    enum sg_element before, after;
    unsigned largest = ~0u, result = 1;

    REQUIRE(sg_type_of(MPI_UNSIGNED, &before) && before == SG_ELEMENT_UINT32);
    sg_types_init(PMPI_Reduce_local);
    REQUIRE(sg_type_of(MPI_UNSIGNED, &after));
    MUST(PMPI_Reduce_local(&largest, &result, 1, MPI_UNSIGNED, MPI_MAX));
    REQUIRE(after == (result == largest ? SG_ELEMENT_UINT32 : SG_ELEMENT_INT32));
    printf("MPICH compares unsigned integers as %s\n", result == largest ? "unsigned" : "signed");
}

/* An MPICH whose compiler rounds products otherwise: its complex numbers are not the kernels'. */
static int round_otherwise(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op)
{
    int status = PMPI_Reduce_local(from, into, count, type, op);

    if (op == MPI_PROD)
        *(unsigned char *)into ^= 1;
    return status;
}

static void check_products(void)
{
    enum sg_element element;

    REQUIRE(sg_type_of(MPI_C_DOUBLE_COMPLEX, &element) && sg_type_of(MPI_COMPLEX, &element));
    sg_types_init(round_otherwise);
    REQUIRE(!sg_type_of(MPI_C_DOUBLE_COMPLEX, &element) && !sg_type_of(MPI_C_COMPLEX, &element));
    REQUIRE(!sg_type_of(MPI_DOUBLE_COMPLEX, &element) && !sg_type_of(MPI_COMPLEX, &element));
    REQUIRE(sg_type_of(MPI_DOUBLE, &element) && element == SG_ELEMENT_DOUBLE);
}

/* An MPICH that takes MPI_REAL16 for a number: its kernels are no longer those of MPICH. */
static int add_numbers(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op)
{
    *(long long *)into += *(const long long *)from;
    return MPI_SUCCESS;
}

static void check_real16(void)
{
    enum sg_element element;

    REQUIRE(sg_type_of(MPI_REAL16, &element) && element == SG_ELEMENT_REAL16);
    sg_types_init(add_numbers);
    REQUIRE(!sg_type_of(MPI_REAL16, &element));
}

int main(int argc, char **argv)
{
    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MUST(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    if (!documented_mpich()) {
        MUST(MPI_Finalize());
        return 77;
    }
    sg_kernel_init();
    check_unsigned();
    check_others();
    for (int type = 0; type < PREDEFINED_TYPES; type++)
        check_type(type);
    printf("%d pairs of %d types and %d operations, %d comparisons, %d failures\n", pairs,
           PREDEFINED_TYPES, PREDEFINED_OPERATIONS, comparisons, failures);
    check_products();
    check_real16();
    MUST(MPI_Finalize());
    return pairs < PAIRS || failures > 0;
}
