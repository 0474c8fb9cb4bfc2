/* Tests the peers that protocols name: as algo.h says, symmetric, in order, and few. The explorer
 * checks that they name no others. */
#include "algos/algo.h"
#include "lib/unit.h"

#define SIZE_MAX_TESTED 4096

static int levels(int size)
{
    int count = 0;

    while (1 << count < size)
        count++;
    return count;
}

struct lists {
    int size;
    int32_t *list;
    int *count;
};

static void find(const struct sg_algo *algo, const struct sg_algo_parameters *parameters, int size,
                 enum sg_operation operation, int32_t root, struct lists *lists)
{
    lists->size = size;
    lists->list = malloc((size_t)size * (size_t)size * sizeof *lists->list);
    lists->count = malloc((size_t)size * sizeof *lists->count);
    ASSERT(lists->list != NULL, lists->count != NULL);
    for (int32_t rank = 0; rank < size; rank++) {
        struct sg_algo_setup setup = {rank, size, *parameters};

        lists->count[rank] =
            algo->peers(&setup, operation, root, lists->list + (size_t)rank * (size_t)size, size);
        ASSERT(lists->count[rank] >= 0 && lists->count[rank] <= size);
    }
}

static void lose(struct lists *lists)
{
    free(lists->list);
    free(lists->count);
}

static int compare(const void *left, const void *right)
{
    return *(const int32_t *)left - *(const int32_t *)right;
}

static bool names(const struct lists *lists, int32_t rank, int32_t other)
{
    return bsearch(&other, lists->list + (size_t)rank * (size_t)lists->size,
                   (size_t)lists->count[rank], sizeof other, compare) != NULL;
}

static void check_symmetric(const struct lists *lists)
{
    for (int32_t rank = 0; rank < lists->size; rank++) {
        const int32_t *list = lists->list + (size_t)rank * (size_t)lists->size;

        for (int i = 0; i < lists->count[rank]; i++) {
            ASSERT(i == 0 || list[i] > list[i - 1], list[i] >= 0 && list[i] < lists->size,
                   names(lists, list[i], rank));
        }
    }
}

static void each(int size, void (*check)(const struct sg_algo *algo,
                                         const struct sg_algo_parameters *parameters,
                                         enum sg_operation operation, const struct lists *lists))
{
    static const struct sg_algo_parameters sets[] = {
        {0}, {.degree = 1}, {.degree = 3}, {.predict = 1}, {.predict = 1, .degree = 2}};
    struct sg_algo_needs needs;
    struct lists lists;

    for (int a = 0; sg_algos[a] != NULL; a++) {
        for (size_t p = 0; p < sizeof sets / sizeof *sets; p++) {
            struct sg_algo_setup setup = {0, size, sets[p]};

            for (int operation = 0; operation < SG_OPERATION_COUNT; operation++) {
                int32_t root = sg_operation_has_root((enum sg_operation)operation) ? size / 3 : -1;

                if (!(sg_algos[a]->operations & 1u << operation) ||
                    !sg_algos[a]->needs(&setup, &needs))
                    continue;
                find(sg_algos[a], &sets[p], size, (enum sg_operation)operation, root, &lists);
                check(sg_algos[a], &sets[p], (enum sg_operation)operation, &lists);
                lose(&lists);
            }
        }
    }
}

static void check_lists(const struct sg_algo *algo, const struct sg_algo_parameters *parameters,
                        enum sg_operation operation, const struct lists *lists)
{
    check_symmetric(lists);
}

TEST("lists of peers are symmetric")
{
    for (int size = 1; size <= 70; size += unit_step())
        each(size, check_lists);
}

static bool includes(const struct lists *all, const struct lists *some)
{
    for (int32_t rank = 0; rank < some->size; rank++) {
        const int32_t *list = some->list + (size_t)rank * (size_t)some->size;

        for (int i = 0; i < some->count[rank]; i++) {
            if (!names(all, rank, list[i]))
                return false;
        }
    }
    return true;
}

static void check_all_roots(const struct sg_algo *algo, const struct sg_algo_parameters *parameters,
                            enum sg_operation operation, int size)
{
    struct lists all, some;

    find(algo, parameters, size, operation, SG_PEERS_OF_ALL_ROOTS, &all);
    check_symmetric(&all);
    for (int32_t root = 0; root < size; root++) {
        find(algo, parameters, size, operation, root, &some);
        EXPECT(includes(&all, &some));
        lose(&some);
    }
    lose(&all);
}

TEST("the peers of all roots include those of each")
{
    static const struct sg_algo_parameters sets[] = {{0},
                                                     {.degree = 1},
                                                     {.degree = 3},
                                                     {.shape = SG_TREE_SHAPE_BINOMIAL},
                                                     {.shape = SG_TREE_SHAPE_BINARY},
                                                     {.shape = SG_TREE_SHAPE_FIBONACCI}};

    for (int size = 1; size <= 70; size += 3 * unit_step()) {
        for (int a = 0; sg_algos[a] != NULL; a++) {
            for (size_t p = 0; p < sizeof sets / sizeof *sets; p++) {
                if (sg_algos[a]->operations & 1u << SG_OPERATION_REDUCE)
                    check_all_roots(sg_algos[a], &sets[p], SG_OPERATION_REDUCE, size);
                if (sg_algos[a]->operations & 1u << SG_OPERATION_BCAST)
                    check_all_roots(sg_algos[a], &sets[p], SG_OPERATION_BCAST, size);
            }
        }
    }
}

static bool is_hub(const struct sg_algo *algo, enum sg_operation operation, int size, int32_t rank)
{
    return algo == &sg_algo_handoff && operation == SG_OPERATION_REDUCE &&
           (rank == 0 || rank == size / 3);
}

/* handoff: anybody may be the last and climb to the top, and a reduce's last one writes to the
 * root. So the home of a node is named by all below it, and the root by all; who is not, as by few.
 */
static void check_few(const struct sg_algo *algo, const struct sg_algo_parameters *parameters,
                      enum sg_operation operation, const struct lists *lists)
{
    int depth = levels(lists->size);
    int degree = parameters->degree > 8 ? parameters->degree : 8;
    int few = 2 * depth + 2 * (degree + 1);
    long sum = 0;
    int most = 0;

    if (parameters->predict && algo == &sg_algo_adaptive)
        few += 4 * degree * depth;
    for (int32_t rank = 0; rank < lists->size; rank++) {
        if (is_hub(algo, operation, lists->size, rank))
            continue;
        sum += lists->count[rank];
        most = lists->count[rank] > most ? lists->count[rank] : most;
    }
    if (algo == &sg_algo_handoff) {
        EXPECT(sum <= (long)lists->size * (4 * depth + 4));
        return;
    }
    EXPECT(most <= few);
    if (most > few)
        printf("# %s, operation %d, %d endpoints: %d peers, %d expected\n", algo->name, operation,
               lists->size, most, few);
}

TEST("lists of peers stay short at every size")
{
    for (int size = 64; size <= SIZE_MAX_TESTED; size *= 4) {
        each(size, check_few);
        each(size - 1, check_few);
    }
    if (unit_step() == 1)
        each(SIZE_MAX_TESTED, check_lists);
}

TEST("a list with too little capacity stays unchanged")
{
    for (int a = 0; sg_algos[a] != NULL; a++) {
        struct sg_algo_setup setup = {0, 64, {0}};
        enum sg_operation operation = (enum sg_operation)__builtin_ctz(sg_algos[a]->operations);
        int32_t peers[64 + 1];
        int count = sg_algos[a]->peers(&setup, operation, 0, peers, 64);

        ASSERT(count > 0);
        peers[count] = peers[count - 1] = -7;
        EXPECT(sg_algos[a]->peers(&setup, operation, 0, peers, count - 1) == -1,
               peers[count - 1] == -7,
               sg_algos[a]->peers(&setup, operation, 0, peers, count) == count);
    }
}
