/* Calls that all members of a communicator make, on files, to make communicators, in MPI_Init and
 * in MPI_Finalize, and one-sided operations that need their target, on 3 ranks, for
 * tests/report/test_known_members.py.
 *
 * Each function makes one kind of wait, ROUNDS times; the late rank computes until the others are
 * about to call, and for LATE_S. MPI_Init and MPI_Finalize have one round, so that their late rank
 * is late by more than the others can be kept from calling. Prints, for each rank, the time that it
 * measured around its calls in write_all() and the bytes that its split reads brought.
 */
#include "known.h"

#include <time.h>

#define ROUNDS 10
#define VERY_LATE_S 0.3
#define BYTES 4096

static int rank;
static char bytes[BYTES];
static MPI_File file;
static MPI_Comm made;
static MPI_Win window;
static double write_s;
static long read_bytes;

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void be_very_late(void)
{
    for (double until_s = now_s() + VERY_LATE_S; now_s() < until_s;)
        ;
}

/* ---- files ----------------------------------------------------------------------------------- */

NOINLINE static void open_file(void)
{
    hold_back(2);
    MUST(MPI_File_open(WORLD, "members.dat",
                       MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                       &file));
}

NOINLINE static void write_all(void)
{
    double begin_s;

    hold_back(1);
    begin_s = now_s();
    MUST(MPI_File_write_at_all(file, (MPI_Offset)rank * BYTES, bytes, BYTES, MPI_BYTE, IGNORE));
    write_s += now_s() - begin_s;
}

NOINLINE static void split_read(void)
{
    MPI_Status status;
    int count;

    hold_back(0);
    MUST(MPI_File_read_at_all_begin(file, (MPI_Offset)rank * BYTES, bytes, BYTES, MPI_BYTE));
    MUST(MPI_File_read_at_all_end(file, bytes, &status));
    MUST(MPI_Get_count(&status, MPI_BYTE, &count));
    read_bytes += count;
}

NOINLINE static void begin_read(void)
{
    MPI_Request request;

    hold_back(1);
    MUST(MPI_File_iread_at_all(file, (MPI_Offset)rank * BYTES, bytes, BYTES, MPI_BYTE, &request));
    MUST(MPI_Wait(&request, IGNORE));
}

SITE(close_file(void), hold_back(2), MPI_File_close(&file))

static void on_files(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        open_file();
        write_all();
        split_read();
        begin_read();
        close_file();
    }
}

/* ---- communicators --------------------------------------------------------------------------- */

SITE(dup_comm(void), hold_back(1), MPI_Comm_dup(WORLD, &made))
NOINLINE static void begin_dup(void)
{
    MPI_Request request;

    hold_back(2);
    MUST(MPI_Comm_idup(WORLD, &made, &request));
    MUST(MPI_Wait(&request, IGNORE));
}

SITE(split_comm(void), hold_back(2), MPI_Comm_split(WORLD, rank == 2, 0, &made))

NOINLINE static void make_grid(void)
{
    const int sizes[] = {3}, periods[] = {1};

    hold_back(0);
    MUST(MPI_Cart_create(WORLD, 1, sizes, periods, 0, &made));
}

static void of_comms(void (*make)(void))
{
    for (int i = 0; i < ROUNDS; i++) {
        make();
        MUST(MPI_Comm_free(&made));
    }
}

/* ---- a target that computes ------------------------------------------------------------------ */

NOINLINE static void add_there(void)
{
    const int one = 1;

    tell(1);
    MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window));
    MUST(MPI_Accumulate(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, window));
    MUST(MPI_Win_unlock(1, window));
}

SITE(late_target(void), be_late(1), MPI_Barrier(WORLD))

static void on_window(void)
{
    static int sum;

    MUST(MPI_Win_create(&sum, sizeof sum, sizeof sum, MPI_INFO_NULL, WORLD, &window));
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0)
            add_there();
        rank == 1 ? late_target() : (void)MPI_Barrier(WORLD);
    }
    MUST(MPI_Win_free(&window));
}

int main(int argc, char **argv)
{
    const char *launched = getenv("PMI_RANK");

    if (launched != NULL && strcmp(launched, "1") == 0)
        be_very_late();
    known_init(&argc, &argv, &rank);
    on_files();
    of_comms(dup_comm);
    of_comms(begin_dup);
    of_comms(split_comm);
    of_comms(make_grid);
    on_window();
    printf("rank %d: write_all %.9f s, split_read %ld bytes\n", rank, write_s, read_bytes);
    if (rank == 2)
        be_very_late();
    known_finalize();
    return 0;
}
