/* A solver with a load imbalance: conjugate gradients on the 2-D Laplacian of an N by N grid, with
 * rows split over the ranks. One rank repeats its share of the matrix product several times.
 *
 *     cg [-n GRID] [-t STEPS] [-s SLOW_RANK] [-w TIMES]
 *
 * Each step solves for another right-hand side, made from a known solution, which convergence is
 * verified against. Each iteration has a halo exchange, two allreduces (dot products) and a reduce
 * (the residual, for rank 0's log); each step has a barrier.
 */
#include "mpi_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct grid {
    int n;            /* points in each direction */
    int first, rows;  /* own rows */
    int above, below; /* neighbours, or MPI_PROC_NULL */
    int work;         /* times the product is computed */
};

static struct own_counts counts;

/* A vector has a halo row before and after its own rows. */
static double *vector(const struct grid *grid)
{
    double *values = calloc((size_t)(grid->rows + 2) * grid->n, sizeof *values);

    REQUIRE(values != NULL);
    return values;
}

static void exchange_halo(const struct grid *grid, double *x)
{
    int n = grid->n;

    MUST(MPI_Sendrecv(x + n, n, MPI_DOUBLE, grid->above, 1, x + (size_t)(grid->rows + 1) * n, n,
                      MPI_DOUBLE, grid->below, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MUST(MPI_Sendrecv(x + (size_t)grid->rows * n, n, MPI_DOUBLE, grid->below, 2, x, n, MPI_DOUBLE,
                      grid->above, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

__attribute__((noinline)) static void laplacian(const struct grid *grid, const double *x, double *y)
{
    int n = grid->n;

    for (int row = 1; row <= grid->rows; row++) {
        const double *at = x + (size_t)row * n;

        for (int column = 0; column < n; column++) {
            double left = column > 0 ? at[column - 1] : 0;
            double right = column < n - 1 ? at[column + 1] : 0;

            y[(size_t)row * n + column] =
                4 * at[column] - left - right - at[column - n] - at[column + n];
        }
    }
}

static void multiply(const struct grid *grid, double *x, double *y)
{
    exchange_halo(grid, x);
    for (int i = 0; i < grid->work; i++) {
        laplacian(grid, x, y);
        __asm__ volatile("" ::: "memory"); /* each repetition is really done */
    }
}

static double local_dot(const struct grid *grid, const double *x, const double *y)
{
    double sum = 0;

    for (size_t i = (size_t)grid->n; i < (size_t)(grid->rows + 1) * grid->n; i++)
        sum += x[i] * y[i];
    return sum;
}

static double dot(const struct grid *grid, const double *x, const double *y)
{
    double mine = local_dot(grid, x, y), sum;

    COUNTED(counts.allreduce, MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    return sum;
}

static double residual_on_root(const struct grid *grid, const double *r)
{
    double mine = local_dot(grid, r, r), sum = 0;

    COUNTED(counts.reduce, MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
    return sqrt(sum);
}

/* x: start at 0, solution at the end. Returns the iterations, -1 without convergence. */
static int solve(const struct grid *grid, const double *b, double *x, double *residual)
{
    size_t points = (size_t)(grid->rows + 2) * grid->n;
    double *r = vector(grid), *p = vector(grid), *product = vector(grid);
    double squares, start;
    int iteration = 0, limit = 20 * grid->n;

    memcpy(r, b, points * sizeof *r);
    memcpy(p, b, points * sizeof *p);
    memset(x, 0, points * sizeof *x);
    squares = start = dot(grid, r, r);
    while (squares > start * 1e-20 && iteration < limit) {
        double step, previous = squares;

        multiply(grid, p, product);
        step = squares / dot(grid, p, product);
        for (size_t i = 0; i < points; i++) {
            x[i] += step * p[i];
            r[i] -= step * product[i];
        }
        *residual = residual_on_root(grid, r);
        squares = dot(grid, r, r);
        for (size_t i = 0; i < points; i++)
            p[i] = r[i] + squares / previous * p[i];
        iteration++;
    }
    free(r);
    free(p);
    free(product);
    return iteration < limit ? iteration : -1;
}

static void known_solution(const struct grid *grid, int step, double *x)
{
    for (int row = 1; row <= grid->rows; row++) {
        for (int column = 0; column < grid->n; column++)
            x[(size_t)row * grid->n + column] =
                sin(0.1 * (step + 1) * (grid->first + row)) + cos(0.3 * column);
    }
}

static double largest_error(const struct grid *grid, const double *x, const double *y)
{
    double error = 0;

    for (size_t i = (size_t)grid->n; i < (size_t)(grid->rows + 1) * grid->n; i++)
        error = fmax(error, fabs(x[i] - y[i]));
    return error;
}

static void run(const struct grid *grid, int rank, int steps)
{
    double *truth = vector(grid), *b = vector(grid), *x = vector(grid);

    for (int step = 0; step < steps; step++) {
        double residual = 0;
        int iterations;

        known_solution(grid, step, truth);
        exchange_halo(grid, truth);
        laplacian(grid, truth, b);
        iterations = solve(grid, b, x, &residual);
        REQUIRE(iterations > 0);
        REQUIRE(largest_error(grid, x, truth) < 1e-6);
        COUNTED(counts.barrier, MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 0)
            printf("step %d: %d iterations, residual %.1e\n", step, iterations, residual);
    }
    free(truth);
    free(b);
    free(x);
}

int main(int argc, char **argv)
{
    int rank, size, option, n = 128, steps = 2, slow_rank = 0, slow_work = 10;
    struct grid grid;

    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &size));
    while ((option = getopt(argc, argv, "n:t:s:w:")) != -1) {
        switch (option) {
        case 'n':
            n = atoi(optarg);
            break;
        case 't':
            steps = atoi(optarg);
            break;
        case 's':
            slow_rank = atoi(optarg);
            break;
        case 'w':
            slow_work = atoi(optarg);
            break;
        default:
            _exit(2);
        }
    }
    REQUIRE(n >= size && steps > 0 && slow_work > 0);
    grid.n = n;
    grid.first = (int)((long)n * rank / size);
    grid.rows = (int)((long)n * (rank + 1) / size) - grid.first;
    grid.above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    grid.below = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    grid.work = rank == slow_rank ? slow_work : 1;
    run(&grid, rank, steps);
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return 0;
}
