/* Late contributions are combined in the floating-point modes that the parent had in its call, not
 * in those that are set when they arrive:
 *
 *     late_rounding up|zero|flush FILE
 *
 * All ranks set the mode for the call; the parent returns to the default while it computes. The
 * result is that of (v0 + v1) + (v2 + v3), in that mode.
 */
#include "float_modes.h"
#include "late.h"

#include <float.h>

static const char *mode;

static void compute_in_default(int round)
{
    float_mode_set_default();
    late_compute(round);
}

/* Operands whose v2 + v3 depends on the mode: v3 is less (`little`) or more (`much`) than half a
 * step. */
static const volatile double little[] = {0, 0, 1, 0x1p-54}, much[] = {0, 0, 1, 0x1.8p-53};
static const volatile double denormals[] = {0, 0, 0x1p-1030, 0x1p-1031};
static const volatile long double long_little[] = {0, 0, 1, LDBL_EPSILON / 4};
static const volatile long double long_much[] = {0, 0, 1, LDBL_EPSILON * 3 / 4};

static void reduce_doubles(int round, const volatile double *v)
{
    double mine = v[late_rank], got = -1, want, usual;

    float_mode_set(mode);
    want = (v[0] + v[1]) + (v[2] + v[3]);
    late_reduce(round, 0, &mine, &got, MPI_DOUBLE, compute_in_default);
    float_mode_set_default();
    usual = (v[0] + v[1]) + (v[2] + v[3]);
    REQUIRE(memcmp(&want, &usual, sizeof want) != 0); /* or this test says nothing */
    REQUIRE(late_rank != 0 || memcmp(&want, &got, sizeof want) == 0);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
}

static void reduce_long_doubles(int round, const volatile long double *v)
{
    long double mine = v[late_rank], got = -1, want, usual;

    float_mode_set(mode);
    want = (v[0] + v[1]) + (v[2] + v[3]);
    late_reduce(round, 0, &mine, &got, MPI_LONG_DOUBLE, compute_in_default);
    float_mode_set_default();
    usual = (v[0] + v[1]) + (v[2] + v[3]);
    REQUIRE(want != usual);
    REQUIRE(late_rank != 0 || want == got);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    REQUIRE(argc == 3);
    mode = argv[1];
    MUST(MPI_Init(&argc, &argv));
    late_start(argv[2]);
    if (strcmp(mode, "flush") == 0) {
        reduce_doubles(0, denormals);
    } else {
        bool up = strcmp(mode, "up") == 0;

        reduce_doubles(0, up ? little : much);
        reduce_long_doubles(1, up ? long_little : long_much);
    }
    MUST(MPI_Finalize());
    if (late_rank == 0)
        printf("finished\n");
    return 0;
}
