/* Reduce and allreduce between nodes, over a pairwise cover of protocol with parameters, operation,
 * type, size, root, MPI_IN_PLACE, values, order of the ranks, order of arrival, ranks per node,
 * progress mode and form (blocking or not). Results must match, bit for bit, a sequential reference
 * of the protocol's documented association (internode_reference.h), and MPICH's own results
 * where no association can show.
 *
 *     internode_results rules                    prints the rules to run it under
 *     internode_results RANKS_PER_NODE MODE      the rows of the cover for that many ranks per node
 *                                                and that mode (0 to 2; -1: for all modes)
 *     internode_results RANKS_PER_NODE MODE full
 *                                                in place of the cover the product of protocol,
 *                                                operation, type and size: a third for each mode
 *
 * Each protocol has its own communicators, whose names the rules know. Nothing may be written past
 * the result, and nothing at all on a rank that receives none. At the end every rank prints how
 * many of its calls each algorithm should have run.
 */
#include "cover.h"
#include "internode_reference.h"
#include "legal_pairs.h"
#include "lib/operands.h"

#define RANKS_MAX 16
#define GUARD_BYTES 64
#define BYTES_MAX (40 * 1024 + 2 * EXTENT_MAX)
#define RANKS_PER_NODE_MAX 3
enum { MODE_POLL, MODE_THREAD, MODE_SIGNAL, MODES };

enum {
    PROTOCOL,
    OPERATION,
    TYPE,
    SIZE,
    ROOT,
    IN_PLACE,
    VALUES,
    ORDER,
    ARRIVAL,
    NODE,
    MODE,
    FORM,
    FACTORS
};
enum { ROOT_FIRST, ROOT_LAST, ROOT_MIDDLE, ROOTS };
enum { VALUES_ORDINARY, VALUES_HARD, VALUES_SMALL, VALUES_KINDS };
enum { ORDER_WORLD, ORDER_REVERSED, ORDER_INTERLEAVED, ORDERS };
enum { ARRIVAL_ANY, ARRIVAL_UP, ARRIVAL_DOWN, ARRIVALS };
enum { FORM_BLOCKING, FORM_POSTED, FORMS };

static const struct {
    const char *algorithm, *parameters;
    bool reduces; /* else an allreduce */
    enum internode_shape shape;
    int degree;
    bool any_order; /* combines as messages come */
} protocols[] = {
    {"bypass", "", true, INTERNODE_BINOMIAL, 0, false},
    {"bypass", "linger=50", true, INTERNODE_BINOMIAL, 0, false},
    {"bypass", "linger=auto", true, INTERNODE_BINOMIAL, 0, false},
    {"bypass", "deterministic=0", true, INTERNODE_BINOMIAL, 0, true},
    {"bypass", "eager=64", true, INTERNODE_BINOMIAL, 0, false},
    {"bypass", "eager=20000,linger=50", true, INTERNODE_BINOMIAL, 0, false},
    {"bypass", "eager=64,deterministic=0", true, INTERNODE_BINOMIAL, 0, true},
    {"tree", "", true, INTERNODE_CONTIGUOUS, 4, false},
    {"tree", "degree=1", true, INTERNODE_BINOMIAL, 0, false},
    {"tree", "degree=2", true, INTERNODE_CONTIGUOUS, 2, false},
    {"tree", "degree=2", false, INTERNODE_CONTIGUOUS, 2, false},
    {"tree", "", false, INTERNODE_CONTIGUOUS, 4, false},
    {"tree", "degree=1", false, INTERNODE_BINOMIAL, 0, false},
    {"pairwise", "", false, INTERNODE_DOUBLING, 0, false},
    {"adaptive", "", false, INTERNODE_CONTIGUOUS, 4, false},
    {"adaptive", "degree=2", false, INTERNODE_CONTIGUOUS, 2, false},
    {"adaptive", "degree=2,tokens=2", false, INTERNODE_CONTIGUOUS, 2, false},
    {"adaptive", "tokens=4,predict=1", false, INTERNODE_CONTIGUOUS, 4, false},
    {"adaptive", "deterministic=0,tokens=2", false, INTERNODE_CONTIGUOUS, 4, true},
    {"handoff", "", true, INTERNODE_DOUBLING, 0, false},
    {"handoff", "", false, INTERNODE_DOUBLING, 0, false},
    {"handoff", "eager=64", true, INTERNODE_DOUBLING, 0, false},
    {"srm", "", true, INTERNODE_DOUBLING, 0, false},
    {"srm", "", false, INTERNODE_DOUBLING, 0, false},
    {"srm", "chunk=1", false, INTERNODE_DOUBLING, 0, false},
    {"bcs", "slice=100", true, INTERNODE_DOUBLING, 0, false},
    {"bcs", "slice=100,budget=4", false, INTERNODE_DOUBLING, 0, false},
    {"bcs", "slice=200,restart=slice,strobe=always,microphases=separate,progress=thread", false,
     INTERNODE_DOUBLING, 0, false},
};
#define PROTOCOLS (int)(sizeof protocols / sizeof protocols[0])

/* Elements, or elements that fit into so many bytes, and one more: around the sizes of messages, of
 * what is read, and of chunks; the last are more chunks than a leaf of bypass may have unread. */
static const struct size {
    size_t elements, bytes;
    bool beyond;
} sizes[] = {{0, 0, 0},        {1, 0, 0},         {3, 0, 0},  {0, 1024, 0}, {0, 1024, 1},
             {0, 3 * 1024, 0}, {0, 16 * 1024, 1}, {0, 64, 0}, {0, 64, 1},   {0, 40 * 1024, 0}};
#define SIZES (int)(sizeof sizes / sizeof sizes[0])

static MPI_Comm comms[PROTOCOLS][ORDERS], tokens;
static unsigned char *operands[RANKS_MAX], *received, *expected, *stock;
static int rank, ranks, ranks_per_node, compared, with_stock, failures;
static int node_of[ORDERS][RANKS_MAX], nodes;
static long executed[PROTOCOLS], executed_stock, executed_barrier;
static struct own_counts counts;

static void print_rules(void)
{
    for (int i = 0; i < PROTOCOLS; i++)
        printf("%s~protocol%d=%s%s%s%s;", protocols[i].reduces ? "reduce" : "allreduce", i,
               protocols[i].algorithm, *protocols[i].parameters ? "(" : "", protocols[i].parameters,
               *protocols[i].parameters ? ")" : "");
    printf("barrier=dissemination;*=mpich\n");
}

/* ---- what is legal -------------------------------------------------------------------------- */

static enum sg_element element_of(int type)
{
    enum sg_element element;

    REQUIRE(sg_type_of(predefined_types[type].handle, &element));
    return element;
}

/* No association of its reductions can show, whatever the values. */
static bool is_integral(enum sg_element element)
{
    return element <= SG_ELEMENT_LOGICAL || element == SG_ELEMENT_LONG_INT ||
           element == SG_ELEMENT_INT_INT || element == SG_ELEMENT_SHORT_INT;
}

/* No association shows: MPICH's own gives the same bits. */
static bool is_exact(const int *row)
{
    return row[VALUES] == VALUES_SMALL || is_integral(element_of(row[TYPE]));
}

static bool legal(const int *row)
{
    return legal_pairs[row[OPERATION]][row[TYPE]] &&
           (protocols[row[PROTOCOL]].reduces || row[ROOT] == ROOT_FIRST) &&
           (!protocols[row[PROTOCOL]].any_order || is_exact(row)) &&
           (row[FORM] == FORM_BLOCKING || row[MODE] != MODE_POLL);
}

/* ---- operands and what is expected of them --------------------------------------------------- */

static size_t count_of(const int *row)
{
    const struct size *size = &sizes[row[SIZE]];

    return size->bytes == 0
               ? size->elements
               : size->bytes / sg_element_extent_bytes(element_of(row[TYPE])) + size->beyond;
}

/* Small whole numbers above zero: sums and products of a few are exact in every type. Complex ones
 * are real, so that no zero has a sign of its own. */
static void make_small(enum sg_element element, unsigned char *buffer, size_t count)
{
    for (size_t i = 0; i < count * 2; i++) {
        const struct operand_field *field = &operand_fields[element][i % 2];
        unsigned char *at = buffer + i / 2 * sg_element_extent_bytes(element) + field->offset_bytes;

        if (field->kind == OPERAND_REAL)
            operand_store(at, field->size_bytes, i % 2 == 0 ? 1 + at[0] % 3 : 0);
    }
}

static void fill(const int *row, uint64_t seed, int r, size_t count)
{
    const enum sg_element element = element_of(row[TYPE]);

    operands_fill(element, row[VALUES] == VALUES_ORDINARY ? OPERANDS_ORDINARY : OPERANDS_HARD,
                  seed * RANKS_MAX + (uint64_t)r, operands[r], count);
    if (row[VALUES] == VALUES_SMALL)
        make_small(element, operands[r], count);
}

static void fold(const void *left, void *right, size_t count, void *context)
{
    const int *row = context;

    MUST(PMPI_Reduce_local(left, right, (int)count, predefined_types[row[TYPE]].handle,
                           predefined_operations[row[OPERATION]].handle));
}

static void refer(const int *row, int root, size_t count)
{
    const enum sg_element element = element_of(row[TYPE]);
    const int *of = node_of[row[ORDER]];
    const struct internode_reference reference = {
        .fold = {fold, (void *)(uintptr_t)row, sg_element_extent_bytes(element),
                 sg_element_size_bytes(element), true, true},
        .shape = protocols[row[PROTOCOL]].shape,
        .degree = protocols[row[PROTOCOL]].degree,
        .nodes = nodes,
        .node_of = of};
    const void *pointers[RANKS_MAX];

    for (int r = 0; r < ranks; r++)
        pointers[r] = operands[r];
    internode_reference(&reference, ranks, pointers, count,
                        protocols[row[PROTOCOL]].reduces ? of[root] : 0, expected);
}

static void complain(const int *row, int own, int root, size_t count)
{
    failures++;
    printf("rank %d of %d, %d a node: %s(%s), %s on %s, %zu elements, root %d, in place %d, "
           "values %d, order %d: ",
           own, ranks, ranks_per_node, protocols[row[PROTOCOL]].algorithm,
           protocols[row[PROTOCOL]].parameters, predefined_operations[row[OPERATION]].name,
           predefined_types[row[TYPE]].name, count, root, row[IN_PLACE], row[VALUES], row[ORDER]);
}

static void compare(const int *row, int own, int root, size_t count, const unsigned char *with)
{
    const enum sg_element element = element_of(row[TYPE]);
    long at = operands_differ(element, true, with, received, count);

    if (at < 0)
        return;
    complain(row, own, root, count);
    printf("element %ld is %s, not %s%s\n", at, operand_text(element, received, (size_t)at),
           operand_text(element, with, (size_t)at), with == stock ? " as in MPICH" : "");
}

static void judge_bounds(const int *row, int own, int root, size_t count, bool receives)
{
    const size_t all = count * sg_element_extent_bytes(element_of(row[TYPE]));

    for (size_t i = receives ? all : 0; i < all + GUARD_BYTES; i++) {
        if (received[i] == 0x5a)
            continue;
        complain(row, own, root, count);
        printf("byte %zu beyond the result is written\n", i);
        return;
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* In mode poll it is MPICH's; of no elements, too, and then it is not recorded. */
static void post(const int *row, const void *send, int count, int root, MPI_Comm comm)
{
    const MPI_Datatype type = predefined_types[row[TYPE]].handle;
    const MPI_Op op = predefined_operations[row[OPERATION]].handle;
    MPI_Request request;

    if (protocols[row[PROTOCOL]].reduces)
        MUST(MPI_Ireduce(send, received, count, type, op, root, comm, &request));
    else
        MUST(MPI_Iallreduce(send, received, count, type, op, comm, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    executed[row[PROTOCOL]] += count > 0;
}

static void call(const int *row, const void *send, int count, int root, MPI_Comm comm)
{
    const MPI_Datatype type = predefined_types[row[TYPE]].handle;
    const MPI_Op op = predefined_operations[row[OPERATION]].handle;

    if (row[FORM] == FORM_POSTED) {
        post(row, send, count, root, comm);
        return;
    }
    if (protocols[row[PROTOCOL]].reduces)
        COUNTED(counts.reduce, MPI_Reduce(send, received, count, type, op, root, comm));
    else
        COUNTED(counts.allreduce, MPI_Allreduce(send, received, count, type, op, comm));
    *(count == 0 ? &executed_stock : &executed[row[PROTOCOL]]) += 1;
}

static void call_stock(const int *row, const void *send, int count, int root, MPI_Comm comm)
{
    const MPI_Datatype type = predefined_types[row[TYPE]].handle;
    const MPI_Op op = predefined_operations[row[OPERATION]].handle;

    if (protocols[row[PROTOCOL]].reduces)
        MUST(PMPI_Reduce(send, stock, count, type, op, root, comm));
    else
        MUST(PMPI_Allreduce(send, stock, count, type, op, comm));
}

/* Before ranks wait for one another outside the library's collectives. Where progress is made in
 * these alone, a rank that has left a reduce must not be waited for before its next one. */
static void meet(MPI_Comm comm)
{
    COUNTED(counts.barrier, MPI_Barrier(comm));
    executed_barrier++;
}

/* Ranks come to their calls one after another: each tells the next right before its own. */
static void take_turns(int arrival)
{
    const int before = arrival == ARRIVAL_UP ? rank - 1 : rank + 1;
    const int after = arrival == ARRIVAL_UP ? rank + 1 : rank - 1;

    if (arrival == ARRIVAL_ANY)
        return;
    if (before >= 0 && before < ranks)
        MUST(MPI_Recv(NULL, 0, MPI_INT, before, 0, tokens, MPI_STATUS_IGNORE));
    if (after >= 0 && after < ranks)
        MUST(MPI_Send(NULL, 0, MPI_INT, after, 0, tokens));
}

static void run(const int *row, uint64_t seed, bool with_mpich)
{
    const MPI_Comm comm = comms[row[PROTOCOL]][row[ORDER]];
    const size_t count = count_of(row);
    const size_t bytes = count * sg_element_extent_bytes(element_of(row[TYPE]));
    const int roots[ROOTS] = {0, ranks - 1, ranks / 2};
    const int root = roots[row[ROOT]];
    int own;

    MUST(MPI_Comm_rank(comm, &own));
    bool receives = !protocols[row[PROTOCOL]].reduces || own == root;
    for (int r = 0; r < ranks; r++)
        if (receives || r == own)
            fill(row, seed, r, count);
    memset(received, 0x5a, bytes + GUARD_BYTES);
    const void *send = operands[own];
    meet(comm);
    with_mpich = with_mpich && is_exact(row);
    if (with_mpich && count > 0) {
        call_stock(row, send, (int)count, root, comm);
        with_stock += receives;
    }
    if (receives && row[IN_PLACE]) {
        memcpy(received, operands[own], bytes);
        send = MPI_IN_PLACE;
    }
    take_turns(row[ARRIVAL]);
    call(row, send, (int)count, root, comm);
    judge_bounds(row, own, root, count, receives);
    if (!receives || count == 0)
        return;
    if (with_mpich)
        compare(row, own, root, count, stock);
    refer(row, root, count);
    compare(row, own, root, count, expected);
    compared++;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Even world ranks first: nodes of several ranks are then not contiguous. */
static int place_of(int order, int world_rank)
{
    if (order == ORDER_INTERLEAVED)
        return world_rank % 2 * ranks + world_rank;
    return order == ORDER_REVERSED ? -world_rank : world_rank;
}

static void number_nodes(int order, MPI_Comm comm)
{
    int world_ranks[RANKS_MAX], own_node = rank / ranks_per_node;

    nodes = 0;
    MUST(PMPI_Allgather(&own_node, 1, MPI_INT, world_ranks, 1, MPI_INT, comm));
    for (int r = 0; r < ranks; r++) {
        int same = 0;

        while (world_ranks[same] != world_ranks[r])
            same++;
        node_of[order][r] = same < r ? node_of[order][same] : nodes++;
    }
}

static void set_up(void)
{
    char name[MPI_MAX_OBJECT_NAME];

    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &tokens));
    for (int protocol = 0; protocol < PROTOCOLS; protocol++) {
        for (int order = 0; order < ORDERS; order++) {
            MPI_Comm *comm = &comms[protocol][order];

            MUST(MPI_Comm_split(MPI_COMM_WORLD, 0, place_of(order, rank), comm));
            snprintf(name, sizeof name, "protocol%d", protocol);
            MUST(MPI_Comm_set_name(*comm, name));
            /* The first collective of a communicator is MPICH's own. */
            COUNTED(counts.barrier, MPI_Barrier(*comm));
            executed_stock++;
            number_nodes(order, *comm);
        }
    }
    received = reference_memory(BYTES_MAX + GUARD_BYTES);
    expected = reference_memory(BYTES_MAX);
    stock = reference_memory(BYTES_MAX);
    for (int r = 0; r < ranks; r++)
        operands[r] = reference_memory(BYTES_MAX);
}

/* MPICH's calls take milliseconds where ranks outnumber processors. With more than FEW_RANKS ranks,
 * only one row in OVERSUBSCRIBED_ROWS_WITH_MPICH is compared with MPICH. */
#define FEW_RANKS 3
#define OVERSUBSCRIBED_ROWS_WITH_MPICH 4

static void run_cover(int mode)
{
    struct cover cover = {.factors = FACTORS, .legal = legal};
    int calls = 0;

    memcpy(cover.levels,
           (int[]){PROTOCOLS, PREDEFINED_OPERATIONS, PREDEFINED_TYPES, SIZES, ROOTS, 2,
                   VALUES_KINDS, ORDERS, ARRIVALS, RANKS_PER_NODE_MAX, MODES, FORMS},
           FACTORS * sizeof(int));
    cover_make(&cover);
    for (int i = 0; i < cover.row_count; i++) {
        const int *row = cover.rows[i];

        if (row[NODE] + 1 != ranks_per_node || (mode >= 0 && row[MODE] != mode))
            continue;
        run(row, (uint64_t)i + 1, ranks <= FEW_RANKS || i % OVERSUBSCRIBED_ROWS_WITH_MPICH == 0);
        calls++;
    }
    if (rank == 0)
        printf("%d calls of %d that cover %ld pairs of levels\n", calls, cover.row_count,
               cover.pairs);
    cover_free(&cover);
}

/* The other factors are drawn: for each row in another way, alike on all ranks. Comparing with
 * MPICH, and ranks that come in turns, are for one row in so many. */
#define ROWS_WITH_MPICH 16

static void run_product(int mode)
{
    uint64_t random = (uint64_t)ranks_per_node;
    int calls = 0;

    for (int i = 0; i < PROTOCOLS * PREDEFINED_OPERATIONS * PREDEFINED_TYPES * SIZES; i++) {
        int row[FACTORS] = {i % PROTOCOLS, i / PROTOCOLS % PREDEFINED_OPERATIONS,
                            i / PROTOCOLS / PREDEFINED_OPERATIONS % PREDEFINED_TYPES,
                            i / PROTOCOLS / PREDEFINED_OPERATIONS / PREDEFINED_TYPES};
        bool with_mpich = operand_random(&random) % ROWS_WITH_MPICH == 0;

        if (!legal_pairs[row[OPERATION]][row[TYPE]] || (mode >= 0 && i % MODES != mode))
            continue;
        do {
            row[ROOT] = (int)(operand_random(&random) % ROOTS);
            row[IN_PLACE] = (int)(operand_random(&random) % 2);
            row[VALUES] = (int)(operand_random(&random) % VALUES_KINDS);
            row[ORDER] = (int)(operand_random(&random) % ORDERS);
            row[ARRIVAL] = with_mpich ? (int)(operand_random(&random) % ARRIVALS) : ARRIVAL_ANY;
            row[MODE] = mode >= 0 ? mode : MODE_THREAD;
            row[FORM] = (int)(operand_random(&random) % FORMS);
        } while (!legal(row));
        run(row, (uint64_t)i + 1, with_mpich);
        calls++;
    }
    if (rank == 0)
        printf("%d calls of the product\n", calls);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "rules") == 0) {
        print_rules();
        return 0;
    }
    REQUIRE(argc >= 3);
    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    ranks_per_node = atoi(argv[1]);
    REQUIRE(ranks <= RANKS_MAX && ranks_per_node >= 1);
    set_up();
    int pairs = find_legal();
    if (argc > 3)
        run_product(atoi(argv[2]));
    else
        run_cover(atoi(argv[2]));
    if (rank == 0)
        printf("%d pairs of type and operation, %d results compared, %d of them with MPICH's own\n",
               pairs, compared, with_stock);
    for (int i = 0; i < PROTOCOLS; i++)
        printf("ran %s %ld\n", protocols[i].algorithm, executed[i]);
    printf("ran mpich %ld\nran dissemination %ld\n", executed_stock, executed_barrier);
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return failures > 0;
}
