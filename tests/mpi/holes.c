/* A reduction may write only the values of the elements that it receives. It may not write the
 * bytes between the values of a pair (MPI's type map leaves them out, so a program may keep its own
 * data there), the surroundings of the receive buffer, the send buffer, or the receive buffer of a
 * rank that is not the root.
 *
 *     holes [between] [posted]
 *
 * All pair types, with MINLOC, MAXLOC and an operation of the user's; long double and its complex
 * type with SUM; from no element to more than the largest chunk; allreduce and reduce to the first
 * and the last rank, with MPI_IN_PLACE and without. "between" omits the user's operation,
 * which MPICH carries out between nodes, and the largest operands: chunks are smaller there.
 * "posted" adds nonblocking calls.
 */
#include "mpi_test.h"

#define GUARD_BYTES 256
#define COUNT_MAX 9000
#define LARGE 4096

enum kind { NONE, SHORT, INT, LONG, FLOAT, DOUBLE, LONG_DOUBLE };

static const size_t sizes_bytes[] = {0,
                                     sizeof(short),
                                     sizeof(int),
                                     sizeof(long),
                                     sizeof(float),
                                     sizeof(double),
                                     sizeof(long double)};

static const struct layout {
    MPI_Datatype type;
    const char *name;
    size_t extent_bytes;
    enum kind kinds[2];
    size_t at[2];
} layouts[] = {
    {MPI_DOUBLE_INT, "MPI_DOUBLE_INT", 16, {DOUBLE, INT}, {0, 8}},
    {MPI_LONG_INT, "MPI_LONG_INT", 16, {LONG, INT}, {0, 8}},
    {MPI_SHORT_INT, "MPI_SHORT_INT", 8, {SHORT, INT}, {0, 4}},
    {MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", 32, {LONG_DOUBLE, INT}, {0, 16}},
    {MPI_FLOAT_INT, "MPI_FLOAT_INT", 8, {FLOAT, INT}, {0, 4}},
    {MPI_2INT, "MPI_2INT", 8, {INT, INT}, {0, 4}},
    {MPI_2REAL, "MPI_2REAL", 8, {FLOAT, FLOAT}, {0, 4}},
    {MPI_2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION", 16, {DOUBLE, DOUBLE}, {0, 8}},
    {MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE", 16, {LONG_DOUBLE, NONE}, {0, 0}},
    {MPI_C_LONG_DOUBLE_COMPLEX,
     "MPI_C_LONG_DOUBLE_COMPLEX",
     32,
     {LONG_DOUBLE, LONG_DOUBLE},
     {0, 16}},
};
#define LAYOUTS (int)(sizeof layouts / sizeof layouts[0])
#define PAIRS (LAYOUTS - 2)

static const int counts[] = {0, 1, 2, 3, 7, 50, 100, 1000, LARGE, COUNT_MAX};
#define COUNTS (int)(sizeof counts / sizeof counts[0])
#define COUNTS_BETWEEN (COUNTS - 2)

struct test {
    const struct layout *layout;
    MPI_Op op;
    const char *op_name;
    int count, root; /* -1: an allreduce */
    bool in_place, posted;
};

static unsigned char *send_memory, *receive_memory;
static int rank, ranks, tests, failures;
static MPI_Op combine_op;
static const struct layout *combined;

static long double get(enum kind kind, const unsigned char *at)
{
    union {
        short s;
        int i;
        long l;
        float f;
        double d;
        long double q;
    } value;

    memcpy(&value, at, sizes_bytes[kind]);
    switch (kind) {
    case SHORT:
        return value.s;
    case INT:
        return value.i;
    case LONG:
        return (long double)value.l;
    case FLOAT:
        return value.f;
    case DOUBLE:
        return value.d;
    default:
        return value.q;
    }
}

static void put(enum kind kind, unsigned char *at, long double value)
{
    short s = (short)value;
    int i = (int)value;
    long l = (long)value;
    float f = (float)value;
    double d = (double)value;
    const void *from[] = {NULL, &s, &i, &l, &f, &d, &value};

    /* 6 of a long double's 16 bytes hold no value. */
    if (kind != NONE)
        memcpy(at, from[kind], kind == LONG_DOUBLE ? 10 : sizes_bytes[kind]);
}

/* The user's own: the sum of the first values, the greater of the second ones. */
static void combine(void *in, void *inout, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < *count; i++) {
        const unsigned char *left = (unsigned char *)in + (size_t)i * combined->extent_bytes;
        unsigned char *right = (unsigned char *)inout + (size_t)i * combined->extent_bytes;
        long double one = get(combined->kinds[1], left + combined->at[1]);
        long double other = get(combined->kinds[1], right + combined->at[1]);

        put(combined->kinds[0], right,
            get(combined->kinds[0], left) + get(combined->kinds[0], right));
        put(combined->kinds[1], right + combined->at[1], one > other ? one : other);
    }
}

static long double operand(int of_rank, int field, int i)
{
    return field == 0 ? (of_rank * 5 + i) % 7 : (of_rank * 3 + i) % 13;
}

static long double wanted(const struct test *test, int field, int i)
{
    long double values[2] = {operand(0, 0, i), operand(0, 1, i)};

    for (int r = 1; r < ranks; r++) {
        long double value = operand(r, 0, i), location = operand(r, 1, i);

        if (test->op == MPI_SUM) {
            values[0] += value;
            values[1] += location;
        } else if (test->op == combine_op) {
            values[0] += value;
            values[1] = location > values[1] ? location : values[1];
        } else if (value == values[0]) {
            values[1] = location < values[1] ? location : values[1];
        } else if ((test->op == MPI_MAXLOC) == (value > values[0])) {
            values[0] = value;
            values[1] = location;
        }
    }
    return values[field];
}

/* Initial content of a byte: never 0, and different between bytes, sides and ranks. */
static unsigned char mark(size_t index, bool received)
{
    return (unsigned char)(1 + (index * 29 + (received ? 101 : 7) + (size_t)rank * 53) % 255);
}

static void fill(const struct test *test, unsigned char *memory, bool received, bool has_operand)
{
    const struct layout *layout = test->layout;
    const size_t bytes = (size_t)test->count * layout->extent_bytes;

    for (size_t i = 0; i < bytes + 2 * GUARD_BYTES; i++)
        memory[i] = mark(i, received);
    for (int i = 0; i < test->count && has_operand; i++) {
        unsigned char *element = memory + GUARD_BYTES + (size_t)i * layout->extent_bytes;

        for (int field = 0; field < 2; field++)
            put(layout->kinds[field], element + layout->at[field], operand(rank, field, i));
    }
}

/* Whether a byte of an element is a value's. */
static bool is_value(const struct layout *layout, size_t at)
{
    for (int field = 0; field < 2; field++) {
        if (at >= layout->at[field] && at < layout->at[field] + sizes_bytes[layout->kinds[field]])
            return true;
    }
    return false;
}

static void complain(const struct test *test, const char *what, size_t at)
{
    if (++failures > 10)
        return;
    printf("rank %d of %d: %s%s of %d %s, %s, root %d%s: %s, byte %zu of element %zu\n", rank,
           ranks, test->posted ? "posted " : "", test->root < 0 ? "allreduce" : "reduce",
           test->count, test->layout->name, test->op_name, test->root,
           test->in_place ? ", in place" : "", what,
           (at - GUARD_BYTES) % test->layout->extent_bytes,
           (at - GUARD_BYTES) / test->layout->extent_bytes);
    fflush(stdout);
}

/* Bytes that nobody may have written. first: of the buffer's own bytes, those that are no value's;
 * else all of them. */
static void check_marks(const struct test *test, const unsigned char *memory, bool received,
                        bool holds_values, const char *what)
{
    const struct layout *layout = test->layout;
    const size_t bytes = (size_t)test->count * layout->extent_bytes;

    for (size_t i = 0; i < bytes + 2 * GUARD_BYTES; i++) {
        bool inside = i >= GUARD_BYTES && i < GUARD_BYTES + bytes;

        if (inside && holds_values && is_value(layout, (i - GUARD_BYTES) % layout->extent_bytes))
            continue;
        if (memory[i] != mark(i, received)) {
            complain(test, inside ? what : "a byte around the buffer is written", i);
            return;
        }
    }
}

static void check_values(const struct test *test)
{
    const struct layout *layout = test->layout;

    for (int i = 0; i < test->count; i++) {
        size_t at = GUARD_BYTES + (size_t)i * layout->extent_bytes;

        for (int field = 0; field < 2; field++) {
            if (layout->kinds[field] != NONE &&
                get(layout->kinds[field], receive_memory + at + layout->at[field]) !=
                    wanted(test, field, i)) {
                complain(test, "wrong value", at + layout->at[field]);
                return;
            }
        }
    }
}

static void call(const struct test *test, const void *send, void *receive)
{
    MPI_Request request;

    if (test->posted && test->root < 0)
        MUST(MPI_Iallreduce(send, receive, test->count, test->layout->type, test->op,
                            MPI_COMM_WORLD, &request));
    else if (test->posted)
        MUST(MPI_Ireduce(send, receive, test->count, test->layout->type, test->op, test->root,
                         MPI_COMM_WORLD, &request));
    else if (test->root < 0)
        MUST(MPI_Allreduce(send, receive, test->count, test->layout->type, test->op,
                           MPI_COMM_WORLD));
    else
        MUST(MPI_Reduce(send, receive, test->count, test->layout->type, test->op, test->root,
                        MPI_COMM_WORLD));
    if (test->posted)
        MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void run(const struct test *test)
{
    const bool receives = test->root < 0 || test->root == rank;
    const bool in_place = test->in_place && receives;

    combined = test->layout;
    fill(test, send_memory, false, true);
    fill(test, receive_memory, true, in_place);
    call(test, in_place ? MPI_IN_PLACE : send_memory + GUARD_BYTES, receive_memory + GUARD_BYTES);
    tests++;
    if (receives)
        check_values(test);
    check_marks(test, receive_memory, true, receives,
                receives ? "a byte that is no value's is written"
                         : "the receive buffer of a rank that receives nothing is written");
    check_marks(test, send_memory, false, true, "the send buffer's hole is written");
}

static void run_roots(struct test test, int forms)
{
    const int roots[] = {-1, 0, ranks - 1};

    for (int k = 0; k < 3; k++) {
        test.root = roots[k];
        for (int in_place = 0; in_place < 2; in_place++) {
            test.in_place = in_place;
            for (int form = 0; form < forms; form++) {
                test.posted = form == 1;
                run(&test);
            }
        }
    }
}

int main(int argc, char **argv)
{
    static const char *const op_names[] = {"MPI_MAXLOC", "MPI_MINLOC", "the user's operation"};
    bool between = argc > 1 && strcmp(argv[1], "between") == 0;
    int forms = argc > 1 && strcmp(argv[argc - 1], "posted") == 0 ? 2 : 1;

    START(rank, ranks);
    MUST(MPI_Op_create(combine, 1, &combine_op));
    const MPI_Op ops[] = {MPI_MAXLOC, MPI_MINLOC, combine_op};
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    send_memory = malloc(COUNT_MAX * 32 + 2 * GUARD_BYTES);
    receive_memory = malloc(COUNT_MAX * 32 + 2 * GUARD_BYTES);
    REQUIRE(send_memory != NULL && receive_memory != NULL);
    for (int k = 0; k < LAYOUTS; k++) {
        for (int c = 0; c < (between ? COUNTS_BETWEEN : COUNTS); c++) {
            struct test test = {.layout = &layouts[k], .count = counts[c]};

            if (k >= PAIRS) {
                test.op = MPI_SUM, test.op_name = "MPI_SUM";
                run_roots(test, forms);
                continue;
            }
            for (int o = 0; o < (between ? 2 : 3); o++) {
                test.op = ops[o], test.op_name = op_names[o];
                /* Large operands' elements take one path with every operation. */
                if (counts[c] < LARGE || o == k % 3)
                    run_roots(test, forms);
            }
        }
    }
    MUST(MPI_Op_free(&combine_op));
    MUST(MPI_Finalize());
    if (rank == 0)
        printf("%d calls\n", tests);
    return failures > 0;
}
