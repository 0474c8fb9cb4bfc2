/* Reduce and allreduce through the library, over a pairwise cover of operation, type, size, root,
 * MPI_IN_PLACE, values and communicator. Results must match, bit for bit, the sequential reference
 * of the documented association (tests/lib/reference.h), computed by MPI_Reduce_local.
 *
 *     results
 *
 * Operations: the predefined ones on every legal type, and two of the user's, one commutative and
 * one not. Every rank knows all ranks' operands. Nothing may be written past the result, and
 * nothing at all on a rank that receives none.
 */
#include "cover.h"
#include "legal_pairs.h"
#include "lib/operands.h"
#include "lib/reference.h"

#define RANKS_MAX 64
#define GUARD_BYTES 64
#define BYTES_MAX (1024 * 1024 + 2 * EXTENT_MAX)
/* A prime, so that what is shifted by a block of any kind does not fall on its like. */
#define PERIOD 1021

enum { OPERATION, TYPE, SIZE, ROOT, IN_PLACE, VALUES, COMM, FACTORS };
enum { USER_SYMMETRIC = PREDEFINED_OPERATIONS, USER_ORDERED, OPERATIONS };
#define WORLD 0
#define REVERSED 1

/* Elements, or elements that fit into so many bytes (and one more): by extent where buffers decide,
 * by MPI's size at MPICH's switch. */
static const struct size {
    size_t elements, bytes;
    bool beyond, by_size;
} sizes[] = {
    {1, 0, 0, 0},      {3, 0, 0, 0},      {0, 6, 0, 0},           {0, 48, 0, 0},
    {0, 48, 1, 0},     {0, 1024, 0, 0},   {0, 1024, 1, 0},        {0, 2048, 0, 1},
    {0, 2048, 1, 1},   {0, 4096, 0, 0},   {0, 4096, 1, 0},        {0, 131072 - 32, 0, 0},
    {0, 131072, 0, 0}, {0, 131072, 1, 0}, {0, 1024 * 1024, 0, 0}, {0, 1024 * 1024, 1, 0},
};
#define SIZES (int)(sizeof sizes / sizeof sizes[0])

static MPI_Op operations[OPERATIONS];
static MPI_Comm comms[2];
static unsigned char *operands[RANKS_MAX], *received, *expected;
static int rank, ranks, compared, failures;
static struct own_counts counts;

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 31;
}

/* The user's operations work on the bits of an element's values. */
static void combine(const unsigned char *in, unsigned char *inout, int count, MPI_Datatype type,
                    bool ordered)
{
    enum sg_element element;

    REQUIRE(sg_type_of(type, &element));
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 2; k++) {
            const struct operand_field *field = &operand_fields[element][k];
            const size_t at = (size_t)i * sg_element_extent_bytes(element) + field->offset_bytes;
            const size_t bytes = field->size_bytes < 8 ? field->size_bytes : 8;
            uint64_t left = 0, right = 0;

            if (field->kind == OPERAND_NONE)
                continue;
            memcpy(&left, in + at, bytes);
            memcpy(&right, inout + at, bytes);
            right = ordered ? mix(3 * left + mix(right)) : mix(left + right);
            memcpy(inout + at, &right, bytes);
        }
    }
}

static void combine_ordered(void *in, void *inout, int *count, MPI_Datatype *type)
{
    combine(in, inout, *count, *type, true);
}

static void combine_symmetric(void *in, void *inout, int *count, MPI_Datatype *type)
{
    combine(in, inout, *count, *type, false);
}

/* The user's operations take every type that there is a kernel for. */
static bool legal(const int *row)
{
    enum sg_element element;

    if (row[OPERATION] < PREDEFINED_OPERATIONS)
        return legal_pairs[row[OPERATION]][row[TYPE]];
    return sg_type_of(predefined_types[row[TYPE]].handle, &element);
}

static void fold(const void *left, void *right, size_t count, void *context)
{
    const int *row = context;

    MUST(PMPI_Reduce_local(left, right, (int)count, predefined_types[row[TYPE]].handle,
                           operations[row[OPERATION]]));
}

static size_t count_of(const int *row, enum sg_element element)
{
    const struct size *size = &sizes[row[SIZE]];
    const size_t each =
        size->by_size ? sg_element_size_bytes(element) : sg_element_extent_bytes(element);

    return size->elements > 0 ? size->elements : size->bytes / each + size->beyond;
}

/* Rank r of the communicator's operand. */
static void fill(const int *row, enum sg_element element, uint64_t seed, int r, size_t count)
{
    const size_t extent_bytes = sg_element_extent_bytes(element);
    const size_t all_bytes = count * extent_bytes;
    const size_t first = count < PERIOD ? count : PERIOD;

    operands_fill(element, row[VALUES] ? OPERANDS_HARD : OPERANDS_ORDINARY,
                  seed * RANKS_MAX + (uint64_t)r, operands[r], first);
    for (size_t done = first * extent_bytes; done > 0 && done < all_bytes; done *= 2)
        memcpy(operands[r] + done, operands[r], 2 * done < all_bytes ? done : all_bytes - done);
}

static void judge(const int *row, enum sg_element element, int own, size_t count, bool receives)
{
    const size_t bytes = receives ? count * sg_element_extent_bytes(element) : 0;
    long at = receives ? operands_differ(element, true, expected, received, count) : -1;
    bool overrun = false;

    for (size_t i = bytes; i < count * sg_element_extent_bytes(element) + GUARD_BYTES; i++)
        overrun = overrun || received[i] != 0x5a;
    compared += receives;
    if (at < 0 && !overrun)
        return;
    failures++;
    printf("rank %d of %d: %s on %s, %zu elements, root %d, in place %d, values %d, comm %d: ", own,
           ranks,
           row[OPERATION] == USER_ORDERED     ? "user's ordered"
           : row[OPERATION] == USER_SYMMETRIC ? "user's commutative"
                                              : predefined_operations[row[OPERATION]].name,
           predefined_types[row[TYPE]].name, count, row[ROOT] - 1, row[IN_PLACE], row[VALUES],
           row[COMM]);
    if (at >= 0)
        printf("element %ld is %s, not %s\n", at, operand_text(element, received, (size_t)at),
               operand_text(element, expected, (size_t)at));
    else
        printf("bytes beyond the result are written\n");
    fflush(stdout);
}

static void refer(const int *row, enum sg_element element, size_t count)
{
    const struct reference reference = {fold,
                                        (void *)row,
                                        sg_element_extent_bytes(element),
                                        sg_element_size_bytes(element),
                                        row[OPERATION] < PREDEFINED_OPERATIONS,
                                        row[OPERATION] != USER_ORDERED};
    const void *pointers[RANKS_MAX];

    for (int r = 0; r < ranks; r++)
        pointers[r] = operands[r];
    if (row[ROOT] == 0)
        reference_allreduce(&reference, ranks, pointers, count, expected);
    else
        reference_reduce(&reference, ranks, pointers, count, row[ROOT] - 1, expected);
}

/* ROOT 0 is an allreduce, else one more than the root of a reduce. */
static void call(const int *row, const void *send, int count, MPI_Datatype type, MPI_Op op,
                 MPI_Comm comm)
{
    if (row[ROOT] == 0)
        COUNTED(counts.allreduce, MPI_Allreduce(send, received, count, type, op, comm));
    else
        COUNTED(counts.reduce, MPI_Reduce(send, received, count, type, op, row[ROOT] - 1, comm));
}

/* With call sites of its own, as MPICH's own runs there. */
static void call_empty(const int *row, const void *send, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm)
{
    if (row[ROOT] == 0)
        COUNTED(counts.allreduce, MPI_Allreduce(send, received, 0, type, op, comm));
    else
        COUNTED(counts.reduce, MPI_Reduce(send, received, 0, type, op, row[ROOT] - 1, comm));
}

static void run(const int *row, uint64_t seed)
{
    const MPI_Datatype type = predefined_types[row[TYPE]].handle;
    const MPI_Op op = operations[row[OPERATION]];
    const MPI_Comm comm = comms[row[COMM]];
    const int own = row[COMM] == REVERSED ? ranks - 1 - rank : rank;
    const bool receives = row[ROOT] == 0 || row[ROOT] - 1 == own;
    const void *send = operands[own];
    enum sg_element element;

    REQUIRE(sg_type_of(type, &element));
    size_t count = count_of(row, element);
    size_t bytes = count * sg_element_extent_bytes(element);
    for (int r = 0; r < ranks; r++)
        if (receives || r == own)
            fill(row, element, seed, r, count);
    memset(received, 0x5a, bytes + GUARD_BYTES);
    if (receives && row[IN_PLACE]) {
        memcpy(received, operands[own], bytes);
        send = MPI_IN_PLACE;
    }
    if (count == 0)
        call_empty(row, send, type, op, comm);
    else
        call(row, send, (int)count, type, op, comm);
    if (receives)
        refer(row, element, count);
    judge(row, element, own, count, receives);
}

static void set_up(void)
{
    for (int op = 0; op < PREDEFINED_OPERATIONS; op++)
        operations[op] = predefined_operations[op].handle;
    MUST(MPI_Op_create(combine_symmetric, 1, &operations[USER_SYMMETRIC]));
    MUST(MPI_Op_create(combine_ordered, 0, &operations[USER_ORDERED]));
    comms[WORLD] = MPI_COMM_WORLD;
    MUST(MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &comms[REVERSED]));
    /* The first collective of a communicator is MPICH's own. */
    COUNTED(counts.barrier, MPI_Barrier(comms[REVERSED]));
    received = reference_memory(BYTES_MAX + GUARD_BYTES);
    expected = reference_memory(BYTES_MAX);
    for (int r = 0; r < ranks; r++)
        operands[r] = reference_memory(BYTES_MAX);
}

int main(int argc, char **argv)
{
    struct cover cover = {.factors = FACTORS, .legal = legal};

    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    REQUIRE(ranks <= RANKS_MAX);
    if (!documented_mpich()) {
        MUST(MPI_Finalize());
        return 77;
    }
    set_up();
    int pairs = find_legal();
    memcpy(cover.levels, (int[]){OPERATIONS, PREDEFINED_TYPES, SIZES, ranks + 1, 2, 2, 2},
           FACTORS * sizeof(int));
    cover_make(&cover);
    for (int i = 0; i < cover.row_count; i++)
        run(cover.rows[i], (uint64_t)i + 1);
    if (rank == 0)
        printf("%d pairs of type and operation, %d calls that cover %ld pairs of levels, %d "
               "results compared by rank 0\n",
               pairs, cover.row_count, cover.pairs, compared);
    cover_free(&cover);
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return failures > 0;
}
