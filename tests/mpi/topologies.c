/* Communicators with topologies, for tests/trace/topologies.sh: prints MPI's description of each.
 *
 * Arguments: the sizes of a grid's dimensions, and whether they are periodic, as "2x3 10". Makes
 * the grid, with one rank per position, and its parts along the last dimension ("line"), and sends
 * messages on them. A copy of the grid is used only by a barrier, which the library carries out.
 * Rank 0 of each prints a line:
 *   topology NAME FIRST-WORLD-RANK SIZES PERIODS COORDINATES...
 * Coordinates are in rank order, as MPI_Cart_coords returns them, separated by commas.
 */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 8

static char line_text[4096];
static size_t line_bytes;

static void add(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    line_bytes +=
        (size_t)vsnprintf(line_text + line_bytes, sizeof line_text - line_bytes, format, arguments);
    va_end(arguments);
}

static void tell(MPI_Comm comm, const char *name)
{
    int sizes[MOST], periods[MOST], coordinates[MOST], dimensions, rank, ranks, world_rank;

    MPI_Comm_set_name(comm, name);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Cartdim_get(comm, &dimensions);
    MPI_Cart_get(comm, dimensions, sizes, periods, coordinates);
    if (rank != 0)
        return;
    line_bytes = 0;
    add("topology %s %d ", name, world_rank);
    for (int i = 0; i < dimensions; i++)
        add("%s%d", i > 0 ? "x" : "", sizes[i]);
    add(" ");
    for (int i = 0; i < dimensions; i++)
        add("%d", periods[i]);
    for (int member = 0; member < ranks; member++) {
        MPI_Cart_coords(comm, member, dimensions, coordinates);
        for (int i = 0; i < dimensions; i++)
            add("%s%d", i > 0 ? "," : " ", coordinates[i]);
    }
    add("\n");
    /* At once: other ranks write, too. */
    if (write(STDOUT_FILENO, line_text, line_bytes) < 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void send_to_next(MPI_Comm comm)
{
    int rank, ranks, from;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, &from, 1, MPI_INT,
                 (rank + ranks - 1) % ranks, 0, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int sizes[MOST], periods[MOST], keep[MOST] = {0}, dimensions = 0;
    MPI_Comm grid, copy, line;

    MPI_Init(&argc, &argv);
    for (char *word = strtok(argv[1], "x"); word != NULL; word = strtok(NULL, "x"))
        sizes[dimensions++] = atoi(word);
    for (int i = 0; i < dimensions; i++)
        periods[i] = argv[2][i] == '1';
    MPI_Cart_create(MPI_COMM_WORLD, dimensions, sizes, periods, 1, &grid);
    if (grid != MPI_COMM_NULL) {
        tell(grid, "grid");
        send_to_next(grid);
        MPI_Comm_dup(grid, &copy);
        tell(copy, "copy");
        MPI_Barrier(copy);
        keep[dimensions - 1] = 1;
        MPI_Cart_sub(grid, keep, &line);
        tell(line, "line");
        send_to_next(line);
        MPI_Comm_free(&line);
        MPI_Comm_free(&copy);
        MPI_Comm_free(&grid);
    }
    MPI_Finalize();
    return 0;
}
