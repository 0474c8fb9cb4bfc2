/* Calls that repeat the previous one or differ from it in one respect: operation, type, count,
 * root, MPI_IN_PLACE, or the meaning of a handle that was freed in between. Each result must equal
 * MPICH's own, obtained through the profiling name, bit for bit.
 */
#include "mpi_test.h"

enum { COUNT_MAX = 4, BYTES = COUNT_MAX * 8 };

struct form {
    bool reduces;
    MPI_Op op;
    MPI_Datatype type;
    int count, root;
    bool in_place;
};

static int rank, ranks;

static void give(unsigned char operand[BYTES], MPI_Datatype type)
{
    for (int i = 0; i < COUNT_MAX; i++) {
        if (type == MPI_DOUBLE)
            ((double *)operand)[i] = 0.1 * (rank + 1) + i;
        else if (type == MPI_LONG)
            ((long *)operand)[i] = 3 * rank - 1 + i;
        else
            ((int *)operand)[i] = 5 * rank - 2 + i;
    }
}

static void call(const struct form *form)
{
    _Alignas(8) unsigned char operand[BYTES] = {0}, ours[BYTES] = {0}, mpich[BYTES] = {0};
    bool in_place = form->in_place && (!form->reduces || rank == form->root);
    const void *own = in_place ? MPI_IN_PLACE : operand;

    give(operand, form->type);
    if (in_place) {
        memcpy(ours, operand, BYTES);
        memcpy(mpich, operand, BYTES);
    }
    if (form->reduces) {
        MUST(MPI_Reduce(own, ours, form->count, form->type, form->op, form->root, MPI_COMM_WORLD));
        MUST(
            PMPI_Reduce(own, mpich, form->count, form->type, form->op, form->root, MPI_COMM_WORLD));
    } else {
        MUST(MPI_Allreduce(own, ours, form->count, form->type, form->op, MPI_COMM_WORLD));
        MUST(PMPI_Allreduce(own, mpich, form->count, form->type, form->op, MPI_COMM_WORLD));
    }
    REQUIRE(memcmp(ours, mpich, BYTES) == 0);
}

/* A call, the same again, what is almost the same, and the first one. */
static void around(const struct form *form, const struct form *other)
{
    call(form);
    call(form);
    call(other);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    call(form);
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void subtract(void *in, void *inout, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] = ((int *)in)[i] - ((int *)inout)[i];
}

/* Handles of operations are used again. */
static void user_operations(struct form form)
{
    static MPI_User_function *const functions[] = {add, subtract, add};

    form.type = MPI_INT;
    for (int i = 0; i < 3; i++) {
        MUST(MPI_Op_create(functions[i], 0, &form.op));
        call(&form);
        call(&form);
        MUST(MPI_Op_free(&form.op));
    }
}

int main(int argc, char **argv)
{
    START(rank, ranks);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    for (int reduces = 0; reduces < 2; reduces++) {
        const struct form form = {reduces, MPI_SUM, MPI_DOUBLE, 2, 0, false};
        struct form other[] = {form, form, form, form, form, form, form};

        other[0].op = MPI_MAX;
        other[1].type = MPI_LONG;
        other[2].type = MPI_INT;
        other[3].count = COUNT_MAX;
        other[4].root = ranks - 1;
        other[5].in_place = true;
        other[6].reduces = !reduces;
        for (size_t i = 0; i < sizeof other / sizeof *other; i++)
            around(&form, &other[i]);
        user_operations(form);
    }
    MUST(MPI_Finalize());
    printf("rank %d has MPICH's results\n", rank);
    return 0;
}
