/* Tests results of the node's algorithms with the real kernels: every pair of operation and type
 * that has a kernel, by all methods, matches the sequential reference bit for bit.
 *
 * All ranks are driven from one thread, polled in an order drawn from a seed. The pairs, sizes,
 * ranks and roots are covered by rotation; with SG_TEST_FULL in the environment their whole
 * product is run (results_full.sh).
 */
#include "algos/kernels/kernel.h"
#include "intranode/node.h"
#include "lib/operands.h"
#include "lib/reference.h"
#include "lib/unit.h"

#define RANKS_MAX 16
#define DEPTH 8
#define SLOT_BYTES 4096
#define COUNT_MAX 65537
#define EXTENT_MAX 32
/* A prime, so that what is shifted by a block of any kind does not fall on its like. */
#define PERIOD 1021

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const size_t counts[] = {0, 1, 2, 3, 7, 8, 9, 1000, COUNT_MAX};
static const enum sg_node_method methods[] = {SG_NODE_FLAT, SG_NODE_HANDOFF, SG_NODE_CHUNKS,
                                              SG_NODE_GROUPS};
/* Communicators of one rank are left to MPICH. */
static const int sizes[] = {2, 3, 4, 5, 6, 7, 8, 9, 16};

struct pair {
    enum sg_reduction reduction;
    enum sg_element element;
    sg_kernel kernel;
};

static struct pair pairs[SG_REDUCTION_COUNT * SG_ELEMENT_COUNT];
static size_t pair_count;

/* One collective to be run by all ranks. */
struct trial {
    const struct pair *pair;
    enum sg_operation operation;
    int ranks, root;
    size_t count;
};

static unsigned char *operands[RANKS_MAX], *received[RANKS_MAX];
static unsigned char *expected;
static uint64_t random_state;
static long trials_run;

static void fold(void *context, const void *left, const void *right, void *out, size_t count)
{
    ((const struct pair *)context)->kernel(left, right, out, count);
}

static void fold_reference(const void *left, void *right, size_t count, void *context)
{
    ((const struct pair *)context)->kernel(left, right, right, count);
}

static void set_up(void)
{
    const size_t room_bytes = (size_t)COUNT_MAX * EXTENT_MAX;

    if (pair_count > 0)
        return;
    sg_kernel_init();
    expected = reference_memory(room_bytes);
    for (int rank = 0; rank < RANKS_MAX; rank++) {
        operands[rank] = reference_memory(room_bytes);
        received[rank] = reference_memory(room_bytes);
    }
    for (int reduction = 0; reduction < SG_REDUCTION_COUNT; reduction++) {
        for (int element = 0; element < SG_ELEMENT_COUNT; element++) {
            struct pair pair = {(enum sg_reduction)reduction, (enum sg_element)element, NULL};

            pair.kernel = sg_kernel_find(pair.reduction, pair.element);
            if (pair.kernel != NULL)
                pairs[pair_count++] = pair;
        }
    }
}

/* ---- one node, its ranks in one process ------------------------------------------------------ */

struct machine {
    void *segment;
    struct sg_pool_rank *pool;
    struct sg_pool_rank *places[RANKS_MAX];
    struct sg_node nodes[RANKS_MAX];
    int ranks;
};

static void *pages(size_t size_bytes)
{
    void *memory = aligned_alloc(64, (size_bytes + 63) / 64 * 64);

    ASSERT(memory != NULL);
    memset(memory, 0, size_bytes);
    return memory;
}

static void machine_start(struct machine *machine, int ranks)
{
    machine->ranks = ranks;
    machine->segment = pages(sg_node_bytes(ranks, DEPTH, SLOT_BYTES));
    machine->pool = pages((size_t)ranks * sizeof *machine->pool);
    sg_node_format(machine->segment, ranks, DEPTH, SLOT_BYTES, 1);
    for (int rank = 0; rank < ranks; rank++) {
        machine->places[rank] = &machine->pool[rank];
        ASSERT(sg_node_attach(&machine->nodes[rank], machine->segment, rank, 1));
        machine->nodes[rank].pool = machine->places;
    }
}

static void machine_stop(struct machine *machine)
{
    free(machine->segment);
    free(machine->pool);
}

/* ---- one trial ------------------------------------------------------------------------------- */

static void fill(const struct pair *pair, enum operand_values values, uint64_t seed, int ranks)
{
    const size_t extent_bytes = sg_element_extent_bytes(pair->element);
    const size_t all_bytes = COUNT_MAX * extent_bytes;

    for (int rank = 0; rank < ranks; rank++) {
        size_t done_bytes = PERIOD * extent_bytes;

        operands_fill(pair->element, values, seed * RANKS_MAX + (uint64_t)rank, operands[rank],
                      PERIOD);
        for (; done_bytes < all_bytes; done_bytes *= 2)
            memcpy(operands[rank] + done_bytes, operands[rank],
                   2 * done_bytes < all_bytes ? done_bytes : all_bytes - done_bytes);
    }
}

static bool receives(const struct trial *trial, int rank)
{
    return trial->operation == SG_OPERATION_ALLREDUCE || rank == trial->root;
}

static struct sg_shape shape_of(const struct trial *trial)
{
    const size_t bytes = trial->count * sg_element_size_bytes(trial->pair->element);
    const struct sg_shape_reduce reduce = {trial->ranks, trial->root, trial->count,
                                           bytes,        true,        true};

    return trial->operation == SG_OPERATION_REDUCE
               ? sg_shape_of_reduce(&reduce)
               : (struct sg_shape){SG_SHAPE_DOUBLING, trial->ranks, 0};
}

static void run(struct machine *machine, const struct trial *trial, enum sg_node_method method,
                bool in_place)
{
    const size_t extent_bytes = sg_element_extent_bytes(trial->pair->element);
    struct sg_node_op ops[RANKS_MAX];
    int waiting[RANKS_MAX], left = trial->ranks;

    for (int rank = 0; rank < trial->ranks; rank++) {
        bool takes = receives(trial, rank);
        struct sg_node_call call = {
            .operation = trial->operation,
            .method = method,
            .shape = shape_of(trial),
            .sizes = {2 + (int)(trials_run % 8), (int)(trials_run / 8 % 2) * 12},
            .root = trial->root,
            .send = takes && in_place ? received[rank] : operands[rank],
            .receive = takes ? received[rank] : NULL,
            .count = trial->count,
            .element_bytes = extent_bytes,
            .fold = fold,
            .fold_context = (void *)trial->pair};

        if (takes && in_place)
            memcpy(received[rank], operands[rank], trial->count * extent_bytes);
        else if (takes)
            memset(received[rank], 0x5a, trial->count * extent_bytes);
        ops[rank].call = call;
        sg_node_begin(&ops[rank], &machine->nodes[rank]);
        waiting[rank] = rank;
    }
    while (left > 0) {
        int drawn = (int)(operand_random(&random_state) % (uint64_t)left);
        enum sg_node_step step = sg_node_poll(&ops[waiting[drawn]]);

        ASSERT(step != SG_NODE_MISMATCH);
        if (step == SG_NODE_DONE)
            waiting[drawn] = waiting[--left];
    }
}

static void check(const struct trial *trial, enum sg_node_method method)
{
    for (int rank = 0; rank < trial->ranks; rank++) {
        long at = -1;

        if (receives(trial, rank))
            at =
                operands_differ(trial->pair->element, true, expected, received[rank], trial->count);
        if (at >= 0)
            printf("# %s on %s, method %d, %d ranks, root %d, %zu elements: rank %d has %s at %ld, "
                   "not %s\n",
                   sg_reduction_names[trial->pair->reduction],
                   sg_element_names[trial->pair->element], (int)method, trial->ranks, trial->root,
                   trial->count, rank,
                   operand_text(trial->pair->element, received[rank], (size_t)at), at,
                   operand_text(trial->pair->element, expected, (size_t)at));
        ASSERT(at == -1);
    }
}

/* By all methods, the operands being there. */
static void try_all(struct machine *machine, const struct trial *trial)
{
    const void *inputs[RANKS_MAX];
    const struct reference reference = {fold_reference,
                                        (void *)trial->pair,
                                        sg_element_extent_bytes(trial->pair->element),
                                        sg_element_size_bytes(trial->pair->element),
                                        true,
                                        true};

    for (int rank = 0; rank < trial->ranks; rank++)
        inputs[rank] = operands[rank];
    if (trial->operation == SG_OPERATION_ALLREDUCE)
        reference_allreduce(&reference, trial->ranks, inputs, trial->count, expected);
    else
        reference_reduce(&reference, trial->ranks, inputs, trial->count, trial->root, expected);
    for (size_t i = 0; i < LENGTH(methods); i++) {
        run(machine, trial, methods[i], trials_run % 2);
        check(trial, methods[i]);
        trials_run++;
    }
}

/* ---- covers ---------------------------------------------------------------------------------- */

/* Every root. */
static void run_size(const struct pair *pair, struct machine *machine, size_t count)
{
    struct trial trial = {pair, SG_OPERATION_ALLREDUCE, machine->ranks, -1, count};

    try_all(machine, &trial);
    trial.operation = SG_OPERATION_REDUCE;
    for (trial.root = 0; trial.root < machine->ranks; trial.root++)
        try_all(machine, &trial);
}

static bool is_full(void)
{
    return getenv("SG_TEST_FULL") != NULL;
}

/* Every pair at every size; the ranks and roots go round, so that over the pairs all come up with
 * every size. */
TEST("every operation on every type gives the reference's bits by every method")
{
    struct machine machines[LENGTH(sizes)];

    set_up();
    ASSERT(pair_count > 0);
    for (size_t i = 0; i < LENGTH(sizes); i++)
        machine_start(&machines[i], sizes[i]);
    for (size_t p = 0; p < pair_count; p += (size_t)unit_step()) {
        fill(&pairs[p], p % 2 ? OPERANDS_HARD : OPERANDS_ORDINARY, p + 1, RANKS_MAX);
        for (size_t c = 0; c < LENGTH(counts); c++) {
            struct machine *machine = &machines[(p + c) % LENGTH(sizes)];
            struct trial trial = {&pairs[p], SG_OPERATION_ALLREDUCE, machine->ranks, -1, counts[c]};

            for (size_t i = 0; is_full() && i < LENGTH(sizes); i++)
                run_size(&pairs[p], &machines[i], counts[c]);
            if (is_full())
                continue;
            try_all(machine, &trial);
            machine = &machines[(p + 3 * c + 1) % LENGTH(sizes)];
            trial.operation = SG_OPERATION_REDUCE;
            trial.ranks = machine->ranks;
            trial.root = (int)(p / LENGTH(sizes) + c) % machine->ranks;
            try_all(machine, &trial);
        }
    }
    for (size_t i = 0; i < LENGTH(sizes); i++)
        machine_stop(&machines[i]);
}

/* The whole product of sizes, ranks and roots where another association gives other bits. */
TEST("every method gives the reference's bits at every size, number of ranks and root")
{
    static const struct pair wanted[] = {{SG_REDUCTION_SUM, SG_ELEMENT_DOUBLE, NULL},
                                         {SG_REDUCTION_PROD, SG_ELEMENT_COMPLEX_FLOAT, NULL},
                                         {SG_REDUCTION_MINLOC, SG_ELEMENT_DOUBLE_INT, NULL}};

    set_up();
    for (size_t w = 0; w < LENGTH(wanted); w++) {
        struct pair pair = wanted[w];

        pair.kernel = sg_kernel_find(pair.reduction, pair.element);
        ASSERT(pair.kernel != NULL);
        fill(&pair, OPERANDS_ORDINARY, w + 1000, RANKS_MAX);
        for (size_t i = 0; i < LENGTH(sizes); i += (size_t)unit_step()) {
            struct machine machine;

            machine_start(&machine, sizes[i]);
            for (size_t c = 0; c + (w > 0) < LENGTH(counts); c++)
                run_size(&pair, &machine, counts[c]);
            machine_stop(&machine);
        }
    }
}
